"""``torch.ao.quantization.FakeQuantize`` and its observers without data-dependent branches.

Their Python code branches on switches and ranges, which are buffers. The graph computes both
branches and selects with `where`, as the fused module does: switches are state, like ranges.
"""

from __future__ import annotations

from typing import Any

import torch

from nestarray.errors import ConversionError
from nestarray.importers.workarounds import Workaround, always


def _quantizes(trace: Any) -> bool:
    return any(
        cls.__module__.startswith("torch.ao.quantization")
        for part in trace.module.modules()
        for cls in type(part).__mro__
    )


def _quantized(self: Any, X: Any) -> Any:
    observer = self.activation_post_process
    watches, quantizes = self.observer_enabled[0] == 1, self.fake_quant_enabled[0] == 1
    copies = {name: x.clone() for name, x in observer.named_buffers()}
    observer(X.detach())
    parameters = dict(zip(("scale", "zero_point"), self.calculate_qparams(), strict=True))
    seen = {name: x for name, x in observer.named_buffers() if name not in parameters}
    places = {name: (x, x.clone(), copies[name]) for name, x in seen.items()}
    places |= {
        name: (getattr(self, name), x, getattr(self, name)) for name, x in parameters.items()
    }
    for name, (place, new, old) in places.items():
        if new.shape != old.shape:
            raise ConversionError(
                f"trace_graph: {type(self).__name__}: {name} has the shape {tuple(old.shape)} and "
                f"gets {tuple(new.shape)} when the observer first sees numbers; call the module "
                "once before it is traced"
            )
        if new is not place:  # an observer with fixed parameters returns its own
            place.copy_(torch.where(watches, new.to(old.dtype), old))
    limits = observer.quant_min, observer.quant_max
    if self.is_per_channel:
        settings = self.scale, self.zero_point, self.ch_axis, *limits
        quantized = torch.fake_quantize_per_channel_affine(X, *settings)
    else:
        settings = self.scale, self.zero_point, *limits
        quantized = torch.fake_quantize_per_tensor_affine(X, *settings)
    return torch.where(quantizes, quantized, X)


def _averaged(self: Any, x_orig: Any) -> Any:
    if x_orig.numel() == 0:
        return x_orig
    is_first = (self.min_val == float("inf")) & (self.max_val == float("-inf"))
    extremes = torch.aminmax(x_orig.detach().to(self.min_val.dtype))
    for average, new in zip((self.min_val, self.max_val), extremes, strict=True):
        moved = average + self.averaging_constant * (new - average)
        average.copy_(torch.where(is_first, new, moved))
    return x_orig


def _is_seen(min_val: Any, max_val: Any) -> bool:
    return min_val.numel() > 0 and max_val.numel() > 0


FAKE_QUANTIZATION = Workaround(
    "fake quantization",
    "FakeQuantize and its observers branch on switches and ranges, which are buffers",
    issue="pytorch#167063",
    attributes={
        "torch.ao.quantization.fake_quantize.FakeQuantize.forward": always(_quantized),
        "torch.ao.quantization.observer.MovingAverageMinMaxObserver.forward": always(_averaged),
        "torch.ao.quantization.observer.check_min_max_valid": always(_is_seen),
    },
    is_needed=_quantizes,
)
