"""Constants that a short expression computes: numbers in order, masks, equal numbers, scalars."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.exporters.source.printing.expressions import BINARY
from nestarray.exporters.source.recording.records import Call, Value

#: Framework → kind of a call → its text.
_TEXTS = {
    "torch": {
        "arange": "torch.arange({sizes}{keyword})",
        "tril": "torch.ones({sizes}, {sizes}, dtype=torch.bool).tril()",
        "zeros": "torch.zeros({sizes}{keyword})",
        "ones": "torch.ones({sizes}{keyword})",
        "full": "torch.full({shape}, {number}{keyword})",
        "scalar": "torch.tensor({number}{keyword})",
        "reshape": "{}.reshape({sizes})",
        "expand": "{}.expand({sizes})",
    },
    "tensorflow": {
        "arange": "tf.range({sizes}{keyword})",
        "tril": "tf.linalg.band_part(tf.ones(({sizes}, {sizes}), tf.bool), -1, 0)",
        "zeros": "tf.zeros({shape}{positional})",
        "ones": "tf.ones({shape}{positional})",
        "full": "tf.constant({number}{positional}, {shape})",
        "scalar": "tf.constant({number}{positional})",
        "reshape": "tf.reshape({}, {shape})",
        "expand": "tf.broadcast_to({}, {shape})",
    },
    "keras": {
        "arange": "ops.arange({sizes}{keyword})",
        "tril": 'ops.tri({sizes}, dtype="bool")',
        "zeros": "ops.zeros({shape}{positional})",
        "ones": "ops.ones({shape}{positional})",
        "full": "ops.full({shape}, {number}{positional})",
        "scalar": "ops.convert_to_tensor({number}{positional})",
        "reshape": "ops.reshape({}, {shape})",
        "expand": "ops.broadcast_to({}, {shape})",
    },
    **{
        framework: {
            "arange": f"{array}.arange({{sizes}}{{keyword}})",
            "tril": f"{array}.tri({{sizes}}, dtype={boolean})",
            "zeros": f"{array}.zeros({{shape}}{{keyword}})",
            "ones": f"{array}.ones({{shape}}{{keyword}})",
            "full": f"{array}.full({{shape}}, {{number}}{{keyword}})",
            "scalar": f"{array}.{scalar}({{number}}{{keyword}})",
            "reshape": "{}.reshape({sizes})",
            "expand": f"{array}.broadcast_to({{}}, {{shape}})",
        }
        for framework, array, boolean, scalar in (
            ("jax", "jnp", "bool", "asarray"),
            ("numpy", "np", "bool", "asarray"),
            ("mlx", "mx", "mx.bool_", "array"),
        )
    },
}
#: Framework → kind of a call → the dtype that it has by itself.
_DTYPES = {
    "torch": {"arange": "int64", "zeros": "float32", "ones": "float32"},
    **{
        framework: {"arange": "int32", "zeros": "float32", "ones": "float32"}
        for framework in ("jax", "mlx")
    },
    "numpy": {"arange": "int64"},
    "tensorflow": {"arange": "int32", "zeros": "float32", "ones": "float32"},
    "keras": {"arange": "int32", "zeros": "float32", "ones": "float32"},
}


def calls_of(array: np.ndarray) -> list[tuple[str, tuple[int, ...]]]:
    """(kind, sizes) of the calls that make an array, each of the result before; empty without short ones.

    The kinds are those of `_TEXTS`; ``"tril"`` is of booleans.
    """
    if not array.size or array.dtype.kind not in "biuf":
        return []
    first = array.reshape(-1)[0]
    if not array.shape:
        return [("scalar", ())]
    if (array == first).all():
        return [({0: "zeros", 1: "ones"}.get(first, "full"), array.shape)]
    if array.dtype.kind == "f":
        return []
    core = array
    for axis in range(array.ndim):
        one = core.take([0], axis)
        if (core == one).all():
            core = one
    shape, core = core.shape, core.squeeze()
    start, stop = int(core.flat[0]), int(core.flat[0]) + len(core)
    if core.dtype != bool and np.array_equal(core, np.arange(start, stop)):
        calls = [("arange", (start, stop) if start else (stop,))]
    elif core.dtype == bool and np.array_equal(core, np.tri(len(core), dtype=bool)):
        calls = [("tril", (len(core),))]
    else:
        return []
    if shape != core.shape:
        calls.append(("reshape", shape))
    return calls if shape == array.shape else [*calls, ("expand", array.shape)]


def constant_text(array: np.ndarray, framework: str, dtype: str, number: str) -> str:
    """The text that computes a constant; empty without a short one.

    Args:
        array: the constant.
        framework: the framework.
        dtype, number: the texts of its dtype, and of its first element.
    """
    text = ""
    for kind, sizes in calls_of(array):
        is_own = _DTYPES[framework].get(kind) == array.dtype.name
        text = _TEXTS[framework][kind].format(
            text,
            shape=sizes,
            sizes=", ".join(map(str, sizes)),
            number=number,
            positional="" if is_own else f", {dtype}",
            keyword="" if is_own else f", dtype={dtype}",
        )
    return text


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
    return any(kind == "tril" for kind, _ in calls_of(array))


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

    count = 2 if call.target in WRITES else 0
    return dataclasses.replace(call, args=(*call.args[:count], *map(of, call.args[count:])))


#: Operator → the number that leaves the other operand as it is.
_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "truediv": 1}


def unchanged(call: Call) -> Value | None:
    """The argument that a sum with zero, or a product with one, equals."""
    kind, _, name = call.target.rpartition(".")
    if kind != "operator" or name not in _NEUTRAL or not isinstance(call.result, Value):
        return None
    for x, other in (call.args, call.args[::-1])[: 2 if name in ("add", "mul") else 1]:
        is_neutral = type(other) in (int, float) and other == _NEUTRAL[name]
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
    return short if float(single) == leaf and abs(short) <= float(np.finfo("float32").max) else leaf
