"""Functions of floats that are called with integers: they compute in floats.

Frameworks' functions refuse integers, mostly, and are called again with floats when they have;
a call that succeeds pays nothing. Default bodies are made of operators, which would wrap or
truncate, so they stand behind a look at the dtypes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any

from nestarray import backends, dtypes
from nestarray.backends.templates import choosing
from nestarray.dtypes import DType, dtype_of

Again = Callable[[tuple[Any, ...], dict[str, Any]], Callable[[], Any] | None]


def dtypes_instead(arguments: Mapping[str, Any]) -> dict[str, DType]:
    """The floating dtype for each argument that is an array of integers or bools.

    That is the dtype of the floats among `arguments`; float32 where there are none.
    """
    found = {
        name: dtype_of(value)
        for name, value in arguments.items()
        if backends.backend_of_type(type(value)) is not None
    }
    floats = [dtype for dtype in found.values() if dtype.is_inexact]
    common = dtypes.result_dtype(*floats) if floats else dtypes.float32
    return {name: common for name, dtype in found.items() if not dtype.is_inexact}


def guarded(
    body: Callable[..., Any],
    parameters: Sequence[Parameter],
    names: Sequence[str],
    in_floats: Again,
) -> Callable[..., Any]:
    """`body` for floats, and what `in_floats` makes of a call with integers.

    Args:
        body: a function of `parameters`.
        parameters: as the op declares them.
        names: those that are floats.
        in_floats: gives the call to make instead, or None where `body` is right.
    """

    def elsewhere(*args: Any, **kwargs: Any) -> Any:
        instead = in_floats(args, kwargs)
        if instead is not None:
            return instead()
        given = dict(zip((p.name for p in parameters), args)) | kwargs
        found = [given[name] for name in names if hasattr(given.get(name), "dtype")]
        floats.update(x.dtype for x in found if dtype_of(x).is_inexact)
        return body(*args, **kwargs)

    floats: set[Any] = {None}  # the framework's own dtypes, once they were seen
    condition = " and ".join(f"getattr({name}, 'dtype', None) in _floats" for name in names)
    return choosing(parameters, condition, body, elsewhere, _floats=floats)
