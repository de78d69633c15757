"""Removes wrappers of torch modules, and turns functions into modules.

A graph's variables have the names of the user's module, so that weights can be loaded back;
``torch.compile`` and ``DataParallel`` add a prefix.
"""

from __future__ import annotations

import contextlib
import copy
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from nestarray.errors import ConversionError, Refused
from nestarray.importers.patching import is_tracing
from nestarray.importers.selection import variables_of
from nestarray.importers.torch.scripted import unscripted
from nestarray.importers.torch.workarounds.sequences import is_foreign

#: Wrapper → the attribute with the wrapped module.
_WRAPPED = {
    "OptimizedModule": "_orig_mod",
    "DataParallel": "module",
    "DistributedDataParallel": "module",
}


#: Attribute that marks the submodules of the traced module.
_IS_PART = "_is_part_of_traced_module"


def as_module(source: Any) -> Any:
    """The ``torch.nn.Module`` to export for a module or a function of torch tensors.

    Raises:
        ConversionError: a submodule is compiled by ``torch.jit.script``, or has hooks on gradients.
    """
    if not isinstance(source, torch.nn.Module):
        return _module_of_function(source)
    while type(source).__name__ in _WRAPPED and type(source).__module__.startswith("torch."):
        source = getattr(source, _WRAPPED[type(source).__name__])
    if isinstance(source, torch.jit.ScriptModule) and not _is_recording(source):
        return unscripted(source)
    for path, module in source.named_modules():
        where = f"module {path!r} of {type(source).__name__}" if path else type(source).__name__
        if isinstance(module, torch.jit.ScriptModule) and not _is_recording(module):
            raise ConversionError(
                f"trace_graph: {where} is compiled by torch.jit.script, which torch.export does not "
                "read inside of other modules; script the whole module, or give the Python module "
                "that was scripted, with the weights of its state_dict()"
            )
        if module._backward_hooks or module._backward_pre_hooks:
            raise _hooked(f"{where} has a backward hook")
    for name, parameter in source.named_parameters():
        if parameter._backward_hooks:
            raise _hooked(
                f"parameter {name!r} of {type(source).__name__} has a hook on its gradient"
            )
    return source


def _hooked(what: str) -> Refused:
    return Refused(
        f"{what}, which a graph does not run",
        "trace_graph",
        "remove it (handle.remove()), and change gradients where they are used",
    )


def _is_recording(module: Any) -> bool:
    return any(kind.__name__ == "TracedModule" for kind in type(module).__mro__)


def _module_of_function(function: Callable[..., Any]) -> Any:
    """A module whose ``forward`` is `function`; a method of a module keeps the module's names."""
    function = getattr(function, "_torchdynamo_orig_callable", function)  # of torch.compile
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.MethodType) and isinstance(owner, torch.nn.Module):
        module = copy.copy(as_module(owner))
        # hooks belong to calls of the module, not of its forward
        module._forward_hooks, module._forward_pre_hooks = OrderedDict(), OrderedDict()
        module.forward = types.MethodType(function.__func__, module)
        return module
    name = str(getattr(function, "__name__", type(function).__name__))
    module = type(name, (torch.nn.Module,), {})()
    for used, value in variables_of(function).items():
        if isinstance(value, torch.nn.Module):
            setattr(module, used, as_module(value))
    module.forward = function
    return module


@contextlib.contextmanager
def refuse_foreign_modules(module: Any) -> Iterator[None]:
    """Refuse calls of modules with parameters that are not submodules of `module`.

    Raises:
        ConversionError: such a call; its parameters would become constants.
    """
    # a mark instead of a set of ids: the exporter calls a module with two paths through a proxy
    # with the module's attributes, and torch.cond compiles the check
    parts = list(module.modules())

    def check(called: Any, args: Any) -> None:
        if not is_tracing():
            return
        is_known = _IS_PART in called.__dict__
        if any(map(is_foreign, args)):
            name = type(called if is_known else module).__name__  # or the exporter's own
            raise ConversionError(
                f"trace_graph: a {name} is called with a PackedSequence, whose "
                "shapes depend on values; give it the padded tensor and the lengths, and pack them "
                "in forward with pack_padded_sequence"
            )
        if not is_known and any(True for _ in called.parameters(recurse=False)):
            raise ConversionError(
                f"trace_graph: {type(module).__name__} calls a {type(called).__name__} that is no "
                "part of it, so its parameters would be constants; make it an attribute of a "
                "torch.nn.Module, and trace that or a method of it"
            )

    handle = register_module_forward_pre_hook(check)
    for part in parts:
        part.__dict__[_IS_PART] = True
    try:
        yield
    finally:
        for part in parts:
            del part.__dict__[_IS_PART]
        handle.remove()
