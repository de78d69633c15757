"""Data types: one object for all frameworks.

``na.float32`` is a `DType`: interned, compared by identity, printed under the standard's name.
Every dtype argument may be a `DType`, its name, or any framework's own dtype; `as_dtype` converts
all of them. The promotion table follows the Array API standard; mixed kinds promote to the
floating operand, on every backend.

Source: https://data-apis.org/array-api/2025.12/API_specification/type_promotion.html
"""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from nestarray.dynamo import cached_constant
from nestarray.errors import DtypeError
from nestarray.errors.unknown_names import suggest_names

__all__ = [
    "DType",
    "FloatInfo",
    "IntegerInfo",
    "as_dtype",
    "bfloat16",
    "bool",
    "can_cast",
    "complex64",
    "complex128",
    "dtype_of",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "promote_types",
    "result_dtype",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class DType:
    """One data type. Instances are module constants; do not create others.

    Example:
        >>> import nestarray as na
        >>> na.float32.kind, na.float32.bits
        ('float', 32)
        >>> na.as_dtype("float32") is na.float32
        True
    """

    __slots__ = ("bits", "kind", "name")

    name: str
    kind: str
    bits: int

    def __init__(self, name: str, kind: str, bits: int) -> None:
        self.name, self.kind, self.bits = name, kind, bits

    def __repr__(self) -> str:
        return f"nestarray.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    @property
    def __numpy_dtype__(self) -> np.dtype:
        """For ``np.dtype(na.float32)``; NumPy asks since 2.4.

        https://numpy.org/doc/stable/release/2.4.0-notes.html
        """
        return np.dtype(self.name)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return max(self.bits // 8, 1)

    @property
    def is_floating(self) -> builtins.bool:
        """True for real floating-point types."""
        return self.kind == "float"

    @property
    def is_inexact(self) -> builtins.bool:
        """True for real and complex floating-point types."""
        return self.kind in ("float", "complex")

    @property
    def is_integer(self) -> builtins.bool:
        """True for signed and unsigned integers, not for bool."""
        return self.kind in ("int", "uint")


bool = DType("bool", "bool", 8)
int8, int16, int32, int64 = (DType(f"int{b}", "int", b) for b in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (DType(f"uint{b}", "uint", b) for b in (8, 16, 32, 64))
float16, float32, float64 = (DType(f"float{b}", "float", b) for b in (16, 32, 64))
bfloat16 = DType("bfloat16", "float", 16)
complex64, complex128 = DType("complex64", "complex", 64), DType("complex128", "complex", 128)

ALL: tuple[DType, ...] = (
    bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip

_NAMES = {d.name: d for d in ALL}

#: Type of the specification → specification → dtype. With one table for each type, torch.compile,
#: which traces every lookup, finds only dtypes of torch in the table for torch.
_tables: dict[type, dict[Any, DType]] = {
    DType: {d: d for d in ALL},
    str: dict(_NAMES),
    type: {builtins.bool: bool, float: float32},
}


def as_dtype(dtype: Any) -> DType:
    """The `DType` for any specification of a dtype.

    Args:
        dtype: a `DType`, a name (``"float32"``), a dtype of NumPy, JAX, PyTorch or
            TensorFlow, or the builtins ``bool`` and ``float`` (the default, float32).

    Raises:
        DtypeError: `dtype` is not a dtype, or a dtype that nestarray does not support.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.as_dtype(np.dtype("int64"))
        nestarray.int64
    """
    try:
        return _tables[type(dtype)][dtype]
    except (KeyError, TypeError):
        return _learn_dtype(dtype)


def dtype_for(name: str, dtype: Any) -> DType:
    """`as_dtype` of an argument of the function `name`, for its error message."""
    try:
        return as_dtype(dtype)
    except DtypeError as error:
        raise DtypeError(f"{name}: {error}") from None


def _learn_dtype(dtype: Any) -> DType:
    # np.dtype and tf.DType have a name; np.float32, a class, has __name__; torch prints "torch.x".
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    name = {"bool_": "bool", "int": "int64", "complex": "complex128"}.get(
        (short := str(name).rpartition(".")[2]), short
    )
    found = _NAMES.get(name)
    if found is None:
        raise DtypeError(
            f"dtype: got {dtype!r}, expected one of {', '.join(d.name for d in ALL)}, "
            "or a framework's own name for one of these"
        )
    _tables.setdefault(type(dtype), {})[dtype] = found
    return found


def dtype_of(x: Any) -> DType:
    """The `DType` of an array or a Python scalar (float → float32, int → int64).

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.dtype_of(np.zeros(2, "int16"))
        nestarray.int16
    """
    try:
        dtype = x.dtype
    except AttributeError:
        return scalar_dtype(x)
    try:
        return _tables[type(dtype)][dtype]
    except KeyError:
        return as_dtype(dtype)


def is_key(x: Any) -> builtins.bool:
    """Whether `x` is an array of JAX's typed random keys, which are not numbers: no `DType`."""
    return hasattr(x, "dtype") and _is_of_keys(x.dtype)


@cached_constant
def _is_of_keys(dtype: Any) -> builtins.bool:
    return str(dtype).startswith("key<")


def scalar_dtype(x: Any) -> DType:
    """The default dtype of a Python scalar."""
    if isinstance(x, builtins.bool):
        return bool
    if isinstance(x, int):
        return int64
    if isinstance(x, float):
        return float32
    if isinstance(x, complex):
        return complex64
    raise DtypeError(f"dtype_of: got {type(x).__name__}, expected an array or a number")


#: The result of `scalar_dtype` for each kind that may be weak.
_OF_KIND = {"int": int64, "float": float32, "complex": complex64}


def _promote_floats(a: DType, b: DType) -> DType:
    if {a, b} == {float16, bfloat16}:
        return float32
    return a if a.bits >= b.bits else b


def _promote_integers(a: DType, b: DType) -> DType:
    if a.kind == b.kind:
        return a if a.bits >= b.bits else b
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    bits = max(signed.bits, unsigned.bits * 2)
    # uint64 with a signed type has no integer result in the standard; int64 keeps it an integer.
    return _NAMES[f"int{min(bits, 64)}"]


@cached_constant
def promote_types(a: DType, b: DType) -> DType:
    """The dtype of a result with operands of the dtypes `a` and `b`.

    Within a kind by the standard's table; across kinds the dtype of the higher kind
    (``int64 + float32 → float32``), with complex wide enough for the float.

    Args:
        a, b: instances of `DType`.

    Example:
        >>> import nestarray as na
        >>> na.promote_types(na.int64, na.float32)
        nestarray.float32
    """
    if a is b:
        return a
    order = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}
    low, high = sorted((a, b), key=lambda d: order[d.kind])
    if order[low.kind] != order[high.kind]:
        if high is complex64 and low is float64:
            return complex128
        return high
    if high.kind == "float":
        return _promote_floats(a, b)
    if high.kind == "complex":
        return complex128
    return _promote_integers(a, b)


def result_dtype(*arrays_and_dtypes: Any) -> DType:
    """The promoted dtype of arrays, dtypes and Python scalars; scalars can only raise the kind.

    The same holds for JAX's weakly typed arrays, such as Python numbers under tracing.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.dtypes.result_dtype(np.zeros(2, "float16"), 2.0)
        nestarray.float16
    """
    strong: DType | None = None
    weak: list[DType] = []
    for item in arrays_and_dtypes:
        if isinstance(item, (builtins.bool, int, float, complex)) and not hasattr(item, "dtype"):
            weak.append(scalar_dtype(item))
            continue
        dtype = item if isinstance(item, DType) else dtype_of(item)
        if getattr(item, "weak_type", False):
            weak.append(_OF_KIND[dtype.kind])
        else:
            strong = dtype if strong is None else promote_types(strong, dtype)
    for dtype in weak:
        if strong is None:
            strong = dtype
        elif dtype.kind == "complex" and strong.kind != "complex":
            strong = complex128 if strong is float64 else complex64
        elif dtype.kind == "float" and not strong.is_inexact:
            strong = float32
        elif dtype.kind == "int" and strong.kind == "bool":
            strong = int64
    assert strong is not None, "result_dtype needs at least one argument"
    return strong


class FloatInfo(NamedTuple):
    """The result of `finfo`."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerInfo(NamedTuple):
    """The result of `iinfo`."""

    bits: int
    max: int
    min: int
    dtype: DType


#: Bits of the exponent and of the mantissa, without the implicit one.
_FORMAT = {float16: (5, 10), bfloat16: (8, 7), float32: (8, 23), float64: (11, 52)}


def finfo(dtype: Any) -> FloatInfo:
    """The limits of a floating dtype; for a complex one, the limits of its components.

    Args:
        dtype: any specification of a dtype, or an array.

    Returns:
        FloatInfo: ``bits, eps, max, min, smallest_normal, dtype``, Python numbers.

    Raises:
        DtypeError: `dtype` is not floating.

    Example:
        >>> import nestarray as na
        >>> na.finfo(na.bfloat16).eps
        0.0078125

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.finfo.html
    """
    found = _dtype_or_dtype_of(dtype)
    part = {complex64: float32, complex128: float64}.get(found, found)
    if part not in _FORMAT:
        raise DtypeError(
            f"finfo: dtype: got {found}, expected a floating or complex dtype; see iinfo"
        )
    exponent, mantissa = _FORMAT[part]
    emax = 2 ** (exponent - 1) - 1
    largest = (2.0 - 2.0**-mantissa) * 2.0**emax
    return FloatInfo(part.bits, 2.0**-mantissa, largest, -largest, 2.0 ** (1 - emax), part)


def iinfo(dtype: Any) -> IntegerInfo:
    """The limits of an integer dtype.

    Args:
        dtype: any specification of a dtype, or an array.

    Returns:
        IntegerInfo: ``bits, max, min, dtype``, Python numbers.

    Raises:
        DtypeError: `dtype` is not an integer dtype.

    Example:
        >>> import nestarray as na
        >>> na.iinfo(na.int8).max
        127

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.iinfo.html
    """
    found = _dtype_or_dtype_of(dtype)
    if not found.is_integer:
        raise DtypeError(f"iinfo: dtype: got {found}, expected an integer dtype; see finfo")
    if found.kind == "uint":
        return IntegerInfo(found.bits, 2**found.bits - 1, 0, found)
    return IntegerInfo(found.bits, 2 ** (found.bits - 1) - 1, -(2 ** (found.bits - 1)), found)


def _dtype_or_dtype_of(x: Any) -> DType:
    return dtype_of(x) if hasattr(x, "dtype") and hasattr(x, "shape") else as_dtype(x)


_KINDS: dict[str, frozenset[str]] = {
    "bool": frozenset(("bool",)),
    "signed integer": frozenset(("int",)),
    "unsigned integer": frozenset(("uint",)),
    "integral": frozenset(("int", "uint")),
    "real floating": frozenset(("float",)),
    "complex floating": frozenset(("complex",)),
    "numeric": frozenset(("int", "uint", "float", "complex")),
}


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is of a given kind.

    Args:
        dtype: any specification of a dtype.
        kind: another dtype, one of ``"bool"``, ``"signed integer"``, ``"unsigned integer"``,
            ``"integral"``, ``"real floating"``, ``"complex floating"``, ``"numeric"``, or a
            tuple of alternatives.

    Raises:
        DtypeError: `kind` is invalid.

    Example:
        >>> import nestarray as na
        >>> na.isdtype(na.int8, "integral"), na.isdtype(na.int8, (na.float32, "bool"))
        (True, False)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.isdtype.html
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    found = as_dtype(dtype)
    if isinstance(kind, str) and kind in _KINDS and kind != "bool":
        return found.kind in _KINDS[kind]
    try:
        return found is as_dtype(kind)
    except DtypeError as error:
        raise DtypeError(
            f"isdtype: kind: got {kind!r}, expected a dtype or one of {', '.join(_KINDS)}"
        ) from error


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The promoted dtype of the operands; Python numbers can only raise the kind.

    Args:
        *arrays_and_dtypes: arrays, dtypes, Python numbers; at least one argument.

    Raises:
        DtypeError: no argument is given, or an argument is invalid.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.result_type(np.zeros(2, "int32"), na.float16, 1.0)
        nestarray.float16

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.result_type.html
    """
    if not arrays_and_dtypes:
        raise DtypeError("result_type: got no argument, expected at least one array or dtype")
    numbers = (builtins.bool, int, float, complex)
    return result_dtype(
        *(x if type(x) in numbers else _dtype_or_dtype_of(x) for x in arrays_and_dtypes)
    )


def can_cast(from_: Any, to: Any) -> builtins.bool:
    """Whether promotion can convert one dtype to another without loss of kind or range.

    Args:
        from_: any specification of a dtype, or an array.
        to: any specification of a dtype.

    Example:
        >>> import nestarray as na
        >>> na.can_cast(na.int16, na.int64), na.can_cast(na.float32, na.int64)
        (True, False)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.can_cast.html
    """
    source, target = _dtype_or_dtype_of(from_), as_dtype(to)
    # this promotes uint64 with signed integers to int64, beyond the standard; it is not a safe cast
    overflows = source is uint64 and target is int64
    return promote_types(source, target) is target and not overflows


suggest_names(__name__)
