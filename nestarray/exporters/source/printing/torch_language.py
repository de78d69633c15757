"""Calls of PyTorch as a user writes them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch.overrides import get_testing_overrides

from nestarray.dtypes import DType, as_dtype
from nestarray.exporters.source.functions import torch_functions
from nestarray.exporters.source.printing.constants import without_mask
from nestarray.exporters.source.printing.expressions import Expression
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.recording.records import Call, Value, values_in

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
#: Function of a recurrent network → its layer.
RECURRENT = {"torch.lstm": "torch.nn.LSTM", "torch.gru": "torch.nn.GRU"}
#: Parameters that `get_testing_overrides` lacks.
_MORE = {
    "torch.nn.functional.scaled_dot_product_attention": {
        "is_causal": False, "scale": None, "enable_gqa": False
    },
    "torch.nn.functional.relu": {"inplace": False},
    **{
        layer: {
            "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0,
            "bidirectional": False,
        }
        for layer in RECURRENT.values()
    },
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
#: Settings that are written with their names.
_NAMED = ("keepdim",)
#: Methods whose sizes are separate arguments: ``x.reshape(2, 3)``.
_VARIADIC = ("reshape", "view", "expand", "permute", "flip", "repeat")


class TorchLanguage(Language):
    """How PyTorch's calls are written."""

    assignment = "{old} = {operand}.detach()"
    assigns = False
    special = 'float("{sign}{name}")'
    first = ("kernel_size", "output_size", "pad", "normalized_shape")

    # -- calls of a recording ---------------------------------------------------------------

    def normal(self, call: Call, constants: Mapping[Value, np.ndarray]) -> Any:
        """The call under the name that a user writes, with all settings by name.

        Args:
            call: of a recording.
            constants: the constants that are known.

        Returns:
            the call, or a Value or number that it equals.
        """
        unchanged = ("size", "int", "device", *RECURRENT)
        if call.target in unchanged or call.target.startswith(("operator.", "flow:", ".")):
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
            dtype = next((x for x in [*args[1:], *kwargs.values()] if isinstance(x, DType)), None)
            if dtype is None or dtype.name == source.dtype:
                return source
            return dataclasses.replace(call, target=target, args=(source, dtype), kwargs={})
        if target == "torch.arange" and args[::2] == [0, 1]:
            args = [args[1]]
        if target == "torch.tile":  # which takes fewer numbers than axes
            missing = len(args[0].shape) - len(args[1])
            target, args = "method:repeat", [args[0], (1,) * missing + tuple(args[1])]
        target = _METHODS.get(target, target)
        if target in ("method:amax", "method:amin"):
            axes = args[1] if len(args) > 1 else kwargs.get("dim")
            if axes == () and not kwargs.get("keepdim"):
                target, args, kwargs = f"method:{target[-3:]}", args[:1], {}
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

    def _named(
        self, target: str, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Settings by name, with their defaults."""
        if target.removeprefix("method:") in _VARIADIC:
            sizes = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
            return [args[0], *(sizes or kwargs.values() or [()])], {}
        positional, named = super()._named(target, args, kwargs)
        defaults = self.parameters(target)
        names = [*defaults]
        settings = {k: x for k, x in defaults.items() if x is not inspect.Parameter.empty} | named
        in_order = {k: settings[k] for k in (*names[len(positional) :], *named) if k in settings}
        positional = [
            one_number(k, x) for k, x in zip_longest(names[: len(positional)], positional)
        ]
        return positional, {k: one_number(k, x) for k, x in in_order.items() if k != "out"}

    def _is_bare(self, target: str, i: int, name: str, value: Any) -> bool:
        is_positional = target.startswith("method:") or not target.startswith("torch.nn.")
        return bool(values_in(value)) or (is_positional and name not in _NAMED)

    # -- text ------------------------------------------------------------------------------

    def _operand(self, x: Any, found: Expression, call: Call) -> Expression:
        is_number = isinstance(x, (int, float)) and call.target in _OF_TENSORS
        return Expression(f"torch.tensor({found.text})") if is_number else found

    def without_defaults(self, target: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that differ from the function's defaults."""
        options = super().without_defaults(target, settings)
        if options.get("stride") == settings.get("kernel_size") and "pool" in target.lower():
            options.pop("stride", None)
        return options

    def parameters(self, target: str) -> dict[str, Any]:
        """Parameter of a function or a class → its default."""
        return {} if target.startswith((".", "attribute:")) else _parameters(target)


@functools.cache
def _parameters(target: str) -> dict[str, Any]:
    names = target.replace("method:", "torch.Tensor.").split(".")[1:]
    function: Any = functools.reduce(getattr, names, torch)
    parameters = _signature(function)
    if not parameters or any(
        p.kind is p.VAR_POSITIONAL for p in parameters.values()
    ):  # written in C, or chosen
        parameters = _signature(get_testing_overrides().get(function)) or parameters
    defaults = {
        name: p.default
        for name, p in parameters.items()
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        and name not in ("out", "_stacklevel")
    }
    return defaults | _MORE.get(target, {})


def swapped_axes(order: Sequence[Any]) -> list[int]:
    """The two axes that an order of axes exchanges; empty for another order."""
    moved = [axis for axis, new in enumerate(order) if axis != new]
    return moved if len(moved) == 2 else []


def _signature(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return {} if function is None else inspect.signature(function).parameters
    except ValueError:
        return {}


def one_number(name: str | None, value: Any) -> Any:
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
    names = ("reshape", "view", "expand", "repeat", "contiguous", "clone")
    if name in ("movedim", "torch.movedim"):
        return args[1:] == [args[1]] * 2
    if not kind or name not in names or not isinstance(call.result, Value):
        return False
    return isinstance(args[0], Value) and args[0].shape == call.result.shape


LANGUAGE = TorchLanguage(
    "torch", {"torch": "torch", "torch.nn": "nn", "torch.nn.functional": "F"}, torch_functions
)
