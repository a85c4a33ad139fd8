"""The helper against PyTorch: every backward pass, both whole models, and Adam; `make oracle` runs it, and no other."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional

from minitransformer import positions
from minitransformer.gradients import as_tuple
from minitransformer.training import Adam
from minitransformer.transformer import LanguageModel, parameter_views, stack_size
from tests.shared import oracles
from tests.shared.passes import BLOCKS, IDS, KEEP, MODELS, TARGETS, filled, leaves, small

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
LIMITS = {"float32": 2e-5, "float64": 1e-12}
gelu = partial(functional.gelu, approximate="tanh")


def torch_leaves(part):
    """Return nested dicts of arrays as tensors that want gradients."""
    if isinstance(part, dict):
        return {name: torch_leaves(inner) for name, inner in part.items()}
    return torch.tensor(part, requires_grad=True)


def torch_gradients(part):
    """Return the gradients of tensors in nested dicts, as arrays."""
    if isinstance(part, dict):
        return {name: torch_gradients(inner) for name, inner in part.items()}
    return part.grad.numpy()


# The parts of the book written with PyTorch's functions; parameters and arguments are as the book's.


def attention(q, k, v, keep=None, scale=None):
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if keep is not None:
        scores = scores.masked_fill(~torch.tensor(keep), -torch.inf)
    return torch.softmax(scores, -1).nan_to_num() @ v


def multi_head(x, params, heads, context=None, keep=None, rotate=None):
    context = x if context is None else context
    parts = x @ params["W_Q"], context @ params["W_K"], context @ params["W_V"]
    q, k, v = (part.unflatten(-1, (heads, -1)).transpose(-2, -3) for part in parts)
    q, k = (rotate(q), rotate(k)) if rotate else (q, k)
    mixed = attention(q, k, v, None if keep is None else np.expand_dims(np.atleast_2d(keep), -3))
    return mixed.transpose(-2, -3).flatten(-2) @ params["W_O"]


def rotary(x):
    turns = torch.tensor(positions.angles(np.arange(x.shape[-2]), x.shape[-1]), dtype=x.dtype)
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(torch.ones_like(turns), turns)
    return torch.view_as_real(turned).flatten(-2)


def layer_norm(x, gain, bias):
    return functional.layer_norm(x, gain.shape, gain, bias)


def feed_forward(x, params, activation="relu"):
    wide = x @ params["W_1"] + params["b_1"]
    wide = functional.relu(wide) if activation == "relu" else gelu(wide)
    return wide @ params["W_2"] + params["b_2"]


def residual(x, sublayer, norm, gain, bias):
    if norm == "pre":
        return x + sublayer(layer_norm(x, gain, bias))
    return layer_norm(x + sublayer(x), gain, bias) if norm == "post" else x + sublayer(x)


def layer(x, params, model, heads, keep, memory=None, memory_keep=None):
    rotate = rotary if model.positions == "rotary" else None
    looks = {"attention": {"keep": keep, "rotate": rotate}, "cross_attention": {"context": memory, "keep": memory_keep}}
    for name, part in params.items():
        if name == "feed_forward":
            sublayer = partial(feed_forward, params=part)
        else:
            sublayer = partial(multi_head, params=part, heads=heads, **looks[name])
        x = residual(x, sublayer, model.norm, part["gain"], part["bias"])
    return x


def one_side(ids, params, model, side, table="embedding", **masks):
    x = params[table][torch.tensor(ids)]
    if model.positions == "learned":
        x = x + params["positions"][: ids.shape[-1]]
    x = x * model.d**0.5
    if model.positions == "sinusoidal":
        x = x + torch.tensor(positions.sinusoidal_positions(ids.shape[-1], model.d), dtype=x.dtype)
    for name, part in params[side].items():
        heads = stack_size(model, side)[1]
        x = layer_norm(x, **part) if name == "norm" else layer(x, part, model, heads, **masks)
    return x


def whole(params, model, *arguments):
    causal = np.tri(arguments[-1 if len(arguments) == 1 else 1].shape[-1], dtype=bool)
    if isinstance(model, LanguageModel):
        x = one_side(arguments[0], params, model, "decoder", keep=causal)
    else:
        source, target, lengths = arguments
        keep = (np.arange(source.shape[-1]) < np.array(lengths)[:, None])[:, None]
        memory = one_side(source, params, model, "encoder", model.source_table, keep=keep)
        x = one_side(target, params, model, "decoder", keep=causal, memory=memory, memory_keep=keep)
    return x @ (params["output"] if "output" in params else params["embedding"].mT)


ORACLES = {  # what PyTorch has for each block
    "softmax": lambda x: torch.softmax(x, -1),
    "softmax, warm, down": lambda x: torch.softmax(x / 0.7, 0),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "attention": functional.scaled_dot_product_attention,
    "attention, masked, scaled": lambda q, k, v: attention(q, k, v, KEEP, 0.7),
    "attention, broadcast": attention,
    "project": lambda x, params: x @ params["W_V"],
    "self_attention": lambda x, params: attention(*(x @ params[name] for name in ("W_Q", "W_K", "W_V"))),
    "multi_head_attention": lambda x, params: multi_head(x, params, 3),
    "multi_head_attention, rotary": lambda x, params: multi_head(x, params, 3, rotate=rotary),
    "multi_head_attention, across": lambda x, params, context: multi_head(x, params, 3, context, KEEP),
    "layer_norm": layer_norm,
    "rms_norm": lambda x, gain: functional.rms_norm(x, gain.shape, gain, 1e-5),
    "relu": functional.relu,
    "gelu": gelu,
    "feed_forward": feed_forward,
    "feed_forward, gelu": lambda x, params: feed_forward(x, params, "gelu"),
    "rotary": rotary,
    "residual, pre": lambda x, gain, bias: residual(x, gelu, "pre", gain, bias),
    "residual, post": lambda x, gain, bias: residual(x, gelu, "post", gain, bias),
    "embed": lambda params: (
        (functional.embedding(torch.tensor(IDS), params["embedding"]) + params["positions"][:3]) * 6**0.5
    ),
    "logits_of": lambda x, params: x @ params["embedding"].mT,
    "cross_entropy": lambda logits: functional.cross_entropy(
        logits.flatten(0, 1), torch.tensor(TARGETS).flatten(), ignore_index=-1, label_smoothing=0.1
    ),
}


def test_every_oracle_is_of_a_block():
    lost = ", ".join(ORACLES.keys() - BLOCKS.keys())
    assert not lost, f"ORACLES has {lost}, which is no block; name it as FUNCTIONS of its test file or OTHERS does."


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("name", ORACLES)
def test_the_gradients_are_those_of_pytorch(name, kind):
    _, vjp, shapes = BLOCKS[name]
    arrays = [filled(shape, kind, seed) for seed, shape in enumerate(shapes)]
    result, backward = vjp(*arrays)
    upstream = filled(np.shape(as_tuple(result)[0]), kind, seed=9)
    theirs = [torch_leaves(array) for array in arrays]
    output = ORACLES[name](*theirs)
    output.backward(torch.tensor(upstream))
    assert oracles.error(as_tuple(result)[0], output.detach().numpy()) < LIMITS[kind]
    for ours, their in zip(leaves(backward(upstream)), leaves(tuple(map(torch_gradients, theirs))), strict=True):
        assert oracles.error(ours, their) < LIMITS[kind]


@pytest.mark.parametrize("precision", LIMITS)
@pytest.mark.parametrize("kind, norm, where, tied", MODELS)
def test_the_gradients_of_a_model_are_those_of_pytorch(kind, norm, where, tied, precision):
    model, arguments = small(kind, norm, where, tied, dtype=np.dtype(precision))
    logits, backward = model.vjp(*arguments)
    upstream = filled(logits.shape, precision, seed=9)
    params = torch_leaves(model.params)
    theirs = whole(params, model, *arguments)
    theirs.backward(torch.tensor(upstream))
    assert oracles.error(logits, theirs.detach().numpy()) < LIMITS[precision]
    unused = [leaf for leaf in leaves(params) if leaf.grad is None]  # gains and biases where there is no norm
    assert bool(unused) == (norm == "none")
    for leaf in unused:
        leaf.grad = torch.zeros_like(leaf)
    ours, theirs = (
        np.concatenate([leaf.ravel() for leaf in leaves(part)])
        for part in (parameter_views(backward(upstream), model.shapes), torch_gradients(params))
    )
    assert oracles.error(ours, theirs) < LIMITS[precision]


@pytest.mark.parametrize("betas, eps", oracles.ADAM)
def test_adam_is_that_of_pytorch(betas, eps):
    flat, gradients, rates = oracles.walk()
    theirs = torch.tensor(flat, requires_grad=True)
    ours, optimiser = Adam(flat, betas=betas, eps=eps), torch.optim.Adam([theirs], betas=betas, eps=eps)
    for gradient, rate in zip(gradients, rates, strict=True):
        ours.step(gradient, rate)
        optimiser.param_groups[0]["lr"] = rate
        theirs.grad = torch.tensor(gradient)
        optimiser.step()
        assert oracles.error(flat, theirs.detach().numpy()) < 1e-12
