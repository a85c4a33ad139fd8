"""Training: Adam, dropout, and a loop that can be stopped and taken up again; built in chapter 14."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .checkpoints import Training
from .dropout import dropout, dropout_mask, dropout_vjp, with_dropout
from .loop import BLOCK, Adam, clip_gradient, rate_at, train, training_step
