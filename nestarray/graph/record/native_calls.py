"""Calls of a framework's own functions and methods on traced arrays.

NumPy and PyTorch hand calls on objects of other classes to a protocol of the object
(``__array_ufunc__``, ``__array_function__``, ``__torch_function__``), TensorFlow to a dispatcher that is
registered while code is recorded. The frontend's function of the same name computes the call, and its
ops are recorded. JAX has no such protocol: its functions refuse a traced array. Then JAX itself traces the
code (`nestarray.importers.python`). Functions must belong to the framework that the arrays belong to,
because a plain run of the code mixes no frameworks either.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from nestarray.errors import ConversionError
from nestarray.frontends import numpy as numpy_frontend
from nestarray.frontends import registry
from nestarray.graph.node import Function
from nestarray.typing import Nest


def numpy_function(function: Function) -> Function | None:
    """The frontend's function for one of NumPy; None if it has none."""
    module = getattr(function, "__module__", None) or "numpy"
    found: Nest = numpy_frontend
    for part in f"{module}.{function.__name__}".split(".")[1:]:
        found = getattr(found, part, None)
    return found


def torch_function(function: Function, arguments: object) -> Function | None:
    """The frontend's function for one of PyTorch; None if it has none.

    Raises:
        ConversionError: a layer of torch is called, whose parameters would be constants.
    """
    import torch
    from torch.utils import _pytree

    leaves = _pytree.tree_leaves(arguments)
    if any(isinstance(x, torch.nn.Parameter) for x in leaves):
        raise ConversionError(
            "trace_graph: a layer of torch is called on a traced array, and its parameters would be "
            "constants; make it a layer of nestarray with na.to_module(layer, x)"
        )
    name = torch.overrides.resolve_name(function)
    if name is None or function.__name__.startswith("__"):  # Python then tries our operator
        return None
    return _find("torch", name)


def method(backend: str, name: str) -> Function | None:
    """The frontend's function for a method of a framework's arrays; None if it has none."""
    if backend == "numpy":
        return getattr(numpy_frontend, name, None) if hasattr(np.ndarray, name) else None
    if backend == "torch":
        return _find("torch", f"torch.Tensor.{name}") or _find("torch", f"torch.{name}")
    if backend == "jax" and hasattr(sys.modules["jax"].Array, name):
        return _find("jax", f"jax.numpy.{name}")
    return None


def _find(vocabulary: str, printed_name: str) -> Function | None:
    try:
        return registry.vocabulary(vocabulary).function(printed_name)
    except ValueError:
        return None


@contextlib.contextmanager
def tensorflow_dispatched(is_own: Callable[[list[object]], bool]) -> Iterator[None]:
    """Functions of TensorFlow, if it is imported, compute calls on traced tensors by the frontend.

    Args:
        is_own: whether a call with these arguments is to be recorded.
    """
    tf: Nest = sys.modules.get("tensorflow")
    if tf is None:
        yield
        return
    from tensorflow.python.util import dispatch, tf_export  # the public dispatch cannot be undone

    class Dispatcher(dispatch.GlobalOpDispatcher):
        def handle(self, op: Function, args: Nest, kwargs: Mapping[str, Nest]) -> Nest:
            if not is_own(tf.nest.flatten([*args, *kwargs.values()])):
                return self.NOT_SUPPORTED
            name = tf_export.get_canonical_name_for_symbol(op) or op.__name__
            function = _find("tf", f"tf.{name}")
            given = {k: x for k, x in kwargs.items() if k != "name"}
            return self.NOT_SUPPORTED if function is None else function(*args, **given)

    dispatcher = Dispatcher()
    dispatcher.register()
    try:
        yield
    finally:
        dispatch._GLOBAL_DISPATCHERS.remove(dispatcher)
