"""The public calls of a framework that a graph makes, as `graph.eject` prints them.

A recorder runs a graph once and notes the outermost public calls, as a user of the
framework writes them. It is the only part that knows how a framework is observed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from nestarray.graph.builder import NOWHERE, Place


@dataclasses.dataclass(eq=False)
class Value:
    """An array of a recording; equal only to itself.

    Attributes:
        shape, dtype: of the array; the dtype by its name, ``"float32"``. Of a value that is no
            array, the dtype is its usual name: ``"key"``, ``"rng"``, ``"train"``.
        source: ``"x"`` for an argument, ``"v"``, ``"s"`` or ``"constants"`` for a variable,
            ``"mode"`` or ``"key"`` for an argument that the source has besides; empty for the
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
            the state ``"state:set"`` of (old value, new value), without a result.
        args, kwargs: nests of Values, Names, Python's constants, slices, and dtypes as `DType`.
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
    """

    backend: str
    inputs: list[Value]
    calls: list[Call]
    output: Any
    updates: Mapping[str, Value]
    constants: Mapping[str, Any] = dataclasses.field(default_factory=dict)
