"""Losses in a traced module.

torch's operation of the CTC loss also returns an array for its backward, with a size that depends on
values, and it has neither a rule for ``vmap`` nor a backward that can be recorded. During the trace the
loss is one operation with a gradient and rules for ``vmap``.

torch's decomposition of ``multilabel_margin_loss``, which derivatives below autograd use, counts the
labels after the first -1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from nestarray.importers.torch.workarounds.vmap_rules import batch_first
from nestarray.importers.workarounds import Workaround, always

# -- CTC loss ----------------------------------------------------------------------------------

_NONE, _MEAN = 0, 1
_ARGUMENTS = (
    "Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
    "int blank, int reduction, bool zero_infinity"
)


def _of_layers(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    number = ("none", "mean", "sum").index(reduction)
    arrays = log_probs, targets, input_lengths, target_lengths
    return _traced(*arrays, blank, number, zero_infinity)


def native(target: Any) -> Callable[..., Any] | None:
    """The torch function of an operation of this file; None for other operations."""
    return {"nestarray.ctc_loss.default": _loss, "nestarray.ctc_loss_backward.default": _slope}.get(
        str(target)
    )


def _traced(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = _MEAN,
    zero_infinity: bool = False,
) -> Any:
    lengths = [torch.as_tensor(n, dtype=torch.int64) for n in (input_lengths, target_lengths)]
    mode = get_proxy_mode()
    is_before_autograd = mode is None or mode.pre_dispatch  # only operations are recorded here
    loss = _operations()[0] if is_before_autograd else _functions()[0].apply
    return loss(log_probs, targets, *lengths, blank, reduction, zero_infinity)


def _loss(*args: Any) -> Any:
    return torch.ctc_loss(*args)


def _slope(grad: Any, log_probs: Any, *args: Any) -> Any:
    with torch.enable_grad():
        x = log_probs.detach().requires_grad_()
        return torch.autograd.grad(torch.ctc_loss(x, *args), x, grad)[0]


@cache
def _operations() -> tuple[Any, Any]:
    """``torch.ops.nestarray.ctc_loss``, which returns only the loss, and its backward."""

    def operation(name: str, function: Any, schema: str, shapes: Any) -> Any:
        custom = torch.library.custom_op(
            f"nestarray::{name}", function, mutates_args=(), schema=f"({schema}) -> Tensor"
        )
        custom.register_fake(shapes)
        return custom

    def shape_of_loss(log_probs: Any, *others: Any) -> Any:
        is_each = others[-2] == _NONE and log_probs.dim() == 3
        return log_probs.new_empty((log_probs.shape[1],) if is_each else ())

    def shape_of_slope(grad: Any, log_probs: Any, *others: Any) -> Any:
        return torch.empty_like(log_probs)

    loss = operation("ctc_loss", _loss, _ARGUMENTS, shape_of_loss)
    loss.register_vmap(_mapped(loss))
    schema = f"Tensor grad_output, {_ARGUMENTS}"
    return loss, operation("ctc_loss_backward", _slope, schema, shape_of_slope)


def _mapped(loss: Callable[..., Any]) -> Callable[..., Any]:
    """The ``vmap`` rule of the loss."""

    def rule(info: Any, dims: Any, *args: Any) -> Any:
        *arrays, blank, reduction, zero_infinity = args
        rows = _Rows(info.batch_size, arrays, dims[:4])
        return rows.reduced(loss(*rows.merged, blank, _NONE, zero_infinity), reduction), 0

    return rule


@cache
def _functions() -> tuple[Any, Any]:
    """The loss and its gradient for recordings, also inside ``vmap``."""
    loss, slope = _operations()

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            return loss(*args)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            *arrays, ctx.blank, ctx.reduction, ctx.zero_infinity = inputs
            ctx.save_for_backward(*arrays)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            settings = ctx.blank, ctx.reduction, ctx.zero_infinity
            return Slope.apply(grad, *ctx.saved_tensors, *settings), *[None] * 6

        @staticmethod
        def vmap(*args: Any) -> Any:
            return _mapped(Loss.apply)(*args)

    class Slope(torch.autograd.Function):
        @staticmethod
        def forward(*args: Any) -> Any:
            return slope(*args)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            """Raise: as upstream, second derivatives are not implemented."""

        @staticmethod
        def vmap(info: Any, dims: Any, grad: Any, *args: Any) -> Any:
            *arrays, blank, reduction, zero_infinity = args
            rows = _Rows(info.batch_size, arrays, dims[1:5])
            grads = rows.spread(batch_first(grad, dims[0], info.batch_size), reduction)
            return rows.apart(Slope.apply(grads, *rows.merged, blank, _NONE, zero_infinity)), 0

    return Loss, Slope


class _Rows:
    """Merge the mapped axis into the axis of examples.

    Args:
        size: length of the mapped axis.
        arrays: probabilities, targets and the two lengths.
        dims: their mapped axes.
    """

    def __init__(self, size: Any, arrays: Any, dims: Any) -> None:
        placed = [batch_first(x, dim, size) for x, dim in zip(arrays, dims, strict=True)]
        log_probs, targets, inputs, counts = placed
        self.size, self.counts, self.has_examples = size, counts, log_probs.ndim == 4
        if self.has_examples:
            log_probs = log_probs.movedim(0, 1).flatten(1, 2)
            targets, inputs, counts = targets.flatten(0, 1), inputs.flatten(), counts.flatten()
        else:
            log_probs = log_probs.movedim(0, 1)
        self.merged = log_probs, targets, inputs, counts

    def apart(self, slopes: Any) -> Any:
        """Gradients of the merged probabilities, mapped axis first."""
        if self.has_examples:
            slopes = slopes.unflatten(1, (self.size, -1))
        return slopes.movedim(1, 0)

    def reduced(self, losses: Any, reduction: int) -> Any:
        """Reduce the losses of all examples along each mapped row."""
        if self.has_examples:
            losses = losses.unflatten(0, (self.size, -1))
        if reduction == _MEAN:
            losses = losses / self.counts.clamp(min=1)
        if not self.has_examples or reduction == _NONE:
            return losses
        return losses.mean(1) if reduction == _MEAN else losses.sum(1)

    def spread(self, grads: Any, reduction: int) -> Any:
        """The transpose of `reduced`."""
        if self.has_examples and reduction != _NONE:
            grads = grads.unsqueeze(1).expand(self.counts.shape)
            grads = grads / self.counts.shape[1] if reduction == _MEAN else grads
        if reduction == _MEAN:
            grads = grads / self.counts.clamp(min=1)
        return grads.flatten()


CTC_LOSS = Workaround(
    "CTC loss",
    "the CTC loss has no rule for vmap, and its backward needs an array of unknown size",
    issue="pytorch#183396",
    functions={
        "torch.ctc_loss": always(_traced),
        "torch.nn.functional.ctc_loss": always(_of_layers),
    },
)


# -- margin loss -------------------------------------------------------------------------------


def _formula(trace: Any, native: Any) -> Callable[..., Any]:
    def loss(
        input: Any, target: Any, *settings: Any, reduction: str = "mean", **others: Any
    ) -> Any:
        if not trace.is_below_autograd or settings or others:
            return native(input, target, *settings, reduction=reduction, **others)
        return _margins(input, target, reduction)

    return loss


def _margins(x: Any, target: Any, reduction: str) -> Any:
    places = torch.arange(x.shape[-1], device=x.device)
    first_pad = torch.where(target == -1, places, x.shape[-1]).amin(-1, keepdim=True)
    is_present = places < first_pad
    labels = torch.where(is_present, target, 0)
    is_label = (torch.where(is_present, target, -1).unsqueeze(-1) == places).any(-2)
    margins = (1 - x.gather(-1, labels)).unsqueeze(-1) + x.unsqueeze(-2)
    is_counted = is_present.unsqueeze(-1) & ~is_label.unsqueeze(-2)
    loss = torch.where(is_counted, margins.clamp_min(0), 0).sum((-1, -2)) / x.shape[-1]
    return {"none": torch.clone, "mean": torch.mean, "sum": torch.sum}[reduction](loss)


MARGIN_LOSS = Workaround(
    "padded labels",
    "the decomposition of multilabel_margin_loss counts labels after the first -1",
    issue="pytorch#141017",
    until="2.14",
    functions={"torch.nn.functional.multilabel_margin_loss": _formula},
)
