"""Arithmetic of bools, which the standard leaves undefined, by one rule on every backend.

The rule follows NumPy, JAX and PyTorch: `add` and `maximum` are "or", `multiply` and `minimum` are
"and", False < True, matrix products are "or" of "and", and magnitude, sign, square, conjugate and
rounding return the bool. Sums and products over elements use the default integer dtype; floating
functions convert to 0.0 and 1.0. For `negative`, `subtract`, quotients, remainders and powers the
frameworks disagree on the dtype (int8, int32, int64 or an error), so these raise a `DtypeError`.

`of_bools` marks an op with its function of bools, which runs after a framework has rejected them;
a successful call pays nothing. If a framework would return integers without an error, its function
declines bools in `backends.promotion.promoting` or by `kept`.

https://data-apis.org/array-api/2025.12/API_specification/type_promotion.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from nestarray import backends, dtypes

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


def of_bools(function: Function) -> Callable[[F], F]:
    """Mark the body of an op: `function` replaces it if all arrays are bools."""

    def instead(op: Function, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def mark(body: F) -> F:
        body.of_bools = instead  # type: ignore[attr-defined]
        return body

    return mark


def itself(x: Any, /, **settings: Any) -> Any:
    """The magnitude, sign, square or whole part of a bool: the bool itself."""
    return x


def through_numbers(body: F) -> F:
    """Mark the body of an op that sums products or selects: it computes bools as 0.0 and 1.0.

    Nonzero results are True: a sum of nonnegative numbers is 0 only if all are 0.
    """
    body.of_bools = _through_numbers  # type: ignore[attr-defined]
    return body


def _through_numbers(op: Function, *args: Any, **kwargs: Any) -> Any:
    numbers = _cast(args, dtypes.bool, dtypes.float32)
    settings = {name: _cast(value, dtypes.bool, dtypes.float32) for name, value in kwargs.items()}
    return _cast(op(*numbers, **settings), dtypes.float32, dtypes.bool)


def updated_through_numbers(body: F) -> F:
    """Like `through_numbers`, for an op of (x, positions, updates).

    The result has the dtype of x, so updates of another dtype are compared with 0.
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
    """`x`, or the arrays in a list or tuple, cast from dtype `old` to `new`."""
    if isinstance(x, (list, tuple)):
        items = [_cast(item, old, new) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    backend = backends.backend_of_type(type(x))
    if backend is None or dtypes.dtype_of(x) is not old:
        return x
    return backends.chapter(backend, "data_type").astype(x, new)


#: Arguments that are positions.
_PLACES = ("indices", "segment_ids")


def are_bools(arguments: Mapping[str, Any], of_bools: Function) -> bool:
    """Whether all array arguments except positions are bools, and at least one is.

    Args:
        arguments: by name.
        of_bools: the replacement; arguments in its ``not_bools`` are exempt.
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
    """`native` of one array, except that bools are returned unchanged.

    Args:
        native: the framework's function.
        own: the framework's bool dtype.
    """

    def call(x: Any, /) -> Any:
        return x if x.dtype is own else native(x)

    call.for_dtype = lambda dtype: None if dtype is own else native  # type: ignore[attr-defined]
    return call
