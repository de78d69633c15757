"""The kinds of settings: numbers, strings, sequences of ints."""

from __future__ import annotations

from collections.abc import Mapping, Set
from inspect import Parameter
from typing import Any

from nestarray.backends.checks.arguments import Arguments
from nestarray.typing import check_kind

_AXES = frozenset(("axis", "axes", "source", "destination"))


def check_kinds(name: str, arguments: Arguments, parameters: Mapping[str, Parameter]) -> None:
    """Raise an `ArgumentError` if a setting is not of the kind that its annotation declares.

    Args:
        name: the op.
        arguments: the arguments of the call by parameter.
        parameters: the op's signature.
    """
    for parameter, value in arguments.items():
        declared = parameters[parameter]
        annotation = str(declared.annotation)
        if parameter in _AXES and "Sequence" in annotation and _may_be_axes(value):
            continue  # the rules about axes explain these
        by_name = value if declared.kind is declared.VAR_KEYWORD else {parameter: value}
        for own, one in by_name.items():
            check_kind(name, own, annotation, one)


def _may_be_axes(value: Any) -> bool:
    """Whether the rules about axes explain an error: not for flags, None, sets, or flags in lists."""
    is_several = type(value) in (tuple, list)
    is_flag = isinstance(value, (bool, type(None), Set))
    return not is_flag and not (is_several and bool in map(type, value))
