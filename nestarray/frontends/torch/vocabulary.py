"""Which function of this frontend an ATen operation is, and how its arguments are passed.

``aten.linear.default`` is `torch.nn.functional.linear`: the name of the operation finds
the function, and its schema's argument names find the parameters. So most operations
need no entry here; `EXCEPTIONS` has those that are called otherwise, `RENAMED` the
parameters that are. An overload whose arguments the function does not take has no rule:
nothing is dropped silently but where and how an array is stored.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from nestarray.errors import MissingOpError
from nestarray.frontends.registry import Call
from nestarray.frontends.torch import fft, linalg, methods, ops, quantization, special
from nestarray.frontends.torch.nn import functional

Arguments = dict[str, Any]


class _Targets(frozenset[str]):
    """Names of operations, that contain the operations too."""

    def __contains__(self, target: object) -> bool:
        return super().__contains__(_name_of(target))


#: The module that programs import as ``torch``.
namespace = "nestarray.frontends.torch"

#: Operations without effect on values: graphs go without them.
IGNORED = _Targets(
    [
        "aten._assert_tensor_metadata.default",
        "aten._assert_async.default",
        "aten._assert_async.msg",
        "aten._assert_scalar.default",
        "aten.sym_constrain_range.default",
        "aten.sym_constrain_range_for_size.default",
        "torch._check",
        "torch.sym_constrain_range",
    ]
)

#: Schema arguments about storage, which is the framework's business, or about copies and
#: random generators, which values and keys replace.
UNUSED = frozenset(
    [
        "device",
        "layout",
        "memory_format",
        "pin_memory",
        "non_blocking",
        "copy",
        "implicit",
        "generator",
        "cudnn_enabled",
        "cudnn_enable",
        "sparse_grad",
    ]
)


#: Where the functions of sizes are; graphs pass their arguments by position.
_WITHOUT_SCHEMA = ("_operator", "math", "builtins", "nestarray.frontends.torch.symbolic")


@dataclass(frozen=True)
class Rule:
    """How one operation is called.

    Attributes:
        target: the operation, ``"aten.linear.default"``.
        function: an importable function of this frontend.
        name: as it is printed, ``"torch.nn.functional.linear"``.
        adapt: from schema arguments to parameters, where names alone do not tell.
    """

    target: str
    function: Callable[..., Any]
    name: str
    adapt: Callable[[Arguments], Arguments] | None = None

    @property
    def is_random(self) -> bool:
        """Whether the function can draw random numbers: it takes a ``key``."""
        return _takes_key(self.function)

    def arguments(self, schema_args: Mapping[str, Any]) -> tuple[tuple[Any, ...], Arguments]:
        """Positional and keyword arguments, from schema argument names and values."""
        call = self.call(schema_args)
        return call.args, call.kwargs

    def call(self, schema_args: Mapping[str, Any]) -> Call:
        """The call for these arguments; those at their schema's default may be left out.

        Raises:
            MissingOpError: the function does not take one of them.
        """
        if self.function.__module__ in _WITHOUT_SCHEMA:
            return Call(self.function, self.name, tuple(schema_args.values()), {}, False)
        function, name = self.function, self.name
        named = {k: v for k, v in schema_args.items() if k not in UNUSED}
        if function is functional.scaled_dot_product_attention and _may_exceed_zero(
            named.get("dropout_p", 0)
        ):
            function = functional.dropout_attention
            name = "torch.nn.functional.dropout_attention"
            named = {{"key": "keys", "value": "values"}.get(k, k): v for k, v in named.items()}
        if self.adapt is not None:
            named = self.adapt(named)
        args, kwargs = _bind(self.target, function, named)
        return Call(function, name, args, kwargs, _takes_key(function) and _draws(named))


def _takes_key(function: Callable[..., Any]) -> bool:
    parameter = _signature(function).parameters.get("key")
    return parameter is not None and parameter.kind is parameter.KEYWORD_ONLY


def _draws(named: Arguments) -> bool:
    """Whether a call of a function with a ``key`` needs it: dropout may be off."""
    if any(named.get(k) is False for k in ("training", "train")):
        return False
    return all(_may_exceed_zero(named[k]) for k in ("p", "dropout", "dropout_p") if k in named)


def _may_exceed_zero(value: Any) -> bool:
    return not isinstance(value, (int, float)) or value > 0


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError:  # some builtins have none
        return inspect.Signature()


def _bind(
    target: str, function: Callable[..., Any], named: Arguments
) -> tuple[tuple[Any, ...], Arguments]:
    """Arrays and required arguments by position, settings by name."""
    args: list[Any] = []
    kwargs: Arguments = {}
    by_position = True
    parameters = list(_signature(function).parameters.values())
    names = [p.name for p in parameters]
    itself = "input" if "input" in names else names[0]
    left = {(itself if k == "self" else k): v for k, v in named.items()}
    for parameter in parameters:
        source = parameter.name
        if source not in left:
            source = next((old for old in RENAMED.get(parameter.name, ()) if old in left), "")
        if not source:
            by_position = False
            continue
        value = _readable(parameter.name, left.pop(source))
        if parameter.kind is parameter.VAR_POSITIONAL:
            args.extend(value if _is_spread(target, parameter.name, value) else [value])
        elif by_position and _goes_by_position(parameter):
            args.append(value)
        else:
            by_position = False
            kwargs[parameter.name] = value
    if left:
        raise MissingOpError(
            f"{target}: {', '.join(left)}: {function.__name__} does not take "
            f"{'it' if len(left) == 1 else 'them'}; add the parameter to the frontend"
        )
    return tuple(args), kwargs


def _is_spread(target: str, name: str, value: Any) -> bool:
    """Sizes stay one list, ``view(x, [2, 3])``; arrays are spread, ``meshgrid(x, y)``.

    Of ``atleast_1d.Sequence`` the list says that a tuple comes back, also for one array.
    """
    is_list = isinstance(value, (list, tuple))
    return is_list and name not in ("size", "repeats") and not target.endswith(".Sequence")


def _goes_by_position(parameter: inspect.Parameter) -> bool:
    if parameter.kind is parameter.KEYWORD_ONLY:
        return False
    return parameter.default is parameter.empty or "Array" in str(parameter.annotation)


def _readable(name: str, value: Any) -> Any:
    """ATen's numbers for a kind of reduction as upstream's public words."""
    if name == "reduction" and isinstance(value, int):
        return ("none", "mean", "sum")[value]
    return value


#: Parameter → the schema arguments that mean it under another name. ATen's ``self`` is
#: ``input``, or the first parameter.
RENAMED: dict[str, tuple[str, ...]] = {
    "input": ("x",),
    "elements": ("element",),
    "test_elements": ("test_element",),
    "training": ("train",),
    "from_": ("from",),
    "operands": ("tensors",),
    "split_size_or_sections": ("split_size", "split_sizes"),
    "indices_or_sections": ("sections", "indices", "tensor_indices_or_sections"),
}

# -- exceptions ----------------------------------------------------------------------------


def _renamed(order: str) -> Callable[[Arguments], Arguments]:
    """Schema arguments under new names: ``"self→other other→input"``."""
    pairs = dict(pair.split("→") for pair in order.split())

    def adapt(named: Arguments) -> Arguments:
        return {pairs.get(k, k): v for k, v in named.items()}

    return adapt


def _embedding(named: Arguments) -> Arguments:
    """ATen's weight comes first, and −1 says that there is no padding row."""
    named = {("input" if k == "indices" else k): v for k, v in named.items()}
    if named.get("padding_idx") == -1:
        del named["padding_idx"]
    return named


