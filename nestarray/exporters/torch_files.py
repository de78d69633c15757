"""Files of PyTorch: ``torch.export`` and ONNX."""

from __future__ import annotations

import contextlib
import inspect
import operator
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nestarray.backends import portable
from nestarray.errors import UnsupportedError
from nestarray.exporters.export import Example, named_outputs, taken
from nestarray.exporters.native import to_torch_module
from nestarray.graph.binding import input_names
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node, iter_nodes, map_nodes
from nestarray.sizes import Size


def write_torch(graph: Graph, example: Example, path: Path) -> None:
    """Save the program of ``torch.export``."""
    torch.export.save(_program(graph, to_torch_module(graph), example), path)


def run_torch(path: Path, example: Example) -> dict[str, np.ndarray]:
    """The outputs of a saved program."""
    args, kwargs = example.on("torch")
    with torch.no_grad():
        output = torch.export.load(path).module()(*args, **kwargs)
    return {name: x.numpy() for name, x in named_outputs(output).items()}


def write_aotinductor(graph: Graph, example: Example, path: Path) -> None:
    """Compile with AOTInductor, and save the package.

    Raises:
        UnsupportedError: no C++ compiler was found.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about PyTorch's own code
        from torch._inductor import aoti_compile_and_package, cpp_builder
        from torch._inductor.exc import InvalidCxxCompiler
    try:
        cpp_builder.get_cpp_compiler()
    except InvalidCxxCompiler:
        raise UnsupportedError(
            "AOTInductor found no C++ compiler; install one (g++), or set the variable CXX to its path"
        ) from None
    module = to_torch_module(graph).requires_grad_(False)
    package = path.with_name(f"{path.name}.pt2")  # AOTInductor refuses other suffixes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about PyTorch's own code
        aoti_compile_and_package(_program(graph, module, example), package_path=str(package))
    package.replace(path)


def run_aotinductor(path: Path, example: Example) -> dict[str, np.ndarray]:
    """The outputs of the loaded package."""
    from torch._inductor import aoti_load_package

    args, kwargs = example.on("torch")
    output = aoti_load_package(str(path))(*args, **kwargs)
    return {name: x.detach().numpy() for name, x in named_outputs(output).items()}


#: The end of the name of an output of ONNX that has the name of an input.
_OUTPUT = "_output"


def write_onnx(graph: Graph, example: Example, path: Path) -> None:
    """Save a model of ONNX, checked by its own checker."""
    import onnx

    args, kwargs = example.on("torch")
    result = graph.to_backend("torch")(*args, **kwargs)
    inputs = [node.name for node in iter_nodes(taken(graph))]  # of dicts in their order
    named = named_outputs(result[0] if graph.returns_state else result)
    outputs = [f"{name}{_OUTPUT}" if name in inputs else name for name in named]
    # the exporter computes strides with and without gradients, which differ for attention
    module = _Named(to_torch_module(graph)).requires_grad_(False)
    with warnings.catch_warnings(), portable.portable_operators():
        warnings.simplefilter("ignore")  # about PyTorch's own code
        program = torch.onnx.export(
            _program(graph, module, example), input_names=inputs,
            output_names=outputs, verbose=False, dynamo=True,
            dynamic_shapes=[_open_axes(node) for node in iter_nodes(taken(graph))],
            custom_translation_table={
                torch.ops.aten.sort.stable: _stable_sort,
                torch.ops.prims.prod.default: _product,
                torch.ops.aten.where.self: _where,
                torch.ops.aten.isnan.default: _is_nan,
                torch.ops.aten.view.dtype: _bits,
                torch.ops.aten.amax.default: _largest,
                torch.ops.aten.amin.default: _smallest,
                operator.floordiv: _floor_divided,
            },
        )  # fmt: skip
    assert program is not None
    for node in program.model.graph:
        for x in node.outputs:  # torch.onnx gives an output a name that another value may have
            if x.name in outputs and x not in program.model.graph.outputs:
                x.name = f"{x.name}_of_{node.name or node.op_type}"
    program.save(path, external_data=False)
    onnx.checker.check_model(path)


def _open_axes(node: Node) -> dict[int, str]:
    """Axis → the name of its open size."""
    assert node.aval is not None
    sizes = enumerate(node.aval.shape)
    return {axis: n.name for axis, n in sizes if isinstance(n, Size) and n.name}


def _stable_sort(self: Any, stable: bool = True, dim: int = -1, descending: bool = False) -> Any:
    """The operators of ``aten.sort.stable``, which `torch.onnx` lacks: TopK keeps the order of ties."""
    import onnxscript

    opset: Any = onnxscript.opset18
    size = opset.Gather(opset.Shape(self), opset.Constant(value_ints=[dim]), axis=0)
    return opset.TopK(self, size, axis=dim, largest=descending, sorted=True)


def _product(inp: Any, dims: Any = None, *, output_dtype: Any = None) -> Any:
    """The operator of ``prims.prod``, which `torch.onnx` lacks."""
    import onnxscript

    opset: Any = onnxscript.opset18
    axes = None if dims is None else opset.Constant(value_ints=list(dims))
    return opset.ReduceProd(inp, axes, keepdims=False)


def _largest(self: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The operator of ``aten.amax``, which `torch.onnx` refuses without axes."""
    import onnxscript

    opset: Any = onnxscript.opset18
    axes = opset.Constant(value_ints=list(dim)) if dim else None
    return opset.ReduceMax(self, axes, keepdims=keepdim)


