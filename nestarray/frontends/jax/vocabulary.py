"""The rules of JAX's primitives, by which jaxprs become calls of this frontend.

The primitive ``add`` is `jax.lax.add`: its name finds the function, and its parameters have the
names of the function's. `RULES` lists the exceptions. A parameter that neither the rule nor the
function knows, as of a later release, is accepted at its default value.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import nestarray.frontends.jax as jax
from nestarray import dtypes
from nestarray.errors import MissingOpError
from nestarray.frontends import rules
from nestarray.frontends.jax.lax.products import ragged_axes
from nestarray.frontends.rules import Arguments

#: The module that programs import as ``jax``.
namespace = "nestarray.frontends.jax"

#: Parameters without effect on values, of any primitive: placement, precision and promises.
NO_EFFECT = frozenset(
    ["accuracy", "indices_are_sorted", "out_sharding", "precision", "sharding",
     "unique_indices", "weak_type"]
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rule(rules.Rule):
    """A rule with the conventions of primitives.

    Attributes:
        no_effect: parameters of this primitive without effect on values.
        variadic: the parameter that takes its operand and all later ones as a list.
    """

    no_effect: tuple[str, ...] = ()
    variadic: str = ""

    @property
    def function(self) -> Callable[..., Any]:
        """The function with the printed name."""
        return function(self.name)

    def operands(self, values: Sequence[Any]) -> Arguments:
        """Return the operands of an equation by the names of the function's parameters."""
        parameters = rules.signature_of(self.function).parameters
        names = [*parameters]
        spread = [
            n for n, p in parameters.items() if p.kind is p.VAR_POSITIONAL or n == self.variadic
        ]
        if not spread:
            return dict(zip(names, values))
        first = names.index(spread[0])
        return dict(zip(names[:first], values)) | {spread[0]: list(values[first:])}

    def parameters(self, arguments: Arguments) -> Arguments:
        """Return the arguments by the names of the function's parameters.

        Raises:
            MissingOpError: the function does not take one of them, which is not at its default.
        """
        dropped = {*NO_EFFECT, *self.no_effect}
        kept = {k: v for k, v in arguments.items() if k not in dropped and v is not None}
        named, taken = super().parameters(kept), rules.signature_of(self.function).parameters
        for name in [name for name in named if name not in taken]:
            value = named.pop(name)
            if not is_default(self.name, name, value):
                raise MissingOpError(f"{self.operation}: {refused(self.name, name, value)}")
        return named

    def refusal(self, parameters: Mapping[str, Any]) -> str:
        """Return why an equation with these parameters has no call; empty if it has or needs none."""
        if self.is_ignored:
            return ""
        named = {**self.defaults, **parameters}
        try:
            self.parameters(self.adapt(named) if self.adapt else named)
        except MissingOpError as error:
            return str(error).removeprefix(f"{self.operation}: ")
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            return unknown_form(error)
        return ""


def is_default(printed_name: str, parameter: str, value: Any) -> bool:
    """Return whether a value is the default of a parameter.

    The default is the one of JAX's function. If it has no such parameter, or no default, None,
    False and empty values are.

    Args:
        printed_name: of JAX's function, ``"jax.lax.top_k"``.
        parameter: a name that nestarray does not know.
        value: of this parameter in an equation.
    """
    default = _default(printed_name, parameter)
    if type(value) is type(default) and value == default:
        return True
    return _is_off(value) and (default is inspect.Parameter.empty or _is_off(default))


def refused(printed_name: str, parameter: str, value: Any) -> str:
    """Return the text for a parameter that nestarray does not know, and the remedy."""
    default = _default(printed_name, parameter)
    has_none = default is inspect.Parameter.empty
    remedy = "leave it out" if has_none else f"use the default {parameter}={default!r}"
    return (
        f"parameter {parameter}={value!r} (JAX {_upstream().__version__}) is unknown; {remedy}, or "
        "update nestarray"
    )


def unknown_form(error: Exception) -> str:
    """Return the text for parameters that are not as nestarray knows them, and the remedy."""
    return (
        f"its parameters have a form that is unknown ({type(error).__name__}: {error}; JAX "
        f"{_upstream().__version__}); update nestarray, or install a release of JAX that "
        "`nestarray doctor` calls tested"
    )


def _is_off(value: Any) -> bool:
    is_empty = isinstance(value, (tuple, list, dict, str)) and not value
    return value is None or value is False or is_empty


def _upstream() -> Any:
    """JAX itself."""
    return importlib.import_module("jax")


def _default(printed_name: str, parameter: str) -> Any:
    """The default of a parameter of JAX's function; `inspect.Parameter.empty` if it has none."""
    try:
        owner = functools.reduce(getattr, printed_name.split(".")[1:], _upstream())
        return inspect.signature(owner).parameters[parameter].default
    except (AttributeError, KeyError, TypeError, ValueError):
        return inspect.Parameter.empty


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


def _transform(arguments: Arguments) -> Arguments:
    """The kind as text."""
    return arguments | {"fft_type": arguments["fft_type"].name}


