"""Models of Keras on its torch backend, as modules whose parameters have Keras' paths."""

from __future__ import annotations

import inspect
from typing import Any

from nestarray.importers import keras


def keras_module(model: Any) -> Any:
    """A ``torch.nn.Module`` that calls a model of Keras with its parameters and buffers."""
    import torch

    keras.check_built(model)
    trained, others = (
        {variable.path: variable for variable in variables}
        for variables in (model.trainable_variables, model.non_trainable_variables)
    )

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
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
    own = inspect.signature(model.call)
    forward.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[parameter, *own.parameters.values()]
    )
    module = type(type(model).__name__, (torch.nn.Module,), {"forward": forward})()
    for path, variable in trained.items():
        module.register_parameter(path, variable.value)
    for path, variable in others.items():
        module.register_buffer(path, variable.value.detach())
    return module
