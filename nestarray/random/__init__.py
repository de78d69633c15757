"""Random numbers from explicit keys; they equal ``jax.random`` on every backend.

A key is an array of two uint32, as in ``jax.random.PRNGKey``, on one backend; its samples are
arrays of that backend. Samplers have no state (except `Generator`, for scripts): the same key
gives the same numbers. So make new keys with `split` or `fold_in`, and use each key once.

Integers, uniform numbers, permutations and `bernoulli` have the same bits as ``jax.random``.
Samples computed with erf⁻¹, a logarithm or a similar function agree up to the rounding of that
function; uniform numbers in ranges other than [0, 1) up to fused multiply-add. Rejection
samplers (`gamma`, `poisson` and their relatives) take the same decisions, except at ties that
rounding decides.

Functions have the parameters of ``jax.random``. They work inside ``jit`` and ``vmap``, and map a
Container of keys to a Container of samples. ``c.random_like(key)`` makes trees of random numbers.

Example:
    >>> import nestarray as na
    >>> first, second = na.random.split(na.random.key(0))
    >>> na.random.uniform(first, (2,))
    array([0.8423141 , 0.18237865], dtype=float32)
"""

from nestarray.errors.unknown_names import suggest_names as _suggest_names
from nestarray.random.continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    normal,
    truncated_normal,
    uniform,
)
from nestarray.random.counts import binomial, geometric, multinomial, poisson
from nestarray.random.discrete import bernoulli, bits, dropout_mask, rademacher, randint
from nestarray.random.gammas import (
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    generalized_normal,
    loggamma,
    student_t,
)
from nestarray.random.generator import Generator
from nestarray.random.keys import fold_in, key, split
from nestarray.random.parametric import (
    double_sided_maxwell,
    lognormal,
    maxwell,
    pareto,
    rayleigh,
    triangular,
    wald,
    weibull_min,
)
from nestarray.random.selections import categorical, choice, permutation
from nestarray.random.vectors import ball, multivariate_normal, orthogonal

__all__ = [
    "Generator",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "dirichlet",
    "double_sided_maxwell",
    "dropout_mask",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "student_t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
]

_suggest_names(__name__)
