"""Loops, choices, and functions with derivatives of their own.

Upstream: https://www.tensorflow.org/api_docs/python/tf/while_loop
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes, tree
from nestarray.errors import ArgumentError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.tensorflow.conversion import tensor
from nestarray.typing import Array, Nest

__all__ = [
    "case", "cond", "custom_gradient", "foldl", "foldr", "grad_pass_through", "map_fn",
    "recompute_grad", "scan", "stop_gradient", "switch_case", "vectorized_map", "while_loop",
]  # fmt: skip

Function = Callable[..., Any]


def _arrays(nest: Nest) -> Nest:
    """Arrays in place of numbers."""
    return tree.map(tensor, nest)


# -- choices ---------------------------------------------------------------------------------


def cond(
    pred: Any,
    true_fn: Function | None = None,
    false_fn: Function | None = None,
    name: str | None = None,
) -> Any:
    """``true_fn()`` if `pred`, else ``false_fn()``."""
    if true_fn is None or false_fn is None:
        raise ArgumentError("cond: true_fn, false_fn: got None, expected two functions")
    return na.cond(tensor(pred), true_fn, false_fn)


def case(
    pred_fn_pairs: Sequence[tuple[Any, Function]],
    default: Function | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The value of the function of the first pair whose condition is true, else of `default`.

    Args:
        pred_fn_pairs: pairs (condition, function).
        default: a function; None: one condition has to be true, which is not checked.
        exclusive: at most one condition may be true, which is not checked.
        strict, name: have no effect.
    """
    pairs = list(pred_fn_pairs)
    if not pairs:
        raise ArgumentError("case: pred_fn_pairs: got none, expected at least one pair")
    rest = default if default is not None else pairs.pop()[1]
    for pred, function in reversed(pairs):
        rest = functools.partial(na.cond, tensor(pred), function, rest)
    return rest()


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Function | None = None,
    name: str = "switch_case",
) -> Any:
    """The value of the function of an index; of `default`, or of the last one, for any other index.

    Args:
        branch_index: an integer.
        branch_fns: functions, pairs (index, function), or a mapping, of all indices from 0.
        default: a function.
        name: has no effect.
    """
    pairs = branch_fns.items() if isinstance(branch_fns, Mapping) else list(branch_fns)
    if not isinstance(branch_fns, Mapping) and all(map(callable, branch_fns)):
        pairs = enumerate(branch_fns)
    functions = dict(pairs)
    if sorted(functions) != list(range(len(functions))):
        raise ArgumentError(
            f"switch_case: branch_fns: got the indices {sorted(functions)}, expected 0 to "
            f"{len(functions) - 1}"
        )
    branches = [functions[i] for i in range(len(functions))]
    last = branches[-1] if default is None else default
    index = tensor(branch_index)
    is_known = na.logical_and(na.greater_equal(index, 0), na.less(index, len(branches)))
    return na.switch(na.where(is_known, index, len(branches)), [*branches, last])


# -- loops -----------------------------------------------------------------------------------


