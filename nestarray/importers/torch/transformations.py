"""Whether torch's transformations and forward mode are active.

torch has no public function for it. Without the private ones the answer is no.
"""

from __future__ import annotations


def in_functorch() -> bool:
    """Whether a call is inside of ``torch.func.vmap``, ``grad``, ``jvp`` or the like."""
    try:
        from torch._C._functorch import peek_interpreter_stack
    except ImportError:
        return False
    return peek_interpreter_stack() is not None


def in_forward_mode() -> bool:
    """Whether a call is inside of a dual level of ``torch.autograd.forward_ad``."""
    from torch.autograd import forward_ad

    return getattr(forward_ad, "_current_level", -1) >= 0


def in_transformation() -> bool:
    """Whether a call is inside of a transformation or a dual level."""
    return in_forward_mode() or in_functorch()


def in_derivative() -> bool:
    """Whether a call is inside of a derivative of ``torch.func``."""
    if not in_functorch():
        return False
    from torch._C._functorch import TransformType, get_interpreter_stack

    derivatives = (TransformType.Grad, TransformType.Jvp)
    return any(each.key() in derivatives for each in get_interpreter_stack() or ())
