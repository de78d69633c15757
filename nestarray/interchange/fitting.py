"""Whether what a Container holds fits a framework's own tree, and the errors that say where not.

Leaves and places are brought together by their names, `"a/b"` paths or whatever the framework
joins them with. Nothing here writes: a function checks first, then changes its module.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nestarray.backends import backend_of_type
from nestarray.backends.transfer import move
from nestarray.container import Container
from nestarray.container.spec import Spec
from nestarray.errors import ShapeError, StructureError
from nestarray.errors.text import listed
from nestarray.errors.unknown_names import nearest_name


def check_names(
    function: str,
    target: str,
    names: Iterable[str],
    required: Collection[str],
    places: Collection[str],
    advice: str,
) -> None:
    """Raise unless every name has a place, and every place that is required a name.

    Args:
        function: who asks, for the message.
        target: what the Container should fit, for the message.
        names: of the leaves that there are.
        required: the places that must get a leaf.
        places: all places.
        advice: the message's last sentence, which says what to do.

    Raises:
        StructureError: with the names that are missing and those that have no place.
    """
    given = dict.fromkeys(names)
    missing = [name for name in required if name not in given]
    known = frozenset(places)
    unexpected = [name for name in given if name not in known]
    if not missing and not unexpected:
        return
    parts = []
    if missing:
        parts.append(f"no leaf for {listed(map(repr, missing))}")
    if unexpected:
        near = nearest_name(unexpected[0], places)
        hint = f" (the nearest is {near!r})" if near is not None else ""
        parts.append(f"no place for {listed(map(repr, unexpected))}{hint}")
    raise StructureError(
        f"{function}: the Container does not fit {target}: {'; '.join(parts)}. {advice}"
    )


def check_shapes(function: str, new: Mapping[str, Any], places: Mapping[str, Any]) -> None:
    """Raise unless each array of `new` has the shape of its place.

    Raises:
        ShapeError: with the first name, both shapes, and how many more there are.
    """
    wrong = [n for n, x in new.items() if _shape(x) != _shape(places[n])]
    if wrong:
        first = wrong[0]
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise ShapeError(
            f"{function}: {first!r} has the shape {_shape(new[first])}, expected "
            f"{_shape(places[first])}{more}. Nothing was written"
        )


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(getattr(x, "shape", ()))


def leaves_in_order_of(spec: Spec, c: Container, function: str, target: str) -> tuple[Any, ...]:
    """The leaves of `c`, one for each leaf of `spec`, brought together by their paths.

    Kinds of nodes and whether a key is 0 or "0" do not matter, and nodes without leaves neither:
    what has been through a flat dict fits too.

    Raises:
        StructureError: a path is in one of the two only.
    """
    if c.spec is spec:
        return c.leaves()
    ours, theirs = c.spec.path_names, spec.path_names
    if len(set(ours)) < len(ours) or len(set(theirs)) < len(theirs):
        # keys that contain slashes, or 0 beside "0": only the exact keys tell such paths apart
        ours, theirs = tuple(map(repr, c.spec.paths)), tuple(map(repr, spec.paths))
    advice = "Rename, exclude or set leaves so that the paths are those of `like`"
    check_names(function, target, ours, theirs, theirs, advice)
    leaves = dict(zip(ours, c.leaves(), strict=True))
    return tuple([leaves[name] for name in theirs])


def handed_over(
    leaves: Sequence[Any], backend: str, places: Sequence[Any] | None = None
) -> tuple[Any, ...]:
    """`leaves` with their arrays handed to `backend`; one array stays one array.

    Values that are no arrays stay as they are.

    Args:
        leaves: arrays of any backend, and other values.
        backend: the framework to hand them to.
        places: what stands now where each leaf goes: a leaf whose place is an array goes to the
            framework of that one instead.
    """
    moved: dict[tuple[int, str], Any] = {}
    result = []
    for leaf, place in zip(leaves, places or (None,) * len(leaves), strict=True):
        target = backend_of_type(type(place)) or backend
        if (id(leaf), target) not in moved:
            moved[id(leaf), target] = move(leaf, target)
        result.append(moved[id(leaf), target])
    return tuple(result)
