"""Jacobians and Hessians: full matrices of derivatives, one for each array of a result.

A Jacobian is the pullback of all unit vectors of the result, or the pushforward of all unit
vectors of the arguments, mapped by the backend's `vmap` (products are in
`nestarray.transforms.products`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from nestarray import dtypes, ops, tree
from nestarray.errors import DtypeError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.arguments import Arguments, Wrt, native_transforms
from nestarray.transforms.batching import map_rows
from nestarray.transforms.enclosing import without_states
from nestarray.transforms.gradients import complex_ones, grad, split_aux
from nestarray.transforms.products import Results
from nestarray.typing import Array


@signature_errors(callables=("fn",))
def jacrev(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    holomorphic: bool = False,
    wrt: Wrt = None,
) -> Callable[..., Any]:
    """Return a function that evaluates the Jacobian by rows: one pullback per output element.

    Args:
        fn: function of nests that returns a nest of real floating arrays.
        argnums: which positional arguments to differentiate; several give a tuple.
        has_aux: `fn` returns ``(value, aux)``.
        holomorphic: the arrays are complex, and `fn` a holomorphic function of them.
        wrt: patterns of leaves, as for `execute_with_gradients`.

    Returns:
        a function of the arguments of `fn` that returns a nest of the structure of the
        result, under `has_aux` ``(nest, aux)``; in place of each array stands a nest of the
        structure of the argument, of arrays of the shapes ``(*output, *input)``: of Containers
        ``J["output/input"]``.

    Raises:
        DtypeError: when called, if a result or an argument is complex; under `holomorphic`, if
            one is not.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.jacrev(lambda x: x * x)(np.asarray([1.0, 2.0])).tolist()
        [[2.0, 0.0], [0.0, 4.0]]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.jacrev.html
    """

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments = Arguments("jacrev", fn, args, kwargs, argnums, wrt, unfused=True)
        results = Results("jacrev", fn, has_aux)
        native = native_transforms(arguments.backend)
        inputs = _checked("jacrev", arguments.arrays, holomorphic)
        outputs, others, pull = native.vjp(
            lambda *values: results.taken(arguments.call(*values)), inputs, "jacrev"
        )
        _checked("jacrev", outputs, holomorphic)
        zeros = [ops.zeros_like(x) for x in outputs]
        blocks = []
        for i, output in enumerate(outputs):

            def row(ct: Array, i: int = i) -> tuple[Any, tuple[()]]:
                gradients = pull([*zeros[:i], ct, *zeros[i + 1 :]])
                # pullbacks multiply with Jᴴ
                return tuple([ops.conj(g) if holomorphic else g for g in gradients]), ()

            rows = map_rows(row, [_basis(output)], arguments.backend)[0] if inputs else []
            shape = tuple(output.shape)
            parts = [ops.reshape(r, (*shape, *x.shape)) for r, x in zip(rows, inputs, strict=True)]
            blocks.append(arguments.nests(parts))
        found, aux = results.nests(blocks, others, tree.grafted)
        return (found, aux) if has_aux else found

    return call


@signature_errors(callables=("fn",))
def jacfwd(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    holomorphic: bool = False,
    wrt: Wrt = None,
) -> Callable[..., Any]:
    """Return a function that evaluates the Jacobian by columns: one pushforward per input element.

    Cheaper than `jacrev` where there are fewer inputs than outputs; the result is the same.

    Args:
        fn: function of nests that returns a nest of real floating arrays.
        argnums: which positional arguments to differentiate; several give a tuple.
        has_aux: `fn` returns ``(value, aux)``.
        holomorphic: the arrays are complex, and `fn` a holomorphic function of them.
        wrt: patterns of leaves, as for `execute_with_gradients`.

    Returns:
        a function of the arguments of `fn`; see `jacrev`.

    Raises:
        ArgumentError: when called, if, in a call of a `Module`, a layer in `fn` updates its state.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.jacfwd(lambda x: na.stack([x, x * x]))(np.asarray(3.0)).tolist()
        [1.0, 6.0]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.jacfwd.html
    """

    def call(each: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        @wraps(fn)
        def split(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
            result, drawn = each(*args, **kwargs)
            value, aux = split_aux("jacfwd", fn, result, has_aux)
            return value, (aux, drawn)

        arguments = Arguments("jacfwd", split, args, kwargs, argnums, wrt, unfused=True)
        results = Results("jacfwd", fn, has_aux=True)
        native = native_transforms(arguments.backend)
        inputs = _checked("jacfwd", arguments.arrays, holomorphic)
        zeros = [ops.zeros_like(x) for x in inputs]
        columns = []  # for each input the tangents of all outputs
        found: list[Any] = []
        for i, x in enumerate(inputs):

            def column(tangent: Array, i: int = i) -> tuple[Any, tuple[()]]:
                outputs, others, moved = native.jvp(
                    lambda *values: results.taken(arguments.call(*values)),
                    inputs,
                    [*zeros[:i], tangent, *zeros[i + 1 :]],
                    "jacfwd",
                )
                _checked("jacfwd", outputs, holomorphic)
                return (*moved, *others), ()

            stacked = map_rows(column, [_basis(x)], arguments.backend)[0]
            columns.append([ops.moveaxis(y, 0, -1) for y in stacked])
        count = results.count
        others = [y[..., 0] for y in columns[0][count:]] if columns else []
        for k in range(count):
            shape = tuple(columns[0][k].shape)[:-1]
            parts = [
                ops.reshape(c[k], (*shape, *x.shape)) for c, x in zip(columns, inputs, strict=True)
            ]
            found.append(arguments.nests(parts))
        nest, (aux, drawn) = results.nests(found, others, tree.grafted)
        return ((nest, aux) if has_aux else nest), drawn

    @wraps(fn)
    def stateless(*args: Any, **kwargs: Any) -> Any:
        remedy = "each tangent would; use the evaluation (train=False), or call the layer outside"
        return without_states("jacfwd", fn, lambda each: call(each, *args, **kwargs), remedy)

    return stateless


@signature_errors(callables=("fn",))
def jacobian(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    holomorphic: bool = False,
    wrt: Wrt = None,
) -> Callable[..., Any]:
    """Return a function that evaluates the Jacobian in the cheaper mode.

    `jacfwd` where the arguments have fewer elements than the result, `jacrev` elsewhere; the
    function is evaluated once more to know.

    Args:
        fn: function of nests that returns a nest of real floating arrays.
        argnums: which positional arguments to differentiate; several give a tuple.
        has_aux: `fn` returns ``(value, aux)``.
        holomorphic: the arrays are complex, and `fn` a holomorphic function of them.
        wrt: patterns of leaves, as for `execute_with_gradients`.

    Returns:
        a function of the arguments of `fn`; see `jacrev`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.jacobian(na.sin)(np.zeros(2)).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        arguments = Arguments("jacobian", fn, args, kwargs, argnums, wrt, unfused=True)
        value = split_aux("jacobian", fn, fn(*args, **kwargs), has_aux)[0]
        outputs = tree.flatten(value, unfused=True)[0]
        before = sum(math.prod(x.shape) for x in arguments.arrays)
        after = sum(math.prod(x.shape) for x in outputs if hasattr(x, "shape"))
        mode = jacfwd if before < after else jacrev
        return mode(fn, argnums, has_aux, holomorphic=holomorphic, wrt=wrt)(*args, **kwargs)

    return call


