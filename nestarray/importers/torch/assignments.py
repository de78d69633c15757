"""Assignments to buffers and parameters, traced as writes in place.

``torch.export`` records writes in place and drops assignments: ``self.cache = new`` for a buffer,
``weight.data = new`` for any tensor. During the trace each assignment becomes a write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nestarray.errors import ConversionError
from nestarray.importers.torch.outputs import plain_output


def call_with_writes(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The output of a call of `module`, as builtins; buffers that it assigns are written instead.

    Raises:
        ConversionError: a tensor gets another shape or dtype, or a buffer its first value.
    """
    import torch
    from torch.utils._pytree import tree_map_only

    before = [
        (part, path, name, buffer)
        for path, part in module.named_modules()
        for name, buffer in part._buffers.items()
    ]
    output = plain_output(module(*args, **kwargs))
    assigned = [
        (part, f"{path}.{name}" if path else name, name, old, part._buffers.get(name, old))
        for part, path, name, old in before
        if part._buffers.get(name, old) is not old
    ]
    for _, place, _, old, new in assigned:
        if old is None or new is None or old.shape != new.shape or old.dtype != new.dtype:
            raise ConversionError(
                f"trace_graph: {type(module).__name__} assigns {_text(new)} to its buffer {place!r}, "
                f"which was {_text(old)}; the state of a graph keeps its shapes: register the buffer "
                "with the shape that it has in the end, and write into it"
            )
    if assigned:  # the output, or another buffer, may be the old tensor
        output = tree_map_only(torch.Tensor, torch.clone, output)
        values = [new.clone() for *_, new in assigned]
        for (part, _, name, old, _), value in zip(assigned, values, strict=True):
            old.copy_(value)
            part._buffers[name] = old
    return output


def functions(source: str) -> Mapping[Any, Callable[..., Any]]:
    """The reads and assignments of ``.data``, which the exporter does not record.

    Args:
        source: the name of the module, for the error.
    """
    import torch

    def assign(old: Any, new: Any) -> Any:
        if old.shape != new.shape or old.dtype != new.dtype:
            raise ConversionError(
                f"trace_graph: {source} assigns {_text(new)} to .data of {_text(old)}; a graph "
                "keeps shapes and dtypes: make a new tensor of it"
            )
        with torch.no_grad():
            return old.copy_(new)

    return {
        torch.Tensor.data.__get__: lambda x, *_: x.detach(),  # type: ignore[attr-defined]
        torch.Tensor.data.__set__: assign,  # type: ignore[attr-defined]
    }


def _text(tensor: Any) -> str:
    if tensor is None:
        return "None"
    return f"{str(tensor.dtype).removeprefix('torch.')}[{', '.join(map(str, tensor.shape))}]"