#: One factor for each dimension, as schemas of ATen name them.
_SCALES = ("scales", "scales_d", "scales_h", "scales_w")


def _upsampled(mode: str, antialias: bool = False) -> Callable[[Arguments], Arguments]:
    """ATen has one operation a mode; sizes or factors decide, and an empty list is none."""

    def adapt(named: Arguments) -> Arguments:
        size = named.get("output_size")
        # Factors decide over sizes where both are there: coordinates are counted by them.
        alone = [named[k] for k in _SCALES if named.get(k) is not None]
        factors = alone or named.get("scale_factors")
        size = None if alone else size
        result: Arguments = {"input": named.get("self", named.get("input"))}
        if size:
            result["size"] = tuple(size)
            factors = None
        elif factors:
            result["scale_factor"] = tuple(factors)
        result["mode"] = mode
        if named.get("align_corners"):
            result["align_corners"] = True
        if antialias:
            result["antialias"] = True
        return result

    return adapt


def _upsampled_backward(mode: str, antialias: bool = False) -> Callable[[Arguments], Arguments]:
    """The settings of the forward pass, and the size of its input."""
    forward = _upsampled(mode, antialias)

    def adapt(named: Arguments) -> Arguments:
        settings = forward(named)
        del settings["input"]
        return {k: named[k] for k in ("grad_output", "input_size")} | settings

    return adapt


