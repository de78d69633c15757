"""A Container that stores all leaves of a dtype in one buffer.

An elementwise op, a norm or an optimizer step is then one native call for the whole tree
(`nestarray.dispatch.fused`), and a framework's transformation receives a few arrays instead of
hundreds. A leaf is cut from its buffer on access: a view in frameworks with views (NumPy,
PyTorch), a slice in others.

A `Layout` gives the place of each leaf. Layouts are interned like specs: two fused Containers
match exactly if they share a layout.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from nestarray.container.building import Parts
from nestarray.container.container import Container, Leaf
from nestarray.container.spec import LEAF, Key, Path, Spec, kept, make_spec
from nestarray.dynamo import compile_time_constant, traced_as

_interned: WeakValueDictionary[Hashable, Layout] = WeakValueDictionary()


class Place(NamedTuple):
    """The place of a leaf: the number of its buffer, its first element there, its shape.

    If `start` is None, the leaf is the whole buffer in its own shape.
    """

    buffer: int
    start: int | None
    shape: tuple[int, ...]


class Layout:
    """An interned structure of buffers. Build with `make_layout`; compare with ``is``."""

    __slots__ = ("__dict__", "__weakref__", "_parts", "places", "spec")

    def __init__(self, spec: Spec, places: tuple[Place, ...]) -> None:
        self.spec, self.places = spec, places
        self._parts: dict[Key, tuple[Layout, tuple[tuple[int, int | None, int], ...]]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return make_layout, (self.spec, self.places)

    def __repr__(self) -> str:
        return f"Layout({self.spec!r}, {self.num_buffers} buffers)"

    @kept
    def num_buffers(self) -> int:
        """The number of buffers."""
        return 1 + max((place.buffer for place in self.places), default=-1)

    @kept
    def rows(self) -> tuple[tuple[tuple[int, ...], tuple[Place, ...]], ...]:
        """For each buffer, the numbers of its leaves in the order of their elements."""
        numbers: list[list[int]] = [[] for _ in range(self.num_buffers)]
        for i, place in enumerate(self.places):
            numbers[place.buffer].append(i)
        return tuple([(tuple(row), tuple([self.places[i] for i in row])) for row in numbers])

    def build(self, buffers: Sequence[Any]) -> FusedContainer:
        """The Container of this layout and its buffers."""
        return from_buffers(self, tuple(buffers))

    @compile_time_constant
    def part(self, key: Key) -> tuple[Layout, tuple[tuple[int, int | None, int], ...]]:
        """The layout of the node at `key`, and (number, start, stop) for each buffer of it."""
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = self._part(*self.spec.index[key])
        return found

    def _part(
        self, first: int, last: int, spec: Spec
    ) -> tuple[Layout, tuple[tuple[int, int | None, int], ...]]:
        numbers: dict[int, int] = {}
        cuts: list[tuple[int, int | None, int]] = []
        places = []
        for place in self.places[first:last]:
            size = math.prod(place.shape)
            if place.buffer not in numbers:
                numbers[place.buffer] = len(cuts)
                cuts.append((place.buffer, place.start, 0))
            number = numbers[place.buffer]
            begin = cuts[number][1]
            if place.start is None or begin is None:
                places.append(Place(number, None, place.shape))
                continue
            cuts[number] = (place.buffer, begin, place.start + size)
            places.append(Place(number, place.start - begin, place.shape))
        return make_layout(spec, tuple(places)), tuple(cuts)


@compile_time_constant
def _layout_of(spec: Spec, places: tuple[tuple[int, int | None, tuple[int, ...]], ...]) -> Layout:
    return make_layout(spec, tuple([Place(*place) for place in places]))


def _traceable_layout(spec: Spec, places: tuple[Place, ...]) -> Layout:
    return _layout_of(spec, tuple([(p.buffer, p.start, p.shape) for p in places]))


@traced_as(_traceable_layout)
def make_layout(spec: Spec, places: tuple[Place, ...]) -> Layout:
    """The interned `Layout` of this structure and these places."""
    identity = (id(spec), places)
    layout = _interned.get(identity)
    if layout is None:
        layout = _interned[identity] = Layout(spec, places)
    return layout


class _FusedParts(Parts):
    """The attributes of a fused Container; assignable while it is built, as `Parts`."""

    __slots__ = ("_buffers", "_cut", "_layout")
    _layout: Layout
    _buffers: tuple[Any, ...]
    _cut: tuple[Any, ...] | None


class FusedContainer(_FusedParts, Container[Leaf]):
    """The result of `Container.fuse`: a Container with one buffer for each dtype."""

    __slots__ = ()

    @property
    def _leaves(self) -> tuple[Any, ...]:  # type: ignore[override]
        if self._cut is None:
            leaves: list[Any] = [None] * len(self._layout.places)
            for buffer, (numbers, places) in zip(self._buffers, self._layout.rows):
                for i, leaf in zip(numbers, _leaves_of(buffer, places)):
                    leaves[i] = leaf
            object.__setattr__(self, "_cut", tuple(leaves))
        return self._cut  # type: ignore[return-value]

    def buffers(self) -> tuple[Leaf, ...]:
        """The arrays that store the leaves: one of one dimension for each dtype."""
        return self._buffers

    def __getitem__(self, key: Any) -> Any:
        hit = self._spec.index.get(key) if key.__class__ in (str, int) else None
        return super().__getitem__(key) if hit is None else self._at(key, hit)

    def __getattr__(self, name: str) -> Any:
        hit = self._spec.index.get(name) if name[:2] != "__" else None
        return super().__getattr__(name) if hit is None else self._at(name, hit)

    def _at(self, key: Key, hit: tuple[int, int, Spec]) -> Any:
        start, _, spec = hit
        if spec is LEAF:
            place = self._layout.places[start]
            return _leaf(self._buffers[place.buffer], place)
        layout, cuts = self._layout.part(key)
        parts = [
            b if start is None else _between(b, start, stop)
            for b, start, stop in ((self._buffers[n], start, stop) for n, start, stop in cuts)
        ]
        return from_buffers(layout, tuple(parts))

    def __reduce__(self) -> tuple[Any, ...]:
        return from_buffers, (self._layout, self._buffers)

    def __deepcopy__(self, memo: dict[int, Any]) -> FusedContainer:
        """A fused copy with copied buffers."""
        return from_buffers(self._layout, tuple([deepcopy(b, memo) for b in self._buffers]))

    def __repr__(self) -> str:
        return f"Fused{super().__repr__()}"

    def _flat(self) -> tuple[tuple[Any, ...], Any]:
        return self._buffers, self._layout


def _traceable_from_buffers(layout: Layout, buffers: tuple[Any, ...]) -> FusedContainer:
    self = object.__new__(FusedContainer)
    object.__setattr__(self, "_spec", layout.spec)
    object.__setattr__(self, "_layout", layout)
    object.__setattr__(self, "_buffers", buffers)
    object.__setattr__(self, "_cut", None)
    return self


@traced_as(_traceable_from_buffers)
def from_buffers(layout: Layout, buffers: tuple[Any, ...]) -> FusedContainer:
    """The fused Container of a layout and its buffers, as `from_leaves` for other Containers."""
    self: Any = _FusedParts()
    self._spec, self._layout, self._buffers, self._cut = layout.spec, layout, buffers, None
    self.__class__ = FusedContainer
    return self


def _leaf(buffer: Any, place: Place) -> Any:
    """The leaf at `place`; batch axes that a transformation added stay in front.

    A value that is not an array, or has no dimension (a sharding, a label, a number for the
    whole buffer), is returned for each leaf of the buffer.
    """
    shape = _shape(buffer)
    if place.start is None or not shape:
        return buffer
    stop = place.start + math.prod(place.shape)
    front = shape[:-1]
    reshape: Any = Container.reshape  # type: ignore[attr-defined]  # na.reshape
    return reshape(_between(buffer, place.start, stop), (*front, *place.shape))


def _leaves_of(buffer: Any, places: tuple[Place, ...]) -> list[Any]:
    """All leaves of a buffer from one call: many slices are slow on JAX and TensorFlow."""
    shape = _shape(buffer)
    if len(places) == 1 or not shape:
        return [_leaf(buffer, place) for place in places]
    front = shape[:-1]
    split: Any = Container.split  # type: ignore[attr-defined]  # na.split
    reshape: Any = Container.reshape  # type: ignore[attr-defined]  # na.reshape
    parts = split(buffer, [math.prod(place.shape) for place in places], axis=-1)
    return [
        part if len(place.shape) == 1 else reshape(part, (*front, *place.shape))
        for part, place in zip(parts, places)
    ]


def _between(buffer: Any, start: int, stop: int) -> Any:
    shape = _shape(buffer)
    if not shape or (start == 0 and stop == shape[-1]):
        return buffer
    index = slice(start, stop)
    return Container._take_part(buffer, index if len(shape) == 1 else (..., index))


def _shape(buffer: Any) -> tuple[Any, ...]:
    """The shape of an array; `()` of other values, and of a tensor of TensorFlow of unknown rank."""
    shape = getattr(buffer, "shape", None) if hasattr(buffer, "dtype") else None
    return tuple(shape) if shape else ()  # a TensorShape of no axes is true


def composed(kind: str, entries: dict[Key, Any]) -> FusedContainer:
    """The node of fused Containers and others, whose leaves stay separate arrays."""
    trees = [Container(value)._flat() for value in entries.values()]
    layout = _composed_layout(kind, tuple(entries), tuple(structure for _, structure in trees))
    return layout.build([part for parts, _ in trees for part in parts])


@lru_cache(maxsize=1024)
def _composed_layout(kind: str, keys: Path, structures: tuple[Any, ...]) -> Layout:
    places: list[Place] = []
    count = 0
    specs = []
    for structure in structures:
        if isinstance(structure, Layout):
            specs.append(structure.spec)
            places += [p._replace(buffer=p.buffer + count) for p in structure.places]
            count += structure.num_buffers
        else:
            specs.append(structure)
            places += [Place(count + i, None, ()) for i in range(structure.num_leaves)]
            count += structure.num_leaves
    return make_layout(make_spec(kind, keys, tuple(specs)), tuple(places))


Container._fused = FusedContainer
Container._composed = staticmethod(composed)
