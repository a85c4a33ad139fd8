"""Chapter 20's objectives and changes of low rank against PyTorch's gradients."""

import numpy as np
import pytest

from minitransformer.answering import clipped_gain_vjp, low_rank_vjp, preference_loss_vjp

torch = pytest.importorskip("torch")
RNG = np.random.default_rng(0)


def tensors(*arrays):
    return [torch.tensor(array, requires_grad=True) for array in arrays]


def agree(ours, value, backward, inputs, upstream):
    (theirs := value).backward(upstream)
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-10)
    found = backward(upstream.numpy())
    for gradient, tensor in zip(found if isinstance(found, tuple) else (found,), inputs, strict=True):
        np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_the_preference_loss():
    arrays = RNG.normal(size=(2, 7))
    better, worse = tensors(*arrays)
    loss, back = preference_loss_vjp(*arrays, beta=0.3)
    value = -torch.nn.functional.logsigmoid(0.3 * (better - worse)).mean()
    agree(loss, value, back, (better, worse), torch.tensor(1.7, dtype=torch.float64))


def test_the_clipped_gain():
    gains, advantages = RNG.normal(size=(2, 9)) / 2
    (theirs,) = tensors(gains)
    gain, back = clipped_gain_vjp(gains, advantages)
    ratio, weight = theirs.exp(), torch.tensor(advantages)
    value = torch.minimum(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
    agree(gain, value, back, (theirs,), torch.tensor(1.3, dtype=torch.float64))


def test_the_change_of_low_rank():
    W, A, B = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 2)), RNG.normal(size=(2, 4))
    a, b = tensors(A, B)
    output, back = low_rank_vjp(W, A, B, scale=0.5)
    agree(output, torch.tensor(W) + 0.5 * (a @ b), back, (a, b), torch.tensor(RNG.normal(size=(5, 4))))
