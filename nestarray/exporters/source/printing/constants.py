"""Constants that a short expression computes: numbers in order, masks, equal numbers, scalars."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from nestarray.exporters.source.printing.expressions import BINARY
from nestarray.exporters.source.recording.records import Call, Value


class Form(NamedTuple):
    """An expression for an array.

    Attributes:
        kind: ``"arange"``, ``"tril"`` (of booleans), ``"zeros"``, ``"ones"``, ``"full"`` or
            ``"scalar"``.
        sizes: the arguments: (start, stop), the number of rows, the shape, with the number for
            ``"full"``, or the number.
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
    if not array.shape:
        return Form("scalar", (shortest(array.item()),))
    if (array == first).all():
        kind = {0: "zeros", 1: "ones"}.get(first)
        return Form(kind, (array.shape,)) if kind else Form("full", (array.shape, first.item()))
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
    if known is not None and np.isin(known, (0, -np.inf)).all() and known.dtype.kind == "f":
        known = known == 0
    absent = {name: None}  # the first setting, as in calls without a mask
    if known is not None and known.dtype == bool:
        if known.all():
            args, kwargs = args[:3], {**absent, **kwargs, **absent}
        elif is_causal(known) and query[-2] == key[-2]:
            args, kwargs = args[:3], {**absent, **kwargs, **absent, "is_causal": True}
    scale = kwargs.get("scale")
    kind = np.dtype("float64" if args[0].dtype == "float64" else "float32").type
    if isinstance(scale, float) and kind(scale) == kind(query[-1] ** -0.5):
        kwargs = kwargs | {"scale": None}
    return args, kwargs


def is_causal(array: np.ndarray) -> bool:
    """Whether a mask admits, for each row, the columns up to it."""
    form = closed_form(array)
    return form is not None and form.kind == "tril"


#: Functions of an array, an index and new elements.
WRITES = ("operator.setitem", "at:set")

#: Functions that take numbers in the place of arrays, with the dtype of their other arguments.
TAKE_NUMBERS = frozenset(
    [
        *(f"operator.{name}" for name in BINARY if name != "matmul"),
        *WRITES,
        *(f"{module}.where" for module in ("torch", "jax.numpy", "numpy", "tensorflow")),
        *(f"{module}.maximum" for module in ("torch", "jax.numpy", "numpy", "tensorflow")),
        *(f"{module}.minimum" for module in ("torch", "jax.numpy", "numpy", "tensorflow")),
    ]
)


def with_numbers(call: Call, constants: Mapping[Value, np.ndarray]) -> Call:
    """The call with numbers for constants of equal elements, where others decide dtype and shape."""
    if call.target not in TAKE_NUMBERS or not isinstance(call.result, Value):
        return call
    values = [x for x in call.args if isinstance(x, Value)]
    others = [x for x in values if x not in constants]
    dtypes, shapes = {x.dtype for x in others}, {x.shape for x in others}

    def of(leaf: Any) -> Any:
        array = constants.get(leaf) if isinstance(leaf, Value) else None
        if array is None or leaf.dtype not in dtypes or not array.size:
            return leaf
        first = array.reshape(-1)[0]
        is_decided = not leaf.shape or call.result.shape in shapes
        return shortest(first.item()) if is_decided and (array == first).all() else leaf

    kept = 2 if call.target in WRITES else 0
    return dataclasses.replace(call, args=(*call.args[:kept], *map(of, call.args[kept:])))


#: Operator → the number that leaves the other operand as it is.
_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "truediv": 1}


def unchanged(call: Call) -> Value | None:
    """The argument that a sum with zero, or a product with one, equals."""
    kind, _, name = call.target.rpartition(".")
    if kind != "operator" or name not in _NEUTRAL or not isinstance(call.result, Value):
        return None
    for x, number in (call.args, call.args[::-1])[: 2 if name in ("add", "mul") else 1]:
        is_neutral = type(number) in (int, float) and number == _NEUTRAL[name]
        is_alike = isinstance(x, Value) and (x.shape, x.dtype) == (
            call.result.shape,
            call.result.dtype,
        )
        if is_neutral and is_alike:
            return x
    return None


def known_result(call: Call, constants: Mapping[Value, np.ndarray]) -> np.ndarray | None:
    """The result of a call that makes a scalar, or converts or expands a constant."""
    name = call.target.rpartition(".")[2].rpartition(":")[2]
    result = call.result
    if not isinstance(result, Value) or not hasattr(np, result.dtype):
        return None
    place = _VALUE.get(name, -1)
    x = call.args[place] if 0 <= place < len(call.args) else None
    if isinstance(x, Value):
        x = constants.get(x)
    return None if x is None else np.broadcast_to(np.asarray(x, result.dtype), result.shape)


#: Function that keeps or repeats a value → the position of the value among its arguments.
_VALUE = {
    "astype": 0, "broadcast_to": 0, "cast": 0, "constant": 0, "expand": 0, "fill": 1, "full": 1,
    "to": 0,
}  # fmt: skip


def shortest(leaf: Any) -> Any:
    """A number of 32 bits as the shortest decimal number that it is nearest to."""
    if not isinstance(leaf, float):
        return leaf
    with np.errstate(over="ignore"):
        single = np.float32(leaf)
    short = float(str(single))
    # that of the largest number is above it, which PyTorch does not convert
    return short if single == leaf and abs(short) <= float(np.finfo("float32").max) else leaf
