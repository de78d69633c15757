"""Promotion of operands of several dtypes and of Python numbers.

These templates implement the rules of `nestarray.dtypes` from a native function and a `cast`. The
promotion.py of each backend binds them to its framework.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.backends.base import Function
from nestarray.dynamo import is_compiling, traced_as
from nestarray.errors import OutOfRangeError
from nestarray.typing import NUMBERS

Cast = Callable[..., Any]


def promoting(
    native: Function,
    cast: Cast,
    *,
    scalar_ok: bool | Callable[[Any], bool] = True,
    reflected: Function | None = None,
    otherwise: Function | None = None,
    lacking: Collection[Any] = (),
    declined: Any = None,
    compares: bool = False,
    floats: bool = False,
    finish: Callable[[Function], Function] | None = None,
) -> Function:
    """A two-operand function that promotes by the rules of `nestarray.dtypes`.

    A Python integer outside of the range of an integer array raises an OutOfRangeError.

    Args:
        native: the framework's function; called directly if the dtypes are equal.
        cast: ``cast(x, dtype, like)`` converts an array to `dtype`, or a Python number to an array
            of `dtype` on the device of `like`.
        scalar_ok: `native` accepts a weakly typed Python number as one operand; or a function
            (dtype of the array) → whether it does as second operand.
        reflected: ``reflected(number, x)`` for a number as first operand; default: `native`.
        otherwise: the function for dtypes for which `native` raises NotImplementedError.
        lacking: these dtypes, for torch.compile.
        declined: the framework's bool dtype, if `native` would return integers for bools; see
            `nestarray.backends.truth`.
        compares: `native` is a comparison, which is exact for every Python integer.
        floats: `native` computes with integers in floating point, so every number has a value.
        finish: a decorator of each function, such as ``jax.jit``; the functions read no values of
            Python numbers.

    Returns:
        the function; its ``select(types)`` returns a version without the test of types.
    """

    if scalar_ok is True and reflected is None:
        reflected = native

    def guarded(x1: Any, x2: Any, /) -> Any:
        if otherwise is not None and is_compiling():  # whose arrays have no kernels that raise
            return (otherwise if x1.dtype in lacking else native)(x1, x2)
        try:
            return native(x1, x2)
        except NotImplementedError:
            if otherwise is None:
                raise
            return otherwise(x1, x2)

    def traced(x1: Any, x2: Any, /) -> Any:
        is_direct = x1.dtype is x2.dtype is not declined
        return guarded(x1, x2) if is_direct else by_promotion(x1, x2)

    @traced_as(traced)
    def plain(x1: Any, x2: Any, /) -> Any:
        try:
            if x1.dtype is x2.dtype is not declined:
                return native(x1, x2)
        except NotImplementedError:
            return guarded(x1, x2)
        return by_promotion(x1, x2)

    def by_promotion(x1: Any, x2: Any, /) -> Any:
        return as_dtype(dtypes.result_dtype(x1, x2), x1, x2)

    def as_dtype(dtype: Any, x1: Any, x2: Any) -> Any:
        if declined is not None and dtype is dtypes.bool:
            raise TypeError("bool inputs not supported")
        return guarded(cast(x1, dtype, x2), cast(x2, dtype, x1))

    def beside_number(kind: type, *, is_first: bool) -> Function:
        """For an array and a number of type `kind`."""
        is_integer = issubclass(kind, int) and kind is not bool
        like = _example(float if is_integer and floats else kind)
        has_range = is_integer and not floats
        reads_numbers = finish is None
        #: the dtypes that the number does not promote → the range of their integers
        kept: dict[Any, tuple[int, int] | None] = {}

        def note(dtype: Any) -> None:
            if not is_compiling():  # torch.compile cannot mutate inside a loop
                kept[dtype] = _range_of(dtype) if has_range and reads_numbers else None

        def number_second(x: Any, number: Any, /) -> Any:
            if x.dtype in kept:
                bounds = kept[x.dtype]
                if bounds is None or bounds[0] <= number <= bounds[1]:
                    return native(x, number)
                return out_of_range(x, number)
            if keeps_dtype(x.dtype, like):
                note(x.dtype)
                return native(x, number) if is_compiling() else number_second(x, number)
            if has_range and reads_numbers and not _is_in_range(x, number):
                return out_of_range(x, number)
            return as_dtype(dtypes.result_dtype(x, like), x, number)

        def number_first(number: Any, x: Any, /) -> Any:
            if x.dtype in kept:
                bounds = kept[x.dtype]
                if bounds is None or bounds[0] <= number <= bounds[1]:
                    return reflected(number, x)  # type: ignore[misc]
                return out_of_range(number, x)
            if reflected is not None and keeps_dtype(x.dtype, like):
                note(x.dtype)
                return reflected(number, x) if is_compiling() else number_first(number, x)
            if has_range and reads_numbers and not _is_in_range(x, number):
                return out_of_range(number, x)
            return as_dtype(dtypes.result_dtype(like, x), number, x)

        def out_of_range(x1: Any, x2: Any) -> Any:
            x, number = (x2, x1) if is_first else (x1, x2)
            if not compares:
                raise OutOfRangeError(_out_of_range(number, x.dtype))
            # 0 and 1 compare as the element and the number do
            low, high = xp.zeros_like(x), xp.ones_like(x)
            return native(low, high) if (number > 0) is not is_first else native(high, low)

        def checked(x1: Any, x2: Any, /) -> Any:
            if _is_in_range(*((x2, x1) if is_first else (x1, x2))):
                return finished(x1, x2)
            return out_of_range(x1, x2)

        function = number_first if is_first else number_second
        direct = reflected if is_first else native
        if finish is not None:
            finished = finish(function)
            return checked if has_range else finished
        # for Containers
        function.for_dtype = lambda dtype, number: (  # type: ignore[attr-defined]
            _for_dtype(direct, dtype)
            if keeps_dtype(dtype, number) and not (has_range and _range_of(dtype))
            else None
        )
        return function

    def keeps_dtype(dtype: Any, number: Any) -> bool:
        if declined is not None and dtype is declined:
            return False
        if isinstance(scalar_ok, bool):
            takes = scalar_ok
        else:
            takes = scalar_ok(dtype) and not isinstance(number, bool)
        return takes and _stays(number, dtypes.as_dtype(dtype).kind)

    def select(types: tuple[type, ...]) -> Function:
        numbers = [issubclass(t, NUMBERS) for t in types]
        if not any(numbers):
            return call
        if all(numbers):
            return by_promotion
        return beside_number(types[numbers.index(True)], is_first=numbers[0])

    call = plain if finish is None else finish(plain)
    call.select = select  # type: ignore[attr-defined]
    if finish is None:  # for Containers
        inner = native if otherwise is None else guarded
        call.for_dtype = lambda dtype, *others: (  # type: ignore[attr-defined]
            None
            if others or (declined is not None and dtype is declined)
            else _for_dtype(inner, dtype) or inner
        )
    return call


def _for_dtype(function: Function, dtype: Any) -> Function | None:
    """The native function for arrays of `dtype`, if `function` has more than one."""
    for_dtype = getattr(function, "for_dtype", None)
    return function if for_dtype is None else for_dtype(dtype)


@cache
def _range_of(dtype: Any) -> tuple[int, int] | None:
    """The least and the greatest integer of a native dtype; None for other dtypes."""
    integers = dtypes.as_dtype(dtype)
    if not integers.is_integer:
        return None
    info = dtypes.iinfo(integers)
    return info.min, info.max


def _is_in_range(x: Any, number: Any) -> bool:
    """Whether `number` has the dtype of `x`; a size that torch.compile traces has no value."""
    bounds = None if is_compiling() else _range_of(x.dtype)
    return bounds is None or bounds[0] <= number <= bounds[1]


def _out_of_range(number: int, dtype: Any) -> str:
    low, high = _range_of(dtype) or (0, 0)
    return (
        f"got the number {number} beside an array of {dtypes.as_dtype(dtype).name}, expected one "
        f"from {low} to {high}; cast the array to a wider dtype first"
    )


def _example(kind: type) -> Any:
    """A number of type `kind`, or of the base type of an enumeration."""
    plain = next(t for t in NUMBERS if issubclass(kind, t))
    return kind(1) if hasattr(kind, "dtype") else plain(1)


def floating(
    native: Function,
    cast: Cast,
    of_complex: Function | None = None,
    *,
    finish: Callable[[Function], Function] | None = None,
) -> Function:
    """A one-operand function whose integer arguments become float32 first.

    For frameworks whose dtypes have NumPy's ``kind``.

    Args:
        native: the framework's function.
        cast: see `promoting`.
        of_complex: the function of complex arrays; None: `native`.
        finish: a decorator; see `promoting`.
    """
    kept: set[Any] = set()

    def plain(x: Any, /) -> Any:
        if x.dtype in kept:
            return native(x)
        kind = x.dtype.kind
        if kind in "biu":
            return native(cast(x, dtypes.float32))
        if kind == "c" and of_complex is not None:
            return of_complex(x)
        kept.add(x.dtype)
        return native(x)

    def of_number(x: Any, /) -> Any:
        return plain(cast(x, dtypes.result_dtype(x, 1.0)))

    def select(types: tuple[type, ...]) -> Function:
        return of_number if types[0] in NUMBERS else call

    call = plain if finish is None else finish(plain)
    call.select = select  # type: ignore[attr-defined]
    call.for_dtype = _unless_integer(native, of_complex is None)  # type: ignore[attr-defined]
    return call


def _unless_integer(native: Function, complex_too: bool = True) -> Callable[[Any], Function | None]:
    """For Containers: `native`, if it supports the dtype without a cast."""
    kinds = "fc" if complex_too else "f"
    return lambda dtype: native if dtype.kind in kinds else None


def floating_pair(native: Function, cast: Cast, of_complex: Function | None = None) -> Function:
    """Like `floating`, for two operands of one dtype; one may be a Python number."""

    kept: set[Any] = set()

    def call(x1: Any, x2: Any, /) -> Any:
        try:
            dtype = x1.dtype
        except AttributeError:
            dtype = x2.dtype
        if dtype in kept:
            return native(x1, x2)
        if dtype.kind == "c" and of_complex is not None:
            return of_complex(x1, x2)
        if dtype.kind not in "biu":
            kept.add(dtype)
        elif getattr(x2, "dtype", dtype).kind in "biu":  # a number traced by JAX has a dtype too
            return native(cast(x1, dtypes.float32), cast(x2, dtypes.float32))
        return native(x1, x2)

    call.for_dtype = _unless_integer(native, of_complex is None)  # type: ignore[attr-defined]
    return call


_RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


def _stays(scalar: Any, kind: str) -> bool:
    """Whether a Python number preserves the dtype of an array of this kind."""
    if isinstance(scalar, bool) and kind != "bool":
        return False  # TensorFlow does not accept True as a number
    return _RANK[dtypes.scalar_dtype(scalar).kind] <= _RANK[kind]


def promoting_all(cast: Cast) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """A function that casts arrays to their promoted dtype, if they differ.

    Python numbers are weakly typed and become arrays.

    Args:
        cast: see `promoting`.
    """

    def promoted(arrays: Sequence[Any]) -> Sequence[Any]:
        first = getattr(arrays[0], "dtype", None)
        for x in arrays:
            if first is None or getattr(x, "dtype", None) != first:
                dtype = dtypes.result_dtype(*arrays)
                like = next((x for x in arrays if hasattr(x, "dtype")), None)
                return [cast(x, dtype, like) for x in arrays]
        return arrays

    return promoted


def choosing(
    native: Function,
    cast: Cast,
    *,
    boolean: Any = None,
    scalar_ok: Callable[[Any], bool] = lambda dtype: True,
    finish: Callable[[Function], Function] | None = None,
) -> Function:
    """`where` of a framework, with `x1` and `x2` promoted as in `promoting`.

    Args:
        native: the framework's function.
        cast: see `promoting`.
        boolean: the framework's bool dtype, if `native` accepts conditions of other dtypes.
        scalar_ok: whether `native` accepts a Python number with an array of a dtype.
        finish: a decorator; see `promoting`.
    """

    promoted = promoting_all(cast)

    def plain(condition: Any, x1: Any, x2: Any, /) -> Any:
        if boolean is not None and condition.dtype is not boolean:
            raise TypeError("the condition is not bool")
        if x1.dtype is x2.dtype:
            return native(condition, x1, x2)
        return native(condition, *promoted((x1, x2)))

    def with_scalar(condition: Any, x1: Any, x2: Any, /) -> Any:
        if boolean is not None and condition.dtype is not boolean:
            raise TypeError("the condition is not bool")
        array, scalar = (x2, x1) if isinstance(x1, NUMBERS) else (x1, x2)
        if scalar.__class__ is int and not _is_in_range(array, scalar):
            raise OutOfRangeError(_out_of_range(scalar, array.dtype))
        if _stays(scalar, dtypes.dtype_of(array).kind) and scalar_ok(array.dtype):
            return native(condition, x1, x2)
        return native(condition, *promoted((x1, x2)))

    def of_number(condition: Any, x1: Any, x2: Any, /) -> Any:
        if condition.__class__ in NUMBERS:
            if condition.__class__ is not bool:
                raise TypeError("the condition is not bool")
            condition = cast(condition, dtypes.bool)
        return native(condition, *promoted((x1, x2)))

    def select(types: tuple[type, ...]) -> Function:
        numbers = [issubclass(t, NUMBERS) for t in types]
        if numbers[0] or all(numbers[1:]):
            return of_number
        return with_scalar if any(numbers) else call

    call = plain if finish is None else finish(plain)
    call.select = select  # type: ignore[attr-defined]
    return call
