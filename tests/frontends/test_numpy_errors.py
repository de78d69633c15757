"""Where NumPy raises an error, the NumPy frontend raises one of the same kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.frontends import numpy as frontend
from tests.arrays import host
from tests.frontends import expressions

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of NaN
]

KINDS = (TypeError, ValueError, IndexError, OverflowError)

INPUTS = {
    "v": np.asarray([0.5, -1.0, 2.0, 4.0]),
    "x": np.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    "m": np.asarray([[2.0, 1.0], [1.0, 3.0]]),
    "k": np.asarray([3, 1, 2]),
    "e": np.zeros((0,)),
}

#: Of sizes and ranks.
SHAPES = """interp(v, v, v[:2]); interp(v, e, e); where(v > 0, v); where(v[0] > 0); gradient(v[:1]); gradient(x[:, :1]); gradient(v[:2], edge_order=2); vander(x); full((2,), v)
    tril(v[0]); triu_indices_from(v); diag_indices_from(x); ix_(x); cov(x[None]); corrcoef(x[None]); average(v, weights=v[:2]); average(x, 1, weights=v[:2]); histogram(v, weights=v[:2])
    digitize(v, x); histogram(v, x); searchsorted(v, v, sorter=k); take_along_axis(x, k[:, None], None); diff(v[0]); hsplit(v[0], 1); vsplit(v, 2); dsplit(x, 1); bincount(k, v[:2]); bincount(k[None])
    sum(v, 1); sum(v, (0, 0)); any(v, 1, where=x > 0); max(v[0], 1, initial=0.0, where=v > 0); cumulative_sum(x); cumulative_prod(x); trapezoid(v, v[:3]); nanprod(v, 2); argmax(e); max(e); min(e); ptp(e)
    flip(v, 2); fliplr(v); rot90(v); roll(v, 1, 3); swapaxes(v, 0, 1); moveaxis(v, 0, 1); moveaxis(x, (0, 1), (0,)); rollaxis(v, 3); expand_dims(v, 5); squeeze(v, 0); transpose(x, (0, 0)); permute_dims(v, (1,))
    reshape(v, (3,)); broadcast_to(v, (3,)); concatenate((v, x)); stack((v, v[:2])); vstack((v, v[:2])); hstack((v, x)); column_stack((v, v[:2])); append(x, v, axis=0); split(v, 3); array_split(v, 0); repeat(k, k[:2])
    cross(v, v); dot(v, v[:2]); inner(v, v[:2]); vdot(v, v[:2]); matmul(v, v[:2]); matmul(v, v[0]); vecdot(v, v[:1]); matvec(x, v[:1]); vecmat(v[:1], x); tensordot(v, v[:2], 1); einsum('ij', v); einsum('i,i', v, v[:2])
    linalg.inv(x); linalg.inv(v); linalg.det(x); linalg.solve(m, v); linalg.cholesky(x); linalg.eigh(x); linalg.eig(v); linalg.svd(v); linalg.qr(v); linalg.slogdet(v); linalg.matrix_power(x, 2); linalg.tensorsolve(x, v)
    linalg.norm(x, 3.5); linalg.norm(v, 'fro'); linalg.outer(x, v); linalg.cross(v[:2], v[:2]); linalg.vecdot(v, v[:1]); linalg.multi_dot([m]); linalg.trace(v); linalg.diagonal(v); linalg.matrix_norm(v); linalg.cond(v)
    fft.fft(v[0]); fft.fft(v, axis=3); fft.fft2(v); add(v, x); add.reduce(v, 3); maximum.reduce(e); allclose(v, k); histogram2d(v, v[:2]); trace(v); diagonal(v); lib.stride_tricks.sliding_window_view(v, 9)"""
#: Of settings and elements.
VALUES = """delete(v, 9); delete(v, [0, -5]); insert(v, 9, 1.0); insert(x, 3, 1.0, axis=0); unravel_index(9, (2, 3)); unravel_index(k, (2,)); unravel_index(v, (9,)); ravel_multi_index((k, k), (2, 2)); take(v, 9); take(x, k, axis=0)
    take_along_axis(v, k + 4, 0); choose(k, [k, k]); compress([True] * 5, v); extract([True] * 5, v); bincount(-k); bincount(k, minlength=-1); digitize(v, v); histogram(v, v); histogram(v, 0); histogram(v, 2.5); histogram(v, range=(1, 0))
    percentile(v, 101); percentile(v, v); quantile(v, -0.1); nanquantile(v, 2); nanpercentile(v, 101.0); power(k, -1); power(k, -k); left_shift(v, 1); bitwise_and(v, k); gcd(v, k); ldexp(v, v); packbits(v); unpackbits(k)
    resize(v, (-1,)); zeros((-1,)); full((-1,), 1.0); eye(-1); indices((-1,)); linspace(0, 1, -1); geomspace(0, 1, 3); pad(v, -1); repeat(k, -1); diff(v, -1); select([], []); partition(v, 9); argpartition(v, 9); sort(v, 3); argsort(v, 5)
    searchsorted(v, v, side='x'); meshgrid(v, indexing='x'); reshape(v, (2, 2), order='x'); trim_zeros(v, 'x'); fft.fft(v, 0); fft.fft(v, norm='x'); fft.fftfreq(2.5); polyint(v, -1); polyder(v, -1); linalg.norm(x, 'x'); round(v, 1.5)
    pad(v, (1, 2, 3)); pad(x, ((1, 2), (1, 1), (1, 1))); pad(v, 1, 'mode'); pad(v, 1, stat_length=2); pad(v, 1, 'maximum', stat_length=0); pad(e, 1, 'edge'); nanargmax(v * nan); nanargmin(x * nan, axis=1)
    unpackbits(k.astype('uint8'), count=-25); histogram_bin_edges(v, 0); histogram(v, range=(0, inf)); histogram(v * nan); histogram2d(v, v, 2.5); histogram2d(v, v, ([3, 2], 2)); histogram2d(v, v, range=((1, 0), (0, 1))); histogramdd(x, (1, 2))
    piecewise(v, [v > 0], [1, 2, 3]); piecewise(v, [v > 0, v < 0], [1]); piecewise(v, [], [1]); piecewise(v, [v[:2] > 0], [1]); split(v, [1, 2.5]); partition(v, 1.5); partition(v, [0, 9]); put_along_axis(v, k * 9, 0, 0)
    concatenate([]); stack([]); vstack([]); hstack([]); hstack(v[0]); column_stack([]); lexsort([]); interp(1, [1, 2], [3, 4], period=0); gradient(v, 1, 2); gradient(v, edge_order=3); cov(v, fweights=[-1, 1, 1, 1]); cov(v, aweights=[-1, 1, 1, 1])
    polyfit(v, v[:2], 1); polyfit(x, v, 1); polyfit(e, e, 1); linalg.eigh(m, 'X'); sort(v, kind='x'); argsort(v, kind='x'); add.accumulate(v[0]); bincount([1, 2], [1j, 2]); round(v > 0, 1); full((), -1, 'uint8'); insert(k.astype('uint8'), 0, -1)
    add.reduceat(v, [9]); sum(v, [0]); cov(v, ddof=0.5); einsum('i->j', v); add(v, 1, v[:2])"""
CALLS = [c.strip() for c in f"{SHAPES};{VALUES}".replace("\n", ";").split(";")]


@pytest.mark.one_in(16)
@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow", "jax"])
@pytest.mark.parametrize("call", CALLS)
def test_errors_are_of_numpys_kind(call: str, backend: str) -> None:
    arrays = {k: na.to_backend(value, backend) for k, value in INPUTS.items()}
    with pytest.raises(KINDS) as expected:
        expressions.evaluate(call, np, INPUTS)
    kinds = tuple([kind for kind in KINDS if isinstance(expected.value, kind)])
    with pytest.raises(kinds), na.use_backend(backend):
        expressions.evaluate(call, frontend, arrays)


@pytest.mark.parametrize("call", ["average(v, weights=v * 0)", "average(x, 0, weights=[1, -1])",
                                  "arange(0, 5, 0)"])  # fmt: skip
def test_division_by_zero(call: str) -> None:
    for space in (np, frontend):
        with pytest.raises(ZeroDivisionError):
            expressions.evaluate(call, space, INPUTS)


def test_a_diagonal_needs_two_axes() -> None:
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        frontend.fill_diagonal(np.zeros(3), 1)


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow", "jax"])
@pytest.mark.parametrize("call", ["tril(v)", "triu(v, 1)", "full((2, 4), v)", "full(2, [1, 2])",
                                  "median(e)", "trim_zeros(v[0])", "bincount([])",
                                  "linspace(v[:2], [1, 2], 3, axis=1)", "insert(v, [1], [7.0, 8.0])",
                                  "histogram2d(v, v, [0, 1, 5])[0]", "histogramdd(v, 2)[0]",
                                  "partition(v, [0, 2])[0]", "piecewise(v, True, [1])",
                                  "linalg.matrix_rank(x, 0.9)", "linalg.cond(m * 0)",
                                  "linalg.cholesky([[4.0, 9.0], [2.0, 5.0]])"])  # fmt: skip
def test_odd_arguments_are_no_errors(call: str, backend: str) -> None:
    arrays = {k: na.to_backend(value, backend) for k, value in INPUTS.items()}
    with na.use_backend(backend):
        found: Any = host(expressions.evaluate(call, frontend, arrays))
    expected = expressions.evaluate(call, np, INPUTS)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
