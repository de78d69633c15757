"""The default backend, on which functions without an array argument create arrays.

It is a process-wide default (`set_backend`) with a context-local override (`use_backend`), which
other threads and asyncio tasks do not see.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from nestarray.dynamo import ContextVariable
from nestarray.errors import ArgumentError

BACKENDS = ("numpy", "jax", "torch", "tensorflow")

_override: ContextVariable[str | None] = ContextVariable("nestarray_backend", default=None)
_default: str = "numpy"


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
