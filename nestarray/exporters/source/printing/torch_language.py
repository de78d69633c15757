"""Calls of PyTorch as a user writes them: names of settings, no defaults, operators."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.overrides import get_testing_overrides

from nestarray.dtypes import DType, as_dtype
from nestarray.exporters.source.functions import torch_functions
from nestarray.exporters.source.printing.constants import closed_form, without_mask
from nestarray.exporters.source.printing.expressions import (
    Expression,
    Names,
    number,
    operation_expression,
    value_expression,
)
from nestarray.exporters.source.printing.namespace_language import defined
from nestarray.exporters.source.recording.records import Call, Name, Value, values_in

#: Functions that read better as a method or an operator.
_METHODS = {
    "torch.swapaxes": "method:transpose", "torch.functional.split": "method:split",
    "torch.split": "method:split", "torch.flip": "method:flip",
    "torch.concat": "torch.cat", "torch.broadcast_to": "method:expand", "torch.abs": "method:abs",
    "torch.relu": "torch.nn.functional.relu",
} | {
    f"torch.{name}": f"method:{name}"
    for name in (
        "amax", "amin", "argmax", "argmin", "chunk", "clamp", "expand", "flatten", "mean",
        "permute", "repeat_interleave", "reshape", "squeeze", "std", "sum", "transpose", "unbind",
        "unsqueeze", "var", "view", "softmax",
    )
}  # fmt: skip
_OPERATORS = {
    "torch.add": "add", "torch.sub": "sub", "torch.subtract": "sub", "torch.mul": "mul",
    "torch.multiply": "mul", "torch.div": "truediv", "torch.divide": "truediv",
    "torch.true_divide": "truediv", "torch.matmul": "matmul", "torch.pow": "pow",
    "torch.neg": "neg", "torch.negative": "neg", "torch.eq": "eq", "torch.ne": "ne",
    "torch.lt": "lt", "torch.le": "le", "torch.gt": "gt", "torch.ge": "ge",
    "torch.less": "lt", "torch.greater": "gt", "torch.less_equal": "le",
    "torch.greater_equal": "ge", "torch.not_equal": "ne",
    "torch.bitwise_and": "and_", "torch.bitwise_or": "or_", "torch.bitwise_not": "invert",
}  # fmt: skip
#: Of booleans only.
_LOGICAL = {
    "torch.logical_and": "and_", "torch.logical_or": "or_", "torch.logical_not": "invert",
    "torch.logical_xor": "xor",
}  # fmt: skip
#: Settings that take one number for all axes.
_PER_AXIS = ("kernel_size", "stride", "padding", "dilation", "output_padding", "output_size")
#: Parameters that `get_testing_overrides` lacks.
_MORE = {
    "torch.nn.functional.scaled_dot_product_attention": {
        "is_causal": False, "scale": None, "enable_gqa": False
    },
    "torch.nn.functional.relu": {"inplace": False},
    "torch.arange": {"dtype": as_dtype("int64")},
    **{f"torch.{name}": {"dtype": as_dtype("float32")} for name in ("eye", "ones", "zeros")},
    **{
        f"method:{name}": {"dim": None, "keepdim": False}
        for name in ("amax", "amin", "argmax", "argmin", "mean", "sum", "std", "var")
    },
}  # fmt: skip
#: Functions of two arrays that take no numbers.
_OF_TENSORS = frozenset(
    f"torch.{name}"
    for name in (
        "arctan2", "atan2", "fmax", "fmin", "gcd", "heaviside", "hypot", "lcm", "logaddexp",
        "logaddexp2", "maximum", "minimum", "nextafter",
    )
)  # fmt: skip
#: Function of a recurrent network → its layer.
RECURRENT = {"torch.lstm": "torch.nn.LSTM", "torch.gru": "torch.nn.GRU"}
#: Settings that are written with their names.
_NAMED = ("keepdim",)
#: Settings that are written without their names after the array.
_FIRST = ("kernel_size", "output_size", "pad", "normalized_shape")
#: Methods whose sizes are separate arguments: ``x.reshape(2, 3)``.
_VARIADIC = ("reshape", "view", "expand", "permute", "flip")


class TorchLanguage:
    """How PyTorch's calls are written."""

    name = "torch"
    assigns = False

    # -- calls of a recording ---------------------------------------------------------------

    def normal(self, call: Call, constants: Mapping[Value, np.ndarray]) -> Any:
        """The call under the name that a user writes, with all settings by name.

        Args:
            call: of a recording.
            constants: the constants that are known.

        Returns:
            the call, or a Value or number that it equals.
        """
        kept = ("size", "int", "device", *RECURRENT)
        if call.target in kept or call.target.startswith(("operator.", "flow:", ".")):
            return call
        target, args, kwargs = call.target, list(call.args), dict(call.kwargs)
        if target.startswith("method:"):
            bare = target.removeprefix("method:")
            name = bare.strip("_")
            if f"torch.{name}" in {**_OPERATORS, **_LOGICAL}:
                target = f"torch.{name}"
            if name in ("long", "int", "float", "bool", "double", "half", "bfloat16"):
                kinds = {"long": "int64", "int": "int32", "float": "float32", "double": "float64"}
                target, args = "method:to", [*args, as_dtype(kinds.get(name, name))]
        if target == "torch.as_tensor":
            target = "method:to"
            args = [*args, kwargs.get("dtype")]
            kwargs = {}
        if not isinstance(kwargs.get("device"), Value):
            kwargs.pop("device", None)
        if target == "torch.constant_pad_nd":
            target, widths = "torch.nn.functional.pad", list(args[1])
            while widths[-2:] == [0, 0]:
                del widths[-2:]
            args[1] = tuple(widths)
            args = [*args[:2], "constant", *args[2:]]
        if target == "method:to":
            source = args[0]
            if not isinstance(source, Value):
                return source
            wanted = next((x for x in [*args[1:], *kwargs.values()] if isinstance(x, DType)), None)
            if wanted is None or wanted.name == source.dtype:
                return source
            return dataclasses.replace(call, target=target, args=(source, wanted), kwargs={})
        if target == "torch.arange" and args[::2] == [0, 1]:
            args = [args[1]]
        target = _METHODS.get(target, target)
        if target in ("method:amax", "method:amin"):
            axes = args[1] if len(args) > 1 else kwargs.get("dim")
            if axes == () and not kwargs.get("keepdim"):
                target, args, kwargs = f"method:{target[-3:]}", args[:1], {}
        if target == "method:sum" and args[1:] == [None]:
            args = args[:1]
        booleans = all(x.dtype == "bool" for x in values_in(args))
        operator = _OPERATORS.get(target) or (_LOGICAL.get(target) if booleans else None)
        if operator and set(kwargs) <= {"out"}:
            return dataclasses.replace(
                call, target=f"operator.{operator}", args=tuple(args), kwargs={}
            )
        args, kwargs = self._named(target, args, kwargs)
        if target == "torch.nn.functional.scaled_dot_product_attention":
            args, kwargs = without_mask(args, kwargs, "attn_mask", constants)
        if _keeps_shape(target, args, call):
            return args[0]
        if target == "method:permute" and (axes := swapped_axes(args[1:])):
            target, args = "method:transpose", [args[0], *axes]
        if target == "method:split" and isinstance(args[1], (list, tuple)) and len({*args[1]}) == 1:
            args = [args[0], args[1][0], *args[2:]]
        return dataclasses.replace(call, target=target, args=tuple(args), kwargs=kwargs)

    def _named(self, target: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Settings by name, with their defaults."""
        defaults = parameters(target)
        names = list(defaults)
        if target.startswith("method:") and target.partition(":")[2] in _VARIADIC:
            sizes = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
            return [args[0], *(sizes or kwargs.values() or [()])], {}
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for i, value in enumerate(args):
            is_named = i < len(names) and names[i] in _NAMED
            is_bare = i >= len(names) or (_is_positional(target) and not is_named)
            if not named and (values_in(value) or is_bare):
                positional.append(one_number(names[i], value) if i < len(names) else value)
            elif i < len(names):
                named[names[i]] = value
            else:
                return args, kwargs
        named |= kwargs
        for name in names[len(positional) :]:
            default = defaults[name]
            if default is not inspect.Parameter.empty:
                named.setdefault(name, default)
        in_order = sorted(
            named, key=lambda name: names.index(name) if name in names else len(names)
        )
        return positional, {k: one_number(k, named[k]) for k in in_order if k != "out"}

    # -- text ------------------------------------------------------------------------------

    def expression(self, call: Call, names: Names) -> Expression:
        """The text of a call."""

        def text(value: Any) -> str:
            return value if isinstance(value, Name) else (
                value_expression(value, names, self.dtype).text
            )  # fmt: skip

        if call.target == "state:set":
            old, new = (value_expression(x, names, self.dtype) for x in call.args)
            return Expression(f"{old.text} = {new.within(0)}.detach()")
        if call.target == "size":
            of = value_expression(call.args[0], names, self.dtype).within(0)
            return Expression(f"{of}.shape[{call.args[1]}]")
        if call.target == "int":
            return Expression(f"int({text(call.args[0])})")
        if call.target == "device":
            of = value_expression(call.args[0], names, self.dtype).within(0)
            return Expression(f"{of}.device")
        if call.target.startswith("operator."):
            name = call.target.removeprefix("operator.")
            return operation_expression(
                name, call.args, lambda x: value_expression(x, names, self.dtype)
            )
        is_of_tensors = call.target in _OF_TENSORS
        parts = [
            f"torch.tensor({text(x)})" if is_of_tensors and isinstance(x, (int, float)) else text(x)
            for x in call.args
        ]
        settings = self.without_defaults(call.target, call.kwargs)
        if settings and len(parts) == 1 and next(iter(settings)) in _FIRST:
            parts.append(text(settings.pop(next(iter(settings)))))
        parts += [f"{name}={text(value)}" for name, value in settings.items()]
        if call.target.startswith("method:"):
            of = value_expression(call.args[0], names, self.dtype).within(0)
            is_matrix = isinstance(call.args[0], Value) and len(call.args[0].shape) == 2
            if call.target == "method:transpose" and is_matrix:
                return Expression(f"{of}.T")
            return Expression(f"{of}.{call.target[7:]}({', '.join(parts[1:])})")
        return Expression(f"{self.function(call.target)}({', '.join(parts)})")

    def function(self, target: str) -> str:
        """The name of a function in the source."""
        name = target.removeprefix(".")
        return name.replace("torch.nn.functional.", "F.").replace("torch.nn.", "nn.")

    def dtype(self, dtype: DType) -> str:
        """The text of a dtype."""
        return f"torch.{dtype.name}"

    def without_defaults(self, target: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that differ from the function's defaults."""
        defaults = parameters(target)
        kept = {k: x for k, x in settings.items() if k not in defaults or defaults[k] != x}
        if kept.get("stride") == settings.get("kernel_size") and "pool" in target.lower():
            kept.pop("stride", None)
        return kept

    def constant(self, array: np.ndarray) -> str | None:
        """The text that computes a constant, if there is a short one."""
        form = closed_form(array)
        if form is None:
            return None
        dtype = f", dtype=torch.{array.dtype.name}"
        if form.kind == "scalar":
            return f"torch.tensor({number(form.sizes[0]).text}{dtype})"
        if form.kind == "full":
            return f"torch.full({form.sizes[0]}, {number(form.sizes[1]).text}{dtype})"
        if form.kind in ("zeros", "ones"):
            own = "" if array.dtype == np.float32 else dtype
            return f"torch.{form.kind}({', '.join(map(str, form.sizes[0]))}{own})"
        if form.kind == "tril":
            made = f"torch.ones({form.sizes[0]}, {form.sizes[0]}, dtype=torch.bool).tril()"
        else:
            sizes = [n for n in form.sizes if n]
            own = "" if array.dtype == np.int64 else dtype
            made = f"torch.arange({', '.join(map(str, sizes))}{own})"
        for method, shape in (("reshape", form.shape), ("expand", form.expanded)):
            made += f".{method}({', '.join(map(str, shape))})" if shape else ""
        return made

    def defined(self, calls: list[Call]) -> dict[str, str]:
        """Name → text of the functions that the source defines for some calls."""
        return defined([torch_functions], calls)


@functools.cache
def parameters(target: str) -> dict[str, Any]:
    """Parameter of a function or a class → its default."""
    if target.startswith("."):
        return {}
    if target in RECURRENT.values():
        return {
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0.0,
            "bidirectional": False,
        }
    names = target.replace("method:", "torch.Tensor.").split(".")[1:]
    function: Any = functools.reduce(getattr, names, torch)
    own = _parameters(function)
    if not own or any(p.kind is p.VAR_POSITIONAL for p in own.values()):  # written in C, or chosen
        own = _parameters(get_testing_overrides().get(function)) or own
    defaults = {
        name: p.default
        for name, p in own.items()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        and name not in ("out", "_stacklevel")
    }
    return defaults | _MORE.get(target, {})


def swapped_axes(order: Sequence[Any]) -> list[int]:
    """The two axes that an order of axes exchanges; empty for another order."""
    moved = [axis for axis, new in enumerate(order) if axis != new]
    return moved if len(moved) == 2 else []


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return {} if function is None else inspect.signature(function).parameters
    except ValueError:
        return {}


def _is_positional(target: str) -> bool:
    """Whether an argument is written without its name: the axis of ``x.softmax(-1)``."""
    return target.startswith("method:") or not target.startswith("torch.nn.")


def one_number(name: str, value: Any) -> Any:
    """One number for one axis, or for equal numbers of all axes."""
    if isinstance(value, list) and all(isinstance(x, int) for x in value) and name != "axes":
        value = tuple(value)
    if name in ("dim", "dims") and isinstance(value, tuple) and len(value) == 1:
        return value[0]
    if name in _PER_AXIS and isinstance(value, tuple) and value and len(set(value)) == 1:
        return value[0]
    return value


def _keeps_shape(target: str, args: list[Any], call: Call) -> bool:
    """Whether a call only gives an array the shape that it has."""
    kind, _, name = target.rpartition(":")
    names = ("reshape", "view", "expand", "contiguous", "clone") if kind else ("torch.tile",)
    if name in ("movedim", "torch.movedim"):
        return args[1:] == [args[1]] * 2
    if name not in names or not isinstance(call.result, Value):
        return False
    return isinstance(args[0], Value) and args[0].shape == call.result.shape
