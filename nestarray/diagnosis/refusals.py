"""Our error in place of a framework's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from inspect import Parameter
from types import NoneType
from typing import Any

from nestarray.container import Container
from nestarray.diagnosis.arguments import (
    Arguments,
    Rule,
    check_device,
    is_any_traced,
    shown,
)
from nestarray.diagnosis.kernels import OVER_VALUES, kernel_rule
from nestarray.diagnosis.rules import GENERAL, OWN_AXIS, RULES
from nestarray.diagnosis.shapes import check_axis
from nestarray.errors import ArgumentError, NestarrayError
from nestarray.typing import check_kind


def explain(
    name: str,
    chapter: str,
    error: Exception,
    arguments: Arguments,
    parameters: Mapping[str, Parameter],
    body: Callable[[], Any] | None,
    again: Callable[[Arguments], Any],
) -> None:
    """Raise our error in place of a framework's.

    Args:
        name, chapter: of the op.
        error: what the framework raised.
        arguments: of the op's parameters that were given.
        parameters: of the op's signature.
        body: a call of the op's default body with the arguments; None: it has none.
        again: calls what serves arrays of the backend with other arguments.

    Raises:
        ArgumentError, ShapeError, DtypeError: names the op, the argument, what came and what was
            expected.
    """
    if any(isinstance(x, Container) for x in arguments.values()):
        return  # of trees, the leaf's own call has said it
    is_ours = isinstance(error, NestarrayError)
    if is_ours and str(error).startswith(f"{name}: "):
        error.inner = name  # type: ignore[attr-defined]  # an op that called this one may say more
        return
    rules = [kinds_rule(parameters, body), check_device]
    rules += [*RULES.get(name, ()), *GENERAL.get(chapter, ())]
    if name not in OWN_AXIS:
        rules.append(check_axis)
    if not is_ours or hasattr(error, "inner"):
        rules += [_body_rule(body), _handed_on(error)]
        rules += [kernel_rule(error, again), _last_rule(error, parameters)]
    else:
        rules.append(_handed_on(error))
    for rule in rules:
        try:
            rule(name, arguments)
        except NestarrayError as ours:
            ours.inner = name  # type: ignore[attr-defined]
            raise ours from error
        except (TypeError, ValueError, AttributeError, KeyError, IndexError):
            continue  # arguments that the rule cannot read are not what it is about


_AXES = frozenset(("axis", "axes", "source", "destination"))


def _are_no_axes(value: Any) -> bool:
    """Whether it is what the rules about axes do not speak of: a flag, nothing, a set, flags."""
    is_several = type(value) in (tuple, list)
    return isinstance(value, (bool, NoneType, Set)) or (is_several and bool in map(type, value))


def kinds_rule(parameters: Mapping[str, Parameter], body: Callable[[], Any] | None) -> Rule:
    """A rule that settings are of the kinds that the signature names.

    What `body`, a call of the op's own, says of a wrong one comes first: it may know more, such
    as the least number that it takes.
    """

    def check_kinds(name: str, arguments: Arguments) -> None:
        for parameter, value in arguments.items():
            declared = parameters[parameter]
            annotation = str(declared.annotation)
            if parameter in _AXES and "Sequence" in annotation and not _are_no_axes(value):
                continue  # the rules about axes say it
            by_name = value if declared.kind is declared.VAR_KEYWORD else {parameter: value}
            try:
                for own, one in by_name.items():
                    check_kind(name, own, annotation, one)
            except ArgumentError:
                _body_rule(body)(name, arguments)
                raise

    return check_kinds


#: What frameworks raise over arguments. Their subclasses are about something else: memory, traces.
_OVER_ARGUMENTS = frozenset(
    ("TypeError", "ValueError", "RuntimeError", "AttributeError", "KeyError", "AssertionError",
     "AxisError", "UFuncTypeError", "_UFuncInputCastingError", "_UFuncOutputCastingError",
     "_UFuncNoLoopError", "UnboundLocalError", "InvalidArgumentError", "UnimplementedError",
     "InternalError", "ZeroDivisionError", "MLIRError", "NotImplementedError")
)  # fmt: skip


#: What an IndexError says that is about shapes.
_OVER_SHAPES = re.compile(
    "^(tuple|list) index out of range|[Tt]oo many indices|indexing arrays could not be broadcast"
    "|^Dimension out of range|empty ax[ei]s|used as ind(ices|exes) must be"
    "|only integers, slices"
)


def _body_rule(body: Callable[[], Any] | None) -> Rule:
    """What the op's own composition says of arguments that a native function refused."""

    def check_by_body(name: str, arguments: Arguments) -> None:
        if body is None or is_any_traced(arguments):
            return
        try:
            body()
        except NestarrayError as error:
            if str(error).startswith(f"{name}: "):
                raise
        except Exception:  # no check of the body's: the framework's error again, or another
            return

    return check_by_body


def _handed_on(error: Exception) -> Rule:
    """What an op that this one is made of says of an argument that was handed on to it."""

    def check_handed_on(name: str, arguments: Arguments) -> None:
        said = str(error).removeprefix(f"{getattr(error, 'inner', '')}: ")
        for parameter, value in arguments.items():
            if isinstance(error, NestarrayError) and said.startswith(
                f"{parameter}: got {value!r},"
            ):
                raise type(error)(f"{name}: {said}")

    return check_handed_on


def _last_rule(error: Exception, parameters: Mapping[str, Parameter]) -> Rule:
    def check_call(name: str, arguments: Arguments) -> None:
        """There is no error over arguments."""
        if type(error) is IndexError:
            is_over_arguments = _OVER_SHAPES.search(str(error)) is not None
        elif isinstance(error, NestarrayError):
            is_over_arguments = True  # of an op that this one is made of
        else:
            is_over_arguments = type(error).__name__ in _OVER_ARGUMENTS and not OVER_VALUES.search(
                str(error)
            )
        if is_over_arguments and not is_any_traced(arguments):
            listed = ", ".join(
                f"{key} {shown(value)}"
                for key, value in arguments.items()
                if value is not parameters[key].default
            )
            raise ArgumentError(
                f"{name}: cannot be computed for {listed}; help(na.{name}) says what it takes"
            )

    return check_call