def while_loop(
    cond: Function,
    body: Function,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """``while cond(*x): x = body(*x)``, beginning with `loop_vars`.

    Args:
        cond: a function of the variables that returns a bool.
        body: a function of the variables that returns the next ones, of the same shapes and dtypes.
        loop_vars: a sequence of nests.
        shape_invariants, parallel_iterations, back_prop, swap_memory, name: have no effect.
        maximum_iterations: the largest number of steps.

    Returns:
        a sequence like `loop_vars`.
    """
    start = _arrays(tuple(loop_vars))

    def step(values: Any) -> Any:
        found = body(*values)
        is_sequence = isinstance(found, (list, tuple))
        return _arrays(tuple(found) if is_sequence else (found,))

    steps = None if maximum_iterations is None else int(maximum_iterations)
    found = na.while_loop(lambda values: cond(*values), step, start, max_steps=steps)
    return _like(loop_vars, found)


def _like(sequence: Any, values: Sequence[Any]) -> Any:
    """The values in a sequence of the same type."""
    if hasattr(sequence, "_fields"):
        return type(sequence)(*values)
    return list(values) if isinstance(sequence, list) else tuple(values)


def _row(elems: Nest, index: Any) -> Nest:
    return tree.map(lambda x: na.getitem(x, index), elems)


def map_fn(
    fn: Function,
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """``fn(x)`` for each row x of `elems`, stacked.

    Args:
        fn: a function of a row.
        elems: a nest of tensors.
        dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name, fn_output_signature:
            have no effect; the results determine dtypes and shapes.
    """
    found = na.map(lambda row: _arrays(fn(row)), _arrays(elems))
    return found


def vectorized_map(
    fn: Function, elems: Any, fallback_to_while_loop: bool = True, warn: bool = True
) -> Any:
    """``fn(x)`` for each row x of `elems`, stacked; all rows are computed at once."""
    return na.vmap(lambda row: _arrays(fn(row)))(_arrays(elems))


def scan(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """``a = fn(a, x)`` for each row x of `elems`; all a, stacked.

    Args:
        fn: a function of the last result and a row.
        elems: a nest of tensors.
        initializer: the first a; None: the first row, which is also the first result.
        reverse: begin with the last row.
        parallel_iterations, back_prop, swap_memory, infer_shape, name: have no effect.
    """
    elems = _arrays(elems)

    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        found = _arrays(fn(carry, row))
        return found, found

    first = None
    if initializer is None:
        index = -1 if reverse else 0
        first = _row(elems, index)
        elems = _row(elems, slice(None, -1) if reverse else slice(1, None))
    start = first if initializer is None else _arrays(initializer)
    _, found = na.scan(step, start, elems, reverse=reverse)
    if first is not None:
        edge = tree.map(lambda x: na.expand_dims(x, 0), first)
        parts = (found, edge) if reverse else (edge, found)
        found = tree.map(lambda a, b: na.concat([a, b]), *parts)
    return found


def foldl(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last result of ``a = fn(a, x)`` for each row x of `elems`; arguments as of `scan`."""
    return _fold(fn, elems, initializer, False)


def foldr(
    fn: Function,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`foldl`, beginning with the last row."""
    return _fold(fn, elems, initializer, True)


def _fold(fn: Function, elems: Any, initializer: Any, reverse: bool) -> Any:
    elems = _arrays(elems)
    if initializer is not None:
        start = _arrays(initializer)
    else:
        start = _row(elems, -1 if reverse else 0)
        elems = _row(elems, slice(None, -1) if reverse else slice(1, None))

    def step(carry: Any, row: Any) -> tuple[Any, None]:
        return _arrays(fn(carry, row)), None

    found, _ = na.scan(step, start, elems, reverse=reverse)
    return found


# -- derivatives -----------------------------------------------------------------------------


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """`input`, with the derivative 0."""
    return tree.map(lambda x: na.stop_gradient(tensor(x)), input)


def custom_gradient(f: Function | None = None) -> Function:
    """A function with a derivative of its own.

    Args:
        f: a function that returns ``(value, pullback)``; ``pullback(*cotangents)`` has an argument for
            each result and returns a gradient for each argument of `f`.
    """
    if f is None:
        return custom_gradient
    function = f

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        @na.custom_vjp
        def value(*args: Any) -> Any:
            return function(*args, **kwargs)[0]

        def backward(args: tuple[Any, ...], cotangent: Any) -> tuple[Any, ...]:
            parts = cotangent if isinstance(cotangent, (list, tuple)) else (cotangent,)
            found = function(*args, **kwargs)[1](*parts)
            return tuple(found) if isinstance(found, (list, tuple)) else (found,)

        value.defvjp(lambda *args: (function(*args, **kwargs)[0], args), backward)
        return value(*_arrays(args))

    return call


def recompute_grad(f: Function) -> Function:
    """`f`, whose intermediate values are computed again for the derivative."""
    return na.checkpoint(f)


def grad_pass_through(f: Function) -> Function:
    """`f`, with the derivative of the identity; its result has the shape of its argument."""

    @functools.wraps(f)
    def call(x: Any, *args: Any, **kwargs: Any) -> Array:
        x = tensor(x)
        value = na.stop_gradient(f(x, *args, **kwargs))
        return with_derivative_of(na.astype(x, dtypes.dtype_of(value)), value)

    return call
