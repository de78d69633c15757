"""Functions that do not ask their arguments for a protocol, replaced while NumPy code is recorded.

- functions that make arrays (``np.zeros``, ``np.r_``, ``np.random.normal``) return recording arrays;
- functions and ufuncs of NumPy take lists of arrays, whose elements NumPy would read;
- functions of `math` and SciPy, ``np.nditer`` and functions of ``np.vectorize`` take recording arrays.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import types
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import numpy as np

from nestarray.errors import ConversionError
from nestarray.frontends import numpy as frontend
from nestarray.graph.record.abstract_recorder import is_size
from nestarray.importers import patching
from nestarray.importers.numpy import scipy_functions
from nestarray.importers.numpy.iteration import NdIter, enumerated
from nestarray.importers.numpy.random import RecordedGenerator, drawn
from nestarray.importers.numpy.recording import Recording
from nestarray.importers.patching import patched
from nestarray.transforms.abstract import rounded_size

Function = Callable[..., Any]
#: (module or class, name, replacement)
Place = tuple[Any, str, Any]

#: Functions of NumPy that make arrays without an array among their arguments.
CREATION = (
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty",
    "eye", "fromfunction", "frompyfunc", "full", "geomspace", "identity", "indices", "linspace",
    "logspace", "meshgrid", "ones", "tri", "zeros",
)  # fmt: skip

#: Functions of `math` that round to integers.
_TO_INTEGERS = ("ceil", "floor", "trunc")
#: Functions of `math` with another name in SciPy.
_SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}


@contextlib.contextmanager
def replaced(recording: Recording, source: Any) -> Iterator[None]:
    """Replace the functions for one run.

    Args:
        recording: the run.
        source: the function that runs, whose module may have imported functions by name.
    """
    places = [*_of_numpy(recording), *_of_random(recording), *_of_math(recording)]
    places += [
        (home, name, _of_scipy(recording, f"{home.__name__}.{name}", native))
        for home, name, native in scipy_functions.imported()
    ]
    own = {id(getattr(home, name)): function for home, name, function in places}
    names = getattr(source, "__globals__", {})
    known = {"len"} & names.keys()
    before = {name: x for name, x in names.items() if id(x) in own}
    generators = {name: x for name, x in names.items() if isinstance(x, _GENERATORS)}
    names.update({name: own[id(x)] for name, x in before.items()})
    names.update({name: RecordedGenerator(x, recording) for name, x in generators.items()})
    if "len" not in known:  # of Python, whose result is a number; a size may be open
        names["len"] = lambda x: x.shape[0] if recording.is_own(x) and x.ndim else len(x)
    # compiled code calls NumPy's functions without a frame of Python that says who calls
    native = types.SimpleNamespace(**vars(np))
    places += [(module, "np", native) for module in _compiled_modules()]
    try:
        with patched(*places):
            yield
    finally:
        names.update(before | generators)
        if "len" not in known:
            names.pop("len", None)


def _compiled_modules() -> Iterator[Any]:
    """Extension modules that import NumPy as ``np``, such as the generators of `numpy.random`."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        is_compiled = str(names.get("__file__")).endswith(tuple(EXTENSION_SUFFIXES))
        if is_compiled and names.get("np") is np:
            yield module


# -- NumPy ---------------------------------------------------------------------------------------


def _of_numpy(recording: Recording) -> Iterator[Place]:
    for name in CREATION:
        yield np, name, _creation(recording, name)
    for name in ("c_", "mgrid", "ogrid", "r_"):
        yield np, name, _Grid(getattr(np, name), getattr(frontend, name), recording)
    for home, own in ((np, frontend), (np.linalg, frontend.linalg), (np.fft, frontend.fft)):
        for name, native in vars(home).items():
            function = getattr(own, name, None)
            if function is None or name in CREATION or not hasattr(native, "__name__"):
                continue
            if isinstance(native, np.ufunc):
                yield home, name, _Ufunc(native, function, recording)
            elif callable(native) and not isinstance(native, type):
                yield home, name, _of_lists(recording, native, function)
    yield np.vectorize, "__call__", _vectorized(recording)
    for name, own in (("nditer", NdIter), ("ndenumerate", enumerated)):
        yield np, name, _of_arrays(recording, getattr(np, name), own)
    tricks = np.lib.stride_tricks
    windows = functools.partial(_called, recording, frontend.lib.stride_tricks.as_strided)
    yield tricks, "as_strided", _of_arrays(recording, tricks.as_strided, windows)


def _of_arrays(recording: Recording, native: Function, own: Function) -> Function:
    """`native`, in place of which `own` takes recording arrays."""

    @functools.wraps(native, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return (own if recording.holds_own([*args, kwargs]) else native)(*args, **kwargs)

    return call


def _called(recording: Recording, function: Function, *args: Any, **kwargs: Any) -> Any:
    return recording.call(function, args, kwargs)


def _of_lists(recording: Recording, native: Function, function: Function) -> Function:
    """`native`, in place of which `function` takes lists of arrays.

    NumPy asks arrays among the arguments for their protocol; in a list it reads their elements.
    """

    @functools.wraps(native)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        if any(map(recording.is_own, given)) or not recording.holds_own(given):
            return native(*args, **kwargs)
        return recording.call(function, args, kwargs)

    return call


class _Ufunc:
    """A ufunc of NumPy that takes lists of arrays."""

    def __init__(self, native: np.ufunc, function: Any, recording: Recording) -> None:
        self._native, self._function, self._recording = native, function, recording

    @property
    def __class__(self) -> type:
        return np.ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _of_lists(self._recording, self._native, self._function)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._native, name)
        if name in ("accumulate", "outer", "reduce", "reduceat"):
            return _of_lists(self._recording, found, getattr(self._function, name))
        return found


