"""The exercises' checks on answers in PyTorch; `make oracle` runs it, and where there is no PyTorch it is skipped."""

from functools import partial

import pytest

from companion.checks import CHECKS, UNANSWERED, find_hint
from companion.checks.tensors import _arrays, _tensors

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make oracle` runs these tests")
nn, functional = torch.nn, torch.nn.functional


class LayerNorm(nn.Module):
    """Layer normalisation as a course on PyTorch may ask for it, with the variance by n − `less`."""

    def __init__(self, less=0):
        super().__init__()
        self.less = less

    def forward(self, x, gain, bias, eps):
        variance = x.var(-1, keepdim=True, correction=self.less)
        return (x - x.mean(-1, keepdim=True)) / torch.sqrt(variance + eps) * gain + bias


def attention(queries, keys, values):
    return functional.scaled_dot_product_attention(queries, keys, values)


def window(n, w):
    return torch.ones(n, n).tril().bool() & ~torch.ones(n, n).tril(-w).bool()


def unit(x):
    y = x / x.norm()
    return y, lambda d: (d - y * (y @ d)) / x.norm()


def with_methods_alone(x):
    return x.softmax(dim=1)


def made_inside(x, W_Q, W_K, W_V):
    layers = [nn.Linear(*W.shape, bias=False) for W in (W_Q, W_K, W_V)]
    for layer, W in zip(layers, (W_Q, W_K, W_V)):
        with torch.no_grad():
            layer.weight.copy_(W.T)
    return attention(*(layer(x) for layer in layers))


RIGHT = {
    "softmax-hand": torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64, requires_grad=True),
    "softmax-axis": nn.Softmax(dim=1),
    "softmax-bug": with_methods_alone,
    "softmax-temperature": lambda x, t: torch.softmax(x / t, dim=-1),
    "softmax-merge": lambda a, b: torch.logaddexp(torch.tensor(a), torch.tensor(b)),
    "dot-product-cosine": partial(functional.cosine_similarity, dim=0),
    "attention-from-scratch": attention,
    "self-attention-from-scratch": made_inside,
    "masks-window": window,
    "masks-bug": lambda q, k, v, keep: functional.scaled_dot_product_attention(q, k, v, attn_mask=keep),
    "multi-head-split": lambda x, heads: x.unflatten(-1, (heads, -1)).transpose(-2, -3),
    "layer-norm-scratch": LayerNorm(),
    "feed-forward-gelu": nn.GELU(),
    "residuals-block": lambda x, attend, feed: (
        (norm := partial(functional.layer_norm, normalized_shape=x.shape[-1:]))
        and (y := x + attend(norm(x))) + feed(norm(y))
    ),
    "gradients-unit": unit,
    "training-first-step": [torch.tensor(number) for number in (-0.01, 0.01, -0.01)],
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_in_pytorch_is_right(name):
    assert find_hint(CHECKS[name], RIGHT[name]) == ""


def test_the_backward_pass_that_pytorch_finds_is_right():
    assert find_hint(CHECKS["gradients-unit"], lambda x: torch.func.vjp(lambda x: x / x.norm(), x)) == ""


@pytest.mark.parametrize(
    "name, answer, hint",
    [
        ("softmax-axis", nn.Softmax(dim=-1), "last"),
        ("feed-forward-gelu", nn.GELU(approximate="tanh"), "tanh"),
        ("layer-norm-scratch", LayerNorm(less=1), "d − 1"),
        ("masks-window", lambda n, w: torch.ones(n, n).tril(), "causal"),
        ("masks-window", lambda n, w: ~window(n, w), "polarity"),
        ("attention-from-scratch", lambda q, k, v: torch.softmax(q @ k.T, -1) @ v, "√"),
        ("attention-from-scratch", lambda q, k, v: torch.softmax(q @ v, -1), "raised RuntimeError: mat1 and mat2"),
        ("softmax-axis", lambda x: x.softmaks(1), "raised AttributeError: 'numpy.ndarray' object has no"),
        ("softmax-axis", lambda x: torch.max(x, 1), "returns several things"),
        ("softmax-axis", torch.tensor(1.0), "expected a function"),
        ("softmax-hand", torch.tensor([1.0, 1.5, 2.5]), "not yet: you have [1"),
    ],
)
def test_a_wrong_answer_in_pytorch_gets_the_hint_of_its_mistake(name, answer, hint):
    assert hint in find_hint(CHECKS[name], answer)


def test_a_check_leaves_pytorch_and_the_answer_as_they_were():
    """It calculates in float64, in a copy, also where the answer fails."""
    module, kept = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Softmax(dim=1)), []
    module.register_forward_hook(lambda module, given, found: kept.append(found.dtype))
    assert find_hint(CHECKS["softmax-axis"], module).startswith("not yet")
    assert set(kept) == {torch.float64} and module[0].weight.dtype == torch.get_default_dtype() == torch.float32
    assert "raised RuntimeError" in find_hint(CHECKS["softmax-axis"], nn.Linear(100, 4))
    assert torch.get_default_dtype() == torch.float32


def on_tensors(function):
    """Return a function on arrays as one on tensors, which names PyTorch as it holds it."""

    def converted(*tensors):
        return _tensors(torch, function(*_arrays(torch, tensors)))

    return converted


@pytest.mark.parametrize("name", CHECKS)
def test_every_exercise_takes_tensors_and_knows_its_wrong_answers_by_them(name):
    task = CHECKS[name]
    there = on_tensors if task.probes else partial(_tensors, torch)
    assert find_hint(task, there(task.right)) == ""
    assert {hint: find_hint(task, there(wrong)) for hint, wrong in task.wrong.items()} == {h: h for h in task.wrong}
    if task.probes:
        assert find_hint(task, on_tensors(lambda *_: None)) == UNANSWERED


@pytest.mark.parametrize("name", CHECKS)
def test_where_pytorch_is_loaded_numpy_answers_are_judged_as_ever(name):
    task = CHECKS[name]
    assert find_hint(task, task.right) == ""
    assert {hint: find_hint(task, wrong) for hint, wrong in task.wrong.items()} == {hint: hint for hint in task.wrong}
