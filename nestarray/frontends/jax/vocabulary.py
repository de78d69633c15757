"""The rules of JAX's primitives, by which jaxprs become calls of this frontend.

The primitive ``add`` is `jax.lax.add`: its name finds the function, and its parameters have the
names of the function's. `RULES` lists the exceptions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nestarray.frontends.jax as jax
from nestarray import dtypes
from nestarray.frontends import rules
from nestarray.frontends.jax.lax.products import ragged_axes
from nestarray.frontends.rules import Arguments

#: The module that programs import as ``jax``.
namespace = "nestarray.frontends.jax"

#: Parameters about placement and precision, which graphs do not have.
PLACEMENT = frozenset(
    ["accuracy", "indices_are_sorted", "out_sharding", "precision", "sharding",
     "unique_indices", "weak_type", "update_jaxpr", "update_consts"]
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rule(rules.Rule):
    """A rule with the conventions of primitives."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function with the printed name."""
        return function(self.name)

    def parameters(self, arguments: Arguments) -> Arguments:
        """Return the arguments by the names of the function's parameters."""
        kept = {k: v for k, v in arguments.items() if k not in PLACEMENT and v is not None}
        return super().parameters(kept)


def _mode(arguments: Arguments) -> Arguments:
    """The mode of indices as text; reads clamp broken promises, writes drop them."""
    mode = str(arguments["mode"])
    is_read = "slice_sizes" in arguments
    is_clamped = "CLIP" in mode or ("PROMISE" in mode and is_read)
    numbers = tuple(arguments["dimension_numbers"])
    return arguments | {
        "mode": "clip" if is_clamped else "fill" if is_read else "drop",
        "dimension_numbers": tuple([tuple(x) for x in numbers]),
    }


def _from_zero(arguments: Arguments) -> Arguments:
    """Starts below zero are clamped: jaxprs add the sizes themselves."""
    return arguments | {"allow_negative_indices": False}


def _conv(arguments: Arguments) -> Arguments:
    return arguments | {"dimension_numbers": tuple(map(tuple, arguments["dimension_numbers"]))}


def _rounding(arguments: Arguments) -> Arguments:
    return arguments | {"rounding_method": int(arguments["rounding_method"])}


def _axis(arguments: Arguments) -> Arguments:
    """The one axis."""
    (axis,) = arguments["axes"]
    return {k: v for k, v in arguments.items() if k != "axes"} | {"axis": axis}


def _without(*names: str) -> Callable[[Arguments], Arguments]:
    return lambda arguments: {k: v for k, v in arguments.items() if k not in names}


def _transform(arguments: Arguments) -> Arguments:
    """The kind as text."""
    return arguments | {"fft_type": arguments["fft_type"].name}


def _bits(arguments: Arguments) -> Arguments:
    """The dtype of a width."""
    dtype = dtypes.as_dtype(f"uint{arguments['bit_width']}")
    return _without("bit_width")(arguments) | {"dtype": dtype}


def _algorithm(arguments: Arguments) -> Arguments:
    """The algorithm as text."""
    name = arguments["algorithm"].name.removeprefix("RNG_").lower()
    return arguments | {"algorithm": name}


#: Settings of approximate maxima, which are exact here.
_APPROXIMATION = ("recall_target", "reduction_input_size_override", "aggregate_to_topk")


def _select(arguments: Arguments) -> Arguments:
    """The comparison as text."""
    return arguments | {"select_prim": arguments["select_prim"].name}


def _ragged(arguments: Arguments) -> Arguments:
    """The axes as tuples of integers."""
    numbers = ragged_axes(arguments["ragged_dot_dimension_numbers"])
    return arguments | {"ragged_dot_dimension_numbers": numbers}


