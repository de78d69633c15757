"""Our error in place of a framework's; the package's docstring gives the order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any

from nestarray.backends.checks.arguments import Arguments, check_device, is_any_traced, shown
from nestarray.container import Container
from nestarray.diagnosis.dtype_errors import (
    OVER_VALUES,
    check_kernel,
    is_kernel_error,
    kernel_error,
)
from nestarray.diagnosis.kinds import check_kinds
from nestarray.diagnosis.matrix_errors import check_matrices
from nestarray.diagnosis.rules import rules_of
from nestarray.errors import (
    ArgumentError,
    DtypeError,
    LinearAlgebraError,
    NestarrayError,
    ShapeError,
)
from nestarray.traits import Trait

#: Our errors over arguments. Others, such as a missing framework, need no explanation.
_ARGUMENT_ERRORS = (ArgumentError, DtypeError, LinearAlgebraError, ShapeError)

#: Errors over keys name all random functions at once.
_RANDOM = "random: "


def explain(
    name: str,
    traits: Trait,
    error: Exception,
    arguments: Arguments,
    parameters: Mapping[str, Parameter],
    body: Callable[[], Any] | None,
    again: Callable[[Arguments], Any],
) -> None:
    """Raise our error in place of `error`, if there is one to raise.

    Args:
        name: the op.
        traits: its properties.
        error: the exception from the implementation.
        arguments: the arguments of the call by parameter.
        parameters: the op's signature.
        body: calls the op's default body with the arguments; None for primitives.
        again: calls the implementation with other arguments.

    Raises:
        ArgumentError, ShapeError, DtypeError: names the op, the argument, the value received and
            the value expected.
        LinearAlgebraError: the framework detects the values of a matrix.
    """
    if any(isinstance(x, Container) for x in arguments.values()):
        return  # the call of the leaf has explained the error
    if isinstance(error, NestarrayError) and (
        not isinstance(error, _ARGUMENT_ERRORS) or str(error).startswith((f"{name}: ", _RANDOM))
    ):
        return

    def run_body(name: str, arguments: Arguments) -> None:
        if body is not None and not is_any_traced(arguments):
            body()

    def check_call(name: str, arguments: Arguments) -> None:
        if isinstance(error, NestarrayError):  # from an op in the body
            raise error
        check_matrices(name, error)
        check_kernel(name, arguments, error, again)
        if _is_over_arguments(error) and not is_any_traced(arguments):
            raise _generic_error(name, arguments, parameters)

    rules = [
        lambda name, arguments: check_kinds(name, arguments, parameters),
        check_device,
        *rules_of(name, traits),
        run_body,
        check_call,
    ]
    for rule in rules:
        try:
            rule(name, arguments)
        except _ARGUMENT_ERRORS as ours:
            raise _of_op(name, ours, arguments) from error
        except Exception:  # the rule cannot read the arguments, or the body fails as well
            continue


def _of_op(name: str, error: NestarrayError, arguments: Arguments) -> NestarrayError:
    """The error with the op's name in front, if an op in its body has raised it.

    The op's name replaces the inner op's name if the error is about an argument of both.
    """
    text = str(error)
    if text.startswith((f"{name}: ", _RANDOM)):
        return error
    if is_kernel_error(error):
        return kernel_error(name, arguments)
    said = text.partition(": ")[2]
    is_own_argument = any(said.startswith(f"{p}: got {v!r}") for p, v in arguments.items())
    return type(error)(f"{name}: {said if is_own_argument else text}")


#: The frameworks' exceptions for invalid arguments. Their subclasses mean memory or traces.
_FRAMEWORK_ERRORS = frozenset(
    ("TypeError", "ValueError", "RuntimeError", "AttributeError", "KeyError", "AssertionError",
     "AxisError", "UFuncTypeError", "_UFuncInputCastingError", "_UFuncOutputCastingError",
     "_UFuncNoLoopError", "UnboundLocalError", "InvalidArgumentError", "UnimplementedError",
     "InternalError", "ZeroDivisionError", "MLIRError", "NotImplementedError")
)  # fmt: skip

#: The messages of an IndexError about shapes; others are about values.
_OVER_SHAPES = (
    "^(tuple|list) index out of range|[Tt]oo many indices|indexing arrays could not be broadcast"
    "|^Dimension out of range|empty ax[ei]s|used as ind(ices|exes) must be"
    "|only integers, slices"
)


def _is_over_arguments(error: Exception) -> bool:
    """Whether a framework's error is about the arguments, and not values, memory or traces."""
    if type(error) is IndexError:
        return re.search(_OVER_SHAPES, str(error)) is not None
    return type(error).__name__ in _FRAMEWORK_ERRORS and not re.search(OVER_VALUES, str(error))


def _generic_error(
    name: str, arguments: Arguments, parameters: Mapping[str, Parameter]
) -> ArgumentError:
    listed = ", ".join(
        f"{key} {shown(value)}"
        for key, value in arguments.items()
        if value is not parameters[key].default
    )
    return ArgumentError(f"{name}: cannot be computed for {listed}; see help(na.{name})")
