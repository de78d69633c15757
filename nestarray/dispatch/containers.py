"""Ops on Containers: line the leaves up, call the op on each, rebuild.

The rules, in the order in which they are tried, for the array arguments of one call:

1. Containers of one structure are combined leaf by leaf; keys may stand in any order,
   the first Container's order is kept.
2. A prefix Container gives its leaf to the whole subtree that stands there.
3. An array or a number goes to every leaf.
4. Anything else raises `StructureError`, which names the first path that differs.

A leaf of the first Container that is None, a string or bytes is left alone. An op that
returns several arrays returns as many Containers. An error in an op carries the path.

Speed is one ``map`` over the leaves. Where all leaves of an argument are of one type
the function that serves that type is called itself, past the public function; where
the dtypes settle it too, the framework's own function; and where the backend has a
function for many arrays at once (its ``foreach`` file), there is one call for the tree.
Calls like those before go past all of this (`nestarray.dispatch.shortcuts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import repeat
from typing import Any

from nestarray.container.access import align_leaves, bare, map_leaves
from nestarray.container.container import Container, from_leaves
from nestarray.container.leaf_kinds import LeafKinds, dtypes_of, leaf_kinds
from nestarray.container.spec import Spec
from nestarray.dispatch.operation import INTERPRETERS, Op
from nestarray.dispatch.shortcuts import look_ahead, over_leaves, shortcut
from nestarray.dynamo import identity, is_compiling
from nestarray.errors import StructureError

_LEFT_ALONE = frozenset((type(None), str, bytes))
_SETTINGS = frozenset((type(None), str, int, bool, float))  # which hold no array


def apply(
    op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_leafwise: bool = False
) -> Any:
    """Call `op` leaf by leaf; the handler of Containers in `nestarray.dispatch`.

    Args:
        op, args, kwargs: the call.
        is_leafwise: the backend's function for many arrays has been asked, and has declined.
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
                if not known.kinds.isdisjoint(_LEFT_ALONE):
                    return _apply_bound(op, args, kwargs)
            key.append(next(iter(known.kinds)) if len(known.kinds) == 1 else None)
        else:
            column = align_leaves(first._spec, arg, op.name)
            kinds = set(map(type, column))
            key.append(kinds.pop() if len(kinds) == 1 else None)
        columns.append(column)
        known_leaves.append(known)
    assert first is not None
    if len(key) < len(names):  # optional array arguments take part in the look-up too
        key += [type(p.default) for p in op.parameters[len(args) :] if p.name in names]
    function, together = op.resolved.get(tuple(key), (op.function, None))
    if function is not op.function and not kwargs and len(columns) == len(names):
        if together is not None and not is_leafwise:
            results = together(*(c if c.__class__ is tuple else a for c, a in zip(columns, args)))
            if results is not None:
                result = from_leaves(first._spec, results)
                _remember(op, args, known_leaves, together, result, is_of_trees=True)
                return result
        if len(columns) < 3:
            function = _without_promotion(function, args, columns, known_leaves)
    try:
        call = partial(function, **kwargs) if kwargs else function
        results = map_leaves(first._spec, _once_for_ties(op, call, columns), columns)
    except Exception:
        if function is op.function:
            raise
        # The public function, which was passed by, serves more dtypes, or raises the error that
        # says what is wrong with the leaf; the framework's stays behind it.
        function = op.function
        call = partial(function, **kwargs) if kwargs else function
        results = map_leaves(first._spec, _once_for_ties(op, call, columns), columns)
    result = _rebuild(op.name, first._spec, results)
    if function is not op.function and isinstance(result, Container):
        _remember(op, args, known_leaves, function, result)
    return result


def _remember(
    op: Op,
    args: tuple[Any, ...],
    known_leaves: list[LeafKinds | None],
    function: Callable[..., Any],
    result: Container,
    *,
    is_of_trees: bool = False,
) -> None:
    """Let `function` have further calls with leaves like these, if nothing else decides on it."""
    types = tuple(map(type, args))
    served = op.served.get(types)
    if served is None:
        return
    of_trees = {known for known, arg in zip(known_leaves, args) if isinstance(arg, Container)}
    known = of_trees.pop()
    if of_trees or known is None or not known.are_alike:
        return
    if is_of_trees:
        served[known] = function, None
        of_dtype = getattr(function, "of_dtype", None)
        if of_dtype is not None and known.dtypes is not None:
            numbers = [arg for arg in args if not isinstance(arg, Container)]
            narrower = of_dtype(known.dtypes, *numbers)
            if narrower is not None:
                # torch's default dtype, which is a setting, decides what else quotients are of
                served[known] = narrower, known if leaf_kinds(result) is known else None
    elif known.dtypes is not None:  # which chose the function
        served[known] = over_leaves(function, types), look_ahead(function, known, result)


