"""Primitives without a rule, as equations of other primitives.

JAX has two functions for a primitive: the one that computes it (`Primitive.def_impl`), which
libraries write with jax.numpy, and for its own primitives the one that its lowering compiles
(``to_lojax`` of those that are classes). The
trace of either is the formula of an equation, with the derivative that JAX has for the primitive,
or the formula's if it has none.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
from jax.extend.core import jaxpr_as_fun

from nestarray.errors import Refused
from nestarray.errors.foreign import foreign
from nestarray.importers.jax import custom_derivatives
from nestarray.importers.jax.equations import bind, inner_jaxprs

_TABLE = "jax._src.interpreters.mlir._lowerings"


def decomposition(eqn: Any) -> Any:
    """The jaxpr of an equation in other primitives, a function of its operands; None if unknown."""
    formula, avals = _formula(eqn), [v.aval for v in eqn.invars]
    if formula is None:
        return None

    def function(*operands: Any) -> Any:
        return jaxpr_as_fun(formula)(*operands)

    def value(*operands: Any) -> list[Any]:
        values = bind(eqn, operands)
        return list(values) if eqn.primitive.multiple_results else [values]

    function.__name__ = function.__qualname__ = eqn.primitive.name.replace("-", "_")
    custom = jax.custom_jvp(function)
    custom.defjvp(lambda primals, tangents: jax.jvp(value, primals, tangents))
    try:
        with foreign():
            closed = jax.make_jaxpr(custom)(*avals)
            has_rules = bool(custom_derivatives.rules_of(closed.jaxpr.eqns[0]))
    except Refused:  # JAX has no derivative of the primitive
        return formula
    return closed if has_rules else formula


def _formula(eqn: Any) -> Any:
    high = getattr(eqn.primitive, "to_lojax", None)  # of a class of operations, since JAX 0.12
    for function in (high, eqn.primitive.impl, _lowered(eqn.primitive)):
        if function is None:
            continue
        try:
            with foreign():
                closed = jax.make_jaxpr(lambda *x, f=function: f(*x, **eqn.params))(
                    *[v.aval for v in eqn.invars]
                )
        except Refused:  # it computes without JAX, or is not defined
            continue
        has_same_results = _described(closed.jaxpr.outvars) == _described(eqn.outvars)
        if has_same_results and eqn.primitive not in _primitives(closed.jaxpr):
            return closed
    return None


def _described(variables: Any) -> list[tuple[Any, ...]]:
    return [(v.aval.shape, v.aval.dtype) for v in variables]


def _primitives(jaxpr: Any) -> Iterator[Any]:
    """The primitives of a jaxpr and of those in it."""
    for eqn in jaxpr.eqns:
        yield eqn.primitive
        for inner in inner_jaxprs(eqn):
            yield from _primitives(inner)


def _lowered(primitive: Any) -> Callable[..., Any] | None:
    """The function that JAX compiles for one of its own primitives; None if there is none.

    The table of lowerings has no public interface. In JAX 0.8 to 0.12 this reads the private names
    `_TABLE`, ``rule`` of its rows, and ``fun`` in the closure that ``mlir.lower_fun`` returns.
    Without one of them, the primitive has no decomposition.
    """
    try:
        rule = inspect.unwrap(_lowerings()[primitive].rule)
        names = dict(zip(rule.__code__.co_freevars, rule.__closure__ or (), strict=True))
        is_of_function = rule.__qualname__.startswith("lower_fun.")
        return names["fun"].cell_contents if is_of_function else None
    except (ImportError, AttributeError, KeyError, TypeError, ValueError):
        return None


def _lowerings() -> Any:
    """JAX's table: primitive → its lowering."""
    module, _, name = _TABLE.rpartition(".")
    return getattr(importlib.import_module(module), name)


def why_unread() -> str:
    """Why JAX's own decompositions cannot be read; empty if they can."""
    try:
        _lowerings()
    except (ImportError, AttributeError):
        return f"JAX's decompositions cannot be read, because it has no {_TABLE} any more"
    return ""


# -- arrays of random keys ----------------------------------------------------------------------


def moves_keys(eqn: Any) -> bool:
    """Whether an equation selects, joins or reshapes arrays of keys."""
    is_of_keys = any(_is_key(v.aval) for v in (*eqn.invars, *eqn.outvars))
    return is_of_keys and not eqn.primitive.name.startswith("random_")


def on_words(eqn: Any) -> Any:
    """The jaxpr of such an equation on words: the last axis is mapped."""

    def function(*operands: Any) -> Any:
        return bind(eqn, operands)

    axes = [-1 if _is_key(v.aval) else None for v in eqn.invars]
    words = [
        jax.ShapeDtypeStruct((*v.aval.shape, 2), np.uint32) if _is_key(v.aval) else v.aval
        for v in eqn.invars
    ]
    return jax.make_jaxpr(jax.vmap(function, in_axes=axes, out_axes=-1, axis_size=2))(*words)


def _is_key(aval: Any) -> bool:
    return str(getattr(aval, "dtype", "")).startswith("key<")
