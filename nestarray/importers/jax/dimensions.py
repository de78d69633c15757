"""Symbolic dimensions of JAX, as `nestarray.sizes` decides them.

A dimension of a traced shape is a number or an expression of JAX, ``2*batch + 1``. During a trace,
dimensions are compared as Sizes, by a `Scope`. JAX has no interface for this: `DECISIONS` replaces
private names.
"""

from __future__ import annotations

import ast
import math
import operator
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jax
import jax.export
from jax.export import is_symbolic_dim

from nestarray.importers.workarounds import Workaround
from nestarray.sizes import Condition, IntOrSize, Size, larger, named, smaller, tree_of
from nestarray.transforms.abstract import Scope

#: The attribute of a `jax.export.SymbolicScope` with our Scope.
_SCOPE = "_nestarray_scope"
_OPERATIONS: dict[str, Callable[..., IntOrSize]] = {
    "floordiv": operator.floordiv, "mod": operator.mod, "max": larger, "min": smaller,
}  # fmt: skip
#: Where JAX compares with such a number, it asks whether int32 can index an array.
_LARGEST = 2**31 - 1
#: Files that pass a comparison on.
_PASSING = ("export/shape_poly.py", "importers/patching.py")
_PACKAGE = str(Path(__file__).parents[2])


def native_scope(scope: Scope, constraints: Iterable[str] = ()) -> Any:
    """A ``jax.export.SymbolicScope`` for dimensions whose comparisons a Scope decides.

    Args:
        scope: of the program.
        constraints: in JAX's syntax, which an exported program checks.
    """
    native = jax.export.SymbolicScope(tuple(constraints))
    setattr(native, _SCOPE, scope)
    return native


def shape_of(sizes: Iterable[IntOrSize], native: Any) -> tuple[Any, ...]:
    """The dimensions of a shape."""
    text = ", ".join(map(text_of, sizes))
    return tuple(jax.export.symbolic_shape(f"({text},)", scope=native)) if text else ()


def text_of(size: Any) -> str:
    """A size in JAX's syntax, which has functions for // and %, and ^ for powers."""
    return ast.unparse(_Functions().visit(tree_of(size))).replace(" ** ", "^")


class _Functions(ast.NodeTransformer):
    """JAX's functions in place of operators of Python."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = {ast.FloorDiv: "floordiv", ast.Mod: "mod"}.get(type(node.op))
        return ast.Call(ast.Name(name), [node.left, node.right], []) if name else node


def is_symbolic(x: Any) -> bool:
    """Whether a dimension is an expression of JAX."""
    return not isinstance(x, (int, float, str)) and is_symbolic_dim(x)


def size_of(dimension: Any) -> IntOrSize:
    """The size that a dimension is."""
    if not is_symbolic(dimension):
        return dimension if isinstance(dimension, Size) else int(dimension)
    terms = [(factor, term._factors) for term, factor in dimension._sorted_terms]
    return sum(math.prod([n, *[_size(f) ** power for f, power in fs]]) for n, fs in terms)


def _size(factor: Any) -> IntOrSize:
    """The size of a name, or of a function of dimensions."""
    if factor.var is not None:
        return named(factor.var)
    return _OPERATIONS[factor.operation](*map(size_of, factor.operands))


# -- decisions -----------------------------------------------------------------------------


def _bounds(trace: Any, original: Callable[..., Any]) -> Callable[..., tuple[float, float]]:
    def bounds(dimension: Any, precision: Any) -> tuple[float, float]:
        """The least and the largest value of a dimension, as precise as JAX asks."""
        scope = _scope_of(dimension)
        if scope is None:
            return original(dimension, precision)
        size = size_of(dimension)
        known = scope.relations.decide(size, ">=", 0)
        if known is None and precision.name == "FOR_GEQ0_OR_LT0":  # a comparison, not max or min
            if isinstance(size, Size) and abs(size.constant) >= _LARGEST:
                known = size.at(scope.example) >= 0
            else:
                known = scope.decide(*_sides(size, ">="))
        if known is not None:
            return (0, math.inf) if known else (-math.inf, -1)
        low, high = scope.relations.at_least(size), scope.relations.at_most(size)
        return -math.inf if low is None else low, math.inf if high is None else high

    return bounds


def _equality(trace: Any, original: Callable[..., bool]) -> Callable[..., bool]:
    def is_equal(dimension: Any, other: Any) -> bool:
        """Whether a dimension is another one or a number.

        For JAX itself, which compares keys of caches, undecided ones are unequal. But sizes with a
        bounded difference, and a remainder and a number, are equal if the example's sizes are.
        """
        answer, scope = original(dimension, other), _scope_of(dimension)
        is_known = isinstance(other, int) or (scope is not None and _scope_of(other) is scope)
        if answer or scope is None or not is_known:
            return answer
        left, right = size_of(dimension), size_of(other)
        known = scope.relations.decide(left, "==", right)
        is_asked = known is None and (
            not _is_asked_by_jax() or _is_equal_for_example(left, right, scope)
        )
        return scope.decide(left, "==", right) if is_asked else bool(known)

    return is_equal


def _hash(trace: Any, original: Callable[..., int]) -> Callable[..., int]:
    def hash_of_size(dimension: Any) -> int:
        scope = _scope_of(dimension)
        return original(dimension) if scope is None else hash(size_of(dimension))

    return hash_of_size


def _scope_of(x: Any) -> Scope | None:
    return getattr(x.scope, _SCOPE, None) if is_symbolic(x) else None


def _sides(difference: IntOrSize, sign: str) -> tuple[IntOrSize, str, IntOrSize]:
    """``difference >= 0`` as a comparison of terms with positive factors."""
    terms = difference.terms if isinstance(difference, Size) else {}
    left: IntOrSize = sum(Size({m: n}) if m else n for m, n in terms.items() if n > 0)
    right = left - difference
    if getattr(left, "name", "") or (isinstance(right, int) and isinstance(left, Size)):
        return left, sign, right
    is_turned = isinstance(left, int) or getattr(right, "name", "")
    return (right, {">=": "<="}.get(sign, sign), left) if is_turned else (left, sign, right)


def _is_equal_for_example(left: IntOrSize, right: IntOrSize, scope: Scope) -> bool:
    """Whether sizes with a bounded difference, or a remainder and a number, are equal."""
    condition = Condition(left, "==", right)
    bounds = scope.relations.at_least(left - right), scope.relations.at_most(left - right)
    is_close = isinstance(right, Size) and None not in bounds
    return (is_close or condition.on_remainder is not None) and condition.holds(scope.example)


def _is_asked_by_jax() -> bool:
    """Whether the code that compares is one of JAX or of this package."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename.endswith(_PASSING):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith((os.path.dirname(jax.__file__), _PACKAGE))


_MODULE = "jax._src.export.shape_poly"
DECISIONS = Workaround(
    "open sizes of JAX",
    "a comparison of symbolic dimensions raises an error, or is False, where it depends on sizes",
    issue="jax#14290",
    attributes={
        f"{_MODULE}._bounds_decision": _bounds,
        f"{_MODULE}._DimExpr.__eq__": _equality,
        f"{_MODULE}._DimExpr.__hash__": _hash,
    },
    context_names=(
        f"{_MODULE}._DimExpr._sorted_terms",
        f"{_MODULE}._DimTerm._factors",
        f"{_MODULE}._DimFactor.var",
        f"{_MODULE}._DimFactor.operation",
        f"{_MODULE}._DimFactor.operands",
    ),
)
