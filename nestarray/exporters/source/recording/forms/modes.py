"""Dropout and batch normalization in the training mode: calls that the evaluation mode changes.

The source reads the mode as its framework does: PyTorch from ``self.training``, others from an
argument. Random numbers are PyTorch's and TensorFlow's own, of a key in JAX, and of a generator in
NumPy. On plain arrays, the functions drop nothing.
"""

from __future__ import annotations

import math
from typing import Any

from nestarray import ops
from nestarray.exporters.source.recording.forms.layers import source_function
from nestarray.exporters.source.recording.observation import Observed, current, observed


def dropout(x: Any, *, rate: float, shared: tuple[int, ...] = ()) -> Any:
    """Dropout; elements along the axes `shared` are dropped together."""
    if not isinstance(x, Observed):
        return x
    recorder = current()
    if recorder.backend == "torch":
        return _torch_dropout(x, rate, shared, recorder.mode)
    settings = {"rate": rate} | ({"shared": shared} if shared else {})
    if recorder.backend == "tensorflow":
        return source_function("dropout")(x, recorder.mode, **settings)
    result = source_function("dropout")(x, recorder.key, recorder.mode, **settings)
    if recorder.backend == "numpy":
        return result
    y, recorder.key = result
    recorder.key._noted.dtype = "key"
    return y


def _torch_dropout(x: Any, rate: float, shared: tuple[int, ...], mode: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html"""
    import torch
    import torch.nn.functional as F

    rank = len(x.shape)
    if shared and shared == tuple(range(2, rank)) and rank < 6:
        name = f"dropout{rank - 2}d"
        return observed(f"torch.nn.functional.{name}", getattr(F, name))(x, rate, mode)
    drop = observed("torch.nn.functional.dropout", F.dropout)
    if not shared:
        return drop(x, rate, mode)
    shape = tuple([1 if i in shared else n for i, n in enumerate(x.shape)])
    return x * drop(observed("method:new_ones", torch.Tensor.new_ones)(x, shape), rate, mode)


def batch_norm(
    x: Any,
    mean: Any,
    variance: Any,
    weight: Any = None,
    bias: Any = None,
    *,
    momentum: float,
    eps: float,
    axis: int,
    is_unbiased: bool,
) -> tuple[Any, Any, Any]:
    """Batch normalization, and the new running mean and variance; None if the call writes them."""
    if not isinstance(x, Observed):
        y, average, spread = ops.batch_norm_training(x, weight, bias, axis=axis, eps=eps)
        count = math.prod(x.shape) / x.shape[axis]
        spread = spread * (count / max(count - 1, 1)) if is_unbiased else spread
        return y, *(
            (1 - momentum) * old + momentum * new
            for old, new in ((mean, average), (variance, spread))
        )
    recorder = current()
    if recorder.backend == "torch" and is_unbiased:
        first = ops.moveaxis(x, axis, 1)
        y = _torch_batch_norm(first, mean, variance, weight, bias, momentum, eps)
        return ops.moveaxis(y, 1, axis), None, None
    settings: dict[str, Any] = {"momentum": momentum, "eps": eps}
    settings |= {} if is_unbiased else {"is_unbiased": False}
    settings |= {} if axis == 1 else {"axis": axis}
    function = source_function("running_batch_norm")
    return function(x, mean, variance, recorder.mode, weight, bias, **settings)


def _torch_batch_norm(
    x: Any, mean: Any, variance: Any, weight: Any, bias: Any, momentum: float, eps: float
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.batch_norm.html"""
    import torch.nn.functional as F

    def batch_norm(x: Any, mean: Any, variance: Any, *settings: Any) -> Any:
        return F.batch_norm(x, mean.clone(), variance.clone(), *settings)  # the graph's own stay

    function = observed("torch.nn.functional.batch_norm", batch_norm)
    mode = current().mode
    return function(x, mean, variance, weight, bias, mode, momentum, eps)
