"""The sizes that torch.export leaves open, in the names of the call.

The exporter has symbols for them, ``s17``, and expressions of these. Names that `dynamic`
gave come first; what it left to the exporter is named after the first dimension that shows it.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from nestarray.errors import ArgumentError, ConversionError
from nestarray.graph.dynamic import Dynamic, dim_name, is_hint, is_tensor, source_of
from nestarray.graph.sizes import Sizes, evaluate, names_in


class SizeNames:
    """The names of the symbols of one exported program.

    Args:
        dynamic: what was asked.
        placeholders: the exported inputs, in the order of the example's leaves.

    Raises:
        ConversionError: two names are one size in the model.
    """

    def __init__(self, dynamic: Dynamic, placeholders: list[Any]) -> None:
        self._dynamic = dynamic
        self._names: dict[Any, str] = {}  # torch's symbol → name
        self._sources: dict[str, str] = {}  # torch's word for a dimension → the size
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
                self._names[symbol] = _unused(f"{word}_{axis}", self._names.values())
        for (place, _), placeholder in zip(self._dynamic.leaves.items(), placeholders, strict=True):
            for axis, size in enumerate(getattr(placeholder.meta.get("val"), "shape", ())):
                self._sources[f"{source_of(place)}.size()[{axis}]"] = f"({self.text(size)})"

    def _name(self, size: Any, name: str) -> None:
        for symbol in size.node.expr.free_symbols:
            known = self._names.setdefault(symbol, name)
            if known != name:
                raise ConversionError(
                    f"trace_graph: dynamic: {known!r} and {name!r} are one size in this model, "
                    "whose operations need them to be equal; give them one name"
                )

    def text(self, size: Any) -> int | str:
        """A size for an `Aval`: the number, or the expression in our names."""
        if isinstance(size, int):
            return size
        import sympy
        from torch.utils._sympy.printers import PythonPrinter

        expression = size.node.expr
        if expression.is_Integer:
            return int(expression)
        new = {
            symbol: sympy.Symbol(self._names.get(symbol, symbol.name), integer=True)
            for symbol in expression.free_symbols
        }
        written = PythonPrinter().doprint(expression.xreplace(new))
        return written.removeprefix("(").removesuffix(")") if _is_wrapped(written) else written

    def sizes(self, program: Any) -> Sizes:
        """The names of an exported program with their ranges, and its conditions.

        Raises:
            ConversionError: a condition is about something else than sizes.
        """
        if not self._dynamic.is_asked:
            return Sizes()
        ranges = {}
        for symbol, found in program.range_constraints.items():
            if symbol in self._names:
                most = int(found.upper) if found.upper.is_Integer else None
                ranges[self._names[symbol]] = (int(found.lower), most)
        conditions = dict.fromkeys(map(self._condition, program._guards_code))
        return Sizes(ranges, tuple(c for c in conditions if not _is_trivial(c)))

    def _condition(self, guard: str) -> str:
        text = guard
        for source, size in self._sources.items():
            text = text.replace(source, size)
        try:
            text = ast.unparse(ast.parse(text, mode="eval"))  # without needless parentheses
            evaluate(text, dict.fromkeys(names_in(text), 7))
        except ZeroDivisionError:
            pass
        except (ArgumentError, SyntaxError) as error:
            raise ConversionError(
                f"trace_graph: dynamic: the model is exported under the condition {text}, which no "
                "call can check; trace it without dynamic="
            ) from error
        return text


def _root_name(dim: Any) -> str:
    return dim_name(getattr(dim, "root", dim))


def _unused(name: str, taken: Any) -> str:
    taken, unique, number = set(taken), name, 1
    while unique in taken:
        unique, number = f"{name}_{number}", number + 1
    return unique


def _is_trivial(condition: str) -> bool:
    """Whether it says what equal names say already."""
    left, _, right = condition.partition(" == ")
    return left == right


def _is_wrapped(text: str) -> bool:
    """Whether one pair of parentheses holds the whole text."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and i < len(text) - 1:
            return False
    return text.startswith("(")
