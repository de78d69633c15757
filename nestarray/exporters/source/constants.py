"""Constants that a short expression computes: numbers in order, masks, equal numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


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
    """The expression for an array; None if there is no short one."""
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


def is_causal(array: np.ndarray) -> bool:
    """Whether a mask admits, for each row, the columns up to it."""
    form = closed_form(array)
    return form is not None and form.kind == "tril"
