"""One trace of a module: the workarounds that apply to it, and the calls that they replace."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from nestarray.backends.torch.autocast import surrounding
from nestarray.errors import Refused
from nestarray.importers.torch import assignments
from nestarray.importers.torch.size_choices import SizeChoices
from nestarray.importers.torch.workarounds import (
    ATTENTION,
    INFERENCE_MODE,
    VMAP_RULES,
    WORKAROUNDS,
)
from nestarray.importers.torch.workarounds.transformations import in_derivative, in_functorch
from nestarray.importers.workarounds import Needed, Workaround, resolve


class Derivative(Exception):
    """Forward computes a derivative, which is traced below autograd."""


class ExampleDecides(Exception):
    """A choice by an open size that the example answers otherwise than larger sizes."""


class Trace:
    """A trace of a module.

    Args:
        module: the module.
        lines: torch's name of a size → the line that needs it as a constant; None if no size is
            open.

    Attributes:
        memory: notes of workarounds, by name, for the time of one attempt.
        checks: the checks of values that the attempt drops, as keys.
        autocast: the autocast around the trace, which forward enters.
        choices: the comparisons of sizes with 1 that the attempt answers.
        is_decided_by_example: whether the next attempt answers them as the example does.
        applied: the workarounds of the next attempt that replace attributes of torch.
        is_below_autograd: whether calls are recorded below autograd.
    """

    def __init__(self, module: Any, lines: dict[str, str] | None) -> None:
        self.module, self.is_dynamic = module, lines is not None
        self.autocast = surrounding()
        self.lines = {} if lines is None else lines
        self.memory: dict[str, Any] = {}
        self.checks: dict[str, None] = {}
        self.choices = SizeChoices()
        self.is_decided_by_example = False
        self.start(below_autograd=False)
        self._known = [each for each in WORKAROUNDS if each.applies_to(torch.__version__)]
        self.applied = [each for each in self._known if each.names and each.is_needed(self)]

    def applies(self, workaround: Workaround) -> bool:
        """Whether a workaround applies to this trace."""
        return workaround in self.applied

    def apply(self, workaround: Workaround) -> None:
        """Apply a workaround from the next attempt on."""
        assert workaround not in self.applied
        self.applied.append(workaround)

    def apply_all(self) -> bool:
        """Apply all workarounds from the next attempt on; False if the last attempt did so."""
        others = [
            each
            for each in self._known
            if each.names and each not in self.applied and not each.missing()
        ]
        self.applied += others
        return bool(others)

    def absences(self) -> list[str]:
        """Messages about the workarounds that the installed release disables."""
        return [each.absence() for each in self._known if each.missing()]

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Replace the attributes of torch that the workarounds name."""
        self.memory.clear()
        self.checks.clear()
        self.choices = SizeChoices(of_example=self.is_decided_by_example)
        self.start(below_autograd=False)
        with contextlib.ExitStack() as stack:
            stack.callback(self.choices.stop)
            for workaround in self.applied:
                stack.enter_context(workaround.applied(self))
            yield

    def start(self, *, below_autograd: bool) -> None:
        """Begin to record forward."""
        self.is_below_autograd, self._is_stopping = below_autograd, False

    def watch(self, nest: Any) -> None:
        """Answer the comparisons with 1 of the sizes of traced tensors, in a trace with open sizes.

        A recording below autograd repeats its conditions in the export; torch decides those.
        """
        if self.is_dynamic:
            tensors = [x for x in tree_leaves(nest) if isinstance(x, torch.Tensor)]
            self.choices.watch(tensors, python=not self.is_below_autograd)

    def settle(self, program: Any, export: Callable[[], Any]) -> None:
        """Drop the choices by a size that change nothing; see `SizeChoices.settle`.

        Raises:
            ExampleDecides: another choice has an answer for the example that this attempt did not give.
        """
        if self.choices.lines:
            memory = dict(self.memory)
            with contextlib.nullcontext() if self.applies(ATTENTION) else ATTENTION.applied(self):
                self.choices.settle(program, export)
            self.memory.clear()
            self.memory.update(memory)
            if self.choices.lines and not self.choices.are_of_example:
                raise ExampleDecides

    def calls(self) -> Any:
        """A mode that sees the calls of torch's functions, and replaces some.

        Raises:
            Needed: in the mode, if a call needs a workaround that this trace does not apply.
            Derivative: in the mode, if forward computes a derivative above autograd.
        """
        replacements: dict[Any, Any] = {torch.Tensor.register_hook: _refuse_hook}
        make_dual = resolve("torch._make_dual")
        replacements[make_dual] = partial(self._make_dual, make_dual)
        replacements |= assignments.functions()
        for workaround in self._known:
            replacements |= workaround.replaced_functions(self)
        look = self._look

        class Calls(TorchFunctionMode):
            def __torch_function__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                look()
                return replacements.get(function, function)(*args, **(kwargs or {}))

        return Calls()

    def look_at(self, program: Any) -> None:
        """Check the operations of the exported program.

        Raises:
            Needed: one of them needs a workaround that this trace does not apply.
        """
        names = [str(node.target) for node in program.graph.nodes]
        for each in self._known:
            is_open = each.operation and not self.applies(each)
            if is_open and any(each.operation in name for name in names):
                raise Needed(each)

    def _make_dual(self, native: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.is_below_autograd:
            self._is_stopping = True
            raise Derivative
        return native(*args, **kwargs)

    def _look(self) -> None:
        """Stop the attempt at a call that it cannot take.

        torch leaves its transformations by calls that the mode sees too, so it raises once.
        """
        if self._is_stopping or torch.compiler.is_dynamo_compiling():  # torch.cond
            return
        reason: Exception | None = None
        if torch.is_inference_mode_enabled() and not self.applies(INFERENCE_MODE):
            reason = Needed(INFERENCE_MODE)
        elif not self.is_below_autograd and in_derivative():
            reason = Derivative()
        elif self.is_dynamic and in_functorch() and not self.applies(VMAP_RULES):
            reason = Needed(VMAP_RULES)
        if reason is not None:
            self._is_stopping = True
            raise reason


def _refuse_hook(tensor: Any, hook: Any) -> Any:
    raise Refused(
        f"{getattr(hook, '__qualname__', hook)} is registered as a hook on the gradient "
        f"of a tensor[{', '.join(map(str, tensor.shape))}], and a graph runs no hooks",
        "trace_graph",
        "use a torch.autograd.Function with that backward, or change gradients where they are used",
    )
