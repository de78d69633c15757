"""PyTorch: `nestarray.ops.rejection`, as custom operators.

The number of rounds depends on values, which a trace lacks; tracers, compilers and vmap keep an
operator whole.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.backends.control_flow import while_loop
from nestarray.backends.torch.core import widest_float
from nestarray.backends.torch.random import _hash, _keys, _unit
from nestarray.numerics import binomial, rejection, threefry
from nestarray.numerics.reparametrization import differentiable_gamma


def random_gamma(key: Any, a: Any, *, log_space: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/library.html"""
    threefry.check_key(key)
    threefry.check_uniform_dtype("random_gamma", dtypes.dtype_of(a))
    fixed = a.detach()
    keys = _keys(key, fixed.numel()).reshape(*fixed.shape, 2)
    drawn = _gamma(keys, fixed, log_space)
    if not a.requires_grad and not torch._C._are_functorch_transforms_active():
        return drawn
    return differentiable_gamma(xp, a, drawn, log_space)


@torch.library.custom_op("nestarray::random_gamma", mutates_args=())
def _gamma(keys: torch.Tensor, a: torch.Tensor, log_space: bool) -> torch.Tensor:
    flat = a.reshape(-1)
    words = rejection.Words(_of_each, _unit, widest_float(a))
    rounds = partial(rejection.gamma_rounds, xp, words)
    found = rejection.gamma(xp, words, keys.reshape(-1, 2).T, flat, log_space, rounds)
    return found.reshape(a.shape)


@_gamma.register_fake
def _gamma_fake(keys: Any, a: Any, log_space: bool) -> Any:
    return a.new_empty(a.shape)


@_gamma.register_vmap
def _gamma_batched(info: Any, dims: Any, keys: Any, a: Any, log_space: bool) -> Any:
    return _gamma(_front(info, keys, dims[0]), _front(info, a, dims[1]), log_space), 0


def _front(info: Any, x: Any, dim: int | None) -> Any:
    return x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)


def _of_each(keys: Any, counters: Any) -> tuple[Any, Any]:
    return _hash(keys, torch.zeros_like(counters), counters)


def random_poisson(key: Any, lam: Any, *, dtype: Any = "int32") -> Any:
    """https://docs.pytorch.org/docs/stable/library.html"""
    wanted = threefry.check_rates(key, lam, dtype)
    return rejection.as_counts(xp, _poisson(key, lam.detach()), wanted)


@torch.library.custom_op("nestarray::random_poisson", mutates_args=())
def _poisson(key: torch.Tensor, lam: torch.Tensor) -> torch.Tensor:
    return rejection.poisson(xp, key, lam, while_loop)


@_poisson.register_fake
def _poisson_fake(key: Any, lam: Any) -> Any:
    return lam.new_empty(lam.shape)


@_poisson.register_vmap
def _poisson_batched(info: Any, dims: Any, key: Any, lam: Any) -> Any:
    return _one_by_one(_poisson, info, dims, key, lam)


def _one_by_one(draw: Any, info: Any, dims: Any, *args: Any) -> Any:
    """Elements share a key, so each row has its own loop."""
    columns = [_front(info, x, dim) for x, dim in zip(args, dims, strict=True)]
    return torch.stack([draw(*row) for row in zip(*columns, strict=True)]), 0


def random_binomial(key: Any, n: Any, p: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/library.html"""
    threefry.check_trials(key, n, p)
    return _binomial(key, n.detach(), p.detach())


@torch.library.custom_op("nestarray::random_binomial", mutates_args=())
def _binomial(key: torch.Tensor, n: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    return binomial.binomial(xp, key, n, p, while_loop)


@_binomial.register_fake
def _binomial_fake(key: Any, n: Any, p: Any) -> Any:
    return p.new_empty(p.shape)


@_binomial.register_vmap
def _binomial_batched(info: Any, dims: Any, key: Any, n: Any, p: Any) -> Any:
    return _one_by_one(_binomial, info, dims, key, n, p)
