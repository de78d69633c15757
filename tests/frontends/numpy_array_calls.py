"""Calls of the methods of NumPy's arrays, as Hypothesis strategies by name."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.frontends.numpy_arguments import (
    AXES,
    AXIS,
    BOOL,
    FLAG,
    REAL,
    SMALL,
    Calls,
    arrays,
    call,
    shapes,
)
from tests.frontends.numpy_calls import CALLS, rows

#: Methods with the arguments of the function of the same name.
_AS_FUNCTIONS = ["all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "copy", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "put", "repeat", "reshape", "round", "searchsorted", "squeeze", "sum", "swapaxes", "take", "trace"]  # fmt: skip


def array_calls() -> dict[str, Calls]:
    """The calls by names such as ``"ndarray.sum"``; attributes have no arguments."""
    x, order = arrays(extreme=True), st.sampled_from("CFAK")
    vector = arrays(min_dims=1)
    named = {
        **{name: CALLS[name] for name in _AS_FUNCTIONS},
        **rows("T base conj conjugate dtype flat imag itemsize nbytes ndim real shape size tolist view", call(x)),
        **rows("flatten ravel tobytes", call(x, order=order)),
        "clip": call(arrays(REAL, extreme=True), SMALL, SMALL),
        "compress": call(arrays(min_side=1, extreme=True), arrays(BOOL, min_dims=1, max_dims=1), axis=st.one_of(AXIS, st.none())),
        "copy": call(x),
        "fill": call(x, st.integers(0, 3)),
        "item": st.one_of(call(x), call(x, SMALL)),
        "mT": call(arrays(min_dims=1)),
        "resize": st.tuples(st.tuples(arrays(("float64", "int8")), shapes()), st.just({"refcheck": False})),
        **rows("std var", call(arrays(), axis=AXES, keepdims=FLAG, ddof=st.integers(0, 2))),
        "sort": call(vector, axis=AXIS),
        "transpose": st.one_of(call(x), call(x, st.permutations(range(2)))),
        "__getitem__": call(x, st.one_of(SMALL, st.just(...), st.just(slice(None, None, 2)), st.just(None), st.tuples(SMALL, SMALL), st.lists(SMALL, max_size=2))),
        "__setitem__": call(x, st.one_of(SMALL, st.just(...), st.just(slice(None, None, 2)), st.tuples(SMALL, SMALL)), st.integers(0, 3)),
        "__contains__": call(x, SMALL),
    }  # fmt: skip
    return {f"ndarray.{name}": calls for name, calls in named.items()}