class _Grid:
    """An object such as ``np.r_`` that makes recording arrays."""

    def __init__(self, native: Any, own: Any, recording: Recording) -> None:
        self._native, self._own, self._recording = native, own, recording

    def __getitem__(self, key: Any) -> Any:
        if not patching.is_tracing():
            return self._native[key]
        return self._recording.call(self._own.__getitem__, (key,), {})


def _creation(recording: Recording, name: str) -> Function:
    native, function = getattr(np, name), getattr(frontend, name)

    def create(*args: Any, **kwargs: Any) -> Any:
        caller = _calling_package()
        if caller == "nestarray" or (
            caller in ("numpy", "scipy") and not recording.holds_own(args)
        ):
            return native(*args, **kwargs)
        first: Any = args[0] if args else None
        if name.startswith("as") and recording.is_own(first):
            dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
            is_same = dtype is None or np.dtype(dtype) == first.dtype
            return first if is_same else first.astype(dtype)
        return recording.call(function, args, kwargs)

    return create


def _calling_package() -> str:
    """The package that calls a replaced function."""
    frame = sys._getframe(2)
    if frame.f_code.co_filename == patching.__file__ and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _vectorized(recording: Recording) -> Function:
    """The call of ``np.vectorize(function)``: mapped, or element by element if that reads values."""
    native = np.vectorize.__call__

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not recording.holds_own([*args, kwargs]):
            return native(self, *args, **kwargs)
        settings = {"otypes": self.otypes, "excluded": self.excluded, "signature": self.signature}
        try:
            return frontend.vectorize(self.pyfunc, **settings)(*args, **kwargs)
        except ConversionError:
            if self.signature is not None or self.excluded or kwargs:
                raise
        return _by_element(recording, self, args)

    return call


def _by_element(recording: Recording, vectorized: Any, args: tuple[Any, ...]) -> Any:
    given = [recording.call(frontend.asarray, (x,), {}) for x in args]
    arrays = np.broadcast_arrays(*given)
    shape = arrays[0].shape
    found = [vectorized.pyfunc(*[x[i] for x in arrays]) for i in np.ndindex(*shape)]
    is_single = not isinstance(found[0], tuple)
    several = [found] if is_single else zip(*found, strict=True)
    results = [
        recording.call(frontend.array, (list(x), dtype), {}).reshape(shape)
        for x, dtype in zip(several, vectorized.otypes or [None] * len(found), strict=False)
    ]
    return results[0] if is_single else tuple(results)


# -- random numbers ------------------------------------------------------------------------------

_GENERATORS = (np.random.Generator, np.random.RandomState)


def _of_random(recording: Recording) -> Iterator[Place]:
    """Functions with the hidden state, and functions that make generators."""
    for name, native in vars(np.random).items():
        if isinstance(getattr(native, "__self__", None), np.random.RandomState):
            yield np.random, name, functools.partial(drawn, recording, native)
    own = lambda *args: RecordedGenerator(default_rng(*args), recording)  # noqa: E731
    default_rng = np.random.default_rng
    yield np.random, "default_rng", own
    for native in _GENERATORS:
        names = {"native": native, "recording": recording}
        yield np.random, native.__name__, _GeneratorClass(native.__name__, (), names)


class _GeneratorClass(type):
    """The class of a generator of NumPy, which makes generators of recording arrays."""

    native: type
    recording: Recording

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = cls.native(*args, **kwargs)
        return RecordedGenerator(made, cls.recording) if patching.is_tracing() else made

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.native)


# -- math and SciPy ------------------------------------------------------------------------------


def _of_math(recording: Recording) -> Iterator[Place]:
    for name, native in vars(math).items():
        if name in _SPECIAL:
            own: Any = functools.partial(_special, recording, f"scipy.special.{_SPECIAL[name]}")
        elif name == "log":
            own = _log
        elif name in _TO_INTEGERS:
            own = functools.partial(_rounded, getattr(np, name))
        elif isinstance(getattr(np, name, None), np.ufunc):
            own = functools.partial(_of_floats, getattr(np, name))
        else:
            continue
        yield math, name, _of_arrays(recording, native, own)


def _special(recording: Recording, name: str, x: Any) -> Any:
    return recording.call(recording.scipy(name), (x.astype(float),), {})


def _log(x: Any, base: Any = None) -> Any:
    return np.log(x) if base is None else np.log(x) / np.log(base)


def _rounded(ufunc: np.ufunc, x: Any) -> Any:
    if is_size(x):
        function = {"floor": "math.floor", "ceil": "math.ceil", "trunc": "int"}[ufunc.__name__]
        return rounded_size(function, x)
    return ufunc(x).astype(int)


def _of_floats(ufunc: np.ufunc, *args: Any) -> Any:
    return ufunc(*[float(x) if type(x) in (bool, int) else x for x in args])


def _of_scipy(recording: Recording, name: str, native: Function) -> Function:
    own = lambda *args, **kwargs: recording.call(recording.scipy(name), args, kwargs)  # noqa: E731
    return _of_arrays(recording, native, own)
