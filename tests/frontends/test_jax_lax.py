"""Functions of `jax.lax` against upstream, with values of each backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import nestarray as na
from nestarray.frontends import jax as ours
from tests.arrays import host, on

X = np.random.default_rng(0).standard_normal((4, 3))
IMAGES = np.random.default_rng(1).standard_normal((2, 7, 6, 3))
KERNELS = np.random.default_rng(2).standard_normal((3, 2, 3, 4))
NHWC = ("NHWC", "HWIO", "NHWC")
INTEGERS = np.asarray([0, 1, -7, 2**31 - 1, -(2**31)], "int32")
TRIPLES = np.asarray([[2.0, 5.0, 1.0], [1.0, 4.0, 3.0]])

#: Name → (function of a `lax` module and arrays, arrays).
CALLS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "broadcast": (lambda lax, x: lax.broadcast(x, (2, 1)), (X,)),
    "broadcast_to_rank": (lambda lax, x: lax.broadcast_to_rank(x, 4), (X,)),
    "collapse": (lambda lax, x: lax.collapse(x, 1, -1), (IMAGES,)),
    "full_like": (lambda lax, x: lax.full_like(x, 3, shape=(2,)), (X,)),
    "slice_in_dim": (lambda lax, x: lax.slice_in_dim(x, 1, None, 2, axis=-1), (X,)),
    "unstack": (lambda lax, x: lax.unstack(x, 1), (X,)),
    "index_in_dim": (lambda lax, x: lax.index_in_dim(x, -1, 1, keepdims=False), (X,)),
    "dynamic_slice": (lambda lax, x: lax.dynamic_slice(x, (-2, 5), (2, 2)), (X,)),
    "dynamic_slice_in_dim": (lambda lax, x, i: lax.dynamic_slice_in_dim(x, i, 2, 1), (X, np.asarray(-1))),
    "dynamic_index_in_dim": (lambda lax, x, i: lax.dynamic_index_in_dim(x, i, -1, False), (X, np.asarray(1))),
    "dynamic_update_slice": (lambda lax, x: lax.dynamic_update_slice(x, x[:2], (-1, 0)), (X,)),
    "dynamic_update_slice_in_dim": (lambda lax, x: lax.dynamic_update_slice_in_dim(x, x[:2], 1, 0), (X,)),
    "dynamic_update_index_in_dim": (lambda lax, x: lax.dynamic_update_index_in_dim(x, x[0], 2, 0), (X,)),
    "dot": (lambda lax, x: (lax.dot(x[0], x[1]), lax.dot(x, x[0])), (X,)),
    "batch_matmul": (lambda lax, x: lax.batch_matmul(x, x[:, :, :3, :]), (IMAGES.transpose(0, 3, 1, 2)[..., :3],)),
    "conv": (lambda lax, x, w: lax.conv(x, w, (2, 1), "SAME"), (IMAGES.transpose(0, 3, 1, 2), KERNELS.transpose(3, 2, 0, 1))),
    "conv_with_general_padding": (
        lambda lax, x, w: lax.conv_with_general_padding(x, w, (1, 1), [(1, 2), (0, 1)], (1, 2), (2, 1)),
        (IMAGES.transpose(0, 3, 1, 2), KERNELS.transpose(3, 2, 0, 1)),
    ),
    "conv_letters": (
        lambda lax, x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=NHWC),
        (IMAGES, KERNELS),
    ),
    "conv_transpose": (lambda lax, x, w: lax.conv_transpose(x, w, (2, 3), "SAME"), (IMAGES, KERNELS)),
    "conv_transpose_kernel": (
        lambda lax, x, w: lax.conv_transpose(x, w, (2, 1), "VALID", (1, 2), NHWC, transpose_kernel=True),
        (IMAGES, KERNELS.transpose(0, 1, 3, 2)),
    ),
    "reduce": (lambda lax, x: lax.reduce(x, np.float64(2), lax.mul, (0,)), (X,)),
    "reduce_window": (
        lambda lax, x: lax.reduce_window(x, 2.0, lambda a, b: lax.mul(a, b), (2, 2), (1, 2), "SAME"),
        (X,),
    ),
    "associative_scan": (lambda lax, x: lax.associative_scan(lax.mul, x, reverse=True), (X,)),
    "scan": (lambda lax, x: lax.scan(lambda c, r: (lax.add(c, r), lax.sin(c)), x[0], x, reverse=True), (X,)),
    "while_loop": (lambda lax, x: lax.while_loop(lambda c: c[0, 0] < 90, lambda c: c * 2 + 1, x), (X,)),
    "fori_loop": (lambda lax, x: lax.fori_loop(0, 3, lambda i, c: c * 0.5, x), (X,)),
    "cond": (lambda lax, x: lax.cond(x[0, 0] > 0, lax.sin, lax.cos, x), (X,)),
    "switch": (lambda lax, x: lax.switch(5, [lax.sin, lax.cos], x), (X,)),
    "map": (lambda lax, x: lax.map(lambda r: r * r[0], x), (X,)),
    "sort": (lambda lax, x: lax.sort(x + 1j * lax.rev(x, (0,)), dimension=0), (np.round(X),)),
    "sort_key_val": (lambda lax, x: lax.sort_key_val(x, x * 2, 0), (X,)),
    "top_k": (lambda lax, x: lax.top_k(x, 2), (X,)),
    "approx_max_k": (lambda lax, x: lax.approx_max_k(x, 2), (X,)),
    "approx_min_k": (lambda lax, x: lax.approx_min_k(x, 2, 0), (X,)),
    "betainc": (lambda lax, a, b: lax.betainc(a, b, a / 9), (TRIPLES, TRIPLES[::-1].copy())),
    "zeta": (lambda lax, x: lax.zeta(x + 1, x), (TRIPLES,)),
    "polygamma": (lambda lax, x: lax.polygamma(x, x + 1), (np.round(TRIPLES),)),
    "clz": (lambda lax, x: lax.clz(x), (INTEGERS,)),
    "mulhi": (lambda lax, x, y: (lax.mulhi(x, x), lax.mulhi(y, y + 5)), (INTEGERS, INTEGERS.astype("int64") * 2**31)),
    "reciprocal": (lambda lax, x: lax.reciprocal(x), (X,)),
    "lu": (lambda lax, x: lax.linalg.lu(x), (X,)),
    "tridiagonal_solve": (lambda lax, x: lax.linalg.tridiagonal_solve(x[0], x[1] + 9, x[2], x[:3]), (X,)),
    "eigh": (lambda lax, x: lax.linalg.eigh(x[:3] + x[:3].T)[1], (X,)),
    "qr": (lambda lax, x: abs(lax.linalg.qr(x, full_matrices=False)[1]), (X,)),
}  # fmt: skip


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("name", CALLS)
def test_call(name: str, backend: str) -> None:
    function, arrays = CALLS[name]
    want = jax.tree.leaves(function(jax.lax, *map(jax.numpy.asarray, arrays)))
    with na.use_backend(backend):
        got = na.tree.flatten(function(ours.lax, *[on(backend, x) for x in arrays]))[0]
    assert len(want) == len(got)
    for x, y in zip(map(np.asarray, want), map(host, got), strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(y, x, rtol=1e-9, atol=1e-12)


def test_shapes_and_numbers() -> None:
    assert ours.lax.broadcast_shapes((3, 1), (1, 2)) == (3, 2)
    for padding in ("SAME", "SAME_LOWER", "VALID"):
        given = (5, 8), (3, 2), (2, 3), padding
        assert ours.lax.padtype_to_pads(*given) == jax.lax.padtype_to_pads(*given)
    given = (2, 7, 6, 3), (3, 2, 3, 4), NHWC
    assert tuple(ours.lax.conv_dimension_numbers(*given)) == tuple(
        jax.lax.conv_dimension_numbers(*given)
    )


def test_collectives() -> None:
    def function(lax: Any, x: Any) -> Any:
        gathered = lax.all_gather(x, "i")
        return lax.psum(x, "i") + lax.pmean(x, "i") + lax.pmax(x, "i") - lax.pmin(x, "i"), gathered

    want = jax.vmap(lambda x: function(jax.lax, x), axis_name="i")(X.astype("float32"))
    got = na.vmap(lambda x: function(ours.lax, x), axis_name="i")(X.astype("float32"))
    for x, y in zip(want, got, strict=True):
        np.testing.assert_allclose(y, x, rtol=1e-5)
