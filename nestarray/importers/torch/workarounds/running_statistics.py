"""Running statistics that the exporter does not record.

Cumulative averages of batch normalization, ``momentum=None``: the n-th batch has the weight 1 / n.
`torch.nn` reads n from a buffer as a Python number, which would be a constant of the trace. During
the trace the weight is an array: momentum 1 yields the statistics of the batch, and the buffers
move towards them by 1 / n.

Instance normalization writes into its running statistics, and its schema does not say so. During
the trace these are separate operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.importers.workarounds import Workaround


def _averaging(trace: Any, original: Any) -> Callable[..., Any]:
    def forward(self: Any, input: Any) -> Any:
        is_moved = self.training and self.track_running_stats
        if self.momentum is not None or not is_moved or self.num_batches_tracked is None:
            return original(self, input)
        return _averaged(self, input)

    return forward


def _averages(trace: Any) -> bool:
    from torch.nn.modules.batchnorm import _NormBase

    parts = [part for part in trace.module.modules() if isinstance(part, _NormBase)]
    return any(part.training and part.momentum is None for part in parts)


def _averaged(module: Any, input: Any) -> Any:
    """A call in training that updates cumulative averages."""
    module._check_input_dim(input)
    module.num_batches_tracked.add_(1)
    mean, var = torch.zeros_like(module.running_mean), torch.zeros_like(module.running_var)
    out = torch.nn.functional.batch_norm(
        input, mean, var, module.weight, module.bias, training=True, momentum=1.0, eps=module.eps
    )
    step = module.num_batches_tracked.to(module.running_mean.dtype).reciprocal()
    for old, new in ((module.running_mean, mean), (module.running_var, var)):
        old.copy_(old * (1 - step) + new * step)
    return out


def _moved(x: Any, mean: Any, var: Any, momentum: float) -> None:
    """Move running statistics towards those of `x`."""
    dims = tuple(range(2, x.ndim))
    with torch.no_grad():
        mean.lerp_(x.mean(dims).mean(0).to(mean.dtype), momentum)
        var.lerp_(x.var(dims).mean(0).to(var.dtype), momentum)


def _of_aten(trace: Any, native: Any) -> Callable[..., Any]:
    def normalized(
        x: Any,
        weight: Any,
        bias: Any,
        running_mean: Any,
        running_var: Any,
        use_input_stats: bool,
        momentum: float,
        *settings: Any,
    ) -> Any:
        mean, var = running_mean, running_var
        if use_input_stats and mean is not None:
            _moved(x, mean, var, momentum)
            mean = var = None
        return native(x, weight, bias, mean, var, use_input_stats, momentum, *settings)

    return normalized


def _of_layers(trace: Any, native: Any) -> Callable[..., Any]:
    """``torch.nn.functional.instance_norm``, which has other places for the same arguments."""
    of_aten = _of_aten(trace, torch.instance_norm)

    def normalized(
        input: Any,
        running_mean: Any = None,
        running_var: Any = None,
        weight: Any = None,
        bias: Any = None,
        use_input_stats: bool = True,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Any:
        statistics = running_mean, running_var, use_input_stats, momentum
        return of_aten(input, weight, bias, *statistics, eps, torch.backends.cudnn.enabled)

    return normalized


CUMULATIVE_AVERAGES = Workaround(
    "cumulative averages",
    "BatchNorm with momentum=None reads its number of batches as a Python number",
    attributes={"torch.nn.modules.batchnorm._BatchNorm.forward": _averaging},
    is_needed=_averages,
)
INSTANCE_NORM = Workaround(
    "instance norm",
    "the schema of instance_norm does not declare the write into running statistics",
    issue="pytorch#88375",
    functions={
        "torch.instance_norm": _of_aten,
        "torch.nn.functional.instance_norm": _of_layers,
    },
)
