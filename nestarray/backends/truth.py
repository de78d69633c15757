"""Arithmetic of bools, which the standard leaves undefined, by one rule on every backend.

Where a function of truth values has truth values it keeps them, as NumPy, JAX and PyTorch agree:
`add` and `maximum` are "or", `multiply` and `minimum` are "and", False is before True, products of
matrices are "or" of "and"s, and a bool is its own magnitude, sign, square, conjugate and whole
part. Sums and products of all elements count, in the default integer dtype; functions of floats
take 0.0 and 1.0. The rest (`negative`, `subtract`, quotients, remainders, powers) has numbers for
results, of which the frameworks make int8, int32, int64 or none: a `DtypeError`.

What an op is of bools is said beside it, by `of_bools`. It is asked for when a framework has
refused them, so that a call that succeeds pays nothing; a framework that computes integers in
silence declines bools where it looks at dtypes anyway (`backends.base.promoting`) or by `kept`.

https://data-apis.org/array-api/2025.12/API_specification/type_promotion.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from nestarray import backends, dtypes

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


def of_bools(function: Function) -> Callable[[F], F]:
    """Mark the body of an op: `function` takes its place where all arrays are bools."""

    def instead(op: Function, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def mark(body: F) -> F:
        body.of_bools = instead  # type: ignore[attr-defined]
        return body

    return mark


def itself(x: Any, /, **settings: Any) -> Any:
    """What a bool is of its own magnitude, sign, square or whole part."""
    return x


def through_numbers(body: F) -> F:
    """Mark the body of an op that sums products or selects: bools go through it as 0.0 and 1.0.

    A result is True where it is not 0: sums of what is not negative are 0 for zeros only.
    """
    body.of_bools = _through_numbers  # type: ignore[attr-defined]
    return body


def _through_numbers(op: Function, *args: Any, **kwargs: Any) -> Any:
    numbers = _cast(args, dtypes.bool, dtypes.float32)
    settings = {name: _cast(value, dtypes.bool, dtypes.float32) for name, value in kwargs.items()}
    return _cast(op(*numbers, **settings), dtypes.float32, dtypes.bool)


def updated_through_numbers(body: F) -> F:
    """As `through_numbers`, for an op of x, of places in it, and of what x is updated with there.

    The dtype is that of x, so updates of another dtype are whether they are not 0.
    """
    body.of_bools = _updated_through_numbers  # type: ignore[attr-defined]
    return body


def _updated_through_numbers(op: Function, x: Any, places: Any, updates: Any, /, **s: Any) -> Any:
    backend = backends.backend_of_type(type(updates))
    if backend is None:
        numbers = float(bool(updates))
    else:
        numbers = backends.chapter(backend, "data_type").astype(updates, dtypes.bool)
    return _through_numbers(op, x, places, numbers, **s)


_updated_through_numbers.not_bools = ("indices", "updates", "value")  # type: ignore[attr-defined]


def _cast(x: Any, old: dtypes.DType, new: dtypes.DType) -> Any:
    """`x`, or the arrays in a list or a tuple, where they are of the dtype `old`, as `new`."""
    if isinstance(x, (list, tuple)):
        items = [_cast(item, old, new) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    backend = backends.backend_of_type(type(x))
    if backend is None or dtypes.dtype_of(x) is not old:
        return x
    return backends.chapter(backend, "data_type").astype(x, new)


#: Arguments that say where, and are integers.
_PLACES = ("indices", "segment_ids")


def are_bools(arguments: Mapping[str, Any], of_bools: Function) -> bool:
    """Whether the arrays among the arguments, but for places, are bools, and there is one.

    Args:
        arguments: of the op, by name.
        of_bools: what would take its place; its ``not_bools`` are exempt.
    """
    exempt = getattr(of_bools, "not_bools", _PLACES)
    found = [
        dtypes.dtype_of(x)
        for name, value in arguments.items()
        for x in (value if isinstance(value, (list, tuple)) else [value])
        if name not in exempt and backends.is_array(x)
    ]
    return bool(found) and all(dtype is dtypes.bool for dtype in found)


def kept(native: Callable[..., Any], own: Any) -> Callable[..., Any]:
    """`native` of one array, and bools as they are, where it would make integers of them.

    Args:
        native: the framework's function.
        own: the framework's bool.
    """

    def call(x: Any, /) -> Any:
        return x if x.dtype is own else native(x)

    call.of_dtype = lambda dtype: None if dtype is own else native  # type: ignore[attr-defined]
    return call