def _without_promotion(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    columns: list[Any],
    known_leaves: list[LeafKinds | None],
) -> Callable[..., Any]:
    """The framework's own function, if `function` only promotes and the dtypes settle that."""
    trees = [i for i, column in enumerate(columns) if column.__class__ is tuple]
    name = "of_dtype" if len(columns) == 1 else "same_dtype" if len(trees) == 2 else "with_number"
    narrower = getattr(function, name, None)
    if narrower is None:
        return function
    found = [getattr(known_leaves[i], "dtypes", None) or dtypes_of(columns[i]) for i in trees]
    if len(trees) == 2:
        ours, theirs = found
        if ours is not theirs and (ours.__class__ is not list or ours != theirs):
            return function
        declined = getattr(function, "declined", None)
        if declined is not None and declined in (ours if ours.__class__ is list else (ours,)):
            return function
        function = narrower
        narrower = getattr(function, "of_dtype", None)
    if narrower is None or found[0].__class__ is list:
        return function
    return narrower(found[0], *(args[1 - i] for i in trees if name == "with_number")) or function


def _apply_bound(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Any call: arrays in sequences and in keywords, leaves that are left alone."""
    bound = op.signature.bind(*args, **kwargs)
    arrays = {n: bound.arguments[n] for n in op.array_parameters if n in bound.arguments}
    first = next(c for value in arrays.values() for c in _containers(value))
    columns = [_column(first._spec, value, op.name) for value in arrays.values()]

    def call(leaf: Any, *row: Any) -> Any:
        if leaf.__class__ in _LEFT_ALONE:
            return leaf
        bound.arguments.update(zip(arrays, row))
        return op.function(*bound.args, **bound.kwargs)

    columns = [first._leaves, *columns]
    results = map_leaves(first._spec, _once_for_ties(op, call, columns), columns)
    return _rebuild(op.name, first._spec, results)


def _once_for_ties(
    op: Op, call: Callable[..., Any], columns: list[Iterable[Any]]
) -> Callable[..., Any]:
    """`call`, or one that gives an array under two paths, as tied weights are, one result.

    Of ops that keep what an array is and change where or as what it is held.
    """
    if op.chapter != "data_type":
        return call
    leaves = columns[0]
    if not isinstance(leaves, tuple) or len(set(map(identity, leaves))) == len(leaves):
        return call
    results: dict[tuple[Any, ...], Any] = {}

    def once(*row: Any) -> Any:
        key = tuple(map(identity, row))  # the columns hold what they are the identities of
        if key not in results:
            results[key] = call(*row)
        return results[key]

    return once


def _apply_traceable(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Any call as torch.compile reads it: nothing is noted, and nothing depends on notes."""
    names = [p.name for p in op.parameters]
    given = dict(zip(names, args)) | kwargs
    arrays = {name: given[name] for name in op.array_parameters if name in given}
    first = next(c for value in arrays.values() for c in _containers(value))
    columns: list[Any] = [tuple(_column(first._spec, value, op.name)) for value in arrays.values()]

    def call(*row: Any) -> Any:
        given.update(zip(arrays, row))
        return op.function(*[given[n] for n in names[: len(args)]], **{n: given[n] for n in kwargs})

    call = _once_for_ties(op, call, columns)
    results = [
        leaf if type(leaf) in _LEFT_ALONE else call(*row)  # `leaf.__class__` is not found there
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
    if type(first) in _LEFT_ALONE:
        first = next((r for r in results if type(r) not in _LEFT_ALONE), None)
    if not isinstance(first, (tuple, list)):
        return from_leaves(spec, results)
    count = len(first)  # a leaf that was left alone is in each of the results
    results = tuple([(r,) * count if type(r) in _LEFT_ALONE else r for r in results])
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
    served = op.served.setdefault(types, {})
    return shortcut(types, served, general, partial(_leafwise, op))


def _leafwise(op: Op, /, *args: Any) -> Any:
    return apply(op, args, {}, is_leafwise=True)


apply.shortcut = _shortcut  # type: ignore[attr-defined]
INTERPRETERS.append((Container, apply))
