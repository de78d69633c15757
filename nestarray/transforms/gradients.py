"""Reverse-mode derivatives of scalar functions of nests.

The nest is flattened once, the backend differentiates a function of a flat list of floating
arrays (``backends/<name>/transforms.py: value_and_grad``), and the gradients are put back into the
nest once. The rules are the same on all backends:

- The gradient of a leaf has the leaf's dtype and shape. It is zero for leaves that the value does
  not depend on, and for integers and booleans (no `allow_int` is needed).
- The gradient of a complex leaf is the direction of steepest ascent, ∂f/∂x + i ∂f/∂y, so that
  ``v - rate * grads`` descends.
- None, strings and other leaves that are not numbers appear unchanged in the gradients.

The functions nest to any order: a gradient can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError, DtypeError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.arguments import (
    Arguments,
    Wrt,
    backend_of_leaf,
    describe,
    name_of,
    native_transforms,
)
from nestarray.typing import Nest


@signature_errors(callables=("fn",))
def execute_with_gradients(
    fn: Callable[[Nest], Any], v: Nest, *, has_aux: bool = False, wrt: Wrt = None
) -> tuple[Any, Nest]:
    """Evaluate f(v) and its gradient ∂f/∂v in one pass.

    Args:
        fn: function of `v` that returns a floating scalar, shape `()`.
        v: Container, or any nest, of arrays of one framework.
        has_aux: `fn` returns ``(value, aux)``; `aux`, any nest, is handed through.
        wrt: a pattern, or several, as `Container.select` takes them (``"**/lora_*"``): only
            the leaves that match are differentiated, the others are constants.

    Returns:
        ``(value, gradients)``, the gradients in the structure of `v`, of ``v.select(wrt)``
        under `wrt`; under `has_aux` ``((value, aux), gradients)``.

    Raises:
        ArgumentError: `fn` returned something else than a floating scalar.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.asarray([1.0, 2.0]))
        >>> value, gradients = na.execute_with_gradients(lambda v: na.sum(v.w * v.w), v)
        >>> float(value), gradients.w.tolist()
        (5.0, [2.0, 4.0])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html
    """
    return _differentiate("execute_with_gradients", fn, 0, has_aux, (v,), {}, wrt)


@signature_errors(callables=("fn",))
def value_and_grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    holomorphic: bool = False,
    wrt: Wrt = None,
) -> Callable[..., tuple[Any, Nest]]:
    """Return a function that evaluates `fn` and its gradient, (f(x), ∂f/∂x).

    Args:
        fn: function that returns a floating scalar, shape `()`.
        argnums: which positional arguments to differentiate; several give a tuple.
        has_aux: `fn` returns ``(value, aux)``.
        holomorphic: `fn` is a holomorphic function of complex arrays, whose value is complex
            too; the derivative is the complex one, df/dz.
        wrt: patterns of leaves, as for `execute_with_gradients`.

    Returns:
        a function of the arguments of `fn` that returns ``(value, gradients)``, or
        ``((value, aux), gradients)``.

    Raises:
        ArgumentError: when called, if `fn` returns something else than a floating scalar,
            or has no argument of a number in `argnums`.
        DtypeError: when called, under `holomorphic`, if the value or an argument is not complex.

    Example:
        >>> import numpy as np, nestarray as na
        >>> value, gradient = na.value_and_grad(lambda x: x * x)(np.asarray(3.0))
        >>> float(value), float(gradient)
        (9.0, 6.0)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html
    """

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> tuple[Any, Nest]:
        return _differentiate(
            "value_and_grad", fn, argnums, has_aux, args, kwargs, wrt, holomorphic
        )

    return call


@signature_errors(callables=("fn",))
def grad(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    holomorphic: bool = False,
    wrt: Wrt = None,
) -> Callable[..., Any]:
    """Return a function that evaluates the gradient ∂f/∂x of `fn`.

    Args:
        fn: function that returns a floating scalar, shape `()`.
        argnums: which positional arguments to differentiate; several give a tuple.
        has_aux: `fn` returns ``(value, aux)``.
        holomorphic: `fn` is a holomorphic function of complex arrays, whose value is complex
            too; the derivative is the complex one, df/dz.
        wrt: patterns of leaves, as for `execute_with_gradients`.

    Returns:
        a function of the arguments of `fn` that returns the gradients, or
        ``(gradients, aux)``.

    Raises:
        ArgumentError: when called, as in `value_and_grad`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.grad(na.grad(lambda x: x * x * x))(np.asarray(2.0)))
        12.0

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.grad.html
    """

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        value, gradients = _differentiate(
            "grad", fn, argnums, has_aux, args, kwargs, wrt, holomorphic
        )
        return (gradients, value[1]) if has_aux else gradients

    return call


def _differentiate(
    name: str,
    fn: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    wrt: Wrt = None,
    holomorphic: bool = False,
) -> tuple[Any, Any]:
    arguments = Arguments(name, fn, args, kwargs, argnums, wrt)
    backend = arguments.backend

    def call(*values: Any) -> tuple[Any, Any]:
        value, aux = split_aux(name, fn, arguments.call(*values), has_aux)
        return _checked(name, fn, value, backend), aux

    native = native_transforms(backend)
    if holomorphic:
        arrays = complex_ones(name, arguments.arrays)

        def real_part(*values: Any) -> tuple[Any, Any]:
            value, aux = split_aux(name, fn, arguments.call(*values), has_aux)
            complex_ones(name, [value])
            return _checked(name, fn, ops.real(value), backend), (value, aux)

        # with f = u + iv, df/dz is ∂u/∂x − i ∂u/∂y: the conjugate of the gradient of u
        _, (value, aux), found = native.value_and_grad(real_part, arrays, True, name)
        found = [ops.conj(g) for g in found]
        return ((value, aux) if has_aux else value), arguments.nests(found)
    value, aux, found = native.value_and_grad(call, arguments.arrays, has_aux, name)
    return ((value, aux) if has_aux else value), arguments.nests(found)


def complex_ones(name: str, arrays: Sequence[Any]) -> Sequence[Any]:
    """Check that the arrays of a holomorphic function are complex."""
    for x in arrays:
        if backend_of_leaf(x) is None or dtypes.dtype_of(x).kind != "complex":
            raise DtypeError(
                f"{name}: holomorphic: got {describe(x)}, expected complex arrays as arguments and "
                "results; leave holomorphic out for real functions"
            )
    return arrays


def split_aux(name: str, fn: Callable[..., Any], result: Any, has_aux: bool) -> tuple[Any, Any]:
    """Split a result into (value, aux); aux is None without `has_aux`."""
    if not has_aux:
        return result, None
    if isinstance(result, tuple) and len(result) == 2:
        return result
    raise ArgumentError(
        f"{name}: {name_of(fn)} returned {describe(result)}, expected a pair (value, aux) "
        "because of has_aux=True"
    )


def _checked(name: str, fn: Callable[..., Any], value: Any, backend: str) -> Any:
    found = backend_of_leaf(value)
    if found == backend and dtypes.dtype_of(value).is_floating and len(value.shape) == 0:
        return value
    if isinstance(value, tuple):
        hint = "; use has_aux=True to return more than the value"
    elif found == backend and len(value.shape):
        hint = "; reduce it, for example with na.mean"
    else:
        hint = ""
    raise ArgumentError(
        f"{name}: {name_of(fn)} returned {describe(value)}, expected a floating scalar of "
        f"{backend}, shape (){hint}"
    )
