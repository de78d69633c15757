"""Calls of an op on Containers like those that it has had before.

What `nestarray.container.algebra` finds out (the types and dtypes of leaves, the function that
serves them) takes longer than adding ten arrays. A Container notes what its leaves are, and an
op keeps what served one Container, two, or one and a number, of leaves that are alike: the next
such call is one look-up and one ``map``. What a ufunc of NumPy makes of arrays with axes is
known from their dtype, so its results come with their note.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from nestarray.container.container import Container, ListContainer, TupleContainer, from_leaves
from nestarray.typing import NUMBERS

#: Takes the leaves of each tree, and numbers; gives the leaves of the result, or None: not for these.
Serve = Callable[..., Any]

_TREES = (Container, ListContainer, TupleContainer)

#: Types of arrays that keep their dtype, so that it need not be looked at again. Parameters of
#: torch do not: ``module.half()`` changes them in place.
LASTING: set[type] = {np.ndarray}


class LeafKinds:
    """What is known of the leaves of a Container: their types and, if that is `LASTING`, dtypes.

    Of leaves that are alike there is one object for each kind, by which calls are looked up.

    Attributes:
        kinds: the types.
        dtypes: the one dtype, a list of several, or None where that has to be looked at.
        are_alike: one type, and one dtype if that is known.
        have_axes: these are NumPy arrays, none of which is 0-d.
    """

    __slots__ = ("are_alike", "dtypes", "have_axes", "kinds")

    def __init__(
        self, kinds: set[type], dtypes: Any, *, are_alike: bool, have_axes: bool = False
    ) -> None:
        self.kinds, self.dtypes = kinds, dtypes
        self.are_alike, self.have_axes = are_alike, have_axes


#: What served leaves, and what is known of the leaves that it gives.
Served = tuple[Serve, LeafKinds | None]

_alike: dict[tuple[type, Any, bool], LeafKinds] = {}


def look_at(c: Container) -> LeafKinds:
    """What the leaves are; found out once."""
    known = c._note if c.__class__ in _TREES else None
    if known is None:
        known = _look_at(c._leaves)
        if c.__class__ in _TREES:
            object.__setattr__(c, "_note", known)
    return known


def _look_at(leaves: tuple[Any, ...]) -> LeafKinds:
    kinds = set(map(type, leaves))
    if len(kinds) != 1:
        return LeafKinds(kinds, None, are_alike=False)
    kind = leaves[0].__class__
    found, have_axes = None, False
    if kind in LASTING:
        found = dtypes_of(leaves)
        if found.__class__ is list:
            return LeafKinds(kinds, found, are_alike=False)
        have_axes = kind is np.ndarray and 0 not in [x.ndim for x in leaves]
    identity = kind, found, have_axes
    known = _alike.get(identity)
    if known is None:  # of two threads that look at once, both get the same
        known = LeafKinds(kinds, found, are_alike=True, have_axes=have_axes)
        known = _alike.setdefault(identity, known)
    return known


def look_ahead(
    function: Callable[..., Any], known: LeafKinds, result: Container
) -> LeafKinds | None:
    """What all results of `function` on such leaves are, if the first shows that."""
    is_exact = isinstance(function, np.ufunc) and function.signature is None
    return look_at(result) if is_exact and known.have_axes else None


def dtypes_of(leaves: tuple[Any, ...]) -> Any:
    """The dtype of all arrays in a column; a list of theirs, if they differ."""
    dtypes = [x.dtype for x in leaves]
    return dtypes[0] if dtypes.count(dtypes[0]) == len(dtypes) else dtypes


def over_leaves(function: Callable[..., Any], types: tuple[type, ...]) -> Serve:
    """`function` of a leaf, of two, or of a leaf and a number, over all leaves."""
    if types[-1] not in _TREES:
        return lambda leaves, number: map(function, leaves, repeat(number))
    if types[0] not in _TREES:
        return lambda number, leaves: map(function, repeat(number), leaves)
    return partial(map, function)


def shortcut(
    types: tuple[type, ...],
    served: dict[LeafKinds, Served],
    general: Callable[..., Any],
    leafwise: Callable[..., Any],
) -> Callable[..., Any]:
    """What serves arguments of these types: what is `served`, else `general`.

    Args:
        types: of the arguments.
        served: what served calls before.
        general: serves any call.
        leafwise: does so where what was `served` declines.
    """
    are_trees = [t in _TREES for t in types]
    if not any(are_trees) or not all(t in _TREES or t in NUMBERS for t in types):
        return general

    def of_one(x: Any, /) -> Any:
        try:
            serve, note = served[x._note or look_at(x)]
            results = serve(x._leaves)
            if results is not None:
                return from_leaves(x._spec, results, note)
        except Exception:  # none served these leaves yet, or the error is to name the leaf
            return general(x)
        return leafwise(x)

    def of_two(x1: Any, x2: Any, /) -> Any:
        spec = x1._spec
        known = x1._note or look_at(x1)
        if spec is not x2._spec or known is not (x2._note or look_at(x2)):
            return general(x1, x2)
        try:
            serve, note = served[known]
            results = serve(x1._leaves, x2._leaves)
            if results is not None:
                return from_leaves(spec, results, note)
        except Exception:
            return general(x1, x2)
        return leafwise(x1, x2)

    def number_second(x: Any, number: Any, /) -> Any:
        try:
            serve, note = served[x._note or look_at(x)]
            results = serve(x._leaves, number)
            if results is not None:
                return from_leaves(x._spec, results, note)
        except Exception:
            return general(x, number)
        return leafwise(x, number)

    def number_first(number: Any, x: Any, /) -> Any:
        try:
            serve, note = served[x._note or look_at(x)]
            results = serve(number, x._leaves)
            if results is not None:
                return from_leaves(x._spec, results, note)
        except Exception:
            return general(number, x)
        return leafwise(number, x)

    if len(types) == 1:
        return of_one
    return of_two if all(are_trees) else number_second if are_trees[0] else number_first
