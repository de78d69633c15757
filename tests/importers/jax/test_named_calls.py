"""Public functions of JAX stay one call; functions of the user with their names do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na

X = jnp.asarray(np.random.default_rng(0).standard_normal((4, 6)), jnp.float32)
PLACES = jnp.asarray([2, 0, 1])

#: The printed call → the function.
CALLS: dict[str, Callable[[Any], Any]] = {
    "jax.numpy.where(gt, x, 1.0)": lambda x: jnp.where(x > 0, x, 1.0),
    "jax.numpy.clip(x, 0, 1)": lambda x: jnp.clip(x, 0, 1),
    "jax.numpy.var(x, axis=0)": lambda x: jnp.var(x, axis=0),
    "jax.numpy.std(x, axis=-1, keepdims=True)": lambda x: jnp.std(x, axis=1, keepdims=True),
    "jax.numpy.take(x, constants['c0'], axis=0)": lambda x: jnp.take(x, PLACES, axis=0),
    "jax.numpy.sort(x, axis=0)": lambda x: jnp.sort(x, axis=0),
    "jax.numpy.linalg.norm(x, axis=-1)": lambda x: jnp.linalg.norm(x, axis=1),
    "jax.numpy.median(x, axis=-1)": lambda x: jnp.median(x, axis=1),
    "jax.numpy.cumsum(x, axis=-1)": lambda x: jnp.cumsum(x, axis=1),
    "jax.numpy.searchsorted(constants['c0'], x, side='right')": lambda x: jnp.searchsorted(
        jnp.asarray([-1.0, 0.0, 0.5]), x, side="right"
    ),
    "jax.nn.silu(x)": jax.nn.silu,
    "jax.nn.relu(x)": jax.vmap(jax.nn.relu),
    "jax.nn.elu(x)": jax.nn.elu,
    "jax.nn.leaky_relu(x, 0.1)": lambda x: jax.nn.leaky_relu(x, 0.1),
    "jax.nn.gelu(x)": lambda x: jax.nn.gelu(x),
    "jax.nn.gelu(x, approximate=False)": lambda x: jax.nn.gelu(x, approximate=False),
    "jax.nn.softmax(x)": lambda x: jax.nn.softmax(x),
    "jax.nn.softmax(x, axis=0)": lambda x: jax.nn.softmax(x, axis=0),
    "jax.nn.log_softmax(x, axis=0)": lambda x: jax.nn.log_softmax(x, axis=0),
    "jax.nn.logsumexp(x, axis=0)": lambda x: jax.nn.logsumexp(x, axis=0),
    "jax.nn.standardize(x)": lambda x: jax.nn.standardize(x),
    "jax.nn.glu(x)": lambda x: jax.nn.glu(x),
}


@pytest.mark.parametrize("text", CALLS)
def test_one_call(text: str) -> None:
    graph = na.trace_graph(CALLS[text], X)
    assert f" = {text}\n" in graph.to_source(comments=False)
    for backend in ("torch", "numpy"):
        report = graph.to_backend(backend).verify()
        assert report.ok, str(report)


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("jax.numpy.linalg.inv(x)", lambda x: jnp.linalg.inv(x)),
        ("jax.numpy.var(x, axis=(1, 2))", lambda x: jnp.var(x, axis=(1, 2))),
    ],
)
def test_one_call_of_open_sizes(text: str, function: Callable[[Any], Any]) -> None:
    x = jnp.stack([jnp.eye(3) + i for i in range(4)])
    graph = na.trace_graph(function, x, dynamic={"x": {0: "batch"}})
    assert f" = {text}\n" in graph.to_source(comments=False)
    assert graph.to_backend("torch").verify(x[:3]).ok


@jax.jit
def clip(x: Any, low: Any, high: Any) -> Any:
    return jnp.minimum(high, x) + low


@jax.jit
def softmax(x: Any) -> Any:
    return jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True)


#: Programs without a call of the public function → its name.
OTHERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "name of the user": (lambda x: clip(x, 0, 1), "clip"),
    "formula of the user": (softmax, "jax.nn.softmax"),
    "batched": (lambda x: jax.vmap(jax.nn.softmax)(x[None]), "jax.nn.softmax"),
    "weighted": (lambda x: jax.nn.logsumexp(x, axis=1, b=2 * x), "jax.nn.logsumexp"),
    "masked": (lambda x: jax.nn.softmax(x, where=x > 0), "jax.nn.softmax"),
    "differentiated": (jax.grad(lambda x: jax.nn.softmax(x)[0, 0]), "jax.nn.softmax"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions_are_inlined(name: str) -> None:
    function, printed = OTHERS[name]
    graph = na.trace_graph(function, X)
    assert f"{printed}(" not in graph.to_source(comments=False)
    assert graph.to_backend("torch").verify().ok


def test_jax_is_as_before() -> None:
    before = {name: getattr(jax.nn, name) for name in ("softmax", "gelu", "logsumexp")}

    def failing(x: Any) -> Any:
        raise KeyError("in the source")

    with pytest.raises(KeyError, match="in the source"):
        na.trace_graph(lambda x: failing(jnp.sin(x)), X)
    assert {name: getattr(jax.nn, name) for name in before} == before
