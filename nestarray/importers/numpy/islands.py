"""Functions of SciPy as islands; see `nestarray.graph.island`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.errors import MissingOpError, UnsupportedError
from nestarray.errors.foreign import foreign
from nestarray.importers import islands
from nestarray.importers.numpy.scipy_functions import MODULES


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


def _find(name: str) -> Callable[..., Any]:
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


HOST = islands.Host(_find, NumpyOperation)
