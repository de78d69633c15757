"""Open sizes of JAX programs: names of axes, sizes as nodes, equations at other sizes.

In a graph a size is an expression in a shape, and a call of an operator in an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import tree_util

from nestarray.frontends.jax import vocabulary
from nestarray.graph.builder import GraphBuilder
from nestarray.graph.node import Node
from nestarray.graph.record.places import user_line
from nestarray.graph.size_nodes import written
from nestarray.importers.jax import custom_derivatives
from nestarray.importers.jax.dimensions import is_symbolic, native_scope, shape_of, size_of
from nestarray.importers.jax.equations import bind, call_of
from nestarray.importers.size_spec import SizeSpec, leaf_tree, place_of
from nestarray.sizes import Size, named, value_at
from nestarray.transforms.abstract import Scope


def named_axes(
    sizes: SizeSpec, names: Sequence[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[dict[int, str]]:
    """{axis: name} for each leaf of an example.

    Raises:
        ArgumentError, ShapeError: the specification does not fit the example.
    """
    arguments = [*zip(names, args, strict=True), *sorted(kwargs.items())]  # as JAX flattens dicts
    pairs = [
        ((tree_util.DictKey(name), *path), leaf)
        for name, value in arguments
        for path, leaf in tree_util.tree_flatten_with_path(value)[0]
    ]
    found = sizes.axes(leaf_tree(pairs, tree_util.keystr))
    places = [place_of(tree_util.keystr, path) for path, _ in pairs]
    return [{axis: name for (at, axis), name in found.items() if at == place} for place in places]


def scope_of(leaves: Sequence[Any], axes: Sequence[Mapping[int, str]]) -> Scope:
    """The relations of the open sizes of an example; JAX assumes that none is 0."""
    pairs = zip(leaves, axes, strict=True)
    example = {name: int(leaf.shape[i]) for leaf, each in pairs for i, name in each.items()}
    return Scope(dict.fromkeys(example, (1, None)), (), example, user_line)


def symbolic(leaves: Sequence[Any], axes: Sequence[Mapping[int, str]], scope: Scope) -> list[Any]:
    """The leaves, with symbolic shapes where axes have names."""
    native = native_scope(scope)

    def open_one(leaf: Any, names: Mapping[int, str]) -> Any:
        sizes = [named(names[i]) if i in names else n for i, n in enumerate(leaf.shape)]
        return jax.ShapeDtypeStruct(shape_of(sizes, native), leaf.dtype)

    return [
        open_one(leaf, names) if names else leaf for leaf, names in zip(leaves, axes, strict=True)
    ]


def has_symbolic(x: Any) -> bool:
    """Whether a parameter holds an open size, outside of jaxprs."""
    return any(map(has_symbolic, x)) if isinstance(x, (list, tuple)) else is_symbolic(x)


def with_same_padding(eqn: Any) -> Mapping[str, Any]:
    """The parameters of an equation, with "SAME" for the padding of open sizes that follows from it.

    The backends compute this padding, or pass it to their kernels; others than JAX's cannot tell
    that the sizes are not negative.
    """
    params = eqn.params
    if not has_symbolic(params.get("padding")):
        return params
    shape, numbers = eqn.invars[0].aval.shape, params.get("dimension_numbers")
    if numbers is None:
        window, gaps = params["window_dimensions"], params["window_dilation"]
        spread = params["base_dilation"]
    else:
        shape = [shape[i] for i in numbers.lhs_spec[2:]]
        window = [eqn.invars[1].aval.shape[i] for i in numbers.rhs_spec[2:]]
        gaps, spread = params["rhs_dilation"], params["lhs_dilation"]
    extent = [(n - 1) * d + 1 for n, d in zip(window, gaps, strict=True)]
    same = jax.lax.padtype_to_pads(shape, extent, params["window_strides"], "SAME")
    is_same = set(spread) == {1} and [*map(tuple, same)] == [*map(tuple, params["padding"])]
    return {**params, "padding": "SAME"} if is_same else params


def concrete(value: Any, sizes: Mapping[str, int], *, has_rules: bool = True) -> Any:
    """A parameter of a primitive with numbers for the names.

    Without rules, functions with custom derivatives have the derivatives of their formulas.
    """
    if is_symbolic(value) or isinstance(value, Size):
        return value_at(size_of(value), sizes)
    if isinstance(value, (list, tuple)):
        items = [concrete(item, sizes, has_rules=has_rules) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    jaxpr: Any = getattr(value, "jaxpr", value)
    if not hasattr(jaxpr, "eqns"):
        return value
    consts = getattr(value, "consts", ())

    def run(*args: Any) -> list[Any]:
        env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
        for eqn in jaxpr.eqns:
            operands = [x.val if hasattr(x, "val") else env[x] for x in eqn.invars]
            found = bound(eqn, operands, sizes, has_rules=has_rules)
            results = found if eqn.primitive.multiple_results else [found]
            env.update(zip(eqn.outvars, results, strict=True))
        return [x.val if hasattr(x, "val") else env[x] for x in jaxpr.outvars]

    avals = [
        jax.ShapeDtypeStruct(concrete(tuple(v.aval.shape), sizes), v.aval.dtype)
        for v in jaxpr.invars
    ]
    made = jax.make_jaxpr(run)(*avals)
    return made if value is not jaxpr else made.jaxpr


def bound(
    eqn: Any, operands: Sequence[Any], sizes: Mapping[str, int], *, has_rules: bool = True
) -> Any:
    """The value of an equation with numbers for the names."""
    primitive, params = eqn.primitive, eqn.params
    if primitive.name == "dim_as_value":
        return jnp.asarray(concrete(params["dim"], sizes), jnp.int32)
    if sizes and primitive.name in ("custom_jvp_call", "custom_vjp_call"):
        call = concrete(call_of(eqn).jaxpr, sizes, has_rules=False)
        rules = custom_derivatives.rules_of(eqn) if has_rules else ()
        # a rule often calls its own function
        numbered = [concrete(rule, sizes, has_rules=False) for rule in rules]
        return custom_derivatives.called(eqn, call, numbered, operands)
    if sizes:
        params = {key: concrete(value, sizes, has_rules=has_rules) for key, value in params.items()}
    return bind(eqn, operands, params)


def _functions() -> dict[str, tuple[str, Any]]:
    """JAX's functions of dimensions, as graphs have them."""
    printed = {name: f"jax.core.{name}_dim" for name in ("max", "min")}
    return {name: (text, vocabulary.function(text)) for name, text in printed.items()}


class SizeNodes:
    """The names of a program's sizes, and their nodes.

    Args:
        builder: of the graph.
        add: takes the size of each new node, and the node.
    """

    def __init__(self, builder: GraphBuilder, add: Callable[[Size, Node], Any]) -> None:
        self._builder, self._add = builder, add
        self._nodes: dict[str, Node] = {}

    def read(self, argument: Node, axes: Mapping[int, str]) -> None:
        """Take the named sizes of an argument."""
        for axis, name in axes.items():
            if name not in self._nodes:
                size = vocabulary.function("jax.numpy.size")
                args = (argument, axis)
                self._nodes[name] = self._builder.call(name, size, "jax.numpy.size", args)
                self._add(named(name), self._nodes[name])

    def replaced(self, value: Any) -> Any:
        """A parameter with nodes in place of open sizes."""
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)([self.replaced(item) for item in value])
        if not is_symbolic(value) and not isinstance(value, Size):
            return value
        names = self._nodes.__getitem__
        return written(self._builder, size_of(value), names, _functions(), self._add)
