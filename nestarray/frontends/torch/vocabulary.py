"""The rules of ATen operations, by which `torch.export` programs become calls of this frontend.

``aten.linear.default`` is `torch.nn.functional.linear`: the operation's name finds the function,
and the names of its schema's arguments find the parameters. `RULES` lists the exceptions.
Arguments without a parameter raise an error, except arguments about storage (`PARAMETERS`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import nestarray.frontends.torch as torch
from nestarray.errors import MissingOpError
from nestarray.frontends import rules
from nestarray.frontends.rules import Arguments, signature_of

#: The module that programs import as ``torch``.
namespace = "nestarray.frontends.torch"

#: Schema argument → parameter, for functions that have no parameter of the argument's name; None
#: for arguments about storage, copies and random generators, which graphs do not have.
PARAMETERS: dict[str, str | None] = {
    **dict.fromkeys(("device", "layout", "memory_format", "pin_memory", "non_blocking"), None),
    **dict.fromkeys(("copy", "implicit", "generator", "sparse_grad"), None),
    **dict.fromkeys(("cudnn_enabled", "cudnn_enable"), None),
    "x": "input",
    "grad_output": "grad",
    "element": "elements",
    "test_element": "test_elements",
    "train": "training",
    "from": "from_",
    "tensors": "operands",
    "split_size": "split_size_or_sections",
    "split_sizes": "split_size_or_sections",
    "sections": "indices_or_sections",
    "indices": "indices_or_sections",
    "tensor_indices_or_sections": "indices_or_sections",
}


@dataclass(frozen=True, eq=False)
class Rule(rules.Rule):
    """A rule with the conventions of ATen's schemas."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function with the printed name."""
        if self.name.startswith("operator."):
            return getattr(operator, self.name.removeprefix("operator."))
        return function(self.name)

    def parameters(self, arguments: Arguments) -> Arguments:
        """Return the arguments by the names of the function's parameters."""
        known = signature_of(self.function).parameters
        found: Arguments = {}
        for argument, value in arguments.items():
            name = self._parameter(argument, known)
            if name is None:
                continue
            if name == "reduction" and isinstance(value, int):
                value = ("none", "mean", "sum")[value]
            elif name in known and known[name].kind is known[name].VAR_POSITIONAL:
                value = self._spread(name, value)
            found[name] = value
        return found

    def _parameter(self, argument: str, known: Mapping[str, Any]) -> str | None:
        if argument in self.names:
            return self.names[argument]
        if argument == "self":  # the first parameter, if none has upstream's name for it
            return "input" if "input" in known else next(iter(known))
        other = PARAMETERS.get(argument, argument)
        return argument if other is not None and argument in known else other

    def _spread(self, name: str, value: Any) -> Any:
        """Spread arrays, ``meshgrid(x, y)``; keep sizes as one list, ``view(x, [2, 3])``.

        The result of ``atleast_1d.Sequence`` is a tuple, also for one array.
        """
        is_kept = name in ("size", "repeats") or self.operation.endswith(".Sequence")
        return [value] if is_kept else value

    def is_random(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the function takes a ``key``, trains, and dropout is not switched off."""
        for name in ("training", "train"):
            parameter = signature_of(self.function).parameters.get(name)
            if arguments.get(name, parameter and parameter.default) is False:
                return False
        rates = [arguments[name] for name in ("p", "dropout", "dropout_p") if name in arguments]
        return all(map(_may_be_positive, rates)) and super().is_random(arguments)


def _may_be_positive(value: Any) -> bool:
    return not isinstance(value, (int, float)) or value > 0


# -- converted arguments -------------------------------------------------------------------


def _with_dropout(arguments: Mapping[str, Any]) -> bool:
    return _may_be_positive(arguments.get("dropout_p", 0))


def _embedding(arguments: Arguments) -> Arguments:
    """Drop the padding index −1, which means no padding row."""
    return {k: v for k, v in arguments.items() if not (k == "padding_idx" and v == -1)}


#: Scale factors of the dimensions.
_SCALES = ("scales", "scales_d", "scales_h", "scales_w")


def _upsampled(arguments: Arguments) -> Arguments:
    """Choose between size and scale factors; an empty list counts as None.

    Single factors take precedence over sizes: coordinates are computed from them.
    """
    single = [arguments[k] for k in _SCALES if arguments.get(k) is not None]
    size = None if single else arguments.get("output_size")
    factors = single or arguments.get("scale_factors")
    found: Arguments = {"input": arguments.get("self", arguments.get("input"))}
    if size:
        found["size"] = tuple(size)
    elif factors:
        found["scale_factor"] = tuple(factors)
    found |= {k: arguments[k] for k in ("mode", "align_corners", "antialias") if arguments.get(k)}
    return found


def _upsampled_backward(arguments: Arguments) -> Arguments:
    """Take the settings of the forward pass, and the size of its input."""
    settings = _upsampled(arguments)
    del settings["input"]
    return {k: arguments[k] for k in ("grad_output", "input_size")} | settings


#: Words for ATen's numbers of modes.
_SAMPLING_MODES = {
    "interpolation_mode": ("bilinear", "nearest", "bicubic"),
    "padding_mode": ("zeros", "border", "reflection"),
}


def _sampled(arguments: Arguments) -> Arguments:
    """Replace the numbers of modes by words."""
    return {
        k: _SAMPLING_MODES[k][v] if k in _SAMPLING_MODES and v is not None else v
        for k, v in arguments.items()
    }


# -- rows ----------------------------------------------------------------------------------

#: Operations whose names, or whose arguments' names, differ from their function's. The first row
#: that applies is used.
RULES: list[Rule] = [
    # no effect on values
    Rule("aten._assert_tensor_metadata.default", ""),
    Rule("aten._assert_async.default", ""),
    Rule("aten._assert_async.msg", ""),
    Rule("aten._assert_scalar.default", ""),
    Rule("aten.sym_constrain_range.default", ""),
    Rule("aten.sym_constrain_range_for_size.default", ""),
    Rule("torch._check", ""),
    Rule("torch.sym_constrain_range", ""),
    # names of operators and methods
    Rule("aten.__and__", "torch.bitwise_and"),
    Rule("aten.__or__", "torch.bitwise_or"),
    Rule("aten.__xor__", "torch.bitwise_xor"),
    Rule("aten.__lshift__", "torch.bitwise_left_shift"),
    Rule("aten.__rshift__", "torch.bitwise_right_shift"),
    Rule("aten.max.other", "torch.maximum"),
    Rule("aten.min.other", "torch.minimum"),
    Rule("aten._conj", "torch.conj"),
    Rule("aten._neg_view", "torch.neg"),
    Rule("aten._to_copy", "torch.Tensor.to"),
    Rule("aten._local_scalar_dense", "torch.Tensor.item"),
    Rule("aten.sym_numel", "torch.numel"),
    Rule("aten.sym_size", "torch.Tensor.size"),
    # indexing, sizes and windows
    Rule("aten._index_put_impl", "torch.index_put"),
    Rule("aten._unsafe_index_put", "torch.index_put"),
    Rule("aten._unsafe_index", "torch.ops.aten.index"),
    Rule("aten.scatter.value", "torch.scatter", {"value": "src"}),
    Rule("aten.scatter.value_reduce", "torch.scatter", {"value": "src"}),
    Rule("aten.repeat_interleave.Tensor", "torch.repeat_interleave", {"repeats": "input"}),
    Rule("aten.split_with_sizes", "torch.split"),
    Rule("aten.split_copy", "torch.split"),
    Rule("aten.unfold", "torch.Tensor.unfold"),
    Rule("aten.unique_consecutive", "torch.ops.aten.unique_consecutive"),
    Rule("aten.bincount", "torch.ops.aten.bincount", result_sizes=("length",)),
    Rule("aten.im2col", "torch.nn.functional.unfold"),
    Rule("aten.col2im", "torch.nn.functional.fold"),
    *(
        Rule(f"aten.{name}_pad{n}d", "torch.nn.functional.pad", {"padding": "pad"}, {"mode": mode})
        for name, mode in (("reflection", "reflect"), ("replication", "replicate"))
        for n in (1, 2, 3)
    ),
    Rule("aten.constant_pad_nd", "torch.nn.functional.pad"),
    # linear algebra, spectra and distances
    Rule("aten.linalg_householder_product", "torch.linalg.householder_product", {"input": "A"}),
    Rule("aten.linalg_matrix_rank.atol_rtol_tensor", "torch.linalg.matrix_rank", {"input": "A"}),
    Rule(
        "aten.linalg_matrix_rank.tol_tensor",
        "torch.linalg.matrix_rank",
        {"input": "A", "tol": "atol"},
        {"rtol": 0.0},
    ),
    Rule("aten.cholesky_solve", "torch.cholesky_solve", {"input2": "L"}),
    Rule("aten.ormqr", "torch.ormqr", {"input2": "tau", "input3": "other"}),
    Rule("aten.stft.default", "torch.stft", defaults={"center": False}),
    Rule("aten._cdist_forward", "torch.cdist"),
    Rule("aten._pdist_forward", "torch.nn.functional.pdist"),
    # random numbers
    *(
        Rule(f"aten.{name}", f"torch.{name.partition('.')[0]}", defaults={"low": 0})
        for name in (
            "randint.default", "randint.generator", "randint_like.default", "randint_like.generator",
        )
    ),
    Rule(
        "aten.native_dropout.default", "torch.nn.functional.dropout", first_result=True
    ),
    # networks
    Rule(
        "aten.scaled_dot_product_attention", "torch.nn.functional.dropout_attention",
        {"key": "keys", "value": "values"}, when=_with_dropout,
    ),
    Rule(
        "aten.embedding", "torch.nn.functional.embedding", {"indices": "input"}, adapt=_embedding
    ),
    Rule("aten._embedding_bag_forward_only", "torch.ops.aten._embedding_bag"),
    Rule("aten._grouped_mm", "torch.nn.functional.grouped_mm", {"input": "mat_a", "mat2": "mat_b"}),
    Rule("aten.native_channel_shuffle", "torch.nn.functional.channel_shuffle"),
    Rule("aten.log_sigmoid", "torch.nn.functional.logsigmoid"),
    Rule("aten.cross_entropy_loss", "torch.nn.functional.cross_entropy"),
    Rule("aten.nll_loss_nd", "torch.nn.functional.nll_loss"),
    Rule("aten.nll_loss2d", "torch.nn.functional.nll_loss"),
    Rule(
        "aten._native_batch_norm_legit_no_training.default", "torch.nn.functional.batch_norm",
        first_result=True,
    ),
    Rule("aten._fused_rms_norm.default", "torch.nn.functional.rms_norm", first_result=True),
    Rule("aten._adaptive_avg_pool2d", "torch.nn.functional.adaptive_avg_pool2d"),
    Rule("aten._adaptive_avg_pool3d", "torch.nn.functional.adaptive_avg_pool3d"),
    *(
        Rule(f"aten.{name}", f"torch.ops.aten.{name}")  # with indices, unlike the public functions
        for name in (
            "adaptive_max_pool2d", "adaptive_max_pool3d", "fractional_max_pool2d",
            "fractional_max_pool3d", "max_unpool2d", "max_unpool3d",
        )
    ),
    *(
        Rule(
            f"aten.{name}", "torch.nn.functional.grid_sample", {"interpolation_mode": "mode"},
            adapt=_sampled,
        )
        for name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d")
    ),
    *(
        Rule(
            f"aten.grid_sampler_{n}d_backward", f"torch.ops.aten.grid_sampler_{n}d_backward",
            {"interpolation_mode": "mode"}, adapt=_sampled,
        )
        for n in (2, 3)
    ),
    # before PyTorch 2.14
    Rule("aten._cdist_backward", "torch.ops.aten._cdist_backward", {"grad": "grad_output"}),
    *(
        Rule(f"aten.{name}{end}", to, defaults=settings, adapt=adapt)
        for end, to, adapt in (
            ("", "torch.nn.functional.interpolate", _upsampled),
            ("_backward", "torch.ops.aten.interpolate_backward", _upsampled_backward),
        )
        for name, settings in {
            "upsample_nearest1d": {"mode": "nearest"},
            "upsample_nearest2d": {"mode": "nearest"},
            "upsample_nearest3d": {"mode": "nearest"},
            "_upsample_nearest_exact1d": {"mode": "nearest-exact"},
            "_upsample_nearest_exact2d": {"mode": "nearest-exact"},
            "upsample_linear1d": {"mode": "linear"},
            "upsample_bilinear2d": {"mode": "bilinear"},
            "upsample_trilinear3d": {"mode": "trilinear"},
            "upsample_bicubic2d": {"mode": "bicubic"},
            "_upsample_bilinear2d_aa": {"mode": "bilinear", "antialias": True},
            "_upsample_bicubic2d_aa": {"mode": "bicubic", "antialias": True},
        }.items()
    ),
    # quantization
    *(
        Rule(f"aten.{name}", f"torch.fake_quantize_per_{unit}_affine", first_result=True)
        for name, unit in (
            ("fake_quantize_per_tensor_affine_cachemask.default", "tensor"),
            ("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default", "tensor"),
            ("fake_quantize_per_channel_affine_cachemask.default", "channel"),
        )
    ),
    # control flow
    Rule("torch.ops.higher_order.cond", "torch.cond"),
    Rule("torch.ops.higher_order.while_loop", "torch.while_loop"),
    Rule("torch.ops.higher_order.scan", "torch._higher_order_ops.scan"),
    Rule("torch.ops.higher_order.map_impl", "torch._higher_order_ops.map"),
    # Python's functions of sizes, in programs with open sizes
    *(
        Rule(f"_operator.{name}", f"operator.{name}", positional=True)
        for name in (
            "add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "pow", "eq", "ne", "lt",
            "le", "gt", "ge", "and_", "or_", "not_", "lshift", "rshift",
        )
    ),
    *(
        Rule(python, f"torch.{name}", positional=True)
        for python, name in {
            "builtins.round": "_sym_round", "_operator.abs": "_sym_abs", "math.floor": "_sym_floor",
            "math.ceil": "_sym_ceil", "math.trunc": "sym_int",
        }.items()
    ),
    *(
        Rule(f"torch.{name}", f"torch.{name}", positional=True)
        for name in (
            "sym_max", "sym_min", "sym_not", "sym_int", "sym_float", "sym_ite", "sym_sum",
            "_sym_sqrt",
        )
    ),
]  # fmt: skip


# -- lookup --------------------------------------------------------------------------------


def find(
    op: Any, arguments: Mapping[str, Any] | None = None, *, first_result: bool = False
) -> Rule | None:
    """Return the rule of an operation; None if the frontend has no function for it.

    Args:
        op: an ``OpOverload``, its name ``"aten.linear.default"``, or a Python function of
            sizes.
        arguments: the arguments of a call, by the names of the schema.
        first_result: whether only the first result of the call is used. The others are
            often saved statistics for torch's own backward pass.

    Example:
        >>> from nestarray.frontends.torch import vocabulary
        >>> vocabulary.find("aten.linear.default").name
        'torch.nn.functional.linear'
        >>> vocabulary.find("aten.native_dropout.default", first_result=True).name
        'torch.nn.functional.dropout'
    """
    given = arguments or {}
    for rule in _candidates(_name_of(op)):
        if (first_result or not rule.first_result) and (rule.when is None or rule.when(given)):
            return rule if rule.is_ignored or _accepts(rule, op) else None
    return None


def _candidates(operation: str) -> list[Rule]:
    """The rows of an operation in their order, then the public function of its name.

    Users add, correct and remove rows, so the list is read each time.
    """
    library, _, rest = operation.partition(".")
    base = rest.partition(".")[0]
    all_overloads = f"{'aten' if library == 'nestarray' else library}.{base}"
    rows = [rule for rule in RULES if rule.operation in (operation, all_overloads)]
    return [*(replace(rule, operation=operation) for rule in rows), *_by_name(operation)]


@cache
def _by_name(operation: str) -> tuple[Rule, ...]:
    """The rule of the public function that has the operation's name, if there is one."""
    library, _, rest = operation.partition(".")
    base = rest.partition(".")[0]
    names = [prefix + base for prefix in _NAMESPACES.get(library, ())]
    chapter, _, last = base.partition("_")
    if names and chapter in ("fft", "linalg", "special"):
        names.insert(0, f"torch.{chapter}.{last}")
    known = [name for name in names if rules.public_function(torch, name, owner=namespace)]
    return tuple(Rule(operation, name) for name in known[:1])


#: Library of operations → the namespaces that have functions of their names.
_ATEN = ("torch.", "torch.nn.functional.", "torch.Tensor.", "torch.ops.aten.")
_NAMESPACES = {
    "aten": _ATEN,
    "nestarray": _ATEN,  # custom operations in place of functions that torch.export rejects
    "transformers": ("torch.ops.transformers.",),
}


def function(printed_name: str) -> Callable[..., Any]:
    """Return the function of a printed name.

    Raises:
        ValueError: this frontend has no public function of this name.

    Example:
        >>> from nestarray.frontends.torch import vocabulary
        >>> vocabulary.function("torch.nn.functional.linear").__name__
        'linear'
    """
    return rules.require_function(torch, printed_name, owner=namespace)


def _accepts(rule: Rule, op: Any) -> bool:
    """Whether the function has a parameter for every required argument, and requires no others."""
    schema = getattr(op, "_schema", None)
    if schema is None:
        return True
    required = {
        a.name: [] if "[]" in str(a.type) or "List" in str(a.type) else None
        for a in schema.arguments
        if not a.has_default_value()
    }
    try:  # only names matter; variadic parameters receive an empty list
        call = rule.call(required)
        signature_of(call.function).bind(*call.args, **call.kwargs)
    except (MissingOpError, TypeError):
        return False
    return True


def _name_of(op: Any) -> str:
    """``"aten.linear.default"``, ``"_operator.add"``, ``"torch.sym_max"``."""
    if isinstance(op, str):
        return op
    if hasattr(op, "_schema"):
        return str(op)
    module, name = getattr(op, "__module__", ""), getattr(op, "__name__", "")
    return f"{module}.{name}" if module and name else str(op)
