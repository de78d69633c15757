"""PyTorch: `nestarray.ops.random`, in int64, because uint32 lacks sums and shifts.

For concrete tensors on the host, NumPy computes the hash.

https://docs.pytorch.org/docs/stable/tensors.html#data-types
"""

from __future__ import annotations

from operator import index
from typing import Any

import torch
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

from nestarray import dtypes
from nestarray.backends.base import supports
from nestarray.backends.numpy.random import normal_quantile as _quantile_in_numpy
from nestarray.backends.numpy.random import philox4x32 as _philox_in_numpy
from nestarray.backends.numpy.random import random_bits as _bits_in_numpy
from nestarray.backends.numpy.random import threefry2x32 as _in_numpy
from nestarray.backends.torch.core import native_dtype
from nestarray.numerics import bit_generators, threefry

_MASK = 0xFFFFFFFF


def threefry2x32(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """https://docs.pytorch.org/docs/stable/generated/torch.bitwise_xor.html"""
    threefry.check_key(key, can_be_many=True)
    threefry.check_words(x0=x0, x1=x1)
    x0, x1 = _hash(key, x0.to(torch.int64), x1.to(torch.int64))
    return x0.to(torch.uint32), x1.to(torch.uint32)


def _hash(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    if _is_plain(key):
        return _hash_on_host(key, x0, x1)
    if _is_compiled_for_host(key):
        return torch.ops.nestarray.threefry2x32(key.to(torch.int64), x0, x1)
    key = key.to(torch.int64)
    k0, k1 = key[0], key[1]
    keys = (k0, k1, k0 ^ k1 ^ threefry.PARITY)
    x0, x1 = (x0 + k0) & _MASK, (x1 + k1) & _MASK
    for group in range(5):
        for distance in threefry.ROTATIONS[group % 2]:
            x0 = (x0 + x1) & _MASK
            x1 = (((x1 << distance) | (x1 >> (32 - distance))) & _MASK) ^ x0
        x0 = (x0 + keys[(group + 1) % 3]) & _MASK
        x1 = (x1 + keys[(group + 2) % 3] + (group + 1)) & _MASK
    return x0, x1


def _hash_on_host(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """By NumPy, in shared memory: 32-bit arithmetic is six times as fast."""
    words = [x.to(torch.uint32).contiguous().numpy() for x in (key, x0, x1)]
    high, low = _in_numpy(words[0], words[1], words[2])
    return torch.from_numpy(high).to(torch.int64), torch.from_numpy(low).to(torch.int64)


@torch.library.custom_op("nestarray::threefry2x32", mutates_args=())
def _opaque_hash(
    key: torch.Tensor, x0: torch.Tensor, x1: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The hash as one operation of compiled code: torch.compile takes minutes for its 20 rounds.

    https://docs.pytorch.org/docs/stable/library.html#torch.library.custom_op
    """
    return _hash_on_host(key, x0, x1)


@_opaque_hash.register_fake
def _shapes(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    return torch.empty_like(x0), torch.empty_like(x1)


@_opaque_hash.register_vmap
def _mapped(info: Any, in_dims: Any, key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """All words of the batch in one call, with a key for each."""
    key, x0, x1 = (
        x.unsqueeze(-1).expand(*x.shape, info.batch_size) if dim is None else x.movedim(dim, -1)
        for x, dim in zip((key, x0, x1), in_dims)
    )
    if key.ndim == 2:
        key = key.unsqueeze(1).expand(2, *x0.shape)
    words = _opaque_hash(key.reshape(2, -1), x0.reshape(-1), x1.reshape(-1))
    return (words[0].reshape(x0.shape), words[1].reshape(x0.shape)), (1, 1)


def philox4x32(key: Any, x0: Any, x1: Any, x2: Any, x3: Any) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/generated/torch.bitwise_xor.html"""
    if _is_plain(key):
        words = _philox_in_numpy(*[x.numpy() for x in (key, x0, x1, x2, x3)])
        return tuple([torch.from_numpy(x) for x in words])
    threefry.check_key(key, can_be_many=True)
    threefry.check_words(x0=x0, x1=x1, x2=x2, x3=x3)
    k0, k1, x0, x1, x2, x3 = (x.to(torch.int64) for x in (key[0], key[1], x0, x1, x2, x3))
    for _ in range(10):
        even, odd = (x * n for x, n in zip((x0, x2), bit_generators.FACTORS, strict=True))
        x0, x1, x2, x3 = _upper(odd) ^ x1 ^ k0, odd & _MASK, _upper(even) ^ x3 ^ k1, even & _MASK
        k0, k1 = ((k + n) & _MASK for k, n in zip((k0, k1), bit_generators.STEPS, strict=True))
    return tuple([x.to(torch.uint32) for x in (x0, x1, x2, x3)])


def _upper(x: Any) -> Any:
    """The upper word of the bits of uint64."""
    return (x >> 32) & _MASK


def _words_on_host(key: Any, count: int, width: int) -> Any:
    """Words of 32 or 64 bits by NumPy, without the arrays of their positions."""
    words = _bits_in_numpy(key.to(torch.uint32).numpy(), shape=(count,), dtype=f"uint{width}")
    return torch.from_numpy(words.view(f"int{width}"))


@torch.library.custom_op("nestarray::random_words", mutates_args=())
def _opaque_words(key: torch.Tensor, count: int, width: int) -> torch.Tensor:
    """The words as one operation of compiled code."""
    return _words_on_host(key, count, width)


@_opaque_words.register_fake
def _word_shapes(key: Any, count: Any, width: int) -> Any:
    return key.new_empty((count,), dtype=torch.int64 if width == 64 else torch.int32)


@_opaque_words.register_vmap
def _mapped_words(info: Any, in_dims: Any, key: Any, count: Any, width: int) -> tuple[Any, Any]:
    """The words of all keys in one call of the hash."""
    keys = key.movedim(in_dims[0], -1).unsqueeze(-1).expand(2, info.batch_size, count)
    counts = torch.arange(count, dtype=torch.int64).repeat(info.batch_size)
    words = _joined(*_opaque_hash(keys.reshape(2, -1), torch.zeros_like(counts), counts), width)
    if width == 32:
        words = words.to(torch.uint32).view(torch.int32)
    return words.reshape(info.batch_size, count), 0


def _is_compiled_for_host(key: Any) -> bool:
    """Whether torch.compile traces the call; exported programs must run without nestarray."""
    return (
        key.device.type == "cpu"
        and torch.compiler.is_dynamo_compiling()
        and not torch.compiler.is_exporting()
    )


def _is_plain(key: Any) -> bool:
    """Whether `key` is a concrete tensor on the host."""
    return (
        type(key) is torch.Tensor
        and key.device.type == "cpu"
        and not torch.compiler.is_compiling()
        and not torch._C._are_functorch_transforms_active()
        and not is_in_torch_dispatch_mode()
    )


@supports(
    lambda u: u.dtype in (torch.float32, torch.float64) and not u.requires_grad and _is_plain(u)
)
def normal_quantile(u: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.from_numpy.html"""
    return torch.from_numpy(_quantile_in_numpy(u.numpy()))


def _bits(key: Any, shape: Any, width: int) -> Any:
    """Random words in int64; 64-bit words as the bits of a signed number."""
    if width >= 32 and (_is_plain(key) or _is_compiled_for_host(key)):
        draw = _words_on_host if _is_plain(key) else torch.ops.nestarray.random_words
        words = draw(key.to(torch.int64), threefry.count(shape), width).reshape(tuple(shape))
        return words if width == 64 else words.to(torch.int64) & _MASK
    counts = torch.arange(threefry.count(shape), dtype=torch.int64, device=key.device)
    return _joined(*_hash(key, torch.zeros_like(counts), counts), width).reshape(tuple(shape))


def _joined(high: Any, low: Any, width: int) -> Any:
    return high << 32 | low if width == 64 else (high ^ low) & ((1 << width) - 1)


def random_bits(key: Any, *, shape: Any, dtype: Any = "uint32") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html"""
    threefry.check_key(key)
    wanted = threefry.check_bits_dtype("random_bits", dtype)
    words = _bits(key, shape, wanted.bits)
    return words.view(torch.uint64) if wanted.bits == 64 else words.to(native_dtype(wanted))


def random_uniform(key: Any, *, shape: Any, dtype: Any = "float32") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html"""
    threefry.check_key(key)
    wanted, _, width = threefry.check_uniform_dtype("random_uniform", dtype)
    return _mantissas(_bits(key, shape, width), wanted)


def _unit(high: Any, low: Any, dtype: dtypes.DType) -> Any:
    return _mantissas(_joined(high, low, threefry.MANTISSA[dtype][1]), dtype)


def _mantissas(words: Any, dtype: dtypes.DType) -> Any:
    mantissa, width = threefry.MANTISSA[dtype]
    words = words >> (width - mantissa) & ((1 << mantissa) - 1)
    return words.to(native_dtype(dtype)) * 2.0**-mantissa


def random_split(key: Any, *, num: int = 2) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.stack.html"""
    threefry.check_key(key)
    return _keys(key, index(num)).to(torch.uint32)


def _keys(key: Any, num: int) -> Any:
    counts = torch.arange(num, dtype=torch.int64, device=key.device)
    return torch.stack(_hash(key, torch.zeros_like(counts), counts), dim=1)


def random_integers(key: Any, *, low: int, high: int, shape: Any, dtype: Any = "int32") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.remainder.html"""
    threefry.check_key(key)
    wanted, unsigned, span = threefry.check_integers("random_integers", low, high, dtype)
    width = unsigned.bits
    keys = _keys(key, 2)
    words = _bits(keys[1], shape, width)
    if span:
        high_words = _modulo(_bits(keys[0], shape, width), span, width)
        total = high_words * _signed(threefry.word_factor(span, width))
        total = total + _modulo(words, span, width)
        words = _modulo(total if width == 64 else total & ((1 << width) - 1), span, width)
    result = words + _signed(threefry.clipped(low, wanted))
    if wanted is dtypes.uint64:
        return result.view(torch.uint64)
    return result.to(native_dtype(wanted))


def _signed(number: int) -> int:
    """The int64 of the same 64 bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _modulo(words: Any, span: int, width: int) -> Any:
    """The remainder of unsigned words stored in int64."""
    if width < 64:
        return torch.remainder(words, span)
    if span >= 1 << 63:  # a word contains at most one span
        below = (words >= 0) | (words < _signed(span))
        return torch.where(below, words, words - _signed(span))
    half = words >> 1 & ((1 << 63) - 1)
    rest = words - torch.div(half, span, rounding_mode="floor") * 2 * span
    return torch.where((rest < 0) | (rest >= span), rest - span, rest)
