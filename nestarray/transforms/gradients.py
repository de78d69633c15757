"""Reverse-mode derivatives of scalar functions of nests.

The nest is flattened once, the backend differentiates a function of a flat list of
floating arrays (``backends/<name>/transforms.py: value_and_grad``), and the gradients
are put back into the nest once. One rule serves all backends:

- the gradient of a leaf has the leaf's dtype and shape; a leaf that the value does not
  depend on has a gradient of zeros, and so have integers and booleans;
- of a complex leaf it is the direction of steepest ascent, ∂f/∂x + i ∂f/∂y, so that
  ``v - rate * grads`` descends;
- None, strings and whatever else is no number stands in the gradients as it is.

The functions nest to any order: a gradient can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from nestarray import backends, dtypes, ops, tree
from nestarray.config import current_backend
from nestarray.errors import ArgumentError, MixedBackendError, UnsupportedError
from nestarray.typing import Array, Nest


def execute_with_gradients(
    fn: Callable[[Nest], Any], v: Nest, *, has_aux: bool = False
) -> tuple[Any, Nest]:
    """Evaluate f(v) and its gradient ∂f/∂v in one pass.

    Args:
        fn: function of `v` that returns a floating scalar, shape `()`.
        v: Container, or any nest, of arrays of one framework.
        has_aux: `fn` returns ``(value, aux)``; `aux`, any nest, is handed through.

    Returns:
        ``(value, gradients)``, the gradients in the structure of `v`; under `has_aux`
        ``((value, aux), gradients)``.

    Raises:
        ArgumentError: `fn` returned something else than a floating scalar.
        UnsupportedError: the arrays are NumPy's, which differentiates nothing.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> v = na.Container(w=jnp.asarray([1.0, 2.0]))
        >>> value, gradients = na.execute_with_gradients(lambda v: na.sum(v.w * v.w), v)
        >>> float(value), gradients.w.tolist()
        (5.0, [2.0, 4.0])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html
    """
    return _differentiate("execute_with_gradients", fn, 0, has_aux, (v,), {})


def value_and_grad(
    fn: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Nest]]:
    """The function that evaluates `fn` and its gradient, (f(x), ∂f/∂x).

    Args:
        fn: function that returns a floating scalar, shape `()`.
        argnums: which positional arguments to differentiate; several give a tuple.
        has_aux: `fn` returns ``(value, aux)``.

    Returns:
        a function of the arguments of `fn` that returns ``(value, gradients)``, or
        ``((value, aux), gradients)``.

    Raises:
        ArgumentError: when called, if `fn` returns something else than a floating scalar,
            or has no argument of a number in `argnums`.
        UnsupportedError: when called with NumPy arrays.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> value, gradient = na.value_and_grad(lambda x: x * x)(jnp.asarray(3.0))
        >>> float(value), float(gradient)
        (9.0, 6.0)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html
    """

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> tuple[Any, Nest]:
        return _differentiate("value_and_grad", fn, argnums, has_aux, args, kwargs)

    return call


def grad(
    fn: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that evaluates the gradient ∂f/∂x of `fn`.

    Args:
        fn: function that returns a floating scalar, shape `()`.
        argnums: which positional arguments to differentiate; several give a tuple.
        has_aux: `fn` returns ``(value, aux)``.

    Returns:
        a function of the arguments of `fn` that returns the gradients, or
        ``(gradients, aux)``.

    Raises:
        ArgumentError: when called, as in `value_and_grad`.
        UnsupportedError: when called with NumPy arrays.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> float(na.grad(na.grad(lambda x: x * x * x))(jnp.asarray(2.0)))
        12.0

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.grad.html
    """

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        value, gradients = _differentiate("grad", fn, argnums, has_aux, args, kwargs)
        return (gradients, value[1]) if has_aux else gradients

    return call


