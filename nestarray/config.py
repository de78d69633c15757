"""The default backend, and whether ops on trees are compiled.

Functions without array arguments create arrays of the default backend. Each setting is a
process-wide default (`set_backend`) with a context-local override (`use_backend`), which other
threads and asyncio tasks do not see.
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
    """Return `name` if it is the name of a backend.

    Raises:
        ArgumentError: `name` is not one of ``numpy, jax, torch, tensorflow``.
    """
    if name in BACKENDS:
        return str(name)
    raise ArgumentError(f"backend: got {name!r}, expected one of {', '.join(BACKENDS)}")


def set_backend(name: str) -> None:
    """Set the default backend of the process, for functions without array arguments.

    Example:
        >>> import nestarray as na
        >>> na.set_backend("numpy")
        >>> type(na.zeros((2,))).__name__
        'ndarray'
    """
    global _default
    _default = check_backend_name(name)


def current_backend() -> str:
    """The name of the present default backend.

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
    """Whether ops on large Containers may run as one compiled call, process-wide; default True.

    On JAX and TensorFlow, repeated elementwise ops on Containers of many leaves are compiled
    into one call for all leaves. The results equal the results of separate calls.

    Args:
        enabled: False always calls the op for each leaf.

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
    """Whether ops on large Containers may presently run as one compiled call.

    Example:
        >>> import nestarray as na
        >>> na.compiles_trees()
        True
    """
    override = _compile_override.get()
    return _compile_default if override is None else override


@contextlib.contextmanager
def use_compiled_trees(enabled: bool) -> Iterator[None]:
    """Enable or disable compiled ops on large Containers inside a ``with`` block, for this thread.

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
