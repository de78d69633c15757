"""Models as graphs: trace, move, compile, prove."""

from __future__ import annotations

import inspect
from typing import Any

from nestarray import backends
from nestarray.errors import ArgumentError
from nestarray.errors.unknown_names import suggest_names
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node
from nestarray.importers.check import check
from nestarray.importers.islands import island
from nestarray.nn.module import Module

__all__ = ["Aval", "Graph", "Node", "check", "island", "trace_graph"]


def trace_graph(
    source: Any,
    *args: Any,
    train: bool = False,
    dynamic: Any = None,
    islands: bool = False,
    **kwargs: Any,
) -> Graph:
    """Trace a model or a function into a `Graph` that any backend can run and train.

    Args:
        source: a ``torch.nn.Module``, which ``torch.export`` reads; or a `nestarray.nn.Module`,
            or a function over `na.*`, which is run once and whose calls of ops are recorded.
            A function that calls torch's functions or methods on its torch tensors is read by
            ``torch.export`` too, whatever it calls of `na`; modules that it uses by name
            are its layers (``v["net/weight"]``), other tensors of outside are constants.
            It is not changed; the graph shares the memory of its variables.
        *args, **kwargs: example inputs, as ``source(*args, **kwargs)`` takes them. Arrays in
            them (and in Containers, dicts, lists, tuples) are inputs of the graph; numbers
            and strings are part of the program.
        train: trace the training behaviour: dropout draws from a `key`, and the graph
            returns ``(output, new_state)``. By default the evaluation behaviour is
            traced, whatever mode a torch module is in; a module that writes into its
            buffers in evaluation returns ``(output, new_state)`` there too. What a torch
            module draws by NumPy or Python is a constant of the graph, with a warning.
        dynamic: the sizes of a torch module's inputs that may change from call to call, by
            argument and dimension: ``{"x": {0: "batch", 1: "length"}}``, with mappings and
            lists for nested arguments. Equal names are equal sizes; in place of a name may
            stand a ``torch.export.Dim`` with a range. True: all sizes that the model does not
            need as constants. By default sizes are those of the example.
        islands: let operations that neither nestarray nor torch's decompositions know, such
            as those of ``torch.library.custom_op``, run in torch on any backend
            (`nestarray.graph.island`), with their gradients. `nestarray.check` lists them.

    Returns:
        a Graph on the framework of the source; ``.to_backend("jax")`` moves it.

    Raises:
        ArgumentError: `source` is none of these or does not take the example, there is no array
            to trace with, or `train` is asked of a function.
        ConversionError: torch cannot export the module, or the code needs the value of an
            array, or the model needs a size of `dynamic` as a constant.
        ShapeError: sizes of one name differ in the example.
        MissingOpError: the module uses operations without a frontend function; lists all.

    Example:
        >>> import numpy as np, torch, nestarray as na
        >>> net, x = torch.nn.Linear(2, 3), torch.ones(4, 2)
        >>> graph = na.trace_graph(net, x).to_backend("numpy")
        >>> graph(na.to_backend(x, "numpy")).shape
        (4, 3)
        >>> print(na.trace_graph(lambda x: na.relu(x) * 2, np.ones(3, "float32")))
        import nestarray as na
        <BLANKLINE>
        <BLANKLINE>
        def graph(x, *, v, s, constants, key=None):
            relu = na.relu(x)  # float32[3]
            multiply = na.multiply(relu, 2)  # float32[3]
            return multiply
        <BLANKLINE>
        >>> graph = na.trace_graph(net, x, dynamic={"input": {0: "batch"}})
        >>> graph(torch.ones(7, 2)).shape
        torch.Size([7, 3])
    """
    if isinstance(source, type):
        raise ArgumentError(
            f"trace_graph: source: got the class {source.__name__}, expected an instance of it: "
            f"{source.__name__}(...)"
        )
    _check_call(source, args, kwargs)
    is_dynamic = dynamic is not None and dynamic is not False
    if is_torch_module(source) or (is_dynamic and _is_function_of_torch(source, args, kwargs)):
        from nestarray.importers.torch import trace_torch

        return trace_torch(source, args, kwargs, train, dynamic, islands)
    if is_dynamic:
        raise ArgumentError(
            "trace_graph: dynamic: sizes are left open in graphs of torch modules; code over na is "
            "recorded with the sizes of the example"
        )
    key = None
    if isinstance(source, Module):
        key = kwargs.pop("key", None) if train else None
    elif not callable(source):
        raise ArgumentError(
            f"trace_graph: source: got {type(source).__name__}, expected a torch.nn.Module, a "
            "nestarray.nn.Module or a function over na"
        )
    elif train:
        raise ArgumentError(
            "trace_graph: train=True is for modules; trace the function that trains: "
            "na.trace_graph(lambda x: fn(x, train=True), x)"
        )
    from nestarray.graph.record.recorder import TorchAttribute, TorchCall, trace_python
    from nestarray.proof.reference import PythonReference

    try:
        return trace_python(PythonReference(source, args, kwargs, train=train, key=key))
    except (TorchCall, TorchAttribute):
        if not _is_function_of_torch(source, args, kwargs):
            raise
        from nestarray.importers.torch import trace_torch

        return trace_torch(source, args, kwargs, train, islands=islands)


def _check_call(source: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise an ArgumentError if `source` cannot be called like this."""
    is_module = hasattr(source, "named_parameters") and hasattr(source, "forward")
    if isinstance(source, Module) or not (is_module or callable(source)):
        return
    try:
        signature = inspect.signature(source.forward if is_module else source)
    except (TypeError, ValueError):  # some functions of C have none
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        name = type(source).__name__ if is_module else getattr(source, "__name__", "source")
        signature = signature.replace(return_annotation=inspect.Signature.empty)
        raise ArgumentError(
            f"trace_graph: the example does not fit {name}{signature}: {error}; give its arguments "
            "after the source, as in a call"
        ) from None


def is_torch_module(source: Any) -> bool:
    """Whether `source` is read by ``torch.export`` at once."""
    is_compiled_function = hasattr(source, "_torchdynamo_orig_callable")
    is_scripted_function = type(source).__name__ == "ScriptFunction"
    return (
        is_compiled_function
        or is_scripted_function
        or (hasattr(source, "named_parameters") and hasattr(source, "forward"))
    )


def _is_function_of_torch(source: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    is_function = callable(source) and not isinstance(source, Module)
    return is_function and backends.find_backend((args, kwargs)) == "torch"


suggest_names(__name__)
