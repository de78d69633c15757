"""Checks of axes and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends.checks.arguments import Arguments, arrays_in, shape_of, size_of
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.numerics import matrices
from nestarray.numerics.axes import (
    check_contracted,
    check_order,
    check_pad_mode,
    expanded_shape,
    many_axes,
    moved_axes,
    one_axis,
    pad_widths,
    rolled_axes,
    squeezed_axes,
)


def check_axis(name: str, arguments: Arguments) -> None:
    """`axis` is within the axes of the first array."""
    axis = arguments.get("axis")
    if axis is not None:
        many_axes(axis, len(arrays_in(arguments)[0][1].shape), name)


def check_axes(name: str, arguments: Arguments) -> None:
    """`axes` is a permutation of the axes of x."""
    ndim = len(arguments["x"].shape)
    axes = many_axes(tuple(arguments["axes"]), ndim, name, "axes")
    if len(axes) != ndim:
        raise ShapeError(
            f"{name}: axes: got {tuple(arguments['axes'])}, expected each of the {ndim} axes once"
        )


def check_broadcast(name: str, arguments: Arguments) -> None:
    """The shapes of all arrays broadcast."""
    shapes = [shape_of(x) for _, x in arrays_in(arguments)]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(map(str, dict.fromkeys(shapes)))
        raise ShapeError(f"{name}: got arrays of shapes {listed}, which do not broadcast") from None


def check_moved(name: str, arguments: Arguments) -> None:
    """`source` and `destination` name equally many axes."""
    moved_axes(arguments["source"], arguments["destination"], len(arguments["x"].shape), name)


def check_rolled(name: str, arguments: Arguments) -> None:
    """`shift` has one number, or one per axis."""
    if arguments.get("axis") is not None:
        rolled_axes(arguments["shift"], arguments["axis"], len(arguments["x"].shape))


def check_swapped(name: str, arguments: Arguments) -> None:
    """Both are axes of x."""
    for argument in ("axis1", "axis2"):
        one_axis(arguments[argument], len(arguments["x"].shape), name, argument)


def check_new_axis(name: str, arguments: Arguments) -> None:
    """`axis` is within the axes of the result."""
    expanded_shape(arguments["x"].shape, arguments.get("axis", 0), name)


def check_squeezed(name: str, arguments: Arguments) -> None:
    """The squeezed axes have length 1."""
    squeezed_axes(shape_of(arguments["x"]), arguments.get("axis"), name)


def check_contraction(name: str, arguments: Arguments) -> None:
    """The inner dimensions are equal, and the batch dimensions broadcast."""
    a, b = shape_of(arguments["x1"]), shape_of(arguments["x2"])
    if not a or not b:
        raise ShapeError(
            f"{name}: got arrays of shapes {a} and {b}, expected at least one axis each"
        )
    rows = b[-2:][0]
    if a[-1] != rows:
        raise ShapeError(
            f"{name}: got shapes {a} and {b}: the last axis of x1 has {a[-1]} elements, expected "
            f"{rows}, as {'the second last' if len(b) > 1 else 'the'} axis of x2"
        )
    try:
        np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise ShapeError(
            f"{name}: got shapes {a} and {b}, whose leading axes do not broadcast"
        ) from None


def check_tensordot(name: str, arguments: Arguments) -> None:
    """The contracted axes have equal lengths."""
    a, b, axes = shape_of(arguments["x1"]), shape_of(arguments["x2"]), arguments.get("axes", 2)
    check_contracted(axes, name)
    if isinstance(axes, int):
        left, right = a[len(a) - axes :], b[:axes]
    else:
        first, second = axes
        left = tuple(a[n] for n in many_axes(first, len(a), name, "axes"))
        right = tuple(b[n] for n in many_axes(second, len(b), name, "axes"))
    if left != right:
        raise ShapeError(
            f"{name}: axes: got {axes} for shapes {a} and {b}: lengths {left} of x1 against {right} "
            "of x2, expected equal ones"
        )


def check_einsum(name: str, arguments: Arguments) -> None:
    """Each letter has one length, and each axis has a letter."""
    terms = arguments["subscripts"].replace(" ", "").split("->")[0].split(",")
    lengths: dict[str, int] = {}
    for term, (argument, x) in zip(terms, arrays_in(arguments)):
        shape = shape_of(x)
        if "..." in term:
            continue
        if len(term) != len(shape):
            raise ShapeError(
                f"{name}: {argument}: got shape {shape} for {term!r}, expected {len(term)} axes"
            )
        for letter, length in zip(term, shape):
            known = lengths.setdefault(letter, length)
            if length != known and 1 not in (length, known):
                raise ShapeError(
                    f"{name}: {argument}: got shape {shape} for {term!r}: {letter} is {length}, but "
                    f"{known} before"
                )


def check_linear(name: str, arguments: Arguments) -> None:
    """x and weight have equally many features, and bias has an element for each output."""
    x, weight = shape_of(arguments["x"]), shape_of(arguments["weight"])
    if len(weight) not in (1, 2) or not x or x[-1] != weight[-1]:
        raise ShapeError(
            f"{name}: got x of shape {x} and weight of shape {weight}, expected x (*batch, in) and "
            "weight (out, in) or (in,)"
        )
    bias = arguments.get("bias")
    if bias is not None and shape_of(bias) != weight[:-1]:
        raise ShapeError(f"{name}: bias: got shape {shape_of(bias)}, expected {weight[:-1]}")


def check_square(name: str, arguments: Arguments) -> None:
    """The matrices of the first argument are square."""
    matrices.check_square(name, *arrays_in(arguments)[0])


def check_right_side(name: str, arguments: Arguments) -> None:
    """The right-hand side and the matrix have equally many rows."""
    a, b = shape_of(arguments["x1"]), shape_of(arguments["x2"])
    rows = b[0] if len(b) == 1 else b[-2]
    if rows != a[-1]:
        raise ShapeError(f"{name}: x2: got shape {b}, expected {a[-1]} rows, like x1 of shape {a}")


def check_matrices(name: str, arguments: Arguments) -> None:
    """The first argument has at least two axes."""
    matrices.check_matrices(name, *arrays_in(arguments)[0])


def check_concatenated(name: str, arguments: Arguments) -> None:
    """All arrays have one shape, except along `axis`."""
    arrays = arrays_in(arguments)
    shapes = [shape_of(x) for _, x in arrays]
    axis = arguments.get("axis", 0)
    if axis is None:
        return
    (place,) = many_axes(axis, len(shapes[0]), name)
    for (argument, _), shape in zip(arrays, shapes):
        if len(shape) != len(shapes[0]) or any(
            n != m for i, (n, m) in enumerate(zip(shape, shapes[0])) if i != place
        ):
            raise ShapeError(
                f"{name}: {argument}: got shape {shape}, expected {shapes[0]}, like the first, "
                f"except along axis {axis}"
            )


def check_stacked(name: str, arguments: Arguments) -> None:
    """All arrays have one shape."""
    arrays = arrays_in(arguments)
    first = shape_of(arrays[0][1])
    for argument, x in arrays:
        if shape_of(x) != first:
            raise ShapeError(
                f"{name}: {argument}: got shape {shape_of(x)}, expected {first}, like the first"
            )
    expanded_shape(first, arguments.get("axis", 0), name)


def check_reshaped(name: str, arguments: Arguments) -> None:
    """The new shape has the same number of elements."""
    check_order(arguments.get("order", "C"))
    old, new = shape_of(arguments["x"]), arguments["shape"]
    new = (new,) if isinstance(new, int) else tuple(new)
    size, known = size_of(old), size_of([n for n in new if n != -1])
    fits = size == known if -1 not in new else known and size % known == 0 and new.count(-1) == 1
    if not fits:
        raise ShapeError(
            f"{name}: shape: got {new} for an array of shape {old} with {size} elements"
        )


def check_pad(name: str, arguments: Arguments) -> None:
    """The mode exists, and each axis has a pair."""
    check_pad_mode(arguments.get("mode", "constant"), name)
    pad_widths(arguments["pad_width"], len(arguments["x"].shape), name)


def check_broadcast_to(name: str, arguments: Arguments) -> None:
    """The array broadcasts to the shape."""
    old, new = shape_of(arguments["x"]), tuple(arguments["shape"])
    padded = (1,) * (len(new) - len(old)) + old
    if len(old) > len(new) or any(n not in (1, m) for n, m in zip(padded, new)):
        raise ShapeError(
            f"{name}: shape: got {new}, to which an array of shape {old} does not broadcast"
        )


def check_side(name: str, arguments: Arguments) -> None:
    """`side` is 'left' or 'right', and x1 a vector."""
    side = arguments.get("side", "left")
    if side not in ("left", "right"):
        raise ArgumentError(f"{name}: side: got {side!r}, expected 'left' or 'right'")
    shape = tuple(getattr(arguments["x1"], "shape", ()))
    if len(shape) != 1:
        raise ShapeError(f"{name}: x1: got shape {shape}, expected (n,)")


def check_elements(name: str, arguments: Arguments) -> None:
    """Each reduced part has an element."""
    shape, axis = tuple(arguments["x"].shape), arguments.get("axis")
    reduced = [shape[i] for i in many_axes(axis, len(shape), name)]
    if 0 in [n for n in reduced if isinstance(n, int)]:
        over = "" if axis is None else f" over axis {axis}"
        raise ShapeError(f"{name}: x: got shape {shape}, which has no elements to reduce{over}")


def check_bitcast(x: Any, dtype: Any) -> None:
    """The last axis of `x` is a whole number of elements of `dtype`."""
    found, wanted = dtypes.dtype_of(x), dtypes.as_dtype(dtype)
    if "bool" in (found.kind, wanted.kind):
        raise DtypeError(f"bitcast: got {found} and {wanted}, expected numeric dtypes; see astype")
    size = x.shape[-1] if len(x.shape) else None
    if found.bits != wanted.bits and (size is None or size * found.bits % wanted.bits):
        raise ShapeError(
            f"bitcast: x: got {found} of shape {tuple(x.shape)}, whose last axis is no whole number "
            f"of {wanted}"
        )
