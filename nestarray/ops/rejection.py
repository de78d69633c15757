"""Random numbers by rejection sampling.

References:
    https://docs.jax.dev/en/latest/jax.random.html
"""

from __future__ import annotations

from functools import partial

import numpy as np

from nestarray import backends, dtypes, ops
from nestarray.backends.control_flow import find_for
from nestarray.dispatch import op
from nestarray.numerics import binomial, rejection, threefry
from nestarray.typing import Array, DTypeLike

__all__ = ["random_binomial", "random_gamma", "random_poisson"]


@op(promoted=("a",))
def random_gamma(key: Array, a: Array, *, log_space: bool = False) -> Array:
    """Gamma random numbers with the density xᵃ⁻¹ e⁻ˣ / Γ(a), one for each element of `a`.

    Marsaglia and Tsang's rejection method, with an acceptance rate above 95 %. Derivatives with
    respect to `a`, up to the third, are those of the quantile function at the drawn level.

    Args:
        key: `(2,)`, uint32, from ``na.random.key``.
        a: floating, above 0.
        log_space: the logarithms, exact where the numbers are too small for their dtype.

    Returns:
        array of the shape and dtype of `a`; 0 where `a` is 0, NaN where it is negative or NaN.

    Raises:
        DtypeError: `a` is not of a real floating dtype.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random_gamma(na.random.key(0), np.full(10000, 2.0))
        >>> bool(abs(x.mean() - 2) < 0.1)
        True

    References:
        Marsaglia and Tsang, A simple method for generating gamma variables. ACM Transactions
        on Mathematical Software, 2000.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.gamma.html
    """
    threefry.check_key(key)
    threefry.check_uniform_dtype("random_gamma", dtypes.dtype_of(a))
    flat = ops.reshape(a, (-1,))
    keys = ops.matrix_transpose(ops.random_split(key, num=ops.shape(flat)[0]))
    unit = partial(threefry.unit, ops)
    words = rejection.Words(_hash, unit, backends.widest_float(a))
    rounds = partial(rejection.gamma_rounds, ops, words)
    return ops.reshape(rejection.gamma(ops, words, keys, flat, log_space, rounds), ops.shape(a))


def _hash(keys: Array, counters: Array) -> tuple[Array, Array]:
    return ops.threefry2x32(keys, ops.zeros_like(counters), counters)


@op(promoted=("lam",))
def random_poisson(key: Array, lam: Array, *, dtype: DTypeLike = "int32") -> Array:
    """Poisson random numbers with P(k) = e^−λ λᵏ / k!, one for each element of `lam`.

    Args:
        key: `(2,)`, uint32, from ``na.random.key``.
        lam: float32, 0 and above, and finite.
        dtype: an integer type.

    Returns:
        array of the shape of `lam` and of `dtype`, in which larger counts become the largest; −1
        where `lam` is NaN or negative.

    Raises:
        DtypeError: `dtype` is not an integer type, or `lam` is not float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random_poisson(na.random.key(0), np.full(10000, 2.0, np.float32))
        >>> bool(abs(x.mean() - 2) < 0.1)
        True

    References:
        Hörmann, The transformed rejection method for generating Poisson random variables.
        Insurance: Mathematics and Economics, 1993.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.poisson.html
    """
    wanted = threefry.check_rates(key, lam, dtype)
    lam = ops.stop_gradient(lam)
    with np.errstate(all="ignore"):  # rejected candidates may overflow
        counts = rejection.poisson(ops, key, lam, find_for((lam,), "while_loop"))
    return rejection.as_counts(ops, counts, wanted)


@op
def random_binomial(key: Array, n: Array, p: Array) -> Array:
    """Binomial random numbers: the number of successes in `n` trials with probability `p`.

    Args:
        key: `(2,)`, uint32, from ``na.random.key``.
        n: float32 or float64, whole numbers of 0 and above.
        p: from 0 to 1, of the shape and dtype of `n`.

    Returns:
        array of the shape and dtype of `p`; NaN where `n` is negative or not finite, or `p`
        outside of [0, 1].

    Raises:
        DtypeError: `p` is not of float32 or float64, or `n` of another dtype.
        ShapeError: `n` and `p` have different shapes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> n = np.full(10000, 20.0)
        >>> x = na.random_binomial(na.random.key(0), n, np.full(10000, 0.25))
        >>> bool(abs(x.mean() - 5) < 0.1)
        True

    References:
        Hörmann, The generation of binomial random variates. Journal of Statistical Computation
        and Simulation, 1993.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.binomial.html
    """
    threefry.check_trials(key, n, p)
    n, p = ops.stop_gradient(n), ops.stop_gradient(p)
    with np.errstate(all="ignore"):  # rejected candidates may overflow
        return binomial.binomial(ops, key, n, p, find_for((p,), "while_loop"))
