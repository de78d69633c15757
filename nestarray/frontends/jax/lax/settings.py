"""Settings of primitives, under upstream's names.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html. Functions accept JAX's enumerations too: they
read the names of the members. Precision, accuracy and the choice of an algorithm do not change
results.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

__all__ = [
    "AccuracyMode", "ConvGeneralDilatedDimensionNumbers", "DotAlgorithm", "DotAlgorithmPreset",
    "DotDimensionNumbers", "FftType", "GatherScatterMode", "Precision", "PrecisionLike",
    "RaggedDotDimensionNumbers", "RandomAlgorithm", "RoundingMethod", "Tolerance",
]  # fmt: skip

DotDimensionNumbers: TypeAlias = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
ConvGeneralDilatedDimensionNumbers: TypeAlias = Any
PrecisionLike: TypeAlias = Any


class AccuracyMode(enum.Enum):
    """The accuracy of a function of one element."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance(NamedTuple):
    """Bounds of the error of a function of one element."""

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0


class Precision(enum.Enum):
    """The precision of products."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


class DotAlgorithm(NamedTuple):
    """The dtypes in which a product is computed."""

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


DotAlgorithmPreset = enum.Enum(
    "DotAlgorithmPreset",
    [
        "DEFAULT", "ANY_F8_ANY_F8_F32", "ANY_F8_ANY_F8_F32_FAST_ACCUM", "ANY_F8_ANY_F8_ANY",
        "ANY_F8_ANY_F8_ANY_FAST_ACCUM", "F16_F16_F16", "F16_F16_F32", "BF16_BF16_BF16",
        "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "BF16_BF16_F32_X9",
        "TF32_TF32_F32", "TF32_TF32_F32_X3", "F32_F32_F32", "F64_F64_F64",
    ],
)  # fmt: skip


class RaggedDotDimensionNumbers(NamedTuple):
    """The axes of a product of groups; see `ragged_dot_general`."""

    dot_dimension_numbers: DotDimensionNumbers
    lhs_ragged_dimensions: Sequence[int]
    rhs_group_dimensions: Sequence[int]


class FftType(enum.IntEnum):
    """The kind of a Fourier transform."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


class GatherScatterMode(enum.Enum):
    """The treatment of positions out of range."""

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3
    ONE_HOT = 4


class RoundingMethod(enum.IntEnum):
    """The treatment of halves."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class RandomAlgorithm(enum.IntEnum):
    """The generator of random bits."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2
