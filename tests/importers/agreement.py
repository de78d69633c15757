"""Agreement of a converted model with its source, in every way to run it.

The test of an importer runs its source eagerly and hands over the results, an `Expected`; `ways`
runs the graph and compares. All numbers are float64.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends
from tests.arrays import host, on

#: Largest error relative to the largest number of an array.
RTOL = 1e-9


@dataclasses.dataclass
class Expected:
    """The results of the source; arrays are NumPy's.

    Attributes:
        outputs: the output arrays in order.
        state: path → value after the call.
        gradients: path → gradient of `loss`; a missing path is not compared.
        input_gradients: of the floating inputs, in order.
    """

    outputs: list[np.ndarray]
    state: dict[str, np.ndarray]
    gradients: dict[str, np.ndarray]
    input_gradients: list[np.ndarray]


def weights(shape: tuple[int, ...]) -> np.ndarray:
    """The weight of each element of an output in the loss."""
    return np.cos(np.arange(np.prod(shape, dtype=int)) + 1.0).reshape(shape)


def loss(outputs: list[Any]) -> Any:
    """Σ weights · output over the floating outputs."""
    terms = [
        na.sum(na.astype(x, "float64") * na.asarray(weights(tuple(x.shape)), like=x))
        for x in outputs
        if is_floating(x)
    ]
    return sum(terms[1:], terms[0])


def ways(
    module: Any, backend: str, args: list[Any], train: bool, folder: Path
) -> Iterator[tuple[str, Callable[..., tuple[Any, Any]]]]:
    """(name, function of inputs and v that returns (output, new state)).

    Args:
        module: the result of `na.to_module`.
        backend: the backend to run on.
        args: example inputs on that backend.
        train: whether the training behaviour is run.
        folder: for files.
    """
    graph = (module.training_graph if train else module.graph).to_backend(backend)

    def called(function: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
        def call(inputs: list[Any], v: Any) -> tuple[Any, Any]:
            found = function(*inputs, v=v)
            return found if graph.returns_state else (found, graph.s)

        return call

    yield "graph", called(graph)
    yield "lowered", called(graph.lower())
    if backend in ("jax", "tensorflow"):
        yield "compiled", called(graph.compile())
    path = folder / "graph.npz"
    graph.save(path)
    yield "file", called(na.graph.Graph.load(path).to_backend(backend))
    namespace: dict[str, Any] = {}
    exec(graph.to_source(), namespace)
    yield "source", called(partial(namespace["graph"], s=graph.s, constants=graph.constants))
    layer = module.to_backend(backend)
    if train:
        yield "module", lambda inputs, v: layer(*inputs, v=v, train=True)
    else:
        yield "module", lambda inputs, v: (layer(*inputs, v=v), {})


def check(
    module: Any, backend: str, args: list[np.ndarray], train: bool, want: Expected, folder: Path
) -> None:
    """Assert that every way to run a converted model agrees with its source."""
    inputs = [on(backend, x) for x in args]
    floating = [i for i, x in enumerate(inputs) if is_floating(x)]
    v = module.graph.v.to_backend(backend)
    for name, function in ways(module, backend, inputs, train, folder):
        output, state = function(inputs, v)
        where = f"{name} on {backend}"
        _same(f"{where}: output", want.outputs, leaves(output))
        for path, value in na.Container(state).flat_items():
            _same(f"{where}: state {path}", [want.state[path]], [value])
        if not any(map(is_floating, leaves(output))):
            continue

        def total(nest: Any, function: Any = function) -> Any:
            v, moving = nest
            given = list(inputs)
            for i, x in zip(floating, moving, strict=True):
                given[i] = x
            return loss(leaves(function(given, v)[0]))

        nest = (v, [inputs[i] for i in floating])
        _, (of_v, of_inputs) = na.execute_with_gradients(total, nest)
        for path, value in want.gradients.items():
            _same(f"{where}: gradient of {path}", [value], [of_v[path]])
        _same(f"{where}: gradients of inputs", want.input_gradients, of_inputs)


def is_floating(x: Any) -> bool:
    """Whether the array has a gradient here."""
    return na.dtypes.dtype_of(x).is_floating


def leaves(nest: Any) -> list[Any]:
    """The arrays of an output."""
    return [x for x in na.tree.flatten(nest)[0] if backends.is_array(x)]


def _same(where: str, want: list[np.ndarray], got: list[Any]) -> None:
    assert len(want) == len(got), f"{where}: {len(got)} arrays, expected {len(want)}"
    for x, y in zip(want, map(host, got), strict=True):
        assert x.shape == y.shape, f"{where}: shape {y.shape}, expected {x.shape}"
        assert x.dtype == y.dtype, f"{where}: dtype {y.dtype}, expected {x.dtype}"
        scale = max(np.abs(x[np.isfinite(x)]).max(initial=0), 1e-3) if x.dtype.kind == "f" else 0
        np.testing.assert_allclose(y, x, rtol=0, atol=RTOL * scale, err_msg=where)
