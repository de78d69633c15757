"""Functions of SciPy on recording arrays.

SciPy's functions have no protocol for other arrays, so the functions in `MODULES` are replaced while code is
recorded. One that the JAX frontend has (`jax.scipy.linalg.solve`) is computed by it; the transforms of
``scipy.fft`` and a few others are NumPy's. Others are islands, if `trace_graph` allows them:
calls of SciPy on the host, without derivatives.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nestarray.frontends import numpy as numpy_frontend
from nestarray.frontends import registry
from nestarray.frontends.jax.promotion import enable_x64
from nestarray.importers import islands

Function = Callable[..., Any]

#: The modules whose functions are replaced, if the program has imported them.
MODULES = ("fft", "integrate", "interpolate", "linalg", "ndimage", "signal", "special", "stats")
#: Functions that NumPy has too, with the same arguments.
_OF_NUMPY = {"fft": frozenset(dir(numpy_frontend.fft)), "linalg": {"eig", "eigvals", "norm"}}
#: Arguments without influence on the result.
_SETTINGS = frozenset(
    [
        "check_finite",
        "lapack_driver",
        "overwrite_a",
        "overwrite_b",
        "overwrite_x",
        "plan",
        "workers",
    ]
)


def imported() -> Iterator[str]:
    """The names of the functions of SciPy that the process has imported."""
    for short in MODULES:
        module = sys.modules.get(f"scipy.{short}")
        for name in getattr(module, "__all__", ()):
            function: Any = getattr(module, name, None)
            if callable(function) and not isinstance(function, (type, np.ufunc)):
                yield f"scipy.{short}.{name}"


def computed(name: str, allows_islands: bool) -> Function | None:
    """The function that computes one of SciPy on traced arrays; None if there is none.

    Args:
        name: ``"scipy.linalg.solve"``.
        allows_islands: whether it may be an island.
    """
    _, module, short = name.split(".")
    function: Function | None = None
    try:
        function = registry.vocabulary("jax").function(f"jax.{name}")
    except ValueError:
        if short in _OF_NUMPY.get(module, ()):
            function = getattr(getattr(numpy_frontend, module), short)
    if function is not None:
        return _with_numpy_dtypes(function)
    return functools.partial(islands.island, name, framework="numpy") if allows_islands else None


def _with_numpy_dtypes(function: Function) -> Function:
    """The function, with numbers of 64 bits, and without settings that it does not take."""
    parameters = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs = {k: x for k, x in kwargs.items() if k in parameters or k not in _SETTINGS}
        with enable_x64():
            return function(*args, **kwargs)

    return call