@signature_errors(callables=("fn",))
def hessian(
    fn: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    holomorphic: bool = False,
    wrt: Wrt = None,
) -> Callable[..., Any]:
    """Return a function that evaluates the Hessian, the second derivatives of a scalar function.

    Args:
        fn: function that returns a floating scalar, shape `()`.
        argnums: which positional arguments to differentiate; several give a tuple.
        has_aux: `fn` returns ``(value, aux)``.
        holomorphic: the arrays are complex, and `fn` a holomorphic function of them.
        wrt: patterns of leaves, as for `execute_with_gradients`.

    Returns:
        a function of the arguments of `fn` that returns a nest of the argument's structure,
        in place of each array such a nest again, of arrays ``(*first, *second)``.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hessian(lambda x: na.sum(x**3))(np.asarray([1.0, 2.0])).tolist()
        [[6.0, 0.0], [0.0, 12.0]]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.hessian.html
    """
    gradient = grad(fn, argnums, has_aux, holomorphic=holomorphic, wrt=wrt)
    return jacfwd(gradient, argnums, has_aux, holomorphic=holomorphic, wrt=wrt)


def _checked(name: str, arrays: Sequence[Any], holomorphic: bool) -> Sequence[Any]:
    if holomorphic:
        return complex_ones(name, arrays)
    for x in arrays:
        if dtypes.dtype_of(x).kind == "complex":
            raise DtypeError(
                f"{name}: got an array of {dtypes.dtype_of(x)}; Jacobians are of real functions, "
                "take real and imaginary parts apart, use vjp and jvp, or say holomorphic=True"
            )
    return arrays


def _basis(x: Array) -> Array:
    """The unit vectors of the space of `x`, shape ``(size, *x.shape)``."""
    shape = tuple(x.shape)
    size = math.prod(shape)
    return ops.reshape(ops.eye(size, dtype=dtypes.dtype_of(x), like=x), (size, *shape))
