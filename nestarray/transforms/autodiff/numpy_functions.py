"""NumPy's own functions on stand-ins: `np.sin(x)`, `np.sum(x, axis=0)`, `x.mean()`.

NumPy hands them over by the protocols `__array_ufunc__` and `__array_function__`; each becomes
the op of its name, or of the name that the standard gave it. What has no op says so.

References:
    https://numpy.org/doc/stable/user/basics.interoperability.html
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from nestarray.dispatch import OPS
from nestarray.errors import UnsupportedError
from nestarray.transforms.autodiff.values import StandIn

#: NumPy's older names.
_NAMES = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh",
    "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "concatenate": "concat", "conjugate": "conj", "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum", "degrees": "rad2deg", "fabs": "abs", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "mod": "remainder", "power": "pow",
    "radians": "deg2rad", "right_shift": "bitwise_right_shift", "rint": "round",
    "true_divide": "divide",
}  # fmt: skip
_PARAMETERS = {"ddof": "correction"}
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}


def _of_ufunc(self: StandIn, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    name = _NAMES.get(ufunc.__name__, ufunc.__name__)
    if method == "reduce" and name in _REDUCTIONS:
        axis = kwargs.get("axis", 0)
        settings = {k: v for k, v in kwargs.items() if k in ("keepdims", "dtype") and v is not None}
        if set(kwargs) <= {"axis", "keepdims", "dtype"}:
            return OPS[_REDUCTIONS[name]].function(*args, axis=axis, **settings)
    elif method == "__call__" and name in OPS and not kwargs:
        return OPS[name].function(*args)
    shown = "" if method == "__call__" else f".{method}"
    raise _lacking(f"np.{ufunc.__name__}{shown}", kwargs)


def _of_function(
    self: StandIn, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
) -> Any:
    special = _SPECIAL.get(function.__name__)
    if special is not None:
        return special(*args, **kwargs)
    record = OPS.get(_NAMES.get(function.__name__, function.__name__))
    if record is None:
        raise _lacking(_spelled(function), {})
    names, defaults = _parameters(function)
    given = dict(zip(names, args)) | kwargs
    extra = args[len(names) :]  # of functions with *args
    arrays: list[Any] = []
    settings: dict[str, Any] = {}
    place = 0
    for p in record.parameters:
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and place < len(names):
            if names[place] not in given:
                break
            arrays.append(given.pop(names[place]))
            place += 1
    for name, value in given.items():
        if name in defaults and (value is defaults[name] or value is np._NoValue):
            continue
        settings[_PARAMETERS.get(name) or name] = value
    if not settings.keys() <= {p.name for p in record.parameters}:
        raise _lacking(_spelled(function), settings)
    return record.function(*arrays, *extra, **settings)


@cache
def _parameters(function: Callable[..., Any]) -> tuple[list[str], dict[str, Any]]:
    parameters = inspect.signature(function).parameters.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return names, {p.name: p.default for p in parameters if p.default is not p.empty}


def _spelled(function: Callable[..., Any]) -> str:
    """As people write it: ``np.linalg.norm``."""
    return f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)


def _lacking(name: str, settings: dict[str, Any]) -> UnsupportedError:
    how = f" with {', '.join(settings)}" if settings else ""
    return UnsupportedError(
        f"{name}{how}: no derivative is known of this function of NumPy; use the function of na "
        "that does the same, or hold the argument fixed with na.stop_gradient"
    )


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


_SPECIAL: dict[str, Callable[..., Any]] = {
    "transpose": _transpose,
    "dot": _dot,
    "norm": _norm,
    "vdot": _vdot,
    "ravel": lambda a: OPS["reshape"].function(a, (-1,)),
    "copy": lambda a: OPS["positive"].function(a),
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
    "size": lambda a: a.size,
    "einsum": lambda subscripts, *operands: OPS["einsum"].function(subscripts, *operands),
}
_METHODS = [
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "clip",
    "conj",
    "copy",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "max",
    "mean",
    "min",
    "prod",
    "ravel",
    "repeat",
    "round",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "trace",
    "var",
]


def _method(name: str) -> Callable[..., Any]:
    function = getattr(np, name)
    return lambda self, *args, **kwargs: function(self, *args, **kwargs)


StandIn.__array_ufunc__ = _of_ufunc  # type: ignore[attr-defined]
StandIn.__array_function__ = _of_function  # type: ignore[attr-defined]
for _name in _METHODS:
    setattr(StandIn, _name, _method(_name))
StandIn.flatten = _method("ravel")  # type: ignore[attr-defined]
