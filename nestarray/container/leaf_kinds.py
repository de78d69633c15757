"""The types and dtypes of a Container's leaves, determined once and kept in the Container.

`LeafKinds` objects are interned: calls on Containers with equal leaf types and dtypes find the
same object, so dispatch uses it as a key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.container.container import Container, ListContainer, TupleContainer

#: The classes that store their leaves in a tuple.
TREES = (Container, ListContainer, TupleContainer)

#: Array types whose dtype cannot change. ``torch.nn.Parameter`` is not among them:
#: ``module.half()`` changes parameters in place.
FIXED_DTYPE: set[type] = {np.ndarray}


class LeafKinds:
    """The types of the leaves of a Container and, for types in `FIXED_DTYPE`, their dtypes.

    Leaves of one type and dtype share one object, which is the key for cached calls.

    Attributes:
        kinds: the types.
        dtypes: the common dtype, a list of dtypes, or None if they can change.
        are_alike: all leaves have one type, and one dtype if dtypes are known.
        have_axes: all leaves are NumPy arrays of at least one dimension.
    """

    __slots__ = ("are_alike", "dtypes", "have_axes", "kinds")

    def __init__(
        self, kinds: set[type], dtypes: Any, *, are_alike: bool, have_axes: bool = False
    ) -> None:
        self.kinds, self.dtypes = kinds, dtypes
        self.are_alike, self.have_axes = are_alike, have_axes


_alike: dict[tuple[type, Any, bool], LeafKinds] = {}


def leaf_kinds(c: Container) -> LeafKinds:
    """The types and dtypes of the leaves; computed once."""
    known = c._note if c.__class__ in TREES else None
    if known is None:
        known = _find_kinds(c._leaves)
        if c.__class__ in TREES:
            object.__setattr__(c, "_note", known)
    return known


def _find_kinds(leaves: tuple[Any, ...]) -> LeafKinds:
    kinds = set(map(type, leaves))
    if len(kinds) != 1:
        return LeafKinds(kinds, None, are_alike=False)
    kind = leaves[0].__class__
    found, have_axes = None, False
    if kind in FIXED_DTYPE:
        found = dtypes_of(leaves)
        if found.__class__ is list:
            return LeafKinds(kinds, found, are_alike=False)
        have_axes = kind is np.ndarray and 0 not in [x.ndim for x in leaves]
    identity = kind, found, have_axes
    known = _alike.get(identity)
    if known is None:  # concurrent threads get the same object
        known = LeafKinds(kinds, found, are_alike=True, have_axes=have_axes)
        known = _alike.setdefault(identity, known)
    return known


def dtypes_of(leaves: tuple[Any, ...]) -> Any:
    """The common dtype of the arrays; a list of their dtypes if they differ."""
    dtypes = [x.dtype for x in leaves]
    return dtypes[0] if dtypes.count(dtypes[0]) == len(dtypes) else dtypes
