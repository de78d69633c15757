"""Branches and loops of observed arrays: each is one call, with its body as a `Function`.

The functions here take the place of a backend's (`nestarray.backends.control_flow`). JAX and
TensorFlow have functions that take functions; PyTorch, NumPy and MLX have statements of Python, whose
calls have these targets and arguments. The module also records `vmap` and functions with derivatives
of their own (`nestarray.transforms.recording`).

    "flow:if"      (condition or index, functions)
    "flow:while"   (test, body, carry, largest number of steps or None)
    "flow:range"   (first, end, body, carry)
    "flow:for"     (step, carry, arrays or None, number of steps if there are none, reverse)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.backends import control_flow
from nestarray.errors import ConversionError
from nestarray.exporters.source.recording.observation import Observed, current, natives, value_of
from nestarray.exporters.source.recording.records import Call, Function
from nestarray.graph.node import map_leaves

Arrays = tuple[Any, ...]

associative_scan = control_flow.associative_scan


def static_value(x: Any) -> None:
    """None: source code is for any value."""


def cond(
    pred: Any, true_branch: Callable[[], Arrays], false_branch: Callable[[], Arrays]
) -> Arrays:
    """Two branches."""
    functions = [_function("if_true", (), true_branch), _function("if_false", (), false_branch)]
    args = pred, *(function for function, _ in functions)
    name = _target("if", "jax.lax.cond", "tensorflow.cond")
    return _called(name, args, {}, functions[0][1])


def switch(index: Any, branches: Sequence[Callable[[], Arrays]]) -> Arrays:
    """Branches, of which an index chooses one."""
    functions = [_function(f"case_{i}", (), branch) for i, branch in enumerate(branches)]
    cases = [function for function, _ in functions]
    name = _target("if", "jax.lax.switch", "tensorflow.switch_case")
    args = (index, *cases) if current().has_statements else (index, cases)
    return _called(name, args, {}, functions[0][1])


def while_loop(test: Any, body: Any, carry: Arrays, max_steps: int | None) -> Arrays:
    """A loop as long as a value says so."""
    go_on, _ = _function("go_on", (carry,), lambda carry: (test(carry),))
    step, results = _function("body", (carry,), body)
    args = go_on, step, _one(carry)
    if current().has_statements:
        return _called("flow:while", (*args, max_steps), {}, results)
    if max_steps is None and current().backend == "jax":
        return _called("jax.lax.while_loop", args, {}, results)
    settings = {} if max_steps is None else {"max_steps": max_steps}
    return _called(".while_loop", args, settings, results)


def fori_loop(
    lower: int, upper: int, body: Any, carry: Arrays, like: Any, *, unroll: int | bool | None = None
) -> Arrays:
    """A loop over integers."""
    first = ops.full((), lower, like=natives(like))
    step, results = _function("count", (first, carry), body)
    name = _target("range", "jax.lax.fori_loop", ".fori_loop")
    return _called(name, (lower, upper, step, _one(carry)), {}, results)


def scan(
    step: Any,
    carry: Arrays,
    xs: Arrays,
    length: int | None = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Arrays, Arrays]:
    """A loop over rows."""
    count = int(xs[0].shape[0]) if xs else length or 0
    row = tuple([_first_row(natives(x)) for x in xs])
    function, (last, ys) = _function("step", (carry, row), step)
    stacked = tuple([ops.zeros((count, *y.shape), dtype=y.dtype, like=y) for y in ys])
    args = function, _one(carry), _one(xs)
    if current().has_statements:
        return _called("flow:for", (*args, None if xs else count, reverse), {}, last, stacked)
    settings = ({} if xs else {"length": length}) | ({"reverse": True} if reverse else {})
    return _called(_target("for", "jax.lax.scan", ".scan"), args, settings, last, stacked)


def vmap(fn: Any, arrays: Sequence[Any]) -> Arrays:
    """A function of rows, for all rows."""
    backend, xs = current().backend, tuple(arrays)
    if current().has_statements:
        return scan(lambda _, row: ((), fn(*row)), (), xs)[1]
    rows = tuple([_first_row(natives(x)) for x in xs])
    function, results = _function("per_row", (rows,), lambda row: fn(*row))
    count = int(xs[0].shape[0])
    stacked = tuple([ops.zeros((count, *y.shape), dtype=y.dtype, like=y) for y in results])
    if backend == "jax":
        return _called("jax.lax.map", (function, _one(xs)), {"batch_size": count}, stacked)
    return _called("tensorflow.vectorized_map", (function, _one(xs)), {}, stacked)


def call_with_vjp(
    fn: Any, forward: Any, backward: Any, args: Arrays, nondiff: Sequence[int]
) -> Arrays:
    """A function with a custom pullback; NumPy has no derivatives."""
    if current().backend == "numpy":
        return fn(args)
    differentiated = [_is_inexact(x) and i not in nondiff for i, x in enumerate(args)]
    args = tuple(
        [
            ops.stop_gradient(x) if _is_inexact(x) and not is_given else x
            for x, is_given in zip(args, differentiated, strict=True)
        ]
    )
    first, (results, residuals) = _function("forward", (args,), forward)
    _check_inexact(results)

    def gradients(residuals: Arrays, cotangents: Arrays) -> Arrays:
        slopes = iter(backward(residuals, cotangents))
        return tuple([next(slopes) if is_given else None for is_given in differentiated])

    second, _ = _function("backward", (residuals, results), gradients)
    return _called(".custom_vjp", (first, second, _one(args)), {}, results)


def call_with_jvp(fn: Any, rule: Any, args: Arrays) -> Arrays:
    """A function with a custom directional derivative.

    Outside of JAX: the value, without its derivative, and the rule for ``x − stop_gradient(x)``, which
    is zero and has the derivative.
    """
    if current().backend == "numpy":
        return fn(args)
    _check_inexact(natives(args))
    if current().backend == "jax" and not current().has_statements:
        function, results = _function("function", (args,), fn)
        _check_inexact(results)
        tangent, _ = _function("tangent", (args, args), rule)
        return _called(".custom_jvp", (function, tangent, _one(args)), {}, results)
    fixed = tuple(map(ops.stop_gradient, args))
    moved = rule(fixed, tuple(map(ops.subtract, args, fixed)))
    return tuple(map(ops.add, fn(fixed), moved))


def _is_inexact(x: Any) -> bool:
    return dtypes.dtype_of(x).is_inexact


def _check_inexact(arrays: Sequence[Any]) -> None:
    if not all(map(_is_inexact, arrays)):
        raise ConversionError(
            "eject: a function with a derivative of its own has integers among its results, which "
            "source code cannot express; use a native module (graph.to_torch_module())"
        )


def _target(statement: str, jax: str, tensorflow: str) -> str:
    """The target of a statement, or of a call of the framework that records."""
    recorder = current()
    if recorder.has_statements:
        return f"flow:{statement}"
    return {"jax": jax, "tensorflow": tensorflow}[recorder.backend]


def _function(name: str, example: tuple[Any, ...], fn: Any) -> tuple[Function, Any]:
    """What `fn` does to arrays as in `example`, and its results as arrays of the framework."""
    recorder = current()
    arguments = map_leaves(lambda x: Observed(x, value_of(x)), natives(example))
    outer, recorder.calls = recorder.calls, []
    try:
        with np.errstate(all="ignore"):  # of branches that are not taken
            result = fn(*arguments)
        output = recorder.noted(_ones(result))
    finally:
        calls, recorder.calls = recorder.calls, outer
    inputs = tuple([_one(x) if isinstance(x, tuple) else x for x in arguments])
    return Function(name, recorder.noted(inputs), calls, output), natives(result)


def _called(target: str, args: Any, settings: dict[str, Any], *results: Arrays) -> Any:
    """A call, with results like these."""
    recorder = current()
    observed = [tuple([Observed(x, value_of(x)) for x in natives(part)]) for part in results]
    noted = [recorder.noted(_one(part)) for part in observed]
    result = tuple(noted) if len(noted) > 1 else noted[0]
    recorder.calls.append(
        Call(target, recorder.noted(tuple(args)), settings, result, recorder.place)
    )
    return tuple(observed) if len(observed) > 1 else observed[0]


def _one(arrays: Sequence[Any]) -> Any:
    """Arrays as an argument: a single one, a tuple of several, or None."""
    items = tuple(arrays)
    return items[0] if len(items) == 1 else items or None


def _ones(result: tuple[Any, ...]) -> Any:
    """The results of a function: arrays, or tuples of arrays."""
    is_nested = any(isinstance(part, tuple) for part in result)
    return tuple([_one(part) for part in result]) if is_nested else _one(result)


def _first_row(x: Any) -> Any:
    if x.shape[0]:
        return ops.getitem(x, 0)
    return ops.zeros(x.shape[1:], dtype=x.dtype, like=x)


Observed.__control_flow__ = sys.modules[__name__]
