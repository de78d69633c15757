"""Unsigned integers over their whole range: every backend computes what NumPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS

pytestmark = pytest.mark.one_in(4)

DTYPES = ("uint8", "uint16", "uint32", "uint64")

PAIRS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply,
    "floor_divide": np.floor_divide, "remainder": np.remainder, "maximum": np.maximum,
    "minimum": np.minimum, "equal": np.equal, "less": np.less, "greater_equal": np.greater_equal,
    "bitwise_xor": np.bitwise_xor, "fmod": np.fmod, "logical_and": np.logical_and,
    "logical_or": np.logical_or, "logical_xor": np.logical_xor, "gcd": np.gcd,
}  # fmt: skip
SINGLES = {
    "square": np.square, "negative": np.negative, "abs": np.abs, "sign": np.sign,
    "bitwise_invert": np.bitwise_not, "sum": lambda x: np.sum(x, dtype="uint64"), "max": np.max,
    "min": np.min, "argmax": np.argmax, "argmin": np.argmin, "sort": np.sort,
    "argsort": lambda x: np.argsort(x, stable=True), "unique_values": np.unique,
    "cumulative_sum": lambda x: np.cumsum(x, dtype="uint64"),
    "logical_not": np.logical_not, "relu": np.copy, "relu6": lambda x: np.minimum(x, 6),
}  # fmt: skip


def numbers(dtype: str) -> np.ndarray:
    largest = np.iinfo(dtype).max
    values = [7, 0, 1, largest, largest // 2 + 1, largest // 2, largest - 1, 2]
    return np.asarray(values, dtype)


def check(found: Any, expected: np.ndarray) -> None:
    host = backends.core(na.backend_of(found)).to_numpy(found)
    np.testing.assert_array_equal(host, expected)
    assert np.asarray(host).dtype == np.asarray(expected).dtype


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of what wraps around
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str, dtype: str, backend: str) -> None:
    a, b = (x.ravel() for x in np.meshgrid(numbers(dtype), numbers(dtype)))
    if name in ("floor_divide", "remainder", "fmod"):
        a, b = a[b != 0], b[b != 0]
    from_numpy = backends.core(backend).from_numpy
    check(getattr(na, name)(from_numpy(a), from_numpy(b)), PAIRS[name](a, b))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_truth_beside_bools(name: str, dtype: str, backend: str) -> None:
    a, b = numbers(dtype), np.asarray([True, False] * 4)
    from_numpy = backends.core(backend).from_numpy
    check(getattr(na, name)(from_numpy(a), from_numpy(b)), PAIRS[name](a, b))
    check(getattr(na, name)(from_numpy(b), from_numpy(a)), PAIRS[name](b, a))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_matrices(dtype: str, backend: str) -> None:
    x = np.asarray([[1, 0], [2, 1]], dtype)
    check(na.matrix_power(backends.core(backend).from_numpy(x), 3), np.linalg.matrix_power(x, 3))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_places_and_numbers(dtype: str, backend: str) -> None:
    host = numbers(dtype)
    x = backends.core(backend).from_numpy(host)
    check(na.nonzero(x)[0], np.nonzero(host)[0])
    bare = na.Container(na.max(x))
    assert int(bare) == bare.__index__() == np.iinfo(dtype).max


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SINGLES)
def test_singles(name: str, dtype: str, backend: str) -> None:
    x = numbers(dtype)
    check(getattr(na, name)(backends.core(backend).from_numpy(x)), SINGLES[name](x))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_shifts(name: str, dtype: str, backend: str) -> None:
    bits = np.iinfo(dtype).bits
    x, by = (v.ravel() for v in np.meshgrid(numbers(dtype), np.asarray([0, 1, 5, bits - 1], dtype)))
    from_numpy = backends.core(backend).from_numpy
    check(getattr(na, name)(from_numpy(x), from_numpy(by)), getattr(np, name)(x, by))


@pytest.mark.parametrize("dtype", DTYPES)
def test_trees_of_torch_tensors(dtype: str) -> None:
    x = backends.core("torch").from_numpy(numbers(dtype))
    c = na.Container(a=x, b=x)
    check((c + c).a, numbers(dtype) + numbers(dtype))
    check((-c).b, -numbers(dtype))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_fill(dtype: str, backend: str) -> None:
    host = numbers(dtype)
    on = backends.core(backend).from_numpy
    x, mask = on(host), on(host > 6)
    for value in (3, int(np.iinfo(dtype).max)):
        filling = np.asarray(value, dtype)
        expected = np.where(host > 6, filling, host)
        check(na.masked_fill(x, mask, value), expected)
        check(na.masked_fill(x, mask, on(filling)), expected)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_matrices(dtype: str, backend: str) -> None:
    host = numbers(dtype).reshape(2, 4)
    x = backends.core(backend).from_numpy(host)
    check(na.tril(x, k=1), np.tril(host, 1))
    check(na.triu(x), np.triu(host))
    check(na.rot90(x), np.rot90(host))
    check(na.linear(x, x, x[:, 0]), host @ host.T + host[:, 0])
    check(na.einsum("ij,kj->ik", x, x), host @ host.T)
    check(na.top_k(x, 3).values, np.sort(host, axis=1)[:, :0:-1])
    grid = host.reshape(1, 4, 1, 2)
    shuffled = na.pixel_shuffle(backends.core(backend).from_numpy(grid), upscale_factor=2)
    check(shuffled, grid.reshape(1, 2, 2, 1, 2).transpose(0, 3, 1, 4, 2).reshape(1, 1, 2, 4))
    small = backends.core(backend).from_numpy(np.asarray([1, 0, 1, 3], dtype))
    check(na.bincount(small), np.asarray([1, 2, 0, 1]))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_multiples_and_places(dtype: str, backend: str) -> None:
    host = numbers(dtype)
    on = backends.core(backend).from_numpy
    x, largest = on(host), np.iinfo(dtype).max
    small = np.asarray([12, 0, 9, largest], dtype)
    check(na.lcm(on(small), on(small[::-1].copy())), np.lcm(small, small[::-1]))
    for value, element in ((9.0, 9), (int(largest), largest), (on(small[3]), largest)):
        filled = np.zeros((2, 3), dtype)
        np.fill_diagonal(filled, element)
        check(na.fill_diagonal(on(np.zeros((2, 3), dtype)), value), filled)
    check(na.repeat_axes(x, "n -> k (n m)", k=2, m=3), np.tile(np.repeat(host, 3), (2, 1)))
    windows = np.stack([host[:-1], host[1:]])
    weight = np.arange(14, dtype=dtype).reshape(1, 2, 7)
    connected = na.locally_connected(x[None, None], on(weight), x[None, 1:], kernel_size=2)
    check(connected, ((windows * weight[0]).sum(0, dtype=dtype) + host[1:])[None, None])


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_torch_compiles_them(dtype: str) -> None:
    x = torch.from_numpy(numbers(dtype))
    names = ("unique_values", "argmin")  # of unknown size; its result of equal numbers may differ

    def all_of_them(x: torch.Tensor) -> list[torch.Tensor]:
        y = na.flip(x)
        pairs = [getattr(na, name)(x, na.maximum(y, 1)) for name in PAIRS]
        singles = [getattr(na, name)(x) for name in SINGLES if name not in names]
        return [*pairs, *singles, na.add(x, 1), na.pow(x, 2)]

    torch.compiler.reset()
    compiled = torch.compile(all_of_them, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), all_of_them(x))
