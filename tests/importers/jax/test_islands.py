"""Callbacks, effects and placement in JAX programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.experimental import pallas as pl
from jax.extend.core import Primitive
from jax.interpreters import ad, mlir
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import nestarray as na
from nestarray import errors
from tests.arrays import host

X = jnp.asarray(np.random.default_rng(0).standard_normal((4, 3)), jnp.float32)


def on_host(x: Any) -> Any:
    return np.sin(x)


def called(x: Any, method: str = "expand_dims") -> Any:
    return jax.pure_callback(on_host, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method=method)


@jax.custom_vjp
def differentiable(x: Any) -> Any:
    return called(x)


differentiable.defvjp(lambda x: (called(x), x), lambda x, g: (g * jnp.cos(x),))


def several(x: Any) -> Any:
    results = (jax.ShapeDtypeStruct((), x.dtype), jax.ShapeDtypeStruct(x.shape, jnp.int32))
    return jax.pure_callback(lambda x: (x.sum(), np.sign(x).astype("int32")), results, x)


PROGRAMS = {
    "call": lambda x: called(x) * 2,
    "jit": lambda x: jax.jit(called)(x) + x,
    "vmap": lambda x: jax.vmap(called)(x),
    "vmap_sequential": lambda x: jax.vmap(lambda r: called(r, "sequential"))(x),
    "scan": lambda x: jax.lax.scan(lambda c, r: (called(c) + r, c), x[0], x),
    "cond": lambda x: jax.lax.cond(x.sum() > 0, called, jnp.cos, x),
    "results": several,
}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_callbacks_are_islands(name: str, compiled: bool, backend: str) -> None:
    if (name, compiled, backend) == ("cond", True, "torch"):
        pytest.skip("Inductor: a branch with an operator of fixed sizes has an undefined size")
    graph = na.trace_graph(PROGRAMS[name], X).to_backend(backend)
    function = na.jit(graph) if compiled else graph
    got = na.tree.leaves(function(na.to_backend(X, backend)))
    for x, y in zip(jax.tree.leaves(PROGRAMS[name](X)), got, strict=True):
        assert na.dtypes.dtype_of(y) == na.dtypes.dtype_of(x)
        np.testing.assert_allclose(host(y), x, rtol=1e-5)
    assert graph.verify(gradients=False).ok


def test_mapped_island(backend: str) -> None:
    graph = na.trace_graph(called, X[0]).to_backend(backend)
    np.testing.assert_allclose(
        host(na.vmap(graph)(na.to_backend(X, backend))), np.sin(X), rtol=1e-5
    )


def test_derivative_of_a_callback(backend: str) -> None:
    graph = na.trace_graph(lambda x: jax.vmap(differentiable)(x) * x, X).to_backend(backend)
    gradient = na.grad(lambda x: na.sum(graph(x)))(na.to_backend(X, backend))
    np.testing.assert_allclose(host(gradient), jnp.cos(X) * X + jnp.sin(X), rtol=1e-5)
    assert graph.verify().ok


def test_callback_without_derivative() -> None:
    graph = na.trace_graph(called, X).to_backend("torch")
    message = r"island: on_host_\d+ has no derivative in JAX .*jax.custom_jvp or jax.custom_vjp"
    with pytest.raises(errors.UnsupportedError, match=message):
        na.grad(lambda x: na.sum(graph(x)))(na.to_backend(X, "torch"))


def test_equal_callbacks_have_one_name() -> None:
    first, second = (na.trace_graph(called, X).to_source() for _ in range(2))
    assert first == second


def test_callbacks_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(errors.ConversionError, match=r"na\.graph\.island"):
        na.trace_graph(called, X).save(tmp_path / "graph.safetensors")


def test_unknown_island() -> None:
    with pytest.raises(errors.MissingOpError, match="this process traced no call 'f_7' of JAX"):
        na.graph.island("f_7", X, framework="jax")


def scaled(x_ref: Any, o_ref: Any) -> None:
    o_ref[...] = x_ref[...] * 2


def kernel(x: Any) -> Any:
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(scaled, out_shape=shape, interpret=True)(x)


def test_kernels_in_jax_on_request(backend: str) -> None:
    graph = na.trace_graph(kernel, X, islands=True).to_backend(backend)
    np.testing.assert_allclose(host(graph(na.to_backend(X, backend))), 2 * X)


cube = Primitive("cube")  # of which JAX has no formula
cube.def_impl(lambda x: jnp.asarray(np.asarray(x) ** 3))
cube.def_abstract_eval(lambda x: x)
ad.defjvp(cube, lambda g, x: 3 * x**2 * g)
lowered_cube = mlir.lower_fun(lambda x: x**3, multiple_results=False)
mlir.register_lowering(cube, lambda context, *operands: lowered_cube(context, *operands))


def test_primitives_in_jax_on_request(backend: str) -> None:
    with pytest.raises(errors.MissingOpError, match="islands=True would run it in JAX"):
        na.trace_graph(cube.bind, X)
    graph = na.trace_graph(lambda x: cube.bind(jnp.sin(x)), X, islands=True).to_backend(backend)
    x = na.to_backend(X, backend)
    np.testing.assert_allclose(host(graph(x)), jnp.sin(X) ** 3, rtol=1e-5)
    gradient = na.grad(lambda x: na.sum(graph(x)))(x)
    np.testing.assert_allclose(host(gradient), 3 * jnp.sin(X) ** 2 * jnp.cos(X), rtol=1e-4)
    assert graph.verify().ok


REFUSED = {
    "pallas": (kernel, "pallas_call", "written with jax.numpy or jax.lax; islands=True would run"),
    "ffi": (
        lambda x: jax.ffi.ffi_call("code", jax.ShapeDtypeStruct(x.shape, x.dtype))(x),
        "ffi_call",
        "or call the code by jax.pure_callback; islands=True",
    ),
    "io_callback": (
        lambda x: (io_callback(print, None, x), x)[1],
        "io_callback",
        "use jax.pure_callback if its result depends on its arguments alone",
    ),
    "shard_map": (
        lambda x: jax.shard_map(jnp.sin, mesh=mesh(), in_specs=SPEC, out_specs=SPEC)(x),
        "shard_map",
        "trace the function that it maps",
    ),
    "reference": (
        lambda x: jax.new_ref(x)[...],
        "new_ref",
        "it has effects outside of its results",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    function, primitive, reason = REFUSED[name]
    message = rf"{primitive} \(.*test_islands.py:\d+\): .*{re.escape(reason)}"
    with pytest.raises(errors.MissingOpError, match=message):
        na.trace_graph(function, X)
    report = na.check(function, X, target="torch")
    assert primitive in [operation.name for operation in report.missing]


def test_printing_is_dropped_and_reported(tmp_path: Path) -> None:
    def function(x: Any) -> Any:
        jax.debug.print("x = {x}", x=x)

        def step(carry: Any, row: Any) -> Any:
            jax.debug.callback(print, row)
            return carry + row, None

        return jax.lax.scan(step, x[0], x)[0]

    graph = na.trace_graph(function, X)
    assert [text.partition(" (")[0] for text in graph.dropped] == ["debug_print", "debug_callback"]
    assert re.search(r"dropped: debug_print \(test_islands.py:\d+\), ", str(graph.report()))
    operations = na.check(function, X, target="torch").operations
    assert {op.name for op in operations if op.status == "dropped"} == {
        "debug_print",
        "debug_callback",
    }
    graph = graph.to_backend("torch").lower().optimize()
    np.testing.assert_allclose(graph(na.to_backend(X, "torch")), X[0] + X.sum(0), rtol=1e-5)
    graph.save(tmp_path / "graph.safetensors")
    assert na.Graph.load(tmp_path / "graph.safetensors").dropped == graph.dropped


SPEC = PartitionSpec("rows")


def mesh() -> Mesh:
    return Mesh(np.asarray(jax.devices()[:1]), ("rows",))


PLACED = {
    "constraint": lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(mesh(), SPEC)),
    "device_put": lambda x: jax.device_put(x, jax.devices()[0]),
    "barrier": lambda x: jax.lax.optimization_barrier((x, x))[1],
    "name": lambda x: jax.checkpoint(lambda x: checkpoint_name(x))(x),
}


def checkpoint_name(x: Any) -> Any:
    from jax.ad_checkpoint import checkpoint_name

    return checkpoint_name(x, "rows")


@pytest.mark.parametrize("name", PLACED)
def test_placement_is_an_identity(name: str) -> None:
    graph = na.trace_graph(lambda x: jnp.sin(PLACED[name](x)), X)
    assert [node.target_name for node in graph.calls] == ["jax.lax.sin"]
