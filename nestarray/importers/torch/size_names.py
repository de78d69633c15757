"""Names for the open sizes of an exported program.

The exporter has symbols, ``s17``, and expressions of symbols. Names from `dynamic` take
precedence; other sizes are named after the first dimension with the size.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from nestarray.errors import ConversionError
from nestarray.graph.builder import line_name
from nestarray.graph.codegen import valid_name
from nestarray.graph.sizes import Binding, Sizes
from nestarray.importers.torch.dynamic import Dynamic, dim_name, is_hint, is_tensor
from nestarray.importers.torch.places import origin
from nestarray.importers.torch.symbols import converted
from nestarray.sizes import Condition, IntOrSize, Relations, named


class SizeNames:
    """The names of the symbols of one exported program.

    Args:
        dynamic: the requested open sizes.
        placeholders: the exported inputs, in the order of the example's leaves.

    Raises:
        ConversionError: two names are one size in the model.
    """

    def __init__(self, dynamic: Dynamic, placeholders: list[Any]) -> None:
        self._dynamic = dynamic
        self._names: dict[Any, str] = {}  # torch's symbol → name
        self._numbers: dict[Any, Any] = {}  # torch's symbol → its number
        self._placeholders = placeholders
        self._read(placeholders)

    def _read(self, placeholders: list[Any]) -> None:
        rest: list[tuple[str, int, Any]] = []
        for (place, leaf), placeholder in zip(
            self._dynamic.leaves.items(), placeholders, strict=True
        ):
            value = placeholder.meta.get("val")
            if not is_tensor(leaf) or not hasattr(value, "shape"):
                continue
            for axis, size in enumerate(value.shape):
                if isinstance(size, int):
                    continue
                given = self._dynamic.given.get((place, axis))
                if given is None or is_hint(given):
                    rest.append((place, axis, size))
                else:
                    self._name(size, given if isinstance(given, str) else _root_name(given))
        for place, axis, size in rest:
            word = re.sub(r"\W+", "_", place).strip("_")
            for symbol in size.node.expr.free_symbols - self._names.keys():
                self._names[symbol] = valid_name(f"{word}_{axis}", {*self._names.values()})

    def _name(self, size: Any, name: str) -> None:
        for symbol in size.node.expr.free_symbols:
            known = self._names.setdefault(symbol, name)
            if known != name:
                raise ConversionError(
                    f"trace_graph: dynamic: {known!r} and {name!r} are one size in this model, "
                    "whose operations need them to be equal; give them one name"
                )

    def set_value(self, size: Any, number: Any) -> None:
        """Replace a data-dependent size by a number in later shapes."""
        if isinstance(number, int) and hasattr(size, "node") and size.node.expr.is_Symbol:
            self._numbers[size.node.expr] = sympy.Integer(number)

    def set_new_sizes(self, call: Any, number: int) -> None:
        """Replace the data-dependent sizes that a call introduces by a number in later shapes."""
        given = [used.meta["val"] for used in call.all_input_nodes]
        for size in call.meta["val"].shape:
            if not free_unbacked_symbols(size) <= free_unbacked_symbols(given):
                self.set_value(size, number)

    def name(self, size: Any) -> str:
        """The name that a size is; empty if it is another expression."""
        return self._names.get(getattr(size, "node", None) and size.node.expr, "")

    def size(self, size: Any) -> IntOrSize:
        """A size for an `Aval`.

        Raises:
            ArgumentError: it is no arithmetic of sizes.
        """
        if isinstance(size, int):
            return size
        return self._converted(size.node.expr.xreplace(self._numbers), {})

    def _converted(self, expression: Any, example: Mapping[str, int]) -> Any:
        """A number, a Size or a Real; of a condition the comparisons that it requires."""
        return converted(
            expression,
            lambda symbol: named(self._names.get(symbol) or symbol.name),
            example,
        )

    def sizes(self, program: Any) -> Sizes:
        """The names of an exported program with their ranges, and its conditions."""
        if not self._dynamic.is_asked:
            return Sizes()
        ranges = {}
        for symbol, found in program.range_constraints.items():
            if symbol in self._names:
                most = int(found.upper) if found.upper.is_Integer else None
                ranges[self._names[symbol]] = (int(found.lower), most)
        example = self._example()
        conditions = (each.on_remainder or each for each in self._conditions(program, example))
        return Sizes(ranges, tuple(dict.fromkeys(conditions)), example)

    def check(self, sizes: Sizes) -> None:
        """Refuse a graph that needs an open size as a constant, or does not accept its example.

        The exporter has an error for constants, but none for 0 and 1.

        Raises:
            ConversionError: the graph is such a one.
        """
        values = sizes.example
        for condition in sizes.conditions:
            relations = Relations(sizes.ranges)
            relations.assume(condition)
            constants = (n for n in condition.names if relations.decide(named(n), "==", values[n]))
            if (not condition.line and any(constants)) or not condition.holds(values):
                numbers = ", ".join(f"{name} = {values[name]}" for name in sorted(condition.names))
                raise ConversionError(
                    f"trace_graph: dynamic: the example has {numbers}, and the open program needs "
                    f"{condition}{f': {condition.line}' if condition.line else ''}. Leave the size out of "
                    "dynamic=, or trace with a larger example"
                )

    def _example(self) -> dict[str, int]:
        """The sizes of the example."""
        found = Binding("trace_graph", Sizes())
        for (place, leaf), placeholder in zip(
            self._dynamic.leaves.items(), self._placeholders, strict=True
        ):
            value = placeholder.meta.get("val")
            if is_tensor(leaf) and hasattr(value, "shape"):
                found.fit(place, tuple([self.size(n) for n in value.shape]), tuple(leaf.shape))
        found.finish()
        return found.values

    def _conditions(self, program: Any, example: Mapping[str, int]) -> Iterator[Condition]:
        """The code's conditions on sizes that equal names do not imply, with their lines.

        A range may have other reasons.
        """
        for module in program.graph_module.modules():
            for node in getattr(getattr(module, "graph", None), "nodes", ()):
                for size in _squeezed(node):
                    yield Condition(self.size(size), "!=", 1, origin(node).line)
        env = _shape_env(program)
        if env is None:
            return
        relations = []
        for guard in env.guards:
            relation = _simplified(env, guard.expr)
            if not getattr(relation, "free_symbols", None):
                continue
            if not chooses_strides(guard, relation):
                relations.append((relation, _line_of(guard)))
        relations += [(env.replace(each), line) for each, line in self._dynamic.choices.items()]
        for relation, line in relations:
            for condition in self._converted(relation, example):
                if condition.names:
                    yield replace(condition, line=line)


def _simplified(env: Any, expression: Any) -> Any:
    """A condition in its shortest form; ``int(-n / 3)`` is no ``-n // 3``, as torch has it."""
    from torch.utils._sympy.functions import FloorDiv

    relation = env.simplify(expression)
    quotients = relation.atoms(FloorDiv) - expression.atoms(FloorDiv)
    if any(each.args[0].could_extract_minus_sign() for each in quotients):
        return env.replace(expression)
    return relation


