"""Windows of MLX: convolutions and pooling with the numbers of elements at the ends of each axis."""

from __future__ import annotations

import dataclasses
from typing import Any

from nestarray.exporters.source.printing.mlx_language import call_of
from nestarray.exporters.source.recording.records import Call, Value


def conv(call: Call) -> Call | None:
    """A convolution with the channels last and a kernel (*window, in, out)."""
    x, kernel, *others = call.args
    names = ("window_strides", "padding", "lhs_dilation", "rhs_dilation")
    options = dict(zip(names, others, strict=False)) | call.kwargs
    axes = "DHW"[-(len(x.shape) - 2) :]
    layout = f"N{axes}C", f"{axes}IO", f"N{axes}C"
    layouts = options.pop("dimension_numbers", None)
    stride = tuple(options.pop("window_strides"))
    padding = options.pop("padding")
    dilation, groups = options.pop("rhs_dilation", None), options.pop("feature_group_count", 1)
    if any(x not in (None, 1) for x in options.values()):
        return None
    if layouts != layout:
        return None
    dilation = tuple(dilation or (1,) * len(stride))
    if isinstance(padding, str):
        padding = _ends(padding, x.shape[1:-1], kernel.shape[:-2], stride, dilation)
    settings = {"stride": stride, "padding": tuple(map(tuple, padding)), "dilation": dilation}
    if set(dilation) == {1}:
        del settings["dilation"]
    settings |= {} if groups == 1 else {"groups": groups}
    return call_of(".conv", x, kernel, like=call, **settings)


def _ends(padding: str, sizes: Any, kernel: Any, stride: Any, dilation: Any) -> Any:
    """The numbers of elements at the ends of each axis for ``"VALID"`` or ``"SAME"``."""
    if padding == "VALID":
        return ((0, 0),) * len(stride)
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    total = [
        max(-(-n // s) * s - s + e - n, 0) for n, s, e in zip(sizes, stride, extent, strict=True)
    ]
    return tuple((n // 2, n - n // 2) for n in total)


def conv_transpose(call: Call) -> Call | None:
    x, kernel, stride, padding = call.args
    options = dict(call.kwargs)
    dilation = options.pop("rhs_dilation", None)
    if options != {"transpose_kernel": True}:
        return None
    stride, window = tuple(stride), kernel.shape[:-2]
    dilation = tuple(dilation or (1,) * len(stride))
    if padding == "VALID":
        padding = [((k - 1) * d,) * 2 for k, d in zip(window, dilation, strict=True)]
    if isinstance(padding, str):
        return None
    settings = {"stride": stride, "padding": tuple(map(tuple, padding))}
    settings |= {} if set(dilation) == {1} else {"dilation": dilation}
    return call_of(".conv_transpose", x, kernel, like=call, **settings)


def pool(call: Call) -> Call | list[Call]:
    """A pooling of windows with a padding at both ends."""
    if "kernel_size" in call.kwargs:
        return _channels_first(call)
    x, window = call.args
    stride = tuple(call.kwargs.get("strides") or (1,) * len(window))
    padding = call.kwargs.get("padding", "VALID")
    if isinstance(padding, str):
        padding = _ends(padding, x.shape[1:-1], window, stride, (1,) * len(window))
    settings = {"kernel_size": window, "stride": stride, "padding": tuple(map(tuple, padding))}
    return dataclasses.replace(call, args=(x,), kwargs=settings)


def _channels_first(call: Call) -> list[Call]:
    """A call for images with the channels first, of which a layout was not changed."""
    x, y = call.args[0], call.result
    last = [Value((n.shape[0], *n.shape[2:], n.shape[1]), n.dtype) for n in (x, y)]
    before = dataclasses.replace(call_of("moveaxis", x, 1, -1, like=call), result=last[0])
    pooled = dataclasses.replace(call, args=(last[0],), result=last[1])
    return [before, pooled, call_of("moveaxis", last[1], -1, 1, like=call)]
