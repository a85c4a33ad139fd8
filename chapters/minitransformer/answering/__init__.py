"""Chapter 20: a model that answers: a template, changes of low rank, preferences, rewards, votes."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .low_rank import layer_matrices, low_rank, low_rank_vjp, train_low_rank
from .objectives import (
    clipped_gain_vjp,
    divergence,
    group_advantages,
    log_probability,
    log_probability_vjp,
    preference_loss_vjp,
)
from .template import END, MODEL, USER, answer_targets, padded, reply_pairs, templated
from .voting import vote
