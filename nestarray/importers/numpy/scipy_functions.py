"""Functions of SciPy on recording arrays.

SciPy's functions have no protocol for other arrays, so the functions in `MODULES` are replaced while code is
recorded. One that the JAX frontend has (`jax.scipy.linalg.solve`) is computed by it; the transforms of
``scipy.fft`` and a few others are NumPy's. Others are islands, if `trace_graph` allows them:
calls of SciPy on the host, without derivatives.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.errors import MissingOpError, UnsupportedError
from nestarray.errors.foreign import foreign
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


class NumpyOperation(islands.HostOperation):
    """A function of a flat list of NumPy arrays."""

    def value(self, *arrays: Any) -> tuple[Any, ...]:
        """The results."""
        return tuple(map(np.asarray, self.function(*arrays)))

    def results(self, arrays: Sequence[islands.Description]) -> list[islands.Description]:
        """Shape and dtype of each result, by a run on ones."""
        native = backends.core("numpy").native_dtype
        message = (
            f"island: the sizes of the results of {self.name} are not known before it runs ({{}}); "
            "call the graph without compiling it"
        )
        with foreign(message.format, UnsupportedError):  # SciPy refuses ones, or a size is unknown
            found = self.value(*[np.ones(shape, native(dtype)) for shape, dtype in arrays])  # type: ignore[arg-type]
        return [(y.shape, dtypes.dtype_of(y)) for y in found]

    def gradients(self, arguments: Any, cotangents: Any) -> Any:
        """SciPy has no derivatives."""
        raise UnsupportedError(
            f"island: {self.name} has no derivative; hold its arguments fixed with na.stop_gradient"
        )


def _find(name: str) -> Function:
    """The function of a name such as ``"scipy.linalg.expm_cond"``.

    Raises:
        MissingOpError: SciPy has no such function.
    """
    module, _, short = name.rpartition(".")
    space: Any = None
    if module.startswith("scipy.") and module.removeprefix("scipy.") in MODULES:
        space = importlib.import_module(module)
    if short not in getattr(space, "__all__", ()):
        raise MissingOpError(f"island: SciPy has no function {name!r}")
    return getattr(space, short)


islands.register("numpy", islands.Host(_find, NumpyOperation))
