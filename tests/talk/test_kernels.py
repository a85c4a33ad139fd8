"""The products in plain JavaScript are NumPy's; the fast ones, which round a vector to 16 bits, are the plain ones."""

import numpy as np
import pytest

from minitransformer.public_model import read_gguf
from minitransformer.public_model.gguf import dequantised
from tests.shared.small_gguf import blocks, write_small_gguf

SUBNORMAL = np.array([0, 1, 3, 1023, 0x8001, 0x0400, 0x7BFF, 0xFBFF, 0x3C00, 0xBC00], "<u2").view("<f2")


def drawn(kind):
    """Return the bytes of a matrix (70, 128): random blocks, the scales of the first of every size and sign."""
    rng = np.random.default_rng(7)
    found = np.frombuffer(blocks(kind, rng.normal(size=(70, 128)), rng), "u1").copy().reshape(280, -1)
    body = found[:, 2 if kind == "Q8_0" else 4 :]
    body[:] = rng.integers(256, size=body.shape)
    scales = found[:, :2].copy().view("<f2")
    scales[: len(SUBNORMAL), 0] = SUBNORMAL / np.float16(8)
    found[:, :2] = scales.view("u1")
    return kind, (70, 128), found.tobytes()


@pytest.fixture(scope="module", params=["Q4_1", "Q8_0"])
def matrix(request, tmp_path_factory):
    """The path of a file with such a matrix, and its weights."""
    path = tmp_path_factory.mktemp("kernels") / "a.gguf"
    write_small_gguf(path, arrays={"odd.weight": drawn(request.param)})
    return path, dequantised(read_gguf(path).arrays["odd.weight"])


def multiplied(path, x, run, wasm=None):
    """Return what the kernels make of a vector, arrays by name."""
    found = run("products", path=path, name="odd.weight", x=x.tolist(), row=5, wasm=wasm)
    return {name: np.array(numbers) for name, numbers in found.items()}


def vector():
    """Return a vector with a large number, a block that is all but zero and one of zeros."""
    x = np.random.default_rng(8).normal(size=128).astype(np.float32)
    x[3], x[32:64] = -4000, 0
    x[64:] *= 1e-6
    return x


def test_the_plain_products_are_those_of_numpy(matrix, run):
    path, weights = matrix
    x = vector()
    found, rows = multiplied(path, x, run), x.astype(float).reshape(16, 8)
    size = np.abs(weights) @ np.abs(x)
    assert np.all(np.abs(found["product"] - weights.astype(float) @ x) <= 1e-6 * size)
    assert np.array_equal(found["row"].astype(np.float32), weights[5])
    assert np.allclose(found["scores"], rows @ rows[0], rtol=1e-5, atol=1e-6)
    assert np.allclose(found["mix"], x[:16].astype(float) @ rows, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [1, 1e-20, 1e20])
def test_the_fast_products_are_the_plain_ones(matrix, scale, wasm, run):
    path, _ = matrix
    smooth = np.random.default_rng(9).normal(size=128).astype(np.float32) * np.float32(scale)
    for x in (vector() * np.float32(scale), smooth, np.zeros(128, np.float32)):
        plain, fast = multiplied(path, x, run), multiplied(path, x, run, wasm)
        blocks_of_x = np.abs(x).reshape(4, 32)
        off = blocks_of_x.max(axis=1, keepdims=True) / 32_767  # at most half of it at each number
        weights = np.abs(matrix[1]).reshape(70, 4, 32).sum(axis=2)
        bound = weights @ off[:, 0] + 1e-6 * (np.abs(matrix[1]) @ np.abs(x))
        assert np.all(np.abs(fast["product"] - plain["product"]) <= bound)
        if scale == 1:
            assert np.allclose(fast["scores"], plain["scores"], rtol=1e-5, atol=1e-4)
            assert np.allclose(fast["mix"], plain["mix"], rtol=1e-5, atol=1e-4)
