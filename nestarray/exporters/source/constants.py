"""Constants that a short expression computes: numbers in order, masks, equal numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nestarray.exporters.source.records import Value


class Form(NamedTuple):
    """An expression for an array.

    Attributes:
        kind: ``"arange"``, ``"tril"`` (of booleans) or ``"full"``.
        sizes: the arguments: (start, stop), the number of rows, or the shape and the number.
        shape: to which the result is reshaped; None if it has this shape.
        expanded: to which that is broadcast; None if it has this shape.
    """

    kind: str
    sizes: tuple
    shape: tuple[int, ...] | None = None
    expanded: tuple[int, ...] | None = None


def closed_form(array: np.ndarray) -> Form | None:
    """The expression for an array; None without a short one."""
    if not array.size or array.dtype.kind not in "biuf":
        return None
    first = array.reshape(-1)[0]
    if (array == first).all():
        return Form("full", (array.shape, first.item()))
    core = array
    for axis in range(array.ndim):
        one = core.take([0], axis)
        if (core == one).all():
            core = one
    shape = core.shape
    core = core.squeeze()
    form = None
    if core.ndim == 1 and core.dtype.kind in "iu":
        start, stop = int(core[0]), int(core[0]) + len(core)
        if np.array_equal(core, np.arange(start, stop)):
            form = Form("arange", (start, stop))
    elif core.ndim == 2 and np.array_equal(core, np.tri(len(core), dtype=bool)):
        form = Form("tril", (len(core),)) if core.dtype == bool else None
    if form is None:
        return None
    return form._replace(
        shape=shape if shape != core.shape else None,
        expanded=array.shape if array.shape != shape else None,
    )


def without_mask(
    args: list[Any],
    kwargs: dict[str, Any],
    name: str,
    constants: Mapping[Value, np.ndarray],
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of attention without a mask that a setting expresses.

    Args:
        args, kwargs: query, key, value, and the mask.
        name: of the mask.
        constants: the constants that are known.
    """
    query, key = args[0].shape, args[1].shape
    mask = args[3] if len(args) > 3 else kwargs.get(name)
    known = constants.get(mask) if isinstance(mask, Value) else None
    if known is not None and known.dtype == bool:
        if known.all():
            args, kwargs = args[:3], kwargs | {name: None}
        elif is_causal(known) and query[-2] == key[-2]:
            args, kwargs = args[:3], kwargs | {name: None, "is_causal": True}
    if kwargs.get("scale") == query[-1] ** -0.5:
        kwargs = kwargs | {"scale": None}
    return args, kwargs


def is_causal(array: np.ndarray) -> bool:
    """Whether a mask admits, for each row, the columns up to it."""
    form = closed_form(array)
    return form is not None and form.kind == "tril"
