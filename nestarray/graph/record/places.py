"""Places in the running code: the user's line, the calling framework, the module of the model."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import dropwhile
from pathlib import Path
from types import FrameType

from nestarray.graph.builder import line_name
from nestarray.nn.module import Module, running_path

_PACKAGE = str(Path(__file__).parents[2])
#: Packages whose lines no message names.
_FRAMEWORKS = frozenset(
    ["equinox", "flax", "haiku", "jax", "keras", "numpy", "tensorflow", "torch"]
)


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def user_line() -> str:
    """``"file.py:12"``, the innermost running line that is not of this library."""
    return line_of(_frames())


def line_of(frames: Iterable[FrameType]) -> str:
    """``"file.py:12"``, the first of these frames that is not of this library or a framework."""
    frame = user_frame(frames)
    return "" if frame is None else line_name(frame.f_code.co_filename, frame.f_lineno)


def user_frame(frames: Iterable[FrameType] | None = None) -> FrameType | None:
    """The first of these frames, or of those that run, that is not of this library or a framework."""
    for frame in _frames() if frames is None else frames:
        is_own = frame.f_code.co_filename.startswith((_PACKAGE, "<"))
        if not is_own and _package_of(frame) not in _FRAMEWORKS:
            return frame
    return None


def calling_library() -> str:
    """The framework whose Python code the innermost call outside of this library is; else empty."""
    return library_of(_frames())


def library_of(frames: Iterable[FrameType]) -> str:
    """The framework of the first of these frames that is not of this library; else empty."""
    outside = (frame for frame in frames if not frame.f_code.co_filename.startswith(_PACKAGE))
    package = next(map(_package_of, outside), "")
    return package if package in _FRAMEWORKS else ""


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def module_path() -> str:
    """The path of the innermost module of the model whose ``forward`` is running."""
    for frame in _frames():
        if frame.f_code.co_name == "forward" and frame.f_code.co_argcount:
            module = frame.f_locals.get(frame.f_code.co_varnames[0])
            path = running_path(module) if isinstance(module, Module) else None
            if path is not None:
                return path
    return ""


def is_call_by_user(library: str) -> bool:
    """Whether the innermost call of a framework is by code that is not of this library."""
    frames = dropwhile(lambda frame: _package_of(frame) != library, _frames())
    caller = next(dropwhile(lambda frame: _package_of(frame) == library, frames), None)
    return caller is not None and not caller.f_code.co_filename.startswith(_PACKAGE)
