"""One run of NumPy code on recording arrays."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from types import SimpleNamespace
from typing import Any

import numpy as np

from nestarray import backends
from nestarray.errors import ConversionError
from nestarray.frontends import numpy as frontend
from nestarray.frontends.numpy.arrays import recorded_write
from nestarray.graph.node import map_leaves
from nestarray.graph.record.recorder import Recorder, Traced, _user_line
from nestarray.importers import patching
from nestarray.importers.numpy import scipy_functions
from nestarray.importers.patching import patched

#: Functions of NumPy that make arrays without an array among their arguments.
CREATION = (
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty",
    "eye", "fromfunction", "full", "geomspace", "identity", "indices", "linspace", "logspace",
    "meshgrid", "ones", "tri", "vectorize", "zeros",
)  # fmt: skip


class Recording:
    """The arrays of one run.

    Args:
        array_type: the class of the arrays.
        recorder: writes the graph; None if the code is only run.
        islands: whether functions of SciPy without a frontend's function are islands.
    """

    def __init__(
        self, array_type: Callable[..., Any], recorder: Recorder | None, *, islands: bool
    ) -> None:
        self._array_type, self._recorder, self._islands = array_type, recorder, islands
        self._owners: dict[int, Any] = {}

    def line(self) -> str:
        """The line of the user's code that is running."""
        return _user_line()

    def wrapped(self, result: Any) -> Any:
        """A result with recording arrays."""
        return map_leaves(self._wrapped, result)

    def _wrapped(self, x: Any) -> Any:
        if type(x) is np.ndarray or isinstance(x, np.generic):
            x = np.asarray(x)
            if self._recorder is not None:
                x = Traced(x, self._recorder.node_of(x, "constant"), self._recorder)
        elif backends.backend_of_value(x) is None:
            return x
        return self._array_type(x, self)

    def compute(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a function of the values of arrays, into which it may write."""
        was, self._owners = self._owners, {}
        token = recorded_write.set(self._write)
        try:
            args, kwargs = map_leaves(self._unwrapped, [args, kwargs])
            return function(*args, **kwargs)
        finally:
            recorded_write.reset(token)
            self._owners = was

    def _unwrapped(self, x: Any) -> Any:
        if type(x) is not self._array_type:
            return x
        value = x._current()
        self._owners[id(value)] = x
        return value

    def _write(self, out: Any, value: Any) -> bool:
        owner = self._owners.get(id(out))
        if owner is not None:
            owner._set(value)
        return owner is not None

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a function as recording arrays; an array that is written is returned."""
        out = kwargs.get("out")
        out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
        result = self.compute(function, args, kwargs)
        return self.wrapped(result) if out is None else out

    @contextlib.contextmanager
    def numpy(self, source: Any) -> Iterator[None]:
        """Functions that create arrays return recording arrays, and SciPy's functions take them."""
        places = [(np, name, self._creation(name)) for name in CREATION]
        places += [
            (home, name, self._of_lists(native, function))
            for home, name, native, function in _functions_of_numpy()
        ]
        places += [
            (home, name, self._of_scipy(f"{home.__name__}.{name}", native))
            for home, name, native in scipy_functions.imported()
        ]
        own = {id(getattr(home, name)): function for home, name, function in places}
        names = getattr(source, "__globals__", {})
        before = {name: x for name, x in names.items() if id(x) in own}
        names.update({name: own[id(x)] for name, x in before.items()})
        # compiled code calls NumPy's functions without a frame of Python that says who calls
        native = SimpleNamespace(**vars(np))
        places += [(module, "np", native) for module in _compiled_modules()]
        try:
            with patched(*places):
                yield
        finally:
            names.update(before)

    def _of_lists(self, native: Callable[..., Any], function: Callable[..., Any]) -> Any:
        """`native`, in place of which `function` takes lists of arrays.

        NumPy asks arrays among the arguments for their protocol; in a list it reads their elements.
        """

        @functools.wraps(native)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            is_own = any(type(x) is self._array_type for x in given)
            if is_own or not self._are_among(given):
                return native(*args, **kwargs)
            return self.call(function, args, kwargs)

        return call

    def _are_among(self, nest: Any) -> bool:
        """Whether there is a recording array in a nest."""
        found: list[Any] = []
        map_leaves(found.append, nest)
        return any(type(x) is self._array_type for x in found)

    def _of_scipy(self, name: str, native: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._are_among([*args, kwargs]):
                return native(*args, **kwargs)
            return self.call(self.scipy(name), args, kwargs)

        return call

    def scipy(self, name: str) -> Callable[..., Any]:
        """The function that computes one of SciPy.

        Raises:
            ConversionError: there is none.
        """
        function = scipy_functions.computed(name, self._islands)
        if function is None:
            raise ConversionError(
                f"trace_graph: {self.line()}: {name} has no function of a frontend; islands=True runs "
                "it in SciPy on the host, without derivatives"
            )
        return function

    def _creation(self, name: str) -> Callable[..., Any]:
        native, function = getattr(np, name), getattr(frontend, name)

        def create(*args: Any, **kwargs: Any) -> Any:
            if _calling_package() in ("nestarray", "numpy", "scipy"):
                return native(*args, **kwargs)
            first: Any = args[0] if args else None
            if name.startswith("as") and type(first) is self._array_type:
                dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
                is_same = dtype is None or np.dtype(dtype) == first.dtype
                return first if is_same else first.astype(dtype)
            return self.call(function, args, kwargs)

        return create


def _compiled_modules() -> Iterator[Any]:
    """Extension modules that import NumPy as ``np``, such as the generators of `numpy.random`."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        is_compiled = str(names.get("__file__")).endswith(tuple(EXTENSION_SUFFIXES))
        if is_compiled and names.get("np") is np:
            yield module


def _functions_of_numpy() -> Iterator[tuple[Any, str, Any, Any]]:
    """(module, name, function, the frontend's function) of functions of arrays."""
    for home, own in ((np, frontend), (np.linalg, frontend.linalg), (np.fft, frontend.fft)):
        for name, native in vars(home).items():
            is_plain = hasattr(native, "__name__") and not isinstance(native, (type, np.ufunc))
            if is_plain and callable(native) and name not in CREATION and hasattr(own, name):
                yield home, name, native, getattr(own, name)


def _calling_package() -> str:
    """The package that calls a replaced function."""
    frame = sys._getframe(2)
    if frame.f_code.co_filename == patching.__file__ and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
