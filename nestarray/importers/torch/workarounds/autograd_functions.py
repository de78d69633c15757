"""``torch.autograd.Function`` in a traced module: custom gradients in the graph.

``torch.export`` traces ``forward`` and drops ``backward``. A backward is linear in the incoming
gradient g: it returns B g. During the trace ``apply`` returns

    forward(x) + (s - stop_gradient(s)),    s = Bᵀ x,

with the value of ``forward`` and the gradient B g, in ordinary operations; autograd computes Bᵀ x
by transposing ``backward``. B is treated as independent of x, so second derivatives through the
function are zero. An infinite x may make s infinite and the value NaN.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.autograd.function
from torch.utils._pytree import tree_map_only
from torch.utils.checkpoint import CheckpointFunction

from nestarray.errors import Refused
from nestarray.errors.foreign import foreign
from nestarray.importers.torch.aliases import is_inexact
from nestarray.importers.torch.places import origin
from nestarray.importers.torch.selection import mentions
from nestarray.importers.workarounds import Workaround

#: Packages whose functions the exporter reads itself, such as higher-order operations.
_RECORDED = ("torch._", "torch.utils.", "torch.distributions.", "nestarray.")

#: Value of g in the computation of s. The transpose of a linear backward does not read it.
_MARK = 0.5772156649015329


class _Context:
    """Values saved by ``forward`` for ``backward``."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()
        self.constant: set[int] = set()  # identities of outputs without a gradient

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    save_for_forward = save_for_backward

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.constant = {id(x) for x in tensors}

    def set_materialize_grads(self, value: bool) -> None:
        """Gradients are always materialized."""

    def mark_dirty(self, *_: Any) -> None:
        raise Refused(
            "a torch.autograd.Function writes into its input (ctx.mark_dirty), and a graph changes no "
            "array",
            "trace_graph",
            "return a new tensor",
        )


def _apply_with_gradient(trace: Any, original: Any) -> Any:
    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if cls is CheckpointFunction:  # its forward disables gradients
            function, _, *inputs = args
            return function(*inputs)
        if cls.__module__.startswith(_RECORDED):
            return original.__get__(None, cls)(*args, **kwargs)
        if any(isinstance(x, torch.nn.Module) for x in args):
            # it saves memory for layers, and its backward reads their parameters by side effect;
            # the gradient equals the ordinary gradient of its forward
            return cls.forward(_Context(tuple(is_inexact(x) for x in args)), *args, **kwargs)
        return _apply(cls, args, kwargs)

    return classmethod(apply)


def _has_functions(trace: Any) -> bool:
    """Whether a program may call a custom function: of another package, or of a layer of torch.

    A module in training may also checkpoint its activations, by a function of torch.
    """
    layers = (torch.nn.CrossMapLRN2d, torch.nn.SyncBatchNorm)
    return (
        trace.module.training
        or mentions(trace.module, ["checkpoint"])
        or any(isinstance(part, layers) for part in trace.module.modules())
        or any(
            not cls.__module__.startswith(("torch.", "nestarray."))
            for cls in _subclasses(torch.autograd.Function)
        )
    )


def _subclasses(cls: Any) -> Iterator[Any]:
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)


