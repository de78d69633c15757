"""Reductions by any function, and of windows.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce.html,
https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html and
https://openxla.org/xla/operation_semantics#selectandscatter; a function for each primitive, some
of which have no public name there.
"""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes, tree
from nestarray.frontends.jax.lax import elementwise, shaping
from nestarray.typing import Array, Nest

__all__ = [
    "reduce", "reduce_window", "reduce_window_max", "reduce_window_min",
    "reduce_window_shape_tuple", "reduce_window_sum",
    "select_and_gather_add", "select_and_scatter_add",
]  # fmt: skip

#: A function of two nests of arrays, element by element.
Computation = Callable[[Any, Any], Any]


def reduce(
    operands: Nest, init_values: Nest, computation: Computation, dimensions: Sequence[int]
) -> Nest:
    """Combine the elements along axes, with `init_values` for no elements.

    `computation` is associative and is called on halves of the arrays.
    """
    leaves, structure = tree.flatten(operands)
    starts = tree.flatten(init_values)[0]
    shape = na.shape(leaves[0])
    kept = [i for i in range(len(shape)) if i not in dimensions]
    count = math.prod([shape[i] for i in dimensions])
    rows = [
        na.reshape(na.permute_dims(x, (*dimensions, *kept)), (count, *[shape[i] for i in kept]))
        for x in leaves
    ]

    def combined(xs: list[Array], ys: list[Array]) -> list[Array]:
        found = computation(tree.unflatten(structure, xs), tree.unflatten(structure, ys))
        pairs = zip(tree.flatten(found)[0], xs, strict=True)
        return [na.broadcast_to(y, na.shape(x)) for y, x in pairs]

    while count > 1:
        half = count // 2
        first = [na.getitem(x, builtins.slice(half)) for x in rows]
        second = [na.getitem(x, builtins.slice(half, 2 * half)) for x in rows]
        last = [na.getitem(x, builtins.slice(2 * half, count)) for x in rows]
        rows = [na.concat([a, b]) for a, b in zip(combined(first, second), last, strict=True)]
        count -= half
    begin = [
        na.broadcast_to(na.asarray(start, dtype=dtypes.dtype_of(x), like=x), na.shape(x)[1:])
        for start, x in zip(starts, rows, strict=True)
    ]
    found = combined(begin, [na.getitem(x, 0) for x in rows]) if count else begin
    return tree.unflatten(structure, found)


