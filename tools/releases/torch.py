"""The gaps of `nestarray.frontends.torch`.

Two lists count: the public functions of PyTorch's namespaces, and the overloads of ATen. An overload
counts if an exported program may hold it: it changes no argument, it takes or returns a tensor, and
PyTorch has a kernel for it. Left out are overloads that write into ``out``, that name dimensions, or
that copy a view; gradients, which exist below autograd only; and private operations outside of the
core set, for most of which an exported program has a public one.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from typing import Any

import torch
from torch.overrides import get_overridable_functions

import nestarray.frontends.torch as frontend
from nestarray.errors import MissingOpError
from nestarray.frontends.torch import vocabulary
from tools.releases.gaps import Gap, argument_gaps

SPACES = ("", "nn.functional", "fft", "linalg", "special", "signal.windows")


def gaps() -> Iterator[Gap]:
    """All gaps in the installed PyTorch."""
    for space in SPACES:
        prefix = f"torch.{space}." if space else "torch."
        theirs, ours = public_functions(space), frontend_functions(space)
        for name in sorted({*theirs} - {*ours}):
            yield Gap("torch names", prefix + name)
        for name in sorted(n for n in ours if not exists(space, n)):
            yield Gap("torch names without upstream", prefix + name)
        yield from argument_gaps("torch", prefix, theirs, ours)
    for overload in overloads():
        rule = vocabulary.find(overload) or vocabulary.find(overload, first_result=True)
        if rule is None:
            yield Gap("torch overloads", str(overload))
        elif not rule.is_ignored:
            yield from _argument_gaps(rule, overload)


@cache
def _computing() -> set[Any]:
    """The functions that tensor subclasses may override: those of tensors."""
    return {f for functions in get_overridable_functions().values() for f in functions}


def public_functions(space: str) -> dict[str, Any]:
    """The functions of a namespace of PyTorch that compute: no settings, and nothing in place."""
    module = attrgetter(space)(torch) if space else torch
    functions_by_name = {}
    for name in dir(module):
        value = getattr(module, name)
        if name[0] == "_" or name.endswith(("_", "_with_indices")) or not inspect.isroutine(value):
            continue
        home = getattr(value, "__module__", None) or ""
        is_builtin = value in _computing() or hasattr(torch._C._VariableFunctions, name)
        if is_builtin or home.startswith(module.__name__ if space else "torch.functional"):
            # The functions with return_indices are dispatchers without a signature.
            functions_by_name[name] = getattr(module, f"{name}_with_indices", value)
    return functions_by_name


def exists(space: str, name: str) -> bool:
    """Whether PyTorch has a name, and not only an error in its place."""
    value = getattr(attrgetter(space)(torch) if space else torch, name, None)
    return value is not None and getattr(value, "__module__", None) != "torch._linalg_utils"


def frontend_functions(space: str) -> dict[str, Any]:
    """The functions of a namespace of the frontend."""
    module = attrgetter(space)(frontend) if space else frontend
    return {
        name: value
        for name in dir(module)
        if name[0] != "_" and inspect.isfunction(value := getattr(module, name))
    }


def overloads() -> Iterator[Any]:
    """The overloads of ATen that an exported program may hold, by name."""
    # The namespace lists only overloads used before; the registry has all.
    schemas = torch._C._jit_get_all_schemas()
    names = {s.name.removeprefix("aten::") for s in schemas if s.name.startswith("aten::")}
    for base in sorted(names):
        packet = getattr(torch.ops.aten, base)
        for name in packet.overloads():
            overload = getattr(packet, name)
            if _may_be_exported(base, overload):
                yield overload


def _may_be_exported(base: str, overload: Any) -> bool:
    schema = overload._schema
    if schema.is_mutable or not torch._C._dispatch_has_kernel(overload.name()):
        return False
    if base.startswith("_"):
        return torch.Tag.core in overload.tags
    has_tensors = any("Tensor" in str(a.type) for a in [*schema.arguments, *schema.returns])
    is_copy = torch.Tag.view_copy in overload.tags or "out" in schema.overload_name
    return has_tensors and not is_copy and "Dimname" not in str(schema) and "backward" not in base


#: Where the result is and how it lies in memory.
_PLACEMENT = {"device", "layout", "memory_format", "non_blocking", "pin_memory", "generator"}


def _argument_gaps(rule: Any, overload: Any) -> Iterator[Gap]:
    """The arguments of an overload that its function does not take."""
    required = {a.name: None for a in overload._schema.arguments if not a.has_default_value()}
    for argument in overload._schema.arguments:
        if argument.has_default_value() and argument.name not in _PLACEMENT:
            try:
                rule.call({**required, argument.name: argument.default_value})
            except MissingOpError:
                yield Gap("torch arguments", f"{overload}({argument.name})")
