"""Control flow on abstract arrays: one step determines the shapes of the results.

The functions have the interface of `nestarray.backends.control_flow`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray import dtypes
from nestarray.transforms.abstract.interpreter import dtype_of, sizes_of
from nestarray.transforms.abstract.values import Abstract, expression

Arrays = tuple[Any, ...]


def static_value(x: Any) -> None:
    """None: the value is unknown."""


def cond(pred: Any, true_branch: Any, false_branch: Any) -> Arrays:
    """The results of one branch; both have the same shapes."""
    false_branch()
    return true_branch()


def switch(index: Any, branches: Sequence[Any]) -> Arrays:
    """The results of one branch; all have the same shapes."""
    first, *_ = [branch() for branch in branches]
    return first


def while_loop(test: Any, body: Any, carry: Arrays, max_steps: int | None) -> Arrays:
    """The carry after one step."""
    test(carry)
    return body(carry)


def fori_loop(
    lower: Any, upper: Any, body: Any, carry: Arrays, like: Any, *, unroll: Any = None
) -> Arrays:
    """The carry after one step."""
    return body(like.like((), dtypes.int64), carry)


def scan(
    step: Any,
    carry: Arrays,
    xs: Arrays,
    length: Any = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Arrays, Arrays]:
    """The carry after one step, and its results for each row."""
    count = sizes_of(xs[0])[0] if xs else expression(length)
    stand_in = next(x for x in (*carry, *xs) if isinstance(x, Abstract))
    rows = tuple([stand_in.like(sizes_of(x)[1:], dtype_of(x)) for x in xs])
    carry, results = step(carry, rows)
    return carry, tuple([stand_in.like((count, *sizes_of(y)), dtype_of(y)) for y in results])


def associative_scan(combine: Any, elems: Arrays, axis: int, reverse: bool) -> Arrays:
    """Arrays of the same shapes."""
    return elems


def vmap(fn: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """The results for one row, for each row."""
    return scan(lambda carry, row: ((), fn(*row)), (), tuple(arrays))[1]


def vmap_with_common(fn: Callable[..., Any], arrays: Sequence[Any]) -> tuple[Any, Any, list[int]]:
    """The results for each row, the other results, and which of these differ between rows."""
    others: list[Any] = []

    def stacked(*row: Any) -> Any:
        results, others[:] = fn(*row)
        return results

    return vmap(stacked, arrays), tuple(others), []


def call_with_vjp(
    fn: Any, forward: Any, backward: Any, args: Arrays, nondiff: Sequence[int]
) -> Any:
    """The results of the function."""
    return fn(args)


def call_with_jvp(fn: Any, rule: Any, args: Arrays) -> Any:
    """The results of the function."""
    return fn(args)


def derivative_state() -> int:
    """No derivative is taken."""
    return 0


def obstacle(depth: int) -> None:
    """None: mapped functions can exchange values."""


def is_differentiated(x: Any, depth: int) -> bool:
    """Whether a derivative is taken of a value: none is."""
    return False
