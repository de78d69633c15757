"""Calls of equations: of public functions, of ops of `na`, and of the functions of primitives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nestarray import dtypes
from nestarray.frontends import rules
from nestarray.frontends.jax import vocabulary
from nestarray.graph.node import Node, map_leaves
from nestarray.importers.jax.islands import name_of
from nestarray.importers.jax.jaxprs import aval_of, kept_call
from nestarray.importers.jax.named_calls import NamedCall, python_number
from nestarray.importers.jax.own_calls import Input, OwnCall
from nestarray.importers.jax.sizes import with_same_padding
from nestarray.importers.translator import Value

if TYPE_CHECKING:
    from nestarray.importers.jax.translation import Translation

#: Primitives whose functions take an array and numbers in place of 0-d arrays.
_TAKE_NUMBERS = frozenset(
    ["add", "atan2", "clamp", "div", "eq", "ge", "gt", "le", "lt", "max", "min", "mul", "ne",
     "pad", "pow", "rem", "sub", "dynamic_slice", "dynamic_update_slice"]
)  # fmt: skip


def rule_of(eqn: Any) -> vocabulary.Rule | None:
    """The rule of an equation whose parameters it takes."""
    name = eqn.primitive.name
    rule = vocabulary.find(name)
    if name in ("psum", "pmax", "pmin") and eqn.primitive.multiple_results:
        return None  # JAX 0.8: of several operands
    return None if rule is None or rule.refusal(eqn.params) else rule


def is_single(eqn: Any) -> bool:
    """Whether the call of an equation returns one array."""
    public = kept_call(eqn)
    is_array = public is not None and (isinstance(public, NamedCall) or public.is_single)
    return is_array or not eqn.primitive.multiple_results


def call(to: Translation, eqn: Any, inputs: Sequence[Value]) -> Node:
    """A call of a public function, of an op of `na`, of the rule's function, or an island."""
    name, origin = "", to.name_of(eqn)
    public, rule = kept_call(eqn), rule_of(eqn)
    if isinstance(public, OwnCall):
        call, origin = _own_call(to, public, inputs), public.op.name
    elif public is not None:
        call = _named_call(to, eqn, public, inputs)
    elif rule is not None:
        call = _lax_call(to, eqn, rule, inputs)
    else:
        name = name_of(eqn)
        takes = [dtypes.as_dtype(str(v.aval.dtype)) for v in eqn.invars]
        call = to.island(name, inputs, takes)
    aval = aval_of(eqn.outvars[0].aval) if is_single(eqn) else None
    return to.call(call, name, aval=aval, origin=origin)


def _lax_call(
    to: Translation, eqn: Any, rule: vocabulary.Rule, inputs: Sequence[Value]
) -> rules.Call:
    """A call of the function of a primitive; a broadcast number fills an array."""
    name = eqn.primitive.name
    params = settings(to, with_same_padding(eqn))
    if name == "broadcast_in_dim" and inputs[0].known is not None:
        number = np.asarray(inputs[0].known)
        if number.shape == ():
            dtype = dtypes.as_dtype(eqn.outvars[0].aval.dtype)
            filled = {"fill_value": number.item(), "dtype": dtype}
            return vocabulary.Rule(name, "jax.lax.full").call({"shape": params["shape"], **filled})
    arguments = [_argument(to, name, x) for x in inputs]
    return rule.call({**rule.operands(arguments), **params})


def _argument(to: Translation, name: str, value: Value) -> Any:
    """The node of an operand, or a number."""
    number = None if value.known is None else _number(value.known)
    return to.node(value) if number is None or name not in _TAKE_NUMBERS else number


def _named_call(to: Translation, eqn: Any, named: NamedCall, inputs: Sequence[Value]) -> rules.Call:
    """A call of a public function, by position, with settings by name."""
    args = [
        _named_argument(to, x, var.aval)
        for x, var, is_given in zip(inputs, eqn.invars, named.is_given, strict=True)
        if is_given
    ]
    return rules.Call(named.rule.function, named.rule.name, tuple(args), named.settings)


def _named_argument(to: Translation, value: Value, aval: Any) -> Any:
    """The node of an operand, or a weak number."""
    number = None if value.known is None else python_number(value.known, aval)
    return number if isinstance(number, (int, float, complex)) else to.node(value)


def _own_call(to: Translation, call: OwnCall, inputs: Sequence[Value]) -> rules.Call:
    """A call of an op of `na`."""

    def held(x: Any) -> Any:
        return to.node(inputs[x.index]) if isinstance(x, Input) else to.sizes.replaced(x)

    args, kwargs = map_leaves(held, [list(call.args), call.kwargs])
    return rules.Call(call.op.function, f"na.{call.op.name}", tuple(args), kwargs)


def _number(value: Any) -> Any:
    """The Python number of a 0-d array; None for other arrays, keys, bools and complex numbers."""
    if getattr(value, "shape", ()) != () or dtypes.is_key(value):
        return None
    number = value.item() if hasattr(value, "item") else value
    return number if type(number) in (int, float) else None


def settings(to: Translation, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as the graph holds them."""
    return {key: _setting(to.sizes.replaced(value)) for key, value in params.items()}


def _setting(value: Any) -> Any:
    if isinstance(value, (np.dtype, type)):  # JAX's dtypes are classes
        return dtypes.as_dtype(value)
    if isinstance(value, np.integer):
        return int(value)
    if hasattr(value, "_fields"):
        return type(value)(*map(_setting, value))
    if type(value) in (tuple, list):
        return type(value)([_setting(item) for item in value])
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value
