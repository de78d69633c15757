"""Workarounds for NumPy code: functions that ask their arguments for no protocol.

- functions that make arrays (``np.zeros``, ``np.r_``, ``np.random.normal``) return recording arrays;
- functions and ufuncs of NumPy take lists of arrays, whose elements NumPy would read;
- functions of `math` and SciPy, ``np.nditer`` and functions of ``np.vectorize`` take recording arrays.

Attributes of these packages are replaced in the thread that records. The user's modules are not
changed: a function whose module has imported one of these functions by name is run as a copy.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

import numpy as np

from nestarray.frontends import numpy as frontend
from nestarray.importers.numpy import replacements, scipy_functions
from nestarray.importers.numpy.copies import with_globals
from nestarray.importers.numpy.iteration import NdIter, enumerated
from nestarray.importers.numpy.recording import Recording
from nestarray.importers.numpy.replacements import RecordedGenerator
from nestarray.importers.patching import patched
from nestarray.importers.workarounds import Workaround, resolve

#: Functions of NumPy that make arrays without an array among their arguments.
CREATION = (
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty",
    "eye", "fromfunction", "frompyfunc", "full", "geomspace", "identity", "indices", "linspace",
    "logspace", "meshgrid", "ones", "tri", "zeros",
)  # fmt: skip


@contextlib.contextmanager
def applied(recording: Recording, source: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Apply the workarounds for one run.

    Returns:
        the function to run in place of `source`.
    """
    records = [*WORKAROUNDS, of_scipy(tuple(scipy_functions.imported()))]
    natives = {id(resolve(name)): name for each in records for name in each.attributes}
    with contextlib.ExitStack() as stack:
        for each in records:
            stack.enter_context(each.applied(recording))
        names: dict[str, Any] = {}
        module = getattr(inspect.unwrap(source), "__globals__", {})
        for name, x in module.items():
            if id(x) in natives:
                names[name] = resolve(natives[id(x)])
            elif isinstance(x, replacements.GENERATORS):
                names[name] = RecordedGenerator(x, recording)
        if recording.has_open_sizes and "len" not in module:
            names["len"] = functools.partial(_length, recording)
        yield with_globals(source, names) if names else source


def _length(recording: Recording, x: Any) -> Any:
    """``len(x)``, which Python makes a number; a size may be open."""
    return x.shape[0] if recording.is_own(x) and x.ndim else len(x)


@contextlib.contextmanager
def _unchanged_in_compiled_code(recording: Recording) -> Iterator[None]:
    """Extension modules keep NumPy's own functions."""
    native = types.SimpleNamespace(**vars(np))
    with patched(*[(module, "np", native) for module in _compiled_modules()]):
        yield


def _compiled_modules() -> Iterator[Any]:
    """Extension modules that import NumPy as ``np``, such as the generators of `numpy.random`."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        is_compiled = str(names.get("__file__")).endswith(tuple(EXTENSION_SUFFIXES))
        if is_compiled and names.get("np") is np:
            yield module


def _of_frontend() -> Iterator[tuple[str, Any, Any]]:
    """(name, native, function of the frontend) of functions that take arrays."""
    for home, own in ((np, frontend), (np.linalg, frontend.linalg), (np.fft, frontend.fft)):
        for name, native in vars(home).items():
            function = getattr(own, name, None)
            if function is None or name in CREATION or not hasattr(native, "__name__"):
                continue
            if callable(native) and not isinstance(native, type):
                yield f"{home.__name__}.{name}", native, function


_COMPILED = Workaround(
    name="callers in compiled code",
    cause="compiled code calls NumPy's functions without a frame, and seems to be its caller",
    context=_unchanged_in_compiled_code,
)

_CREATIONS = Workaround(
    name="new arrays",
    cause="functions that make arrays have no argument to ask for a protocol",
    attributes={
        f"numpy.{name}": functools.partial(replacements.creation, getattr(frontend, name))
        for name in CREATION
    }
    | {
        f"numpy.{name}": functools.partial(replacements.Grid, getattr(frontend, name))
        for name in ("c_", "mgrid", "ogrid", "r_")
    },
)

_LISTS = Workaround(
    name="lists of arrays",
    cause="NumPy reads the elements of a list, and asks them for no protocol",
    attributes={
        name: functools.partial(
            replacements.Ufunc if isinstance(native, np.ufunc) else replacements.of_lists, function
        )
        for name, native, function in _of_frontend()
    },
)

_ELEMENTS = Workaround(
    name="elements of arrays",
    cause="functions that take arrays apart ask them for no protocol",
    attributes={
        "numpy.vectorize.__call__": replacements.vectorized,
        "numpy.nditer": functools.partial(replacements.of_arrays, NdIter),
        "numpy.ndenumerate": functools.partial(replacements.of_arrays, enumerated),
        "numpy.lib.stride_tricks.as_strided": functools.partial(
            replacements.computed, frontend.lib.stride_tricks.as_strided
        ),
    },
)

_RANDOM = Workaround(
    name="random numbers",
    cause="generators return arrays of NumPy",
    attributes={
        f"numpy.random.{name}": replacements.drawn_by
        for name, native in vars(np.random).items()
        if isinstance(getattr(native, "__self__", None), np.random.RandomState)
    }
    | {"numpy.random.default_rng": replacements.default_rng}
    | {
        f"numpy.random.{native.__name__}": replacements.generator_class
        for native in replacements.GENERATORS
    },
)

_MATH = Workaround(
    name="functions of math",
    cause="they make a number of their argument",
    attributes={
        f"math.{name}": functools.partial(replacements.of_math, name)
        for name in vars(math)
        if name in replacements.SPECIAL
        or name in replacements.TO_INTEGERS
        or isinstance(getattr(np, name, None), np.ufunc)
    },
)

#: In the order in which they apply.
WORKAROUNDS = (_COMPILED, _CREATIONS, _LISTS, _ELEMENTS, _RANDOM, _MATH)


@functools.cache
def of_scipy(names: tuple[str, ...]) -> Workaround:
    """The workaround for functions of SciPy, by their names."""
    return Workaround(
        name="functions of SciPy",
        cause="they ask their arguments for no protocol",
        attributes={name: functools.partial(replacements.of_scipy, name) for name in names},
    )