def _differentiate(
    name: str,
    fn: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any]:
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    try:
        chosen = tuple([args[i] for i in numbers])
    except IndexError:
        raise ArgumentError(
            f"{name}: argnums: got {argnums!r}, but {name_of(fn)} was called with "
            f"{len(args)} positional arguments"
        ) from None
    flat = [tree.flatten(nest) for nest in chosen]
    leaves = [leaf for part, _ in flat for leaf in part]
    backend = _backend(name, leaves) or backends.find_backend((args, kwargs)) or current_backend()
    places = [i for i, leaf in enumerate(leaves) if _is_inexact(leaf)]

    def call(*values: Any) -> tuple[Any, Any]:
        filled = list(leaves)
        for i, value in zip(places, values, strict=True):
            filled[i] = value
        changed = list(args)
        for number, nest in zip(numbers, _rebuild(flat, filled), strict=True):
            changed[number] = nest
        value, aux = _split(name, fn, fn(*changed, **kwargs), has_aux)
        return _checked(name, fn, value, backend), aux

    inexact = [_as_array(leaves[i], backend) for i in places]
    value, aux, found = native_transforms(backend).value_and_grad(call, inexact, has_aux, name)
    gradients = [_zeros(leaf) for leaf in leaves]
    for i, gradient in zip(places, found, strict=True):
        gradients[i] = gradient
    parts = _rebuild(flat, gradients)
    result = parts[0] if isinstance(argnums, int) else tuple(parts)
    return ((value, aux) if has_aux else value), result


def _rebuild(flat: list[tuple[Any, Any]], leaves: list[Any]) -> list[Any]:
    nests, start = [], 0
    for part, structure in flat:
        nests.append(tree.unflatten(structure, leaves[start : start + len(part)]))
        start += len(part)
    return nests


#: What was looked up before, in dictionaries, which torch.compile reads; cached functions
#: it runs again, imports and all.
_modules: dict[str, Any] = {}
_backends: dict[type, str | None] = {}


def native_transforms(backend: str) -> Any:
    """The module of a backend that does what this package asks for."""
    if backend not in _modules:
        _modules[backend] = backends.chapter(backend, "transforms")
    return _modules[backend]


def _backend_of(leaf: Any) -> str | None:
    cls = type(leaf)
    if cls not in _backends:
        _backends[cls] = backends.backend_of_type(cls)
    return _backends[cls]


def _backend(name: str, leaves: list[Any]) -> str | None:
    found = dict.fromkeys([_backend_of(leaf) for leaf in leaves])
    names = [backend for backend in found if backend is not None]
    if len(names) > 1:
        raise MixedBackendError(backends.mixed_message(name, names))
    if not names and any(map(backends.backend_of_value, leaves)):
        raise UnsupportedError(
            f"{name}: derivatives cannot be recorded; trace the function without them, and "
            "differentiate the graph, which is a function of v: na.grad(lambda v: graph(x, v=v))"
        )
    return names[0] if names else None


def _is_inexact(leaf: Any) -> bool:
    if hasattr(leaf, "dtype"):
        return dtypes.dtype_of(leaf).is_inexact
    return isinstance(leaf, (float, complex))


def _as_array(leaf: Any, backend: str) -> Array:
    if hasattr(leaf, "dtype"):
        return leaf
    dtype = "float32" if isinstance(leaf, float) else "complex64"
    return backends.core(backend).from_numpy(np.asarray(leaf, dtype))


def _zeros(leaf: Any) -> Any:
    """The gradient of a leaf that is not differentiated; floating ones are replaced later."""
    if hasattr(leaf, "dtype"):
        return leaf if _is_inexact(leaf) else ops.zeros_like(leaf)
    return type(leaf)(0) if isinstance(leaf, (bool, int)) else leaf


def _split(name: str, fn: Callable[..., Any], result: Any, has_aux: bool) -> tuple[Any, Any]:
    if not has_aux:
        return result, None
    if isinstance(result, tuple) and len(result) == 2:
        return result
    raise ArgumentError(
        f"{name}: {name_of(fn)} returned {_describe(result)}, expected a pair (value, aux) "
        "because of has_aux=True"
    )


def _checked(name: str, fn: Callable[..., Any], value: Any, backend: str) -> Any:
    found = _backend_of(value)
    if found == backend and dtypes.dtype_of(value).is_floating and len(value.shape) == 0:
        return value
    if isinstance(value, tuple):
        hint = "; use has_aux=True to return more than the value"
    elif found == backend and len(value.shape):
        hint = "; reduce it, for example with na.mean"
    else:
        hint = ""
    raise ArgumentError(
        f"{name}: {name_of(fn)} returned {_describe(value)}, expected a floating scalar of "
        f"{backend}, shape (){hint}"
    )


def name_of(fn: Callable[..., Any]) -> str:
    """A function as error messages speak of it."""
    return f"the function {getattr(fn, '__name__', type(fn).__name__)!r}"


def _describe(value: Any) -> str:
    if backends.backend_of_type(type(value)) is not None:
        return f"an array of {dtypes.dtype_of(value)}, shape {tuple(value.shape)}"
    return f"a {type(value).__name__}"
