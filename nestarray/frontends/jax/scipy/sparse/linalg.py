"""Iterative solvers of A x = b, with derivatives by the implicit function theorem.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.sparse.linalg. `b` and x are
nests of arrays of one dtype; `A` and the preconditioner `M` are functions of such a nest, or
matrices. Derivatives are by a second solution, as in `jax.lax.custom_linear_solve`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes, tree
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.lax.elementwise import stop_gradient
from nestarray.frontends.jax.lax.solvers import custom_linear_solve
from nestarray.frontends.jax.promotion import inexact
from nestarray.typing import Array, Nest

__all__ = ["bicgstab", "cg", "gmres"]

Map = Callable[[Any], Any]


def cg(
    A: Any,
    b: Nest,
    x0: Nest | None = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Nest, None]:
    """(x, None) by conjugate gradients, for a hermitian and positive definite A.

    Args:
        A: the linear map.
        b: the right side.
        x0: the start; zeros by default.
        tol, atol: the residual is at most the larger of tol ‖b‖ and atol.
        maxiter: the largest number of steps; by default 10 times the number of elements.
        M: approximation of the inverse of A.
    """

    def iteration(A: Map, b: Array, x: Array, M: Map, limit: Array, count: int) -> Array:
        def goes_on(carry: tuple[Array, ...]) -> Array:
            _, r, _, _, k = carry
            return na.logical_and(na.greater(na.vector_norm(r), limit), na.less(k, count))

        def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
            x, r, p, size, k = carry
            image = A(p)
            rate = size / na.vecdot(p, image)
            x, r = x + rate * p, r - rate * image
            z = M(r)
            new = na.vecdot(r, z)
            return x, r, z + new / size * p, new, k + 1

        r = b - A(x)
        z = M(r)
        return na.while_loop(goes_on, step, (x, r, z, na.vecdot(r, z), _zero(b)))[0]

    return _solved(iteration, A, b, x0, tol, atol, maxiter, M, is_hermitian=True)


def bicgstab(
    A: Any,
    b: Nest,
    x0: Nest | None = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Nest, None]:
    """(x, None) by stabilized biconjugate gradients, for any A; the arguments of `cg`."""

    def iteration(A: Map, b: Array, x: Array, M: Map, limit: Array, count: int) -> Array:
        first = b - A(x)

        def goes_on(carry: tuple[Array, ...]) -> Array:
            r, k = carry[1], carry[-1]
            is_open = na.logical_and(na.greater_equal(k, 0), na.less(k, count))
            return na.logical_and(na.greater(na.vector_norm(r), limit), is_open)

        def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
            x, r, alpha, omega, rho, p, q, k = carry
            new = na.vecdot(first, r)
            p = r + new / rho * alpha / omega * (p - omega * q)
            direction = M(p)
            q = A(direction)
            alpha = new / na.vecdot(first, q)
            s = r - alpha * q
            is_enough = na.less(na.vector_norm(s), limit)
            second = M(s)
            image = A(second)
            omega = na.vecdot(image, s) / na.vecdot(image, image)
            half = x + alpha * direction
            x = na.where(is_enough, half, half + omega * second)
            r = na.where(is_enough, s, s - omega * image)
            is_stuck = na.logical_or(na.equal(omega * alpha, 0), na.equal(new, 0))
            is_stuck = na.logical_and(is_stuck, na.logical_not(is_enough))
            return x, r, alpha, omega, new, p, q, na.where(is_stuck, -1, k + 1)

        one = na.ones((), dtype=dtypes.dtype_of(b), like=b)
        start = (x, first, one, one, one, first, first, _zero(b))
        return na.while_loop(goes_on, step, start)[0]

    return _solved(iteration, A, b, x0, tol, atol, maxiter, M)


def gmres(
    A: Any,
    b: Nest,
    x0: Nest | None = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Nest, Array]:
    """(x, −1 if it has NaN else 0) with the smallest residual in a Krylov space, for any A.

    Args:
        A, b, x0, tol, atol, M: of `cg`.
        restart: the dimension of the space.
        maxiter: the largest number of spaces.
        solve_method: "batched" or "incremental", which have the same results.
    """
    if solve_method not in ("batched", "incremental"):
        raise ArgumentError(
            f"gmres: solve_method: got {solve_method!r}, expected 'batched' or 'incremental'"
        )

    def iteration(A: Map, b: Array, x: Array, M: Map, limit: Array, count: int) -> Array:
        dimension = min(restart, na.shape(b)[0])

        def goes_on(carry: tuple[Array, ...]) -> Array:
            _, r, k = carry
            return na.logical_and(na.greater(na.vector_norm(r), limit), na.less(k, count))

        def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
            x, r, k = carry
            basis, images = _krylov(lambda v: M(A(v)), r, dimension)
            x = x + na.matmul(na.lstsq(images, r).solution, basis)
            return x, M(b - A(x)), k + 1

        return na.while_loop(goes_on, step, (x, M(b - A(x)), _zero(b)))[0]

    found, _ = _solved(iteration, A, b, x0, tol, atol, maxiter, M)
    is_lost = [na.any(na.isnan(x)) for x in tree.leaves(found)]
    failed = na.any(na.stack(is_lost))
    return found, na.where(failed, na.full_like(_zero(failed), -1), _zero(failed))


def _krylov(A: Map, r: Array, dimension: int) -> tuple[Array, Array]:
    """An orthonormal basis of r, A r, A² r, … in rows, and its images in columns.

    Rows are 0 from where the images are in the space.
    """
    eps = float(dtypes.finfo(dtypes.dtype_of(r)).eps)
    basis, images = [_unit(r, 0.0)], []
    for k in range(dimension):
        images.append(A(basis[-1]))
        if k == dimension - 1:
            break
        rows, rest = na.stack(basis), images[-1]
        for _ in range(2):  # again, for the rounding of the first time
            rest = rest - na.matmul(na.matmul(na.conj(rows), rest), rows)
        basis.append(_unit(rest, eps * na.vector_norm(images[-1])))
    return na.stack(basis), na.stack(images, axis=1)


def _unit(x: Array, smallest: Any) -> Array:
    """x / ‖x‖; 0 if the norm is at most `smallest`."""
    norm = na.vector_norm(x)
    is_none = na.less_equal(norm, smallest)
    safe = na.where(is_none, na.ones_like(norm), norm)
    return na.where(is_none, na.zeros_like(x), na.divide(x, safe))


def _zero(like: Array) -> Array:
    return na.zeros((), dtype=dtypes.int32, like=like)


def _map(A: Any, name: str) -> Map:
    """A function of nests, of a function or a matrix."""
    if callable(A):
        return A
    if len(na.shape(A)) != 2 or na.shape(A)[0] != na.shape(A)[1]:
        raise ArgumentError(
            f"{name}: got an array of the shape {tuple(na.shape(A))}, expected (n, n) or a function"
        )
    return lambda x: na.matmul(A, x)


def _solved(
    iteration: Callable[..., Array],
    A: Any,
    b: Nest,
    x0: Nest | None,
    tol: float,
    atol: float,
    maxiter: int | None,
    M: Any,
    is_hermitian: bool = False,
) -> tuple[Nest, None]:
    """The solution by an iteration of vectors."""
    b = tree.map(inexact, b)
    start = tree.map(na.zeros_like, b) if x0 is None else tree.map(inexact, x0)
    leaves, structure = tree.flatten(b)
    shapes = [na.shape(x) for x in leaves]
    given = [na.shape(x) for x in tree.leaves(start)]
    if given != shapes:
        raise ArgumentError(f"x0: got arrays of the shapes {given}, expected those of b, {shapes}")
    sizes = [math.prod(shape) for shape in shapes]
    count = 10 * sum(sizes) if maxiter is None else maxiter
    inverse = (lambda x: x) if M is None else _map(M, "M")
    places = [sum(sizes[:i]) for i in range(len(sizes) + 1)]

    def vector(nest: Nest) -> Array:
        return na.concat([na.reshape(x, (-1,)) for x in tree.leaves(nest)])

    def nest(x: Array) -> Nest:
        parts = [na.getitem(x, slice(i, j)) for i, j in itertools.pairwise(places)]
        parts = [na.reshape(part, shape) for part, shape in zip(parts, shapes, strict=True)]
        return tree.unflatten(structure, parts)

    def solve(matvec: Map, b: Nest) -> Nest:
        right = vector(b)
        norm = na.vector_norm(right)
        limit = na.maximum(tol * norm, na.full_like(norm, atol))
        of_vectors = [lambda x, f=f: vector(f(nest(x))) for f in (matvec, inverse)]
        first = vector(stop_gradient(start))
        return nest(iteration(of_vectors[0], right, first, of_vectors[1], limit, count))

    is_real = all(dtypes.dtype_of(x).kind != "complex" for x in leaves)
    found = custom_linear_solve(_map(A, "A"), b, solve, solve, symmetric=is_hermitian and is_real)
    return found, None
