"""Assignments to buffers and parameters, traced as writes in place.

``torch.export`` records writes in place and drops assignments: ``self.cache = new`` for a buffer,
``weight.data = new`` for any tensor. During the trace each assignment becomes a write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from nestarray.errors import Refused
from nestarray.importers.torch.outputs import plain_output


def call_with_writes(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any], dict[str, None]]:
    """Call `module`; writes into buffers take the place of assignments.

    Returns:
        The output, as builtins; the new values of the buffers whose shape or dtype an assignment
        changes, by name; and the names of other attributes to which tensors are assigned.

    Raises:
        Refused: a buffer is resized in place.
    """
    parts = list(module.named_modules())
    before: list[tuple[Any, str, str, Any, Any]] = [
        (part, path, name, buffer, None if buffer is None else buffer.shape)
        for path, part in parts
        for name, buffer in part._buffers.items()
    ]
    attributes = [(part, path, vars(part).copy()) for path, part in parts]
    output = plain_output(module(*args, **kwargs))
    replaced: dict[str, Any] = {}
    assigned: list[tuple[Any, str, Any, Any]] = []
    for part, path, name, old, shape in before:
        new, place = part._buffers.get(name, old), joined(path, name)
        if new is old:
            if old is not None and old.shape != shape:
                raise Refused(
                    f"resizes its buffer {place!r} in place, from {list(shape)} to {list(old.shape)}",
                    remedy="assign a new tensor to it",
                )
        elif old is None or new is None or old.shape != new.shape or old.dtype != new.dtype:
            replaced[place] = None if new is None else new.clone()
            part._buffers[name] = old
        else:
            assigned.append((part, name, old, new))
    if assigned:  # the output, or another buffer, may be the old tensor
        output = tree_map_only(torch.Tensor, torch.clone, output)
        values = [new.clone() for *_, new in assigned]
        for (part, name, old, _), value in zip(assigned, values, strict=True):
            old.copy_(value)
            part._buffers[name] = old
    names: dict[str, None] = {}
    for part, path, old in attributes:
        for name, value in list(vars(part).items()):
            if isinstance(value, torch.Tensor) and value is not old.get(name):
                names[joined(path, name)] = None
                vars(part).pop(name)  # a tensor of the trace
                if name in old:
                    vars(part)[name] = old[name]
    return output, replaced, names


def joined(path: str, name: str) -> str:
    """The name of a tensor of the module at `path`."""
    return f"{path}.{name}" if path else name


def functions() -> Mapping[Any, Callable[..., Any]]:
    """The reads and assignments of ``.data``, which the exporter does not record."""

    def assign(old: Any, new: Any) -> Any:
        if old.shape != new.shape or old.dtype != new.dtype:
            raise Refused(
                f"assigns {tensor_text(new)} to .data of {tensor_text(old)}",
                remedy="a graph keeps shapes and dtypes: make a new tensor of it",
            )
        with torch.no_grad():
            return old.copy_(new)

    return {
        torch.Tensor.data.__get__: lambda x, *_: x.detach(),  # type: ignore[attr-defined]
        torch.Tensor.data.__set__: assign,  # type: ignore[attr-defined]
    }


def tensor_text(tensor: Any) -> str:
    """Dtype and shape, ``"float32[2, 3]"``, or ``"None"``."""
    if tensor is None:
        return "None"
    return f"{str(tensor.dtype).removeprefix('torch.')}[{', '.join(map(str, tensor.shape))}]"
