"""Calls of a framework as a user writes them: names of settings, no defaults, operators."""

from __future__ import annotations

import cmath
import dataclasses
import functools
import importlib
import inspect
import math
import re
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from nestarray.dtypes import DType, as_dtype
from nestarray.exporters.source.printing.constants import (
    TAKE_NUMBERS,
    constant_text,
    shortest,
    without_mask,
)
from nestarray.exporters.source.printing.expressions import (
    BINARY,
    Expression,
    Names,
    index_expression,
    operation_expression,
)
from nestarray.exporters.source.recording.records import Call, Function, Name, Value

#: Functions that read better as methods, where arrays have them.
_METHODS = ("reshape", "swapaxes", "transpose", "astype")
#: Methods of NumPy with the settings of the function of the same name.
_REDUCTIONS = (
    "all", "any", "argmax", "argmin", "cumsum", "max", "mean", "min", "prod", "std", "sum", "var",
)  # fmt: skip
#: Further functions that take one axis for several.
_OF_AXES = (*_REDUCTIONS, "expand_dims", "flip", "squeeze")
#: Arguments that are written without their names.
_BARE = (
    "shape", "newshape", "axis1", "axis2", "dtype", "axes", "pattern", "subscripts", "start",
    "stop", "step", "upper", "window_strides", "init_value", "computation", "window_dimensions",
    "padding", "strides", "ksize", "source", "destination", "indices_or_sections",
    "num_or_size_splits", "reps", "multiples",
)  # fmt: skip
#: Frameworks without functions for branches and loops.
_EAGER = ("torch", "numpy", "mlx")
#: Functions that may return their argument.
_CONVERSIONS = ("reshape", "broadcast_to", "astype", "asarray", "array", "cast", "tile")


