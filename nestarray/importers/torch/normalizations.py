"""Normalizations in ``torch.func`` and forward mode, decomposed in recordings.

torch implements their tangents and ``vmap`` rules in C++ with sizes as constants. (Moreover
torch's derivatives of the tangents of `layer_norm` and `batch_norm` are wrong.)
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

from nestarray.importers.patching import patched


@contextlib.contextmanager
def patched_normalizations() -> Iterator[None]:
    """Decompose normalizations inside transformations."""
    import torch

    with patched(
        *[(torch, name, _chosen(getattr(torch, name), own)) for name, own in _WRITTEN.items()]
    ):
        yield


def _chosen(native: Any, written: Any) -> Any:
    from torch._C._functorch import peek_interpreter_stack
    from torch.autograd import forward_ad

    def call(*args: Any, **kwargs: Any) -> Any:
        is_inside = forward_ad._current_level >= 0 or peek_interpreter_stack() is not None
        return (written if is_inside else native)(*args, **kwargs)

    return call


def _normalized(x: Any, dims: tuple[int, ...], eps: float) -> Any:
    import torch

    centred = x - x.mean(dims, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(dims, keepdim=True) + eps)


def _layer_norm(
    x: Any, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    result = _normalized(x, tuple(range(-len(shape), 0)), eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def _group_norm(
    x: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> Any:
    shape = x.shape
    per_group = x.reshape(shape[0], groups, math.prod(shape[1:]) // groups)
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
    import torch

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


_WRITTEN = {"layer_norm": _layer_norm, "group_norm": _group_norm, "batch_norm": _batch_norm}
