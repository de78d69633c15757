"""JAX: ops on the leaves of a whole tree in one compiled call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import repeat
from typing import Any

import jax

from nestarray.backends.foreach import Columns, Run, parts, when_it_pays
from nestarray.typing import NUMBERS


def covers(t: type) -> bool:
    """Whether `t` is the type of concrete arrays or of Python numbers, which are weak."""
    if t in NUMBERS:
        return True
    return issubclass(t, jax.Array) and not issubclass(t, jax.core.Tracer)


def of_op(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...] | None]:
    """`function` of one leaf of each argument, applied to all leaves."""

    def prepare(columns: Columns) -> Run:
        is_known = False

        def leafwise(*columns: Any) -> tuple[Any, ...]:
            if is_known:
                raise LookupError("leaves of other shapes or dtypes than were compiled")
            return tuple(
                map(function, *[c if c.__class__ is tuple else repeat(c) for c in columns])
            )

        compiled = jax.jit(leafwise)
        is_one_part = len(parts(columns)) == 1

        def run(*columns: Any) -> tuple[Any, ...]:
            nonlocal is_known
            if is_one_part:
                whole = compiled(*columns)
                is_known = True
                return whole
            results: list[Any] = []
            for part in parts(columns):
                results += compiled(*part)
            is_known = True
            return tuple(results)

        return run

    return when_it_pays(prepare, _has_one_device)


@cache
def _has_one_device() -> bool:
    """Whether all arrays are on one device; otherwise each leaf has its own call."""
    return jax.device_count() == 1
