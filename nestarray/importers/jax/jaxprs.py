"""Jaxprs: the traced program, literals, calls whose equations take their place, shapes and dtypes."""

from __future__ import annotations

from typing import Any, NamedTuple

from nestarray import dtypes
from nestarray.errors import DtypeError
from nestarray.graph.node import Aval
from nestarray.importers.jax import equations
from nestarray.importers.jax.dimensions import size_of
from nestarray.importers.jax.named_calls import NamedCall, named_call
from nestarray.importers.jax.own_calls import OwnCall, own_call
from nestarray.transforms.abstract import Scope


class Output(NamedTuple):
    """The results of a traced function.

    Attributes:
        structure: of the output.
        leaves: of the output; tracers, and numbers that are part of the program.
        updated: paths of the state that it writes.
    """

    structure: Any
    leaves: list[Any]
    updated: list[str]


class Traced(NamedTuple):
    """A jaxpr, and its arguments.

    Attributes:
        closed: the jaxpr.
        scope: the relations of the open sizes.
        leaves, structure: of the arguments.
        inputs: the indices of the arrays among the leaves.
        axes: {axis: name} for each leaf.
        output: of the function.
    """

    closed: Any
    scope: Scope
    leaves: list[Any]
    structure: Any
    inputs: list[int]
    axes: list[dict[int, str]]
    output: Output


def is_literal(atom: Any) -> bool:
    """Whether an input of an equation, or a result of a jaxpr, is a number and no variable."""
    return hasattr(atom, "val")


def kept_call(eqn: Any) -> NamedCall | OwnCall | None:
    """The public function or the op of `na` that an equation calls; None for other equations."""
    return own_call(eqn) or named_call(eqn)


def is_inlined(eqn: Any) -> bool:
    """Whether the equations of a called jaxpr take the place of the call."""
    is_call = equations.is_call(eqn) and kept_call(eqn) is None
    return (is_call or equations.is_choice_of_platform(eqn)) and not equations.refusal(eqn)


def called_jaxpr(eqn: Any) -> Any:
    """The jaxpr whose equations take the place of an equation."""
    is_choice = equations.is_choice_of_platform(eqn)
    return equations.branches_of(eqn)[0] if is_choice else equations.call_of(eqn).jaxpr


def why_no_arrays(eqn: Any) -> str:
    """Why the operands or results of an equation cannot be arrays; empty if they can."""
    try:
        for var in (*eqn.invars, *eqn.outvars):
            aval_of(var.aval)
    except DtypeError as error:
        return str(error)
    return ""


def aval_of(aval: Any) -> Aval:
    """Shape and dtype; of random keys those of their words, an array uint32[2] for each."""
    shape = tuple(map(size_of, aval.shape))
    if str(aval.dtype).startswith("key<"):
        _check_generator(str(aval.dtype))
        return Aval((*shape, 2), dtypes.uint32)
    return Aval(shape, dtypes.as_dtype(str(aval.dtype)))


def _check_generator(key: str) -> None:
    if key != "key<fry>":
        raise DtypeError(
            f"random key: got {key}, expected key<fry>, a key of threefry2x32: "
            'jax.random.key(0, impl="threefry2x32")'
        )
