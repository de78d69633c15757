"""``nestarray doctor --self-test``: one layer of each framework on each other one, with gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from nestarray.graph.graph import Graph
from nestarray.importers.tracing import trace_graph
from nestarray.proof.verify import verify

_RNG = np.random.default_rng(0)


def _normal(*shape: int) -> Any:
    return _RNG.normal(size=shape).astype("float32")


_X, _WEIGHT, _BIAS = _normal(2, 3), _normal(3, 4), _normal(4)


def self_test(frameworks: Sequence[str]) -> Iterator[dict[str, str]]:
    """Trace a layer of each framework, move it to each other one and verify it there.

    Yields:
        ``{"source", "target", "result", "error"}``; the result is agrees, differs or error.
    """
    for source in frameworks:
        targets = [target for target in frameworks if target != source]
        try:
            graph = _LAYERS[source]()
        except Exception as error:  # a broken installation may raise anything
            yield from (_row(source, target, "error", _text(error)) for target in targets)
            continue
        yield from (_verified(graph, source, target) for target in targets)


def _verified(graph: Graph, source: str, target: str) -> dict[str, str]:
    try:
        report = verify(graph.to_backend(target))
    except Exception as error:  # as above
        return _row(source, target, "error", _text(error))
    return _row(source, target, *(("agrees", "") if report.ok else ("differs", str(report))))


def _row(source: str, target: str, result: str, error: str) -> dict[str, str]:
    return {"source": source, "target": target, "result": result, "error": error}


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


# -- the same layer in each framework ------------------------------------------------------------


def _numpy() -> Graph:
    class Layer:
        def __init__(self) -> None:
            self.weight, self.bias = _WEIGHT, _BIAS

        def forward(self, x: np.ndarray) -> np.ndarray:
            y = x @ self.weight
            y[:] += self.bias  # writing makes it code of NumPy, also in a file of nestarray
            return np.tanh(y)

    layer = Layer()
    return trace_graph(layer.forward, _X, v=layer)


def _jax() -> Graph:
    import jax.numpy as jnp

    def layer(params: dict[str, Any], x: Any) -> Any:
        import jax.numpy as jnp  # makes it code of JAX, also in a file of nestarray

        return jnp.tanh(x @ params["weight"] + params["bias"])

    params = {"weight": jnp.asarray(_WEIGHT), "bias": jnp.asarray(_BIAS)}
    return trace_graph(layer, params, jnp.asarray(_X), v="params")


def _torch() -> Graph:
    import torch

    layer = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh())
    layer.load_state_dict(
        {"0.weight": torch.from_numpy(_WEIGHT.T.copy()), "0.bias": torch.from_numpy(_BIAS)}
    )
    return trace_graph(layer, torch.from_numpy(_X))


def _tensorflow() -> Graph:
    import tensorflow as tf

    class Layer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.bias = tf.Variable(_WEIGHT), tf.Variable(_BIAS)

        def __call__(self, x: Any) -> Any:
            return tf.tanh(x @ self.weight + self.bias)

    return trace_graph(Layer(), tf.constant(_X))


_LAYERS: dict[str, Callable[[], Graph]] = {
    "numpy": _numpy, "jax": _jax, "torch": _torch, "tensorflow": _tensorflow,
}  # fmt: skip
