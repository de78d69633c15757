"""Repeated calls of an op on Containers, without the analysis of `nestarray.dispatch.containers`.

Finding the types and dtypes of leaves and the implementation takes longer than ten additions. A
Container stores the kinds of its leaves, and an op caches the function for one Container, two, or
one and a number. The next such call is one look-up and one ``map``. The dtypes of a ufunc's
arguments determine its results, so these results come with their kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from nestarray.container.container import Container, from_leaves
from nestarray.container.leaf_kinds import TREES, LeafKinds, leaf_kinds
from nestarray.typing import NUMBERS

#: Maps the leaves of each tree, and numbers, to the leaves of the result; None if not applicable.
LeavesFunction = Callable[..., Any]

#: A function of leaves, and the kinds of its results if they are known.
CachedCall = tuple[LeavesFunction, LeafKinds | None]


def kinds_of_results(
    function: Callable[..., Any], known: LeafKinds, result: Container
) -> LeafKinds | None:
    """The kinds of all results of `function` on such leaves, if the first result determines them."""
    is_exact = isinstance(function, np.ufunc) and function.signature is None
    return leaf_kinds(result) if is_exact and known.have_axes else None


def over_leaves(function: Callable[..., Any], types: tuple[type, ...]) -> LeavesFunction:
    """`function` of a leaf, of two leaves, or of a leaf and a number, mapped over all leaves."""
    if types[-1] not in TREES:
        return lambda leaves, number: map(function, leaves, repeat(number))
    if types[0] not in TREES:
        return lambda number, leaves: map(function, repeat(number), leaves)
    return partial(map, function)


def shortcut(
    types: tuple[type, ...],
    cached: dict[LeafKinds, CachedCall],
    general: Callable[..., Any],
    leafwise: Callable[..., Any],
) -> Callable[..., Any]:
    """The function for arguments of these types: the cached call, else `general`.

    Args:
        types: of the arguments.
        cached: the calls by the kinds of the leaves.
        general: takes any call.
        leafwise: takes calls that a cached grouped function declines.
    """
    are_trees = [t in TREES for t in types]
    if not any(are_trees) or not all(t in TREES or t in NUMBERS for t in types):
        return general

    def of_one(x: Any, /) -> Any:
        try:
            call, kinds = cached[x._note or leaf_kinds(x)]
            results = call(x._leaves)
            if results is not None:
                return from_leaves(x._spec, results, kinds)
        except Exception:  # nothing cached, or `general` raises the error that names the leaf
            return general(x)
        return leafwise(x)

    def of_two(x1: Any, x2: Any, /) -> Any:
        spec = x1._spec
        known = x1._note or leaf_kinds(x1)
        if spec is not x2._spec or known is not (x2._note or leaf_kinds(x2)):
            return general(x1, x2)
        try:
            call, kinds = cached[known]
            results = call(x1._leaves, x2._leaves)
            if results is not None:
                return from_leaves(spec, results, kinds)
        except Exception:
            return general(x1, x2)
        return leafwise(x1, x2)

    def number_second(x: Any, number: Any, /) -> Any:
        try:
            call, kinds = cached[x._note or leaf_kinds(x)]
            results = call(x._leaves, number)
            if results is not None:
                return from_leaves(x._spec, results, kinds)
        except Exception:
            return general(x, number)
        return leafwise(x, number)

    def number_first(number: Any, x: Any, /) -> Any:
        try:
            call, kinds = cached[x._note or leaf_kinds(x)]
            results = call(number, x._leaves)
            if results is not None:
                return from_leaves(x._spec, results, kinds)
        except Exception:
            return general(number, x)
        return leafwise(number, x)

    if len(types) == 1:
        return of_one
    return of_two if all(are_trees) else number_second if are_trees[0] else number_first
