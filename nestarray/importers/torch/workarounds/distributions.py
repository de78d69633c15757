"""Distributions in a traced module.

``Gamma.rsample`` keeps samples above zero by a write behind autograd, and distributions check
values, which are branches. During the trace samples are operations whose frontend functions have
derivatives, without checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.importers.torch.workarounds import reproducers
from nestarray.importers.workarounds import Needed, Workaround, always


def _gamma(self: Any, sample_shape: Any = (), generator: Any = None) -> Any:
    """A sample, which a graph draws from its key also if a generator is passed."""
    shape = self._extended_shape(sample_shape)
    value = torch.ops.aten._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(
        shape
    )
    tiny = torch.finfo(value.dtype).tiny
    # as upstream, the gradient ignores the limit
    return torch.where(value < tiny, tiny + value - value.detach(), value)


def _noticing(trace: Any, native: Any) -> Callable[..., Any]:
    """A draw, of which `Gamma.rsample` without checks is noticed."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not trace.applies(GAMMA):
            raise Needed(GAMMA)
        return native(*args, **kwargs)

    return call


DISTRIBUTION_CHECKS = Workaround(
    "checks of distributions",
    "distributions check values, which are branches",
    (reproducers.distribution_checks,),
    issue="pytorch#135061",
    until="2.15",
    attributes={"torch.distributions.Distribution._validate_args": always(False)},
)
GAMMA = Workaround(
    "gamma samples",
    "Gamma.rsample writes behind autograd",
    (reproducers.gamma_gradient,),
    attributes={"torch.distributions.Gamma.rsample": always(_gamma)},
    functions={"torch._standard_gamma": _noticing},
)
