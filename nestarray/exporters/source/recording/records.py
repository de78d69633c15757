"""The public calls of a framework that a graph makes, as `graph.eject` prints them.

A recorder runs a graph once and notes the outermost public calls, as a user of the
framework writes them. It is the only part that knows how a framework is observed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nestarray.graph.builder import NOWHERE, Place
from nestarray.graph.node import map_leaves


@dataclasses.dataclass(eq=False)
class Value:
    """An array of a recording; equal only to itself.

    Attributes:
        shape, dtype: of the array; the dtype by its name, ``"float32"``. Of a value that is no
            array, the dtype is its usual name: ``"key"``, ``"rng"``, ``"train"``.
        source: ``"x"`` for an argument, ``"v"``, ``"s"`` or ``"constants"`` for a variable,
            ``"mode"`` or ``"key"`` for an additional argument of the source; empty for the
            result of a call.
        path: of a variable in that Container; the name of an argument.
    """

    shape: tuple[int, ...]
    dtype: str
    source: str = ""
    path: str = ""


class Name(str):
    """The public name of a function that is an argument, ``"jax.lax.max"``; or of an attribute of the
    module, ``"self.training"``."""

    __slots__ = ()


@dataclasses.dataclass(eq=False)
class Call:
    """One public call.

    Attributes:
        target: the public name, ``"torch.nn.functional.conv2d"``, ``"jax.nn.softmax"``; a method
            ``"method:reshape"`` or an attribute ``"attribute:T"``, whose first argument is the
            object; ``x.at[index].set(y)`` of JAX is ``"at:set"`` of (x, index, y); an operator
            ``"operator.add"``, ``"operator.getitem"``; a function that the source itself defines
            ``".conv2d"`` (`nestarray.exporters.source.functions`); an assignment to a variable of
            the state ``"state:set"`` of (old value, new value), without a result; a Python statement
            ``"flow:if"``, ``"flow:while"``, ``"flow:range"`` or ``"flow:for"`` (`control_flow`).
        args, kwargs: nests of Values, Names, Functions, Python's constants, slices, and dtypes as `DType`.
        result: a Value, or a tuple, list or dict of Values. Of a call that writes into its first
            argument and returns nothing (``"operator.setitem"``, ``"numpy.add.at"``), or into `out`,
            the changed argument.
        place: the module of the source that made the call, with its path as the source spells it,
            and the line.
    """

    target: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    place: Place = NOWHERE

    @property
    def writes_in_place(self) -> bool:
        """Whether it is a statement that writes into its first argument."""
        return self.target == "operator.setitem" or self.target.endswith(".at")


@dataclasses.dataclass(eq=False)
class Function:
    """A function that is an argument of a call: a branch, or the body of a loop.

    Attributes:
        name: for the source.
        inputs: for each parameter a Value, a tuple of Values, or None.
        calls: in an order in which they can run.
        output: nest of Values and constants.
    """

    name: str
    inputs: tuple[Any, ...]
    calls: list[Call]
    output: Any

    @property
    def used(self) -> list[Value]:
        """The values that its calls and its output use."""
        return values_in([*([list(call.args), call.kwargs] for call in self.calls), self.output])

    @property
    def free(self) -> list[Value]:
        """The values of the program around it that it uses."""
        bound = {*values_in(self.inputs), *values_in([call.result for call in self.calls])}
        return [value for value in self.used if value not in bound]


def is_equal(x: Any, y: Any) -> bool:
    """Whether constants of two calls are equal, NaN included."""
    is_nan = x != x and y != y
    return type(x) is type(y) and (is_nan or x == y)


def values_in(nest: Any) -> list[Value]:
    """The Values of a nest, each once, in order; of a Function those that it uses of outside."""
    values: dict[Value, None] = {}

    def note(leaf: Any) -> Any:
        if isinstance(leaf, Value):
            values[leaf] = None
        elif isinstance(leaf, Function):
            values.update(dict.fromkeys(leaf.free))
        return leaf

    map_leaves(note, nest)
    return list(values)


def functions_in(call: Call) -> list[Function]:
    """The Functions among the arguments of a call."""
    functions: list[Function] = []
    nest = [list(call.args), call.kwargs]
    map_leaves(lambda x: functions.append(x) if isinstance(x, Function) else x, nest)
    return functions


def all_calls(calls: Iterable[Any]) -> Iterator[Any]:
    """Steps, and those in their Functions."""
    for call in calls:
        for function in functions_in(call):
            yield from all_calls(function.calls)
        yield call


def needed(calls: Sequence[Call], output: Any) -> list[Call]:
    """The calls whose results `output` uses, itself or through other calls."""
    used = set(values_in(output))
    live: list[Call] = []
    for call in reversed(calls):
        if not used.isdisjoint(values_in(call.result)):
            used.update(values_in([list(call.args), call.kwargs]))
            live.append(call)
    return live[::-1]


@dataclasses.dataclass(eq=False)
class Recording:
    """The program of a graph as public calls of one framework.

    Attributes:
        backend: the framework.
        inputs: the arguments, in the order of the flat inputs of the graph.
        calls: in an order in which they can run; calls whose results nothing uses may be among them.
        output: the output of the graph, a nest of Values and constants.
        updates: path in the state → new value.
        constants: arrays that calls use and the graph does not hold, by path; their Values have
            the source ``"constants"`` too.
        numbers: Value of an integer that the program reads from an array → the integer.
        sizes: (operator, operands, result) of the sizes that the program computes of others.
    """

    backend: str
    inputs: list[Value]
    calls: list[Call]
    output: Any
    updates: Mapping[str, Value]
    constants: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    numbers: Mapping[Value, int] = dataclasses.field(default_factory=dict)
    sizes: Sequence[tuple[str, tuple[int, ...], int]] = ()
