"""Random numbers from explicit keys: the same numbers on every backend, those of ``jax.random``.

A key is an array of two uint32, as ``jax.random.PRNGKey`` makes it, and lives on one
backend; what is drawn from it lives there too. Nothing here has a state (but `Generator`,
for scripts): the same key gives the same numbers. So take new keys by `split` or `fold_in`,
and use each one once.

Integers, uniform numbers, permutations and draws of `bernoulli` have the bits that
``jax.random`` draws from the same key. Numbers that go through erf⁻¹, a logarithm or another
such function agree to the rounding of these, and so do uniform numbers in other ranges than
[0, 1): a compiler may multiply and add with one rounding. Numbers by rejection (`gamma`,
`poisson` and what is made of them) take the same decisions, but where a rounding tips one.

Functions take what those of ``jax.random`` take, by the same names. They work inside ``jit``
and ``vmap``, and of a Container of keys make a Container of draws. Trees of random numbers
are made by ``c.random_like(key)``.

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
