"""Checks that a Container fits a framework's own tree, with error messages.

Leaves and targets are matched by name: ``"a/b"`` paths, or the framework's separator. Functions here
do not modify anything; callers check first and then update their module.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nestarray.backends import backend_of_type, chapter, core
from nestarray.backends.transfer import move
from nestarray.container import Container
from nestarray.container.spec import Spec
from nestarray.dtypes import is_key
from nestarray.errors import ShapeError, StructureError
from nestarray.errors.text import listed
from nestarray.errors.unknown_names import nearest_name

#: Names of running statistics.
_STATISTICS = {
    *("running_mean", "running_var", "num_batches_tracked", "moving_mean", "moving_variance"),
    *("mean", "var"),
}


def check_names(
    function: str,
    target: str,
    names: Iterable[str],
    required: Collection[str],
    places: Collection[str],
    advice: str,
) -> None:
    """Raise an error unless every name has a target, and every required target a name.

    Args:
        function: the caller's name, for the message.
        target: a description of the target tree, for the message.
        names: the names of the leaves.
        required: the targets that need a leaf.
        places: all targets.
        advice: the last sentence of the message, with the remedy.

    Raises:
        StructureError: names the missing and the unknown leaves.
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
    if any(re.split(r"[/.]", name)[-1] in _STATISTICS for name in missing):
        advice += (
            ". Running statistics are buffers in PyTorch: "
            "na.Container.from_torch_module(net, buffers=True)"
        )
    raise StructureError(
        f"{function}: the Container does not fit {target}: {'; '.join(parts)}. {advice}"
    )


def check_shapes(function: str, new: Mapping[str, Any], places: Mapping[str, Any]) -> None:
    """Raise an error unless each array of `new` has the shape of its target.

    Raises:
        ShapeError: gives the first name, both shapes, and the number of further errors.
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


def align_by_path(spec: Spec, c: Container, function: str, target: str) -> tuple[Any, ...]:
    """The leaves of `c` in the order of `spec`, matched by path.

    Kinds of nodes, integer or string keys for numbers, and nodes without leaves may differ, as
    after a conversion through a flat dict.

    Raises:
        StructureError: a path is missing in one of the two.
    """
    if c.spec is spec:
        return c.leaves()
    ours, theirs = c.spec.path_names, spec.path_names
    advice = "Rename, exclude or set leaves so that the paths are those of `like`"
    check_names(function, target, ours, theirs, theirs, advice)
    leaves = dict(zip(ours, c.leaves(), strict=True))
    return tuple([leaves[name] for name in theirs])


def convert_arrays(
    leaves: Sequence[Any], backend: str, places: Sequence[Any] | None = None
) -> tuple[Any, ...]:
    """`leaves` with their arrays converted to `backend`; a repeated array is converted once.

    Values that are not arrays are kept.

    Args:
        leaves: arrays of any backend, and other values.
        backend: the framework to convert to.
        places: the present values of the targets: where one is an array, its framework is used
            instead of `backend`, but for leaves that are being traced.
    """
    moved: dict[tuple[int, str], Any] = {}
    result = []
    for leaf, place in zip(leaves, places or (None,) * len(leaves), strict=True):
        source = backend_of_type(type(leaf))
        is_traced = source is not None and core(source).is_traced(leaf)
        target = backend if is_traced else backend_of_type(type(place)) or backend
        if (id(leaf), target) not in moved:
            moved[id(leaf), target] = move(leaf, target)
        value = moved[id(leaf), target]
        if is_key(place) and not is_key(value):  # a typed key that was converted to its words
            value = chapter("jax", "keys").typed_like(place, value)
        result.append(value)
    return tuple(result)
