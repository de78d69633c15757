"""Ops on Containers: align the leaves, call the op on each, rebuild.

The rules for the array arguments of one call, in this order:

1. Containers of one structure are combined leaf by leaf. Keys may be in any order; the result
   has the order of the first Container.
2. The leaf of a prefix Container is combined with all leaves of the subtree at its path.
3. An array or a number is combined with every leaf.
4. Anything else raises `StructureError`, which names the first path that differs.

Leaves of the first Container that are None, strings, bytes or ``optax.MaskedNode`` do not change, nor do JAX's typed
random keys in ops that compute with numbers. An op that returns several arrays returns as many Containers. An error in an op names the path.

The call is one ``map`` over the leaves: of the implementation for their type, of the native
function if their dtypes are equal, or one call of the backend's grouped function (`foreach`).
`nestarray.dispatch.shortcuts` repeats earlier calls without this analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import Any

from nestarray.container.access import align_leaves, bare, map_leaves
from nestarray.container.container import Container, from_leaves
from nestarray.container.leaf import NOT_ARRAYS
from nestarray.container.leaf_kinds import LeafKinds, dtypes_of, leaf_kinds
from nestarray.container.spec import Spec
from nestarray.dispatch.operation import Op, register_interpreter
from nestarray.dispatch.shortcuts import kinds_of_results, over_leaves, shortcut
from nestarray.dtypes import is_key
from nestarray.dynamo import identity, is_compiling
from nestarray.errors import StructureError
from nestarray.typing import NUMBERS

#: Chapters with ops that also apply to typed keys of JAX; other ops compute with numbers.
_OF_KEYS = frozenset((
    "arrangement", "conversion", "creation", "data_type", "indexing", "logic", "manipulation",
    "random", "searching",
))  # fmt: skip
_SETTINGS = frozenset((type(None), str, int, bool, float))  # which hold no array


def apply(
    op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], *, skip_grouped: bool = False
) -> Any:
    """Call `op` leaf by leaf; the handler of Containers in `nestarray.dispatch`.

    Args:
        op, args, kwargs: the call.
        skip_grouped: do not try the backend's function for many arrays, which has declined.
    """
    if is_compiling():
        return _apply_traceable(op, args, kwargs)
    names = op.array_parameters
    if op.sequence_parameters or (kwargs and any(name in names for name in kwargs)):
        return _apply_bound(op, args, kwargs)
    first: Container | None = None
    columns: list[Any] = []
    known_leaves: list[LeafKinds | None] = []
    key: list[type | None] = []
    for parameter, arg in zip(op.parameters, args):
        if parameter.name not in names:
            columns.append(repeat(arg if arg.__class__ in _SETTINGS else bare(arg)))
            continue
        known: LeafKinds | None = None
        if not isinstance(arg, Container):
            column = repeat(arg)
            key.append(type(arg))
        elif first is None or arg._spec is first._spec:
            column = arg._leaves
            known = leaf_kinds(arg)
            if first is None:
                first = arg
                if not known.kinds.isdisjoint(NOT_ARRAYS) or _are_keys(known.kinds):
                    return _apply_bound(op, args, kwargs)
            key.append(next(iter(known.kinds)) if len(known.kinds) == 1 else None)
        else:
            column = align_leaves(first._spec, arg, op.name)
            kinds = set(map(type, column))
            key.append(kinds.pop() if len(kinds) == 1 else None)
        columns.append(column)
        known_leaves.append(known)
    assert first is not None
    if len(key) < len(names):  # optional array arguments are part of the key
        key += [type(p.default) for p in op.parameters[len(args) :] if p.name in names]
    function, grouped = op.resolved.get(tuple(key), (op.function, None))
    if function is not op.function and not kwargs and len(columns) == len(names):
        if grouped is not None and not skip_grouped:
            results = grouped(*(c if c.__class__ is tuple else a for c, a in zip(columns, args)))
            if results is not None:
                result = from_leaves(first._spec, results)
                _cache_call(op, args, known_leaves, grouped, result, is_grouped=True)
                return result
        if len(columns) < 3:
            function = _without_promotion(function, args, columns, known_leaves)
    try:
        call = partial(function, **kwargs) if kwargs else function
        results = map_leaves(first._spec, _sharing_results(op, call, columns), columns)
    except Exception:
        if any(is_key(leaf) for column in columns if type(column) is tuple for leaf in column):
            return _apply_bound(op, args, kwargs)
        if function is op.function:
            raise
        # The public function accepts more dtypes, or raises the error that names the argument;
        # the framework's error is its context.
        function = op.function
        call = partial(function, **kwargs) if kwargs else function
        results = map_leaves(first._spec, _sharing_results(op, call, columns), columns)
    result = _rebuild(op.name, first._spec, results)
    if function is not op.function and isinstance(result, Container):
        _cache_call(op, args, known_leaves, function, result)
    return result


def _cache_call(
    op: Op,
    args: tuple[Any, ...],
    known_leaves: list[LeafKinds | None],
    function: Callable[..., Any],
    result: Container,
    *,
    is_grouped: bool = False,
) -> None:
    """Cache `function` for calls with leaves of these types and dtypes, if they determine it."""
    types = tuple(map(type, args))
    cached = op.cached_calls.get(types)
    if cached is None:
        return
    of_trees = {known for known, arg in zip(known_leaves, args) if isinstance(arg, Container)}
    known = of_trees.pop()
    if of_trees or known is None or not known.are_alike:
        return
    if is_grouped:
        cached[known] = function, None
        for_dtype = getattr(function, "for_dtype", None)
        if for_dtype is not None and known.dtypes is not None:
            numbers = [arg for arg in args if not isinstance(arg, Container)]
            unchecked = for_dtype(known.dtypes, *numbers)
            if unchecked is not None:
                # the dtype of quotients of integers depends on torch's default dtype
                cached[known] = unchecked, known if leaf_kinds(result) is known else None
    elif known.dtypes is not None:  # which chose the function
        cached[known] = over_leaves(function, types), kinds_of_results(function, known, result)


def _without_promotion(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    columns: list[Any],
    known_leaves: list[LeafKinds | None],
) -> Callable[..., Any]:
    """The native function, if `function` only promotes and the dtypes are known to be equal."""
    for_dtype = getattr(function, "for_dtype", None)
    if for_dtype is None:
        return function
    trees = [i for i, column in enumerate(columns) if column.__class__ is tuple]
    if any(isinstance(columns[i][0], NUMBERS) for i in trees):  # NumPy's float64 scalars are floats
        return function
    found = [getattr(known_leaves[i], "dtypes", None) or dtypes_of(columns[i]) for i in trees]
    if any(dtypes.__class__ is list or dtypes is not found[0] for dtypes in found):
        return function
    others = [arg for i, arg in enumerate(args) if i not in trees]
    return for_dtype(found[0], *others) or function


def _apply_bound(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Any call: arrays in sequences and in keywords, other leaves."""
    bound = op.signature.bind(*args, **kwargs)
    arrays = {n: bound.arguments[n] for n in op.array_parameters if n in bound.arguments}
    first = next(c for value in arrays.values() for c in _containers(value))
    columns = [_column(first._spec, value, op.name) for value in arrays.values()]

    def call(leaf: Any, *row: Any) -> Any:
        if leaf.__class__ in NOT_ARRAYS:
            return leaf
        key = next(filter(is_key, row), None)
        if key is not None and op.chapter not in _OF_KEYS:
            return key
        bound.arguments.update(zip(arrays, row))
        try:
            return op.function(*bound.args, **bound.kwargs)
        except Exception:
            if key is not None:
                return key
            raise

    columns = [first._leaves, *columns]
    results = map_leaves(first._spec, _sharing_results(op, call, columns), columns)
    return _rebuild(op.name, first._spec, results)


