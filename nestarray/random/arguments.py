"""Checks of the arguments of samplers: keys, shapes, dtypes and parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from nestarray import backends, dtypes, ops
from nestarray.container import Container
from nestarray.container.access import align_leaves, map_leaves
from nestarray.container.container import from_leaves
from nestarray.errors import ArgumentError, ShapeError, UnsupportedError
from nestarray.errors.signatures import signature_errors
from nestarray.numerics.threefry import check_uniform_dtype, rounded
from nestarray.typing import Array, DTypeLike, Shape

F = TypeVar("F", bound=Callable[..., Any])

#: The shapes of keys of Threefry and of the framework's own generator.
THREEFRY, NATIVE = (2,), (4,)


def sampler(function: F) -> F:
    """Decorate a sampler: it accepts keys, typed keys and Containers of keys, and nothing else.

    Other arguments that are Containers are matched with the keys by path.
    """
    return _accepting_keys(function, lambda key, drawn: drawn)


def key_maker(function: F) -> F:
    """Decorate a sampler that returns keys: they are typed if its key is."""
    return _accepting_keys(function, _like_key)


def _accepting_keys(function: F, finish: Callable[[Array, Array], Array]) -> F:
    name = f"random.{function.__name__}"
    drawn = signature_errors(name)(function)

    def of_one(key: Array, *args: Any, **kwargs: Any) -> Any:
        return finish(key, drawn(words_of(name, key), *args, **kwargs))

    @signature_errors(name)
    @wraps(function)
    def draw(key: Array, *args: Any, **kwargs: Any) -> Any:
        if isinstance(key, Container):
            return _of_tree(of_one, name, key, args, kwargs)
        return of_one(key, *args, **kwargs)

    return cast(F, draw)


def _of_tree(
    function: Callable[..., Any],
    name: str,
    keys: Container,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Container:
    columns = [align_leaves(keys.spec, x, name) for x in (*args, *kwargs.values())]

    def one(key: Array, *values: Any) -> Any:
        named = zip(kwargs, values[len(args) :], strict=True)
        return function(key, *values[: len(args)], **dict(named))

    return from_leaves(keys.spec, map_leaves(keys.spec, one, [keys.leaves(), *columns]))


def words_of(name: str, key: Any) -> Any:
    """The words of one key. The ops check their dtype.

    Raises:
        ArgumentError: `key` is not an array.
        ShapeError: it is not one key.
    """
    shape = getattr(key, "shape", None)
    if shape is None:
        raise ArgumentError(
            f"{name}: key: got {type(key).__name__}, expected a key such as na.random.key(0)"
        )
    shape = tuple(shape)
    if shape in (THREEFRY, NATIVE):
        return key
    is_typed = _is_typed(key)
    if is_typed and not shape:
        return backends.chapter("jax", "keys").words_of(key)
    is_many = (is_typed and len(shape) == 1) or shape[1:] == THREEFRY
    many = "; na.vmap maps a sampler over many keys" if is_many else ""
    raise ShapeError(f"{name}: key: got shape {shape}, expected one key of shape (2,){many}")


def _is_typed(key: Any) -> bool:
    return backends.backend_of_type(type(key)) == "jax" and backends.chapter(
        "jax", "keys"
    ).is_typed(key)


def _like_key(key: Array, words: Array) -> Array:
    is_typed = not key.shape and _is_typed(key)
    return backends.chapter("jax", "keys").typed_like(key, words) if is_typed else words


def is_native(key: Array) -> bool:
    """Whether the framework's own generator draws from this key."""
    return tuple(key.shape) == NATIVE


def floating(name: str, dtype: DTypeLike) -> dtypes.DType:
    """`dtype`, if it is a real floating type."""
    return check_uniform_dtype(f"random.{name}", dtype)[0]


def shape_of(name: str, shape: Shape | None, **parameters: Any) -> tuple[Any, ...]:
    """The shape of the result: `shape`, to which all parameters must broadcast, or their own if None.

    Raises:
        ShapeError: they broadcast to another shape.
    """
    shapes = {key: _own_shape(x) for key, x in parameters.items()}
    wanted = None if shape is None else sizes(name, shape)
    found: tuple[Any, ...] | None = wanted or ()
    for own in shapes.values():
        found = None if found is None else _together(found, own)
    if found is None or (wanted is not None and found != wanted):
        given = ", ".join(f"{key} of shape {s}" for key, s in shapes.items())
        expected = (
            "shapes that broadcast together" if wanted is None else "shapes that broadcast to it"
        )
        asked = "" if wanted is None else f" and the shape {wanted}"
        raise ShapeError(f"random.{name}: got {given}{asked}, expected {expected}")
    return found


def _own_shape(x: Any) -> tuple[Any, ...]:
    """The shape of a parameter; sizes unknown to a tracer are arrays (`ops.shape`)."""
    if is_number(x):  # Dynamo looks up no attributes of symbolic numbers
        return ()
    shape = tuple(getattr(x, "shape", ()))
    return ops.shape(x) if None in shape else shape


def _together(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The shape to which two broadcast, None if they do not.

    A size unknown to a tracer is assumed to equal the corresponding one.
    """
    if len(first) < len(second):
        first = (1,) * (len(second) - len(first)) + first
    start = len(first) - len(second)
    result = list(first)
    for axis, size in enumerate(second, start):
        if size is first[axis] or (_is_known(size) and size == 1):
            continue
        if _is_known(first[axis]) and first[axis] == 1:
            result[axis] = size
        elif _is_known(size) and _is_known(first[axis]) and size != first[axis]:
            return None
    return tuple(result)


def _is_known(size: Any) -> bool:
    return isinstance(size, (int, np.integer))


def sizes(name: str, shape: Shape) -> tuple[Any, ...]:
    """`shape` as a tuple of sizes; unknown sizes are arrays, from `na.shape`.

    Raises:
        ArgumentError: it is not a sequence of integers.
        ShapeError: a size is negative.
        UnsupportedError: a size is None, as in ``x.shape`` of TensorFlow.
    """
    if isinstance(shape, (str, int)) or not hasattr(shape, "__iter__"):
        hint = f"; write ({shape},)" if isinstance(shape, int) else ""
        raise ArgumentError(
            f"random.{name}: shape: got {type(shape).__name__}, expected a tuple of sizes{hint}"
        )
    found = tuple(shape)
    if any(n is None for n in found):
        raise UnsupportedError(
            f"random.{name}: shape: got {found} in code that is traced without knowing its sizes, "
            "and so many numbers are drawn as these say; take them from na.shape(x), which has an "
            "array for each, where x.shape has None"
        )
    if any(_is_known(n) and n < 0 for n in found):
        raise ShapeError(f"random.{name}: shape: got {found}, expected sizes of 0 and above")
    return found


def parameter(x: float | Array, dtype: DTypeLike, key: Array) -> Array:
    """A parameter as an array of `dtype` on the device of `key`; numbers are rounded equally on every backend."""
    if is_number(x):
        return ops.full((), rounded(float(x), dtype), dtype=dtype, like=key)
    return ops.astype(x, dtype)


def is_number(x: Any) -> bool:
    """Whether `x` is a number, not an array."""
    return isinstance(x, (int, float, np.generic))


def check_number(name: str, argument: str, x: Any, low: float, high: float = math.inf) -> None:
    """Raise if a parameter is a number outside (low, high). Arrays are not checked."""
    if is_number(x) and not low < float(x) < high:
        span = f"above {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        raise ArgumentError(f"random.{name}: {argument}: got {x}, expected a number {span}")