def _padded(mode: str) -> Callable[[Arguments], Arguments]:
    """ATen has one operation a mode."""

    def adapt(named: Arguments) -> Arguments:
        return {("pad" if k == "padding" else k): v for k, v in named.items()} | {"mode": mode}

    return adapt


def _from_zero(named: Arguments) -> Arguments:
    """The overload without a lower bound."""
    return {"low": 0, **named}


def _sampled(named: Arguments) -> Arguments:
    """ATen's numbers for the modes as upstream's public words."""
    words = {
        "interpolation_mode": ("mode", ("bilinear", "nearest", "bicubic")),
        "padding_mode": ("padding_mode", ("zeros", "border", "reflection")),
    }
    result: Arguments = {}
    for name, value in named.items():
        new, choices = words.get(name, (name, None))
        result[new] = choices[value] if choices is not None and value is not None else value
    return result


_INTERPOLATE = "torch.nn.functional.interpolate"
_UPSAMPLES: dict[str, tuple[str, bool]] = {
    "aten.upsample_nearest1d": ("nearest", False),
    "aten.upsample_nearest2d": ("nearest", False),
    "aten.upsample_nearest3d": ("nearest", False),
    "aten._upsample_nearest_exact1d": ("nearest-exact", False),
    "aten._upsample_nearest_exact2d": ("nearest-exact", False),
    "aten.upsample_linear1d": ("linear", False),
    "aten.upsample_bilinear2d": ("bilinear", False),
    "aten.upsample_trilinear3d": ("trilinear", False),
    "aten.upsample_bicubic2d": ("bicubic", False),
    "aten._upsample_bilinear2d_aa": ("bilinear", True),
    "aten._upsample_bicubic2d_aa": ("bicubic", True),
}

