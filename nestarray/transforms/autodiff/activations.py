"""Rules of activations. At kinks the derivative is PyTorch's."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.transforms.autodiff.rules import (
    Call,
    Composed,
    Elementwise,
    Jacobian,
    OfResult,
    Place,
    Pullback,
    Rule,
    Tangents,
    is_complex,
)


def _soft_shrink(x: Any, *, threshold: float = 0.5) -> Any:
    """The derivative is 0 at the thresholds."""
    outside = ops.greater(ops.abs(x), threshold)
    return ops.where(outside, ops.subtract(x, ops.multiply(ops.sign(x), threshold)), 0.0)


def _axis(call: Call) -> Any:
    return call.kwargs.get("axis", -1)


def _through_softmax(y: Any, t: Any, axis: Any) -> Any:
    """(diag y − y yᵀ) t; the matrix is symmetric."""
    product = ops.multiply(y, t)
    return ops.subtract(product, ops.multiply(y, ops.sum(product, axis=axis, keepdims=True)))


def _push_softmax(call: Call, tangents: Tangents) -> Any:
    return _through_softmax(call.y, tangents[0], _axis(call))


def _pull_softmax(call: Call, places: list[Place]) -> Pullback:
    y, axis = call.y, _axis(call)
    y = ops.conj(y) if is_complex(y) else y
    return lambda ct: [_through_softmax(y, ct, axis)]


RULES: dict[str, Rule] = {
    "relu": OfResult(lambda y: ops.astype(ops.greater(y, 0), y.dtype)),
    "soft_shrink": Composed(_soft_shrink),
    "sigmoid": OfResult(lambda y: ops.multiply(y, ops.subtract(1, y))),
    "log_sigmoid": Elementwise(lambda y, x: ops.sigmoid(ops.negative(x))),
    "softmax": Jacobian(_push_softmax, _pull_softmax),
}