class Language:
    """How the calls of JAX and NumPy are written; subclasses write those of other frameworks.

    Args:
        name: of the framework.
        short: prefix of public names → its name in the source.
        functions: the modules of functions and layers that the source itself defines.

    Attributes:
        assignment: of a new value to a variable of the state.
        assigns: whether the call that makes the value may assign it.
        integer: of an array.
        size: of an array along an axis.
        special: of an infinity or NaN.
        first: settings that are written without their names after the array.
        has_statements: whether branches and loops are statements of Python.
    """

    assignment = "{old} = {new}"
    assigns = True
    integer = "int({})"
    size = "{}.shape[{}]"
    special = "{sign}{array}.{name}"
    first: Collection[str] = ()

    def __init__(self, name: str, short: Mapping[str, str], *functions: ModuleType) -> None:
        self.name, self.short, self.functions = name, short, functions
        self.array = short[f"{name}.numpy" if name == "jax" else name]
        self.has_statements = name in _EAGER

    # -- calls of a recording ---------------------------------------------------------------

    def normal(self, call: Call, constants: Mapping[Value, np.ndarray]) -> Any:
        """The call with its settings by name, or the Value that it equals."""
        if call.target in ("size", "int"):
            return call
        target, args, kwargs = call.target, list(call.args), dict(call.kwargs)
        last = target.rpartition(".")[2].rpartition(":")[2]
        x = args[0] if args else None
        if last in _CONVERSIONS and isinstance(call.result, Value):
            if isinstance(x, Value) and (x.shape, x.dtype) == (
                call.result.shape,
                call.result.dtype,
            ):
                return x
            if last == "astype":
                kwargs.pop("copy", None)
        is_of_arrays = self.short.get(target.rpartition(".")[0]) == self.array
        if last == "moveaxis" and len(args) == 3 and args[1] == args[2]:
            return x
        if last == "arange" and is_of_arrays:
            args, kwargs = self._range(args, kwargs)
        if last in ("zeros", "ones") and is_of_arrays and self.name != "numpy":
            args = [arg for arg in args if arg != as_dtype("float32")]
        if last in BINARY and len(args) == 2 and not kwargs and is_of_arrays:
            return dataclasses.replace(call, target=f"operator.{last}")
        if last == "reshape" and is_of_arrays and self.name != "tensorflow":
            sizes = args[1] if isinstance(args[1], (tuple, list)) else [args[1]]
            return dataclasses.replace(call, target="method:reshape", args=(x, *(sizes or [()])))
        if self.name == "numpy" and target == f"method:{last}" and last in _REDUCTIONS:
            target, is_of_arrays = f"numpy.{last}", True  # which has the same settings, with names
        if target.startswith(("operator.", "method:", "attribute:", "at:", "flow:")):
            return dataclasses.replace(call, kwargs=kwargs)
        args, kwargs = self._named(target, args, kwargs)
        dtype = kwargs.get("dtype")
        floating = x.dtype if isinstance(x, Value) and x.dtype.startswith("float") else ""
        is_own = isinstance(dtype, DType) and dtype.name == floating
        if last in ("mean", "sum", "prod", "cumsum") and is_own:
            del kwargs["dtype"]
        if target in (".attention", ".scaled_dot_product_attention"):
            args, kwargs = without_mask(args, kwargs, "mask", constants)
        axis = kwargs.get("axis")
        is_of_axes = is_of_arrays and last.removeprefix("reduce_") in _OF_AXES
        takes_number = target.startswith(".") or is_of_axes
        if takes_number and isinstance(axis, (tuple, list)) and len(axis) == 1:
            kwargs["axis"] = axis[0]
        if last == "split" and is_of_arrays and isinstance(x, Value) and len(args) > 1:
            has_sizes = self.name == "tensorflow"
            args[1] = _sections(x.shape[kwargs.get("axis", 0)], args[1], has_sizes=has_sizes)
        if target.startswith("."):  # calls of one function have the same settings
            names = self.parameters(target)
            literals = {k: x for k, x in names.items() if isinstance(x, (bool, int, float, str))}
            kwargs = {
                k: x for k, x in (literals | kwargs).items() if k not in [*names][: len(args)]
            }
        return dataclasses.replace(call, target=target, args=tuple(args), kwargs=kwargs)

    def _range(self, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of ``arange`` without the numbers and the dtype that it has by itself."""
        bounds = {"step": 1} | dict(zip(("start", "stop", "step", "dtype"), args)) | kwargs
        integer = as_dtype("int32" if self.name == "jax" else "int64")
        if bounds.get("stop") is None or bounds.get("dtype") != integer:
            return args, kwargs
        start, stop, step = bounds["start"], bounds["stop"], bounds["step"]
        if step != 1:
            return [start, stop, step], {}
        return [stop] if start == 0 else [start, stop], {}

    def _named(
        self, target: str, args: list[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Settings by name; arrays stay positional."""
        names = list(self.parameters(target))
        while len(args) > 1 and args[-1] is None and len(args) <= len(names):
            args = args[:-1]  # a default
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for i, value in enumerate(args):
            if not named and (i >= len(names) or self._is_bare(target, i, names[i], value)):
                positional.append(value)
            elif i < len(names):
                named[names[i]] = value
            else:
                return args, kwargs
        return positional, named | kwargs

    def _is_bare(self, target: str, i: int, name: str, value: Any) -> bool:
        """Whether an argument is written without its name."""
        return i == 0 or name in _BARE or target in TAKE_NUMBERS or has_value(value)

    def parameters(self, target: str) -> dict[str, Any]:
        """Parameter of a function or a class → its default; none of a method."""
        return {} if ":" in target else _parameters(self.function_of(target))

    def function_of(self, target: str) -> Any:
        """The function with a public name."""
        if target.startswith("."):
            return next(vars(m)[target[1:]] for m in self.functions if target[1:] in vars(m))
        root, *names = target.split(".")
        module = importlib.import_module(root)
        return functools.reduce(getattr, names, module)

    # -- text ------------------------------------------------------------------------------

    def expression(self, call: Call, names: Names) -> Expression:
        """The text of a call."""

        def value(x: Any) -> Expression:
            if isinstance(x, Name):
                return Expression(self.function(x))
            return self._operand(x, self.value(x, names), call)

        def text(x: Any) -> str:
            return value(x).text

        kind, _, name = call.target.rpartition(":")
        if call.target == "state:set":
            old, new = map(value, call.args)
            words = {"old": old.text, "new": new.text, "operand": new.within(0)}
            return Expression(self.assignment.format(**words))
        if call.target == "int":
            return Expression(self.integer.format(text(call.args[0])))
        first = value(call.args[0]).within(0) if call.args else ""
        if call.target == "size":
            return Expression(self.size.format(first, text(call.args[1])))
        if call.target == "device":
            return Expression(f"{first}.device")
        if call.target.startswith("operator."):
            return operation_expression(call.target.removeprefix("operator."), call.args, value)
        if kind == "attribute":
            return Expression(f"{first}.{name}")
        settings = self.without_defaults(call.target, call.kwargs)
        parts = [text(x) for x in call.args]
        if len(parts) == 1 and next(iter(settings), None) in self.first:
            parts.append(text(settings.pop(next(iter(settings)))))
        parts += [f"{key}={text(x)}" for key, x in settings.items()]
        if kind == "at":
            at = index_expression(Expression(f"{first}.at"), call.args[1], text)
            return Expression(f"{at.text}.{name}({', '.join(parts[2:])})")
        if kind == "method" or self._is_method(call):
            name = name if kind == "method" else call.target.rpartition(".")[2]
            if name == "transpose" and len(call.args[0].shape) == 2:
                return Expression(f"{first}.T")
            return Expression(f"{first}.{name}({', '.join(parts[1:])})")
        return Expression(f"{self.function(call.target)}({', '.join(parts)})")

    def _operand(self, x: Any, found: Expression, call: Call) -> Expression:
        """The text of an argument of a call, given by itself."""
        return found

    def _is_method(self, call: Call) -> bool:
        prefix, _, name = call.target.rpartition(".")
        is_array = bool(call.args) and isinstance(call.args[0], Value)
        has_methods = self.name in ("jax", "numpy") and self.short.get(prefix) == self.array
        is_method = name in _METHODS or (self.name == "numpy" and name in _REDUCTIONS)
        return has_methods and is_method and is_array

    def function(self, target: str) -> str:
        """The name of a function in the source."""
        prefix, _, name = target.rpartition(".")
        if not prefix:
            return name
        if prefix in self.short:
            return f"{self.short[prefix]}.{name}"
        root, _, path = target.partition(".")
        return f"{self.short.get(root, root)}.{path}"

    def value(self, value: Any, names: Names) -> Expression:
        """The expression of an argument.

        Args:
            value: a nest of constants, and of what `names` knows.
            names: the text of other leaves.
        """

        def text(item: Any) -> str:
            return self.value(item, names).text

        if isinstance(value, DType):
            return Expression(self.dtype(value))
        if value is None or isinstance(value, (bool, str)):
            return Expression(repr(value))
        if isinstance(value, (int, float, complex)):
            return self.number(value)
        if value is Ellipsis:
            return Expression("...")
        if isinstance(value, (list, tuple)):
            items = ", ".join(map(text, value))
            if isinstance(value, list):
                return Expression(f"[{items}]")
            return Expression(f"({items}{',' if len(value) == 1 else ''})")
        if isinstance(value, slice):
            is_forward = value.step is None or (isinstance(value.step, int) and value.step > 0)
            start = None if is_forward and value.start == 0 else value.start
            parts = ["" if part is None else text(part) for part in (start, value.stop)]
            step = "" if value.step in (None, 1) else f":{text(value.step)}"
            return Expression(":".join(parts) + step)
        if isinstance(value, Mapping):
            return Expression("{" + ", ".join(f"{k!r}: {text(x)}" for k, x in value.items()) + "}")
        return names(value)

    def number(self, value: int | float | complex) -> Expression:
        """The expression of a number."""
        if isinstance(value, complex):
            parts = f"complex({self.number(value.real).text}, {self.number(value.imag).text})"
            return Expression(repr(value) if cmath.isfinite(value) else parts)
        rank = 2 if value < 0 else 0
        if isinstance(value, float) and not math.isfinite(value):
            name, sign = repr(abs(value)), "-" if value < 0 else ""
            return Expression(self.special.format(array=self.array, name=name, sign=sign), rank)
        power = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
        is_short = isinstance(value, float) and abs(value) >= 1e6 and float(power) == value
        return Expression(power if is_short else repr(value), rank)

    def dtype(self, dtype: DType) -> str:
        """The text of a dtype."""
        is_builtin = dtype.name == "bool" and self.name in ("jax", "numpy")
        return "bool" if is_builtin else f"{self.array}.{dtype.name}"

    def without_defaults(self, target: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that differ from the function's defaults."""
        defaults = self.parameters(target)
        return {
            name: x
            for name, x in settings.items()
            if name not in defaults or type(defaults[name]) is not type(x) or defaults[name] != x
        }

    def constant(self, array: np.ndarray) -> str:
        """The text that computes a constant; empty without a short one."""
        dtype = self.dtype(as_dtype(array.dtype.name))
        number = self.number(shortest(array.flat[0].item())) if array.size else Expression("")
        return constant_text(array, self.name, dtype, number.text)

    def defined(self, calls: list[Call]) -> dict[str, str]:
        """Name → text of the functions and layers that the source defines for some calls."""
        names = {call.target[1:] for call in calls if call.target.startswith(".")}
        texts = {
            name: inspect.getsource(function).rstrip()
            for module in self.functions
            for name, function in vars(module).items()
            if getattr(function, "__module__", "") == module.__name__ and callable(function)
        }
        names &= set(texts)  # others are imported there
        while True:  # functions that these call
            inner = {n for user in names for n in texts if re.search(rf"\b{n}\(", texts[user])}
            if inner <= names:
                return {name: text for name, text in texts.items() if name in names}
            names |= inner


@functools.cache
def _parameters(function: Any) -> dict[str, Any]:
    # metaclasses hide the parameters of constructors
    function = function.__init__ if isinstance(function, type) else function
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return {}
    parameters = list(parameters)
    if any(p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL) for p in parameters):
        return {}
    none = {"keepdims": False, "where": True}  # in place of NumPy's "no value"
    return {
        p.name: none.get(p.name) if p.default in (None, np._NoValue) else p.default
        for p in parameters
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }


def _sections(size: int, sections: Any, *, has_sizes: bool) -> Any:
    """The number of sections of one size for their sizes, or their first indices; else these."""
    for count in range(1, size + 1):
        n = size // count
        if sections == ([n] * count if has_sizes else [*range(n, size, n)]):
            return count if size % count == 0 else sections
    return sections


def has_value(nest: Any) -> bool:
    if isinstance(nest, (list, tuple)):
        return any(map(has_value, nest))
    return isinstance(nest, (Value, Name, Function))
