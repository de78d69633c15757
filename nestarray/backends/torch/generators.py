"""PyTorch: its own generator, for keys of four words.

Draws are custom operators, because they read the seed from the values of the key: tracers and
compilers keep an operator whole, and vmap calls it for each key.
https://docs.pytorch.org/docs/stable/generated/torch.Generator.html
"""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends import xp
from nestarray.backends.torch.core import native_dtype
from nestarray.numerics import rejection

_OF_BITS = {8: torch.uint8, 16: torch.uint16, 32: torch.uint32, 64: torch.uint64}


def _generator(key: torch.Tensor) -> torch.Generator:
    words = key.tolist()
    seed = (words[0] ^ words[3]) << 32 | (words[1] ^ words[2])
    return torch.Generator(key.device).manual_seed(seed)


@torch.library.custom_op("nestarray::native_numbers", mutates_args=())
def _numbers(key: torch.Tensor, kind: str, shape: list[int], dtype: torch.dtype) -> torch.Tensor:
    made, device = _generator(key), key.device
    if kind == "bits":
        signed = torch.empty(shape, dtype=torch.int64, device=device)
        signed.random_(-(2**63), None, generator=made)
        words = signed.view(torch.uint64) if dtype == torch.uint64 else signed.to(dtype)
        return words
    draw = torch.rand if kind == "uniform" else torch.randn
    return draw(shape, generator=made, dtype=dtype, device=device)


@_numbers.register_fake
def _numbers_fake(key: Any, kind: str, shape: list[int], dtype: torch.dtype) -> Any:
    return key.new_empty(shape, dtype=dtype)


@_numbers.register_vmap
def _numbers_batched(
    info: Any, dims: Any, key: Any, kind: str, shape: list[int], dtype: torch.dtype
) -> Any:
    keys = key.movedim(dims[0], 0)
    return torch.stack([_numbers(k, kind, shape, dtype) for k in keys]), 0


@torch.library.custom_op("nestarray::native_counts", mutates_args=())
def _counts(key: torch.Tensor, kind: str, rate: torch.Tensor) -> torch.Tensor:
    made = _generator(key)
    if kind == "gamma":
        wide = rate if rate.dtype == torch.float64 else rate.float()
        return torch._standard_gamma(wide.contiguous(), generator=made).to(rate.dtype)
    is_rate = rate >= 0
    drawn = torch.poisson(torch.where(is_rate, rate, 0.0), generator=made)
    return torch.where(is_rate, drawn, -1.0)


@_counts.register_fake
def _counts_fake(key: Any, kind: str, rate: Any) -> Any:
    return rate.new_empty(rate.shape)


@_counts.register_vmap
def _counts_batched(info: Any, dims: Any, key: Any, kind: str, rate: Any) -> Any:
    size = info.batch_size
    keys = key.expand(size, *key.shape) if dims[0] is None else key.movedim(dims[0], 0)
    rates = rate.expand(size, *rate.shape) if dims[2] is None else rate.movedim(dims[2], 0)
    return torch.stack([_counts(k, kind, x) for k, x in zip(keys, rates, strict=True)]), 0


def bits(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.random_.html"""
    return _numbers(key, "bits", list(shape), _OF_BITS[dtype.bits])


def uniform(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.rand.html"""
    return _numbers(key, "uniform", list(shape), native_dtype(dtype))


def normal(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.randn.html"""
    return _numbers(key, "normal", list(shape), native_dtype(dtype))


def integers(key: Any, low: int, high: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.randint.html"""
    return _integers(key, low, high, list(shape)).to(native_dtype(dtype))


@torch.library.custom_op("nestarray::native_integers", mutates_args=())
def _integers(key: torch.Tensor, low: int, high: int, shape: list[int]) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=_generator(key), device=key.device)


@_integers.register_fake
def _integers_fake(key: Any, low: int, high: int, shape: list[int]) -> Any:
    return key.new_empty(shape, dtype=torch.int64)


@_integers.register_vmap
def _integers_batched(info: Any, dims: Any, key: Any, low: int, high: int, shape: list[int]) -> Any:
    keys = key.movedim(dims[0], 0)
    return torch.stack([_integers(k, low, high, shape) for k in keys]), 0


def order(key: Any, size: int) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.randperm.html"""
    return _order(key, size)


@torch.library.custom_op("nestarray::native_order", mutates_args=())
def _order(key: torch.Tensor, size: int) -> torch.Tensor:
    return torch.randperm(size, generator=_generator(key), device=key.device)


@_order.register_fake
def _order_fake(key: Any, size: int) -> Any:
    return key.new_empty((size,), dtype=torch.int64)


@_order.register_vmap
def _order_batched(info: Any, dims: Any, key: Any, size: int) -> Any:
    return torch.stack([_order(k, size) for k in key.movedim(dims[0], 0)]), 0


def gamma(key: Any, a: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.distributions.gamma.Gamma.html"""
    return _counts(key, "gamma", a.detach())


def poisson(key: Any, lam: Any, dtype: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.poisson.html"""
    return rejection.as_counts(xp, _counts(key, "poisson", lam.detach()), dtype)
