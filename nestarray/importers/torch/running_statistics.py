"""Running statistics that the exporter does not record.

Cumulative averages of batch normalization, ``momentum=None``: the n-th batch has the weight 1 / n.
`torch.nn` reads n from a buffer as a Python number, which would be a constant of the trace. During
the trace the weight is an array: momentum 1 yields the statistics of the batch, and the buffers
move towards them by 1 / n.

Instance normalization writes into its running statistics, and its schema does not say so. During
the trace these are separate operations.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nestarray.importers.patching import patched


@contextlib.contextmanager
def patched_running_statistics() -> Iterator[None]:
    """Compute running statistics by operations that can be exported."""
    import torch
    from torch.nn.modules.batchnorm import _BatchNorm

    original: Any = _BatchNorm.forward

    def forward(self: Any, input: Any) -> Any:
        is_moved = self.training and self.track_running_stats
        if self.momentum is not None or not is_moved or self.num_batches_tracked is None:
            return original(self, input)
        return _averaged(self, input)

    instance_norm: Any = torch.instance_norm

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
            dims = tuple(range(2, x.ndim))
            with torch.no_grad():
                mean.lerp_(x.mean(dims).mean(0).to(mean.dtype), momentum)
                var.lerp_(x.var(dims).mean(0).to(var.dtype), momentum)
            mean = var = None
        return instance_norm(x, weight, bias, mean, var, use_input_stats, momentum, *settings)

    with (
        patched((_BatchNorm, "forward", forward)),
        patched((torch, "instance_norm", normalized)),
    ):
        yield


def _averaged(module: Any, input: Any) -> Any:
    """A call in training that updates cumulative averages."""
    import torch

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
