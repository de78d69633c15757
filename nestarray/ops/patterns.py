"""Reshape, reduce and repeat named axes, in the notation of einops.

The package `einops` parses the pattern and calls the framework's own reshape and transpose. The
reductions call `nestarray.ops`, so that all frameworks give the same dtypes. The ``repeat`` of
einops is `repeat_axes` here, because `repeat` is a function of the Array API standard.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from nestarray import backends, lazy_imports, ops
from nestarray.dispatch import Trait, op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array

__all__ = ["rearrange", "reduce", "repeat_axes"]


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def rearrange(x: Array, /, pattern: str, **sizes: int) -> Array:
    """Permute, split and merge the axes of `x` by a pattern.

    Args:
        x: array of any shape.
        pattern: the names of the axes before and after ``->``. Parentheses group several axes
            into one, ``...`` matches any number of axes, 1 an axis of length 1.
        sizes: the lengths of named axes that the shape of `x` does not determine.

    Returns:
        array of the dtype of `x`.

    Raises:
        ShapeError: the pattern is invalid, or does not match `x`.
        MissingFrameworkError: einops is not installed.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.zeros((2, 8, 6, 3))
        >>> na.rearrange(x, "b (h p) w c -> b h w (p c)", p=4).shape
        (2, 2, 6, 12)

    References:
        https://einops.rocks/api/rearrange/
    """
    return _run("rearrange", "rearrange", x, pattern, sizes)


@op
def reduce(x: Array, /, pattern: str, reduction: str, **sizes: int) -> Array:
    """Reduce `x` over the axes that occur only on the left of a pattern.

    Args:
        x: array of any shape.
        pattern: as for `rearrange`, with fewer names after ``->`` than before.
        reduction: ``"sum"``, ``"mean"``, ``"prod"``, ``"max"``, ``"min"``, ``"any"`` or
            ``"all"``: the op of that name.
        sizes: the lengths of named axes that the shape of `x` does not determine.

    Returns:
        array of the dtype that the op `reduction` gives.

    Raises:
        ArgumentError: `reduction` is unknown.
        ShapeError: the pattern is invalid, or does not match `x`.
        MissingFrameworkError: einops is not installed.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.reduce(np.asarray([1.0, 2.0, 3.0, 6.0]), "(n k) -> n", "mean", k=2)
        array([1.5, 4.5])

    References:
        https://einops.rocks/api/reduce/
    """
    function = _REDUCTIONS.get(reduction) if isinstance(reduction, str) else None
    if function is None:
        raise ArgumentError(
            f"reduce: reduction: got {reduction!r}, expected one of {', '.join(_REDUCTIONS)}"
        )
    return _run("reduce", "reduce", x, pattern, sizes, function)


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def repeat_axes(x: Array, /, pattern: str, **sizes: int) -> Array:
    """Repeat `x` along the axes that occur only on the right of a pattern (``repeat`` of einops).

    Args:
        x: array of any shape.
        pattern: as for `rearrange`, with more names after ``->`` than before.
        sizes: the lengths of the new axes.

    Returns:
        array of the dtype of `x`.

    Raises:
        ShapeError: the pattern is invalid, or does not match `x`.
        MissingFrameworkError: einops is not installed.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.repeat_axes(np.asarray([1, 2]), "n -> (n k)", k=3)
        array([1, 1, 1, 2, 2, 2])

    References:
        https://einops.rocks/api/repeat/
    """
    return _run("repeat_axes", "repeat", x, pattern, sizes)


def _reduction(name: str) -> Callable[[Array, tuple[int, ...]], Array]:
    def reduce_axes(x: Array, axes: tuple[int, ...]) -> Array:
        return getattr(ops, name)(x, axis=axes)

    return reduce_axes


#: One function object per name: einops caches parsed patterns by function.
_REDUCTIONS = {
    name: _reduction(name) for name in ("sum", "mean", "prod", "max", "min", "any", "all")
}


def _run(
    op_name: str, function: str, x: Array, pattern: str, sizes: Mapping[str, int], *settings: Any
) -> Array:
    """Call a function of einops, and convert its errors."""
    einops = lazy_imports.optional("einops", f"{op_name} needs", extra="einops")
    if not isinstance(pattern, str):
        raise ArgumentError(
            f"{op_name}: pattern: got {type(pattern).__name__}, expected a string such as "
            "'b (h w) c -> b h w c'"
        )
    for name, size in sizes.items():
        if isinstance(size, (str, float, list, tuple)):
            raise ArgumentError(f"{op_name}: {name}: got {size!r}, expected the length of an axis")
    try:
        module: ModuleType = einops
        has_no_elements = hasattr(x, "__array_namespace__") and not backends.is_array(x)
        if (
            backends.core("numpy").stands_in(x) or has_no_elements
        ):  # it uses the array's own functions
            module = importlib.import_module("einops.array_api")
        return getattr(module, function)(x, pattern, *settings, **sizes)
    except einops.EinopsError as error:
        *_, reason = str(error).strip().splitlines()  # the lines before contain pattern and shape
        raise ShapeError(
            f"{op_name}: pattern: got {pattern!r} for x of shape {tuple(x.shape)}"
            f"{f' and sizes {dict(sizes)}' if sizes else ''}: {reason.strip()}"
        ) from error
