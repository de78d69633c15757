"""Models of Keras on its torch backend, as modules whose parameters have Keras' paths."""

from __future__ import annotations

import importlib
import inspect
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch.fx.traceback import annotate, preserve_node_meta

from nestarray.importers import keras
from nestarray.importers.patching import patched
from nestarray.importers.torch import places


def keras_module(model: Any) -> Any:
    """A ``torch.nn.Module`` that calls a model of Keras with its parameters and buffers."""
    keras.check_built(model)
    trained, others = (
        {variable.path: variable for variable in variables}
        for variables in (model.trainable_variables, model.non_trainable_variables)
    )

    for layer in model._flatten_layers():
        layer.torch_params  # noqa: B018  # else made in the call, of the values of a stateless scope

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _drawing_without_seeds(), _noting_layers():
            output, new = model.stateless_call(
                [self._parameters[path] for path in trained],
                [self._buffers[path] for path in others],
                *args,
                **kwargs,
                **keras.mode(model, train=self.training),
            )
        if self.training:
            for path, value in zip(others, new, strict=True):
                self._buffers[path].copy_(value)
        return output

    parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.signature(model.call)
    forward.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[parameter, *signature.parameters.values()]
    )
    module = type(type(model).__name__, (torch.nn.Module,), {"forward": forward})()
    for path, variable in trained.items():
        module.register_parameter(path, variable.value)
    for path, variable in others.items():
        module.register_buffer(path, variable.value.detach())
    return module


def _drawing_without_seeds() -> AbstractContextManager[None]:
    """Draw from the default generator, whose draws a graph has, and advance the seeds.

    Keras makes a generator for each draw, and seeds it with the value of a variable.
    """
    random = importlib.import_module("keras.src.backend.torch.random")

    def generator(seed: Any) -> None:
        random.draw_seed(seed)

    return patched((random, "torch_seed_generator", generator))


def _noting_layers() -> AbstractContextManager[None]:
    """Note the path of the layer whose call makes a node, in the node's ``"custom"`` entries.

    torch does so for calls of ``torch.nn.Module``, which Keras replaces by its own.
    """
    from keras import Layer

    call = Layer.__call__

    def noted(layer: Any, *args: Any, **kwargs: Any) -> Any:
        with preserve_node_meta(), annotate({places.LAYER: layer.path or layer.name}):
            return call(layer, *args, **kwargs)

    return patched((Layer, "__call__", noted))
