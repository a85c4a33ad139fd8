"""Scores, their exponentials and shares: scores, labels (one for each) and the shift of all scores."""

from ..shared.states import numbers, words

STATE = {"scores": numbers((2, None)), "labels": words("scores"), "shift": numbers()}
