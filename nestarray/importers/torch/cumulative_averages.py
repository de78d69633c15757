"""Batch normalization with cumulative averages as running statistics: ``momentum=None``.

The n-th batch has the weight 1 / n. `torch.nn` reads n from a buffer as a Python number, which
would be a constant of the trace. During the trace the weight is an array: momentum 1 yields the
statistics of the batch, and the buffers move towards them by 1 / n.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nestarray.importers.torch.patching import patched


@contextlib.contextmanager
def patched_batch_norm() -> Iterator[None]:
    """Compute the weights of cumulative averages as arrays during an export."""
    from torch.nn.modules.batchnorm import _BatchNorm

    original: Any = _BatchNorm.forward

    def forward(self: Any, input: Any) -> Any:
        is_moved = self.training and self.track_running_stats
        if self.momentum is not None or not is_moved or self.num_batches_tracked is None:
            return original(self, input)
        return _averaged(self, input)

    with patched((_BatchNorm, "forward", forward)):
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
