"""Sizes that a call decides: the same program, recorded several times, as one.

The recordings are of several sizes, and of several values if these decide sizes. Numbers that
differ between them are read from the shape of an array, ``x.shape[0]``, or from an array of one
integer, ``int(lengths.max())``.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nestarray.errors import ConversionError
from nestarray.exporters.export import Example, example_of
from nestarray.exporters.source.recording.records import (
    Call,
    Function,
    Recording,
    Value,
    is_equal,
    values_in,
)
from nestarray.exporters.source.tree.modules import arguments, parts
from nestarray.graph.graph import Graph

#: The number of recordings at several sizes, and of several values, some of which may have equal sizes.
COUNT, VALUES = 3, 6


def examples(graph: Graph) -> list[Example]:
    """The arguments with which to record; those of the example if no size is open.

    Raises:
        ConversionError: too few sizes fit the conditions of the graph.
    """
    sizes = graph.sizes
    choices = sizes.choices(COUNT)
    if sizes.example and len(choices) < COUNT:
        raise ConversionError(
            "eject: too few sizes fit the conditions of the graph: "
            + ", ".join(map(str, sizes.conditions))
        )
    samples = [example_of(graph, choice) for choice in choices]
    if graph.sized_by_values is None:
        return samples
    redrawn = [samples[seed % len(samples)].redrawn(seed) for seed in range(1, VALUES)]
    return [samples[0], *redrawn]


def with_open_sizes(recordings: Sequence[Recording], name: str) -> Recording:
    """The first recording, with sizes in place of the numbers that differ from the others.

    Args:
        recordings: of one graph at several sizes, or of several values.
        name: of the graph, for errors.

    Raises:
        ConversionError: the calls differ, or no array has a size that explains a number.
    """
    if len(recordings) == 1:
        return recordings[0]
    return _Joined(recordings, name).recording()


class _Joined:
    def __init__(self, recordings: Sequence[Recording], name: str) -> None:
        self.recordings, self.name = recordings, name
        self.shapes: dict[Value, tuple[tuple[int, ...], ...]] = {}
        self.made: dict[Value, Call] = {}
        self.calls: list[Call] = []
        #: Calls that compute one size of their result.
        self.inferred: set[Call] = set()
        #: The numbers of all recordings → the call's result that is these numbers.
        self.read: dict[tuple[int, ...], Value] = {}
        #: The numbers of all recordings → (operator, operands) by which the program computes them.
        self.computed: dict[tuple[int, ...], tuple[str, list[tuple[int, ...]]]] = {}
        for rows in zip(*(r.sizes for r in recordings), strict=True):
            operands = [*zip(*(row[1] for row in rows), strict=True)]
            self.computed.setdefault(tuple([row[2] for row in rows]), (rows[0][0], operands))

    def recording(self) -> Recording:
        """The joined recording."""
        self._note([r.inputs for r in self.recordings])
        calls = self._joined_calls([r.calls for r in self.recordings])
        output = self._joined([r.output for r in self.recordings], Call("return", (), {}, None))
        return dataclasses.replace(self.recordings[0], calls=calls, output=output)

    def _joined_calls(self, programs: Sequence[Sequence[Call]]) -> list[Call]:
        """The calls of the first program, with sizes; of a recording, or of a function in it."""
        targets = [[call.target for call in program] for program in programs]
        if any(names != targets[0] for names in targets):
            raise ConversionError(
                f"eject: {self.name}: the calls of the program depend on its open sizes, or on values; "
                "trace it without dynamic="
            )
        outer, self.calls = self.calls, []
        for calls in zip(*programs, strict=True):
            operands = [[list(call.args), call.kwargs] for call in calls]
            self._note(operands)
            if calls[0].target == "operator.getitem":
                self._count_from_ends([args for args, _ in operands])
            args, kwargs = self._joined(operands, calls[0])
            if self.recordings[0].backend == "torch" and "device" in kwargs:
                kwargs["device"] = self._device([args, kwargs], calls[0])
            call = dataclasses.replace(calls[0], args=tuple(args), kwargs=kwargs)
            self.calls.append(call)
            self._note([call.result for call in calls])
            for value in values_in(call.result):
                self.made[value] = call
                if value in self.recordings[0].numbers:
                    pairs = zip(self.recordings, calls, strict=True)
                    self.read.setdefault(tuple(r.numbers[c.result] for r, c in pairs), value)
        joined, self.calls = self.calls, outer
        return joined

    def _count_from_ends(self, operands: Sequence[list[Any]]) -> None:
        """Write numbers of an index that differ like the size of their axis as 0, -1, … from its end."""
        indices = [x[1] if isinstance(x[1], tuple) else (x[1],) for x in operands]
        if not all(isinstance(item, (int, slice)) for index in indices for item in index):
            return
        shapes = self.shapes[operands[0][0]]

        def relative(axis: int, numbers: Sequence[Any], *, is_start: bool = True) -> Sequence[Any]:
            if len({*numbers}) == 1 or not all(type(n) is int for n in numbers):
                return numbers
            distances = {n - shape[axis] for n, shape in zip(numbers, shapes, strict=True)}
            is_inside = len(distances) == 1 and min(distances) < (0 if is_start else 1)
            return [*distances] * len(numbers) if is_inside else numbers

        rows = []
        for axis, items in enumerate(zip(*indices, strict=True)):
            if not isinstance(items[0], slice):
                rows.append(relative(axis, items))
                continue
            starts = relative(axis, [item.start for item in items])
            ends = [item.stop for item in items]
            stops = relative(axis, ends, is_start=False)
            stops = ends if stops is ends else [n or None for n in stops]
            steps = [item.step for item in items]
            rows.append([*map(slice, starts, stops, steps)])
        for x, index in zip(operands, zip(*rows, strict=True), strict=True):
            x[1] = index

    def _note(self, nests: Sequence[Any]) -> None:
        """Note the shapes of Values in all recordings."""
        for values in zip(*map(_leaves, nests), strict=True):
            if isinstance(values[0], Value):
                self.shapes.setdefault(values[0], tuple(value.shape for value in values))

    def _joined(self, nests: Sequence[Any], call: Call) -> Any:
        """The first nest, with sizes for numbers that differ."""
        first = nests[0]
        if isinstance(first, (list, tuple)):
            return type(first)([self._joined(items, call) for items in zip(*nests, strict=True)])
        if isinstance(first, Mapping):
            return {key: self._joined([nest[key] for nest in nests], call) for key in first}
        if isinstance(first, slice):
            ends = ("start", "stop", "step")
            return slice(*(self._joined([getattr(n, end) for n in nests], call) for end in ends))
        if isinstance(first, Function):
            self._note([function.inputs for function in nests])
            calls = self._joined_calls([function.calls for function in nests])
            output = self._joined([function.output for function in nests], call)
            return dataclasses.replace(first, calls=calls, output=output)
        if isinstance(first, Value):
            self._check_constant(nests, call)
            return first
        if all(is_equal(nest, first) for nest in nests):
            return first
        if all(type(nest) is int for nest in nests):
            return self._size(tuple(nests), call)
        raise self._unknown(nests, call)

    def _check_constant(self, values: Sequence[Value], call: Call) -> None:
        """Raise an error if an array that the graph does not hold depends on the sizes."""
        pairs = zip(self.recordings, values, strict=True)
        arrays = [r.constants.get(x.path) for r, x in pairs if x.source == "constants"]
        if len({(x.shape, x.tobytes()) for x in arrays if x is not None}) > 1:
            raise ConversionError(
                f"eject: {self.name}: {_place(call)} takes a constant array that depends on open "
                "sizes; trace the model without dynamic= for them"
            )

    def _size(self, numbers: tuple[int, ...], call: Call) -> Value | int:
        """The result of a call that computes a size, or -1 for one size of a reshape."""
        inputs = self.recordings[0].inputs
        near = [c for c in self.calls if c.place.module == call.place.module]
        known = [value for c in near if c.target == "size" for value in arguments(c)]
        read = [value for c in near for value in arguments(c) if value in inputs]
        computed = [
            value for c in reversed(near) for value in values_in(c.result) if value.dtype != "size"
        ]
        candidates = [
            *map(self._origin(call), arguments(call)), *known, *read, *inputs, *computed
        ]  # fmt: skip
        # sizes → the number, or the first axis, that has them
        places: dict[tuple[int, ...], Value | tuple[Value, int]] = dict(self.read)
        for value in candidates:
            for axis, sizes in self._open_sizes(value):
                places.setdefault(sizes, (value, axis))
        if numbers in places:
            return self._read(places[numbers], call)
        if numbers in self.computed:
            function, operands = self.computed[numbers]
            return self._call(function, tuple([self._part(x, call) for x in operands]), call)
        for sizes, place in places.items():
            if relation := _relation(numbers, sizes):
                operator, operand = relation
                return self._call(operator, (self._read(place, call), *operand), call)
        if _is_reshape(call) and call not in self.inferred:  # a product of open sizes
            self.inferred.add(call)
            return -1
        raise self._unknown(numbers, call)

    def _part(self, numbers: tuple[int, ...], call: Call) -> Value | int:
        """An operand of a size."""
        return self._size(numbers, call) if len({*numbers}) > 1 else numbers[0]

    def _open_sizes(self, value: Value) -> list[tuple[int, tuple[int, ...]]]:
        """(axis, its sizes in all recordings) of the open axes of a value."""
        return [(i, n) for i, n in enumerate(zip(*self.shapes[value])) if len(set(n)) > 1]

    def _device(self, nest: Any, call: Call) -> Value | None:
        """The device of the array that has a size among the arguments of a call."""
        sizes = [value for value in values_in(nest) if value.dtype == "size"]
        if not sizes:
            return None
        array = sizes[0]
        while array.dtype == "size":
            array = arguments(self.made[array])[0]
        return self._call("device", (array,), call)

    def _read(self, place: Value | tuple[Value, int], near: Call) -> Value:
        """A number, or the size of an axis."""
        return place if isinstance(place, Value) else self._call("size", place, near)

    def _call(self, target: str, args: tuple[Any, ...], near: Call) -> Value:
        value = Value((), "device" if target == "device" else "size")
        self.shapes[value] = ((),) * len(self.recordings)
        self.made[value] = Call(target, args, {}, value, near.place)
        self.calls.append(self.made[value])
        return value

    def _origin(self, call: Call) -> Any:
        """The first value from which a value has its sizes, of those that its module knows."""
        path = parts(call.place.module)

        def origin(value: Value) -> Value:
            known = value
            while value in self.made:
                source = self.made[value]
                place = parts(source.place.module)
                if place[: len(path)] != path:
                    return value  # an argument of the module
                if place == path:
                    known = value
                operands = [
                    v for v in arguments(source) if v.source in ("", "x") and v in self.shapes
                ]
                if not operands or not self._have_equal_sizes(value, operands[0]):
                    return known
                value = operands[0]
            return value

        return origin

    def _have_equal_sizes(self, a: Value, b: Value) -> bool:
        """Whether all open sizes of `a` are sizes of `b`."""
        of_a, of_b = ({sizes for _, sizes in self._open_sizes(v)} for v in (a, b))
        return of_a <= of_b

    def _unknown(self, numbers: Sequence[Any], call: Call) -> ConversionError:
        return ConversionError(
            f"eject: {self.name}: {_place(call)} takes {numbers[0]!r} at one size and "
            f"{numbers[1]!r} at another, which no array's shape explains; trace the model without "
            "dynamic= for this size, or make a number that values decide an argument of the model"
        )


def _place(call: Call) -> str:
    """The function that is called, and where in the source of the model."""
    return f"{call.target} ({' '.join(part for part in call.place if part)})"


def _is_reshape(call: Call) -> bool:
    """Whether a call may have -1 for one size."""
    return call.target.endswith(("reshape", "view")) and -1 not in call.args


def _relation(
    numbers: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[str, tuple[int, ...]] | None:
    """(function, numbers after the size) that gives the numbers from sizes."""
    pairs = list(zip(numbers, sizes, strict=True))
    n, size = pairs[0]
    if all(m == -s for m, s in pairs):
        return "operator.neg", ()
    if size and n % size == 0 and all(m == s * (n // size) for m, s in pairs):
        return "operator.mul", (n // size,)
    if n and size % n == 0 and all(m == s // (size // n) for m, s in pairs):
        return "operator.floordiv", (size // n,)
    if all(m - s == n - size for m, s in pairs):
        return ("operator.add", (n - size,)) if n > size else ("operator.sub", (size - n,))
    return None


def _leaves(nest: Any) -> Iterator[Any]:
    if isinstance(nest, (list, tuple)):
        return itertools.chain.from_iterable(map(_leaves, nest))
    if isinstance(nest, Mapping):
        return itertools.chain.from_iterable(map(_leaves, nest.values()))
    return iter([nest])
