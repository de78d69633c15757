"""Samples have SciPy's distributions; streams of several keys are independent.

Keys are fixed, so a test that passes once passes always. A right sampler would fail with a
probability of 1e-6 for a key; the wrong ones of the last test have levels far below that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats

import nestarray as na

LEVEL = 1e-6
NUMBER = 20_000
KEY = na.random.key(20)

CONTINUOUS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "uniform": (
        lambda k: na.random.uniform(k, (NUMBER,), "float32", -1.0, 3.0),
        scipy.stats.uniform(-1, 4),
    ),
    "normal": (lambda k: na.random.normal(k, (NUMBER,)), scipy.stats.norm()),
    "truncated_normal": (
        lambda k: na.random.truncated_normal(k, -1.0, 2.0, (NUMBER,)),
        scipy.stats.truncnorm(-1, 2),
    ),
    "exponential": (lambda k: na.random.exponential(k, (NUMBER,)), scipy.stats.expon()),
    "gumbel": (lambda k: na.random.gumbel(k, (NUMBER,)), scipy.stats.gumbel_r()),
    "gumbel high": (lambda k: na.random.gumbel(k, (NUMBER,), mode="high"), scipy.stats.gumbel_r()),
    "laplace": (lambda k: na.random.laplace(k, (NUMBER,)), scipy.stats.laplace()),
    "logistic": (lambda k: na.random.logistic(k, (NUMBER,)), scipy.stats.logistic()),
    "cauchy": (lambda k: na.random.cauchy(k, (NUMBER,)), scipy.stats.cauchy()),
    "gamma": (lambda k: na.random.gamma(k, 3.5, (NUMBER,)), scipy.stats.gamma(3.5)),
    "gamma of 1": (lambda k: na.random.gamma(k, 1.0, (NUMBER,)), scipy.stats.gamma(1.0)),
    "gamma below 1": (lambda k: na.random.gamma(k, 0.3, (NUMBER,)), scipy.stats.gamma(0.3)),
    "loggamma": (lambda k: na.random.loggamma(k, 0.1, (NUMBER,)), scipy.stats.loggamma(0.1)),
    "beta": (lambda k: na.random.beta(k, 0.7, 2.0, (NUMBER,)), scipy.stats.beta(0.7, 2)),
    "chisquare": (lambda k: na.random.chisquare(k, 3.0, (NUMBER,)), scipy.stats.chi2(3)),
    "student_t": (lambda k: na.random.student_t(k, 4.0, (NUMBER,)), scipy.stats.t(4)),
    "f": (lambda k: na.random.f(k, 5.0, 12.0, (NUMBER,)), scipy.stats.f(5, 12)),
    "generalized_normal": (
        lambda k: na.random.generalized_normal(k, 2.5, (NUMBER,)),
        scipy.stats.gennorm(2.5),
    ),
    "rayleigh": (lambda k: na.random.rayleigh(k, 2.0, (NUMBER,)), scipy.stats.rayleigh(0, 2)),
    "weibull_min": (
        lambda k: na.random.weibull_min(k, 3.0, 1.7, (NUMBER,)),
        scipy.stats.weibull_min(1.7, 0, 3),
    ),
    "pareto": (lambda k: na.random.pareto(k, 2.5, (NUMBER,)), scipy.stats.pareto(2.5)),
    "lognormal": (lambda k: na.random.lognormal(k, 0.7, (NUMBER,)), scipy.stats.lognorm(0.7)),
    "maxwell": (lambda k: na.random.maxwell(k, (NUMBER,)), scipy.stats.maxwell()),
    "double_sided_maxwell": (
        lambda k: abs(na.random.double_sided_maxwell(k, 0.0, 2.0, (NUMBER,))),
        scipy.stats.maxwell(0, 2),
    ),
    "triangular": (
        lambda k: na.random.triangular(k, -1.0, 0.5, 3.0, (NUMBER,)),
        scipy.stats.triang(0.375, -1, 4),
    ),
    "wald": (lambda k: na.random.wald(k, 2.0, (NUMBER,)), scipy.stats.invgauss(2)),
    "dirichlet": (  # each component is a beta number
        lambda k: na.random.dirichlet(k, np.asarray([1.0, 2.0, 3.0]), (NUMBER,))[:, 1],
        scipy.stats.beta(2, 4),
    ),
    "ball": (  # the radius to the power of the dimension is uniform
        lambda k: np.linalg.norm(na.random.ball(k, 3, shape=(NUMBER,)), axis=1) ** 3,
        scipy.stats.uniform(),
    ),
    "ball of p = 1": (
        lambda k: abs(na.random.ball(k, 2, 1.0, (NUMBER,))).sum(1) ** 2,
        scipy.stats.uniform(),
    ),
    "orthogonal": (  # a component of a uniform direction in three dimensions is uniform
        lambda k: na.random.orthogonal(k, 3, (NUMBER,))[:, 0, 2],
        scipy.stats.uniform(-1, 2),
    ),
    "multivariate_normal": (
        lambda k: na.random.multivariate_normal(
            k, np.asarray([1.0, 2.0]), np.asarray([[1.0, 0.6], [0.6, 4.0]]), (NUMBER,)
        )[:, 1],
        scipy.stats.norm(2, 2),
    ),
}

DISCRETE: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "bits": (lambda k: na.random.bits(k, (NUMBER,), "uint8"), scipy.stats.randint(0, 256)),
    "randint": (lambda k: na.random.randint(k, (NUMBER,), -3, 14), scipy.stats.randint(-3, 14)),
    "bernoulli": (lambda k: na.random.bernoulli(k, 0.3, (NUMBER,)), scipy.stats.bernoulli(0.3)),
    "rademacher": (
        lambda k: (na.random.rademacher(k, (NUMBER,)) + 1) // 2,
        scipy.stats.bernoulli(0.5),
    ),
    "poisson by products": (lambda k: na.random.poisson(k, 3.0, (NUMBER,)), scipy.stats.poisson(3)),
    "poisson at the border": (
        lambda k: na.random.poisson(k, 10.0, (NUMBER,)),
        scipy.stats.poisson(10),
    ),
    "poisson by rejection": (
        lambda k: na.random.poisson(k, 80.0, (NUMBER,)),
        scipy.stats.poisson(80),
    ),
    "geometric": (lambda k: na.random.geometric(k, 0.3, (NUMBER,)), scipy.stats.geom(0.3)),
    "binomial by inversion": (
        lambda k: na.random.binomial(k, 30, 0.2, (NUMBER,)),
        scipy.stats.binom(30, 0.2),
    ),
    "binomial by rejection": (
        lambda k: na.random.binomial(k, 300, 0.7, (NUMBER,)),
        scipy.stats.binom(300, 0.7),
    ),
    "multinomial": (
        lambda k: na.random.multinomial(k, 20, np.asarray([0.2, 0.5, 0.3]), shape=(NUMBER,))[:, 1],
        scipy.stats.binom(20, 0.5),
    ),
    "categorical": (
        lambda k: na.random.categorical(k, np.log([0.2, 0.5, 0.3]), shape=(NUMBER,)),
        scipy.stats.rv_discrete(values=([0, 1, 2], [0.2, 0.5, 0.3])),
    ),
    "choice": (
        lambda k: na.random.choice(k, 3, (NUMBER,), p=np.asarray([0.2, 0.5, 0.3])),
        scipy.stats.rv_discrete(values=([0, 1, 2], [0.2, 0.5, 0.3])),
    ),
    "dropout_mask": (
        lambda k: na.random.dropout_mask(k, 0.8, (NUMBER,)) / 5.0,
        scipy.stats.bernoulli(0.2),
    ),
}


def level_of_numbers(x: Any, distribution: Any) -> float:
    return float(scipy.stats.kstest(np.asarray(x, "f8"), distribution.cdf).pvalue)


def level_of_counts(x: Any, distribution: Any) -> float:
    """Pearson's test; values of small expectation are taken together at both ends."""
    x = np.asarray(x).astype(int)
    values = np.arange(min(x.min(), int(distribution.ppf(1e-9))), x.max() + 2)
    expected = distribution.pmf(values) * len(x)
    inside = values[expected >= 10]
    low, high = inside.min(), inside.max()
    clipped = np.clip(x, low, high)
    found = np.bincount(clipped - low, minlength=high - low + 1)
    chances = distribution.pmf(np.arange(low, high + 1))
    chances[0], chances[-1] = distribution.cdf(low), distribution.sf(high - 1)
    return float(scipy.stats.chisquare(found, chances * len(x)).pvalue)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str) -> None:
    draw, distribution = CONTINUOUS[name]
    assert level_of_numbers(draw(KEY), distribution) > LEVEL


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name: str) -> None:
    draw, distribution = DISCRETE[name]
    assert level_of_counts(draw(KEY), distribution) > LEVEL


