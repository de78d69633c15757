"""How a Container prints: a tree of keys with dtype and shape, cut to fit a terminal."""

from __future__ import annotations

import math
from typing import Any

from nestarray.container.spec import Spec

MAX_LINES = 40
_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def render(spec: Spec, leaves: tuple[Any, ...], max_lines: int = MAX_LINES) -> str:
    """The text of a Container; at most about `max_lines` lines."""
    if spec.kind == "leaf":
        return f"Container({leaves[0]!r})"
    head = f"Container({_summary(leaves)})" if leaves else "Container(empty)"
    lines = _lines(spec, leaves, "  ")
    if len(lines) > max_lines:
        cut = len(lines) - max_lines
        half = max_lines // 2
        lines = [*lines[:half], f"  … {cut} more lines …", *lines[-(max_lines - half) :]]
    return "\n".join([head, *lines])


def _lines(spec: Spec, leaves: tuple[Any, ...], indent: str) -> list[str]:
    lines = []
    named = zip(spec.keys, spec.children, strict=True)
    width = max((len(str(k)) for k, child in named if child.kind == "leaf"), default=0)
    for key in spec.keys:
        start, stop, child = spec.index[key]
        if child.kind == "leaf":
            lines.append(f"{indent}{key!s:<{width}}  {describe(leaves[start])}")
        else:
            mark = "" if child.kind == "dict" else f" [{child.kind}]"
            lines.append(f"{indent}{key}{mark}")
            lines.extend(_lines(child, leaves[start:stop], indent + "  "))
    return lines


def describe(leaf: Any) -> str:
    """``f32[3, 4]`` for an array, with its framework unless NumPy; the repr of anything else."""
    shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
    if shape is None or dtype is None:
        text = repr(leaf)
        return text if len(text) <= 60 else text[:57] + "..."
    try:
        size = ", ".join("?" if d is None else str(d) for d in shape)
    except (TypeError, ValueError):  # a TensorFlow shape of unknown rank
        size = "..."
    return f"{_short_dtype(dtype)}[{size}]"


def _short_dtype(dtype: Any) -> str:
    name = str(getattr(dtype, "name", dtype)).removeprefix("torch.")
    stem = name.rstrip("0123456789")
    return _SHORT.get(stem, stem) + name[len(stem) :]


def _summary(leaves: tuple[Any, ...]) -> str:
    arrays = [leaf for leaf in leaves if hasattr(leaf, "shape") and hasattr(leaf, "dtype")]
    count = sum(map(size, arrays))
    frameworks = sorted({type(a).__module__.partition(".")[0] for a in arrays})
    names = ", ".join({"jaxlib": "jax"}.get(f, f) for f in frameworks)
    plural = "leaf" if len(leaves) == 1 else "leaves"
    return f"{len(leaves)} {plural}" + (f", {count:,} elements, {names}" if arrays else "")


def size(leaf: Any) -> int:
    """The number of elements of an array; 0 of anything else and of a shape not yet known."""
    try:
        return math.prod(int(dim) for dim in leaf.shape)
    except (AttributeError, TypeError, ValueError):
        return 0


def itemsize(leaf: Any) -> int:
    """Bytes per element of an array; 0 of anything else."""
    dtype = getattr(leaf, "dtype", None)
    found = getattr(dtype, "itemsize", None) or getattr(dtype, "size", None)  # TensorFlow: size
    return int(found or 0)
