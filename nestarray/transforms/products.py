"""Products with Jacobians of functions from nests to nests.

Backends provide two functions of flat lists of arrays (``backends/<name>/transforms.py``):
``vjp``, the pullback of cotangents, and ``jvp``, the pushforward of tangents. This module uses
only these and `vmap`.

Complex arrays follow the convention of PyTorch and TensorFlow on all backends: a pullback
multiplies with the conjugate transpose, Jᴴ, which for a real function gives the direction of
steepest ascent, as `grad` does; a pushforward multiplies with J. Leaves other than inexact
numbers are constants: their gradients are zeros, and their tangents are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nestarray import backends, ops, tree
from nestarray.errors import ArgumentError, StructureError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.arguments import (
    Arguments,
    is_inexact,
    native_transforms,
)
from nestarray.transforms.gradients import grad, split_aux
from nestarray.typing import Nest


@signature_errors(callables=("fn",))
def vjp(fn: Callable[..., Any], /, *primals: Nest, has_aux: bool = False) -> tuple[Any, ...]:
    """f(x), and the function that multiplies a cotangent with the Jacobian's (conjugate) transpose.

    Args:
        fn: function of nests that returns a nest of arrays.
        *primals: x, the arguments at which `fn` is evaluated.
        has_aux: `fn` returns ``(value, aux)``; `aux` is handed through.

    Returns:
        ``(value, pullback)``, under `has_aux` ``(value, pullback, aux)``. `pullback` takes a
        nest of the structure and shapes of `value` and returns a tuple with a gradient for each of
        `primals`.

    Raises:
        StructureError: when the pullback is called with a nest of another structure.
        ShapeError: when it is called with arrays of other shapes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> value, pullback = na.vjp(lambda x: x * x, np.asarray([1.0, 2.0]))
        >>> pullback(np.asarray([1.0, 10.0]))[0].tolist()
        [2.0, 40.0]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.vjp.html
    """
    arguments = Arguments("vjp", fn, primals, {}, range(len(primals)), unfused=True)
    results = Results("vjp", fn, has_aux)
    native = native_transforms(arguments.backend)
    inexact, others, pull = native.vjp(
        lambda *values: results.taken(arguments.call(*values)), arguments.arrays, "vjp"
    )
    value, aux = results.nests(inexact, others)

    def pullback(cotangents: Nest) -> tuple[Any, ...]:
        return tuple(arguments.nests(pull(results.lined_up(cotangents, value))))

    return (value, pullback, aux) if has_aux else (value, pullback)


@signature_errors(callables=("fn",))
def jvp(
    fn: Callable[..., Any],
    primals: Sequence[Nest],
    tangents: Sequence[Nest],
    *,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """f(x) and the derivative of f at x in a direction, J t.

    Args:
        fn: function of nests that returns a nest of arrays.
        primals: x, a list or tuple of the arguments.
        tangents: t, as many nests of their structures and shapes.
        has_aux: `fn` returns ``(value, aux)``; `aux` is handed through.

    Returns:
        ``(value, tangent)`` of one structure, under `has_aux` ``(value, tangent, aux)``.

    Raises:
        StructureError: `tangents` do not match `primals`.
        ShapeError: an array in `tangents` has another shape than in `primals`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> value, tangent = na.jvp(lambda x: x**3, [np.asarray(2.0)], [np.asarray(1.0)])
        >>> float(value), float(tangent)
        (8.0, 12.0)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.jvp.html
    """
    return _jvp("jvp", fn, primals, tangents, has_aux)


def _jvp(
    name: str,
    fn: Callable[..., Any],
    primals: Sequence[Nest],
    tangents: Sequence[Nest],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (list, tuple)):
            raise ArgumentError(
                f"{name}: {what}: got {type(given).__name__}, expected a list or a tuple with one "
                "nest for each argument"
            )
    if len(primals) != len(tangents):
        raise StructureError(f"{name}: got {len(primals)} primals and {len(tangents)} tangents")
    arguments = Arguments(name, fn, tuple(primals), {}, range(len(primals)), unfused=True)
    results = Results(name, fn, has_aux)
    directions = arguments.tangents(tuple(tangents), "tangents")
    inexact, others, moved = native_transforms(arguments.backend).jvp(
        lambda *values: results.taken(arguments.call(*values)), arguments.arrays, directions, name
    )
    value, aux = results.nests(inexact, others)
    tangent = results.nests(moved, [ops.zeros_like(x) for x in others])[0]
    return (value, tangent, aux) if has_aux else (value, tangent)


@signature_errors(callables=("fn",))
def linearize(fn: Callable[..., Any], /, *primals: Nest, has_aux: bool = False) -> tuple[Any, ...]:
    """f(x), and the linear function t ↦ J t of tangents at x.

    JAX and NumPy evaluate the nonlinear part once; PyTorch and TensorFlow again for each tangent.

    Args:
        fn: function of nests that returns a nest of arrays.
        *primals: x, the arguments.
        has_aux: `fn` returns ``(value, aux)``; `aux` is handed through.

    Returns:
        ``(value, pushforward)``, under `has_aux` ``(value, pushforward, aux)``; `pushforward`
        takes as many nests as there are `primals`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> value, push = na.linearize(lambda x: x * x, np.asarray(3.0))
        >>> float(push(np.asarray(1.0))), float(push(np.asarray(2.0)))
        (6.0, 12.0)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.linearize.html
    """
    arguments = Arguments("linearize", fn, primals, {}, range(len(primals)), unfused=True)
    native = native_transforms(arguments.backend)
    if not hasattr(native, "linearize"):
        zeros = [zero_tangent(x) for x in primals]
        value, _, *aux = _jvp("linearize", fn, primals, zeros, has_aux)
        return value, lambda *tangents: _jvp("linearize", fn, primals, tangents, has_aux)[1], *aux
    results = Results("linearize", fn, has_aux)
    inexact, others, push = native.linearize(
        lambda *values: results.taken(arguments.call(*values)), arguments.arrays
    )
    value, aux = results.nests(inexact, others)

    def pushforward(*tangents: Nest) -> Nest:
        moved = push(arguments.tangents(tangents, "tangents"))
        return results.nests(moved, [ops.zeros_like(x) for x in others])[0]

    return (value, pushforward, aux) if has_aux else (value, pushforward)


def zero_tangent(nest: Nest) -> Nest:
    """A nest with zeros for its arrays; other leaves are unchanged."""
    return tree.map(lambda x: ops.zeros_like(x) if hasattr(x, "dtype") else x, nest)


@signature_errors(callables=("fn",))
def linear_transpose(fn: Callable[..., Any], /, *primals: Nest) -> Callable[[Nest], Any]:
    """The (conjugate) transpose of a function that is linear in its arguments.

    Args:
        fn: a linear function; that it is one is not checked.
        *primals: arguments of the shapes and dtypes that `fn` takes; their values do not matter.

    Returns:
        a function of a nest like the result of `fn` that returns a tuple with a nest for
        each of `primals`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> transpose = na.linear_transpose(lambda x: np.asarray([[1.0, 2.0]]) @ x, np.zeros(2))
        >>> transpose(np.asarray([3.0]))[0].tolist()
        [3.0, 6.0]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.linear_transpose.html
    """
    return vjp(fn, *primals)[1]


@signature_errors(callables=("fn",))
def hvp(fn: Callable[..., Any], primals: Sequence[Nest], tangents: Sequence[Nest]) -> Any:
    """The product of the Hessian of a scalar function with a direction, H t, without H.

    Forward over reverse mode: the cost of a few gradients, whatever the size.

    Args:
        fn: function that returns a floating scalar, shape `()`.
        primals: a list or tuple of its arguments; all are differentiated.
        tangents: t, as many nests of their structures.

    Returns:
        for one argument a nest of its structure, for several a tuple.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x, t = np.asarray([1.0, 2.0]), np.asarray([1.0, 0.0])
        >>> na.hvp(lambda x: na.sum(x**3), [x], [t]).tolist()
        [6.0, 0.0]

    References:
        Pearlmutter, Fast exact multiplication by the Hessian. Neural Computation 6, 1994.
    """
    gradient = grad(fn, argnums=0 if len(primals) == 1 else tuple(range(len(primals))))
    return _jvp("hvp", gradient, primals, tangents)[1]


@signature_errors(callables=("fn", "loss"))
def gauss_newton_vp(
    fn: Callable[[Nest], Any], loss: Callable[[Any], Any], v: Nest, tangent: Nest
) -> Nest:
    """The product of the generalised Gauss–Newton matrix with a direction, Jᵀ H J t.

    J is the Jacobian of `fn` at `v`, H the Hessian of `loss` at ``fn(v)``: of a convex loss
    the matrix is positive semidefinite, as the Hessian of ``loss(fn(v))`` need not be.

    Args:
        fn: the model, a function of `v` that returns a nest of arrays.
        loss: function of what `fn` returns, to a floating scalar.
        v: variables.
        tangent: t, of the structure of `v`.

    Returns:
        a nest of the structure of `v`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, t = np.asarray([1.0, 2.0]), np.asarray([1.0, 1.0])
        >>> na.gauss_newton_vp(lambda v: v**2, lambda y: na.sum(y * y), v, t).tolist()
        [8.0, 32.0]

    References:
        Schraudolph, Fast curvature matrix-vector products. Neural Computation 14, 2002.
    """
    value, moved = _jvp("gauss_newton_vp", fn, [v], [tangent])
    curved = _jvp("gauss_newton_vp", grad(loss), [value], [moved])[1]
    return vjp(fn, v)[1](curved)[0]


class Results:
    """The result of a function, split into inexact arrays, other arrays and the rest."""

    def __init__(self, name: str, fn: Callable[..., Any], has_aux: bool) -> None:
        self._name, self._fn, self._has_aux = name, fn, has_aux
        self._value_leaves = 0  # of the value; the arrays of aux come after
        self._structure: Any = None
        self._kinds: list[str] = []
        self._rest: list[Any] = []

    @property
    def count(self) -> int:
        """The number of inexact arrays of the value."""
        return self._kinds.count("inexact")

    def taken(self, result: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """(inexact arrays of the value, all other arrays)."""
        value, aux = split_aux(self._name, self._fn, result, self._has_aux)
        self._value_leaves = len(tree.flatten(value, unfused=True)[0])
        leaves, self._structure = tree.flatten((value, aux), unfused=True)
        self._kinds = [self._kind(i, leaf) for i, leaf in enumerate(leaves)]
        self._rest = [
            None if kind != "rest" else x for x, kind in zip(leaves, self._kinds, strict=True)
        ]
        pairs = list(zip(leaves, self._kinds, strict=True))
        return tuple(x for x, k in pairs if k == "inexact"), tuple(
            x for x, k in pairs if k == "other"
        )

    def _kind(self, place: int, leaf: Any) -> str:
        if backends.backend_of_value(leaf) is None:
            return "rest"
        return "inexact" if place < self._value_leaves and is_inexact(leaf) else "other"

    def nests(
        self,
        inexact: Iterable[Any],
        others: Iterable[Any],
        build: Callable[[tree.Structure, Sequence[Any]], Any] = tree.unflatten,
    ) -> tuple[Any, Any]:
        """Rebuild (value, aux) from the given arrays."""
        found = {"inexact": iter(inexact), "other": iter(others), "rest": iter(())}
        leaves = [
            rest if kind == "rest" else next(found[kind])
            for rest, kind in zip(self._rest, self._kinds, strict=True)
        ]
        return build(self._structure, leaves)

    def lined_up(self, cotangents: Nest, value: Nest) -> list[Any]:
        """The arrays in `cotangents`, a nest like `value`, for the inexact arrays of `value`."""
        arguments = Arguments(self._name, self._fn, (value,), {}, unfused=True)
        return arguments.tangents(cotangents, "cotangents")
