"""Pairs of leaves of two trees, and the steps that convert the layout of one into the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nestarray import ops
from nestarray.container.spec import Path, Spec, join_path


@dataclass(frozen=True)
class Transpose:
    """Permute axes: axis `axes[i]` of the array becomes axis i."""

    axes: tuple[int, ...]

    def shape(self, old: tuple[int, ...]) -> tuple[int, ...] | None:
        """The new shape for an array of the shape `old`; None if it does not fit."""
        if len(old) != len(self.axes):
            return None
        return tuple(old[axis] for axis in self.axes)

    def apply(self, x: Any) -> Any:
        """The array with its axes in the new order."""
        return ops.permute_dims(x, axes=self.axes)

    def inverse(self) -> Transpose:
        """The inverse step."""
        return Transpose(tuple(self.axes.index(i) for i in range(len(self.axes))))

    def to_plain(self) -> dict[str, Any]:
        """The step in the format of the file."""
        return {"transpose": list(self.axes)}

    def __str__(self) -> str:
        return f"transpose {list(self.axes)}"


@dataclass(frozen=True)
class Reshape:
    """Reshape an array of the shape `old` to the shape `new`."""

    old: tuple[int, ...]
    new: tuple[int, ...]

    def shape(self, old: tuple[int, ...]) -> tuple[int, ...] | None:
        """The new shape for an array of the shape `old`; None if it does not fit."""
        return self.new if tuple(old) == self.old and _same_size(self.old, self.new) else None

    def apply(self, x: Any) -> Any:
        """The array in the new shape."""
        return ops.reshape(x, self.new)

    def inverse(self) -> Reshape:
        """The inverse step."""
        return Reshape(self.new, self.old)

    def to_plain(self) -> dict[str, Any]:
        """The step in the format of the file."""
        return {"reshape": list(self.new), "from": list(self.old)}

    def __str__(self) -> str:
        return f"reshape {list(self.old)} → {list(self.new)}"


def _same_size(old: tuple[int, ...], new: tuple[int, ...]) -> bool:
    return math.prod(old) == math.prod(new)


@dataclass(frozen=True)
class Split:
    """Take the elements `start` to `stop` of an axis with `size` elements."""

    axis: int
    start: int
    stop: int
    size: int

    def shape(self, old: tuple[int, ...]) -> tuple[int, ...] | None:
        """The new shape for an array of the shape `old`; None if it does not fit."""
        return _resized(old, self.axis, self.size, self.stop - self.start)

    def apply(self, x: Any) -> Any:
        """The section of the array."""
        return x[(slice(None),) * self.axis + (slice(self.start, self.stop),)]

    def inverse(self) -> Concat:
        """The inverse step."""
        return Concat(self.axis, self.start, self.stop, self.size)

    def to_plain(self) -> dict[str, Any]:
        """The step in the format of the file."""
        return {"split": [self.start, self.stop], "of": self.size, "axis": self.axis}

    def __str__(self) -> str:
        return f"[{':, ' * self.axis}{self.start}:{self.stop}]"


@dataclass(frozen=True)
class Concat:
    """Become the elements `start` to `stop` of an axis with `size` elements.

    The last step of each pair of a target that several leaves share; `KeyMap.apply` joins them.
    """

    axis: int
    start: int
    stop: int
    size: int

    def shape(self, old: tuple[int, ...]) -> tuple[int, ...] | None:
        """The shape of the section for an array of the shape `old`; None if it does not fit."""
        length = self.stop - self.start
        return _resized(old, self.axis, length, length)

    def apply(self, x: Any) -> Any:
        """The array, which is the section."""
        return x

    def inverse(self) -> Split:
        """The inverse step."""
        return Split(self.axis, self.start, self.stop, self.size)

    def to_plain(self) -> dict[str, Any]:
        """The step in the format of the file."""
        return {"concat": [self.start, self.stop], "of": self.size, "axis": self.axis}

    def __str__(self) -> str:
        return f"into [{':, ' * self.axis}{self.start}:{self.stop}]"


def _resized(shape: tuple[int, ...], axis: int, old: int, new: int) -> tuple[int, ...] | None:
    if axis >= len(shape) or shape[axis] != old:
        return None
    return (*shape[:axis], new, *shape[axis + 1 :])


Step = Transpose | Reshape | Split | Concat


@dataclass(frozen=True)
class Pair:
    """A leaf of the source and the matching leaf of the target.

    Attributes:
        source: the path in the source.
        target: the path in the target.
        steps: the conversions of the array, in order.
        confidence: from 0 to 1.
    """

    source: Path
    target: Path
    steps: tuple[Step, ...] = ()
    confidence: float = 1.0

    def inverse(self) -> Pair:
        """The pair in the opposite direction."""
        steps = tuple(step.inverse() for step in reversed(self.steps))
        return Pair(self.target, self.source, steps, self.confidence)


@dataclass(frozen=True)
class Pairing:
    """The pairs of two structures; the data of a `KeyMap`.

    Attributes:
        source: the structure of the source tree.
        target: the structure of the target tree.
        pairs: matching leaves, in the order of the target.
        candidates: ambiguous pairs; `KeyMap.apply` does not use them.
    """

    source: Spec
    target: Spec
    pairs: tuple[Pair, ...]
    candidates: tuple[Pair, ...] = ()

    @cached_property
    def ambiguous(self) -> Mapping[str, tuple[tuple[str, float], ...]]:
        """Source path → (target path, confidence) of each candidate, most likely first."""
        found: dict[str, list[tuple[str, float]]] = {}
        for pair in sorted(self.candidates, key=lambda p: -p.confidence):
            entry = (join_path(pair.target), pair.confidence)
            entries = found.setdefault(join_path(pair.source), [])
            if entry[0] not in [name for name, _ in entries]:  # different steps to the same leaf
                entries.append(entry)
        return {name: tuple(entries) for name, entries in found.items()}

    @cached_property
    def unmatched(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(paths of the source, paths of the target) without a pair or a candidate."""
        known = (*self.pairs, *self.candidates)
        sources = _covered((pair.source, pair.steps[:1], Split) for pair in known)
        targets = _covered((pair.target, pair.steps[-1:], Concat) for pair in known)
        return (
            tuple(join_path(path) for path in self.source.paths if path not in sources),
            tuple(join_path(path) for path in self.target.paths if path not in targets),
        )


def _covered(places: Iterable[tuple[Path, tuple[Step, ...], type[Split | Concat]]]) -> set[Path]:
    """The paths with a pair; a leaf in sections needs a pair for each section."""
    starts: dict[Path, set[int]] = {}
    stops: dict[Path, set[int]] = {}
    for path, steps, kind in places:
        sections = [(step.start, step.stop, step.size) for step in steps if isinstance(step, kind)]
        start, stop, size = sections[0] if sections else (0, 0, 0)
        starts.setdefault(path, set()).update((start, size))
        stops.setdefault(path, set()).update((0, stop))
    return {path for path in starts if starts[path] == stops[path]}


def in_order(pairs: Any, target: Spec) -> tuple[Pair, ...]:
    """Pairs in the order of the target's leaves, most likely candidates first."""
    place = {path: i for i, path in enumerate(target.paths)}
    return tuple(
        sorted(
            pairs,
            key=lambda p: (place[p.target], -p.confidence, tuple(map(str, p.source)), str(p.steps)),
        )
    )
