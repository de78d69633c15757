"""Normalizations and concatenation in ``torch.func`` and forward mode.

torch implements the tangents and ``vmap`` rules of normalizations in C++ with sizes as constants.
(Moreover torch's derivatives of the tangents of `layer_norm` and `batch_norm` are wrong.) Of
concatenated arrays without tangents torch creates zeros whose sizes become constants; here these
arrays receive zero tangents before the concatenation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.forward_ad import make_dual, unpack_dual

from nestarray.importers.workarounds import Factory, Workaround

# -- normalizations ----------------------------------------------------------------------------


def _chosen(formula: Callable[..., Any]) -> Factory:
    """`formula` inside of transformations, the native function outside."""

    def factory(trace: Any, native: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return (formula if in_transformation() else native)(*args, **kwargs)

        return call

    return factory


def _normalized(x: Any, dims: tuple[int, ...], eps: float) -> Any:
    centred = x - x.mean(dims, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(dims, keepdim=True) + eps)


def _layer_norm(
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    *_: Any,
) -> Any:
    result = _normalized(input, tuple(range(-len(normalized_shape), 0)), eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def _group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    shape = input.shape
    per_group = input.reshape(shape[0], num_groups, math.prod(shape[1:]) // num_groups)
    result = _normalized(per_group, (-1,), eps).reshape(shape)
    of_channels = (-1, *[1] * (len(shape) - 2))
    result = result if weight is None else result * weight.view(of_channels)
    return result if bias is None else result + bias.view(of_channels)


def _batch_norm(
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> Any:
    of_channels = (1, -1, *[1] * (x.ndim - 2))
    if training:
        dims = (0, *range(2, x.ndim))
        result = _normalized(x, dims, eps)
        if running_mean is not None:
            running_mean.lerp_(x.detach().mean(dims), momentum)
            running_var.lerp_(x.detach().var(dims), momentum)
    else:
        scale = torch.rsqrt(running_var + eps).view(of_channels)
        result = (x - running_mean.view(of_channels)) * scale
    result = result if weight is None else result * weight.view(of_channels)
    return result if bias is None else result + bias.view(of_channels)


def _batch_norm_of_layers(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


NORMALIZATIONS = Workaround(
    "normalizations in transformations",
    "tangents and vmap rules of normalizations are C++ code with sizes as constants",
    issue="pytorch#196700, pytorch#196699, pytorch#132381",
    functions={
        "torch.layer_norm": _chosen(_layer_norm),
        "torch.nn.functional.layer_norm": _chosen(_layer_norm),
        "torch.group_norm": _chosen(_group_norm),
        "torch.nn.functional.group_norm": _chosen(_group_norm),
        "torch.batch_norm": _chosen(_batch_norm),
        "torch.nn.functional.batch_norm": _chosen(_batch_norm_of_layers),
    },
)


# -- concatenation -----------------------------------------------------------------------------

_NAMES = (
    *("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"),
    *("column_stack", "row_stack"),
)


def _completing(trace: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, which gives all arrays tangents if one has a tangent."""

    def call(tensors: Sequence[Any], *args: Any, **settings: Any) -> Any:
        return function(_completed(tensors), *args, **settings)

    return call


def _completed(tensors: Sequence[Any]) -> Sequence[Any]:
    if not in_functorch():
        return tensors
    bare = [unpack_dual(x).tangent is None for x in tensors]
    if all(bare) or not any(bare):
        return tensors
    return [
        make_dual(x, torch.zeros_like(x)) if is_bare and x.is_floating_point() else x
        for x, is_bare in zip(tensors, bare, strict=True)
    ]


CONCATENATION = Workaround(
    "concatenation in torch.func.jvp",
    "arrays without tangents get zeros whose sizes are constants",
    functions={f"torch.{name}": _completing for name in _NAMES},
)


# -- transformations that are active ------------------------------------------------------------


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
