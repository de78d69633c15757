"""``multilabel_margin_loss`` inside of transformations, without padded labels.

torch's decomposition, which derivatives below autograd use, counts the labels after the first -1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.importers.torch.workarounds import reproducers
from nestarray.importers.workarounds import Workaround


def _formula(trace: Any, native: Any) -> Callable[..., Any]:
    def loss(
        input: Any, target: Any, *settings: Any, reduction: str = "mean", **others: Any
    ) -> Any:
        if not trace.is_below_autograd or settings or others:
            return native(input, target, *settings, reduction=reduction, **others)
        return _margins(input, target, reduction)

    return loss


def _margins(x: Any, target: Any, reduction: str) -> Any:
    places = torch.arange(x.shape[-1], device=x.device)
    first_pad = torch.where(target == -1, places, x.shape[-1]).amin(-1, keepdim=True)
    is_present = places < first_pad
    labels = torch.where(is_present, target, 0)
    is_label = (torch.where(is_present, target, -1).unsqueeze(-1) == places).any(-2)
    margins = (1 - x.gather(-1, labels)).unsqueeze(-1) + x.unsqueeze(-2)
    is_counted = is_present.unsqueeze(-1) & ~is_label.unsqueeze(-2)
    loss = torch.where(is_counted, margins.clamp_min(0), 0).sum((-1, -2)) / x.shape[-1]
    return {"none": torch.clone, "mean": torch.mean, "sum": torch.sum}[reduction](loss)


MARGIN_LOSS = Workaround(
    "padded labels",
    "the decomposition of multilabel_margin_loss counts labels after the first -1",
    (reproducers.padded_labels_of_margin_loss,),
    issue="pytorch#141017",
    until="2.14",
    functions={"torch.nn.functional.multilabel_margin_loss": _formula},
)
