"""Cases of `nestarray.ops.normalization`; the oracle is torch.nn.functional."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator
Draw = Callable[[Rng], tuple[Any, ...]]


def draw(*shape: int, vectors: int = 0, size: int | tuple[int, ...] = 3) -> Draw:
    """An array of `shape`, and as many vectors of `size` as asked for."""

    def args(rng: Rng) -> tuple[Any, ...]:
        return rng.normal(size=shape), *(rng.uniform(0.5, 1.5, size) for _ in range(vectors))

    return args


def tensors(*arrays: Any) -> list[Any]:
    return [torch.as_tensor(a) for a in arrays]


def batch_norm(x: Any, mean: Any, variance: Any, *affine: Any, axis: int = 1, eps: float = 1e-5):
    x, mean, variance, *affine = tensors(x, mean, variance, *affine)
    out = F.batch_norm(x.movedim(axis, 1), mean, variance, *affine, training=False, eps=eps)
    return out.movedim(1, axis)


def batch_norm_training(x: Any, *affine: Any, axis: int = 1, eps: float = 1e-5) -> Any:
    x, *affine = tensors(x, *affine)
    x = x.movedim(axis, 1)
    mean, variance = torch.zeros(x.shape[1]).double(), torch.zeros(x.shape[1]).double()
    out = F.batch_norm(x, mean, variance, *affine, training=True, momentum=1.0, eps=eps)
    count = x.numel() // x.shape[1]
    return out.movedim(1, axis), mean, variance * (count - 1) / count


def layer_norm(x: Any, *affine: Any, axis: Any = -1, eps: float = 1e-5) -> Any:
    axes = (axis,) if isinstance(axis, int) else tuple(sorted(axis))
    last = tuple(range(-len(axes), 0))
    x, *affine = tensors(x, *affine)
    x = x.movedim(axes, last)
    return F.layer_norm(x, x.shape[-len(axes) :], *affine, eps=eps).movedim(last, axes)


def rms_norm(x: Any, *affine: Any, axis: Any = -1, eps: float = 1e-6) -> Any:
    axes = (axis,) if isinstance(axis, int) else tuple(sorted(axis))
    last = tuple(range(-len(axes), 0))
    x, *affine = tensors(x, *affine)
    x = x.movedim(axes, last)
    return F.rms_norm(x, x.shape[-len(axes) :], *affine, eps=eps).movedim(last, axes)


def group_norm(x: Any, *affine: Any, num_groups: int, eps: float = 1e-5, axis: int = 1) -> Any:
    x, *affine = tensors(x, *affine)
    return F.group_norm(x.movedim(axis, 1), num_groups, *affine, eps=eps).movedim(1, axis)


def instance_norm(x: Any, *affine: Any, eps: float = 1e-5, axis: int = 1) -> Any:
    x, *affine = tensors(x, *affine)
    weight, bias = affine or (None, None)
    out = F.instance_norm(x.movedim(axis, 1), weight=weight, bias=bias, eps=eps)
    return out.movedim(1, axis)


def local_response_norm(x: Any, **settings: Any) -> Any:
    return F.local_response_norm(torch.as_tensor(x), **settings)


def normalize(x: Any, *, ord: float = 2.0, axis: int = -1, eps: float = 1e-12) -> Any:
    return F.normalize(torch.as_tensor(x), p=ord, dim=axis, eps=eps)


def weight_norm(weight: Any, g: Any, *, axis: int = 0) -> Any:
    lengths = g.reshape([-1 if i == axis else 1 for i in range(weight.ndim)])
    return torch._weight_norm(torch.as_tensor(weight), torch.as_tensor(lengths), axis)


def spectral_norm(weight: Any, u: Any, *, axis: int = 0, num_steps: int = 1) -> Any:
    """One layer of torch in training, whose iteration starts from u."""
    layer = torch.nn.Module()
    layer.weight = torch.nn.Parameter(torch.as_tensor(weight))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the newer one, which takes no u
        torch.nn.utils.spectral_norm(layer, n_power_iterations=num_steps, dim=axis)
    layer.weight_u.copy_(torch.as_tensor(u))
    (hook,) = layer._forward_pre_hooks.values()
    hook(layer, ())
    return layer.weight.detach(), layer.weight_u


CASES = [
    Case("batch_norm", draw(4, 3, 2, vectors=2), reference=batch_norm),
    Case("batch_norm", draw(4, 3, vectors=4), {"eps": 0.1}, batch_norm, id="affine"),
    Case("batch_norm", draw(4, 2, 3, vectors=4), {"axis": -1}, batch_norm, id="last"),
    Case("batch_norm_training", draw(4, 3, 2, vectors=0), reference=batch_norm_training),
    Case(
        "batch_norm_training",
        draw(4, 3, 2, 2, vectors=2),
        {"eps": 0.1},
        batch_norm_training,
        id="affine",
    ),
    Case(
        "batch_norm_training",
        draw(4, 2, 3, vectors=2),
        {"axis": -1},
        batch_norm_training,
        id="last",
    ),
    Case("layer_norm", draw(2, 4, 3), reference=layer_norm),
    Case("layer_norm", draw(2, 4, 3, vectors=2), {"eps": 0.1}, layer_norm, id="affine"),
    Case(
        "layer_norm", draw(2, 4, 3, vectors=2, size=(4, 3)), {"axis": (1, 2)}, layer_norm, id="axes"
    ),
    Case("layer_norm", draw(2, 3, 4, vectors=2), {"axis": 1}, layer_norm, id="inner"),
    Case("rms_norm", draw(2, 4, 3), reference=rms_norm),
    Case("rms_norm", draw(2, 4, 3, vectors=1), {"eps": 0.1}, rms_norm, id="weight"),
    Case("rms_norm", draw(2, 3, 4, vectors=1), {"axis": 1}, rms_norm, id="inner"),
    Case("group_norm", draw(2, 6, 3), {"num_groups": 2}, group_norm),
    Case(
        "group_norm",
        draw(2, 6, 2, 2, vectors=2, size=6),
        {"num_groups": 3, "eps": 0.1},
        group_norm,
        id="affine",
    ),
    Case(
        "group_norm",
        draw(2, 2, 3, 6, vectors=2, size=6),
        {"num_groups": 3, "axis": -1},
        group_norm,
        id="last",
    ),
    Case("group_norm", draw(2, 3, 6, 2), {"num_groups": 2, "axis": 2}, group_norm, id="inner"),
    Case("instance_norm", draw(2, 3, 4), reference=instance_norm),
    Case("instance_norm", draw(2, 2, 4, 3, vectors=2), {"axis": -1}, instance_norm, id="last"),
    Case("instance_norm", draw(2, 3, 2, 2, vectors=2), {"eps": 0.1}, instance_norm, id="affine"),
    Case("local_response_norm", draw(2, 5, 3), {"size": 2, "alpha": 0.5}, local_response_norm),
    Case(
        "local_response_norm",
        draw(2, 5, 2, 2),
        {"size": 3, "alpha": 0.5, "beta": 0.6, "k": 2.0},
        local_response_norm,
        id="settings",
    ),
    Case("normalize", draw(3, 4), reference=normalize),
    Case("normalize", draw(3, 4), {"axis": 0, "eps": 3.0}, normalize, id="floor"),
    Case("normalize", draw(3, 4), {"ord": 1.0}, normalize, id="sum"),
    Case("normalize", draw(3, 4), {"ord": 3.0}, normalize, id="cubes"),
    Case("normalize", draw(3, 4), {"ord": float("inf")}, normalize, id="largest"),
    Case(
        "normalize",
        lambda rng: (np.zeros((2, 3)),),
        reference=normalize,
        differentiable=False,
        id="zero",
    ),
    Case("weight_norm", draw(4, 3, 2, vectors=1, size=4), reference=weight_norm),
    Case("weight_norm", draw(4, 3, vectors=1), {"axis": 1}, weight_norm, id="axis"),
    # the vectors of the iteration are constants for derivatives, not for differences
    Case(
        "spectral_norm",
        draw(3, 4, vectors=1),
        {"num_steps": 2},
        spectral_norm,
        differentiable=False,
    ),
    Case(
        "spectral_norm",
        draw(3, 4, 2, vectors=1, size=4),
        {"axis": 1, "num_steps": 1},
        spectral_norm,
        differentiable=False,
        id="axis",
    ),
]
