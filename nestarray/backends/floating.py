"""Promotion of array arguments to one dtype, after a native function has rejected them.

Floating functions convert integers to floats, and contractions promote mixed dtypes. Most native
functions reject such arguments; the op then promotes them and calls again, so a successful call
pays nothing. Default bodies use operators, which would wrap, truncate or promote by the
framework's rules, so `guarded` checks dtypes before a body runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter
from typing import Any

from nestarray import backends, dtypes
from nestarray.dtypes import DType, dtype_of

Again = Callable[[tuple[Any, ...], dict[str, Any]], Callable[[], Any] | None]


def promoted(
    arguments: Mapping[str, Any], cast: Callable[[Any, DType], Any], *, is_floating: bool
) -> dict[str, Any]:
    """The arguments that differ from the common dtype, cast to it.

    Args:
        arguments: arrays and sequences of arrays; other values are ignored.
        cast: ``cast(x, dtype)`` converts an array to `dtype`.
        is_floating: the common dtype is the dtype of the floating arguments, or float32.
    """
    arrays = {name: _arrays(value) for name, value in arguments.items()}
    found = [x for many in arrays.values() for x in many]
    if is_floating:
        found = [x for x in found if dtype_of(x).is_inexact] or [dtypes.float32]
    if not found:
        return {}
    common = dtypes.result_dtype(*found)
    return {
        name: [cast(x, common) for x in many]
        if isinstance(arguments[name], (list, tuple))
        else cast(many[0], common)
        for name, many in arrays.items()
        if any(dtype_of(x) is not common for x in many)
    }


def _arrays(value: Any) -> list[Any]:
    many = value if isinstance(value, (list, tuple)) else [value]
    return [x for x in many if backends.is_array(x)]


def guarded(
    body: Callable[..., Any],
    parameters: Sequence[Parameter],
    names: Sequence[str],
    together: Again,
) -> Callable[..., Any]:
    """`body` for arguments of one dtype; `together` replaces calls with mixed dtypes.

    Args:
        body: a function of `parameters`.
        parameters: as the op declares them.
        names: the arguments that need one dtype.
        together: returns the replacement call, or None if `body` can run.
    """

    places = [(name, i) for i, name in enumerate(p.name for p in parameters) if name in names]
    # the combinations of native dtypes that need no promotion
    right: set[Any] = set()

    @wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = tuple(
            [
                getattr(args[i] if i < len(args) else kwargs.get(name), "dtype", None)
                for name, i in places
            ]
        )
        if found not in right:
            instead = together(args, kwargs)
            if instead is not None:
                return instead()
            right.add(found)
        return body(*args, **kwargs)

    return call
