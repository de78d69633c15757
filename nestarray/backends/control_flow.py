"""Branches and loops over tuples of arrays: native where the framework has them, else in Python.

``backends/<name>/control_flow.py`` defines the functions that its framework can trace; this file
has Python versions of all of them, which also serve interpreters.
`nestarray.transforms.control_flow` handles structures, Python numbers and argument checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from nestarray import backends
from nestarray.backends import xp

Arrays = tuple[Any, ...]
#: No arguments → the results of a branch.
Branch = Callable[[], Arrays]
#: (carry, one row of each array) → (new carry, results to stack).
Step = Callable[[Arrays, Arrays], tuple[Arrays, Arrays]]
Test = Callable[[Arrays], Any]
Body = Callable[[Arrays], Arrays]
CountedBody = Callable[[Any, Arrays], Arrays]


_python = sys.modules[__name__]


def find(backend: str, name: str, values: Sequence[Any] = ()) -> Callable[..., Any]:
    """The function `name` for arrays of a backend.

    The type of recorded values may define the function; otherwise Python runs.
    """
    for x in values:
        if hasattr(x, "__traced_backend__"):
            return getattr(getattr(type(x), "__control_flow__", None) or _python, name)
    chapter = backends.chapter(backend, "control_flow")
    return getattr(chapter, name, None) or getattr(_python, name)


def keeps_traces(backend: str) -> bool:
    """Whether the framework caches traces by the identity of a function."""
    return backend == "jax"


def find_for(arrays: Sequence[Any], name: str) -> Callable[..., Any]:
    """The function `name` for the backend of `arrays`."""
    return find(backends.backend_of(arrays[0]), name, arrays)


def static_value(x: Any) -> Any:
    """The value of a scalar; None if it is traced."""
    return x.item() if hasattr(x, "item") else x


def switch(index: Any, branches: Sequence[Branch]) -> Arrays:
    """Select a branch by bisection: nested choices between two branches.

    PyTorch has no switch, and ``tf.vectorized_map`` does not support ``tf.switch_case`` with
    several results.
    """
    if len(branches) == 1:
        return branches[0]()
    half = len(branches) // 2
    choose = find(backends.backend_of(index), "cond", (index,))
    return choose(
        xp.less(index, half),
        lambda: switch(index, branches[:half]),
        lambda: switch(xp.subtract(index, half), branches[half:]),
    )


def while_loop(test: Test, body: Body, carry: Arrays, max_steps: int | None) -> Arrays:
    """Run `body` as long as `test` holds, at most `max_steps` times."""
    steps = 0
    while (max_steps is None or steps < max_steps) and test(carry):
        carry = body(carry)
        steps += 1
    return carry


def fori_loop(
    lower: int,
    upper: int,
    body: CountedBody,
    carry: Arrays,
    like: Any,
    *,
    unroll: int | bool | None = None,
) -> Arrays:
    """Run ``body(i, carry)`` for each integer i in [lower, upper), passed as an array."""
    for i in range(lower, upper):
        carry = body(xp.asarray(i, like=like), carry)
    return carry


def scan(
    step: Step,
    carry: Arrays,
    xs: Arrays,
    length: int | None = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Arrays, Arrays]:
    """Run `step` over the first axis of `xs`.

    Args:
        step: ``(carry, row) → (carry, result)``.
        carry: the initial state.
        xs: arrays with the same first axis.
        length: the length of that axis; required without arrays.
        reverse: start at the end.
        unroll: the number of steps per iteration of a compiled loop; ignored by a Python loop.

    Returns:
        the last carry, and the results of all steps, stacked in the order of `xs`.
    """
    count = int(xs[0].shape[0]) if length is None else length
    if not count:  # a step on zeros gives the shapes of the results
        row = tuple([xp.zeros(x.shape[1:], dtype=x.dtype, like=x) for x in xs])
        ys = step(carry, row)[1]
        return carry, tuple([xp.zeros((0, *y.shape), dtype=y.dtype, like=y) for y in ys])
    rows: Any = zip(*(xp.unstack(x, axis=0) for x in xs), strict=True)
    times = list(rows) if xs else list(repeat((), count))
    found = []
    for row in reversed(times) if reverse else times:
        carry, ys = step(carry, row)
        found.append(ys)
    columns = zip(*(reversed(found) if reverse else found), strict=True)
    return carry, tuple([xp.stack(column, axis=0) for column in columns])


def associative_scan(
    combine: Callable[[Arrays, Arrays], Arrays], elems: Arrays, axis: int, reverse: bool
) -> Arrays:
    """All prefixes of x₀ ∘ x₁ ∘ … by 2 log₂ n combinations of slices.

    References:
        G. E. Blelloch, Prefix sums and their applications, 1990
    """

    def part(arrays: Arrays, start: int | None, stop: int | None, step: int | None) -> Arrays:
        index = (*[slice(None)] * axis, slice(start, stop, step))
        return tuple([xp.getitem(x, index) for x in arrays])

    def joined(first: Arrays, second: Arrays) -> Arrays:
        return tuple([xp.concat(pair, axis=axis) for pair in zip(first, second, strict=True)])

    def interleaved(even: Arrays, odd: Arrays) -> Arrays:
        count = int(odd[0].shape[axis])
        woven = []
        for a, b in zip(part(even, None, count, None), odd, strict=True):
            sizes = xp.shape(b)
            shape = (*sizes[:axis], 2 * count, *sizes[axis + 1 :])
            woven.append(xp.reshape(xp.stack((a, b), axis=axis + 1), shape))
        rest = part(even, count, None, None)
        return joined(tuple(woven), rest) if rest[0].shape[axis] else tuple(woven)

    def prefixes(arrays: Arrays) -> Arrays:
        n = int(arrays[0].shape[axis])
        if n < 2:
            return arrays
        # combine pairs first: their prefixes end at odd positions
        odd = prefixes(combine(part(arrays, 0, n - 1, 2), part(arrays, 1, None, 2)))
        before = odd if n % 2 else part(odd, 0, -1, None)
        even = part(arrays, 0, 1, None)
        if n > 2:
            even = joined(even, combine(before, part(arrays, 2, None, 2)))
        return interleaved(even, odd)

    if reverse:
        elems = tuple([xp.flip(x, axis=axis) for x in elems])
    found = prefixes(elems)
    return tuple([xp.flip(x, axis=axis) for x in found]) if reverse else found
