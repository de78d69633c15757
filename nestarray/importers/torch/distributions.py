"""Samples of gamma and Dirichlet distributions in a traced module.

``Gamma.rsample`` keeps samples above zero by a write behind autograd, and the derivative of
Dirichlet samples is Python code of torch. During the trace both are operations whose frontend
functions have derivatives.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nestarray.importers.patching import patched


@contextlib.contextmanager
def patched_distributions() -> Iterator[None]:
    """Trace samples as operations, and without checks of values, which are branches."""
    import torch
    from torch.distributions import Distribution, Gamma, dirichlet

    with patched(
        (Distribution, "_validate_args", False),
        (Gamma, "rsample", _gamma),
        (dirichlet._Dirichlet, "apply", lambda x: torch.ops.aten._sample_dirichlet(x)),
    ):
        yield


def _gamma(self: Any, sample_shape: Any = ()) -> Any:
    import torch

    shape = self._extended_shape(sample_shape)
    value = torch.ops.aten._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(
        shape
    )
    tiny = torch.finfo(value.dtype).tiny
    # as upstream, the gradient ignores the limit
    return torch.where(value < tiny, tiny + value - value.detach(), value)