#: Operation (with or without its overload) → the function, and how to adapt the arguments.
EXCEPTIONS: dict[str, tuple[str, Callable[[Arguments], Arguments] | None]] = {
    "aten.__and__": ("torch.bitwise_and", None),
    "aten.__or__": ("torch.bitwise_or", None),
    "aten.__xor__": ("torch.bitwise_xor", None),
    "aten.__lshift__": ("torch.bitwise_left_shift", None),
    "aten.__rshift__": ("torch.bitwise_right_shift", None),
    "aten.max.other": ("torch.maximum", None),
    "aten.min.other": ("torch.minimum", None),
    "aten._conj": ("torch.conj", None),
    "aten._neg_view": ("torch.neg", None),
    "aten._to_copy": ("torch.Tensor.to", None),
    "aten.bincount": ("torch.ops.aten.bincount", None),
    "aten.embedding": ("torch.nn.functional.embedding", _embedding),
    "aten._index_put_impl": ("torch.index_put", None),
    "aten._unsafe_index_put": ("torch.index_put", None),
    "aten._unsafe_index": ("torch.ops.aten.index", None),
    "aten.split_with_sizes": ("torch.split", None),
    "aten.split_copy": ("torch.split", None),
    "aten.im2col": ("torch.nn.functional.unfold", None),
    "aten.col2im": ("torch.nn.functional.fold", None),
    "aten.log_sigmoid": ("torch.nn.functional.logsigmoid", None),
    "aten._adaptive_avg_pool2d": ("torch.nn.functional.adaptive_avg_pool2d", None),
    "aten._adaptive_avg_pool3d": ("torch.nn.functional.adaptive_avg_pool3d", None),
    "aten.constant_pad_nd": ("torch.nn.functional.pad", None),
    "aten.reflection_pad1d": ("torch.nn.functional.pad", _padded("reflect")),
    "aten.reflection_pad2d": ("torch.nn.functional.pad", _padded("reflect")),
    "aten.reflection_pad3d": ("torch.nn.functional.pad", _padded("reflect")),
    "aten.replication_pad1d": ("torch.nn.functional.pad", _padded("replicate")),
    "aten.replication_pad2d": ("torch.nn.functional.pad", _padded("replicate")),
    "aten.replication_pad3d": ("torch.nn.functional.pad", _padded("replicate")),
    **{name: (_INTERPOLATE, _upsampled(*how)) for name, how in _UPSAMPLES.items()},
    **{
        f"{name}_backward": ("torch.ops.aten.interpolate_backward", _upsampled_backward(*how))
        for name, how in _UPSAMPLES.items()
    },
    "aten.cross_entropy_loss": ("torch.nn.functional.cross_entropy", None),
    "aten.nll_loss_nd": ("torch.nn.functional.nll_loss", None),
    "aten.nll_loss2d": ("torch.nn.functional.nll_loss", None),
    "aten.adaptive_max_pool1d": ("torch.adaptive_max_pool1d", None),
    "aten.fractional_max_pool2d": ("torch.ops.aten.fractional_max_pool2d", None),
    "aten.fractional_max_pool3d": ("torch.ops.aten.fractional_max_pool3d", None),
    "aten.adaptive_max_pool2d": ("torch.ops.aten.adaptive_max_pool2d", None),
    "aten.adaptive_max_pool3d": ("torch.ops.aten.adaptive_max_pool3d", None),
    "aten.repeat_interleave.Tensor": ("torch.repeat_interleave", _renamed("repeats→input")),
    "aten.randint.default": ("torch.randint", _from_zero),
    "aten.randint.generator": ("torch.randint", _from_zero),
    "aten.randint_like.default": ("torch.randint_like", _from_zero),
    "aten.randint_like.generator": ("torch.randint_like", _from_zero),
    "aten.linalg_householder_product": (
        "torch.linalg.householder_product",
        _renamed("input→A"),
    ),
    "aten.cholesky_solve": ("torch.cholesky_solve", _renamed("input2→L")),
    "aten.ormqr": ("torch.ormqr", _renamed("input2→tau input3→other")),
    "aten.max_unpool2d": ("torch.ops.aten.max_unpool2d", None),
    "aten.max_unpool3d": ("torch.ops.aten.max_unpool3d", None),
    "aten._embedding_bag_forward_only": ("torch.ops.aten._embedding_bag", None),
    "aten.grid_sampler": ("torch.nn.functional.grid_sample", _sampled),
    "aten.grid_sampler_3d": ("torch.nn.functional.grid_sample", _sampled),
    "aten.grid_sampler_2d": ("torch.nn.functional.grid_sample", _sampled),
    "aten.grid_sampler_2d_backward": ("torch.ops.aten.grid_sampler_2d_backward", _sampled),
    "aten.grid_sampler_3d_backward": ("torch.ops.aten.grid_sampler_3d_backward", _sampled),
    "aten.scatter.value": ("torch.scatter", _renamed("value→src")),
    "aten.scatter.value_reduce": ("torch.scatter", _renamed("value→src")),
    "aten._cdist_forward": ("torch.cdist", None),
    "aten._pdist_forward": ("torch.nn.functional.pdist", None),
    "aten._local_scalar_dense": ("torch.Tensor.item", None),
    "aten.sym_numel": ("torch.numel", None),
    "aten.sym_size": ("torch.Tensor.size", None),
    "aten.unfold": ("torch.Tensor.unfold", None),
    "aten.unique_consecutive": ("torch.ops.aten.unique_consecutive", None),
    "aten.stft.default": ("torch.stft", lambda named: {"center": False, **named}),
}

