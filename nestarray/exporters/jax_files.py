"""Files of JAX: StableHLO by ``jax.export``."""

from __future__ import annotations

import ast
import contextlib
import math
import re
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
from nestarray.graph.sizes import Sizes, holds, names_in
from nestarray.importers.jax.size_relations import completed, conditions, equalities


def write_stablehlo(graph: Graph, example: Example, path: Path) -> None:
    """Save a function of the inputs, with its derivative if it has one.

    Where JAX compares sizes to choose a program, the function takes sizes as those of the example.
    """
    moved = graph.to_backend("jax")
    ranges, steps = graph.sizes.ranges.items(), _steps(graph.sizes)

    def written(text: str) -> str:
        """An expression of sizes in the names of the file, which are the numbers of steps."""
        return re.sub(r"\b[^\W\d]\w*", lambda name: steps.get(name[0], name[0]), text)

    limits = [written(f"{name} >= {least}") for name, (least, _) in ranges]
    limits += [written(f"{name} <= {most}") for name, (_, most) in ranges if most is not None]
    others = [text for text in graph.sizes.conditions if not names_in(text) & steps.keys()]

    def run(*args: Any, **kwargs: Any) -> Any:
        result = moved(*args, **kwargs)
        return native_output(result[0] if graph.returns_state else result)

    def exported(relations: Iterable[str]) -> bytearray:
        scope = jax.export.SymbolicScope([*limits, *_constraints([*others, *relations])])

        def spec(node: Node) -> Any:
            assert node.aval is not None
            text = written(", ".join(map(str, node.aval.shape)))
            shape = jax.export.symbolic_shape(f"({text})", scope=scope) if text else ()
            dtype = jax.dtypes.canonicalize_dtype(node.aval.dtype.name)  # int32 without x64
            return jax.ShapeDtypeStruct(shape, dtype)

        args, kwargs = map_nodes(spec, taken(graph))
        return _serialized(jax.export.export(jax.jit(run))(*args, **kwargs))

    traced = {
        name: n // int(steps.get(name, "1").partition("*")[0])
        for name, n in graph.sizes.example.items()
    }

    def lacking(message: str) -> list[str]:
        return conditions(message, traced) or equalities(message)

    path.write_bytes(completed(exported, lacking)[0])


#: The sizes that are tried to find the steps of a size.
_SIZES = 256

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


def _steps(sizes: Sizes) -> dict[str, str]:
    """Name → a multiple of it, ``"2*height"``, for sizes that the conditions allow in steps only.

    JAX does not know that ``2*floordiv(height - 2, 2) + 2`` is an even height.
    """
    steps = {}
    for name in sizes.ranges:
        texts = [text for text in sizes.conditions if names_in(text) == {name}]
        allowed = [n for n in range(1, _SIZES) if all(holds(text, {name: n}) for text in texts)]
        step = math.gcd(*allowed)
        if step > 1 and len(allowed) > 1:
            steps[name] = f"{step}*{name}"
    return steps


def _constraints(conditions: Iterable[str]) -> Iterator[str]:
    """The conditions that JAX can read: it knows ==, >= and <=, and simplifies sizes with them."""
    for text in map(_in_jax, conditions):
        left, sign, right = (*re.split(" (==|>=|<=|>|<) ", text), "", "")[:3]
        if sign == "==" and left in right:  # JAX replaces the left side by the right one
            left, right = right, left
        offset = {"<": " - 1", ">": " + 1"}.get(sign, "")
        constraint = f"{left} {sign[:1]}= {right}{offset}"
        with contextlib.suppress(ValueError):  # JAX reads fewer expressions
            jax.export.SymbolicScope([constraint])
            yield constraint


def _in_jax(text: str) -> str:
    """An expression of sizes with the functions of JAX for // and %."""

    class Functions(ast.NodeTransformer):
        def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
            self.generic_visit(node)
            name = {ast.FloorDiv: "floordiv", ast.Mod: "mod"}.get(type(node.op))
            call = ast.Call(ast.Name(str(name)), [node.left, node.right], [])
            return call if name else node

    return ast.unparse(Functions().visit(ast.parse(text, mode="eval")))


def run_stablehlo(path: Path, example: Example) -> dict[str, np.ndarray]:
    """The outputs of a saved function."""
    args, kwargs = example.on("jax")
    output = jax.export.deserialize(bytearray(path.read_bytes())).call(*args, **kwargs)
    return {name: np.asarray(x) for name, x in named_outputs(output).items()}
