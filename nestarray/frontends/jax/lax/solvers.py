"""Solutions of equations, with derivatives by the implicit function theorem.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.lax.custom_root.html and
https://docs.jax.dev/en/latest/_autosummary/jax.lax.custom_linear_solve.html. The solver itself is
not differentiated. Functions may close over differentiated arrays. On other frameworks than JAX,
derivatives are of first order, and in reverse mode for `custom_linear_solve`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import backends, tree
from nestarray.errors import UnsupportedError
from nestarray.frontends.jax.lax.elementwise import stop_gradient
from nestarray.typing import Nest

__all__ = ["custom_linear_solve", "custom_root"]

Function = Callable[..., Any]


def custom_root(
    f: Function,
    initial_guess: Nest,
    solve: Callable[[Function, Nest], Any],
    tangent_solve: Callable[[Function, Nest], Nest],
    has_aux: bool = False,
) -> Any:
    """``solve(f, initial_guess)``, a root of `f`; dx = −J⁻¹ df.

    Args:
        f: function whose root is wanted; the result is like its argument.
        initial_guess: argument of `f`.
        solve: returns a root of a function; under `has_aux` ``(root, aux)``.
        tangent_solve: ``tangent_solve(g, y)`` solves g(x) = y for a linear function g.
        has_aux: whether `solve` returns aux.
    """
    native = _native("custom_root", initial_guess)
    if native is not None:
        return native(f, initial_guess, solve, tangent_solve, has_aux)
    found = solve(f, stop_gradient(initial_guess))
    root, aux = found if has_aux else (found, None)
    root = stop_gradient(root)
    product = na.linearize(f, root)[1]
    change = tangent_solve(product, _without_value(f(root)))
    root = tree.map(na.subtract, root, change)
    return (root, aux) if has_aux else root


def _native(function: str, nest: Nest) -> Function | None:
    """JAX's function, for its arrays: a pullback of JAX cannot close over traced arrays."""
    is_of_jax = backends.find_backend(nest) == "jax"
    return getattr(backends.chapter("jax", "solvers"), function) if is_of_jax else None


def _without_value(x: Nest) -> Nest:
    """Zeros with the derivative of `x`."""
    return tree.map(lambda y: na.subtract(y, na.stop_gradient(y)), x)


def custom_linear_solve(
    matvec: Function,
    b: Nest,
    solve: Callable[[Function, Nest], Any],
    transpose_solve: Callable[[Function, Nest], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """``solve(matvec, b)``, the solution of A x = b; dx = A⁻¹ (db − dA x).

    Args:
        matvec: the linear function x ↦ A x.
        b: the right side, like x.
        solve: ``solve(matvec, b)`` returns x; under `has_aux` ``(x, aux)``.
        transpose_solve: ``transpose_solve(vecmat, b)`` solves Aᵀ x = b, for reverse mode.
        symmetric: whether A is symmetric, so that `solve` serves for Aᵀ too.
        has_aux: whether the solvers return aux.

    Raises:
        UnsupportedError: in reverse mode, without `transpose_solve` or `symmetric`.
    """
    native = _native("custom_linear_solve", b)
    if native is not None:
        return native(matvec, b, solve, transpose_solve, symmetric, has_aux)
    if symmetric and transpose_solve is None:
        transpose_solve = solve
    found = solve(matvec, stop_gradient(b))
    solution, aux = found if has_aux else (found, None)
    solution = stop_gradient(solution)

    @na.custom_vjp
    def inverse(y: Nest) -> Nest:  # of zeros
        return y

    def backward(residuals: tuple[()], cotangent: Nest) -> tuple[Nest]:
        if transpose_solve is None:
            raise UnsupportedError(
                "custom_linear_solve: transpose_solve: got None, expected a function, or "
                "symmetric=True, to differentiate in reverse mode"
            )
        transposed = na.linear_transpose(matvec, solution)
        found = transpose_solve(lambda x: transposed(x)[0], cotangent)
        return (stop_gradient(found[0] if has_aux else found),)

    inverse.defvjp(lambda y: (y, ()), backward)
    residual = _without_value(tree.map(na.subtract, b, matvec(solution)))
    solution = tree.map(na.add, solution, inverse(residual))
    return (solution, aux) if has_aux else solution
