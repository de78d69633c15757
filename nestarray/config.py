"""The default backend, on which functions without an array argument create arrays.

It is a process-wide default (`set_backend`) with a context-local override (`use_backend`), which
other threads and asyncio tasks do not see.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nestarray.dynamo import ContextVariable
from nestarray.errors import ArgumentError

BACKENDS = ("numpy", "jax", "torch", "tensorflow")

_override: ContextVariable[tuple[str, Any] | None] = ContextVariable(
    "nestarray_backend", default=None
)
_default: tuple[str, Any] = ("numpy", None)


def check_backend_name(name: object) -> str:
    """Return `name` if it is the name of a backend.

    Raises:
        ArgumentError: `name` is not one of ``numpy, jax, torch, tensorflow``.
    """
    if name in BACKENDS:
        return str(name)
    raise ArgumentError(f"backend: got {name!r}, expected one of {', '.join(BACKENDS)}")


def set_backend(name: str, *, device: Any = None) -> None:
    """Set the default backend of the process, for functions without array arguments.

    Args:
        name: ``"numpy"``, ``"jax"``, ``"torch"`` or ``"tensorflow"``.
        device: the device of new arrays, such as ``"cuda"``; None for the framework's default.

    Example:
        >>> import nestarray as na
        >>> na.set_backend("numpy")
        >>> type(na.zeros((2,))).__name__
        'ndarray'
    """
    global _default
    _default = check_backend_name(name), device


def current_backend() -> str:
    """The name of the present default backend.

    Example:
        >>> import nestarray as na
        >>> na.current_backend()
        'numpy'
    """
    return (_override.get() or _default)[0]


def current_device(backend: str) -> Any:
    """The device of new arrays of `backend`; None for the framework's default."""
    name, device = _override.get() or _default
    return device if name == backend else None


@contextlib.contextmanager
def use_backend(name: str, *, device: Any = None) -> Iterator[None]:
    """Use backend `name` inside a ``with`` block, for this thread or task only.

    Args:
        name: ``"numpy"``, ``"jax"``, ``"torch"`` or ``"tensorflow"``.
        device: the device of new arrays, such as ``"cuda"``; None for the framework's default.

    Example:
        >>> import nestarray as na
        >>> with na.use_backend("torch", device="cpu"):
        ...     x = na.ones((2,))
    """
    with _override.being((check_backend_name(name), device)):
        yield
