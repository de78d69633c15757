"""The parameters of JAX's transformations, on every backend, held against JAX's own functions."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import nestarray as na
from nestarray.config import BACKENDS
from nestarray.errors import ArgumentError, DtypeError, ShapeError, UnsupportedError
from nestarray.testing import assert_close
from tests.arrays import on

X = np.linspace(0.2, 1.4, 3, dtype=np.float32)
Z = (X + 1j * X[::-1]).astype(np.complex64)


def same(found: Any, expected: Any) -> None:
    """Equal to JAX's numbers, in the same structure."""
    host = na.tree.map(lambda x: na.to_backend(x, "numpy"), found)
    assert_close(host, jax.tree.map(np.asarray, expected))


def values(x: Any, lib: Any) -> Any:
    return lib.stack([x[0] * x[1], lib.sum(lib.sin(x))])


def with_aux(x: Any, lib: Any) -> Any:
    return values(x, lib), {"doubled": x * 2, "count": lib.sum(x > 0)}


def of_sums(x: Any, lib: Any) -> Any:
    value, aux = with_aux(x, lib)
    return lib.sum(value), aux


FUNCTIONS = {"jacrev": with_aux, "jacfwd": with_aux, "hessian": of_sums}


@cache
def aux_of_jax(name: str) -> Any:
    return getattr(jax, name)(lambda x: FUNCTIONS[name](x, jnp), has_aux=True)(X)


def cases(*names: str) -> list[Any]:
    """Functions and backends; but the first function and NumPy are left to the full run."""
    return [
        pytest.param(n, b, marks=() if n == names[0] or b == "numpy" else pytest.mark.full)
        for n in names
        for b in BACKENDS
    ]


@pytest.mark.parametrize(("name", "backend"), cases("jacrev", "jacfwd", "hessian"))
def test_aux_of_jacobians(name: str, backend: str) -> None:
    fn = FUNCTIONS[name]
    found, aux = getattr(na, name)(lambda x: fn(x, na), has_aux=True)(on(backend, X))
    expected, expected_aux = aux_of_jax(name)
    same(found, expected)
    same(aux["doubled"], expected_aux["doubled"])
    assert int(aux["count"]) == int(expected_aux["count"])
    if (name, backend) == ("jacrev", "numpy"):  # the cheaper mode is chosen by the value alone
        same(na.jacobian(lambda x: fn(x, na), has_aux=True)(on(backend, X))[0], expected)


@cache
def linearized_by_jax() -> Any:
    return jax.linearize(lambda x: with_aux(x, jnp), X, has_aux=True)


def test_aux_of_linearize(backend: str) -> None:
    x = on(backend, X)
    value, push, aux = na.linearize(lambda x: with_aux(x, na), x, has_aux=True)
    expected, push_of_jax, expected_aux = linearized_by_jax()
    same(value, expected)
    same(push(x), push_of_jax(X))
    same(aux["doubled"], expected_aux["doubled"])


def polynomial(z: Any, lib: Any) -> Any:
    return lib.exp(z) * z[0] + z * z * z


def total(z: Any, lib: Any) -> Any:
    return lib.sum(polynomial(z, lib))


@cache
def holomorphic_in_jax(name: str) -> Any:
    fn = polynomial if name == "jacrev" else total
    return getattr(jax, name)(lambda z: fn(z, jnp), holomorphic=True)(Z)


@pytest.mark.parametrize(("name", "backend"), cases("jacrev", "jacfwd", "jacobian"))
def test_jacobians_of_holomorphic_functions(name: str, backend: str) -> None:
    found = getattr(na, name)(lambda z: polynomial(z, na), holomorphic=True)(on(backend, Z))
    same(found, holomorphic_in_jax("jacrev"))


@pytest.mark.parametrize(("name", "backend"), cases("value_and_grad", "hessian"))
def test_derivatives_of_holomorphic_functions(name: str, backend: str) -> None:
    found = getattr(na, name)(lambda z: total(z, na), holomorphic=True)(on(backend, Z))
    same(found, holomorphic_in_jax(name))


def test_derivatives_that_are_not_holomorphic(backend: str) -> None:
    z = on(backend, Z)
    slope, aux = na.grad(lambda z: (total(z, na), z * 2), has_aux=True, holomorphic=True)(z)
    same([slope, aux], [holomorphic_in_jax("value_and_grad")[1], Z * 2])
    message = (
        "grad: holomorphic: got an array of float32, shape (3,), expected complex arrays as "
        "arguments and results; leave holomorphic out for real functions"
    )
    with pytest.raises(DtypeError, match=f"^{re.escape(message)}$"):
        na.grad(na.sum, holomorphic=True)(on(backend, X))
    with pytest.raises(
        DtypeError, match=r"^grad: holomorphic: got an array of float32, shape \(\)"
    ):
        na.grad(lambda z: na.sum(na.real(z)), holomorphic=True)(z)
    with pytest.raises(DtypeError, match=r"or say holomorphic=True$"):
        na.jacrev(na.exp)(z)