def _are_keys(kinds: set[type]) -> bool:
    """Whether one of the types is JAX's private class of typed keys; tracers have another."""
    return "PRNGKeyArray" in [kind.__name__ for kind in kinds]


def _sharing_results(
    op: Op, call: Callable[..., Any], columns: list[Iterable[Any]]
) -> Callable[..., Any]:
    """`call`, or for casts and transfers a function that maps tied leaves to one result."""
    if op.chapter != "data_type":
        return call
    leaves = columns[0]
    if not isinstance(leaves, tuple) or len(set(map(identity, leaves))) == len(leaves):
        return call
    results: dict[tuple[Any, ...], Any] = {}

    def once(*row: Any) -> Any:
        key = tuple(map(identity, row))  # the columns keep these objects alive
        if key not in results:
            results[key] = call(*row)
        return results[key]

    return once


def _apply_traceable(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Any call, as torch.compile traces it: it neither reads nor fills a cache."""
    names = [p.name for p in op.parameters]
    given = dict(zip(names, args)) | kwargs
    arrays = {name: given[name] for name in op.array_parameters if name in given}
    first = next(c for value in arrays.values() for c in _containers(value))
    columns: list[Any] = [tuple(_column(first._spec, value, op.name)) for value in arrays.values()]

    def call(*row: Any) -> Any:
        given.update(zip(arrays, row))
        return op.function(*[given[n] for n in names[: len(args)]], **{n: given[n] for n in kwargs})

    call = _sharing_results(op, call, columns)
    results = [
        leaf
        if type(leaf) in NOT_ARRAYS
        else call(*row)  # torch.compile does not find `leaf.__class__`
        for leaf, *row in zip(first._leaves, *columns)
    ]
    return _rebuild(op.name, first._spec, tuple(results))


def _containers(value: Any) -> list[Container]:
    if isinstance(value, Container):
        return [value]
    if isinstance(value, (list, tuple)):
        return [v for v in value if isinstance(v, Container)]
    return []


def _column(spec: Spec, value: Any, name: str) -> Iterable[Any]:
    if not isinstance(value, (list, tuple)):
        return align_leaves(spec, value, name)
    if not value:
        return repeat(value)
    return map(type(value), zip(*[align_leaves(spec, v, name) for v in value]))


def _rebuild(name: str, spec: Spec, results: tuple[Any, ...]) -> Any:
    """A Container of the results; of tuples of one length, a tuple of Containers."""
    first = results[0] if results else None
    if type(first) in NOT_ARRAYS or is_key(first):
        first = next((r for r in results if type(r) not in NOT_ARRAYS and not is_key(r)), None)
    if not isinstance(first, (tuple, list)):
        return from_leaves(spec, results)
    count = len(first)  # a leaf that is not an array is in each of the results
    results = tuple([(r,) * count if type(r) in NOT_ARRAYS or is_key(r) else r for r in results])
    counts = [len(r) if isinstance(r, (tuple, list)) else 1 for r in results]
    if counts.count(counts[0]) != len(counts):
        other = next(i for i, count in enumerate(counts) if count != counts[0])
        raise StructureError(
            f"{name}: the leaves give different numbers of results: {counts[0]} at "
            f"{spec.path_names[0]!r}, {counts[other]} at {spec.path_names[other]!r}"
        )
    columns = [from_leaves(spec, column) for column in zip(*results)]
    return type(first)(*columns) if hasattr(first, "_fields") else type(first)(columns)


def _shortcut(op: Op, types: tuple[type, ...], general: Callable[..., Any]) -> Callable[..., Any]:
    cached = op.cached_calls.setdefault(types, {})
    return shortcut(types, cached, general, partial(_call_leafwise, op))


def _call_leafwise(op: Op, /, *args: Any) -> Any:
    return apply(op, args, {}, skip_grouped=True)


apply.shortcut = _shortcut  # type: ignore[attr-defined]
register_interpreter(Container, apply, priority=80)
