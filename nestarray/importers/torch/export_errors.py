"""Advice for errors of ``torch.export``, by patterns in their messages."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import torch

from nestarray.graph.builder import line_name

PACKAGE = str(Path(__file__).parents[2])
_ADAPTER = str(Path(__file__).with_name("exporting.py"))  # its forward calls the module

#: Errors that torch or the module also raise without the exporter.
_ORDINARY = (
    *(TypeError, ValueError, RuntimeError, AttributeError, LookupError, AssertionError),
    NameError,
)

_BY_ITSELF = "See whether the call works by itself: net(*args, **kwargs)"
_OTHERWISE = (
    "Check the call with torch.export.export(net, args, kwargs); control flow that depends on "
    "values must be written with torch.cond or torch.where"
)

#: torch's message about data-dependent code → (description, advice).
_BY_VALUE: tuple[tuple[str, str, str], ...] = (
    (
        "Could not guard on data-dependent",
        "a choice by a value",
        "Write it with torch.where, or with torch.cond where one side alone may run; float(x) of an "
        "array is x itself; what is always so is said with torch._check. A check, an assert or an if that "
        "only raises or prints, is dropped by itself",
    ),
    (
        "Could not extract specialized integer from data-dependent",
        "a number that a value decides",
        "x.item() of an integer may be a size as it is, without int(); else pass the number as an "
        "int, which a graph keeps as it is traced (num_classes= of one_hot); a loop of as many steps "
        "is torch.while_loop",
    ),
    (
        "DataDependentOutputException",
        "a number or a bool that values decide",
        "Stay with arrays: torch.all(x == y) in place of torch.ops.aten.equal(x, y)",
    ),
    (
        "DynamicOutputShapeException",
        "a result whose sizes values decide, of an operation that torch.export does not know so",
        "Compute it outside of the module, or by operations whose sizes are known",
    ),
)

#: A pattern in torch's message → the advice; the first match is used.
_ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"on the same device",
        "Bring the module and its arguments to one device: net.to(x.device)",
    ),
    (
        r"\.numpy\(\) is not supported",
        "NumPy cannot compute on values that are not known while a module is traced: use torch's "
        "function, torch.tanh(x) in place of np.tanh(x)",
    ),
    (
        r"FakeTensor\.__format__",
        "A value is not known while a module is traced: make a text of it, or print it, only if "
        "not torch.compiler.is_compiling()",
    ),
    (
        r"numpy\.ndarray|ArrayImpl|EagerTensor",
        'Give torch tensors as examples: na.to_backend(x, "torch")',
    ),
    (
        r"Unsupported input type",
        "Arguments are tensors, numbers, strings, None, and lists, tuples and dicts of these; "
        "register a dataclass once with torch.export.register_dataclass(cls), and make whatever "
        "else is a setting an attribute of the module",
    ),
    (
        r"UninitializedParameter|uninitialized parameter",
        "Call the module once, so that its lazy layers have shapes",
    ),
)


def advice(error: Exception) -> str:
    """Advice for a failed export: one sentence without a full stop."""
    message = _text(error)
    known = next((text for pattern, text in _ADVICE if re.search(pattern, message)), "")
    is_ordinary = type(error).__module__ == "builtins" and isinstance(error, _ORDINARY)
    return known or (_BY_ITSELF if is_ordinary else _OTHERWISE)


def data_dependent_advice(error: Exception) -> str:
    """Description, line and advice for data-dependent code; "" for other errors."""
    message = _text(error)
    advice = next(((what, do) for words, what, do in _BY_VALUE if words in message), None)
    if advice is None:
        return ""
    what, do = advice
    line = line_of(error)
    return f"{what}{f': {line}' if line else ''}. {do}"


def line_of_forward() -> str:
    """The line of the traced module that is running; empty outside of its forward."""
    frames = traceback.extract_stack()
    places = [i for i, frame in enumerate(frames) if frame.filename == _ADAPTER]
    return _innermost(traceback.StackSummary.from_list(frames[places[-1] :])) if places else ""


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def line_of(error: Exception) -> str:
    """The innermost line of user code: ``"y = x.item() (net.py:12)"``.

    Without user code, the line of the torch module that failed.
    """
    return _innermost(traceback.extract_tb(error.__traceback__))


def _innermost(frames: traceback.StackSummary) -> str:
    foreign = (str(Path(torch.__file__).parent), PACKAGE, "<")
    users = [frame for frame in frames if not frame.filename.startswith(foreign)]
    layers = [f for f in frames if f.name == "forward" and not f.filename.startswith(PACKAGE)]
    frame = next(iter([*reversed(users), *reversed(layers)]), None)
    if frame is None:
        return ""
    at = line_name(frame.filename, frame.lineno or 0)
    return f"{frame.line} ({at})" if frame.line else at
