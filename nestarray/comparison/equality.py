"""Equality of two leaves, and the distance of their values.

Two arrays are the same if their frameworks, dtypes, shapes and bits are; any NaN equals any NaN,
and -0.0 differs from 0.0. Host arrays are read through NumPy views of their memory: nothing is
copied, and no framework flushes denormal numbers. Arrays of one framework on one other device are
compared there, and only the statistics are transferred. An array in a file (`StoredArray`) is read when
its values are compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from nestarray import backends, ops
from nestarray.backends import is_array
from nestarray.container import Container
from nestarray.dtypes import dtype_of, is_key
from nestarray.errors import ArgumentError, DtypeError
from nestarray.storage.stored import StoredArray


@dataclass(frozen=True)
class Statistics:
    """The distance between two arrays of the same shape.

    Elements that are NaN in both are unchanged. Elements that are NaN in one are changed; `nans`
    counts them, and the maxima and the mean ignore them.

    Attributes:
        changed: the number of elements that differ by more than the tolerance.
        size: the number of all elements.
        max_abs: the largest |new − old|.
        max_rel: the largest |new − old| / max(|old|, |new|), at most 2 for finite numbers;
            inf where a number became infinite.
        mean_abs: the mean of |new − old| over all elements.
        where: the index of the element that changed most.
        nans: the number of elements that are NaN on one side only.
    """

    changed: int
    size: int
    max_abs: float
    max_rel: float
    mean_abs: float
    where: tuple[int, ...]
    nans: int

    @property
    def fraction(self) -> float:
        """The fraction of elements that changed."""
        return self.changed / self.size


def has_elements(x: Any) -> bool:
    """Whether a leaf is an array, in memory or in a file."""
    return is_array(x) or isinstance(x, StoredArray)


def _backend_of(x: Any) -> str | None:
    return x.backend if isinstance(x, StoredArray) else backends.backend_of_type(type(x))


def check_has_values(name: str, c: Container) -> None:
    """Raise an error if an array of `c` is under tracing."""
    kinds = {kind: backends.backend_of_type(kind) for kind in set(map(type, c._leaves))}
    if not {*kinds.values()} - {None, "numpy"}:
        return
    for path, leaf in c.flat_items():
        backend = kinds[type(leaf)]
        if backend is not None and backends.core(backend).is_traced(leaf):
            raise ArgumentError(
                f"{name}: {path!r} is an array that {backend} is tracing, which has no values yet; "
                f"call {name} outside of the traced function"
            )


def differing_aspects(x: Any, y: Any) -> tuple[str, ...]:
    """The aspects other than values in which two leaves differ: of ``type, backend, dtype, shape``.

    Example:
        >>> import numpy as np
        >>> differing_aspects(np.zeros(2), np.zeros(3, "float32")), differing_aspects(1, "a")
        (('dtype', 'shape'), ('type',))
    """
    first, second = _backend_of(x), _backend_of(y)
    if first is None or second is None:
        return () if first is second and type(x) is type(y) else ("type",)
    aspects = [] if first == second else ["backend"]
    if (first != second or x.dtype != y.dtype) and _dtype_name(x) != _dtype_name(y):
        aspects.append("dtype")
    if tuple(x.shape) != tuple(y.shape):
        aspects.append("shape")
    return tuple(aspects)


def identical(x: Any, y: Any) -> bool:
    """Whether two leaves are the same in every aspect.

    Example:
        >>> import numpy as np
        >>> identical(np.asarray([0.0, np.nan]), np.asarray([0.0, np.nan]))
        True
        >>> identical(np.asarray(0.0), np.asarray(-0.0)), identical(1, True)
        (False, False)
    """
    return x is y or (not differing_aspects(x, y) and same_values(x, y))


def same_values(x: Any, y: Any) -> bool:
    """Whether two leaves of the same shape have the same elements."""
    if x is y:
        return True
    if not has_elements(x):
        return _same_objects(x, y)
    x, y = _readable(x, y)
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and x.dtype == y.dtype:
        kind = x.dtype.kind
        if x.dtype.hasobject or (kind in "SUV" and _bits(x) is None):
            return bool(np.array_equal(x, y))
        first, second = _bits(x), _bits(y)
        if first is not None and second is not None:
            differs = first != second
            if not differs.any():
                return True
            if kind == "f":
                return bool(np.isnan(x[differs]).all() and np.isnan(y[differs]).all())
        if kind in "biumM":
            return False
    return not bool(ops.any(_differs(_computable(x), _computable(y))))


def statistics(x: Any, y: Any, *, rtol: float = 0.0, atol: float = 0.0) -> Statistics | None:
    """The distance of two arrays or numbers of the same shape; None if within the tolerance.

    Args:
        x: the old array or number.
        y: the new array or number, of any framework and dtype.
        rtol: an element is unchanged if |new − old| ≤ atol + rtol · |old|.
        atol: see `rtol`.

    Example:
        >>> import numpy as np
        >>> s = statistics(np.asarray([1.0, 2.0, 4.0]), np.asarray([1.0, 2.0, 5.0]))
        >>> s.changed, s.max_abs, s.max_rel, s.where
        (1, 1.0, 0.2, (2,))
    """
    x, y = _readable(x, y)
    with np.errstate(all="ignore"):  # infinities and NaN are expected
        if isinstance(x, np.ndarray) and not _is_numeric(x):
            return _statistics_of_symbols(x, y)
        differs, distance, before, after = _compared(x, y, rtol, atol)
        return _summary(differs, distance, ops.maximum(before, after))


#: Arrays of fewer elements are compared together, because calls cost more than elements.
_SMALL = 1 << 14
_TOGETHER = 256


def joint_statistics(pairs: Sequence[Mapping[str, Any]]) -> Statistics | None:
    """The `statistics` of several pairs as if their arrays were one; without `where`.

    Args:
        pairs: arguments of `statistics`.

    Example:
        >>> import numpy as np
        >>> pairs = [{"x": np.zeros(2), "y": np.ones(2)}, {"x": np.ones(3), "y": np.full(3, 3.0)}]
        >>> s = joint_statistics(pairs)
        >>> s.changed, s.max_abs, s.mean_abs
        (5, 2.0, 1.6)
    """
    parts: list[Statistics | None] = []
    small: dict[Any, list[tuple[Any, Any]]] = {}
    for pair in pairs:
        x, y = _readable(pair["x"], pair["y"])
        limits = pair.get("rtol", 0.0), pair.get("atol", 0.0)
        if not (isinstance(x, np.ndarray) and _is_numeric(x) and x.size < _SMALL):
            parts.append(statistics(**pair))
            continue
        waiting = small.setdefault((x.dtype, y.dtype, limits), [])
        waiting.append((x.reshape(-1), y.reshape(-1)))
        if len(waiting) == _TOGETHER:
            parts.append(_joined(waiting, *limits))
            waiting.clear()
    parts += [_joined(rest, *key[-1]) for key, rest in small.items() if rest]
    return _sum_of([part for part in parts if part is not None])


def _joined(pairs: list[tuple[Any, Any]], rtol: float, atol: float) -> Statistics | None:
    before, after = map(np.concatenate, zip(*pairs, strict=True))
    return statistics(before, after, rtol=rtol, atol=atol)


def _sum_of(parts: list[Statistics]) -> Statistics | None:
    if not parts:
        return None
    size = sum(s.size for s in parts)
    return replace(
        max(parts, key=lambda s: (s.max_abs, s.max_rel)),
        changed=sum(s.changed for s in parts),
        size=size,
        mean_abs=sum(s.mean_abs * s.size for s in parts) / size,
        where=(),
        nans=sum(s.nans for s in parts),
    )


def are_near(x: Any, y: Any, *, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """Whether `statistics` with the same arguments is None."""
    x, y = _readable(x, y)
    with np.errstate(all="ignore"):
        if isinstance(x, np.ndarray) and not _is_numeric(x):
            return not np.any(x != y)
        return not bool(ops.any(_compared(x, y, rtol, atol)[0]))


def _compared(x: Any, y: Any, rtol: float, atol: float) -> tuple[Any, Any, Any, Any]:
    """Where elements differ by more than the tolerance, |y − x|, |x| and |y|."""
    x, y = _computable(x), _computable(y)
    distance, before, after = _distance(x, y)
    differs = _differs(x, y)
    if rtol or atol:
        near = ops.less_equal(distance, ops.add(ops.multiply(before, rtol), atol))
        near = ops.logical_and(near, ops.isfinite(distance))  # rtol · ∞ would accept all values
        differs = ops.logical_and(differs, ops.logical_not(near))
    return differs, distance, before, after


def fingerprint(leaf: Any) -> Any:
    """A hashable value that is equal for leaves that are `identical`, cheap to compute.

    It uses at most eight elements, so different arrays may have the same value.
    """
    if not has_elements(leaf):
        return type(leaf), repr(leaf)
    shape = tuple(leaf.shape)
    size = math.prod(shape)
    head = (_backend_of(leaf), _dtype_name(leaf), shape)
    if not size:
        return head
    leaf = _host(leaf) if isinstance(leaf, StoredArray) else leaf
    flat = ops.reshape(leaf, (size,)) if shape != (size,) else leaf
    sample = flat[:: max(1, (size - 1) // 7)][:8]
    return *head, tuple(map(str, _host(sample).tolist()))


def _dtype_name(x: Any) -> str:
    return _name_of(x.dtype)


@lru_cache(maxsize=256)  # NumPy builds the name of a dtype on each access
def _name_of(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def _same_objects(x: Any, y: Any) -> bool:
    if isinstance(x, (float, complex)) and x != x and y != y:
        return True
    if isinstance(x, np.ndarray):  # a masked array; masked elements are ignored
        hidden, others = np.ma.getmaskarray(x), np.ma.getmaskarray(y)
        return identical(hidden, others) and identical(np.ma.compressed(x), np.ma.compressed(y))
    try:
        return bool(x == y) and (not isinstance(x, (float, complex)) or repr(x) == repr(y))
    except Exception:  # comparisons of foreign objects may raise; treat these as different
        return False


def _readable(x: Any, y: Any) -> tuple[Any, Any]:
    """Both as NumPy arrays on the host, or unchanged if they share one other device."""
    if x.__class__ is y.__class__ is np.ndarray:
        return x, y
    first, second = backends.backend_of_type(type(x)), backends.backend_of_type(type(y))
    if first is not None and first == second:
        core = backends.core(first)
        place = core.device_of(x)
        if place.partition(":")[0] != "cpu" and place == core.device_of(y):
            return x, y
    return _host(x), _host(y)


def _host(x: Any) -> np.ndarray:
    backend = backends.backend_of_type(type(x))
    if backend is None:
        return np.asarray(x)
    if is_key(x):  # JAX hides the words of typed keys
        x = backends.chapter("jax", "keys").words_of(x)
    return np.asarray(backends.core(backend).to_numpy(x))


def _bits(x: np.ndarray) -> np.ndarray | None:
    """The memory of `x` as integers, without a copy; None if NumPy has no integer of that size."""
    if x.dtype.kind == "c":
        parts = {8: "float32", 16: "float64"}.get(x.dtype.itemsize)
        if parts is None or not x.flags.c_contiguous or not x.ndim:
            return None
        x = x.view(parts)
    unsigned = _UNSIGNED.get(x.dtype.itemsize)
    return None if unsigned is None else x.view(unsigned)


_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def _is_numeric(x: np.ndarray) -> bool:
    return x.dtype.kind in "biufc" or (x.dtype.kind == "V" and x.dtype.fields is None)


def _computable(x: Any) -> Any:
    """`x` in a dtype that ops accept: float8 and similar as float32, which is exact."""
    try:
        dtype_of(x)
    except DtypeError:
        return x.astype("float64" if x.dtype.kind == "f" else "float32")
    return x


def _differs(x: Any, y: Any) -> Any:
    """Where elements differ: NaN equals NaN, -0.0 differs from 0.0."""
    first, second = dtype_of(x), dtype_of(y)
    if first.kind == "complex" and second.kind == "complex":
        return ops.logical_or(
            _differs(ops.real(x), ops.real(y)), _differs(ops.imag(x), ops.imag(y))
        )
    if first is not second:
        x, y = _promoted(x, y)
    differs = ops.not_equal(x, y)
    if first.is_floating and second.is_floating:
        differs = ops.logical_or(differs, ops.not_equal(ops.signbit(x), ops.signbit(y)))
    if dtype_of(x).is_inexact:
        differs = ops.logical_and(
            differs, ops.logical_not(ops.logical_and(ops.isnan(x), ops.isnan(y)))
        )
    return differs


def _promoted(x: Any, y: Any) -> tuple[Any, Any]:
    """Two host arrays of different dtypes, promoted to a dtype that is exact for both."""
    if not isinstance(x, np.ndarray):
        x, y = _host(x), _host(y)
    kinds = {dtype_of(x).kind, dtype_of(y).kind}
    if kinds <= {"int", "uint", "bool"}:
        wide = np.result_type(x, y)
        if wide.kind != "f":
            return x.astype(wide), y.astype(wide)
    wide = "complex128" if "complex" in kinds else "float64"
    return x.astype(wide), y.astype(wide)


def _distance(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """|y − x|, |x| and |y| as floats; the distance of integers without overflow."""
    first, second = dtype_of(x), dtype_of(y)
    if not first.is_inexact and not second.is_inexact:
        return _distance_of_integers(_host(x), _host(y))
    if isinstance(x, np.ndarray):
        wide = "complex128" if "complex" in (first.kind, second.kind) else "float64"
        x, y = x.astype(wide), y.astype(wide)
    elif first.bits < 32:
        x, y = ops.astype(x, "float32"), ops.astype(y, "float32")
    return ops.abs(ops.subtract(y, x)), ops.abs(x), ops.abs(y)


def _distance_of_integers(x: np.ndarray, y: np.ndarray) -> tuple[Any, Any, Any]:
    before, after = np.abs(x.astype(np.float64)), np.abs(y.astype(np.float64))
    if np.result_type(x, y).kind == "f":  # uint64 with a signed type has no common integer type
        return np.abs(y.astype(np.float64) - x.astype(np.float64)), before, after
    wide = np.uint64 if np.uint64 in (x.dtype.type, y.dtype.type) else np.int64
    x, y = x.astype(wide), y.astype(wide)
    # the difference of two signed numbers fits the unsigned type, where overflow cancels
    distance = np.maximum(x, y).astype(np.uint64) - np.minimum(x, y).astype(np.uint64)
    return distance.astype(np.float64), before, after


def _summary(differs: Any, distance: Any, scale: Any) -> Statistics | None:
    shape = tuple(differs.shape)
    size = math.prod(shape)
    changed = int(ops.sum(ops.astype(differs, "int64"))) if size else 0
    if not changed:
        return None
    unordered = ops.logical_and(differs, ops.isnan(distance))
    zero = ops.zeros_like(distance)
    # the difference of equal infinities is NaN, but their distance is 0
    distance = ops.where(ops.logical_and(differs, ops.logical_not(unordered)), distance, zero)
    relative = ops.where(ops.equal(distance, zero), zero, ops.divide(distance, scale))
    relative = ops.where(ops.isnan(relative), distance, relative)  # ∞ / ∞
    largest = float(ops.max(distance))
    most = distance if largest > 0 else ops.astype(unordered, dtype_of(distance))
    if not largest and not bool(ops.any(unordered)):
        most = ops.astype(differs, dtype_of(distance))
    place = int(ops.argmax(ops.reshape(most, (size,))))
    return Statistics(
        changed=changed,
        size=size,
        max_abs=largest,
        max_rel=float(ops.max(relative)),
        mean_abs=float(ops.sum(distance)) / size,
        where=tuple(int(i) for i in np.unravel_index(place, shape)),
        nans=int(ops.sum(ops.astype(unordered, "int64"))),
    )


def _statistics_of_symbols(x: np.ndarray, y: np.ndarray) -> Statistics | None:
    """For strings, dates and objects: the number of differences, and the first one."""
    differs = np.asarray(x != y, dtype=bool)
    changed = int(differs.sum())
    if not changed:
        return None
    place = np.unravel_index(int(differs.argmax()), differs.shape)
    nan = float("nan")
    return Statistics(changed, differs.size, nan, nan, nan, tuple(int(i) for i in place), 0)
