"""Signatures of native modules: their calls have the parameters of the source.

An argument of arrays is required; a setting of the traced program has its value as the default.
``inspect.signature(module)`` shows them. PyTorch's tools also read the names of ``forward``, so a
module of PyTorch gets a method with these parameters.
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
    rest = [each for each in parameters if each.kind is Parameter.VAR_KEYWORD]
    parameters = [each for each in parameters if each.kind is not Parameter.VAR_KEYWORD]
    parameters += [each for each in settings if each.name not in taken]
    return Signature([*parameters, *rest])


def with_parameters(signature: Signature, call: str) -> Callable[..., Any]:
    """A method with the parameters of a signature, which calls another method of its object.

    Args:
        signature: of the method, without its object.
        call: the name of a method that takes the arguments as a tuple and a dict.

    Example:
        >>> import inspect
        >>> from nestarray.exporters.signatures import with_parameters
        >>> signature = inspect.signature(lambda x, *, scale=2.0: None)
        >>> inspect.signature(with_parameters(signature, "run"))
        <Signature (_module, x, *, scale=2.0)>
    """
    owner = Parameter("_module", Parameter.POSITIONAL_ONLY)
    parameters = list(signature.parameters.values())
    if not any(each.kind is Parameter.POSITIONAL_ONLY for each in parameters):
        owner = owner.replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
    defaults = {f"_default_{each.name}": each.default for each in parameters}
    written = [
        each.replace(
            annotation=Parameter.empty,
            default=each.default if each.default is Parameter.empty else _Name(each.name),
        )
        for each in parameters
    ]
    head = str(Signature([owner, *written]))
    items = {"args": [], "kwargs": []}
    by_name = {Parameter.KEYWORD_ONLY}
    if not any(each.kind is Parameter.VAR_POSITIONAL for each in parameters):
        by_name.add(Parameter.POSITIONAL_OR_KEYWORD)
    for each in parameters:
        match each.kind:
            case Parameter.VAR_POSITIONAL:
                items["args"].append(f"*{each.name}")
            case Parameter.VAR_KEYWORD:
                items["kwargs"].append(f"**{each.name}")
            case _ if each.kind in by_name and each.default is not Parameter.empty:
                # the graphs of both modes may have other values
                name = each.name
                items["kwargs"].append(
                    f"**({{}} if {name} is _default_{name} else {{{name!r}: {name}}})"
                )
            case Parameter.KEYWORD_ONLY:
                items["kwargs"].append(f"{each.name!r}: {each.name}")
            case _:
                items["args"].append(each.name)
    args = "".join(f"{item}, " for item in items["args"])
    text = f"def forward{head}:\n    return _module.{call}(({args}), {{{', '.join(items['kwargs'])}}})\n"
    namespace: dict[str, Any] = dict(defaults)
    exec(compile(text, "<forward>", "exec"), namespace)
    method = namespace["forward"]
    method.__annotations__ = {
        each.name: each.annotation for each in parameters if each.annotation is not Parameter.empty
    }
    return method


class _Name:
    """A default as the name of a variable in the text of a signature."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"_default_{self._name}"


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