#: Python functions of sizes, as they appear in graphs with sizes that a value decides.
PYTHON: dict[str, Callable[..., Any]] = {
    f"_operator.{f.__name__}": f
    for f in (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
        operator.mod, operator.neg, operator.pow, operator.eq, operator.ne, operator.lt,
        operator.le, operator.gt, operator.ge, operator.and_, operator.or_, operator.not_,
    )
}  # fmt: skip


#: Operations that take functions → the function.
HIGHER_ORDER: dict[str, str] = {
    "torch.ops.higher_order.cond": "torch.cond",
    "torch.ops.higher_order.while_loop": "torch.while_loop",
    "torch.ops.higher_order.scan": "torch._higher_order_ops.scan",
    "torch.ops.higher_order.map_impl": "torch._higher_order_ops.map",
}


def find(target: Any) -> Rule | None:
    """The rule of an operation; None if the frontend has no function for it.

    Args:
        target: an ``OpOverload``, its name ``"aten.linear.default"``, or a Python function
            of sizes.

    Example:
        >>> from nestarray.frontends.torch import vocabulary
        >>> vocabulary.find("aten.linear.default").name
        'torch.nn.functional.linear'
    """
    rule = _find(_name_of(target))
    if rule is None or rule.target.startswith("_operator."):
        return rule
    schema = getattr(target, "_schema", None)
    return rule if schema is None or _takes(rule, schema) else None


def function(printed_name: str) -> Callable[..., Any]:
    """The function of a printed name.

    Raises:
        ValueError: this frontend has no public function of this name.

    Example:
        >>> from nestarray.frontends.torch import vocabulary
        >>> vocabulary.function("torch.nn.functional.linear").__name__
        'linear'
    """
    import nestarray.frontends.torch as torch

    found: Any = torch
    for part in printed_name.split(".")[1:]:
        is_ours = isinstance(found, (ModuleType, type))
        found = found.__dict__.get(part) if is_ours and not part.startswith("__") else None
        if isinstance(found, staticmethod):
            found = found.__func__
        home = found.__name__ if isinstance(found, ModuleType) else getattr(found, "__module__", "")
        if not home.startswith(torch.__name__):
            break
    else:
        if isinstance(found, FunctionType):
            return found
    raise ValueError(f"there is no function {printed_name!r}")


def find_first(target: Any) -> Rule | None:
    """The rule of a function that gives just the first result of an operation with several.

    What is left of an operation in the graph is often that: the saved statistics of a
    normalization and the mask of a dropout serve torch's own backward pass.

    Example:
        >>> from nestarray.frontends.torch import vocabulary
        >>> vocabulary.find_first("aten.native_dropout.default").name
        'torch.nn.functional.dropout'
    """
    return _FIRST.get(_name_of(target))


_PER_TENSOR = "torch.fake_quantize_per_tensor_affine"

