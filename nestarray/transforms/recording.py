"""The recorder that replaces the backend's control flow while code is recorded as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

#: The recorder of this context.
_recorder: ContextVar[Any] = ContextVar("nestarray_control_flow", default=None)
#: Whether loops end after a step in this context.
_takes_single_steps: ContextVar[bool] = ContextVar("nestarray_single_steps", default=False)
#: The recorders of all threads: empty for torch.compile, which cannot read a context variable.
_recordings: list[Any] = []


@contextmanager
def recording(recorder: Any) -> Iterator[None]:
    """Call `recorder` for control flow and `vmap`, in place of the backend; None restores the backend."""
    token = _recorder.set(recorder)
    _recordings.append(recorder)
    try:
        yield
    finally:
        _recordings.remove(recorder)
        _recorder.reset(token)


def current_recorder() -> Any:
    """The recorder of the running code, or None."""
    return _recorder.get() if _recordings else None


@contextmanager
def single_steps() -> Iterator[None]:
    """End each `while_loop` after one step: on zeros, which only determine shapes, it may not end."""
    token = _takes_single_steps.set(True)
    try:
        yield
    finally:
        _takes_single_steps.reset(token)


def takes_single_steps() -> bool:
    """Whether the running code takes one step of each `while_loop`."""
    return bool(_recordings) and _takes_single_steps.get() and _recorder.get() is None
