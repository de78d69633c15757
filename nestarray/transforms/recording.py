"""The recorder that replaces the backend's control flow while code is recorded as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nestarray.dynamo import ContextVariable

#: The recorder of this context.
_recorder: ContextVariable[Any] = ContextVariable("nestarray_control_flow", default=None)


@contextmanager
def recording(recorder: Any) -> Iterator[None]:
    """Call `recorder` for control flow and `vmap`, in place of the backend; None restores the backend."""
    with _recorder.being(recorder):
        yield


def current_recorder() -> Any:
    """The recorder of the running code, or None."""
    return _recorder.get()
