"""One leaf: its size, and a short text of its dtype and shape.

Values of arrays are never read, so arrays under tracing have the same text.
"""

from __future__ import annotations

import math
import reprlib
from functools import lru_cache
from typing import Any

from nestarray.container.building import Parts

#: Types of placeholders for removed leaves in trees of other libraries, such as `optax.MaskedNode`:
#: `map` and ops keep such objects, as JAX does, for which they are nodes without leaves.
REMOVED: set[type] = set()

#: Types of leaves that ops return unchanged.
NOT_ARRAYS: set[type] = {type(None), str, bytes}

_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def size(leaf: Any) -> int:
    """The number of elements of an array; 0 for other objects and for unknown shapes."""
    try:
        return math.prod([int(n) for n in leaf.shape])
    except (
        AttributeError,
        TypeError,
        ValueError,
        RuntimeError,
    ):  # RuntimeError: torch's nested tensor
        return 0


def itemsize(leaf: Any) -> int:
    """Bytes per element of an array; 0 for other objects."""
    dtype = getattr(leaf, "dtype", None)
    found = getattr(dtype, "itemsize", None) or getattr(dtype, "size", None)  # TensorFlow: size
    return int(found or 0)


def describe(leaf: Any, longest: int = 60) -> str:
    """``f32[3, 4]`` for an array, without reading its values; a short repr of other objects."""
    text = array_text(leaf)
    return object_text(leaf, longest) if text is None else text


def array_text(leaf: Any) -> str | None:
    """``f32[3, 4]``, or None for objects without shape and dtype."""
    if isinstance(leaf, Parts):  # a Container as a leaf, from jax.hessian
        return None
    try:
        shape, dtype = leaf.shape, leaf.dtype
    except Exception:  # not an array, or without a known shape, such as torch's nested tensors
        return None
    return f"{short_dtype(dtype)}[{shape_text(shape)}]"


def shape_text(shape: Any) -> str:
    """``3, 4``; ``?`` for an unknown size, ``...`` for an unknown rank."""
    try:
        return ", ".join("?" if d is None else str(d) for d in shape)
    except (TypeError, ValueError):  # a TensorFlow shape of unknown rank
        return "..."


def short_dtype(dtype: Any) -> str:
    """``f32`` for any framework's float32."""
    try:
        return _known_short_dtype(dtype)
    except TypeError:  # a `dtype` attribute that is not hashable
        return _short_dtype(dtype)


def _short_dtype(dtype: Any) -> str:
    name = str(getattr(dtype, "name", dtype)).removeprefix("torch.")
    stem = name.rstrip("0123456789")
    return _SHORT.get(stem, stem) + name[len(stem) :]


_known_short_dtype = lru_cache(maxsize=256)(_short_dtype)  # NumPy computes names slowly
_reprs = reprlib.Repr()
_ABBREVIATED = ("set", "frozenset", "deque", "array", "dict", "list", "tuple")


def object_text(leaf: Any, longest: int = 60) -> str:
    """The repr of an object on one line of at most `longest` characters."""
    try:
        if isinstance(leaf, (str, bytes)):
            text = repr(leaf[: longest + 1])  # only the visible part of a long text
        else:
            known = type(leaf).__name__ in _ABBREVIATED  # only a part of a long set, dict, …
            text = " ".join((_reprs.repr(leaf) if known else repr(leaf)).split())
    except Exception:  # a failing repr must not hide the whole tree
        text = f"<{type(leaf).__name__}>"
    return text if len(text) <= longest else text[: longest - 3] + "..."
