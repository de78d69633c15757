"""Checks of values in the code of a module, which an export cannot take.

``assert (x == y).all()`` and ``if x.isnan().any(): raise …`` ask for a bool that values decide. A
value that passes leaves no trace in the results. So a bool that only decides whether an error is
raised, or a message is printed, gets the answer of a passed check; the graph is without the check.
"""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from nestarray.graph.builder import line_name
from nestarray.importers.workarounds import Workaround

_PACKAGE = str(Path(__file__).parents[3])
_ADAPTER = str(Path(__file__).parents[1] / "exporting.py")  # its forward calls the module

#: Functions that tell the user something, and return nothing.
_MESSAGES = {
    "print", "warn", "warning", "info", "debug", "error", "critical", "exception", "log",
}  # fmt: skip


class _Check(NamedTuple):
    """The answer of a passed check, and the statement with its line."""

    answer: bool
    text: str


def _check_here() -> _Check | None:
    """The check that asks for a bool now; None if the answer may decide something else."""
    frames = _user_frames()
    is_flipped = False
    for i, frame in enumerate(frames):
        path = _path_to(frame)
        if path is None:
            return None
        at = max(k for k, node in enumerate(path) if isinstance(node, ast.stmt))
        statement, inner = path[at], path[at + 1 :]
        answer = _answer(statement, inner)
        if answer is None and not isinstance(statement, ast.Return):
            return None
        flips = _flips(inner)
        if flips is None and not _is_message(statement):
            return None
        is_flipped ^= bool(flips)
        if answer is None:  # of a function that returns the bool to its caller
            continue
        if not _is_message(statement) and any(map(_is_handled, frames[i:])):
            return None
        line = line_name(frame.f_code.co_filename, statement.lineno)
        return _Check(answer ^ is_flipped, f"{_first_line(statement)} ({line})")
    return None


def _user_frames() -> list[FrameType]:
    """The frames of the traced code, from the innermost one to the module's forward."""
    foreign = (str(Path(torch.__file__).parent) + os.sep, _PACKAGE + os.sep)
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != _ADAPTER:
        if not frame.f_code.co_filename.startswith(foreign):
            frames.append(frame)
        frame = frame.f_back
    return frames


@functools.lru_cache(maxsize=32)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _path_to(frame: FrameType) -> list[Any] | None:
    """The nodes around the expression that a frame evaluates, from the module inwards."""
    filename = frame.f_code.co_filename
    tree = _tree("".join(linecache.getlines(filename, frame.f_globals)))
    position = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if tree is None or position is None or None in position:
        return None
    span = (position[0], position[2]), (position[1], position[3])
    path: list[Any] = [tree]
    while path[-1] is tree or _span(path[-1]) != span:
        inner = next((n for n in ast.iter_child_nodes(path[-1]) if _holds(n, span)), None)
        if inner is None:
            break
        path.append(inner)
    return path if any(isinstance(node, ast.stmt) for node in path) else None


def _span(node: Any) -> Any:
    """Line and column of the start and of the end of a node; None if it has none."""
    if not hasattr(node, "lineno"):
        return None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _holds(node: Any, span: Any) -> bool:
    if isinstance(node, ast.comprehension):
        return any(_holds(part, span) for part in ast.iter_child_nodes(node))
    outer = _span(node)
    return outer is not None and outer[0] <= span[0] and span[1] <= outer[1]


def _answer(statement: Any, inner: list[ast.AST]) -> bool | None:
    """The value of the statement's test with which nothing happens; None if there is none."""
    if _is_message(statement):
        return False
    test = getattr(statement, "test", None)
    if test is None or not inner or inner[0] is not test:
        return None
    if isinstance(statement, ast.Assert):
        return True
    if not isinstance(statement, ast.If):
        return None
    if isinstance(statement.body[-1], ast.Raise):
        return False
    if statement.orelse and isinstance(statement.orelse[-1], ast.Raise):
        return True
    return False if all(map(_is_idle, [*statement.body, *statement.orelse])) else None


def _is_idle(statement: ast.stmt) -> bool:
    """Whether a statement changes no value."""
    if isinstance(statement, ast.If):
        return all(map(_is_idle, [*statement.body, *statement.orelse]))
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, ast.Pass) or _is_message(statement)


def _is_message(statement: Any) -> bool:
    """Whether a statement tells the user something."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    return name in _MESSAGES


def _flips(inner: list[ast.AST]) -> bool | None:
    """Whether a bool is negated on the way to the test; None if the test is another function of it."""
    is_flipped = False
    if not all(map(_keeps_bools, inner[:-1])):
        return None
    for node in inner:
        is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        is_not_in = isinstance(node, ast.Compare) and isinstance(node.ops[-1], ast.NotIn)
        is_flipped ^= is_not or is_not_in
    return is_flipped


def _keeps_bools(node: Any) -> bool:
    """Whether the bool of an expression is the bool of its part, or the negated one."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") in ("bool", "all", "any")
    kinds = (ast.UnaryOp, ast.BoolOp, ast.Compare, ast.GeneratorExp, ast.ListComp)
    return isinstance(node, kinds)


def _is_handled(frame: FrameType) -> bool:
    """Whether a frame would catch an error of the expression that it evaluates."""
    path = _path_to(frame) or []
    return any(
        isinstance(outer, ast.Try) and outer.handlers and inner in outer.body
        for outer, inner in pairwise(path)
    )


def _first_line(statement: ast.AST) -> str:
    text = ast.unparse(statement).partition("\n")[0]
    return text if len(text) <= 80 else f"{text[:77]}..."


# -- the records ------------------------------------------------------------------------------


def _bool_of_tensor(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    def answer(tensor: Any) -> bool:
        return _passed(trace, native, tensor)

    return answer


def _bool_of_number(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    """The bool of a comparison of ``x.item()``; those of sizes are conditions of the graph."""

    def __bool__(self: Any) -> bool:
        return _passed(trace, native, self) if free_unbacked_symbols(self) else native(self)

    return __bool__


def _passed(trace: Any, native: Callable[..., Any], value: Any) -> bool:
    """The bool of a value; that of a passed check, which is noted, where nothing else asks."""
    check = _check_here()
    if check is None:
        return native(value)
    trace.checks[check.text] = None
    return check.answer


def _assert(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    def call(condition: Any, message: str) -> None:
        if isinstance(condition, torch.Tensor):
            trace.checks["torch._assert"] = None
        else:
            native(condition, message)

    return call


def _assert_close(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    def call(actual: Any, expected: Any, **settings: Any) -> None:
        trace.checks["torch.testing.assert_close"] = None

    return call


VALUE_CHECKS = Workaround(
    "checks of values",
    "asserts, and conditions before errors, read values",
    functions={"torch.Tensor.__bool__": _bool_of_tensor, "torch._assert": _assert},
)
CHECKS_OF_NUMBERS = Workaround(
    "checks of numbers",
    "asserts, and conditions before errors, read the values of x.item()",
    attributes={
        "torch.SymBool.__bool__": _bool_of_number,
        "torch.testing.assert_close": _assert_close,
    },
)
