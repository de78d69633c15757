"""Functions of NumPy, `math` and SciPy on recording arrays; `workarounds.py` puts them in place.

Each takes the run and the native function, and returns the function that is called while code is recorded.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from nestarray.errors import ConversionError
from nestarray.frontends import numpy as frontend
from nestarray.graph.record.abstract_recorder import is_size
from nestarray.importers import patching
from nestarray.importers.numpy.recording import Recording
from nestarray.transforms.abstract import rounded_size

Function = Callable[..., Any]

#: Functions of `math` that round to integers.
TO_INTEGERS = ("ceil", "floor", "trunc")
#: Functions of `math` with another name in SciPy.
SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}


# -- NumPy ---------------------------------------------------------------------------------------


def of_arrays(replacement: Function, recording: Recording, native: Function) -> Function:
    """`native`, in place of which `own` takes recording arrays."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return (replacement if recording.holds_own([*args, kwargs]) else native)(*args, **kwargs)

    return call


def computed(function: Function, recording: Recording, native: Function) -> Function:
    """`native`, in place of which the frontend's function takes recording arrays."""
    call = lambda *args, **kwargs: recording.call(function, args, kwargs)  # noqa: E731
    return of_arrays(call, recording, native)


def of_lists(function: Function, recording: Recording, native: Function) -> Function:
    """`native`, in place of which `function` takes lists of arrays.

    NumPy asks arrays among the arguments for their protocol; in a list it reads their elements.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        if any(map(recording.is_own, values)) or not recording.holds_own(values):
            return native(*args, **kwargs)
        return recording.call(function, args, kwargs)

    return call


class Ufunc:
    """A ufunc of NumPy that takes lists of arrays."""

    def __init__(self, function: Any, recording: Recording, native: np.ufunc) -> None:
        self._native, self._function, self._recording = native, function, recording

    @property
    def __class__(self) -> type:
        return np.ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return of_lists(self._function, self._recording, self._native)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._native, name)
        if name in ("accumulate", "outer", "reduce", "reduceat"):
            return of_lists(getattr(self._function, name), self._recording, attribute)
        return attribute


class Grid:
    """An object such as ``np.r_`` that makes recording arrays."""

    def __init__(self, function: Any, recording: Recording, native: Any) -> None:
        self._native, self._function, self._recording = native, function, recording

    def __getitem__(self, key: Any) -> Any:
        if not patching.is_tracing():
            return self._native[key]
        return self._recording.call(self._function.__getitem__, (key,), {})


def creation(function: Function, recording: Recording, native: Function) -> Function:
    def create(*args: Any, **kwargs: Any) -> Any:
        caller = _calling_package()
        if caller == "nestarray" or (
            caller in ("numpy", "scipy") and not recording.holds_own(args)
        ):
            return native(*args, **kwargs)
        first: Any = args[0] if args else None
        if native.__name__.startswith("as") and recording.is_own(first):
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


def vectorized(recording: Recording, native: Function) -> Function:
    """The call of ``np.vectorize(function)``: mapped, or element by element if that reads values."""

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
    operands = [recording.call(frontend.asarray, (x,), {}) for x in args]
    arrays = np.broadcast_arrays(*operands)
    shape = arrays[0].shape
    elements = [vectorized.pyfunc(*[x[i] for x in arrays]) for i in np.ndindex(*shape)]
    is_single = not isinstance(elements[0], tuple)
    several = [elements] if is_single else zip(*elements, strict=True)
    results = [
        recording.call(frontend.array, (list(x), dtype), {}).reshape(shape)
        for x, dtype in zip(several, vectorized.otypes or [None] * len(elements), strict=False)
    ]
    return results[0] if is_single else tuple(results)


# -- random numbers ------------------------------------------------------------------------------

GENERATORS = (np.random.Generator, np.random.RandomState)


def drawn_by(recording: Recording, native: Function) -> Function:
    return functools.partial(drawn, recording, native)


def default_rng(recording: Recording, native: Function) -> Function:
    return lambda *args: RecordedGenerator(native(*args), recording)


def generator_class(recording: Recording, native: type) -> type:
    return _GeneratorClass(native.__name__, (), {"native": native, "recording": recording})


class _GeneratorClass(type):
    """The class of a generator of NumPy, which makes generators of recording arrays."""

    native: type
    recording: Recording

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        generator = cls.native(*args, **kwargs)
        return RecordedGenerator(generator, cls.recording) if patching.is_tracing() else generator

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.native)


# -- math and SciPy ------------------------------------------------------------------------------


def of_math(name: str, recording: Recording, native: Function) -> Function:
    if name in SPECIAL:
        replacement: Any = functools.partial(_special, recording, f"scipy.special.{SPECIAL[name]}")
    elif name == "log":
        replacement = _log
    elif name in TO_INTEGERS:
        replacement = functools.partial(_rounded, getattr(np, name))
    else:
        replacement = functools.partial(_of_floats, getattr(np, name))
    return of_arrays(replacement, recording, native)


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


def of_scipy(name: str, recording: Recording, native: Function) -> Function:
    replacement = lambda *args, **kwargs: recording.call(recording.scipy(name), args, kwargs)  # noqa: E731
    return of_arrays(replacement, recording, native)


# -- generators ---------------------------------------------------------------------------------


class RecordedGenerator:
    """A generator of NumPy that returns recording arrays."""

    def __init__(self, native: Any, recording: Recording) -> None:
        self._native, self._recording = native, recording

    @property
    def __class__(self) -> type:
        return type(self._native)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._native, name)
        return partial(drawn, self._recording, found) if callable(found) else found


def drawn(recording: Recording, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a method of a generator, with recording arrays.

    An array of the code is permuted as NumPy permutes its positions.
    """
    if args and recording.is_own(args[0]) and method.__name__ in _SELECTIONS:
        x, *others = args
        if x.ndim:
            return _selected(x, method, others, **kwargs)
        args = (int(x), *others)
    found = method(*args, **kwargs)
    return recording.wrapped(found) if isinstance(found, np.ndarray) else found


_SELECTIONS = ("choice", "permutation", "shuffle")


def _selected(
    x: Any, method: Callable[..., Any], others: list[Any], *, axis: int = 0, **kwargs: Any
) -> Any:
    if method.__name__ != "shuffle":
        return x.take(method(x.shape[axis], *others, **kwargs), axis)
    order = np.arange(x.shape[axis])
    method(order)
    x[...] = x.take(order, axis)
    return None
