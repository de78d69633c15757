"""The four backends: the framework of a type, and the native function of an op.

A backend is a package ``backends/<name>`` with the same chapter files as ``ops``. It
supplies or overrides an op by defining the same name in the same-named file.
`nestarray.backends.protocol` documents the other files. A framework is imported with the first
array of its type, or when a caller names it.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from nestarray import lazy_imports, tree
from nestarray.backends import triton as triton
from nestarray.config import BACKENDS, check_backend_name
from nestarray.dtypes import DType
from nestarray.dynamo import cached_constant
from nestarray.errors import ArgumentError, MixedBackendError
from nestarray.typing import NUMBERS


@cached_constant
def core(name: str) -> ModuleType:
    """The ``core`` module of backend `name`; imports the framework.

    Raises:
        MissingFrameworkError: the framework is not installed; names the extra that brings it.
    """
    check_backend_name(name)
    lazy_imports.optional(name, f"backend {name!r} needs", extra=name)
    return importlib.import_module(f"nestarray.backends.{name}.core")


@cached_constant
def chapter(name: str, chapter_name: str) -> Any:
    """``backends/<name>/<chapter>.py``, or None where the backend has no such file."""
    core(name)
    module = f"nestarray.backends.{name}.{chapter_name}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return None


@cached_constant
def backend_of_type(cls: type) -> str | None:
    """The backend whose arrays are of type `cls`, or None."""
    for name in BACKENDS:
        if sys.modules.get(name) is not None and core(name).is_array_type(cls):
            return name
    return None


def widest_float(x: Any) -> DType:
    """float64, or float32 where the framework or the device of `x` lacks float64.

    For a recorded value, the framework is that of its graph, which may be recorded on another one.
    """
    name = backend_of_type(type(x)) or getattr(x, "__graph_backend__", None) or backend_of(x)
    return core(name).widest_float(x)


def is_array(x: Any) -> bool:
    """Whether `x` is an array of one of the frameworks."""
    return backend_of_type(type(x)) is not None


def is_array_or_number(x: Any) -> bool:
    """Whether `x` is an array of one of the frameworks, or a number of Python."""
    return isinstance(x, NUMBERS) or is_array(x)


def backend_of_value(x: Any) -> str | None:
    """The backend of an array or of a recorded value; else None."""
    return backend_of_type(type(x)) or getattr(x, "__traced_backend__", None)


def backend_of(x: Any) -> str:
    """The name of the backend of an array, or of all arrays in a nest.

    Raises:
        ArgumentError: `x` contains no array.
        MixedBackendError: `x` contains arrays of two backends.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.backend_of(np.zeros(3))
        'numpy'
    """
    name = backend_of_value(x) or find_backend(x)
    if name is None:
        raise ArgumentError(
            f"backend_of: got {type(x).__name__}, expected an array of {', '.join(BACKENDS)}, "
            "or a nest that holds one"
        )
    return name


def find_backend(nest: Any) -> str | None:
    """The backend of the arrays in a nest; None without arrays."""
    found: dict[str, Any] = {}
    for leaf in tree.flatten(nest)[0]:
        name = backend_of_type(type(leaf))
        if name is not None:
            found.setdefault(name, leaf)
    if len(found) > 1:
        raise MixedBackendError(mixed_message("this call", list(found)))
    return next(iter(found), None)


def mixed_message(op: str, names: list[str]) -> str:
    """The text for arrays of two frameworks in one call."""
    first, second = names[:2]
    return (
        f"{op}: got arrays of {first} and of {second} in one call. Move one of them first, "
        f'for example with na.to_backend(x, "{first}")'
    )
