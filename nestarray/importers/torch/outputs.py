"""The arguments and outputs of modules and programs as nests of builtins."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from nestarray.importers.torch.workarounds.sequences import check_padded
from nestarray.interchange.caches import cache_nest, is_cache


def plain_output(value: Any) -> Any:
    """A nest of builtins.

    A dataclass becomes a dict of its fields, another object a dict of its attributes that
    hold tensors.
    """
    numbers = (bool, int, float, complex, *_sizes())
    if value is None or isinstance(value, (torch.Tensor, str, *numbers)):
        return value
    if isinstance(value, Mapping):
        return {key: plain_output(item) for key, item in value.items()}
    if is_cache(value):
        return plain_output(cache_nest(value))
    check_padded(value)
    if hasattr(value, "_fields"):
        return {name: plain_output(getattr(value, name)) for name in value._fields}
    if isinstance(value, (list, tuple)):
        return type(value)([plain_output(item) for item in value])
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {k: plain_output(x) for k, x in fields.items()}
    public = {k: x for k, x in getattr(value, "__dict__", {}).items() if not k.startswith("_")}
    return {k: plain_output(x) for k, x in public.items() if _holds_tensor(x)}


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return True
    if isinstance(value, Mapping):
        return any(_holds_tensor(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_holds_tensor(item) for item in value)
    if isinstance(value, (torch.nn.Module, type, torch.dtype, torch.device, *_sizes())):
        return False
    return any(_holds_tensor(item) for item in getattr(value, "__dict__", {}).values())


def _sizes() -> tuple[type, ...]:
    """The types of the numbers that open sizes decide."""
    return (torch.SymInt, torch.SymFloat, torch.SymBool)


def nest_of(spec: Any, leaves: Iterator[Any]) -> Any:
    """A nest of dicts, lists and tuples from a torch TreeSpec and its leaves.

    Registered classes with named children (model outputs, caches) become dicts.
    """
    if spec.is_leaf():
        return next(leaves)
    children = [nest_of(child, leaves) for child in spec.children()]
    if spec.type is list:
        return children
    if spec.type is tuple:
        return tuple(children)
    keys = _child_names(spec)
    return tuple(children) if keys is None else dict(zip(keys, children, strict=True))


def _child_names(spec: Any) -> list[Any] | None:
    context = spec.context
    if hasattr(spec.type, "_fields"):
        return list(spec.type._fields)
    for candidate in (context, *(context if isinstance(context, (list, tuple)) else ())):
        if isinstance(candidate, Mapping):
            candidate = list(candidate)
        if (
            isinstance(candidate, (list, tuple))
            and len(candidate) == spec.num_children
            and all(isinstance(name, (str, int)) for name in candidate)
        ):
            return list(candidate)
    return None
