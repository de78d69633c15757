"""Random numbers: NumPy's `Generator` over the keys of `na.random`.

Upstream: https://numpy.org/doc/stable/reference/random/generator.html. Methods have NumPy's arguments,
distributions, shapes and dtypes. The bits come from Threefry, the same on every framework for one
seed, and differ from NumPy's PCG64. The numbers are of the framework of the key: an integer seed
makes a key on the current backend. Functions with hidden state (``np.random.rand``) are missing:
their results would depend on the order of calls in the whole process.

Example:
    >>> from nestarray.frontends import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rng.integers(0, 10, size=4)
    array([8, 2, 3, 5])
    >>> rng.normal(5.0, 2.0, size=(2, 3)).shape
    (2, 3)
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import SeedSequence

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError, UnsupportedError
from nestarray.frontends.numpy.arrays import (
    as_array,
    available,
    cast,
    is_native,
    is_number,
    write,
)
from nestarray.frontends.numpy.ndarray import natives, wrapped
from nestarray.typing import Array

__all__ = ["Generator", "SeedSequence", "default_rng"]

Size = int | Sequence[int] | None


def default_rng(seed: Any = None) -> Generator:
    """The generator of a seed.

    Args:
        seed: an integer, a sequence of integers or a ``SeedSequence``; a key of `na.random`, on whose
            framework the numbers are; a `Generator`, which is returned; None for a seed of the system.
    """
    return seed if isinstance(seed, Generator) else Generator(seed)


class Generator:
    """Random numbers by key; see the module.

    Args:
        seed: as for `default_rng`.
    """

    def __init__(self, seed: Any = None) -> None:
        seed = natives(seed)
        if seed is None:
            seed = secrets.randbits(64)
        if isinstance(seed, (list, tuple)):
            seed = SeedSequence(seed)
        if isinstance(seed, SeedSequence):
            seed = int(seed.generate_state(1, np.uint64)[0])
        is_key = is_native(seed)
        self._source = na.random.Generator.from_key(seed if is_key else na.random.key(seed))

    def __repr__(self) -> str:
        return f"Generator(Threefry) on {na.backend_of(self._source.key)}"

    @property
    def key(self) -> Array:
        """The state, a key of `na.random`."""
        return self._source.key

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators that are independent of each other and of this one."""
        return [Generator(child.key) for child in self._source.spawn(n_children)]

    # -- bits and integers -------------------------------------------------------------------

    def bytes(self, length: int) -> bytes:
        """Random bytes."""
        found = na.random.bits(self._source.next_key(), (length,), dtypes.uint8)
        return np.asarray(na.to_backend(found, "numpy")).tobytes()

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        """Integers in [low, high), in [low, high] with `endpoint`, or in [0, low) without `high`."""
        low, high = (0, low) if high is None else (low, high)
        key, (low, high) = self._source.next_key(), map(natives, (low, high))
        wanted = available(np.bool_ if dtype is bool else dtype, key)
        drawn = dtypes.int32 if wanted is dtypes.bool else wanted
        bounds = [x if is_number(x) else cast(as_array(x, key), drawn) for x in (low, high)]
        bounds[1] = bounds[1] + 1 if endpoint else bounds[1]
        if all(map(is_number, bounds)) and bounds[0] >= bounds[1]:
            raise ValueError("low >= high")
        found = na.random.randint(key, _shape(size, *bounds), bounds[0], bounds[1], drawn)
        return self._result(cast(found, wanted), size, low, high)

    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        """Random slices of `a` along an axis; of an integer, random numbers below it."""
        key = self._source.next_key()
        a = self._numbers(a, key)
        if p is not None:
            p = self._parameters(key, np.float64, p)[0]
        return self._result(na.random.choice(key, a, _shape(size), replace, p, axis), size)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """The slices of `x` along an axis in random order; of an integer, the numbers below it."""
        key = self._source.next_key()
        return wrapped(na.random.permutation(key, self._numbers(x, key), axis))

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """`x` with each line along an axis in its own order; without an axis, all elements mixed."""
        key = self._source.next_key()
        x = as_array(natives(x), key)
        flat = x if axis is not None else na.reshape(x, (-1,))
        found = na.random.permutation(key, flat, axis or 0, independent=True)
        found = wrapped(na.reshape(found, na.shape(x)))
        return found if out is None else write(out, found)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Bring the slices of `x` along an axis into random order, in place."""
        if isinstance(x, list):
            order = self.permutation(len(x))
            x[:] = [x[int(i)] for i in order]
        else:
            write(x, self.permutation(x, axis))

    def _numbers(self, x: Any, key: Array) -> Array:
        x = natives(x)
        if isinstance(x, (int, np.integer)):
            return na.arange(int(x), dtype=available(np.int64, key), like=key)
        return as_array(x, key)

    # -- distributions -----------------------------------------------------------------------

    @staticmethod
    def _parameters(key: Array, dtype: Any, *values: Any) -> list[Any]:
        """Parameters as numbers, or as arrays on the framework of the key."""
        wanted = available(dtype, key)
        return [
            float(x) if is_number(x) else cast(as_array(x, key), wanted)
            for x in map(natives, values)
        ]

    def _draw(
        self, sampler: Callable[..., Array], size: Size, *values: Any, dtype: Any = np.float64
    ) -> Any:
        """A draw of a sampler of `na.random` with parameters of one dtype."""
        key = self._source.next_key()
        given = self._parameters(key, dtype, *values)
        found = sampler(key, *given, shape=_shape(size, *given), dtype=available(dtype, key))
        return self._result(found, size, *given)

    def _moved(
        self, sampler: Callable[..., Array], size: Size, loc: Any, scale: Any, *values: Any
    ) -> Any:
        """loc + scale · a draw of a sampler."""
        key = self._source.next_key()
        loc, scale, *given = self._parameters(key, np.float64, loc, scale, *values)
        shape = _shape(size, loc, scale, *given)
        draw = sampler(key, *given, shape=shape, dtype=available(np.float64, key))
        return self._result(draw * scale + loc, size, loc, scale, *given)

    def _counts(self, sampler: Callable[..., Array], size: Size, *values: Any) -> Any:
        """A draw of counts, which the sampler gives as floats."""
        found = natives(self._draw(sampler, size, *values))
        return wrapped(cast(found, np.int64)) if is_native(found) else int(found)

    @staticmethod
    def _result(found: Array, size: Size, *parameters: Any) -> Any:
        """The draw; a scalar for NumPy without `size` and arrays among the parameters."""
        is_scalar = size is None and isinstance(found, np.ndarray) and not found.ndim
        return found[()] if is_scalar else wrapped(found)

    def random(self, size: Size = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Numbers in [0, 1)."""
        return self._standard(na.random.uniform, size, dtype, out)

    def standard_normal(self, size: Size = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Normal numbers of mean 0 and variance 1."""
        return self._standard(na.random.normal, size, dtype, out)

    def standard_exponential(
        self, size: Size = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        """Exponential numbers of mean 1."""
        return self._standard(na.random.exponential, size, dtype, out)

    def standard_gamma(
        self, shape: Any, size: Size = None, dtype: Any = np.float64, out: Any = None
    ) -> Any:
        """Gamma numbers of scale 1."""
        return self._standard(na.random.gamma, size, dtype, out, shape)

    def _standard(
        self, sampler: Callable[..., Array], size: Size, dtype: Any, out: Any, *values: Any
    ) -> Any:
        size = na.shape(natives(out)) if size is None and out is not None else size
        found = self._draw(sampler, size, *values, dtype=dtype)
        return found if out is None else write(out, found)

    def standard_cauchy(self, size: Size = None) -> Any:
        """Cauchy numbers of location 0 and scale 1."""
        return self._draw(na.random.cauchy, size)

    def standard_t(self, df: Any, size: Size = None) -> Any:
        """Student's t."""
        return self._draw(na.random.student_t, size, df)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Normal numbers."""
        _check_scale("normal", scale)
        return self._moved(na.random.normal, size, loc, scale)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Size = None) -> Any:
        """Numbers in [low, high)."""
        low, high = natives(low), natives(high)
        low, high = (np.asarray(x) if isinstance(x, (list, tuple)) else x for x in (low, high))
        return self._moved(na.random.uniform, size, low, high - low)

    def exponential(self, scale: Any = 1.0, size: Size = None) -> Any:
        """Exponential numbers of mean `scale`."""
        _check_scale("exponential", scale)
        return self._moved(na.random.exponential, size, 0.0, scale)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Size = None) -> Any:
        """Gamma numbers of mean shape · scale."""
        return self._moved(na.random.gamma, size, 0.0, scale, shape)

    def beta(self, a: Any, b: Any, size: Size = None) -> Any:
        """Beta numbers."""
        return self._draw(na.random.beta, size, a, b)

    def chisquare(self, df: Any, size: Size = None) -> Any:
        """χ² numbers."""
        return self._draw(na.random.chisquare, size, df)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Size = None) -> Any:
        """Noncentral χ² numbers: χ² with df + 2 · Poisson(nonc / 2) degrees of freedom."""
        size = self._size(size, df, nonc)
        df, nonc = self._parameters(self.key, np.float64, df, nonc)
        pairs = as_array(natives(self.poisson(nonc / 2, size)), self.key)
        return self._draw(na.random.chisquare, size, 2.0 * cast(pairs, np.float64) + df)

    def f(self, dfnum: Any, dfden: Any, size: Size = None) -> Any:
        """Fisher's F."""
        return self._draw(na.random.f, size, dfnum, dfden)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Size = None) -> Any:
        """Noncentral F numbers."""
        size = self._size(size, dfnum, dfden, nonc)
        above = self.noncentral_chisquare(dfnum, nonc, size)
        dfnum, dfden = self._parameters(self.key, np.float64, dfnum, dfden)
        return above / dfnum / (self.chisquare(dfden, size) / dfden)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Gumbel numbers."""
        return self._moved(na.random.gumbel, size, loc, scale)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Laplace numbers."""
        return self._moved(na.random.laplace, size, loc, scale)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Logistic numbers."""
        return self._moved(na.random.logistic, size, loc, scale)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None) -> Any:
        """Numbers whose logarithms are normal."""
        found = self._moved(na.random.normal, size, mean, sigma)
        return wrapped(na.exp(natives(found)))

    def pareto(self, a: Any, size: Size = None) -> Any:
        """Lomax numbers: Pareto numbers less 1."""
        return self._draw(na.random.pareto, size, a) - 1.0

    def power(self, a: Any, size: Size = None) -> Any:
        """Numbers in [0, 1] of density a · xᵃ⁻¹."""
        size = self._size(size, a)
        (a,) = self._parameters(self.key, np.float64, a)
        return self.random(size) ** (1.0 / a)

    def rayleigh(self, scale: Any = 1.0, size: Size = None) -> Any:
        """Rayleigh numbers."""
        return self._draw(na.random.rayleigh, size, scale)

    def triangular(self, left: Any, mode: Any, right: Any, size: Size = None) -> Any:
        """Numbers of a triangular density."""
        return self._draw(na.random.triangular, size, left, mode, right)

    def wald(self, mean: Any, scale: Any, size: Size = None) -> Any:
        """Inverse Gaussian numbers: scale · IG(mean / scale, 1)."""
        size = self._size(size, mean, scale)
        mean, scale = self._parameters(self.key, np.float64, mean, scale)
        return self._moved(na.random.wald, size, 0.0, scale, mean / scale)

    def weibull(self, a: Any, size: Size = None) -> Any:
        """Weibull numbers of scale 1."""
        return self._draw(na.random.weibull_min, size, 1.0, a)

    def vonmises(self, mu: Any, kappa: Any, size: Size = None) -> Any:
        """Angles of the von Mises distribution, by rejection from a wrapped Cauchy distribution.

        References:
            Best and Fisher, Efficient simulation of the von Mises distribution. JRSS C 28, 1979.
        """
        size = self._size(size, mu, kappa)
        mu, kappa = self._parameters(self.key, np.float64, mu, kappa)
        if is_number(kappa):
            kappa = max(kappa, 1e-6)  # below, the density is flat within rounding
        tau = 1 + (1 + 4 * kappa**2) ** 0.5
        rho = (tau - (2 * tau) ** 0.5) / (2 * kappa)
        r = (1 + rho**2) / (2 * rho)

        def propose(u: Array, v: Array, w: Array) -> tuple[Array, Array]:
            z = na.cos(np.pi * u)
            f = (r * z + 1) / (z + r)
            c = (r - f) * kappa
            is_accepted = na.greater(na.log(c) - na.log(v) + 1 - c, 0)
            angle = na.acos(na.clip(f, -1.0, 1.0))
            return na.where(na.greater(w, 0.5), angle, -angle), is_accepted

        found = self._accepted(propose, _shape(size)) + mu
        return self._result(na.remainder(found + np.pi, 2 * np.pi) - np.pi, size)

    def _accepted(
        self, propose: Callable[..., tuple[Array, Array]], shape: tuple[int, ...]
    ) -> Array:
        """Values that `propose` makes of three uniform numbers, drawn until it accepts all."""
        key = self._source.next_key()
        dtype = available(np.float64, key)

        def draw(carry: Any) -> Any:
            key, values, are_done = carry
            key, *keys = na.unstack(na.random.split(key, 4), axis=0)
            new, is_accepted = propose(*[na.random.uniform(k, shape, dtype) for k in keys])
            return key, na.where(are_done, values, new), na.logical_or(are_done, is_accepted)

        start = (
            key,
            na.zeros(shape, dtype=dtype, like=key),
            na.zeros(shape, dtype=dtypes.bool, like=key),
        )
        return na.while_loop(lambda carry: na.logical_not(na.all(carry[2])), draw, start)[1]

    # -- counts ------------------------------------------------------------------------------

    def poisson(self, lam: Any = 1.0, size: Size = None) -> Any:
        """Poisson counts."""
        key = self._source.next_key()
        (lam,) = self._parameters(key, np.float64, lam)
        found = na.random.poisson(key, lam, _shape(size, lam), available(np.int64, key))
        return self._result(found, size, lam)

    def binomial(self, n: Any, p: Any, size: Size = None) -> Any:
        """Successes in `n` trials."""
        return self._counts(na.random.binomial, size, n, p)

    def negative_binomial(self, n: Any, p: Any, size: Size = None) -> Any:
        """Failures before `n` successes: Poisson counts of gamma rates."""
        size = self._size(size, n, p)
        n, p = self._parameters(self.key, np.float64, n, p)
        return self.poisson(self.gamma(n, (1 - p) / p, size), size)

    def geometric(self, p: Any, size: Size = None) -> Any:
        """Trials until the first success."""
        return self._counts(_geometric, size, p)

    def logseries(self, p: Any, size: Size = None) -> Any:
        """Counts of the logarithmic series distribution.

        References:
            Kemp, Efficient generation of logarithmically distributed variables. JRSS C 30, 1981.
        """
        size = self._size(size, p)
        (p,) = self._parameters(self.key, np.float64, p)
        u, v = natives(self.random(size)), 1.0 - natives(self.random(size))
        rate = np.log1p(-p) if is_number(p) else na.log1p(-p)
        q = -na.expm1(rate * u)
        found = na.floor(1.0 + na.log(v) / na.log(q))
        return self._result(cast(na.clip(found, 1.0, None), np.int64), size)

    def zipf(self, a: Any, size: Size = None) -> Any:
        """Counts of Zipf's distribution, by rejection.

        References:
            Devroye, Non-uniform random variate generation, 1986, page 551.
        """
        size = self._size(size, a)
        (a,) = self._parameters(self.key, np.float64, a)
        b = 2.0 ** (a - 1)

        def propose(u: Array, v: Array, w: Array) -> tuple[Array, Array]:
            x = na.floor((1.0 - u) ** (-1.0 / (a - 1)))
            t = (1.0 + 1.0 / x) ** (a - 1)
            fits = na.less(x, float(2**53))
            return x, na.logical_and(fits, na.less_equal(v * x * (t - 1) / (b - 1), t / b))

        return self._result(cast(self._accepted(propose, _shape(size)), np.int64), size)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Size = None) -> Any:
        """The good ones among `nsample` of ngood + nbad, without replacement; numbers only."""
        return self._sampled("hypergeometric", [ngood, nbad], nsample, size)[..., 0]

    def multivariate_hypergeometric(
        self, colors: Sequence[int], nsample: int, size: Size = None, method: str = "marginals"
    ) -> Any:
        """The numbers of each color among `nsample`, without replacement."""
        return self._sampled("multivariate_hypergeometric", list(colors), nsample, size)

    def _sampled(self, name: str, colors: list[Any], nsample: Any, size: Size) -> Any:
        if not all(isinstance(x, (int, np.integer)) for x in (*colors, nsample)):
            raise UnsupportedError(f"{name}: got arrays of counts, expected integers")
        total, ends = int(sum(colors)), np.cumsum(colors).tolist()
        if nsample > total:
            raise ValueError(f"{name}: nsample: got {nsample}, expected at most {total}")
        u = natives(self.random((*_shape(size), total)))
        chosen = na.argsort(u, axis=-1)[..., : int(nsample)]
        below = [na.sum(cast(na.less(chosen, n), np.int64), axis=-1) for n in (0, *ends)]
        return wrapped(na.stack([b - a for a, b in pairwise(below)], axis=-1))

    def multinomial(self, n: Any, pvals: Any, size: Size = None) -> Any:
        """Counts of the outcomes of `n` trials."""
        key = self._source.next_key()
        n, pvals = self._parameters(key, np.float64, n, pvals)
        shape = None if size is None else _shape(size)
        found = na.random.multinomial(key, n, pvals, shape=shape, dtype=available(np.float64, key))
        return wrapped(cast(found, np.int64))

    # -- vectors -----------------------------------------------------------------------------

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> Any:
        """Normal vectors; ``"svd"`` and ``"eigh"`` are the same computation here."""
        mean, cov = self._parameters(self.key, np.float64, mean, cov)
        if method == "cholesky":
            factor = na.cholesky(cov)
        else:  # the symmetric root, which does not depend on the signs of vectors
            values, vectors = na.eigh(cov)
            factor = na.matmul(
                vectors * na.sqrt(na.maximum(values, 0.0)), na.matrix_transpose(vectors)
            )
        draw = natives(self.standard_normal((*_shape(size), *na.shape(mean))))
        return wrapped(na.matmul(draw, na.matrix_transpose(factor)) + mean)

    def dirichlet(self, alpha: Any, size: Size = None) -> Any:
        """Vectors of positive numbers with the sum 1."""
        key = self._source.next_key()
        (alpha,) = self._parameters(key, np.float64, alpha)
        return wrapped(na.random.dirichlet(key, alpha, _shape(size), available(np.float64, key)))

    def _size(self, size: Size, *values: Any) -> Size:
        """`size`; for None the shape of the parameters, unless they are numbers."""
        shape = _shape(size, *self._parameters(self.key, np.float64, *values))
        return size if size is not None or not shape else shape


def _geometric(key: Array, p: Any, *, shape: tuple[int, ...], dtype: Any) -> Array:
    return na.random.geometric(key, p, shape, available(np.int64, key))


def _shape(size: Size, *parameters: Any) -> tuple[int, ...]:
    """NumPy's `size`; None is the shape of the parameters together."""
    own = np.broadcast_shapes(*[tuple(na.shape(x)) for x in parameters if not is_number(x)])
    if size is None:
        return own
    sizes = (size,) if isinstance(size, (int, np.integer)) else size
    found = tuple([int(n) for n in sizes])
    if np.broadcast_shapes(own, found) != found:
        raise ShapeError(f"size: got {found} for parameters of shape {own}")
    return found


def _check_scale(name: str, scale: Any) -> None:
    if is_number(scale) and scale < 0:
        raise ValueError(f"{name}: scale: got {scale}, expected a number of at least 0")


def __getattr__(name: str) -> Any:
    method = {"rand": "random", "randn": "standard_normal", "randint": "integers", "ranf": "random",
              "random_sample": "random", "sample": "random", "random_integers": "integers"}.get(name, name)  # fmt: skip
    if name in np.random.__all__:
        own = f"default_rng(seed).{method}" if hasattr(Generator, method) else "default_rng(seed)"
        raise AttributeError(
            f"np.random.{name}: nestarray.frontends.numpy has no functions with hidden state and none "
            f"of NumPy's bit generators; use np.random.{own}"
        )
    raise AttributeError(f"np.random.{name}: NumPy has no such name")