def _shape_env(program: Any) -> Any:
    """The exporter's ``ShapeEnv``, or None."""
    modes = (getattr(node.meta.get("val"), "fake_mode", None) for node in program.graph.nodes)
    return next((mode.shape_env for mode in modes if mode is not None), None)


def _squeezed(node: Any) -> list[Any]:
    """The open sizes that a squeeze would drop if they were 1; the exporter assumes that none is 1."""
    if not str(node.target).startswith("aten.squeeze"):
        return []
    shape = node.args[0].meta["val"].shape
    dims = node.args[1] if len(node.args) > 1 else range(len(shape))
    sizes = [shape[d] for d in (dims if isinstance(dims, (list, tuple, range)) else [dims])]
    return [size for size in sizes if not isinstance(size, int)]


def chooses_strides(guard: Any, relation: Any) -> bool:
    """Whether an operator tested a size for 1 to choose strides, which graphs do not have."""
    is_layout = type(relation).__name__ == "Unequality" and any(x.is_number for x in relation.args)
    return is_layout and guard_origin(guard) in (
        "_ops.py",
        "_prims_common",
        "_subclasses",
        "_refs",
        "_decomp",
        "_export",  # the mode in which operators of C are called
        "autograd",
    )


def _line_of(guard: Any) -> str:
    """The line of Python that asks for a condition; empty if it is one of torch."""
    frame = guard.sloc.framework_loc
    filename = getattr(frame, "filename", "")
    if not filename or filename.startswith(os.path.dirname(torch.__file__)):
        return ""
    at = line_name(filename, frame.lineno)
    return f"{frame.line} ({at})" if frame.line else at


def guard_origin(guard: Any) -> str:
    """The file or directory of torch that created a guard."""
    filename = getattr(guard.sloc.framework_loc, "filename", "")
    return os.path.relpath(filename, os.path.dirname(torch.__file__)).split(os.sep)[0]


def _root_name(dim: Any) -> str:
    return dim_name(getattr(dim, "root", dim))