@pytest.mark.full
@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
@pytest.mark.parametrize("seed", range(8))
def test_other_seeds(name: str, seed: int) -> None:
    of, level = (
        (CONTINUOUS, level_of_numbers) if name in CONTINUOUS else (DISCRETE, level_of_counts)
    )
    draw, distribution = of[name]
    assert level(draw(na.random.key(seed)), distribution) > LEVEL


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("backend", ["numpy", pytest.param("jax", marks=pytest.mark.full), "torch"])
def test_narrow_gamma_numbers(dtype: str, backend: str) -> None:
    key = na.random.key(3, backend=backend)
    drawn = na.random.gamma(key, 3.0, (NUMBER // 8,), dtype)
    x = np.asarray(na.to_backend(na.astype(drawn, "float32"), "numpy"))
    noise = na.random.uniform(na.random.key(9), x.shape, "float32", -0.5, 0.5)  # undoes rounding
    assert level_of_numbers(x + noise * x * na.finfo(dtype).eps, scipy.stats.gamma(3.0)) > LEVEL


def test_covariance() -> None:
    cov = np.asarray([[2.0, -1.2, 0.3], [-1.2, 1.5, 0.2], [0.3, 0.2, 0.7]])
    for method in ("cholesky", "svd", "eigh"):
        x = na.random.multivariate_normal(KEY, np.zeros(3), cov, (NUMBER,), method=method)
        white = np.linalg.solve(np.linalg.cholesky(cov), x.T)
        assert level_of_numbers((white**2).sum(0), scipy.stats.chi2(3)) > LEVEL
        assert abs(np.cov(x.T) - cov).max() < 0.1


def test_all_orders_are_alike_likely() -> None:
    orders = na.vmap(lambda k: na.random.permutation(k, 4))(na.random.split(KEY, 4800))
    codes = np.unique(orders @ np.asarray([64, 16, 4, 1]), return_counts=True)[1]
    assert len(codes) == 24
    assert scipy.stats.chisquare(codes).pvalue > LEVEL


def test_samples_without_replacement() -> None:
    p = np.asarray([0.1, 0.2, 0.3, 0.4])
    keys = na.random.split(KEY, 4000)
    pairs = na.vmap(lambda k: na.random.choice(k, 4, (2,), replace=False, p=p))(keys)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert scipy.stats.chisquare(np.bincount(pairs[:, 0]), p * 4000).pvalue > LEVEL
    second = np.asarray(
        [sum(p[i] * p[j] / (1 - p[i]) for i in range(4) if i != j) for j in range(4)]
    )
    assert scipy.stats.chisquare(np.bincount(pairs[:, 1]), second * 4000).pvalue > LEVEL


def test_bits_are_fair_and_independent() -> None:
    words = na.random.bits(KEY, (50_000,))
    table = (words[:, None] >> np.arange(32, dtype=np.uint32) & 1).astype("f8") - 0.5
    bound = 6.0 / np.sqrt(len(words))  # six standard deviations of a mean of signs
    assert abs(2 * table.mean(0)).max() < bound
    together = 4 * table.T @ table / len(words) - np.eye(32)
    assert abs(together).max() < bound
    following = 4 * table[1:].T @ table[:-1] / len(words)
    assert abs(following).max() < bound


@pytest.mark.parametrize(
    "streams",
    [
        lambda: [na.random.uniform(k, (5000,)) for k in na.random.split(KEY, 8)],
        lambda: [na.random.uniform(na.random.fold_in(KEY, i), (5000,)) for i in range(8)],
        lambda: [
            na.random.uniform(na.random.fold_in(KEY, f"layer/{i}/w"), (5000,)) for i in range(8)
        ],
        lambda: [na.random.uniform(na.random.key(i), (5000,)) for i in range(8)],
        lambda: [rng.uniform((5000,)) for rng in na.random.Generator(4).spawn(8)],
    ],
    ids=["split", "fold_in", "paths", "seeds", "spawn"],
)
def test_streams_are_independent(streams: Callable[[], list[Any]]) -> None:
    table = np.stack(streams())
    correlation = np.corrcoef(table) - np.eye(len(table))
    assert abs(correlation).max() < 6 / np.sqrt(table.shape[1])
    assert level_of_numbers(table.ravel(), scipy.stats.uniform()) > LEVEL
    sums = table.sum(0) % 1.0  # uniform too, if the streams are independent
    assert level_of_numbers(sums, scipy.stats.uniform()) > LEVEL


def test_wrong_samplers_are_found_out() -> None:
    """Errors that are easily made have levels far below the one asked for."""
    n = (NUMBER,)
    u = na.random.uniform(KEY, n)
    numbers = [
        (na.random.normal(KEY, n) * 1.2, scipy.stats.norm()),
        (na.random.normal(KEY, n) + 0.07, scipy.stats.norm()),
        (na.random.gamma(KEY, 3.3, n), scipy.stats.gamma(3.5)),
        (na.random.gamma(KEY, 1.3, n), scipy.stats.gamma(0.3)),  # without the power for a < 1
        (np.tan(np.pi * u / 2), scipy.stats.cauchy()),
        (na.random.student_t(KEY, 12.0, n), scipy.stats.t(4)),
        (np.sqrt(na.random.beta(KEY, 1.0, 1.0, n)), scipy.stats.uniform()),
    ]
    for x, distribution in numbers:
        assert level_of_numbers(x, distribution) < LEVEL * 1e-3
    counts = [
        (na.random.poisson(KEY, 77.0, n), scipy.stats.poisson(80)),
        (na.random.poisson(KEY, 10.5, n), scipy.stats.poisson(10)),
        (na.random.randint(KEY, n, -3, 13), scipy.stats.randint(-3, 14)),
        (na.random.bits(KEY, n, "uint8") % 17, scipy.stats.randint(0, 17)),
        (u < 0.33, scipy.stats.bernoulli(0.3)),
    ]
    levels = [level_of_counts(x, distribution) for x, distribution in counts]
    assert max(levels[:3]) < LEVEL * 1e-3
    assert levels[4] < LEVEL * 1e-3
    assert levels[3] > LEVEL  # 256 of 17: too small a bias for so many draws