#: The primitives whose function has another name, or other arguments.
RULES = {
    rule.operation: rule
    for rule in (
        Rule("add_any", "jax.lax.add"),
        Rule("and", "jax.lax.bitwise_and"),
        Rule("or", "jax.lax.bitwise_or"),
        Rule("xor", "jax.lax.bitwise_xor"),
        Rule("not", "jax.lax.bitwise_not"),
        Rule("round", "jax.lax.round", adapt=_rounding),
        Rule("conj", "jax.lax.conj", adapt=_without("input_dtype", "_input_dtype")),
        Rule("gather", "jax.lax.gather", adapt=_mode),
        Rule("scatter", "jax.lax.scatter", adapt=_mode),
        Rule("scatter-add", "jax.lax.scatter_add", adapt=_mode),
        Rule("scatter-sub", "jax.lax.scatter_sub", adapt=_mode),
        Rule("scatter_mul", "jax.lax.scatter_mul", adapt=_mode),
        Rule("scatter-mul", "jax.lax.scatter_mul", adapt=_mode),
        Rule("scatter_min", "jax.lax.scatter_min", adapt=_mode),
        Rule("scatter-min", "jax.lax.scatter_min", adapt=_mode),
        Rule("scatter_max", "jax.lax.scatter_max", adapt=_mode),
        Rule("scatter-max", "jax.lax.scatter_max", adapt=_mode),
        Rule("dynamic_slice", "jax.lax.dynamic_slice", adapt=_from_zero),
        Rule("dynamic_update_slice", "jax.lax.dynamic_update_slice", adapt=_from_zero),
        Rule("conv_general_dilated", "jax.lax.conv_general_dilated", adapt=_conv),
        Rule("reduce_window_sum", "jax.lax.reduce_window_sum"),
        Rule(
            "dim_as_value",
            "jax.lax.full",
            {"dim": "fill_value"},
            {"shape": (), "dtype": dtypes.int32},
        ),
        Rule("psum", "jax.lax.reduce_sum", adapt=_without("axis_index_groups")),
        Rule("pmax", "jax.lax.reduce_max", adapt=_without("axis_index_groups")),
        Rule("pmin", "jax.lax.reduce_min", adapt=_without("axis_index_groups")),
        Rule("iota", "jax.lax.broadcasted_iota"),
        Rule("argmax", "jax.lax.argmax", adapt=_axis),
        Rule("argmin", "jax.lax.argmin", adapt=_axis),
        Rule("random_seed", "jax.random.key", adapt=_without("impl")),
        Rule("random_wrap", "jax.random.wrap_key_data", adapt=_without("impl")),
        Rule("random_unwrap", "jax.random.key_data"),
        Rule("select_if_vmap", "jax.numpy.where"),  # of Equinox, as the next three
        Rule("unvmap_any", "jax.numpy.any"),
        Rule("unvmap_all", "jax.numpy.all"),
        Rule("unvmap_max", "jax.numpy.max"),
        Rule("random_bits", "jax.random.bits", adapt=_bits),
        Rule("random_fold_in", "jax.random.fold_in"),
        Rule("random_split", "jax.random.split", {"shape": "num"}),
        Rule("rng_bit_generator", "jax.lax.rng_bit_generator", adapt=_algorithm),
        Rule("approx_top_k", "jax.lax.approx_top_k", adapt=_without(*_APPROXIMATION)),
        Rule("regularized_incomplete_beta", "jax.lax.betainc"),
        Rule("select_and_gather_add", "jax.lax.select_and_gather_add", adapt=_select),
        Rule("select_and_scatter_add", "jax.lax.select_and_scatter_add", adapt=_select),
        Rule("ragged_dot_general", "jax.lax.ragged_dot_general", adapt=_ragged),
        Rule("eig", "jax.lax.linalg.eig", adapt=_without("enable_eigvec_derivs", "implementation")),
        Rule("fft", "jax.lax.fft", adapt=_transform),
        Rule("qr", "jax.lax.linalg.qr", adapt=_without("use_magma")),
        Rule("svd", "jax.lax.svd", adapt=_without("algorithm")),
        Rule(
            "eigh",
            "jax.lax.linalg.eigh",
            defaults={"symmetrize_input": False},
            adapt=_without("algorithm", "implementation"),
        ),
        Rule("cholesky", "jax.lax.linalg.cholesky", defaults={"symmetrize_input": False}),
    )
}


def find(op: str, /) -> Rule | None:
    """Return the rule of a primitive, by its name."""
    if op in RULES:
        return RULES[op]
    for name in (f"jax.lax.{op}", f"jax.lax.linalg.{op}"):
        if rules.public_function(jax, name, owner="nestarray") is not None:
            return Rule(op, name)
    return None


def function(printed_name: str, /) -> Callable[..., Any]:
    """Return the function of a printed name.

    Raises:
        ValueError: this frontend has no public function of this name.

    Example:
        >>> from nestarray.frontends.jax import vocabulary
        >>> vocabulary.function("jax.lax.add").__name__
        'add'
    """
    return rules.require_function(jax, printed_name, owner="nestarray")