_FIRST = {
    rule.target: rule
    for rule in (
        Rule(
            "aten._native_batch_norm_legit_no_training.default",
            functional.batch_norm,
            "torch.nn.functional.batch_norm",
        ),
        Rule(
            "aten.native_dropout.default",
            functional.dropout,
            "torch.nn.functional.dropout",
            lambda a: {"training" if k == "train" else k: x for k, x in a.items()},
        ),
        *(
            Rule(f"aten.{name}", quantization.fake_quantize_per_tensor_affine, _PER_TENSOR)
            for name in (
                "fake_quantize_per_tensor_affine_cachemask.default",
                "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default",
            )
        ),
        Rule(
            "aten.fake_quantize_per_channel_affine_cachemask.default",
            quantization.fake_quantize_per_channel_affine,
            "torch.fake_quantize_per_channel_affine",
        ),
        Rule(
            "aten._fused_rms_norm.default",
            functional.rms_norm,
            "torch.nn.functional.rms_norm",
        ),
    )
}


@cache
def _find(name: str) -> Rule | None:
    if name in PYTHON:
        return Rule(name, PYTHON[name], name.replace("_operator", "operator"))
    library, _, rest = name.partition(".")
    base = rest.partition(".")[0]
    if library == "transformers":
        function = getattr(ops.transformers, base, None)
        return None if function is None else Rule(name, function, f"torch.ops.{library}.{base}")
    if name in HIGHER_ORDER:
        return Rule(name, _resolve(HIGHER_ORDER[name]), HIGHER_ORDER[name])
    if library == "torch":  # Python functions: torch.sym_max …
        from nestarray.frontends.torch import symbolic

        function = getattr(symbolic, rest, None)
        return None if function is None else Rule(name, function, f"torch.{rest}")
    if library not in ("aten", "nestarray"):  # which has ATen's names, for what cannot be exported
        return None
    exception = EXCEPTIONS.get(name) or EXCEPTIONS.get(f"aten.{base}")
    if exception is not None:
        path, adapt = exception
        return Rule(name, _resolve(path), path, adapt)
    for space, prefix, attribute in _spaces(base):
        function = space.__dict__.get(attribute)
        if inspect.isfunction(function) and not attribute.startswith("__"):
            return Rule(name, function, prefix + attribute)
    return None


def _spaces(base: str) -> list[tuple[ModuleType, str, str]]:
    """Where a function of this name may be: (module, its public name, attribute)."""
    import nestarray.frontends.torch as torch

    places = [
        (torch, "torch.", base),
        (functional, "torch.nn.functional.", base),
        (methods, "torch.Tensor.", base),
        (ops.aten, "torch.ops.aten.", base),
    ]
    for library, module in (("fft", fft), ("linalg", linalg), ("special", special)):
        if base.startswith(f"{library}_"):
            places.insert(0, (module, f"torch.{library}.", base.removeprefix(f"{library}_")))
    return places


def _resolve(path: str) -> Callable[..., Any]:
    import nestarray.frontends.torch as torch

    found: Any = torch
    for part in path.split(".")[1:]:
        found = getattr(found, part)
    return found


def _takes(rule: Rule, schema: Any) -> bool:
    """Whether the function has a parameter for every argument that must be given, and no further."""
    required = {
        a.name: [] if "[]" in str(a.type) or "List" in str(a.type) else None
        for a in schema.arguments
        if not a.has_default_value() and a.name not in UNUSED
    }
    try:  # the names alone matter; an empty list stands for what is spread into arguments
        call = rule.call(required)
        _signature(call.function).bind(*call.args, **call.kwargs)
    except (MissingOpError, TypeError):
        return False
    return True


def _name_of(target: Any) -> str:
    """``"aten.linear.default"``, ``"_operator.add"``, ``"torch.sym_max"``."""
    if isinstance(target, str):
        return target
    if hasattr(target, "_schema"):
        return str(target)
    module, name = getattr(target, "__module__", ""), getattr(target, "__name__", "")
    return f"{module}.{name}" if module and name else str(target)
