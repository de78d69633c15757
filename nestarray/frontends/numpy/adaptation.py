"""NumPy's functions from functions of the JAX frontend with the same names and semantics.

`jax.numpy` follows NumPy but for dtypes, writes into arrays and the kinds of arguments. An adapted
function has NumPy's signature, takes numbers and nested lists, promotes arrays as NumPy does,
computes with numbers of 64 bits, and writes into ``out``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError, DtypeError, UnsupportedError
from nestarray.frontends.jax.promotion import enable_x64
from nestarray.frontends.numpy.arrays import (
    as_array,
    cast,
    first_array,
    is_number,
    moved,
    numpy_dtype,
    write,
)
from nestarray.frontends.numpy.checks import CHECKS
from nestarray.frontends.numpy.signatures import signature_of
from nestarray.typing import Array

Function = Callable[..., Any]

#: Arguments that say where results are stored in memory, or which class they have.
_MEMORY = frozenset(["order", "subok", "casting", "like", "out", "copy", "device"])

#: Functions of NumPy that take the axes 0 and −1 of an array without axes.
_OF_SCALARS = frozenset(
    ["argmax", "argmin", "argsort", "count_nonzero", "nanargmax", "nanargmin", "nanmax", "nanmean",
     "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "packbits", "ptp", "repeat", "squeeze",
     "unpackbits"]
)  # fmt: skip

#: Functions that return tuples of arrays in NumPy, and lists in JAX.
_IN_TUPLES = frozenset(
    ["atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "gradient", "meshgrid"]
)

#: Array arguments whose dtype takes no part in the promotion.
_KEPT = frozenset(
    ["aweights", "condition", "condlist", "fweights", "ind", "indices", "mask", "multi_index", "obj",
     "repeats", "sorter", "where"]
)  # fmt: skip


def adapted(
    name: str,
    function: Function,
    *,
    with_dtype: Any = None,
    is_inexact: bool = False,
    is_weak: bool = False,
    arrays: Collection[str] = (),
    kept: Collection[str] = (),
    result: Any = None,
) -> Function:
    """The function of NumPy named `name`, computed by one of the JAX frontend.

    Args:
        name: in NumPy's namespace, such as ``"linalg.det"``.
        function: takes the same arguments by the same names, or a part of them.
        with_dtype: takes part in the promotion.
        is_inexact: whether integers are computed as float64.
        is_weak: whether Python numbers promote as weak ones; most functions make them arrays.
        arrays: more array arguments than the annotated ones.
        kept: array arguments that keep their dtype.
        result: the dtype of the arrays of the result; ``"promoted"``: the promoted dtype of the
            arguments; ``"dtype"``: the argument `dtype`, to which NumPy casts the result.
    """
    upstream = _attribute(np, name)
    signature = signature_of(upstream)
    parameters = inspect.signature(function).parameters
    sequences = {
        p.name: _is_sequence(p) for p in parameters.values() if p.name in arrays or _is_array(p)
    }
    check = CHECKS.get(name)
    promoted = [n for n in sequences if n not in _KEPT and n not in kept]

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise ArgumentError(f"{name}: {error}; {name}{signature}") from None
        if check is not None:
            check(**{k: v for k, v in given.items() if not _is_missing(v)})
        like, out = first_array(given.values()), given.get("out")
        if isinstance(out, tuple):  # of a ufunc, such as matmul
            (out,) = out
        named = _passed(name, given, parameters, signature)
        named = {k: moved(v, like) for k, v in named.items()}
        for parameter, is_sequence in sequences.items():
            if parameter in named:
                named[parameter] = _as_arrays(named[parameter], like, is_sequence, is_weak)
        dtype = _result_type([named.get(n) for n in promoted], with_dtype, is_inexact)
        for parameter in promoted:
            if dtype is not None and parameter in named:
                named[parameter] = _in_dtype(named[parameter], dtype)
        if name in _OF_SCALARS and _is_scalar_axis(given, like):
            named["axis"] = None
        if "casting" in signature.parameters and given.get("dtype") is not None:
            _check_cast(name, dtype, given["dtype"], given.get("casting", "same_kind"))
        wanted = {"promoted": dtype, "dtype": named.get("dtype")}.get(result, result)
        if result == "dtype":
            named.pop("dtype", None)
        positional, keywords = _ordered(parameters, named)
        with enable_x64():
            found = function(*positional, **keywords)
        if name in _IN_TUPLES and isinstance(found, list):
            found = tuple(found)
        if wanted is not None:
            found = _in_dtype(found, wanted)
        return found if out is None else write(out, found)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__doc__ = function.__doc__
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _check_cast(name: str, source: Any, dtype: Any, casting: Any) -> None:
    if not np.can_cast(source, dtype, casting):
        raise DtypeError(f"{name}: dtype: got {dtype} for {source} and casting {casting!r}")


def _is_scalar_axis(given: Mapping[str, Any], like: Array | None) -> bool:
    """Whether a call takes the axis 0 or −1 of an array without axes."""
    first = next(iter(given.values()))
    return given.get("axis", -1) in (0, -1) and not na.shape(as_array(first, like))


def _attribute(owner: Any, name: str) -> Any:
    for part in name.split("."):
        owner = getattr(owner, part)
    return owner


def _is_array(parameter: inspect.Parameter) -> bool:
    text = str(parameter.annotation)
    return "Array" in text and "Callable" not in text


def _is_sequence(parameter: inspect.Parameter) -> bool:
    return "Sequence" in str(parameter.annotation) or parameter.kind is parameter.VAR_POSITIONAL


def _passed(
    name: str,
    given: Mapping[str, Any],
    parameters: Mapping[str, inspect.Parameter],
    signature: inspect.Signature,
) -> dict[str, Any]:
    """The arguments by the names of the function's parameters, which may differ in first ones."""
    own = [p.name for p in parameters.values() if p.kind is not p.KEYWORD_ONLY]
    upstream = [p.name for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    by_position = dict(zip(upstream, own, strict=False))
    found = {}
    for key, value in given.items():
        default = signature.parameters[key].default
        if (key in _MEMORY and key not in parameters) or key == "out":
            continue
        target = key if key in parameters else by_position.get(key)
        if value is default or _is_missing(value):
            continue
        if key == "order" and value in ("A", "K"):  # arrays here have no memory order
            value = "C"
        if target is None or (target in given and target != key):
            raise UnsupportedError(f"{name}: {key}: got {value!r}, which is not available here")
        found[target] = value
    return found


def _is_missing(value: Any) -> bool:
    """Whether `value` is NumPy's sign of an argument that was not passed."""
    return value is np._NoValue  # type: ignore[attr-defined]


def _as_arrays(value: Any, like: Array | None, is_sequence: bool, is_weak: bool) -> Any:
    if value is None or (is_number(value) and is_weak and like is not None):
        return value
    if is_sequence and isinstance(value, (list, tuple)):
        return [_as_arrays(x, like, False, is_weak) for x in value]
    return as_array(value, like)


def _result_type(arrays: Iterable[Any], with_dtype: Any, is_inexact: bool) -> Any:
    """NumPy's dtype for arrays and lists of arrays together; None without one."""
    kinds = [] if with_dtype is None else [np.dtype(with_dtype)]
    for value in arrays:
        if value is not None:
            several = value if isinstance(value, (list, tuple)) else [value]
            kinds += [x if is_number(x) else numpy_dtype(x) for x in several]
    if not kinds:
        return None
    if is_inexact:  # NumPy casts each array of integers
        kinds = [np.dtype(np.float64) if _is_exact(x) else x for x in kinds]
    return np.result_type(*kinds)


def _is_exact(kind: Any) -> bool:
    return np.result_type(kind).kind in "biu" and not is_number(kind)


def _in_dtype(found: Any, dtype: Any) -> Any:
    """The arrays among values in a dtype."""
    if isinstance(found, (list, tuple)):
        return type(found)([_in_dtype(x, dtype) for x in found])
    return cast(found, dtype) if hasattr(found, "dtype") else found


def _ordered(
    parameters: Mapping[str, inspect.Parameter], named: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Positional arguments, while they are given, and the others by name."""
    positional = []
    for p in parameters.values():
        if p.kind is p.VAR_POSITIONAL and p.name in named:
            positional += named.pop(p.name)
        elif p.kind is p.VAR_KEYWORD:
            named.update(named.pop(p.name, {}))
        elif p.kind is p.KEYWORD_ONLY or p.name not in named:
            break
        else:
            positional.append(named.pop(p.name))
    return positional, named
