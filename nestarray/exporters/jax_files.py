"""Files of JAX: StableHLO by ``jax.export``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.export
import numpy as np

from nestarray.exporters.export import Example, named_outputs, taken
from nestarray.exporters.program import native_output
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node, map_nodes
from nestarray.graph.sizes import Sizes
from nestarray.importers.jax.dimensions import DECISIONS, native_scope, shape_of, text_of
from nestarray.sizes import Condition
from nestarray.transforms.abstract import Scope


def write_stablehlo(graph: Graph, example: Example, path: Path) -> None:
    """Save a function of the inputs, with its derivative if it has one.

    Where JAX compares sizes to choose a program, the function takes sizes as those of the example.
    """
    moved, sizes = graph.to_backend("jax"), graph.sizes

    def run(*args: Any, **kwargs: Any) -> Any:
        result = moved(*args, **kwargs)
        return native_output(result[0] if graph.returns_state else result)

    def arguments(native: Any) -> Any:
        def spec(node: Node) -> Any:
            assert node.aval is not None
            dtype = jax.dtypes.canonicalize_dtype(node.aval.dtype.name)  # int32 without x64
            return jax.ShapeDtypeStruct(shape_of(node.aval.shape, native), dtype)

        return map_nodes(spec, taken(graph))

    scope = Scope(sizes.ranges, sizes.conditions, sizes.example, str)
    with DECISIONS.applied(None) if sizes.ranges else contextlib.nullcontext():
        args, kwargs = arguments(native_scope(scope))
        jax.eval_shape(run, *args, **kwargs)  # asks all comparisons
        constraints = _constraints([*sizes.conditions, *scope.conditions])
        native = native_scope(scope, [*_limits(sizes), *constraints])
        args, kwargs = arguments(native)
        path.write_bytes(_serialized(jax.export.export(jax.jit(run))(*args, **kwargs)))


#: Errors of JAX for loops that a value ends, and for strided convolutions of open sizes.
_WITHOUT_DERIVATIVE = (
    "Reverse-mode differentiation does not work",
    "padding argument to conv_general_dilated should be",
)


def _serialized(exported: jax.export.Exported) -> bytearray:
    """A function with its derivative, unless JAX lacks it."""
    try:
        return exported.serialize(vjp_order=1)
    except ValueError as error:
        if not any(text in str(error) for text in _WITHOUT_DERIVATIVE):
            raise
        return exported.serialize()


def _limits(sizes: Sizes) -> Iterator[str]:
    for name, (least, most) in sizes.ranges.items():
        yield f"{name} >= {least}"
        if most is not None:
            yield f"{name} <= {most}"


def _constraints(conditions: Iterable[Condition]) -> Iterator[str]:
    """The conditions that JAX can read: it knows ==, >= and <=, and one term on the left of ==."""
    for condition in conditions:
        left, right = text_of(condition.left), text_of(condition.right)
        if condition.sign == "==" and left in right:  # JAX replaces the left side by the right one
            left, right = right, left
        offset = {"<": " - 1", ">": " + 1"}.get(condition.sign, "")
        constraint = f"{left} {condition.sign[0]}= {right}{offset}"
        if condition.sign != "!=":
            with contextlib.suppress(ValueError):  # JAX reads fewer expressions
                jax.export.SymbolicScope([constraint])
                yield constraint


def run_stablehlo(path: Path, example: Example) -> dict[str, np.ndarray]:
    """The outputs of a saved function."""
    args, kwargs = example.on("jax")
    output = jax.export.deserialize(bytearray(path.read_bytes())).call(*args, **kwargs)
    return {name: np.asarray(x) for name, x in named_outputs(output).items()}
