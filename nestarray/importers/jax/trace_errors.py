"""Errors of a trace by JAX, with the line and the remedy."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jax.core import Tracer

from nestarray.errors import ConversionError
from nestarray.graph.builder import line_name

_PACKAGE = str(Path(__file__).parents[2])
_LIBRARIES = ("jax", "flax", "haiku", "equinox", "objax", "optax")

#: JAX's error → the cause and the remedy; the first whose class fits is used.
_REMEDIES = (
    (
        "TracerBoolConversionError",
        "it chooses by the value of an array, which a trace does not know; write the choice with "
        "jnp.where, jax.lax.cond or jax.lax.while_loop, or pass the value as a Python number, which "
        "becomes part of the program",
    ),
    (
        "TracerArrayConversionError",
        "it makes a NumPy array of a traced one; use the function of jax.numpy, or call the host by "
        "jax.pure_callback",
    ),
    (
        "TracerIntegerConversionError",
        "it uses an array as a Python integer; index with jnp.take or jax.lax.dynamic_slice, or pass "
        "a Python number, which becomes part of the program",
    ),
    (
        "NonConcreteBooleanIndexError",
        "the size of x[mask] depends on values; use jnp.where(mask, x, 0), or give size= to "
        "jnp.nonzero",
    ),
    (
        "ConcretizationTypeError",
        "it needs the value of an array, which a trace does not know; stay with arrays, or pass a "
        "Python number, which becomes part of the program; functions whose output size depends on "
        "values take size=",
    ),
    (
        "UnexpectedTracerError",
        "it uses an array of another trace (a leaked tracer), which a function has stored in an "
        "object or a variable; return such arrays instead; `with jax.checking_leaks():` finds the "
        "function that stores them",
    ),
    (
        "TraceContextError",
        "it writes variables of an NNX module that it uses by name; trace the module itself, or "
        'pass it as an argument and name that: na.trace_graph(fn, module, x, v="module")',
    ),
    (
        "__format__",
        "it formats the value of an array as text; print with jax.debug.print, and return the array",
    ),
)


def _errors_of_flax() -> tuple[type[Exception], ...]:
    """The class of Flax's errors, if it is in use; those of JAX are of builtin classes."""
    flax = sys.modules.get("flax.errors")
    return () if flax is None else (flax.FlaxError,)


@contextlib.contextmanager
def explained(name: str, *, has_open_sizes: bool = False) -> Iterator[None]:
    """Turn JAX's errors about traced values into `ConversionError`."""

    try:
        yield
    except (TypeError, IndexError, *_errors_of_flax()) as error:
        kinds = [cls.__name__ for cls in type(error).__mro__]
        if str(error).endswith("Tracer.__format__"):
            kinds.append("__format__")
        if "Shapes must be 1D sequences of concrete values" in str(error):
            kinds.append("ConcretizationTypeError")
        cause = next((text for kind, text in _REMEDIES if kind in kinds), "")
        line = _line_of(error)
        place = f"{name} ({line})" if line else name
        is_of_size = isinstance(error, TypeError) or "InconclusiveDimensionOperation" in kinds
        if has_open_sizes and is_of_size and not cause:
            raise ConversionError(
                f"trace_graph: dynamic: {place} depends on an open size: "
                f"{str(error).splitlines()[0]} Leave this size out of dynamic="
            ) from error
        if not cause:
            raise
        if has_open_sizes and "ConcretizationTypeError" in kinds:
            cause += (
                "; an open size times a float is an array in JAX: for int(n * 0.5) write n // 2"
            )
        raise ConversionError(f"trace_graph: {place} cannot be traced: {cause}") from error


def refuse_leaked(name: str, constant: Any) -> None:
    """Raise ConversionError if a constant of a program is a traced array."""
    if isinstance(constant, Tracer):
        cause = dict(_REMEDIES)["UnexpectedTracerError"]
        described = f"{constant.dtype}[{', '.join(map(str, constant.shape))}]"
        raise ConversionError(
            f"trace_graph: {name} cannot be traced: {cause} (the array is {described})"
        )


def _line_of(error: Exception) -> str:
    """The innermost line outside of JAX, the libraries of its models and this package."""
    libraries = [sys.modules[name] for name in _LIBRARIES if name in sys.modules]
    others = (_PACKAGE, *[path for library in libraries for path in library.__path__])
    found = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in found if not frame.filename.startswith(others)]
    return line_name(frames[-1].filename, frames[-1].lineno or 0) if frames else ""
