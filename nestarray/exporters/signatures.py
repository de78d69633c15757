"""Signatures of native modules: their calls have the parameters of the source.

An argument of arrays is required; a setting of the traced program has its value as the default.
``inspect.signature(module)`` shows them. PyTorch's tools read the signature of ``forward``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter, Signature
from keyword import iskeyword
from typing import Any

from nestarray.exporters.program import Program
from nestarray.graph.binding import input_names
from nestarray.graph.node import Node, iter_nodes


class CallSignature:
    """The descriptor ``__signature__`` of a class of native modules.

    Args:
        program: the attribute with the `Program`.
        array: the type of the framework's arrays.
        settings: parameters of the native call, such as ``train``.
    """

    def __init__(self, program: str, array: Any, *settings: Parameter) -> None:
        self._program, self._array, self._settings = program, array, settings

    def __get__(self, module: Any, owner: Any = None) -> Signature | None:
        if module is None:
            return None  # the signature of a class is that of its constructor
        return signature_of(getattr(module, self._program), self._array, *self._settings)


def setting(name: str, default: Any = False, annotation: Any = bool) -> Parameter:
    """A keyword of a native call, such as ``train=False``."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def signature_of(program: Program, array: Any, *settings: Parameter) -> Signature:
    """The signature of a program's call.

    Args:
        program: the program.
        array: the annotation of arguments that are arrays.
        settings: further keywords.
    """
    if not program.graphs:
        assert program.module is not None
        parameters = list(inspect.signature(program.module.forward).parameters.values())
    else:
        graph = program.graph(False)
        positional, named = graph.signature
        names = input_names(graph)
        last = max((i for i, name in enumerate(names) if not _is_name(name)), default=-1)
        parameters = _without_early_defaults([
            _parameter(
                names[i] if _is_name(names[i]) else f"argument_{i}",
                Parameter.POSITIONAL_ONLY if i <= last else Parameter.POSITIONAL_OR_KEYWORD,
                value,
                array,
            )
            for i, value in enumerate(positional)
        ])  # fmt: skip
        parameters += [
            _parameter(name, Parameter.KEYWORD_ONLY, value, array)
            for name, value in named.items()
            if _is_name(name)
        ]
    taken = {parameter.name for parameter in parameters}
    keywords = [each for each in parameters if each.kind is Parameter.VAR_KEYWORD]
    parameters = [each for each in parameters if each.kind is not Parameter.VAR_KEYWORD]
    parameters += [each for each in settings if each.name not in taken]
    return Signature([*parameters, *keywords])


def with_parameters(signature: Signature, call: str) -> Callable[..., Any]:
    """A method that shows a signature, and hands its arguments to another method of its object.

    Args:
        signature: of the method, without its object.
        call: the name of a method that takes the arguments as a tuple and a dict.

    Example:
        >>> import inspect
        >>> from nestarray.exporters.signatures import with_parameters
        >>> signature = inspect.signature(lambda x, *, scale=2.0: None)
        >>> inspect.signature(with_parameters(signature, "run"))
        <Signature (self, x, *, scale=2.0)>
    """

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, call)(args, kwargs)

    parameters = list(signature.parameters.values())
    is_positional = any(each.kind is Parameter.POSITIONAL_ONLY for each in parameters)
    kind = Parameter.POSITIONAL_ONLY if is_positional else Parameter.POSITIONAL_OR_KEYWORD
    forward.__signature__ = Signature([Parameter("self", kind), *parameters])  # pyright: ignore[reportFunctionMemberAccess]
    return forward


def _parameter(name: str, kind: Any, value: Any, array: Any) -> Parameter:
    annotation = array if isinstance(value, Node) else Parameter.empty
    is_array = any(True for _ in iter_nodes(value))
    default = Parameter.empty if is_array else value
    return Parameter(name, kind, default=default, annotation=annotation)


def _without_early_defaults(parameters: list[Parameter]) -> list[Parameter]:
    """The parameters; those before a required one are required too."""
    required = [i for i, each in enumerate(parameters) if each.default is Parameter.empty]
    last = max(required, default=-1)
    return [
        each.replace(default=Parameter.empty) if i < last else each
        for i, each in enumerate(parameters)
    ]


def _is_name(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name)
