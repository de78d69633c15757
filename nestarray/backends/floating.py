"""Arguments that are of one dtype: where several came, they are promoted to it.

Functions of floats compute integers in floats, and so does what sums products of arrays of
several dtypes. Frameworks' functions refuse these, mostly, and are called again when they have; a
call that succeeds pays nothing. Default bodies are made of operators, which would wrap,
truncate, or promote as their framework does, so they stand behind a look at the dtypes.
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
    """The arguments whose dtype is not that of all together, cast to it.

    Args:
        arguments: arrays, and sequences of them; anything else is passed by.
        cast: ``cast(x, dtype)`` makes an array one of `dtype`.
        is_floating: the dtype is that of the floats among them, float32 where there are none.
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
    """`body` for arguments of one dtype, and what `together` makes of a call with others.

    Args:
        body: a function of `parameters`.
        parameters: as the op declares them.
        names: those that are of one dtype.
        together: gives the call to make instead, or None where `body` is right.
    """

    places = [(name, i) for i, name in enumerate(p.name for p in parameters) if name in names]
    # the combinations of native dtypes that are right
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
