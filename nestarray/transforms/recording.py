"""The recorder that replaces the backend's control flow while code is recorded as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nestarray.dynamo import ContextVariable

#: The recorder of this context.
_recorder: ContextVariable[Any] = ContextVariable("nestarray_control_flow", default=None)
#: Whether loops end after a step in this context.
_takes_single_steps: ContextVariable[bool] = ContextVariable(
    "nestarray_single_steps", default=False
)


@contextmanager
def recording(recorder: Any) -> Iterator[None]:
    """Call `recorder` for control flow and `vmap`, in place of the backend; None restores the backend."""
    with _recorder.being(recorder):
        yield


def current_recorder() -> Any:
    """The recorder of the running code, or None."""
    return _recorder.get()


@contextmanager
def single_steps() -> Iterator[None]:
    """End each `while_loop` after one step: on zeros, which only determine shapes, it may not end."""
    with _takes_single_steps.being(True):
        yield


def takes_single_steps() -> bool:
    """Whether the running code takes one step of each `while_loop`."""
    return _takes_single_steps.get() and _recorder.get() is None