def test_mapping_of_nothing_repeats(backend: str) -> None:
    x = on(backend, X)
    found = na.vmap(lambda x: (na.exp(x), na.sum(x)), in_axes=None, axis_size=4)(x)
    same(found, jax.vmap(lambda x: (jnp.exp(x), jnp.sum(x)), in_axes=None, axis_size=4)(X))
    same(na.vmap(na.exp, axis_size=3)(x), jnp.exp(X))
    assert tuple(na.vmap(lambda: na.exp(x), axis_size=2)().shape) == (2, 3)
    if backend != "tensorflow":
        slope = na.grad(lambda x: na.sum(na.vmap(na.exp, in_axes=None, axis_size=4)(x)))(x)
        same(slope, 4 * np.exp(X))
    message = (
        "vmap: axis_size: got 4, but a mapped axis has the size 3 (of shape (3,)); leave "
        "axis_size out, the arrays say it"
    )
    with pytest.raises(ShapeError, match=f"^{re.escape(message)}$"):
        na.vmap(na.exp, axis_size=4)(x)
    with pytest.raises(
        ArgumentError, match=r"^vmap: axis_size: got -1, expected an integer from 0"
    ):
        na.vmap(na.exp, axis_size=-1)


def test_names_of_mapped_axes_on_jax() -> None:
    def centred(x: Any) -> Any:
        mean = lax.pmean(x, "batch")
        return {"centred": x - mean, "mean": mean}

    x = jnp.asarray(np.outer(X, X))
    axes = {"centred": 0, "mean": None}
    found = na.vmap(centred, out_axes=axes, axis_name="batch")(x)
    same(found, jax.vmap(centred, out_axes=axes, axis_name="batch")(x))
    same(na.vmap(lambda r: lax.psum(r, "i"), axis_name="i")(x), jnp.sum(x, 0) + 0 * x)
    slopes = na.vmap(na.grad(lambda r: na.sum(lax.psum(r * r, "i"))), axis_name="i")(x)
    same(slopes, jax.vmap(jax.grad(lambda r: lax.psum(r * r, "i").sum()), axis_name="i")(x))
    with pytest.raises(
        ArgumentError, match=r"^vmap: out_axes: got None for the result at 'centred'"
    ):
        na.vmap(centred, out_axes={"centred": None, "mean": None}, axis_name="batch")(x)


@pytest.mark.parametrize("unroll", [2, True])
def test_unrolled_loops(unroll: int, backend: str) -> None:
    def loop(x: Any) -> Any:
        return na.fori_loop(0, 3, lambda i, c: na.add(c * 2.0, i), x, unroll=unroll)

    expected = lax.fori_loop(0, 3, lambda i, c: c * 2 + i, X, unroll=unroll)
    x = on(backend, X)
    same(loop(x), expected)
    if backend == ("jax" if unroll == 2 else "tensorflow"):
        same(na.jit(loop)(x), expected)
    same(na.grad(lambda x: na.sum(loop(x)))(x), X * 0 + 8)


def test_loops_that_cannot_be_unrolled() -> None:
    x = jnp.asarray(X)
    with pytest.raises(
        ArgumentError, match=r"^fori_loop: unroll: got 0, expected an integer from 1"
    ):
        na.fori_loop(0, 3, lambda i, c: c, x, unroll=0)
    message = (
        "fori_loop: unroll: got 2, but the number of steps is not known while the program is "
        "made; give bounds that are numbers, or leave unroll out"
    )
    with pytest.raises(ArgumentError, match=f"^{re.escape(message)}"):
        na.jit(lambda n: na.fori_loop(0, n, lambda i, c: c, x, unroll=2))(jnp.asarray(3))


def products(w: Any) -> Any:
    h = na.matmul(w, w)
    for _ in range(2):
        h = na.sin(na.matmul(h, w))
    return na.sum(h)


W = np.outer(X, X)


@pytest.mark.parametrize(
    "policy",
    ["everything_saveable", "dots_saveable", "dots_with_no_batch_dims_saveable"],
)
def test_policies_change_no_value(policy: str, backend: str) -> None:
    w = on(backend, W)
    assert_close(na.grad(na.checkpoint(products, policy=policy))(w), na.grad(products)(w))


