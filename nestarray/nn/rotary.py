"""Rotary position embeddings, and their frequencies for sequences longer than in training."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.nn.positions import position_range
from nestarray.typing import Array

__all__ = ["RotaryEmbedding", "llama3_frequencies", "rotary_frequencies", "yarn_frequencies"]


class RotaryEmbedding(Module):
    """Rotates pairs of features by angles θᵢ = position · fᵢ, with fᵢ = base^(−2i / dim).

    The product of a rotated query and a rotated key depends on the distance of their positions.

    Args:
        dim: the number of rotated features, even; features beyond it are unchanged.
        base: of the frequencies.
        interleaved: pair the features 2i and 2i + 1; False pairs i and i + dim / 2, as Llama.
        frequencies: the dim / 2 frequencies f, such as `llama3_frequencies` and
            `yarn_frequencies` compute; None is the formula above.
        factor: of the rotated features, the attention factor of YaRN.

    Raises:
        ArgumentError: `dim` is odd, or the number of frequencies is not dim / 2.

    Example:
        >>> import numpy as np, nestarray as na
        >>> rotate = na.nn.RotaryEmbedding(2).init(na.random.key(0))
        >>> rotate(np.ones((3, 2), np.float32)).round(3)
        array([[ 1.   ,  1.   ],
               [-0.301,  1.382],
               [-1.325,  0.493]], dtype=float32)

    References:
        https://arxiv.org/abs/2104.09864
    """

    @signature_errors()
    def __init__(
        self,
        dim: int,
        base: float = 10000.0,
        *,
        interleaved: bool = False,
        frequencies: Sequence[float] | np.ndarray | None = None,
        factor: float = 1.0,
    ) -> None:
        if dim < 2 or dim % 2:
            raise ArgumentError(f"RotaryEmbedding: dim: got {dim}, expected an even number")
        self.dim, self.base, self.interleaved, self.factor = dim, base, interleaved, factor
        self._frequencies = np.asarray(
            rotary_frequencies(dim, base) if frequencies is None else frequencies, np.float32
        )
        if self._frequencies.shape != (dim // 2,):
            raise ArgumentError(
                f"RotaryEmbedding: frequencies: got the shape {self._frequencies.shape}, expected "
                f"({dim // 2},) for dim={dim}"
            )

    def forward(self, x: Array, positions: Array | None = None) -> Array:
        """Rotate the features of each position.

        Args:
            x: `(*batch, length, features)`, or with `(batch, length)` positions
                `(batch, *heads, length, features)`.
            positions: `(length,)` or `(batch, length)`, integers; None is 0 … length − 1.

        Returns:
            the shape of x.
        """
        if positions is None:
            positions = position_range(ops.shape(x)[-2], x)
        places = ops.astype(positions, dtypes.float32)
        if len(places.shape) > 1:
            places = ops.expand_dims(places, tuple(range(1, len(x.shape) - 2)))
        angles = ops.expand_dims(places, -1) * ops.asarray(self._frequencies, like=x)
        dtype = dtypes.dtype_of(x)
        cos, sin = (
            ops.astype(ops.multiply(wave(angles), self.factor), dtype)
            for wave in (ops.cos, ops.sin)
        )
        return ops.rotary_embedding(x, cos, sin, interleaved=self.interleaved)


def rotary_frequencies(dim: int, base: float = 10000.0) -> np.ndarray:
    """The frequencies base^(−2i / dim) of `RotaryEmbedding`, `(dim / 2,)`, float64.

    Example:
        >>> import nestarray as na
        >>> na.nn.rotary.rotary_frequencies(4, 100.0)
        array([1. , 0.1])
    """
    return base ** (-np.arange(0, dim, 2) / dim)


@signature_errors()
def llama3_frequencies(
    dim: int,
    base: float = 500000.0,
    *,
    factor: float = 8.0,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
    original_length: int = 8192,
) -> np.ndarray:
    """Rotary frequencies of Llama 3.1: long waves are divided by `factor`, short ones are unchanged.

    Args:
        dim: the number of rotated features.
        base: of the frequencies before scaling.
        factor: the divisor.
        low_freq_factor: a wave longer than ``original_length / low_freq_factor`` is long.
        high_freq_factor: a wave shorter than ``original_length / high_freq_factor`` is short;
            those between are interpolated.
        original_length: the length of the sequences of the first training.

    Returns:
        `(dim / 2,)`, float64.

    Example:
        >>> import nestarray as na
        >>> na.nn.rotary.llama3_frequencies(4, 100.0, original_length=32)
        array([1.    , 0.0125])

    References:
        https://arxiv.org/abs/2407.21783
    """
    plain = rotary_frequencies(dim, base)
    turns = original_length * plain / (2 * math.pi)
    share = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor)
    share = np.clip(share, 0.0, 1.0)
    return plain * (share + (1 - share) / factor)


@signature_errors()
def yarn_frequencies(
    dim: int,
    base: float = 10000.0,
    *,
    factor: float,
    original_length: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
) -> np.ndarray:
    """Rotary frequencies of YaRN: a ramp over the features from the plain ones to those over `factor`.

    The layer multiplies rotated features by ``factor=0.1 * math.log(factor) + 1``.

    Args:
        dim: the number of rotated features.
        base: of the frequencies before scaling.
        factor: the new length over the original one.
        original_length: the length of the sequences of the first training.
        beta_fast: features with more turns in the original length are unchanged.
        beta_slow: features with fewer turns are divided by `factor`.
        truncate: whether the ends of the ramp are integers.

    Returns:
        `(dim / 2,)`, float64.

    Example:
        >>> import nestarray as na
        >>> na.nn.rotary.yarn_frequencies(4, 100.0, factor=4.0, original_length=256)
        array([1.    , 0.0625])

    References:
        https://arxiv.org/abs/2309.00071
    """

    def place(turns: float) -> float:
        return dim * math.log(original_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = place(beta_fast), place(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    ramp = np.clip((np.arange(dim // 2) - low) / max(high - low, 0.001), 0.0, 1.0)
    plain = rotary_frequencies(dim, base)
    return plain * (1 - ramp + ramp / factor)
