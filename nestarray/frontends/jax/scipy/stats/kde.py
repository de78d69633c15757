"""Densities by Gaussian kernels.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.scipy.stats.gaussian_kde.html
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax import random, tree_util
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["gaussian_kde"]


@tree_util.register_pytree_node_class
class gaussian_kde:
    """The density of points `(d, n)`: the mean of normal densities around them.

    Args:
        dataset: `(d, n)` or `(n,)`.
        bw_method: the width of the kernels: "scott", "silverman", a number, or a function of the
            object that returns one.
        weights: `(n,)`, the weights of the points.
    """

    def __init__(self, dataset: Array, bw_method: Any = None, weights: Array | None = None) -> None:
        dataset = jnp.atleast_2d(dataset)
        d, n = na.shape(dataset)
        if d * n < 2:
            raise ArgumentError("gaussian_kde: dataset: got one number, expected several")
        if weights is None:
            (dataset,) = promote_inexact(dataset)
            weights = na.full((n,), 1.0 / n, dtype=na.dtype_of(dataset), like=dataset)
        else:
            dataset, given = promote_inexact(dataset, weights)
            if tuple(na.shape(given)) != (n,):
                raise ArgumentError(
                    f"gaussian_kde: weights: got the shape {tuple(na.shape(given))}, expected ({n},)"
                )
            weights = na.divide(given, na.sum(given))
        self.dataset, self.weights = dataset, weights
        self.neff = 1 / na.vecdot(weights, weights)
        factor = self._factor("scott" if bw_method is None else bw_method)
        covariance = jnp.atleast_2d(jnp.cov(dataset, rowvar=True, bias=False, aweights=weights))
        self.covariance = covariance * factor**2
        self.inv_cov = na.inv(covariance) / factor**2

    def _factor(self, bw_method: Any) -> Any:
        d = self.d
        if bw_method == "scott":
            return na.pow(self.neff, -1.0 / (d + 4))
        if bw_method == "silverman":
            return na.pow(self.neff * (d + 2) / 4.0, -1.0 / (d + 4))
        if callable(bw_method):
            return bw_method(self)
        if isinstance(bw_method, str):
            raise ArgumentError(
                f"gaussian_kde: bw_method: got {bw_method!r}, expected 'scott', 'silverman', a number "
                "or a function"
            )
        return bw_method

    def tree_flatten(self) -> tuple[Any, None]:
        """The arrays, for `jax.tree`."""
        return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, aux_data: None, children: Any) -> gaussian_kde:
        """The object of its arrays, for `jax.tree`."""
        made = cls.__new__(cls)
        made.neff, made.dataset, made.weights, made.covariance, made.inv_cov = children
        return made

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return na.shape(self.dataset)[0]

    @property
    def n(self) -> int:
        """The number of points."""
        return na.shape(self.dataset)[1]

    def logpdf(self, x: Array) -> Array:
        """The logarithm of the density at points `(d, m)`."""
        points, dataset = promote_inexact(jnp.atleast_2d(x), self.dataset)
        if na.shape(points)[0] != self.d:
            if tuple(na.shape(points)) != (1, self.d):
                raise ArgumentError(
                    f"gaussian_kde: points: got {na.shape(points)[0]} coordinates, expected {self.d}"
                )
            points = na.reshape(points, (self.d, 1))
        factor = na.cholesky(self.inv_cov)
        rows = [na.matmul(na.matrix_transpose(p), factor) for p in (points, dataset)]
        gaps = na.expand_dims(rows[0], 1) - na.expand_dims(rows[1], 0)  # (points, dataset, d)
        size = na.sum(na.log(na.diagonal(factor))) - 0.5 * self.d * math.log(2 * math.pi)
        return na.logsumexp(
            na.log(self.weights) + size - 0.5 * na.sum(gaps * gaps, axis=-1), axis=1
        )

    def evaluate(self, points: Array) -> Array:
        """The density at points `(d, m)`."""
        return na.exp(self.logpdf(points))

    pdf = __call__ = evaluate

    def integrate_gaussian(self, mean: Array, cov: Array) -> Array:
        """The integral of the density times a normal density."""
        mean, cov = jnp.atleast_1d(jnp.squeeze(mean)), jnp.atleast_2d(cov)
        return na.sum(
            self._products(na.expand_dims(mean, -1), self.covariance + cov) * self.weights
        )

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """The integral of the product of two densities."""
        found = self._products(other.dataset, self.covariance + other.covariance)
        return na.sum(found * self.weights * na.expand_dims(other.weights, -1))

    def _products(self, means: Array, covariance: Array) -> Array:
        """The normal density between means `(d, m)` and the points, `(m, n)`."""
        factor = na.cholesky(covariance)
        gaps = na.expand_dims(self.dataset, 1) - na.expand_dims(means, 2)  # (d, m, n)
        count = na.shape(means)[1]
        flat = na.reshape(gaps, (self.d, count * self.n))
        solved = na.solve_triangular(factor, flat, upper=False)
        squares = na.reshape(na.sum(solved * solved, axis=0), (count, self.n))
        size = math.sqrt(2 * math.pi) ** self.d * na.prod(na.diagonal(factor))
        return na.exp(-0.5 * squares) / size

    def integrate_box_1d(self, low: Array, high: Array) -> Array:
        """The probability between two numbers."""
        if self.d != 1:
            raise ArgumentError(f"integrate_box_1d: got {self.d} coordinates, expected 1")
        width = na.sqrt(na.reshape(self.covariance, ()))
        points = na.reshape(self.dataset, (-1,))
        mass = na.ndtr((high - points) / width) - na.ndtr((low - points) / width)
        return na.sum(self.weights * mass)

    def integrate_box(self, low_bounds: Array, high_bounds: Array, maxpts: Any = None) -> Array:
        """Raise an UnsupportedError, as upstream."""
        raise UnsupportedError("integrate_box: not supported; `integrate_box_1d` is")

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Raise an UnsupportedError, as upstream."""
        raise UnsupportedError("set_bandwidth: not supported; create another gaussian_kde")

    def resample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        """Random points of the density."""
        keys = random.split(key)
        index_key, noise_key = na.getitem(keys, 0), na.getitem(keys, 1)
        index = random.choice(index_key, self.n, shape=shape, p=self.weights)
        zeros = na.zeros((self.d,), dtype=na.dtype_of(self.covariance), like=self.covariance)
        noise = random.multivariate_normal(
            noise_key, zeros, self.covariance, shape=shape, dtype=na.dtype_of(self.dataset)
        )
        return na.take(self.dataset, index, axis=1) + jnp.transpose(noise)
