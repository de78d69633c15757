"""What to do when ``torch.export`` gives up, by the words of its reason."""

from __future__ import annotations

import os
import re

_OTHERWISE = (
    "Check the call with torch.export.export(net, args, kwargs); control flow that depends on "
    "values must be written with torch.cond or torch.where"
)

#: torch's words for a program that its values decide → what it is, and what to do.
_BY_VALUE: tuple[tuple[str, str, str], ...] = (
    (
        "Could not guard on data-dependent",
        "a choice by a value",
        "Write it with torch.where, or with torch.cond where one side alone may run; what is always "
        "so is said with torch._check, and a check of values is left out where "
        "not torch.compiler.is_compiling()",
    ),
    (
        "Could not extract specialized integer from data-dependent",
        "a number that a value decides",
        "x.item() of an integer may be a size as it is, without int(); else pass the number as an "
        "int, which a graph keeps as it is traced (num_classes= of one_hot); a loop of as many steps "
        "is torch.while_loop",
    ),
)

#: A pattern in torch's message → the advice; the first that is found counts.
_ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"on the same device",
        "Bring the module and its arguments to one device: net.to(x.device)",
    ),
    (
        r"numpy\.ndarray",
        "Give torch tensors as examples: torch.as_tensor(x)",
    ),
    (
        r"Unsupported input type",
        "Arguments are tensors, numbers, strings, None, and lists, tuples and dicts of these; "
        "register a dataclass once with torch.export.register_dataclass(cls), and make whatever "
        "else is a setting an attribute of the module",
    ),
    (
        r"fake tensor in the exported program constant",
        "A tensor was taken out of the program, as x.data does; write x.detach(). Or forward calls "
        "torch.autograd.grad: trace what it differentiates, and take na.grad of the graph",
    ),
    (
        r"UninitializedParameter|uninitialized parameter",
        "Call the module once, so that its lazy layers have shapes",
    ),
    (
        r"functorch",
        "Trace what is differentiated, and take na.grad of the graph",
    ),
)


def advice(message: str) -> str:
    """What to do about a failed export, as one sentence without its full stop."""
    return next((text for pattern, text in _ADVICE if re.search(pattern, message)), _OTHERWISE)


def by_value(message: str) -> str:
    """What was wrong and what to do where values decide the program, with the line; else ""."""
    found = next(((what, do) for words, what, do in _BY_VALUE if words in message), None)
    frames = re.findall(r'File "([^"]+)", line (\d+), in .*\n\s*(.+)', message)
    # where no tensor was called, as by int(), torch names the line alone
    frames = frames or re.findall(r"Caused by: \((\S+):(\d+) in ()", message)
    if found is None or not frames:
        return ""
    what, do = found
    path, line, code = frames[-1]
    at = f"{os.path.basename(path)}:{line}"
    return f"{what}: {f'{code.strip()} ({at})' if code else at}. {do}"
