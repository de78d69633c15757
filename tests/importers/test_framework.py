"""The argument ``framework=`` decides which importer reads a function; without it, its code is a hint."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na
from nestarray import errors
from nestarray.importers.selection import Search
from tests.arrays import host, on

X = np.asarray([0.5, -1.0, 2.0], "float32")


def doubled(x: Any) -> Any:
    return x * 2 + 1


def chosen(module: Any) -> Any:
    """A function of a framework, which the names in the code of `hidden` do not show."""
    return getattr(module, "tanh", None) or module.math.tanh


@pytest.mark.parametrize(
    ("framework", "target"),
    [
        ("numpy", "na.multiply"),
        ("jax", "jax.lax.mul"),
        ("torch", "torch.mul"),
        ("tensorflow", "tf.raw_ops.Mul"),
        ("nestarray", "na.multiply"),
    ],
)
def test_the_framework_decides(
    framework: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> bool:
        raise AssertionError("the code is searched")

    monkeypatch.setattr(Search, "finds", fail)
    x = on("numpy" if framework == "nestarray" else framework, X)
    graph = na.trace_graph(doubled, x, framework=framework)
    assert graph.calls[0].target_name.endswith(target.rpartition(".")[2]), graph.calls[
        0
    ].target_name
    np.testing.assert_allclose(host(graph(x)), X * 2 + 1)
    assert na.check(doubled, x, target="numpy", framework=framework).ok


@pytest.mark.parametrize(
    ("framework", "module"), [("jax", jnp), ("torch", torch), ("tensorflow", tf)]
)
def test_functions_that_no_name_shows(framework: str, module: Any) -> None:
    modules = {"m": lambda: module}

    def hidden(x: Any) -> Any:
        return chosen(modules["m"]())(x)

    x = on(framework, X)
    graph = na.trace_graph(hidden, x, framework=framework)
    assert [node.target_name.rpartition(".")[2].lower() for node in graph.calls] == ["tanh"]
    np.testing.assert_allclose(host(graph(x)), np.tanh(X), rtol=1e-6)


def test_code_over_na_that_the_framework_excludes() -> None:
    with pytest.raises(errors.ConversionError, match=r"framework='jax' traces code over jax"):
        na.trace_graph(lambda x: jnp.sin(x), on("jax", X), framework="nestarray")


def test_errors_of_a_wrong_guess_name_the_argument() -> None:
    def hidden(x: Any) -> Any:
        x[0] = 1.0
        return x

    functions = {"f": lambda: hidden}
    with pytest.raises(errors.ImmutableError, match=r"framework='numpy' for code over numpy"):
        na.trace_graph(lambda x: functions["f"]()(x), X)
    graph = na.trace_graph(lambda x: functions["f"]()(x), X.copy(), framework="numpy")
    np.testing.assert_array_equal(graph(X), [1.0, -1.0, 2.0])


def test_sources_of_another_framework_are_refused() -> None:
    layer = torch.nn.Linear(3, 3)
    with pytest.raises(
        errors.ArgumentError,
        match=r"trace_graph: framework: got 'jax', expected the framework of Linear and of the "
        r"arrays of its example",
    ):
        na.trace_graph(layer, on("torch", X), framework="jax")
    with pytest.raises(
        errors.ArgumentError,
        match=r"framework: got 'keras', expected 'jax', 'nestarray', 'numpy', 'tensorflow', 'torch'",
    ):
        na.trace_graph(layer, on("torch", X), framework="keras")
    module = na.to_module(doubled, on("torch", X), framework="torch")
    np.testing.assert_allclose(host(module(on("torch", X))), X * 2 + 1)
