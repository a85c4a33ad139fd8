"""Scores that become weights: scores, labels (one for each) and the temperature."""

from ..shared.states import numbers, words

STATE = {"scores": numbers((2, None)), "labels": words("scores"), "temperature": numbers(positive=True)}
