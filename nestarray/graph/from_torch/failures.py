"""What to do when ``torch.export`` gives up, by the words of its reason."""

from __future__ import annotations

import re

_OTHERWISE = (
    "Check the call with torch.export.export(net, args, kwargs); control flow that depends on "
    "values must be written with torch.cond or torch.where"
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
        "A tensor was taken out of the program, as x.data does; write x.detach()",
    ),
    (
        r"UninitializedParameter|uninitialized parameter",
        "Call the module once, so that its lazy layers have shapes",
    ),
    (
        r"functorch",
        "Inside of a traced module gradients are taken with torch.autograd.grad, not with torch.func",
    ),
)


def advice(message: str) -> str:
    """What to do about a failed export, as one sentence without its full stop."""
    return next((text for pattern, text in _ADVICE if re.search(pattern, message)), _OTHERWISE)