def _bits(arguments: Arguments) -> Arguments:
    """The dtype of a width."""
    dtype = dtypes.as_dtype(f"uint{arguments['bit_width']}")
    return {k: v for k, v in arguments.items() if k != "bit_width"} | {"dtype": dtype}


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


_SCATTERS = (
    "scatter", "scatter-add", "scatter-sub", "scatter_mul", "scatter-mul", "scatter_min",
    "scatter-min", "scatter_max", "scatter-max",
)  # fmt: skip

#: Primitives without effect on values: copies and placement, and those without results.
_IGNORED = (
    "copy", "copy_p", "device_put", "layout_constraint", "name", "optimization_barrier", "pvary",
    "random_clone", "nonbatchable", "reshard", "shard_alike", "sharding_constraint",
    "debug_callback", "debug_print", "inspect_sharding",
)  # fmt: skip

#: The primitives whose function has another name, or other arguments, or that have none.
RULES = {
    rule.operation: rule
    for rule in (
        *[Rule(name, "") for name in _IGNORED],
        Rule("add_any", "jax.lax.add"),
        Rule("and", "jax.lax.bitwise_and"),
        Rule("or", "jax.lax.bitwise_or"),
        Rule("xor", "jax.lax.bitwise_xor"),
        Rule("not", "jax.lax.bitwise_not"),
        Rule("round", "jax.lax.round", adapt=_rounding),
        Rule("conj", "jax.lax.conj", no_effect=("input_dtype", "_input_dtype")),
        Rule("concatenate", "jax.lax.concatenate", variadic="operands"),
        Rule("stack", "jax.lax.stack", variadic="operands"),
        Rule("sort", "jax.lax.sort", variadic="operand"),
        Rule("polynomial", "jax.lax.polynomial", variadic="coeffs"),
        Rule("gather", "jax.lax.gather", adapt=_mode),
        *[
            Rule(
                name,
                f"jax.lax.{name.replace('-', '_')}",
                adapt=_mode,
                no_effect=("update_jaxpr", "update_consts"),
            )
            for name in _SCATTERS
        ],
        Rule("dynamic_slice", "jax.lax.dynamic_slice", adapt=_from_zero, variadic="start_indices"),
        Rule(
            "dynamic_update_slice",
            "jax.lax.dynamic_update_slice",
            adapt=_from_zero,
            variadic="start_indices",
        ),
        Rule("conv_general_dilated", "jax.lax.conv_general_dilated", adapt=_conv),
        Rule("reduce_window_sum", "jax.lax.reduce_window_sum"),
        Rule(
            "dim_as_value",
            "jax.lax.full",
            {"dim": "fill_value"},
            {"shape": (), "dtype": dtypes.int32},
        ),
        Rule("psum", "jax.lax.reduce_sum"),
        Rule("pmax", "jax.lax.reduce_max"),
        Rule("pmin", "jax.lax.reduce_min"),
        Rule("iota", "jax.lax.broadcasted_iota"),
        Rule("argmax", "jax.lax.argmax", adapt=_axis),
        Rule("argmin", "jax.lax.argmin", adapt=_axis),
        Rule("random_seed", "jax.random.key", no_effect=("impl",)),
        Rule("random_wrap", "jax.random.wrap_key_data", no_effect=("impl",)),
        Rule("random_unwrap", "jax.random.key_data"),
        Rule("select_if_vmap", "jax.numpy.where"),  # of Equinox, as the next three
        Rule("unvmap_any", "jax.numpy.any"),
        Rule("unvmap_all", "jax.numpy.all"),
        Rule("unvmap_max", "jax.numpy.max"),
        Rule("random_bits", "jax.random.bits", adapt=_bits),
        Rule("random_fold_in", "jax.random.fold_in"),
        Rule("random_split", "jax.random.split", {"shape": "num"}),
        Rule("rng_bit_generator", "jax.lax.rng_bit_generator", adapt=_algorithm),
        Rule("approx_top_k", "jax.lax.approx_top_k", no_effect=_APPROXIMATION),
        Rule("regularized_incomplete_beta", "jax.lax.betainc"),
        Rule("select_and_gather_add", "jax.lax.select_and_gather_add", adapt=_select),
        Rule("select_and_scatter_add", "jax.lax.select_and_scatter_add", adapt=_select),
        Rule("ragged_dot_general", "jax.lax.ragged_dot_general", adapt=_ragged),
        Rule("eig", "jax.lax.linalg.eig", no_effect=("enable_eigvec_derivs", "implementation")),
        Rule("fft", "jax.lax.fft", adapt=_transform),
        Rule("qr", "jax.lax.linalg.qr", no_effect=("use_magma",)),
        Rule("svd", "jax.lax.svd", no_effect=("algorithm",)),
        Rule(
            "eigh",
            "jax.lax.linalg.eigh",
            defaults={"symmetrize_input": False},
            no_effect=("algorithm", "implementation"),
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