def _smallest(self: Any, dim: Any = (), keepdim: bool = False) -> Any:
    """The operator of ``aten.amin``, which `torch.onnx` refuses without axes."""
    import onnxscript

    opset: Any = onnxscript.opset18
    axes = opset.Constant(value_ints=list(dim)) if dim else None
    return opset.ReduceMin(self, axes, keepdims=keepdim)


def _is_nan(self: Any) -> Any:
    """The operator of ``aten.isnan``; ONNX has it for floating numbers only."""
    import onnxscript

    opset: Any = onnxscript.opset18
    if str(self.dtype).endswith(("FLOAT", "FLOAT16", "DOUBLE")):
        return opset.IsNaN(self)
    return opset.Not(opset.Equal(self, self))


def _bits(self: Any, dtype: int) -> Any:
    """The operator of ``aten.view.dtype``: Cast of integers, which keeps their lowest bits."""
    import onnx
    import onnxscript

    opset: Any = onnxscript.opset18
    names = str(self.dtype), onnx.TensorProto.DataType.Name(dtype)
    if not all("INT" in name for name in names) or len({name[-2:] for name in names}) > 1:
        raise UnsupportedError("ONNX has no operator for the bits of floating numbers")
    return opset.Cast(self, to=dtype)


def _where(condition: Any, self: Any, other: Any) -> Any:
    """The operators of ``aten.where``; ONNX Runtime selects no booleans."""
    import onnxscript

    opset: Any = onnxscript.opset18
    if str(self.dtype) != "BOOL":
        return opset.Where(condition, self, other)
    return opset.Or(opset.And(condition, self), opset.And(opset.Not(condition), other))


def _floor_divided(self: Any, other: Any) -> Any:
    """The operators of ``//``: `torch.onnx` writes Div, which rounds sizes below zero up."""
    import onnxscript

    opset: Any = onnxscript.opset18
    return opset.Div(opset.Sub(self, opset.Mod(self, other)), other)


def run_onnx(path: Path, example: Example) -> dict[str, np.ndarray]:
    """The outputs of ONNX Runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    taken = {x.name for x in session.get_inputs()}  # inputs without effect are left out
    feeds = {name: x for name, x in example.flat.items() if name in taken}
    names = [x.name for x in session.get_outputs()]
    short_names = [name.removesuffix(_OUTPUT) for name in names]
    names = [
        short if short in example.flat else name
        for short, name in zip(short_names, names, strict=True)
    ]
    outputs = session.run(None, feeds)
    return {name: np.asarray(x) for name, x in zip(names, outputs, strict=True)}


class _Named(torch.nn.Module):
    """A module that returns its arrays by name; ONNX has no numbers as outputs."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, torch.Tensor]:
        return named_outputs(self.module(*args, **kwargs))


def _program(graph: Graph, module: torch.nn.Module, example: Example) -> Any:
    """The program of ``torch.export``, with the graph's symbolic sizes."""
    args, kwargs = example.on("torch")

    def axes(node: Node) -> dict[int, Any]:
        assert node.aval is not None
        shape = enumerate(node.aval.shape)
        return {i: torch.export.Dim.DYNAMIC for i, n in shape if not isinstance(n, int)}

    positional, named = map_nodes(axes, taken(graph))
    labels = [*input_names(graph)[: len(positional)], *named]
    names = [name if name.isidentifier() else f"x_{i}" for i, name in enumerate(labels)]  # of nests
    sizes = dict(zip(names, [*positional, *named.values()], strict=True))
    orders: Any = contextlib.nullcontext()
    if graph.sizes.ranges and torch.backends.opt_einsum.enabled:
        # the order of an einsum's products, chosen by the sizes, would fix open ones
        orders = torch.backends.opt_einsum.flags(enabled=False)
    with warnings.catch_warnings(), orders:
        warnings.simplefilter("ignore")  # about PyTorch's own code
        return torch.export.export(
            _with_parameters(module, names, len(positional)),
            args,
            kwargs,
            dynamic_shapes=sizes if graph.sizes.ranges else None,
        )


def _with_parameters(module: torch.nn.Module, names: list[str], count: int) -> torch.nn.Module:
    """The module with named parameters of ``forward``, by which ``torch.export`` finds sizes.

    Args:
        module: whose ``forward`` takes ``*args, **kwargs``.
        names: of the parameters.
        count: of those by position.
    """
    forward = module.forward

    def called(*args: Any, **kwargs: Any) -> Any:
        return forward(*args, **kwargs)

    kinds = [inspect.Parameter.POSITIONAL_OR_KEYWORD] * count
    kinds += [inspect.Parameter.KEYWORD_ONLY] * (len(names) - count)
    parameters = [inspect.Parameter(*pair) for pair in zip(names, kinds, strict=True)]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    module.forward = called
    return module
