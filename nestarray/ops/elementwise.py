"""Functions of one element at a time: arithmetic, comparison, logic, exponentials, trigonometry."""

from __future__ import annotations

from nestarray.dispatch import op, primitive
from nestarray.typing import Array

__all__ = [
    "abs",
    "add",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "divide",
    "equal",
    "exp",
    "floor_divide",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "multiply",
    "negative",
    "not_equal",
    "positive",
    "pow",
    "remainder",
    "subtract",
]


@primitive
def abs(x: Array, /) -> Array:
    """The absolute value, |x|; of a complex number its modulus.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.abs(np.asarray([-1.5, 2.0]))
        array([1.5, 2. ])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.abs.html
    """


@primitive
def exp(x: Array, /) -> Array:
    """The exponential, eˣ.

    Args:
        x: floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.exp(np.asarray([0.0, 1.0]))
        array([1.        , 2.71828183])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.exp.html
    """


@primitive
def negative(x: Array, /) -> Array:
    """The negative, −x.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.negative(np.asarray([1, -2]))
        array([-1,  2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.negative.html
    """


@primitive
def positive(x: Array, /) -> Array:
    """`x` itself, +x.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.positive(np.asarray([1, -2]))
        array([ 1, -2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.positive.html
    """


@primitive
def bitwise_invert(x: Array, /) -> Array:
    """All bits flipped, ~x; of booleans the negation.

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
def add(x1: Array, x2: Array, /) -> Array:
    """The sum, x1 + x2.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.add(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([ 7., 14.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.add.html
    """


@primitive
def subtract(x1: Array, x2: Array, /) -> Array:
    """The difference, x1 − x2.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.subtract(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([3., 0.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.subtract.html
    """


@primitive
def multiply(x1: Array, x2: Array, /) -> Array:
    """The product, x1 · x2.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.multiply(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([10., 49.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.multiply.html
    """


@primitive
def divide(x1: Array, x2: Array, /) -> Array:
    """The quotient, x1 / x2; integers are divided as floating-point numbers.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.divide(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([2.5, 1. ])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.divide.html
    """


@primitive
def floor_divide(x1: Array, x2: Array, /) -> Array:
    """The quotient rounded towards −∞, ⌊x1 / x2⌋.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.floor_divide(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([2., 1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.floor_divide.html
    """


@primitive
def remainder(x1: Array, x2: Array, /) -> Array:
    """The remainder of `floor_divide`, with the sign of x2.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.remainder(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([1., 0.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.remainder.html
    """


@primitive
def pow(x1: Array, x2: Array, /) -> Array:
    """The power, x1 to the x2.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pow(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([2.50000e+01, 8.23543e+05])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.pow.html
    """


@primitive
def bitwise_and(x1: Array, x2: Array, /) -> Array:
    """Bit by bit x1 ∧ x2.

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


@primitive
def bitwise_or(x1: Array, x2: Array, /) -> Array:
    """Bit by bit x1 ∨ x2.

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


@primitive
def bitwise_xor(x1: Array, x2: Array, /) -> Array:
    """Bit by bit x1 ⊕ x2.

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
def bitwise_left_shift(x1: Array, x2: Array, /) -> Array:
    """x1 · 2^x2: the bits moved left.

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
def equal(x1: Array, x2: Array, /) -> Array:
    """Where x1 = x2.

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


@primitive
def not_equal(x1: Array, x2: Array, /) -> Array:
    """Where x1 ≠ x2.

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
def less(x1: Array, x2: Array, /) -> Array:
    """Where x1 < x2.

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
def less_equal(x1: Array, x2: Array, /) -> Array:
    """Where x1 ≤ x2.

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
def greater(x1: Array, x2: Array, /) -> Array:
    """Where x1 > x2.

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
def greater_equal(x1: Array, x2: Array, /) -> Array:
    """Where x1 ≥ x2.

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
