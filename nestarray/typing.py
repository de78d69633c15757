"""Type aliases for annotations, and checks of values by annotation.

`Array` marks the array parameters of ops for `nestarray.dispatch`. `check_kind` checks settings
against their annotations after a call has failed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, TypeAlias

from nestarray.errors import ArgumentError
from nestarray.errors.unknown_names import suggest_names

__all__ = ["Array", "Axes", "Axis", "DTypeLike", "Nest", "Shape"]

#: A native array of NumPy, JAX, PyTorch or TensorFlow, or a Container of these.
Array: TypeAlias = Any
#: Any argument of `nestarray.as_dtype`.
DTypeLike: TypeAlias = Any
#: A Container, or dicts, lists, tuples … of arrays; see `nestarray.tree`.
Nest: TypeAlias = Any
#: The sizes of the axes.
Shape: TypeAlias = Sequence[int]
#: One axis, several, or all of them: None.
Axis: TypeAlias = int | Sequence[int] | None
#: One axis or several.
Axes: TypeAlias = int | Sequence[int]

#: The Python number types, in the order of their kinds.
NUMBERS = (bool, int, float, complex)


def is_unknown_size(value: Any) -> bool:
    """Whether it is a size that is unknown under tracing: an expression on JAX, else a scalar tensor."""
    # Dynamo knows the type of a symbolic size, but looks up no attributes
    if isinstance(value, int) or hasattr(value, "__index__"):
        return False
    is_expression = hasattr(value, "__int__") and not hasattr(value, "__float__")
    return is_expression or getattr(getattr(value, "dtype", None), "is_integer", False)


def is_size_type(t: type) -> bool:
    """Whether it is a type of symbolic sizes: ``torch.SymInt``, or the expressions of JAX."""
    is_integer = hasattr(t, "__int__") and not hasattr(t, "__float__")
    return is_integer and not hasattr(t, "dtype")


def is_symbolic_size(value: Any) -> bool:
    """Whether it is a size whose number is unknown under tracing."""
    return is_unknown_size(value) or is_size_type(type(value))


def _is_int(value: Any) -> bool:
    """Whether it is an integer; not a bool, which some frameworks would accept as axis 1."""
    if isinstance(value, bool) or getattr(value, "shape", ()) != ():
        return False
    return hasattr(value, "__index__") or is_unknown_size(value)


def _is_number(value: Any) -> bool:
    is_real = not isinstance(value, complex) and hasattr(value, "__float__")
    return is_real or _is_int(value) or hasattr(value, "dtype")


def _is_ints(value: Any) -> bool:
    """Whether it is a sequence of ints, or of sizes that are known only at run time (None).

    Sets are unordered, and iterators can be read only once, so neither is accepted.
    """
    if isinstance(value, (list, tuple)):
        return all(x is None or _is_int(x) for x in value)
    return hasattr(value, "__iter__") and not isinstance(value, (str, Set, Iterator))


def _may_be_axes(value: Any) -> bool:
    """Whether it is an int, or a tuple or list, whose members the ops check."""
    return isinstance(value, (tuple, list)) or _is_int(value)


_SEVERAL = ("a sequence of ints", _is_ints)

#: Annotation → (description for error messages, test of a value).
_KINDS: dict[str, list[tuple[str, Callable[[Any], bool]]]] = {
    "None": [("None", lambda value: value is None)],
    "str": [("a string", lambda value: isinstance(value, str))],
    "bool": [("True or False", lambda value: isinstance(value, bool) or hasattr(value, "dtype"))],
    "int": [("an int", _is_int)],
    "float": [("a real number", _is_number)],
    "complex": [("a number", lambda value: isinstance(value, complex) or _is_number(value))],
    "Shape": [_SEVERAL],
    "Sequence[int]": [_SEVERAL],
    "Ints": [("an int", _is_int), _SEVERAL],
    "Axes": [("an int", _may_be_axes)],
    "Axis": [("an int", lambda value: value is None or _may_be_axes(value))],
}


def takes_several(annotation: str) -> bool:
    """Whether the annotation is a sequence of ints."""
    return any(_SEVERAL in _KINDS.get(word, ()) for word in annotation.split(" | "))


#: Types whose values pass without a further check. Sequences and strings (modes) are checked by
#: the function that reads them.
_QUICK: dict[str, tuple[type, ...]] = {
    "None": (type(None),),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "complex": (bool, complex, float, int),
    "Ints": (int,),
    "Axes": (int, tuple, list),
    "Axis": (int, tuple, list, type(None)),
    "Sequence[int]": (tuple, list),
}


def quick_types(annotation: str) -> frozenset[type]:
    """The types whose values `check_kind` accepts at once; empty if it accepts any value."""
    words = annotation.split(" | ")
    if any(word not in _QUICK for word in words):
        return frozenset()
    return frozenset(t for word in words for t in _QUICK[word])


def check_range(
    name: str,
    parameter: str,
    value: Any,
    low: float,
    high: float = math.inf,
    *,
    above: bool = False,
) -> None:
    """Raise an error for a Python number outside of [low, high]; arrays are not checked.

    Args:
        name: the name of the function.
        parameter: the name of the parameter.
        value: the argument.
        low, high: the bounds, inclusive.
        above: exclude `low`.

    Raises:
        ArgumentError: the number is outside, or NaN.
    """
    if not isinstance(value, (int, float)) or (
        low <= value <= high and not (above and value == low)
    ):
        return
    span = f"above {low}" if above else f"of at least {low}"
    if high != math.inf:
        span = f"from {low} to {high}"
    raise ArgumentError(f"{name}: {parameter}: got {value!r}, expected a number {span}")


def check_not_zero(name: str, parameter: str, value: Any) -> None:
    """Raise an error for the Python number 0 as a divisor; arrays are not checked.

    Raises:
        ArgumentError: it is 0.
    """
    if isinstance(value, (int, float)) and not value:
        raise ArgumentError(f"{name}: {parameter}: got {value!r}, expected a nonzero number")


def check_kind(name: str, parameter: str, annotation: str, value: Any) -> None:
    """Raise an error for a setting of another kind than its annotation.

    Other annotations, such as arrays, accept any value. True and False are not accepted in
    sequences of ints.

    Args:
        name: the name of the function.
        parameter, annotation: from its signature, as in the source.
        value: the argument.

    Raises:
        ArgumentError: the value has another kind, such as a number instead of a string.
    """
    kinds = [_KINDS.get(word) for word in annotation.split(" | ")]
    if any(kind is None for kind in kinds):
        return
    wanted = [pair for kind in kinds for pair in kind or ()]
    if isinstance(value, (tuple, list)) and bool in map(type, value):
        value, wanted = next(x for x in value if isinstance(x, bool)), _KINDS["int"]
    if not any(fits(value) for _, fits in wanted):
        words = " or ".join(dict.fromkeys(word for word, _ in wanted if word != "None"))
        raise ArgumentError(f"{name}: {parameter}: got {value!r}, expected {words}")


suggest_names(__name__)
