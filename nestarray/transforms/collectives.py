"""Collectives: reductions over the examples of a named mapped axis.

Inside of ``na.vmap(fn, axis_name="batch")`` a function sees one example; `psum` and its like see
all of them. On JAX they are ``jax.lax``'s. On PyTorch a rule of ``torch.func.vmap`` takes
the values of all examples together. NumPy and TensorFlow have no such rule, so there `fn` runs
up to its first collective for all examples, again up to the second with the result of the first,
and so on: as often as it has collectives, and once more. Recorded code is mapped in this way too.
Derivatives of the mapped function go through all of this. Where one is taken of an example, inside
of the mapped function, the values are gathered by a rule (`_gathered`), whose pullback is a
collective itself: the examples meet again on the way back.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from nestarray import backends, ops, tree
from nestarray.dtypes import dtype_of
from nestarray.dynamo import ContextVariable
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.errors.signatures import signature_errors
from nestarray.numerics.axes import one_axis
from nestarray.transforms.arguments import is_inexact, native_chapter
from nestarray.transforms.recording import current_recorder
from nestarray.typing import NUMBERS, Array, Nest

#: Of the values of all examples, (examples, *inside, *shape), and the number of mapped axes
#: inside → the result for each example, (*inside, …).
Combine = Callable[[Array, int], Array]


@signature_errors()
def psum(x: Nest, axis_name: Any) -> Nest:
    """The sum over all examples of a mapped axis.

    Args:
        x: nest of arrays of one example, or numbers.
        axis_name: the name of the axis, given to `vmap`; or several, in a tuple.

    Returns:
        the same for each example, of the shapes and dtypes of `x`; of bools int32.

    Raises:
        ArgumentError: no axis of this name is mapped around the call; or, when the mapped function
            has run, some examples call other collectives than the rest.
        UnsupportedError: on TensorFlow and in recorded code: the call, or the derivative of it that
            is taken inside of the mapped function, is in a loop or a choice.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([1.0, 2.0, 5.0])
        >>> na.vmap(lambda x: x / na.psum(x, "batch"), axis_name="batch")(x)
        array([0.125, 0.25 , 0.625])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.psum.html
    """
    return _reduced("psum", x, axis_name, _sum)


@signature_errors()
def pmean(x: Nest, axis_name: Any) -> Nest:
    """The mean over all examples of a mapped axis.

    Args:
        x: nest of arrays of one example, or numbers.
        axis_name: as for `psum`.

    Returns:
        the same for each example, of the shapes and dtypes of `x`; of integers and bools float32.

    Raises:
        ArgumentError, UnsupportedError: as for `psum`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[1.0, 2.0], [3.0, 6.0]])
        >>> na.vmap(lambda x: x - na.pmean(x, "batch"), axis_name="batch")(x)
        array([[-1., -2.],
               [ 1.,  2.]])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmean.html
    """
    return _reduced("pmean", x, axis_name, lambda whole, _: ops.mean(whole, axis=0))


@signature_errors()
def pmax(x: Nest, axis_name: Any) -> Nest:
    """The elementwise maximum over all examples of a mapped axis.

    Args:
        x: nest of real arrays of one example, or numbers.
        axis_name: as for `psum`.

    Returns:
        the same for each example, of the shapes and dtypes of `x`. JAX has no derivative of it.

    Raises:
        ArgumentError, UnsupportedError: as for `psum`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([1.0, 4.0, 2.0])
        >>> na.vmap(lambda x: x == na.pmax(x, "batch"), axis_name="batch")(x)
        array([False,  True, False])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmax.html
    """
    return _reduced("pmax", x, axis_name, lambda whole, _: ops.max(whole, axis=0))


@signature_errors()
def pmin(x: Nest, axis_name: Any) -> Nest:
    """The elementwise minimum over all examples of a mapped axis.

    Args:
        x: nest of real arrays of one example, or numbers.
        axis_name: as for `psum`.

    Returns:
        the same for each example, of the shapes and dtypes of `x`. JAX has no derivative of it.

    Raises:
        ArgumentError, UnsupportedError: as for `psum`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([1.0, 4.0, 2.0])
        >>> na.vmap(lambda x: x - na.pmin(x, "batch"), axis_name="batch")(x)
        array([0., 3., 1.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmin.html
    """
    return _reduced("pmin", x, axis_name, lambda whole, _: ops.min(whole, axis=0))


@signature_errors()
def all_gather(x: Nest, axis_name: Any, *, axis: int = 0, tiled: bool = False) -> Nest:
    """The values of all examples of a mapped axis.

    Args:
        x: nest of arrays of one example, or numbers.
        axis_name: the name of the axis, given to `vmap`.
        axis: where the examples stand in the results.
        tiled: join them along `axis` of `x`, instead of along a new one.

    Returns:
        the same for each example: arrays with the axis of examples.

    Raises:
        ArgumentError, UnsupportedError: as for `psum`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([3.0, 1.0, 2.0])
        >>> rank = lambda x: na.sum(na.all_gather(x, "batch") < x)
        >>> na.vmap(rank, axis_name="batch")(x)
        array([2, 0, 1])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.all_gather.html
    """
    if _is_of_jax(axis_name, x):
        return _of_jax("all_gather", x, axis_name, axis=axis, tiled=tiled)
    whole = _collected("all_gather", x, axis_name, moved)
    return tree.map(lambda y: _joined(y, axis) if tiled else _placed(y, axis), whole)


@signature_errors()
def axis_index(axis_name: Any) -> Array:
    """The index of the example along a mapped axis.

    Args:
        axis_name: the name of the axis, given to `vmap`; of several, in a tuple, the number in
            all of them together, of which the last counts fastest.

    Returns:
        int32, shape `()`.

    Raises:
        ArgumentError: no axis of this name is mapped around the call.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.vmap(lambda x: x * na.axis_index("batch"), axis_name="batch")(np.ones(3))
        array([0., 1., 2.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.axis_index.html
    """
    if _is_of_jax(axis_name):
        return _of_jax("axis_index", axis_name)
    first, *others = [_running.get()[_place("axis_index", name)] for name in _names(axis_name)]
    index = first.index
    for example in others:
        index = ops.add(ops.multiply(index, example.size), example.index)
    return index


@signature_errors()
def axis_size(axis_name: Any) -> int:
    """The number of examples of a mapped axis.

    Args:
        axis_name: the name of the axis, given to `vmap`; of several, in a tuple, the product.

    Raises:
        ArgumentError: no axis of this name is mapped around the call.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.vmap(lambda x: x / na.axis_size("batch"), axis_name="batch")(np.ones(4))
        array([0.25, 0.25, 0.25, 0.25])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.axis_size.html
    """
    if _is_of_jax(axis_name):
        return _of_jax("axis_size", axis_name)
    running = _running.get()
    return math.prod([running[_place("axis_size", name)].size for name in _names(axis_name)])


# -- the axes that are mapped ----------------------------------------------------------------


class _Example:
    """One running example of a mapped function, or all examples if they run at once."""

    def __init__(
        self,
        name: Any,
        index: Array,
        *,
        size: int,
        backend: str,
        known: Sequence[Any],
        blocked: str | None,
    ) -> None:
        self.name, self.index, self.size = name, index, size
        self.known = known  # the results of the first collectives
        self.count = 0  # of the collectives that have come by
        self.native = current_recorder() or native_chapter(backend, "collectives")
        self.gather = getattr(self.native, "gather", None)
        self.state = None if self.gather else self.native.derivative_state()

        #: the reason why values of this mapped function cannot leave the enclosing one
        self.blocked = blocked

    def obstacle(self) -> str | None:
        """The reason why values cannot leave the mapped function here, or None."""
        return None if self.gather else self.native.obstacle(self.state)

    def is_differentiated(self, x: Any) -> bool:
        """Whether a derivative of the value is being taken inside the mapped function."""
        return is_inexact(x) and self.native.is_differentiated(x, self.state)


class _Reached(BaseException):  # not an Exception, so that user code does not catch it
    """A collective whose result over all examples is not yet known."""

    def __init__(
        self, function: str, example: _Example, values: Sequence[Any], combine: Callable[..., Any]
    ) -> None:
        self.function, self.example, self.values, self.combine = function, example, values, combine


#: The running examples of nested mapped functions, outermost first.
_running: ContextVariable[tuple[_Example, ...]] = ContextVariable("nestarray_examples", default=())


def is_any_named() -> bool:
    """Whether the running code is inside a mapped function with a named axis."""
    return bool(_running.get())


def collecting(
    run: Callable[[Callable[..., Any]], tuple[Any, Any, Any]],
    flat: Callable[..., tuple[Any, Any]],
    name: Any,
    size: int,
    backend: str,
) -> tuple[Any, Any, Any]:
    """Run `flat` by `run`, with collectives over the axis `name`.

    Args:
        run: maps a function over the index of the example and its rows; the first result is stacked.
        flat: function of the rows of one example; its first result is stacked.
        name: the name of the mapped axis; None for an unnamed axis inside a named one.
        size: the number of examples.
        backend: the backend of the arrays.
    """
    around = _running.get()
    counts = [example.count for example in around]
    settings: dict[str, Any] = {
        "size": size,
        "backend": backend,
        "blocked": around[-1].obstacle() if around else None,
    }
    known: list[Any] = []
    while True:
        make = partial(_Example, name, known=tuple(known), **settings)
        ends: list[_Reached | None] = []
        found = run(partial(_until_unknown, flat, make, around, counts, ends))
        end = ends[0]
        if len({None if reached is None else reached.function for reached in ends}) > 1:
            raise ArgumentError(
                f"vmap: axis_name: got {name!r} for a function in which some examples call other "
                "collectives than the rest; all of them must call the same ones"
            )
        if end is None:
            return found
        if end.example in around:
            _refuse(end.function, around[-1].obstacle())
            raise _Reached(end.function, end.example, found[0], end.combine)
        known.append(tuple(map(end.combine, found[0])))


def _until_unknown(
    flat: Callable[..., tuple[Any, Any]],
    make: Callable[[Array], _Example],
    around: tuple[_Example, ...],
    counts: Sequence[int],
    ends: list[_Reached | None],
    index: Array,
    *rows: Any,
) -> tuple[Any, Any]:
    """Run `flat` to its end or to a collective with an unknown result; `ends` records which."""
    example = make(index)
    before = [outer.count for outer in around]
    for outer, count in zip(around, counts, strict=True):
        outer.count = count  # all examples come by the same collectives
    token = _running.set((*around, example))
    try:
        found = flat(*rows)
    except _Reached as reached:
        ends.append(reached)
        return tuple(reached.values), ()
    finally:
        _running.reset(token)
        for outer, count in zip(around, before, strict=True):
            outer.count = max(outer.count, count)  # pullbacks come by others
    ends.append(None)
    return found


def _collected(function: str, x: Nest, axis_name: Any, combine: Combine) -> Nest:
    """`combine` of the values of all examples, for each leaf of `x`."""
    example = _running.get()[_place(function, axis_name)]
    leaves, structure = tree.flatten(x)
    values = [ops.asarray(y, like=example.index) if isinstance(y, NUMBERS) else y for y in leaves]
    if example.gather is not None:
        found = [combine(example.gather(y, example.index, example.size), 0) for y in values]
    elif any(map(example.is_differentiated, values)):
        found = [combine(_gathered(function, example, y), 0) for y in values]
    else:
        found = _handed_out(function, values, example, combine)
    return tree.unflatten(structure, found)


def _handed_out(
    function: str, values: Sequence[Any], example: _Example, combine: Combine
) -> Sequence[Any]:
    """`combine` of the values of all examples, from the previous run."""
    running = _running.get()
    inside = running[running.index(example) + 1 :]
    _refuse(function, running[-1].obstacle(), *[inner.blocked for inner in inside])
    number, example.count = example.count, example.count + 1
    if number >= len(example.known):
        raise _Reached(function, example, values, lambda whole: combine(whole, len(inside)))
    found = example.known[number]
    for inner in inside:
        found = [y[inner.index] for y in found]
    return found


def _gathered(function: str, example: _Example, x: Array) -> Array:
    """The values of all examples, in front."""
    return _linear(function, example, x, lambda y: y, moved, (_gathered, _scattered))


def _scattered(function: str, example: _Example, x: Array) -> Array:
    """The sum over all examples of their entry for this example (reduce-scatter)."""
    own = lambda y: y[example.index]  # noqa: E731
    return _linear(function, example, x, own, _sum, (_scattered, _gathered))


def _linear(
    function: str,
    example: _Example,
    x: Array,
    own: Callable[[Array], Array],
    combine: Combine,
    both: tuple[Callable[..., Array], Callable[..., Array]],
) -> Array:
    """A linear function of the values of all examples; `both` are it and its transpose."""

    def value(x: Array) -> Array:
        return own(_handed_out(function, [x], example, combine)[0])

    if not example.is_differentiated(x):
        return value(x)
    again, transpose = (partial(f, function, example) for f in both)
    return example.native.linear(value, again, transpose, x, example.state)


def _refuse(function: str, *reasons: str | None) -> None:
    for reason in reasons:
        if reason is not None:
            raise UnsupportedError(f"{function}: {reason}")


def _reduced(function: str, x: Nest, axis_name: Any, combine: Combine) -> Nest:
    if _is_of_jax(axis_name, x):
        return _of_jax(function, x, axis_name)
    for name in _names(axis_name):
        x = _collected(function, x, name, combine)
    return x


def _sum(whole: Array, inside: int) -> Array:
    dtype = dtype_of(whole)
    return ops.sum(whole, axis=0, dtype="int32" if dtype.kind == "bool" else dtype)


def moved(x: Array, axis: int) -> Array:
    """`x` with its first axis moved to `axis`."""
    return ops.moveaxis(x, 0, axis) if axis else x


def _placed(x: Array, axis: int) -> Array:
    return ops.moveaxis(x, 0, one_axis(axis, len(x.shape), "all_gather"))


def _joined(x: Array, axis: int) -> Array:
    """Reshape (n, …, m, …) to (…, n · m, …), where `axis` of the remaining axes has length m."""
    place = one_axis(axis, len(x.shape) - 1, "all_gather")
    moved = ops.moveaxis(x, 0, place)
    shape = tuple(moved.shape)
    return ops.reshape(
        moved, (*shape[:place], shape[place] * shape[place + 1], *shape[place + 2 :])
    )


def _names(axis_name: Any) -> Sequence[Any]:
    return axis_name if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _place(function: str, name: Any) -> int:
    """The position of the innermost mapped axis of this name."""
    names = [example.name for example in _running.get()]
    for place in reversed(range(len(names))):
        if name is not None and names[place] == name:
            return place
    raise _unbound(function, name)


def _unbound(function: str, name: Any) -> ArgumentError:
    return ArgumentError(
        f"{function}: axis_name: got {name!r}, but no axis of this name is mapped around the call; "
        f"write na.vmap(fn, axis_name={name!r})"
    )


def _is_of_jax(axis_name: Any, x: Nest = ()) -> bool:
    """Whether to use JAX's collectives: no name is an axis of ours, and all arrays are JAX's."""
    if "jax" not in sys.modules or any(e.name in _names(axis_name) for e in _running.get()):
        return False
    return backends.find_backend(x) in ("jax", None)


def _of_jax(function: str, *args: Any, **settings: Any) -> Any:
    """Call ``jax.lax``."""
    try:
        return getattr(backends.chapter("jax", "collectives"), function)(*args, **settings)
    except NameError:
        raise _unbound(function, args[-1]) from None
