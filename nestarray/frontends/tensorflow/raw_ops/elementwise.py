"""Functions of one element at a time.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/AddV2
"""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import UnsupportedError
from nestarray.frontends.tensorflow import math, nn
from nestarray.frontends.tensorflow.assertions import Assert
from nestarray.frontends.tensorflow.data_type import cast
from nestarray.frontends.tensorflow.division import truncatediv
from nestarray.frontends.tensorflow.math import special
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "Abs",
    "AccumulateNV2",
    "Acos",
    "Acosh",
    "Add",
    "AddN",
    "AddV2",
    "Angle",
    "ApproximateEqual",
    "Asin",
    "Asinh",
    "Atan",
    "Atan2",
    "Atanh",
    "BesselI0",
    "BesselI0e",
    "BesselI1",
    "BesselI1e",
    "BesselJ0",
    "BesselJ1",
    "BesselK0",
    "BesselK0e",
    "BesselK1",
    "BesselK1e",
    "BesselY0",
    "BesselY1",
    "Betainc",
    "Bitcast",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Cast",
    "Ceil",
    "CheckNumerics",
    "CheckNumericsV2",
    "ClipByValue",
    "Complex",
    "ComplexAbs",
    "Conj",
    "Cos",
    "Cosh",
    "Dawsn",
    "Digamma",
    "Div",
    "DivNoNan",
    "Elu",
    "Equal",
    "Erf",
    "Erfc",
    "Erfinv",
    "Exp",
    "Expint",
    "Expm1",
    "Floor",
    "FloorDiv",
    "FloorMod",
    "FresnelCos",
    "FresnelSin",
    "Greater",
    "GreaterEqual",
    "Igamma",
    "IgammaGradA",
    "Igammac",
    "Imag",
    "Inv",
    "Invert",
    "IsFinite",
    "IsInf",
    "IsNan",
    "LeakyRelu",
    "LeftShift",
    "Less",
    "LessEqual",
    "Lgamma",
    "Log",
    "Log1p",
    "LogSoftmax",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "Maximum",
    "Minimum",
    "Mod",
    "Mul",
    "MulNoNan",
    "Ndtri",
    "Neg",
    "NextAfter",
    "NotEqual",
    "OnesLike",
    "Polygamma",
    "PopulationCount",
    "Pow",
    "PreventGradient",
    "Real",
    "RealDiv",
    "Reciprocal",
    "Relu",
    "Relu6",
    "RightShift",
    "Rint",
    "Round",
    "Rsqrt",
    "Select",
    "SelectV2",
    "Selu",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Spence",
    "Sqrt",
    "Square",
    "SquaredDifference",
    "StopGradient",
    "Sub",
    "Tan",
    "Tanh",
    "ToBool",
    "TruncateDiv",
    "TruncateMod",
    "Xdivy",
    "Xlog1py",
    "Xlogy",
    "ZerosLike",
    "Zeta",
]  # fmt: skip

Abs, ComplexAbs, Neg, Sign = math.abs, math.abs, math.negative, math.sign
Acos, Acosh, Asin, Asinh = math.acos, math.acosh, math.asin, math.asinh
Atan, Atanh, Atan2 = math.atan, math.atanh, math.atan2
Cos, Cosh, Sin, Sinh, Tan, Tanh = math.cos, math.cosh, math.sin, math.sinh, math.tan, math.tanh
Exp, Expm1, Log, Log1p = math.exp, math.expm1, math.log, math.log1p
Sqrt, Rsqrt, Square, Pow = math.sqrt, math.rsqrt, math.square, math.pow
Reciprocal = Inv = math.reciprocal
Erf, Erfc, Erfinv, Ndtri = math.erf, math.erfc, math.erfinv, math.ndtri
Lgamma, Digamma, Zeta, Polygamma = math.lgamma, math.digamma, math.zeta, math.polygamma
Spence = special.spence
Igamma, Igammac, Betainc = math.igamma, math.igammac, math.betainc
BesselI0, BesselI0e, BesselI1, BesselI1e = (
    math.bessel_i0,
    math.bessel_i0e,
    math.bessel_i1,
    math.bessel_i1e,
)
BesselJ0, BesselJ1 = special.bessel_j0, special.bessel_j1
BesselY0, BesselY1 = special.bessel_y0, special.bessel_y1
BesselK0, BesselK0e = special.bessel_k0, special.bessel_k0e
BesselK1, BesselK1e = special.bessel_k1, special.bessel_k1e
Dawsn, Expint = special.dawsn, special.expint
FresnelCos, FresnelSin = special.fresnel_cos, special.fresnel_sin
Ceil, Floor, Rint, Round = math.ceil, math.floor, math.rint, math.round
Angle, Imag, Real = math.angle, math.imag, math.real
Add = AddV2 = math.add
Sub, Mul, SquaredDifference = math.subtract, math.multiply, math.squared_difference
Maximum, Minimum, NextAfter = math.maximum, math.minimum, math.nextafter
FloorDiv, FloorMod = math.floordiv, math.floormod
DivNoNan, MulNoNan = math.divide_no_nan, math.multiply_no_nan
Xdivy, Xlogy, Xlog1py = math.xdivy, math.xlogy, math.xlog1py
AddN = math.add_n
Equal, NotEqual, Less, LessEqual = math.equal, math.not_equal, math.less, math.less_equal
Greater, GreaterEqual = math.greater, math.greater_equal
IsFinite, IsInf, IsNan = math.is_finite, math.is_inf, math.is_nan
LogicalAnd, LogicalNot, LogicalOr = math.logical_and, math.logical_not, math.logical_or
Relu, Relu6, Elu, Selu, LeakyRelu = nn.relu, nn.relu6, nn.elu, nn.selu, nn.leaky_relu
Softplus, Softsign, Sigmoid = math.softplus, math.softsign, math.sigmoid


