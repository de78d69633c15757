"""Messages for JAX programs that cannot be traced."""

from __future__ import annotations

import re
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import nestarray as na
from nestarray import errors

X = jnp.ones((2, 3))
LEAKED: list[Any] = []

VALUES = {
    "bool": (lambda x: jnp.sin(x) if x.sum() > 0 else -x, "write the choice with jnp.where"),
    "float": (lambda x: jnp.sin(x) * float(x.sum()), "it needs the value of an array"),
    "item": (lambda x: jnp.sin(x) * x.sum().item(), "it needs the value of an array"),
    "numpy": (lambda x: jnp.asarray(np.asarray(x)), "use the function of jax.numpy"),
    "integer": (lambda x: [jnp.sin, jnp.cos][x[0, 0].astype(int)](x), "as a Python integer"),
    "size": (lambda x: jnp.zeros(x[0, 0].astype(int)), "take size="),
    "mask": (lambda x: jnp.sin(x)[x > 0], r"use jnp.where(mask, x, 0)"),
    "nonzero": (lambda x: jnp.nonzero(x), "take size="),
    "leak": (lambda x: x + jnp.concatenate([LEAKED[0]]), "a leaked tracer"),
    "leak_in_jit": (lambda x: jnp.sin(LEAKED[0]) + x, "a leaked tracer"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_during_a_trace(name: str) -> None:
    function, remedy = VALUES[name]
    jax.make_jaxpr(lambda x: LEAKED.append(x) or x)(X)
    try:
        with pytest.raises(errors.ConversionError) as caught:
            na.trace_graph(function, X)
        report = na.check(function, X, target="torch")
    finally:
        LEAKED.clear()
    place = r"trace_graph: <lambda>( \(test_trace_errors.py:\d+\))? cannot be traced: "
    assert re.match(place, str(caught.value))
    assert remedy in str(caught.value)
    assert name.startswith("leak") or "test_trace_errors.py" in str(caught.value)
    assert report.problems[0].what == "source"


def test_a_leaked_array_alone_is_explained() -> None:
    jax.make_jaxpr(lambda x: LEAKED.append(x) or x)(X)
    try:
        with pytest.raises(errors.ConversionError, match="a leaked tracer"):
            na.trace_graph(lambda x: x + LEAKED[0], X)
    finally:
        LEAKED.clear()


def test_variables_of_a_module_that_is_named() -> None:
    norm = nnx.BatchNorm(3, rngs=nnx.Rngs(0))
    with pytest.raises(errors.ConversionError, match=r"test_trace_errors.*v=\"module\""):
        na.trace_graph(lambda x: norm(x), X)
    assert na.trace_graph(lambda norm, x: norm(x), norm, X, v="norm").v.leaves()


def test_text_of_a_value() -> None:
    with pytest.raises(errors.ConversionError, match="formats the value of an array as text"):
        na.trace_graph(lambda x: print(f"{jnp.sin(x).sum():.2f}") or x, X)


def test_functions_of_jax_on_arrays_of_numpy_alone() -> None:
    with pytest.raises(errors.ConversionError, match="or one of the framework of the arrays"):
        na.trace_graph(lambda x: jnp.sin(x), np.ones(3))


NO_ARRAYS = {
    "float8": (lambda x: x.astype(jnp.float8_e4m3fn).astype("float32"), "got 'float8_e4m3fn'"),
    "int4": (lambda x: x.astype(jnp.int4).astype("float32"), "got 'int4'"),
    "generator": (
        lambda x: x + jax.random.normal(jax.random.key(0, impl="rbg"), x.shape),
        'got key<rbg>, expected key<fry>, a key of threefry2x32: jax.random.key(0, impl="threefry2x32")',
    ),
}


@pytest.mark.parametrize("name", NO_ARRAYS)
def test_dtypes_that_no_backend_has(name: str) -> None:
    function, message = NO_ARRAYS[name]
    with pytest.raises(errors.MissingOpError, match=re.escape(message)) as caught:
        na.trace_graph(function, X)
    assert "test_trace_errors.py" in str(caught.value)


def test_bfloat16_on_numpy() -> None:
    x = X.astype(jnp.bfloat16) / 3
    graph = na.trace_graph(lambda x: x @ x.T, x).to_backend("numpy")
    np.testing.assert_array_equal(graph(na.to_backend(x, "numpy")), x @ x.T)


def test_64_bits_on_jax_without_x64() -> None:
    with jax.enable_x64(True):
        graph = na.trace_graph(lambda x: jnp.sin(x) * 2, jnp.ones(3, jnp.float64))
        wide = na.trace_graph(lambda x: jnp.cumsum(x) * np.full(3, 2**40), jnp.ones(3, jnp.int64))
    with pytest.raises(errors.DtypeError, match="got float32, the graph was traced with float64"):
        graph(jnp.ones(3))
    with pytest.raises(errors.DtypeError, match="got float32, the graph was traced with float64"):
        graph.to_backend("numpy").to_backend("jax")(jnp.ones(3))
    with pytest.raises(errors.DtypeError, match="which JAX holds in int32 now"):
        wide.to_backend("numpy").to_backend("jax")
    narrow = graph.to_backend("jax", float64="float32")
    np.testing.assert_allclose(narrow(jnp.ones(3)), 2 * np.sin(np.ones(3)), rtol=1e-6)


def test_arguments_that_are_no_arrays_are_part_of_the_program() -> None:
    def function(x: Any, n: int, mode: str = "sin") -> Any:
        return jnp.sin(x) * n if mode == "sin" else x

    graph = na.trace_graph(function, X, 3, mode="cos")
    for args, mode, message in [
        ((X, 4), "cos", "function: argument 1: got 4, but the graph was traced with 3"),
        ((X, X), "cos", "got Array"),
        ((X, 3), "sin", "argument 'mode': got 'sin', but the graph was traced with 'cos'"),
    ]:
        with pytest.raises(errors.ArgumentError, match=f"(?s){message}.*trace again"):
            graph(*args, mode=mode)


def test_functions_among_the_arguments_are_part_of_the_program() -> None:
    graph = na.trace_graph(lambda x, f: f(x), X, jnp.tanh)
    np.testing.assert_allclose(graph.to_backend("numpy")(np.asarray(X), jnp.tanh), np.tanh(X), 1e-6)
    with pytest.raises(errors.ArgumentError, match=r"got .*sin.*traced with .*tanh"):
        graph(X, jnp.sin)


def test_arrays_of_numpy_beside_those_of_jax() -> None:
    params = {"w": jnp.ones((3, 2)), "b": np.ones(2, "float32")}
    graph = na.trace_graph(
        lambda p, batch, rate: rate * jnp.dot(batch["x"], p["w"]) + p["b"],
        params, {"x": np.ones((4, 3), "float32")}, np.float32(0.5), v="p",
    )  # fmt: skip
    assert {na.backend_of(x) for x in graph.v.leaves()} == {"jax"}
    assert graph.to_backend("torch").verify().ok
    with pytest.raises(
        errors.ArgumentError, match="got an array of numpy, expected an array of jax"
    ):
        graph({"x": np.ones((4, 3), "float32")}, jnp.asarray(0.5))


def test_variables_of_numpy() -> None:
    dense = nn.Dense(2)
    variables = jax.tree.map(np.asarray, dense.init(jax.random.key(0), X))
    graph = na.trace_graph(dense, X, variables=variables)
    assert {na.backend_of(x) for x in graph.v.leaves()} == {"jax"}
    np.testing.assert_allclose(graph(X), dense.apply(variables, X), rtol=1e-6)


def test_attributes_that_a_call_writes() -> None:
    class Average:
        def __init__(self) -> None:
            self.total = jnp.zeros(3)

        def __call__(self, x: Any) -> Any:
            self.total = self.total + x.sum(0)
            self.last = x
            return self.total

    average = Average()
    graph = na.trace_graph(average, X)
    assert graph.report().dropped == [
        "Average.total, which a call writes",
        "Average.last, which a call writes",
    ]
    np.testing.assert_array_equal(average.total, np.zeros(3))
    assert not hasattr(average, "last")
