"""Open sizes of JAX programs: symbolic dimensions, as ``jax.export`` has them.

A dimension of a jaxpr is a number or a polynomial of names, ``2*batch + 1``. In a graph it is an
expression in a shape, and a call of an operator in an argument.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray import backends
from nestarray.frontends.jax import vocabulary
from nestarray.graph.builder import GraphBuilder
from nestarray.graph.node import Node
from nestarray.graph.size_nodes import written
from nestarray.graph.sizes import Sizes, evaluate
from nestarray.importers.jax import custom_derivatives
from nestarray.importers.jax.equations import bind, call_of
from nestarray.importers.jax.size_relations import (
    completed,
    conditions,
    equalities,
    in_python,
    parsed,
)
from nestarray.importers.size_spec import NativeSizes, SizeSpec, leaf_tree, place_of

_NATIVE = NativeSizes(lambda x: False, "", str)


def undecided_size() -> type[Exception]:
    """JAX's exception for a comparison of open sizes that it cannot decide."""
    return backends.chapter("jax", "core").undecided_size()


def named_axes(
    sizes: SizeSpec, names: Sequence[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[dict[int, str]]:
    """{axis: name} for each leaf of an example.

    Args:
        sizes: the specification.
        names: the names of `args`.
        args, kwargs: the example.

    Raises:
        ArgumentError, ShapeError: the specification does not fit the example.
    """
    from jax import tree_util

    arguments = [*zip(names, args, strict=True), *sorted(kwargs.items())]  # as JAX flattens dicts
    pairs = [
        ((tree_util.DictKey(name), *path), leaf)
        for name, value in arguments
        for path, leaf in tree_util.tree_flatten_with_path(value)[0]
    ]
    found = sizes.axes(leaf_tree(pairs, tree_util.keystr), _NATIVE)
    places = [place_of(tree_util.keystr, path) for path, _ in pairs]
    return [{axis: name for (at, axis), name in found.items() if at == place} for place in places]


def symbolic(
    leaves: Sequence[Any], axes: Sequence[Mapping[int, str]], relations: Sequence[str] = ()
) -> list[Any]:
    """The leaves, with symbolic shapes where axes have names, of which JAX knows the relations."""
    import jax
    import jax.export

    names = sorted({name for each in axes for name in each.values()})
    if not names:
        return list(leaves)
    shape = jax.export.symbolic_shape(", ".join(names), constraints=relations)
    dims = dict(zip(names, shape, strict=True))
    return [
        jax.ShapeDtypeStruct(
            tuple([dims[each[i]] if i in each else n for i, n in enumerate(leaf.shape)]), leaf.dtype
        )
        if each
        else leaf
        for leaf, each in zip(leaves, axes, strict=True)
    ]


def traced(
    trace: Callable[[list[Any]], Any], leaves: Sequence[Any], axes: Sequence[Mapping[int, str]]
) -> tuple[Any, tuple[str, ...]]:
    """The result of a trace with symbolic shapes, and the conditions on sizes that it depends on.

    Args:
        trace: takes the leaves of the example, with symbolic shapes.
        leaves, axes: see `symbolic`.
    """
    pairs = zip(leaves, axes, strict=True)
    example = {name: leaf.shape[i] for leaf, each in pairs for i, name in each.items()}
    found, relations = completed(
        lambda known: trace(symbolic(leaves, axes, known)),
        lambda message: conditions(message, example) or equalities(message),
    )
    return found, tuple(in_python(text) for text in relations if "==" not in text)


def is_symbolic(x: Any) -> bool:
    """Whether a dimension is a polynomial."""
    from jax.export import is_symbolic_dim

    return not isinstance(x, (int, float, str)) and is_symbolic_dim(x)


def has_symbolic(x: Any) -> bool:
    """Whether a parameter holds a polynomial, outside of jaxprs."""
    return any(map(has_symbolic, x)) if isinstance(x, (list, tuple)) else is_symbolic(x)


def text_of(size: Any) -> int | str:
    """A dimension as in the shape of an `Aval`."""
    return ast.unparse(parsed(size)) if is_symbolic(size) else int(size)


def with_same_padding(eqn: Any) -> Mapping[str, Any]:
    """The parameters of an equation, with "SAME" for the padding of open sizes that follows from it.

    The backends compute this padding, or pass it to their kernels; others than JAX's cannot tell
    that the polynomials are not negative.
    """
    params = eqn.params
    if not has_symbolic(params.get("padding")):
        return params
    import jax

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
    import jax

    if is_symbolic(value):
        return evaluate(ast.unparse(parsed(value)), sizes)
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
        import jax.numpy as jnp

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
        add: takes the expression of each new node, and the node.
    """

    def __init__(self, builder: GraphBuilder, add: Callable[[str, Node], Any]) -> None:
        self._builder, self._add = builder, add
        self._nodes: dict[str, Node] = {}
        self._example: dict[str, int] = {}

    def read(self, argument: Node, axes: Mapping[int, str], shape: Sequence[int]) -> None:
        """Take the named sizes of an argument."""
        for axis, name in axes.items():
            if name not in self._nodes:
                size = vocabulary.function("jax.numpy.size")
                args = (argument, axis)
                self._nodes[name] = self._builder.call(name, size, "jax.numpy.size", args)
                self._example[name] = int(shape[axis])
                self._add(name, self._nodes[name])

    def replaced(self, value: Any) -> Any:
        """A parameter with nodes in place of polynomials."""
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)([self.replaced(item) for item in value])
        if not is_symbolic(value):
            return value
        names = self._nodes.__getitem__
        return written(self._builder, parsed(value), names, _functions(), self._add)

    def sizes(self, conditions: tuple[str, ...]) -> Sizes:
        """The sizes of the graph; JAX assumes that none is 0."""
        return Sizes(dict.fromkeys(self._nodes, (1, None)), conditions, self._example)
