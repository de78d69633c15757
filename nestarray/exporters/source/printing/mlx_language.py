"""Calls of MLX as a user writes them; `mlx_rows` has the calls of JAX that they replace.

`mlx.core` has NumPy's names, and `mlx.nn` the activations. Its functions are written in C++: their
parameters are read from the signatures that they carry.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.dtypes import DType
from nestarray.exporters.source.functions import jax_functions, mlx_functions
from nestarray.exporters.source.printing.expressions import Expression
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.recording.records import Call, Value

JAX = Language("jax", {"jax.numpy": "jnp", "jax.lax": "lax", "jax": "jax"}, jax_functions)


class InverseRoot(float):
    """The scale of attention, ``8**-0.5`` of 8.

    Args:
        number: of features of a head.
    """

    number: int

    def __new__(cls, number: int) -> InverseRoot:
        """The number, with the one that it is computed of."""
        instance = super().__new__(cls, number**-0.5)
        instance.number = number
        return instance


class MlxLanguage(Language):
    """How calls of MLX are written: arrays have the methods of NumPy's."""

    def normal(self, call: Call, constants: Mapping[Value, np.ndarray]) -> Any:
        """The call of JAX with its settings by name, or the Value that it equals."""
        return JAX.normal(call, constants)

    def number(self, value: int | float | complex) -> Expression:
        """The expression of a number."""
        if isinstance(value, InverseRoot):
            return Expression(f"{value.number}**-0.5", 1)
        return super().number(value)

    def dtype(self, dtype: DType) -> str:
        """The text of a dtype."""
        return "mx.bool_" if dtype.name == "bool" else f"mx.{dtype.name}"

    def parameters(self, target: str) -> dict[str, Any]:
        """Parameter of a function or a class → its default; none of a method."""
        if target.startswith(".") and not hasattr(mlx_functions, target[1:]):
            return {}  # a layer only
        if not target.startswith("mlx.core."):
            return super().parameters(target)
        arguments = signature(self.function_of(target))
        return {} if arguments is None else defaults_of(arguments)


@functools.cache
def signature(function: Any) -> ast.arguments | None:
    """The first signature of a function in C++; None for another function."""
    signatures = getattr(function, "__nb_signature__", None)
    if not signatures:
        return None
    (definition,) = ast.parse(f"{signatures[0][0]}: ...").body
    assert isinstance(definition, ast.FunctionDef)
    return definition.args


def defaults_of(arguments: ast.arguments) -> dict[str, Any]:
    """Parameter → its default; None without one."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    pairs = [*zip(positional, defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return {
        argument.arg: default.value if isinstance(default, ast.Constant) else None
        for argument, default in pairs
        if argument.arg != "stream"
    }


LANGUAGE = MlxLanguage(
    "mlx",
    {
        "mlx": "mx", "mlx.core": "mx", "mlx.nn": "nn", "mlx.core.fast": "mx.fast",
        "mlx.core.random": "mx.random", "mlx.core.linalg": "mx.linalg", "mlx.core.fft": "mx.fft",
    },
    mlx_functions,
)  # fmt: skip


def call_of(name: str, *args: Any, like: Call, **kwargs: Any) -> Call:
    """A call of `mlx.core`, or of a function with a whole name, in the place of another one."""
    target = name if "." in name or ":" in name else f"mlx.core.{name}"
    return dataclasses.replace(like, target=target, args=args, kwargs=kwargs)