def reduce_window(
    operand: Nest,
    init_value: Nest,
    computation: Computation,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Nest:
    """Combine the elements of windows that slide over all axes, beginning with `init_value`.

    Padding and the gaps of `base_dilation` are ignored.
    """
    leaves, structure = tree.flatten(operand)
    starts = tree.flatten(init_value)[0]
    window_strides = window_strides or (1,) * len(window_dimensions)
    base = tuple(base_dilation or (1,) * len(window_dimensions))
    step = tuple(window_dilation or (1,) * len(window_dimensions))
    sizes = [(n - 1) * d + 1 if n else 0 for n, d in zip(na.shape(leaves[0]), base, strict=True)]
    extent = [(n - 1) * d + 1 for n, d in zip(window_dimensions, step, strict=True)]
    pads = pads_of(padding, sizes, extent, window_strides)
    parts = [
        list(_places(x, start, window_dimensions, window_strides, pads, base, step))
        for x, start in zip(leaves, starts, strict=True)
    ]
    found = [
        na.broadcast_to(na.asarray(start, dtype=dtypes.dtype_of(x), like=x), na.shape(part[0]))
        for start, x, part in zip(starts, leaves, parts, strict=True)
    ]
    is_inside = na.ones_like(leaves[0], dtype=dtypes.bool)
    inside = _places(is_inside, False, window_dimensions, window_strides, pads, base, step)
    is_padded = any(low > 0 or high > 0 for low, high in pads) or any(n > 1 for n in base)
    for mask, *place in zip(inside, *parts, strict=True):
        result = computation(tree.unflatten(structure, found), tree.unflatten(structure, place))
        new = tree.flatten(result)[0]
        if is_padded:
            new = [na.where(mask, y, x) for x, y in zip(found, new, strict=True)]
        found = new
    return tree.unflatten(structure, found)


def reduce_window_shape_tuple(
    operand_shape: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The shape of a reduction of windows."""
    ones = (1,) * len(window_dimensions)
    found = []
    for n, w, s, pads, d, e in zip(
        operand_shape, window_dimensions, window_strides, padding, base_dilation or ones,
        window_dilation or ones, strict=True,
    ):  # fmt: skip
        size = ((n - 1) * d + 1 if n else 0) + sum(pads)
        found.append(builtins.max((size - (w - 1) * e - 1) // s + 1, 0))
    return tuple(found)


def pads_of(
    padding: str | Sequence[tuple[int, int]],
    sizes: Sequence[int],
    extent: Sequence[int],
    strides: Sequence[int],
) -> list[tuple[int, int]]:
    """(before, after) of each axis; "SAME" pads the end more."""
    if not isinstance(padding, str):
        return [(low, high) for low, high in padding]
    if padding.upper() == "VALID":
        return [(0, 0)] * len(sizes)
    totals = [
        builtins.max((-(-n // s) - 1) * s + e - n, 0)
        for n, e, s in zip(sizes, extent, strides, strict=True)
    ]
    is_lower = padding.upper() == "SAME_LOWER"
    return [(-(-n // 2), n // 2) if is_lower else (n // 2, -(-n // 2)) for n in totals]


def _places(
    x: Array,
    fill: Any,
    window: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[tuple[int, int]],
    base: Sequence[int] | None = None,
    step: Sequence[int] | None = None,
) -> Iterator[Array]:
    """For each place in a window, the elements at that place of all windows."""
    base, step = base or (1,) * len(window), step or (1,) * len(window)
    config = [(low, high, d - 1) for (low, high), d in zip(pads, base, strict=True)]
    padded = shaping.pad(x, fill, config)
    counts = [
        builtins.max((n - (w - 1) * d - 1) // s + 1, 0)
        for n, w, d, s in zip(na.shape(padded), window, step, strides, strict=True)
    ]
    for place in itertools.product(*map(range, window)):
        starts = [i * d for i, d in zip(place, step, strict=True)]
        index = [
            builtins.slice(i, i + (n - 1) * s + 1 if n else i, s)
            for i, n, s in zip(starts, counts, strides, strict=True)
        ]
        yield na.getitem(padded, tuple(index))


_of_any = reduce_window


def _reducing(computation: str) -> Callable[..., Array]:
    def reduce_window(
        operand: Array,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        padding: str | Sequence[tuple[int, int]],
        base_dilation: Sequence[int] | None = None,
        window_dilation: Sequence[int] | None = None,
    ) -> Array:
        """The reductions of windows that slide over all axes."""
        kind = dtypes.dtype_of(operand).kind
        if computation != "add" and kind in ("complex", "uint"):
            function = elementwise.max if computation == "max" else elementwise.min
            start = _worst(operand, "ge" if computation == "max" else "le")
            start = complex(start, start) if kind == "complex" else start
            settings = window_dimensions, window_strides, padding, base_dilation, window_dilation
            return _of_any(operand, start, function, *settings)
        pads: Any = padding if isinstance(padding, str) else [(low, high) for low, high in padding]
        return na.reduce_window(
            operand,
            computation=computation,
            window=tuple(window_dimensions),
            strides=tuple(window_strides),
            padding=pads.lower() if isinstance(pads, str) else pads,
            base_dilation=base_dilation,
            window_dilation=window_dilation,
        )

    return reduce_window


reduce_window_sum = _reducing("add")
reduce_window_max = _reducing("max")
reduce_window_min = _reducing("min")


def select_and_gather_add(
    tangents: Array,
    operand: Array,
    select_prim: str,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Array:
    """The element of `tangents` at the maximum of each window, or at the minimum for ``"le"``."""
    settings = window_dimensions, window_strides, padding, base_dilation, window_dilation
    keys = _places(operand, _worst(operand, select_prim), *settings)
    best = found = None
    for key, tangent in zip(keys, _places(tangents, 0, *settings), strict=True):
        if best is None:
            best, found = key, tangent
        else:
            is_kept = _selects(select_prim, best, key)
            best, found = na.where(is_kept, best, key), na.where(is_kept, found, tangent)
    return found


def select_and_scatter_add(
    source: Array,
    operand: Array,
    select_prim: str,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
) -> Array:
    """Each element of `source` added at the maximum of its window, or the minimum for ``"le"``."""
    sizes, outputs = na.shape(operand), na.shape(source)
    keys = list(
        _places(operand, _worst(operand, select_prim), window_dimensions, window_strides, padding)
    )
    best, places = keys[0], na.zeros_like(keys[0], dtype=dtypes.int32)
    for i, key in enumerate(keys[1:], 1):
        is_kept = _selects(select_prim, best, key)
        best, places = na.where(is_kept, best, key), na.where(is_kept, places, i)
    total = na.zeros_like(operand)
    for i, place in enumerate(itertools.product(*map(range, window_dimensions))):
        config = []
        for size, n, start, stride, (low, _) in zip(
            sizes, outputs, place, window_strides, padding, strict=True
        ):
            before = start - low
            length = (n - 1) * stride + 1 if n else 0
            config.append((before, size - before - length, stride - 1))
        chosen = na.where(na.equal(places, i), source, na.zeros_like(source))
        total = na.add(total, shaping.pad(chosen, 0, config))
    return total


def _selects(select_prim: str, x: Array, y: Array) -> Array:
    return na.greater_equal(x, y) if select_prim == "ge" else na.less_equal(x, y)


def _worst(x: Array, select_prim: str) -> Any:
    """The number that is selected last."""
    dtype = dtypes.dtype_of(x)
    if dtype.is_inexact:
        return -math.inf if select_prim == "ge" else math.inf
    if dtype is dtypes.bool:
        return select_prim != "ge"
    info = dtypes.iinfo(dtype)
    return info.min if select_prim == "ge" else info.max