def _apply(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with torch.no_grad():
        given = tuple([x.detach() if isinstance(x, torch.Tensor) else x for x in args])
        context, output = _forward(function, given, kwargs)
    if not torch.is_grad_enabled() or not any(context.needs_input_grad):
        return output
    outputs = output if isinstance(output, tuple) else (output,)
    moves = [is_inexact(y) and id(y) not in context.constant for y in outputs]
    with torch.enable_grad():
        marks: list[Any] = [
            torch.full_like(y, _MARK).requires_grad_() if is_inexact(y) else None for y in outputs
        ]
        found = _backward(function)(context, *marks)
        found = found if isinstance(found, tuple) else (found,)
        pairs = [
            (g, x) for g, x in zip(found, args) if isinstance(g, torch.Tensor) and is_inexact(x)
        ]
        if not all(g.requires_grad for g, _ in pairs):
            raise Refused(
                f"the backward of {function.__name__} does not use the gradient that it gets",
                "trace_graph",
                "multiply by it, and return None where there is no gradient",
            )
        if pairs and not _is_linear(function, args, kwargs):
            what = f"the backward of {function.__name__} is not linear in"
            raise _not_linear(what, "trace_graph")
        wanted = [g for g, move in zip(marks, moves, strict=True) if move]
        if not pairs or not wanted:
            return output
        linear = iter(
            torch.autograd.grad(
                [g for g, _ in pairs],
                wanted,
                [x.to(g.dtype) for g, x in pairs],
                create_graph=True,
                allow_unused=True,
            )
        )
        results = []
        for y, move in zip(outputs, moves, strict=True):
            s = next(linear) if move else None
            results.append(y if s is None else y + (s - s.detach()))
    return tuple(results) if isinstance(output, tuple) else results[0]


def _forward(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[_Context, Any]:
    context = _Context(tuple(is_inexact(x) for x in args))
    if function.setup_context is torch.autograd.Function.setup_context:
        return context, function.forward(context, *args, **kwargs)
    output = function.forward(*args, **kwargs)
    function.setup_context(context, args, output)
    return context, output


def _backward(function: Any) -> Any:
    """``backward``, without the ``once_differentiable`` that disables gradients in it."""
    backward = function.backward
    if getattr(backward, "__globals__", None) is vars(torch.autograd.function):
        return backward.__wrapped__
    return backward


def _is_linear(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether ``backward`` is linear at random numbers: B 0 = 0 and B (g + 2h) = B g + 2 B h.

    True if the function cannot be called on them. The trace itself has no numbers.
    """
    from torch.utils._python_dispatch import _disable_current_modes

    def drawn(x: Any, draw: Callable[..., Any]) -> Any:
        sizes = [int(n.node.hint) if hasattr(n, "node") else n for n in x.shape]
        if is_inexact(x):
            return torch.as_tensor(draw(sizes)).to(x.dtype)
        return torch.ones(sizes, dtype=x.dtype)

    def positive(sizes: list[int]) -> Any:
        return np.random.default_rng(0).random(sizes) + 0.25

    with _disable_current_modes(), torch.no_grad(), contextlib.suppress(Refused), foreign():
        inputs = tree_map_only(torch.Tensor, lambda x: drawn(x, positive), args)
        context, output = _forward(function, inputs, kwargs)
        outputs = output if isinstance(output, tuple) else (output,)

        def backward(scale: float, shift: float) -> list[Any]:
            draw = np.random.default_rng(1).standard_normal
            marks = [drawn(y, draw) if is_inexact(y) else None for y in outputs]
            others = [None if g is None else g.flip(tuple(range(g.ndim))) for g in marks]
            mixed = [
                None if g is None or h is None else 8 * (scale * g + shift * h)
                for g, h in zip(marks, others, strict=True)
            ]
            slopes = function.backward(context, *mixed)
            slopes = slopes if isinstance(slopes, tuple) else (slopes,)
            return [g for g in slopes if isinstance(g, torch.Tensor)]

        both, first, second, zero = backward(1, 2), backward(1, 0), backward(0, 1), backward(0, 0)
        for b, g, h, z in zip(both, first, second, zero, strict=True):
            size = (g.abs() + 2 * h.abs()).max()
            bound = 64 * torch.finfo(b.dtype).eps * size
            error = torch.maximum((b - g - 2 * h).abs().max(), z.abs().max())
            if error > bound:  # False for NaN
                return False
    return True


def check_linear(program: Any) -> None:
    """Raise if a custom gradient is not linear in the incoming gradient, such as clipping."""
    for node in program.graph.nodes:
        if node.op == "call_function" and _MARK in node.args and node.users:
            line = next((part for part in origin(node)[::-1] if part), "")
            what = f"calls a torch.autograd.Function ({line}) whose backward is not linear in"
            raise _not_linear(what)


def _not_linear(what: str, place: str = "") -> Refused:
    return Refused(
        f"{what} the gradient that it gets, such as a clipped or rounded gradient",
        place,
        "change the gradients where they are used",
    )


AUTOGRAD_FUNCTIONS = Workaround(
    "torch.autograd.Function",
    "torch.export traces forward and drops backward",
    issue="pytorch#106388",
    attributes={"torch.autograd.Function.apply": _apply_with_gradient},
    is_needed=_has_functions,
)
