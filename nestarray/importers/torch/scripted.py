"""Modules of ``torch.jit.script`` and ``torch.jit.load`` as ordinary modules.

``torch.export`` takes no scripted module: its parameters are attributes in C++. A tree of ordinary
modules with the same names holds them instead, and its forward runs the scripted method with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from inspect import Parameter, Signature
from typing import Any

import torch

from nestarray.errors import ConversionError


def unscripted(script: Any) -> Any:
    """A ``torch.nn.Module`` with the variables, the names and the forward of a scripted module.

    Raises:
        ConversionError: its forward has overloads (``nn.LSTM``).
    """
    if not script._c._has_method("forward"):
        raise ConversionError(
            f"trace_graph: the forward of the scripted {script.original_name} has overloads; script "
            "a module that calls it, or give the Python module"
        )

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _lent(self, self.scripted[0]), torch.jit.optimized_execution(False):  # pyright: ignore[reportPrivateImportUsage]
            return self.scripted[0]._c._get_method("forward")(*args, **kwargs)

    arguments = script._c._get_method("forward").schema.arguments[1:]
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *map(_parameter, arguments)]
    forward.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    module = type(script.original_name, (torch.nn.Module,), {"forward": forward})()
    _copy_tree(script, module)
    # torch optimizes a script that has run: parts of it would be traced without autograd. A clone
    # has its own methods. In a list it is not a submodule.
    clone = torch._C._hack_do_not_use_clone_module_with_class(script._c, [], [])  # pyright: ignore[reportAttributeAccessIssue]
    module.scripted = [torch.jit._recursive.wrap_cpp_module(clone)]  # pyright: ignore[reportAttributeAccessIssue]
    return module


def _parameter(argument: Any) -> Parameter:
    default = argument.default_value if argument.has_default_value() else Parameter.empty
    return Parameter(argument.name, Parameter.POSITIONAL_OR_KEYWORD, default=default)


def _copy_tree(script: Any, module: Any) -> None:
    module.training = script.training
    for name, value in script.named_parameters(recurse=False):
        module.register_parameter(name, torch.nn.Parameter(value, value.requires_grad))
    for name, value in script.named_buffers(recurse=False):
        module.register_buffer(name, value)
    for name, child in script.named_children():
        copy = type(child.original_name, (torch.nn.Module,), {})()
        _copy_tree(child, copy)
        module.add_module(name, copy)


@contextlib.contextmanager
def _lent(module: Any, script: Any) -> Iterator[None]:
    """Run a scripted module with the variables and modes of its ordinary twin."""
    pairs = list(zip(module.modules(), script.modules(), strict=True))
    before = [(part, dict(_variables(part)), part.training) for _, part in pairs]
    try:
        for source, part in pairs:
            _set(part, dict(_variables(source)), source.training)
        yield
    finally:
        for part, variables, training in before:
            _set(part, variables, training)


def _variables(module: Any) -> Iterator[tuple[str, Any]]:
    yield from module.named_parameters(recurse=False)
    yield from module.named_buffers(recurse=False)


def _set(part: Any, variables: dict[str, Any], training: bool) -> None:
    for name, value in variables.items():
        part._c.setattr(name, value)
    if part._c.hasattr("training"):
        part._c.setattr("training", training)