def test_policies_keep_products_on_torch() -> None:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counting(TorchDispatchMode):
        products = 0

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.products += func is torch.ops.aten.mm.default
            return func(*args, **kwargs or {})

    def count(**options: Any) -> int:
        with Counting() as mode:
            na.grad(na.checkpoint(products, **options))(on("torch", W))
        return mode.products

    def own(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        return torch.utils.checkpoint.CheckpointPolicy.MUST_SAVE

    kept = count(policy="everything_saveable")
    assert count() == kept + 3
    assert count(policy="dots_saveable") == kept
    assert count(policy=own) == kept


def _products_of(jaxpr: Any) -> int:
    """The number of products in a jaxpr and in those that it calls."""
    count = 0
    for eqn in jaxpr.eqns:
        count += eqn.primitive.name == "dot_general"
        inner = [getattr(value, "jaxpr", value) for value in eqn.params.values()]
        count += sum(_products_of(each) for each in inner if hasattr(each, "eqns"))
    return count


def test_policies_keep_products_on_jax() -> None:
    def count(**options: Any) -> int:
        fn = na.grad(na.checkpoint(products, **options))
        return _products_of(jax.make_jaxpr(fn)(jnp.asarray(W)).jaxpr)

    kept = count(policy="dots_saveable")
    assert count() > kept
    assert count(policy=jax.checkpoint_policies.dots_saveable) == kept


def test_policies_that_there_are_not() -> None:
    message = (
        "checkpoint: policy: got 'dots', expected one of 'nothing_saveable', 'everything_saveable'"
    )
    with pytest.raises(ArgumentError, match=f"^{message}, 'dots_saveable'"):
        na.checkpoint(products, policy="dots")
    message = "checkpoint: policy: got the function 'own', but numpy has no policies of its own"

    def own(*args: Any) -> bool:
        return True

    with pytest.raises(UnsupportedError, match=f"^{message}; leave policy out, or name one"):
        na.checkpoint(products, policy=own)(W)


def test_settings_of_rules_by_name(backend: str) -> None:
    def power(x: Any, n: int = 3) -> Any:
        return x**n

    by_pullback = na.custom_vjp(power, nondiff_argnames="n")
    by_pullback.defvjp(lambda x, n: (x**n, x), lambda n, x, ct: (ct * 10.0 * n,))
    by_push = na.custom_jvp(power, nondiff_argnames=("n",))
    by_push.defjvp(lambda n, xs, ts: (xs[0] ** n, ts[0] * 10.0 * n))
    x = on(backend, X)
    for fn in (by_pullback, by_push):
        for args, kwargs, n in (((), {}, 3), ((), {"n": 2}, 2), ((2,), {}, 2)):
            same(fn(x, *args, **kwargs), X**n)
            total = lambda x, fn, args, kwargs: na.sum(fn(x, *args, **kwargs))  # noqa: E731
            same(na.grad(total)(x, fn, args, kwargs), X * 0 + 10 * n)
    message = (
        "custom_vjp: nondiff_argnames: got 'm', but the parameters of the function 'power' are "
        "'x', 'n'"
    )
    with pytest.raises(ArgumentError, match=f"^{message}$"):
        na.custom_vjp(power, nondiff_argnames="m")


def test_a_rule_for_each_argument(backend: str) -> None:
    fn, of_jax = na.custom_jvp(lambda x, y: x * y), jax.custom_jvp(lambda x, y: x * y)
    for made in (fn, of_jax):
        made.defjvps(lambda t, value, x, y: t * value * 3.0, lambda t, value, x, y: t * x)
    x, y = on(backend, X), on(backend, X[::-1].copy())
    found = na.grad(lambda x, y: na.sum(fn(x, y)), (0, 1))(x, y)
    same(found, jax.grad(lambda x, y: jnp.sum(of_jax(x, y)), (0, 1))(X, X[::-1].copy()))
    still = na.custom_jvp(lambda x, y: x * y)
    still.defjvps(None, lambda t, value, x, y: t)
    same(na.grad(lambda x: na.sum(still(x, y)))(x), X * 0)
    fn.defjvps(None)
    with pytest.raises(
        ArgumentError, match=r"^custom_jvp: defjvps: got 1 rules, but .* with 2 pos"
    ):
        na.grad(lambda x: na.sum(fn(x, y)))(x)
    with pytest.raises(
        ArgumentError, match=r"has arguments that are settings \(1\); give one rule"
    ):
        na.custom_jvp(lambda x, n: x, nondiff_argnums=1).defjvps(None, None)
