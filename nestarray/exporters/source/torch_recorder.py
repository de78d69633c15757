"""Records the public calls of PyTorch: a ``TorchFunctionMode`` sees the outermost ones."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from nestarray import dtypes
from nestarray.exporters.source.records import Call, Recording, Value
from nestarray.graph.builder import NOWHERE, Place
from nestarray.graph.execution import steps
from nestarray.graph.graph import Graph
from nestarray.graph.node import map_leaves


class _Recorder(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.values: dict[int, Value] = {}
        self.alive: list[Any] = []  # so that an id belongs to one tensor
        self.constants: dict[str, Any] = {}
        self.place = NOWHERE

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = map_leaves(self.noted, [list(args), kwargs])
        result = func(*args, **kwargs)
        if _has_tensor(result):
            noted = map_leaves(self.value, result)
            self.calls.append(Call(_name(func), tuple(given[0]), given[1], noted, self.place))
        return result

    def value(self, x: Any, source: str = "", path: str = "") -> Any:
        """A new Value for a tensor."""
        if not isinstance(x, torch.Tensor):
            return x
        self.alive.append(x)
        dtype = dtypes.as_dtype(str(x.dtype).removeprefix("torch.")).name
        made = Value(tuple(map(int, x.shape)), dtype, source, path)
        self.values[id(x)] = made
        return made

    def noted(self, x: Any) -> Any:
        """An argument of a call."""
        if isinstance(x, torch.Tensor):
            return self.values[id(x)] if id(x) in self.values else self.literal(x)
        if isinstance(x, torch.dtype):
            return dtypes.as_dtype(str(x).removeprefix("torch."))
        return x

    def literal(self, x: torch.Tensor) -> Any:
        """A tensor of unknown origin, which a call made of numbers."""
        if x.ndim == 0:
            return x.item()
        path = f"array{len(self.constants)}"
        self.constants[path] = x.numpy(force=True)
        return self.value(x, "constants", path)


def record(graph: Graph, inputs: list[Any]) -> Recording:
    """The calls of a graph.

    Args:
        graph: a lowered graph on PyTorch.
        inputs: its flat inputs, as tensors.
    """
    recorder = _Recorder()
    own = graph.inputs
    given = [recorder.value(x, "x", n.name) for x, n in zip(inputs, own, strict=True)]
    for source in ("v", "s", "constants"):
        for path, x in getattr(graph, source).flat_items():
            recorder.value(x, source, path)
    places = [Place(node.module, node.line) for node in graph.calls]
    run = steps(graph, inputs, None)
    try:
        with torch.no_grad(), recorder:
            for recorder.place in places:
                _, result = next(run)
                recorder.alive.append(result)
            next(run)
    except StopIteration as end:
        output, updates = end.value
    output, updates = map_leaves(recorder.noted, [output, updates])
    return Recording("torch", given, recorder.calls, output, updates, recorder.constants)


def _has_tensor(result: Any) -> bool:
    if isinstance(result, (list, tuple)):
        return any(map(_has_tensor, result))
    return isinstance(result, torch.Tensor)


def _name(function: Any) -> str:
    """The public name: ``"torch.reshape"``, ``"method:reshape"``, ``"operator.add"``."""
    name = resolve_name(function) or f"{function.__module__}.{function.__name__}"
    if name.startswith("torch.Tensor."):
        method = name.removeprefix("torch.Tensor.")
        return f"method:{method}"
    return name
