"""NumPy's functions on Containers and other values that implement its protocols: ``np.sin(c)``, ``np.sum(x, axis=0)``.

NumPy passes such calls to the protocols `__array_ufunc__` and `__array_function__`. Each becomes a
call of the op with its name, or with the standard's name for it. Without such an op, `Lacking` is
raised and the caller decides.

References:
    https://numpy.org/doc/stable/user/basics.interoperability.html
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from nestarray.dispatch.operation import OPS

Function = Callable[..., Any]

#: NumPy's older names.
_NAMES = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh",
    "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "around": "round", "concatenate": "concat", "conjugate": "conj",
    "cumprod": "cumulative_prod", "cumsum": "cumulative_sum", "degrees": "rad2deg", "fabs": "abs",
    "invert": "bitwise_invert", "left_shift": "bitwise_left_shift", "mod": "remainder",
    "power": "pow", "radians": "deg2rad", "right_shift": "bitwise_right_shift", "rint": "round",
    "true_divide": "divide",
}  # fmt: skip
_PARAMETERS = {"ddof": "correction"}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
#: Functions that write into their argument; the op of that name returns a new array.
_WRITING = ("fill_diagonal", "put_along_axis")


class Lacking(LookupError):
    """A call of a NumPy function without an equivalent op.

    Attributes:
        function: the full name, ``np.linalg.norm``.
        name: the last part of the name.
        settings: the arguments that the op of this name lacks.
    """

    def __init__(self, function: str, settings: Mapping[str, Any]) -> None:
        super().__init__(f"{function} with {', '.join(settings)}" if settings else function)
        self.function, self.settings = function, tuple(settings)
        self.name = function.rpartition(".")[2]


def of_ufunc(ufunc: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a universal function by the op; `method` is ``"__call__"`` or ``"reduce"``.

    Raises:
        Lacking: the op does not exist.
    """
    name = _NAMES.get(ufunc.__name__, ufunc.__name__)
    if method == "reduce" and name in _REDUCTIONS:
        axis = kwargs.get("axis", 0)
        settings = {k: v for k, v in kwargs.items() if k in ("keepdims", "dtype") and v is not None}
        if set(kwargs) <= {"axis", "keepdims", "dtype"}:
            return OPS[_REDUCTIONS[name]].function(*args, axis=axis, **settings)
    elif method == "__call__" and not kwargs:
        if name == "divmod":
            return OPS["floor_divide"].function(*args), OPS["remainder"].function(*args)
        if name in OPS:
            return OPS[name].function(*args)
    shown = "" if method == "__call__" else f".{method}"
    spelled = f"np.{ufunc.__name__}" if getattr(np, ufunc.__name__, None) is ufunc else name
    raise Lacking(f"{spelled}{shown}", kwargs)


def of_function(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute an array function by the op.

    Raises:
        Lacking: the op does not exist, or lacks a setting.
    """
    spelled = spelled_name(function)
    if spelled in SPECIAL:
        return SPECIAL[spelled](*args, **kwargs)
    record = OPS.get(_NAMES.get(function.__name__, function.__name__))
    if record is None or record.name in _WRITING:
        raise Lacking(spelled, {})
    names, defaults = _parameters(function)
    given = dict(zip(names, args)) | kwargs
    extra = args[len(names) :]  # of functions with *args
    own = {p.name for p in record.parameters}
    arrays: list[Any] = []
    settings: dict[str, Any] = {}
    for place, p in enumerate(record.parameters):
        if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) or place >= len(names):
            break
        theirs = names[place]
        if theirs not in given or (theirs in own and theirs != p.name):  # it is further back
            break
        arrays.append(given.pop(theirs))
    for name, value in given.items():
        if name in defaults and (value is defaults[name] or value is np._NoValue):
            continue
        settings[_PARAMETERS.get(name) or name] = value
    if not settings.keys() <= own:
        raise Lacking(spelled, {k: v for k, v in settings.items() if k not in own})
    return record.function(*arrays, *extra, **settings)


#: The parameters of functions whose signatures NumPy provides only since 2.4.
BUILT_IN: dict[str, Function] = {
    "np.bincount": lambda x, /, weights=None, minlength=0: None,
    "np.concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    "np.empty_like": (
        lambda prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None: None
    ),
    "np.ravel_multi_index": lambda multi_index, dims, mode="raise", order="C": None,
    "np.unravel_index": lambda indices, shape, order="C": None,
    "np.where": lambda condition, x=None, y=None, /: None,
}


@cache
def _parameters(function: Function) -> tuple[list[str], dict[str, Any]]:
    told = BUILT_IN.get(spelled_name(function), function)
    parameters = inspect.signature(told).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return names, {p.name: p.default for p in parameters if p.default is not p.empty}


def spelled_name(function: Function) -> str:
    """As people write it: ``np.linalg.norm``."""
    return f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)


def _transpose(a: Any, axes: Any = None) -> Any:
    return OPS["permute_dims"].function(a, tuple(range(a.ndim))[::-1] if axes is None else axes)


def _dot(a: Any, b: Any) -> Any:
    if not (np.ndim(a) and np.ndim(b)):
        return OPS["multiply"].function(a, b)
    if np.ndim(b) > 2:
        return OPS["tensordot"].function(a, b, axes=((-1,), (-2,)))
    return OPS["matmul"].function(a, b)


def _vdot(a: Any, b: Any) -> Any:
    flat = [OPS["reshape"].function(x, (-1,)) for x in (a, b)]
    return OPS["vecdot"].function(*flat)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is None or x.ndim == 1 or isinstance(axis, int):
        order = 2 if ord is None else ord
        return OPS["vector_norm"].function(x, axis=axis, keepdims=keepdims, ord=order)
    if axis is not None:
        x = OPS["moveaxis"].function(x, axis, (-2, -1))
    found = OPS["matrix_norm"].function(x, ord=ord)
    return OPS["expand_dims"].function(found, axis or (0, 1)) if keepdims else found


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    # `na.split` is told the sizes; parts that are not equal come as from np.array_split
    return OPS["array_split"].function(ary, indices_or_sections, axis=axis)


def _diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    moved = OPS["moveaxis"].function(a, (axis1, axis2), (-2, -1))  # where the standard has them
    return OPS["diagonal"].function(moved, offset=offset)


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    moved = OPS["moveaxis"].function(a, (axis1, axis2), (-2, -1))
    return OPS["trace"].function(moved, offset=offset, dtype=dtype)


#: Functions that are not one call of one op with the same arguments.
SPECIAL: dict[str, Function] = {
    "np.transpose": _transpose,
    "np.dot": _dot,
    "np.linalg.norm": _norm,
    "np.vdot": _vdot,
    "np.split": _split,
    "np.diagonal": _diagonal,
    "np.trace": _trace,
    "np.ravel": lambda a: OPS["reshape"].function(a, (-1,)),
    "np.copy": lambda a: OPS["positive"].function(a),
    "np.shape": lambda a: a.shape,
    "np.ndim": lambda a: a.ndim,
    "np.size": lambda a: a.size,
    "np.einsum": lambda subscripts, *operands: OPS["einsum"].function(subscripts, *operands),
}
