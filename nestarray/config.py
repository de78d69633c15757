"""The default backend: what functions without an array argument build arrays of.

A process-wide default (`set_backend`) under a context-local override
(`use_backend`): threads and asyncio tasks never see each other's override.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from nestarray.errors import ArgumentError

BACKENDS = ("numpy", "jax", "torch", "tensorflow")

_override: ContextVar[str | None] = ContextVar("nestarray_backend", default=None)
_default: str = "numpy"


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
