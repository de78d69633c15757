"""Comparison, logic and bits."""

from __future__ import annotations

from nestarray import dtypes, ops
from nestarray.backends.base import refuse_complex
from nestarray.backends.truth import of_bools
from nestarray.dispatch import Trait, op, primitive
from nestarray.typing import Array

__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "signbit",
]
TRAITS = Trait.ELEMENTWISE | Trait.HALF_SAFE | Trait.CONSTANT


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def equal(x1: Array, x2: Array, /) -> Array:
    """Whether x1 = x2.

    Args:
        x1: any; broadcasts with `x2`, the dtypes promote.
        x2: any.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.equal(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.equal.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def not_equal(x1: Array, x2: Array, /) -> Array:
    """Whether x1 ≠ x2.

    Args:
        x1: any; broadcasts with `x2`, the dtypes promote.
        x2: any.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.not_equal(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([ True, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.not_equal.html
    """


@primitive
@of_bools(lambda x1, x2: ops.logical_and(ops.logical_not(x1), x2))
def less(x1: Array, x2: Array, /) -> Array:
    """Whether x1 < x2.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.less(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([False, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.less.html
    """


@primitive
@of_bools(lambda x1, x2: ops.logical_or(ops.logical_not(x1), x2))
def less_equal(x1: Array, x2: Array, /) -> Array:
    """Whether x1 ≤ x2.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.less_equal(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.less_equal.html
    """


@primitive
@of_bools(lambda x1, x2: ops.logical_and(x1, ops.logical_not(x2)))
def greater(x1: Array, x2: Array, /) -> Array:
    """Whether x1 > x2.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.greater(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([ True, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.greater.html
    """


@primitive
@of_bools(lambda x1, x2: ops.logical_or(x1, ops.logical_not(x2)))
def greater_equal(x1: Array, x2: Array, /) -> Array:
    """Whether x1 ≥ x2.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.greater_equal(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([ True,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.greater_equal.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def logical_and(x1: Array, x2: Array, /) -> Array:
    """x1 ∧ x2; a number is true where it is not 0.

    Args:
        x1: any; broadcasts with `x2`, the dtypes promote.
        x2: any.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.logical_and(np.asarray([True, True]), np.asarray([True, False]))
        array([ True, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.logical_and.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def logical_or(x1: Array, x2: Array, /) -> Array:
    """x1 ∨ x2; a number is true where it is not 0.

    Args:
        x1: any; broadcasts with `x2`, the dtypes promote.
        x2: any.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.logical_or(np.asarray([True, False]), np.asarray([False, False]))
        array([ True, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.logical_or.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def logical_xor(x1: Array, x2: Array, /) -> Array:
    """x1 ⊻ x2: exactly one of them; a number is true where it is not 0.

    Args:
        x1: any; broadcasts with `x2`, the dtypes promote.
        x2: any.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.logical_xor(np.asarray([True, True]), np.asarray([True, False]))
        array([False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.logical_xor.html
    """


@primitive
def logical_not(x: Array, /) -> Array:
    """¬x; a number is true where it is not 0.

    Args:
        x: any.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.logical_not(np.asarray([True, False]))
        array([False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.logical_not.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def bitwise_and(x1: Array, x2: Array, /) -> Array:
    """The bitwise and, x1 ∧ x2.

    Args:
        x1: integer or bool; broadcasts with `x2`, the dtypes promote.
        x2: integer or bool.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bitwise_and(np.asarray([6]), np.asarray([3]))
        array([2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.bitwise_and.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def bitwise_or(x1: Array, x2: Array, /) -> Array:
    """The bitwise or, x1 ∨ x2.

    Args:
        x1: integer or bool; broadcasts with `x2`, the dtypes promote.
        x2: integer or bool.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bitwise_or(np.asarray([6]), np.asarray([3]))
        array([7])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.bitwise_or.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def bitwise_xor(x1: Array, x2: Array, /) -> Array:
    """The bitwise exclusive or, x1 ⊕ x2.

    Args:
        x1: integer or bool; broadcasts with `x2`, the dtypes promote.
        x2: integer or bool.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bitwise_xor(np.asarray([6]), np.asarray([3]))
        array([5])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.bitwise_xor.html
    """


@primitive
def bitwise_invert(x: Array, /) -> Array:
    """All bits flipped, ~x; logical negation for booleans.

    Args:
        x: integer or bool.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bitwise_invert(np.asarray([True, False]))
        array([False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.bitwise_invert.html
    """


@primitive
def bitwise_left_shift(x1: Array, x2: Array, /) -> Array:
    """x1 · 2^x2: the bits moved left.

    A shift by the width of the dtype or more, or by a negative number, leaves 0.

    Args:
        x1: integer; broadcasts with `x2`, the dtypes promote.
        x2: integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bitwise_left_shift(np.asarray([3]), np.asarray([2]))
        array([12])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.bitwise_left_shift.html
    """


@primitive
def bitwise_right_shift(x1: Array, x2: Array, /) -> Array:
    """⌊x1 / 2^x2⌋: the bits moved right, keeping the sign.

    A shift by the width of the dtype or more, or by a negative number, leaves 0, or −1 below 0.

    Args:
        x1: integer; broadcasts with `x2`, the dtypes promote.
        x2: integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bitwise_right_shift(np.asarray([-8]), np.asarray([1]))
        array([-4])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.bitwise_right_shift.html
    """


@primitive
def isfinite(x: Array, /) -> Array:
    """Whether x is neither infinite nor NaN; True for integers.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.isfinite(np.asarray([1.0, np.inf, np.nan]))
        array([ True, False, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isfinite.html
    """


@primitive
def isinf(x: Array, /) -> Array:
    """Whether x is +∞ or −∞; False for integers.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.isinf(np.asarray([1.0, -np.inf, np.nan]))
        array([False,  True, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isinf.html
    """


@op
def isposinf(x: Array, /) -> Array:
    """Whether x is +∞; False for integers.

    Args:
        x: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.isposinf(np.asarray([1.0, -np.inf, np.inf]))
        array([False, False,  True])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.isposinf.html
    """
    refuse_complex(x)
    return ops.logical_and(ops.isinf(x), ops.logical_not(ops.signbit(x)))


@op
def isneginf(x: Array, /) -> Array:
    """Whether x is −∞; False for integers.

    Args:
        x: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.isneginf(np.asarray([1.0, -np.inf, np.inf]))
        array([False,  True, False])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.isneginf.html
    """
    refuse_complex(x)
    return ops.logical_and(ops.isinf(x), ops.signbit(x))


@primitive
def isnan(x: Array, /) -> Array:
    """Whether x is not a number; False for integers.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.isnan(np.asarray([1.0, np.inf, np.nan]))
        array([False, False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isnan.html
    """


@primitive
@of_bools(lambda x: ops.zeros_like(x))
def signbit(x: Array, /) -> Array:
    """Whether the sign bit is set: negative numbers and −0.0.

    Args:
        x: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.signbit(np.asarray([-1.0, -0.0, 0.0]))
        array([ True,  True, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.signbit.html
    """


@op
def isclose(
    x1: Array, x2: Array, /, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    """Whether |x1 − x2| ≤ atol + rtol · |x2|.

    Args:
        x1: any number; broadcasts with `x2`.
        x2: any number, the reference of `rtol`.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: treat NaN as close to NaN.

    Returns:
        bool, of the broadcast shape. An infinity is close to itself only.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.isclose(np.asarray([1.0, np.inf]), np.asarray([1.0 + 1e-9, np.inf]))
        array([ True,  True])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.isclose.html
    """
    dtype = dtypes.result_dtype(x1, x2)
    if not dtype.is_inexact:
        # Differences of unsigned integers would wrap around.
        x1, x2 = ops.astype(x1, dtypes.float32), ops.astype(x2, dtypes.float32)
    within = ops.less_equal(
        ops.abs(ops.subtract(x1, x2)), ops.add(ops.multiply(ops.abs(x2), rtol), atol)
    )
    close = ops.logical_or(ops.equal(x1, x2), ops.logical_and(within, ops.isfinite(x2)))
    if equal_nan:
        close = ops.logical_or(close, ops.logical_and(ops.isnan(x1), ops.isnan(x2)))
    return close


@op(traits=Trait.HALF_SAFE | Trait.CONSTANT)
def allclose(
    x1: Array, x2: Array, /, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    """Whether `isclose` is True for all elements.

    Args:
        x1: any number; broadcasts with `x2`.
        x2: any number, the reference of `rtol`.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: treat NaN as close to NaN.

    Returns:
        bool array of shape ().

    Example:
        >>> import numpy as np, nestarray as na
        >>> bool(na.allclose(np.asarray([1.0, 2.0]), np.asarray([1.0, 2.1])))
        False

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.allclose.html
    """
    return ops.all(ops.isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan))
