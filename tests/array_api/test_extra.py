"""array-api-extra and einops run on arrays of every framework; NumPy's own arrays are the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_extra as xpx
import numpy as np
import pytest
from einops import einsum, pack, rearrange, reduce, repeat, unpack

import nestarray as na
from nestarray.config import BACKENDS

X = np.asarray([[1.0, -2.0, 3.0, 0.5], [0.0, 4.0, -1.0, 2.5], [6.0, 1.5, 2.0, -3.0]], "float32")

EXTRA: dict[str, Callable[[Any, Any], Any]] = {
    "apply_where": lambda xp, x: xpx.apply_where(x > 0, x, xp.log, fill_value=0.0),
    "argpartition": lambda xp, x: xp.sort(xpx.argpartition(x[0, :], 1)[:2]),
    "at": lambda xp, x: xpx.at(x)[1, :].add(10.0),
    "atleast_nd": lambda xp, x: xpx.atleast_nd(x, ndim=4),
    "cov": lambda xp, x: xpx.cov(x),
    "create_diagonal": lambda xp, x: xpx.create_diagonal(x[0, :], offset=1),
    "isclose": lambda xp, x: xpx.isclose(x, x + 1e-9),
    "isin": lambda xp, x: xpx.isin(x, xp.asarray([1.5, 4.0], dtype=x.dtype)),
    "kron": lambda xp, x: xpx.kron(x, x[:2, :2]),
    "nan_to_num": lambda xp, x: xpx.nan_to_num(x / 0.0),
    "nunique": lambda xp, x: xpx.nunique(xp.round(x)),
    "one_hot": lambda xp, x: xpx.one_hot(xp.asarray([2, 0, 1]), 4),
    "pad": lambda xp, x: xpx.pad(x, ((1, 0), (0, 2)), constant_values=7.0),
    "partition": lambda xp, x: xpx.partition(x[1, :], 1)[1],
    "setdiff1d": lambda xp, x: xpx.setdiff1d(x, xp.asarray([0.0, 4.0], dtype=x.dtype)),
    "sinc": lambda xp, x: xpx.sinc(x),
    "union1d": lambda xp, x: xpx.union1d(x, x + 1.0),
}

EINOPS: dict[str, Callable[[Any], Any]] = {
    "rearrange": lambda x: rearrange(x, "a (b c) -> (c a) b", c=2),
    "rearrange a list": lambda x: rearrange([x, x + 1], "n a b -> a (n b)"),
    "reduce": lambda x: reduce(x, "a (b c) -> b", "max", c=2),
    "reduce by mean": lambda x: reduce(x, "a b -> a 1", "mean"),
    "repeat": lambda x: repeat(x, "a b -> a (b n)", n=3),
    "einsum": lambda x: einsum(x, x, "a b, c b -> a c"),
    "pack": lambda x: pack([x, x[:, 0]], "a *")[0],
    "unpack": lambda x: unpack(x, [(2,), (1, 2)], "a *")[1],
}


def check(backend: str, result: Any, expected: Any) -> None:
    if isinstance(result, na.Container):
        assert na.backend_of(result) == backend
        assert str(result.dtype).rpartition(".")[2][:3] == np.asarray(expected).dtype.name[:3]
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("x64")  # cov computes in float64
@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize("name", EXTRA)
@pytest.mark.parametrize("backend", BACKENDS)
def test_array_api_extra(backend: str, name: str) -> None:
    xp = na.array_namespace(backend)
    from array_api_compat import numpy as host

    check(backend, EXTRA[name](xp, xp.asarray(X)), EXTRA[name](host, X))


@pytest.mark.parametrize("name", EINOPS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_einops(backend: str, name: str) -> None:
    x = na.array_namespace(backend).asarray(X)
    check(backend, EINOPS[name](x), EINOPS[name](X))
