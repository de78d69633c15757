"""``torch.inference_mode`` in a traced module, as ``torch.no_grad``.

The exporter records regions under ``no_grad``; it ignores inference mode, so that gradients would
pass through such a region.
"""

from __future__ import annotations

from typing import Any

import torch

from nestarray.importers.torch.workarounds import reproducers
from nestarray.importers.workarounds import Workaround, always


def _entered(self: Any) -> None:
    self.no_grad = torch.no_grad() if self.mode else torch.enable_grad()
    self.no_grad.__enter__()


def _left(self: Any, *error: Any) -> None:
    self.no_grad.__exit__(*error)


INFERENCE_MODE = Workaround(
    "inference mode",
    "torch.export ignores torch.inference_mode",
    (reproducers.inference_mode_in_forward,),
    attributes={
        "torch.inference_mode.__enter__": always(_entered),
        "torch.inference_mode.__exit__": always(_left),
    },
)
