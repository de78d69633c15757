"""Calls of an op on Containers like those that it has had before.

What `nestarray.dispatch.containers` finds out (the types and dtypes of leaves, the function that
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

from nestarray.container.container import Container, from_leaves
from nestarray.container.leaf_kinds import TREES, LeafKinds, leaf_kinds
from nestarray.typing import NUMBERS

#: Takes the leaves of each tree, and numbers; gives the leaves of the result, or None: not for these.
Serve = Callable[..., Any]

#: What served leaves, and what is known of the leaves that it gives.
Served = tuple[Serve, LeafKinds | None]


def look_ahead(
    function: Callable[..., Any], known: LeafKinds, result: Container
) -> LeafKinds | None:
    """What all results of `function` on such leaves are, if the first shows that."""
    is_exact = isinstance(function, np.ufunc) and function.signature is None
    return leaf_kinds(result) if is_exact and known.have_axes else None


def over_leaves(function: Callable[..., Any], types: tuple[type, ...]) -> Serve:
    """`function` of a leaf, of two, or of a leaf and a number, over all leaves."""
    if types[-1] not in TREES:
        return lambda leaves, number: map(function, leaves, repeat(number))
    if types[0] not in TREES:
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
    are_trees = [t in TREES for t in types]
    if not any(are_trees) or not all(t in TREES or t in NUMBERS for t in types):
        return general

    def of_one(x: Any, /) -> Any:
        try:
            serve, note = served[x._note or leaf_kinds(x)]
            results = serve(x._leaves)
            if results is not None:
                return from_leaves(x._spec, results, note)
        except Exception:  # none served these leaves yet, or the error is to name the leaf
            return general(x)
        return leafwise(x)

    def of_two(x1: Any, x2: Any, /) -> Any:
        spec = x1._spec
        known = x1._note or leaf_kinds(x1)
        if spec is not x2._spec or known is not (x2._note or leaf_kinds(x2)):
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
            serve, note = served[x._note or leaf_kinds(x)]
            results = serve(x._leaves, number)
            if results is not None:
                return from_leaves(x._spec, results, note)
        except Exception:
            return general(x, number)
        return leafwise(x, number)

    def number_first(number: Any, x: Any, /) -> Any:
        try:
            serve, note = served[x._note or leaf_kinds(x)]
            results = serve(number, x._leaves)
            if results is not None:
                return from_leaves(x._spec, results, note)
        except Exception:
            return general(number, x)
        return leafwise(number, x)

    if len(types) == 1:
        return of_one
    return of_two if all(are_trees) else number_second if are_trees[0] else number_first
