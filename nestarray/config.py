"""The default backend, and whether ops on trees are compiled.

The default backend is what functions without an array argument build arrays of. Each setting
is a process-wide default (`set_backend`) under a context-local override (`use_backend`):
threads and asyncio tasks never see each other's override.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from nestarray.dynamo import ContextVariable
from nestarray.errors import ArgumentError

BACKENDS = ("numpy", "jax", "torch", "tensorflow")

_override: ContextVariable[str | None] = ContextVariable("nestarray_backend", default=None)
_default: str = "numpy"

_compile_override: ContextVariable[bool | None] = ContextVariable(
    "nestarray_compiled_trees", default=None
)
_compile_default: bool = True


def check_backend_name(name: object) -> str:
    """Return `name` if it names a backend.

    Raises:
        ArgumentError: `name` is none of ``numpy, jax, torch, tensorflow``.
    """
    if name in BACKENDS:
        return str(name)
    raise ArgumentError(f"backend: got {name!r}, expected one of {', '.join(BACKENDS)}")


def set_backend(name: str) -> None:
    """Make `name` the backend of functions that take no array, process-wide.

    Example:
        >>> import nestarray as na
        >>> na.set_backend("numpy")
        >>> type(na.zeros((2,))).__name__
        'ndarray'
    """
    global _default
    _default = check_backend_name(name)


def current_backend() -> str:
    """The name of the backend that functions without an array argument use now.

    Example:
        >>> import nestarray as na
        >>> na.current_backend()
        'numpy'
    """
    return _override.get() or _default


@contextlib.contextmanager
def use_backend(name: str) -> Iterator[None]:
    """Use backend `name` inside a ``with`` block, for this thread or task only.

    Example:
        >>> import nestarray as na
        >>> with na.use_backend("numpy"):
        ...     x = na.ones((2,))
    """
    token = _override.set(check_backend_name(name))
    try:
        yield
    finally:
        _override.reset(token)


def set_compiled_trees(enabled: bool) -> None:
    """Whether ops on large Containers may run as one compiled call, process-wide; they do at first.

    On JAX and TensorFlow an elementwise op that is called again and again on Containers of many
    leaves is compiled for all of them. The values are those of a call leaf by leaf.

    Args:
        enabled: False always goes leaf by leaf.

    Example:
        >>> import nestarray as na
        >>> na.set_compiled_trees(False)
        >>> na.compiles_trees()
        False
        >>> na.set_compiled_trees(True)
    """
    global _compile_default
    _compile_default = _check_flag("set_compiled_trees", enabled)


def compiles_trees() -> bool:
    """Whether ops on large Containers may run as one compiled call now.

    Example:
        >>> import nestarray as na
        >>> na.compiles_trees()
        True
    """
    override = _compile_override.get()
    return _compile_default if override is None else override


@contextlib.contextmanager
def use_compiled_trees(enabled: bool) -> Iterator[None]:
    """Let ops on large Containers run compiled, or not, inside a ``with`` block, for this thread only.

    Args:
        enabled: see `set_compiled_trees`.

    Example:
        >>> import nestarray as na
        >>> with na.use_compiled_trees(False):
        ...     na.compiles_trees()
        False
    """
    token = _compile_override.set(_check_flag("use_compiled_trees", enabled))
    try:
        yield
    finally:
        _compile_override.reset(token)


def _check_flag(name: str, enabled: object) -> bool:
    if isinstance(enabled, bool):
        return enabled
    raise ArgumentError(f"{name}: enabled: got {enabled!r}, expected True or False")
