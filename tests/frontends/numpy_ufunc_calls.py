"""Calls of NumPy's universal functions and of their methods, as Hypothesis strategies by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.frontends.numpy_arguments import (
    ALL_INTEGERS,
    AXES,
    AXIS,
    BOOL,
    DTYPE,
    FLAG,
    INEXACT,
    NUMERIC,
    REAL,
    SMALL,
    Call,
    Calls,
    arrays,
    broadcastable,
    call,
)

UFUNCS = [n for n in sorted(np.__all__) if isinstance(getattr(np, n), np.ufunc)]
#: Functions of the core axes of arrays: their calls are in `numpy_calls`.
GENERALIZED = ("matmul", "matvec", "vecdot", "vecmat")
#: Shifts by negative counts are undefined, large powers and factors of integers differ in nothing.
_SMALL_SECOND = ("left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift", "power", "pow", "float_power", "ldexp")  # fmt: skip

#: NumPy's quotients of infinite numbers are NaN and −1, here as in the array API standard.
_OF_FINITE = ("floor_divide", "divmod")

#: NumPy 2.4 with AVX-512: (3 ** 2) ** 2 is 9 by `power.reduce`, and `arctan2.reduce` errs in the
#: same way; operands of `ldexp` have two dtypes; quotients by zero are infinite.
_WITHOUT_REDUCTIONS = ("power", "float_power", "arctan2", "ldexp", "floor_divide")


def _dtypes(name: str) -> tuple[str, ...]:
    """The dtypes of arguments: first the function's loops, then others for errors."""
    codes = "".join(loop.partition("->")[0] for loop in getattr(np, name).types)
    if "D" in codes:
        return NUMERIC
    if "d" in codes:
        return (*REAL, *REAL, "complex64")
    return (*ALL_INTEGERS, *ALL_INTEGERS, "float32")


@st.composite
def elementwise(draw: Any, name: str) -> Call:
    """A call of a universal function, some with ``dtype``, or with ``out`` and ``where``."""
    upstream = getattr(np, name)
    is_bounded = name in _SMALL_SECOND
    is_extreme = not is_bounded and name not in _OF_FINITE
    args = list(draw(broadcastable(upstream.nin, _dtypes(name), extreme=is_extreme)))
    if is_bounded:
        args[1] = np.abs(args[1]) if isinstance(args[1], np.ndarray) else abs(args[1])
    kwargs: dict[str, Any] = {}
    choice = draw(st.integers(0, 5))
    is_relation = upstream.types[0].endswith("?")
    if choice == 1 and not is_relation:  # NumPy 2.4 crashes for np.equal(x, y, dtype=...)
        kwargs = {"dtype": draw(DTYPE), "casting": draw(st.sampled_from(["same_kind", "unsafe", "safe"]))}  # fmt: skip
    if choice in (2, 3):
        try:
            with np.errstate(all="ignore"):
                found = upstream(*args)
        except (TypeError, ValueError, OverflowError):
            return tuple(args), {}
        several = found if upstream.nout > 1 else (found,)
        out = tuple([np.full(np.shape(x), 7, draw(st.sampled_from((x.dtype.name, *NUMERIC)))) for x in several])  # fmt: skip
        kwargs = {"out": out if upstream.nout > 1 else out[0]}
        if choice == 3:
            kwargs["where"] = draw(arrays(BOOL, np.shape(several[0])))
    return tuple(args), kwargs


def _methods(name: str) -> dict[str, Calls]:
    """The calls of methods, with arguments for which few integers overflow."""
    dtypes, codes = _dtypes(name), getattr(np, name).types[0]
    if name in _SMALL_SECOND:
        x = arrays(dtypes, min_dims=1).map(np.abs)
    else:
        x = arrays(dtypes, min_dims=1, extreme=name not in ("lcm", "gcd"))
    # casts of large floating numbers to integers are undefined
    plain = arrays(INEXACT if codes[0] in "ef" else dtypes, min_dims=1)

    @st.composite
    def at(draw: Any) -> Call:
        a = draw(plain)
        index = draw(st.one_of(SMALL, st.lists(st.integers(-2, 2), max_size=3)))
        if getattr(np, name).nin == 1:
            return (a, index), {}
        value = draw(st.one_of(st.integers(0, 3), arrays((a.dtype.name, *dtypes), ()).map(np.abs)))
        return (a, index, value), {}

    @st.composite
    def reduction(draw: Any) -> Call:
        a = draw(x)
        kwargs = {"axis": draw(AXES), "keepdims": draw(FLAG)}
        if draw(FLAG):
            kwargs["initial"] = draw(st.integers(0, 3))
            if draw(FLAG):
                kwargs["where"] = draw(arrays(BOOL, a.shape))
        if draw(st.integers(0, 3)) == 3:
            kwargs["dtype"] = draw(DTYPE)
        return (a,), kwargs

    found: dict[str, Calls] = {f"{name}.at": at()}
    upstream = getattr(np, name)
    if upstream.nin == 2 and upstream.nout == 1 and name not in _WITHOUT_REDUCTIONS:
        indices = st.lists(st.integers(0, 2), min_size=1, max_size=3)
        found |= {
            f"{name}.reduce": reduction(),
            f"{name}.accumulate": call(x, axis=AXIS, dtype=DTYPE),
            f"{name}.reduceat": call(x if name != "multiply" else plain, indices, axis=AXIS),
            f"{name}.outer": call(
                arrays(dtypes, max_dims=2), arrays(dtypes, max_dims=1).map(np.abs)
            ),
        }
    return found


def ufunc_calls() -> dict[str, Calls]:
    """The calls of all functions, and of the methods of each function under its own name."""
    found: dict[str, Calls] = {}
    for name in UFUNCS:
        if name not in GENERALIZED and name != "isnat":
            found[name] = elementwise(name)
            if getattr(np, name).__name__ == name:
                found |= _methods(name)
    return found
