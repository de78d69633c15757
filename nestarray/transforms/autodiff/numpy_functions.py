"""NumPy's own functions on stand-ins: `np.sin(x)`, `np.sum(x, axis=0)`, `x.mean()`.

A NumPy function without an op (`nestarray.dispatch.numpy_protocols`) raises UnsupportedError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray.dispatch import numpy_protocols
from nestarray.dispatch.numpy_protocols import Lacking
from nestarray.errors import UnsupportedError
from nestarray.transforms.autodiff.values import StandIn


def _of_ufunc(self: StandIn, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    try:
        return numpy_protocols.of_ufunc(ufunc, method, args, kwargs)
    except Lacking as lacking:
        raise _without_derivative(lacking) from None


def _of_function(
    self: StandIn, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
) -> Any:
    try:
        return numpy_protocols.of_function(function, args, kwargs)
    except Lacking as lacking:
        raise _without_derivative(lacking) from None


def _without_derivative(lacking: Lacking) -> UnsupportedError:
    return UnsupportedError(
        f"{lacking}: no derivative is known of this function of NumPy; use the function of na "
        "that does the same, or hold the argument fixed with na.stop_gradient"
    )


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
