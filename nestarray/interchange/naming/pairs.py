"""Pairs of leaves of two trees, and the steps that convert the layout of one into the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import takewhile
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


@dataclass(frozen=True)
class Term:
    """Be the term number `term` of a sum of `of` arrays: the first is the array, others are zeros.

    A recurrent layer of PyTorch adds two biases; other libraries store their sum.
    """

    term: int
    of: int

    def shape(self, old: tuple[int, ...]) -> tuple[int, ...] | None:
        """The shape, which stays."""
        return old

    def apply(self, x: Any) -> Any:
        """The array, or zeros like it."""
        return ops.zeros_like(x) if self.term else x

    def inverse(self) -> Sum:
        """The inverse step."""
        return Sum(self.term, self.of)

    def to_plain(self) -> dict[str, Any]:
        """The step in the format of the file."""
        return {"term": self.term, "of": self.of}

    def __str__(self) -> str:
        return "zeros" if self.term else "all of the sum"


@dataclass(frozen=True)
class Sum:
    """Be added to the other terms of the target; `KeyMap.apply` adds them.

    The last step, before any `Concat`, of each pair of a target that is a sum.
    """

    term: int
    of: int

    def shape(self, old: tuple[int, ...]) -> tuple[int, ...] | None:
        """The shape, which stays."""
        return old

    def apply(self, x: Any) -> Any:
        """The array, which is one term."""
        return x

    def inverse(self) -> Term:
        """The inverse step."""
        return Term(self.term, self.of)

    def to_plain(self) -> dict[str, Any]:
        """The step in the format of the file."""
        return {"sum": self.term, "of": self.of}

    def __str__(self) -> str:
        return f"term {self.term + 1} of {self.of}"


@dataclass(frozen=True)
class Flip:
    """Reverse the order of the elements along some axes."""

    axes: tuple[int, ...]

    def shape(self, old: tuple[int, ...]) -> tuple[int, ...] | None:
        """The shape, which stays; None if an axis does not exist."""
        return old if max(self.axes) < len(old) else None

    def apply(self, x: Any) -> Any:
        """The array with the reversed axes."""
        return ops.flip(x, axis=self.axes)

    def inverse(self) -> Flip:
        """The inverse step."""
        return self

    def to_plain(self) -> dict[str, Any]:
        """The step in the format of the file."""
        return {"flip": list(self.axes)}

    def __str__(self) -> str:
        return f"flip {list(self.axes)}"


@dataclass(frozen=True)
class Shift:
    """Add a number to each element."""

    by: float

    def shape(self, old: tuple[int, ...]) -> tuple[int, ...] | None:
        """The shape, which stays."""
        return old

    def apply(self, x: Any) -> Any:
        """The array plus the number."""
        return x + self.by

    def inverse(self) -> Shift:
        """The inverse step."""
        return Shift(-self.by)

    def to_plain(self) -> dict[str, Any]:
        """The step in the format of the file."""
        return {"shift": self.by}

    def __str__(self) -> str:
        return f"add {self.by:g}"


def _resized(shape: tuple[int, ...], axis: int, old: int, new: int) -> tuple[int, ...] | None:
    if axis >= len(shape) or shape[axis] != old:
        return None
    return (*shape[:axis], new, *shape[axis + 1 :])


Step = Transpose | Reshape | Flip | Shift | Split | Term | Concat | Sum
Section = tuple[Split | Term | Concat | Sum, ...]


def taken_section(steps: Sequence[Step]) -> Section:
    """The first steps of a pair, which take a section or a term of the source."""
    return tuple(takewhile(lambda step: isinstance(step, Split | Term), steps))  # type: ignore[arg-type]


def joined_section(steps: Sequence[Step]) -> Section:
    """The last steps of a pair, outermost first: the place of its array in the target."""
    return tuple(takewhile(lambda step: isinstance(step, Concat | Sum), reversed(steps)))  # type: ignore[arg-type]


def overlap(a: Section, b: Section) -> bool:
    """Whether two sections of one leaf share elements.

    Example:
        >>> a, b = Split(0, 0, 2, 6), Split(0, 2, 6, 6)
        >>> overlap((a,), (b,)), overlap((a,), (a, b))
        (False, True)
    """
    for one, other in zip(a, b, strict=False):
        match one, other:
            case Term() | Sum(), Term() | Sum():
                if one.term != other.term:
                    return False
            case Split() | Concat(), Split() | Concat():
                if (one.axis, one.size) != (other.axis, other.size):
                    return True
                if one.start >= other.stop or other.start >= one.stop:
                    return False
    return True


def _share(section: Section) -> Fraction:
    """The part of a leaf that a section is."""
    share = Fraction(1)
    for step in section:
        if isinstance(step, Term | Sum):
            share /= step.of
        else:
            share *= Fraction(step.stop - step.start, step.size)
    return share


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
        sources = _covered((pair.source, taken_section(pair.steps)) for pair in known)
        targets = _covered((pair.target, joined_section(pair.steps)) for pair in known)
        return (
            tuple(join_path(path) for path in self.source.paths if path not in sources),
            tuple(join_path(path) for path in self.target.paths if path not in targets),
        )


def _covered(places: Iterable[tuple[Path, Section]]) -> set[Path]:
    """The paths with a pair; a leaf in sections needs a pair for each section."""
    sections: dict[Path, set[Section]] = {}
    for path, section in places:
        sections.setdefault(path, set()).add(section)
    return {path for path, parts in sections.items() if sum(map(_share, parts)) >= 1}


def in_order(pairs: Any, target: Spec) -> tuple[Pair, ...]:
    """Pairs in the order of the target's leaves, most likely candidates first."""
    place = {path: i for i, path in enumerate(target.paths)}
    return tuple(
        sorted(
            pairs,
            key=lambda p: (place[p.target], -p.confidence, tuple(map(str, p.source)), str(p.steps)),
        )
    )
