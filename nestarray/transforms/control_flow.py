"""Control flow over nests, with the semantics of ``jax.lax`` on every backend.

A carry keeps its structure, shapes and dtypes, and functions are pure, except for the states of
layers that they call, which become a part of the carry (`through_states`). Each function flattens its
nests once and passes functions of flat arrays (`nestarray.transforms.carries`) to the backend
(``backends/<name>/control_flow.py``). JAX runs ``lax``; TensorFlow adds graph nodes while it
traces; NumPy, PyTorch and eager TensorFlow run Python. A condition with a known value is a
Python `if` on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray import backends, dtypes, ops, tree
from nestarray.backends import control_flow as native
from nestarray.config import current_backend
from nestarray.container.arguments import check_function
from nestarray.errors import ArgumentError, MixedBackendError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.arguments import describe
from nestarray.transforms.batching import vmap
from nestarray.transforms.carries import (
    Aval,
    Expected,
    Form,
    avals_of,
    backend_of_array,
    is_array,
    repeat_until_stable,
    take_apart,
)
from nestarray.transforms.enclosing import through_states
from nestarray.transforms.loop_arguments import check_count, length_of, scalar
from nestarray.transforms.recording import current_recorder
from nestarray.transforms.steps import (
    Body,
    Counted,
    Mapped,
    Step,
    Test,
    checked_pair,
    flat_function,
)
from nestarray.typing import Array, Nest, is_symbolic_size

Function = Callable[..., Any]
Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]


@signature_errors(callables=("true_fn", "false_fn"))
def cond(pred: Array, true_fn: Function, false_fn: Function, *operands: Nest) -> Nest:
    """``true_fn(*operands)`` if `pred` is true, else ``false_fn(*operands)``.

    If the value of `pred` is known, only the selected function is called. In a compiled function
    both are traced and one runs. Under `vmap` over `pred` both run, and each example selects its
    result.

    Args:
        pred: boolean scalar, shape `()`.
        true_fn, false_fn: functions of the operands that return nests of the same structure,
            shapes and dtypes. Numbers among the results become arrays.
        *operands: any nests.

    Returns:
        the result of the selected function, with arrays for numbers.

    Raises:
        ShapeError, DtypeError: `pred` is not a boolean scalar; or both functions are traced and
            their results differ in shape or dtype.
        StructureError: both functions are traced and their results differ in structure.
        UnsupportedError: PyTorch cannot trace the branch.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(x=np.asarray(3.0))
        >>> na.cond(c.x > 2, lambda c: c * 2, lambda c: c, c).x
        np.float64(6.0)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html
    """
    pred = scalar("cond", "pred", pred, "bool")
    value = known(pred)
    if value is not None:
        return _taken("cond", true_fn if value else false_fn, operands, pred)
    return _branched("cond", pred, (true_fn, false_fn), operands)


@signature_errors()
def switch(index: Array, branches: Sequence[Function], *operands: Nest) -> Nest:
    """``branches[index](*operands)``, with `index` clipped to the range of the branches.

    Args:
        index: integer scalar, shape `()`, clipped to `[0, len(branches) - 1]`.
        branches: functions of the operands, as for `cond`.
        *operands: any nests.

    Returns:
        the result of the selected function, with arrays for numbers.

    Raises:
        ArgumentError: `branches` is empty, or an element is not callable.
        ShapeError, DtypeError: `index` is not an integer scalar; or as for `cond`.
        StructureError: as for `cond`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.switch(np.asarray(1), [na.exp, na.negative], np.asarray(2.0))
        np.float64(-2.0)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.switch.html
    """
    try:
        branches = tuple(branches)
    except TypeError:
        got = type(branches).__name__
        raise ArgumentError(f"switch: branches: got {got}, expected a list of functions") from None
    if not branches:
        raise ArgumentError("switch: branches: got none, expected at least one function")
    for i, branch in enumerate(branches):
        check_function("switch", f"branches[{i}]", branch, "branch(*operands)")
    index = scalar("switch", "index", index, "int")
    value = known(index)
    if value is not None:
        chosen = branches[min(max(int(value), 0), len(branches) - 1)]
        return _taken("switch", chosen, operands, index)
    if len(branches) == 1:
        return _taken("switch", branches[0], operands, index)
    index = ops.clip(ops.astype(index, dtypes.int32), 0, len(branches) - 1)
    return _branched("switch", index, branches, operands)


@signature_errors(callables=("cond_fn", "body_fn"))
def while_loop(cond_fn: Unary, body_fn: Unary, init: Nest, *, max_steps: int | None = None) -> Nest:
    """Apply `body_fn` as long as `cond_fn` holds: ``while cond_fn(x): x = body_fn(x)``.

    Args:
        cond_fn: function of the carry that returns a boolean scalar.
        body_fn: function of the carry that returns the next one, of the same structure, shapes
            and dtypes.
        init: the first carry, any nest. Numbers in it become arrays of the dtype that `body_fn`
            returns for them.
        max_steps: the largest number of steps. A loop compiled by JAX has a reverse derivative
            only with this bound, and then always takes the time and memory of `max_steps` steps.
            Without compilation JAX counts the steps before it differentiates the loop.

    Returns:
        the last carry.

    Raises:
        StructureError, ShapeError, DtypeError: a carry differs from `init`, or `cond_fn` did not
            return a boolean scalar.
        UnsupportedError: PyTorch cannot compile the loop or its gradient.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.while_loop(lambda c: c["x"] < 100, lambda c: c * 2, na.Container(x=np.asarray(3))).x
        np.int64(192)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html
    """
    check_count("while_loop", "max_steps", max_steps)

    def threaded(thread: Function, states: Nest) -> tuple[Nest, Nest]:
        test, body = thread(cond_fn), thread(body_fn)
        return _while(
            lambda c: test(c[1], c[0])[0], lambda c: body(c[1], c[0]), (init, states), max_steps
        )

    return through_states(lambda: _while(cond_fn, body_fn, init, max_steps), threaded)


def _while(cond_fn: Unary, body_fn: Unary, init: Nest, max_steps: int | None) -> Nest:
    given, form = take_apart(init, numbers=True)
    backend, like = place("while_loop", given)
    avals = avals_of(given, backend)
    body = _flat(backend, Body, body_fn, "while_loop", form, avals)
    test = _flat(backend, Test, cond_fn, "while_loop", form, avals)
    run = find(backend, "while_loop", given)
    found = repeat_until_stable(lambda: run(test, body, body.carry.start(given, like), max_steps))
    return form.nest(found)


@signature_errors(callables=("body_fn",))
def fori_loop(
    lower: Array,
    upper: Array,
    body_fn: Binary,
    init: Nest,
    *,
    unroll: int | bool | None = None,
) -> Nest:
    """``x = body_fn(i, x)`` for each integer i from `lower` to before `upper`.

    Args:
        lower, upper: integers, or integer scalars. If they are known at trace time, the loop has
            a reverse derivative on every backend.
        body_fn: function of the index, an integer array of shape `()`, and the carry; it
            returns the next carry, of the same structure, shapes and dtypes.
        init: the first carry, as for `while_loop`.
        unroll: the number of steps per loop iteration, as for `scan`; needs known bounds.

    Returns:
        the last carry; `init` if `upper` is not above `lower`.

    Raises:
        ArgumentError: `unroll` is not a positive integer, or the bounds are not known.
        StructureError, ShapeError, DtypeError: a carry differs from `init`, or a bound is not an
            integer scalar.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.fori_loop(0, 4, lambda i, x: x + i, np.asarray(10))
        np.int64(16)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html
    """
    if not isinstance(unroll, bool):
        check_count("fori_loop", "unroll", unroll, least=1)

    def threaded(thread: Function, states: Nest) -> tuple[Nest, Nest]:
        body = thread(body_fn)
        return _counted(lower, upper, lambda i, c: body(c[1], i, c[0]), (init, states), unroll)

    return through_states(lambda: _counted(lower, upper, body_fn, init, unroll), threaded)


def _counted(
    lower: Array, upper: Array, body_fn: Binary, init: Nest, unroll: int | bool | None
) -> Nest:
    lower = scalar("fori_loop", "lower", lower, "int")
    upper = scalar("fori_loop", "upper", upper, "int")
    given, form = take_apart(init, numbers=True)
    backend, like = place("fori_loop", (*given, *filter(is_array, (lower, upper))))
    if any(is_symbolic_size(x) and not is_array(x) for x in (lower, upper)):
        steps = ops.arange(lower, upper, like=like)
        return scan(lambda carry, i: (body_fn(i, carry), None), init, steps)[0]
    avals = avals_of(given, backend)
    body = _flat(backend, Counted, body_fn, "fori_loop", form, avals)
    first, last = known(lower), known(upper)
    if first is not None and last is not None:
        run = find(backend, "fori_loop", given)
        found = repeat_until_stable(
            lambda: run(
                int(first), int(last), body, body.carry.start(given, like), like, unroll=unroll
            )
        )
        return form.nest(found)
    if unroll is not None:
        raise ArgumentError(
            f"fori_loop: unroll: got {unroll}, but the number of steps is not known while the program "
            "is made; give bounds that are numbers, or leave unroll out"
        )
    dtype = dtypes.result_dtype(lower, upper)
    bounds = [ops.astype(_array(x, like), dtype) for x in (lower, upper)]
    run = find(backend, "while_loop", (*bounds, *given))
    found = repeat_until_stable(
        lambda: run(
            lambda state: ops.less(state[0], bounds[1]),
            lambda state: (ops.add(state[0], 1), *body(state[0], state[1:])),
            (bounds[0], *body.carry.start(given, like)),
            None,
        )
    )
    return form.nest(found[1:])


@signature_errors(callables=("fn",))
def scan(
    fn: Binary,
    init: Nest,
    xs: Nest = None,
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Nest, Nest]:
    """Fold `fn` over the first axis of `xs`, and stack its outputs.

    Each step computes ``carry, y = fn(carry, x)`` for a row x of `xs`. The ys are stacked in the
    order of the xs.

    Args:
        fn: function of the carry and a row. It returns ``(carry, y)``: the next carry, of the same
            structure, shapes and dtypes, and any nest of arrays or None.
        init: the first carry, as for `while_loop`.
        xs: nest of arrays with the same first axis; every step gets other leaves unchanged. None
            for no inputs.
        length: the number of steps; required if `xs` contains no arrays.
        reverse: begin with the last row.
        unroll: the number of steps per loop iteration on JAX; True unrolls the whole loop in
            compiled code.

    Returns:
        ``(carry, ys)``. With zero steps, the carry is `init`, and the ys have a first axis of 0.

    Raises:
        ArgumentError: `fn` did not return a pair; or `xs` contains no arrays and `length` is None.
        ShapeError: the first axes of `xs`, or `length`, differ.
        StructureError, ShapeError, DtypeError: a carry differs from `init`, or a `y` from the
            first one.

    Example:
        >>> import numpy as np, nestarray as na
        >>> def step(c, x):
        ...     return na.Container(total=c.total + x), c.total
        >>> carry, before = na.scan(step, na.Container(total=0), np.asarray([1, 2, 3]))
        >>> carry.total, before
        (np.int64(6), array([0, 1, 3]))

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html
    """

    def threaded(thread: Function, states: Nest) -> tuple[Nest, Nest]:
        step = thread(fn)

        def pure(both: Nest, x: Nest) -> tuple[Nest, Nest]:
            result, new = step(both[1], both[0], x)
            carry, y = checked_pair("scan", fn, result)
            return (carry, new), y

        (carry, last), ys = _scanned("scan", pure, (init, states), xs, length, reverse, unroll)
        return (carry, ys), last

    return through_states(lambda: _scanned("scan", fn, init, xs, length, reverse, unroll), threaded)


@signature_errors(callables=("fn",))
def map(fn: Unary, xs: Nest, *, batch_size: int | None = None) -> Nest:
    """Apply `fn` to the rows of `xs` one after the other, and stack the results.

    Unlike `vmap`, which computes all rows at once, it needs the memory of one row.

    Args:
        fn: function of a row that returns a nest of arrays.
        xs: nest of arrays with the same first axis; every call gets other leaves unchanged.
        batch_size: the number of rows per call, mapped by `vmap`.

    Returns:
        the results, stacked.

    Raises:
        ArgumentError: `xs` contains no arrays, or `batch_size` is not positive.
        ShapeError: the first axes of `xs` differ.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.map(lambda c: c.a * c.b, na.Container(a=np.arange(3), b=np.arange(3))).tolist()
        [0, 1, 4]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.map.html
    """
    check_count("map", "batch_size", batch_size, least=1)

    def threaded(thread: Function, states: Nest) -> tuple[Nest, Nest]:
        step = thread(fn)
        pure = lambda old, x: step(old, x)[::-1]  # noqa: E731
        last, ys = _scanned("map", pure, states, xs, None, False, 1)
        return ys, last

    return through_states(lambda: _mapped(fn, xs, batch_size), threaded)


def _mapped(fn: Unary, xs: Nest, batch_size: int | None) -> Nest:
    columns, form = take_apart(xs, unfused=True)
    if not columns:
        raise ArgumentError(
            f"map: xs: got {describe(xs)}, expected a nest that has an array to go over"
        )
    if batch_size is None:
        return _scanned("map", fn, None, xs, None, False, 1)[1]
    count = length_of("map", columns, form, None)
    if count is None:
        raise ShapeError("map: batch_size: the number of rows is not known in this graph")
    if 0 < count <= batch_size:
        return vmap(fn)(xs)
    fast = vmap(fn)
    whole = count - count % batch_size
    parts = []
    if whole or not count:
        shape = (count // batch_size, batch_size)
        chunks = [ops.reshape(x[:whole], (*shape, *x.shape[1:])) for x in columns]
        found = _scanned("map", fast, None, form.nest(chunks), None, False, 1)[1]
        arrays, result = take_apart(found, unfused=True)
        parts.append(result.nest([ops.reshape(x, (whole, *x.shape[2:])) for x in arrays]))
    if whole < count:
        parts.append(fast(form.nest([x[whole:] for x in columns])))
    if len(parts) == 1:
        return parts[0]
    arrays, result = take_apart(parts[0], unfused=True)
    rest = take_apart(parts[1], unfused=True)[0]
    return result.nest([ops.concat(pair, axis=0) for pair in zip(arrays, rest, strict=True)])


# -- parts ---------------------------------------------------------------------------------


def find(backend: str, name: str, values: Sequence[Any] = ()) -> Callable[..., Any]:
    """A control-flow function over flat arrays: of the recorder if there is one, else the backend."""
    recorder = current_recorder()
    return native.find(backend, name, values) if recorder is None else getattr(recorder, name)


def known(x: Any) -> Any:
    """The value of a scalar, or None if it is not known at trace time."""
    if not is_array(x):
        return x
    return find(backend_of_array(x) or "", "static_value", (x,))(x)


def _taken(name: str, fn: Function, operands: tuple[Nest, ...], chosen_by: Any) -> Nest:
    """Call the selected function; numbers in its result become arrays."""
    backend, like = place(name, (chosen_by, *_leaves(operands)))
    wanted = Expected(name, "result", "the first one", backend)
    return wanted.nest(wanted.arrays(fn(*operands), fn, like))


def _branched(
    name: str, choice: Array, functions: tuple[Function, ...], operands: tuple[Nest, ...]
) -> Nest:
    return through_states(
        lambda: _traced_branches(name, choice, functions, operands),
        lambda thread, states: _traced_branches(
            name, choice, tuple([thread(fn) for fn in functions]), (states, *operands)
        ),
    )


def _traced_branches(
    name: str, choice: Array, functions: tuple[Function, ...], operands: tuple[Nest, ...]
) -> Nest:
    """A traced branch; the first traced function sets the expected results."""
    backend, like = place(name, (choice, *_leaves(operands)))
    wanted = Expected(name, "result", "the other function", backend)
    run = find(backend, name, (choice,))

    def chosen() -> Any:
        # new functions each time, because JAX caches traces by function
        branches = [lambda fn=fn: wanted.arrays(fn(*operands), fn, like) for fn in functions]
        return run(choice, *(branches if name == "cond" else [branches]))

    return wanted.nest(repeat_until_stable(chosen))


def _scanned(
    name: str,
    fn: Function,
    init: Nest,
    xs: Nest,
    length: int | None,
    reverse: bool,
    unroll: int | bool,
) -> tuple[Nest, Nest]:
    columns, rows = take_apart(xs, unfused=True)
    check_count(name, "length", length)
    if not columns and length is not None and is_symbolic_size(length):
        steps = ops.arange(length, like=place(name, take_apart(init)[0])[1])
        return _scanned(name, lambda c, _: fn(c, xs), init, steps, None, reverse, unroll)
    count = length_of(name, columns, rows, length)
    given, form = take_apart(init, numbers=True)
    backend, like = place(name, (*given, *columns))
    avals = avals_of(given, backend)
    kind = Mapped if name == "map" and init is None else Step
    key = (rows, avals_of(columns, backend))
    step = _flat(backend, kind, fn, name, form, avals, rows, key=key)
    run = find(backend, "scan", (*filter(is_array, given), *columns))
    carry, ys = repeat_until_stable(
        lambda: run(
            step, step.carry.start(given, like), columns, count, reverse=reverse, unroll=unroll
        )
    )
    return form.nest(carry), step.ys.nest(ys)


def _flat(
    backend: str,
    kind: type[Any],
    fn: Function,
    name: str,
    form: Form,
    avals: tuple[Aval, ...],
    *more: Any,
    key: Any = (),
) -> Any:
    keep = native.keeps_traces(backend)
    whole = (form.key, avals, *[(part.key if isinstance(part, Form) else part) for part in key])
    return flat_function(
        kind, fn, (name, backend, form, avals, *more), whole if keep else None, keep=keep
    )


def place(name: str, leaves: Sequence[Any]) -> tuple[str, Any]:
    """(backend, first array) of the arrays among `leaves`; (default backend, None) without arrays."""
    found: dict[str, Any] = {}
    for x in leaves:
        backend = backend_of_array(x)
        if backend is not None:
            found.setdefault(backend, x)
    if len(found) > 1:
        raise MixedBackendError(backends.mixed_message(name, list(found)))
    return next(iter(found.items()), None) or (current_backend(), None)


def _leaves(nests: Sequence[Nest]) -> list[Any]:
    # one by one: dm-tree would flatten a tuple, and torch.compile cannot trace dm-tree
    return [leaf for nest in nests for leaf in tree.flatten(nest)[0]]


def _array(x: Any, like: Any) -> Array:
    return x if is_array(x) else ops.full((), x, like=like)