def Softmax(logits: Array) -> Array:
    """Exponentials divided by their sum along the last axis."""
    return na.softmax(logits)


def LogSoftmax(logits: Array) -> Array:
    """The logarithm of `Softmax`."""
    return na.log_softmax(logits)


def RealDiv(x: Array, y: Array) -> Array:
    """x / y."""
    return na.divide(x, y)


def Div(x: Array, y: Array) -> Array:
    """x / y; of integers, rounded towards zero."""
    return TruncateDiv(x, y) if _like(x, y).is_integer else na.divide(x, y)


def TruncateDiv(x: Array, y: Array) -> Array:
    """x / y, rounded towards zero."""
    return truncatediv(x, y)


def TruncateMod(x: Array, y: Array) -> Array:
    """The remainder of `TruncateDiv`, with the sign of x."""
    return na.fmod(x, y)


def Mod(x: Array, y: Array) -> Array:
    """The remainder of x / y rounded towards zero, with the sign of x."""
    return na.fmod(x, y)


def _like(x: Array, y: Array) -> DType:
    return dtypes.dtype_of(x if hasattr(x, "dtype") else y)


def ApproximateEqual(x: Array, y: Array, tolerance: float = 1e-5) -> Array:
    """Whether |x − y| < tolerance."""
    return na.less(na.abs(na.subtract(x, y)), tolerance)


def BitwiseAnd(x: Array, y: Array) -> Array:
    """The bits of both."""
    return na.bitwise_and(x, y)


def BitwiseOr(x: Array, y: Array) -> Array:
    """The bits of either."""
    return na.bitwise_or(x, y)


def BitwiseXor(x: Array, y: Array) -> Array:
    """The bits of one of the two."""
    return na.bitwise_xor(x, y)


def Invert(x: Array) -> Array:
    """All bits flipped."""
    return na.bitwise_invert(x)


def LeftShift(x: Array, y: Array) -> Array:
    """The bits of x, y places to the left."""
    return na.bitwise_left_shift(x, y)


def RightShift(x: Array, y: Array) -> Array:
    """The bits of x, y places to the right."""
    return na.bitwise_right_shift(x, y)


def PopulationCount(x: Array) -> Array:
    """The number of bits that are set."""
    unsigned = dtypes.as_dtype(f"uint{dtypes.dtype_of(x).bits}")
    return na.astype(na.bitwise_count(na.bitcast(x, unsigned)), dtypes.uint8)


def Cast(x: Array, DstT: DType, Truncate: bool = False) -> Array:
    """`x` in another dtype."""
    return cast(x, DstT)


def Bitcast(input: Array, type: DType) -> Array:
    """The bits of `input` as another dtype."""
    return na.bitcast(input, type)


def Complex(real: Array, imag: Array) -> Array:
    """real + i · imag."""
    return na.complex(real, imag)


def Conj(input: Array) -> Array:
    """The complex conjugate."""
    return math.conj(input)


def ToBool(input: Array) -> Array:
    """Whether a number is not zero, or an array has elements."""
    if not na.shape(input):
        return na.not_equal(input, 0)
    return na.full((), 0 not in na.shape(input), dtype=dtypes.bool, like=input)


def ClipByValue(t: Array, clip_value_min: Array, clip_value_max: Array) -> Array:
    """`t` within limits, at which its derivative is 1."""
    found = na.minimum(na.maximum(t, clip_value_min), clip_value_max)
    inside = na.logical_and(na.greater_equal(t, clip_value_min), na.less_equal(t, clip_value_max))
    return na.where(inside, t, found)


def Select(condition: Array, x: Array, y: Array) -> Array:
    """`x` where the condition holds, else `y`; a vector of conditions chooses rows."""
    missing = len(na.shape(x)) - len(na.shape(condition))
    if missing and na.shape(condition):
        condition = na.reshape(condition, (*na.shape(condition), *[1] * missing))
    return na.where(condition, x, y)


def SelectV2(condition: Array, t: Array, e: Array) -> Array:
    """`t` where the condition holds, else `e`."""
    return na.where(condition, t, e)


def AccumulateNV2(inputs: Sequence[Array], shape: Ints) -> Array:
    """The sum of arrays of one shape."""
    return AddN(inputs)


def CheckNumerics(tensor: Array, message: str) -> Array:
    """`tensor`, of which all elements have to be finite.

    Raises:
        ArgumentError: an element is NaN or infinite.
    """
    Assert(na.all(na.isfinite(tensor)), [f"{message}: the tensor has NaN or infinite elements"])
    return tensor


CheckNumericsV2 = CheckNumerics


def IgammaGradA(a: Array, x: Array) -> Array:
    """The derivative of `Igamma` by `a`."""
    return na.vjp(lambda a: Igamma(a, x), a)[1](na.ones_like(x))[0]


def StopGradient(input: Array) -> Array:
    """`input` without a derivative."""
    return na.stop_gradient(input)


def PreventGradient(input: Array, message: str = "") -> Array:
    """`input`, whose derivative is an error.

    Raises:
        UnsupportedError: the derivative is computed.
    """

    @na.custom_vjp
    def unchanged(x: Array) -> Array:
        return x

    def backward(saved: tuple[()], cotangent: Array) -> tuple[Array]:
        raise UnsupportedError(f"PreventGradient: the derivative is not defined: {message}")

    unchanged.defvjp(lambda x: (x, ()), backward)
    return unchanged(input)


def OnesLike(x: Array) -> Array:
    """Ones."""
    return na.ones_like(x)


def ZerosLike(x: Array) -> Array:
    """Zeros."""
    return na.zeros_like(x)
