"""Windows of Keras: convolutions, pooling and resizing, with a border of their own."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from nestarray.exporters.source.printing.keras_language import call_of, new_call
from nestarray.exporters.source.printing.translation import Row
from nestarray.exporters.source.recording.records import Call, Value
from nestarray.graph.builder import Place


def _parent(place: Place) -> Place:
    """The module around a layer, which pads its argument."""
    module = place.module.replace(".", "/").rpartition("/")[0]
    return place._replace(module=module)


def _border(
    x: Value, padding: Any, kernel: Any, strides: Any, dilation: Any, place: Place, **fill: Any
) -> tuple[Value, str, list[Call]]:
    """(the data, ``"valid"`` or ``"same"``, the call that pads it) for windows with a border."""
    if isinstance(padding, str):
        return x, padding.lower(), []
    pairs = [tuple(pair) for pair in padding]
    if not any(map(any, pairs)):
        return x, "valid", []
    extents = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
    same = [(extent // 2, extent - extent // 2) for extent in extents]
    if pairs == same and set(strides) == {1} and not fill:
        return x, "same", []
    widths = ((0, 0), *pairs, (0, 0))
    shape = [n + sum(width) for n, width in zip(x.shape, widths, strict=True)]
    pad = new_call("pad", x, widths, place=place, shape=shape, dtype=x.dtype, **fill)
    return pad.result, "valid", [pad]


def conv(call: Call) -> list[Call] | None:
    """A convolution; with a border other than Keras's, of a padded array."""
    x, kernel, strides, padding, *others = call.args
    rank = len(x.shape) - 2
    axes = "DHW"[-rank:]
    if others or call.kwargs.get("dimension_numbers") != (f"N{axes}C", f"{axes}IO", f"N{axes}C"):
        return None
    if call.kwargs.keys() - {"dimension_numbers", "rhs_dilation", "feature_group_count"}:
        return None
    dilation = tuple(call.kwargs.get("rhs_dilation") or (1,) * rank)
    sizes = kernel.shape[:rank]
    x, border, pads = _border(x, padding, sizes, strides, dilation, _parent(call.place))
    settings = {"strides": tuple(strides), "padding": border, "dilation_rate": dilation}
    return [*pads, call_of("conv", x, kernel, like=call, **settings)]


def conv_transpose(call: Call) -> list[Call] | None:
    """A transposed convolution; with a border other than Keras's, a part of the whole one."""
    x, kernel, strides, padding, *_ = call.args
    *sizes, _, _ = kernel.shape
    dilation = call.kwargs.get("rhs_dilation") or (1,) * len(sizes)
    if not call.kwargs.get("transpose_kernel"):
        return None
    settings = {"strides": tuple(strides), "padding": "valid", "dilation_rate": tuple(dilation)}
    if isinstance(padding, str):
        settings["padding"] = padding.lower()
        return [call_of("conv_transpose", x, kernel, like=call, **settings)]
    extents = [(k - 1) * d for k, d in zip(sizes, dilation, strict=True)]
    crops = [(e - low, e - high) for e, (low, high) in zip(extents, padding, strict=True)]
    if any(n < 0 for crop in crops for n in crop):
        return None
    shape = [(n - 1) * s + e + 1 for n, s, e in zip(x.shape[1:-1], strides, extents, strict=True)]
    place = call.place
    whole = new_call(
        "conv_transpose", x, kernel, place=place, shape=(x.shape[0], *shape, kernel.shape[-2]),
        dtype=x.dtype, **settings,
    )  # fmt: skip
    index = tuple([slice(low or None, -high or None) for low, high in crops])
    part = (whole.result, (slice(None), *index, slice(None)))
    return [whole, dataclasses.replace(call, target="operator.getitem", args=part, kwargs={})]


def pool(name: str) -> Callable[[Call], list[Call]]:
    """The maximum or the mean of windows; other borders than Keras's are padded."""

    def row(call: Call) -> list[Call]:
        x, window = call.args
        strides = tuple(call.kwargs.get("strides") or (1,) * len(window))
        padding = call.kwargs["padding"]
        if name == "average_pool" and padding == "SAME":  # its means leave the border out
            padding = [
                _same(n, k, s) for n, k, s in zip(x.shape[1:-1], window, strides, strict=True)
            ]
        fill = {"constant_values": -math.inf if name == "max_pool" else 0.0}
        ones = (1,) * len(window)
        x, border, pads = _border(x, padding, window, strides, ones, call.place, **fill)
        settings = {"strides": strides}  # by default Keras on JAX gives them two axes too many
        settings |= {} if border == "valid" else {"padding": border}
        return [*pads, call_of(name, x, tuple(window), like=call, **settings)]

    return row


def pool_channels_first(name: str) -> Row:
    """The same for images with the channels first, of which a layout was not changed."""

    def row(call: Call) -> list[Call]:
        x, y = call.args[0], call.result
        last = [Value((n.shape[0], *n.shape[2:], n.shape[1]), n.dtype) for n in (x, y)]
        before = dataclasses.replace(call_of("moveaxis", x, 1, -1, like=call), result=last[0])
        settings = {"strides": call.kwargs["stride"], "padding": call.kwargs["padding"]}
        window = call.kwargs["kernel_size"]
        pooled = dataclasses.replace(call, args=(last[0], window), kwargs=settings, result=last[1])
        calls = pool_last(pooled)
        return [before, *calls, call_of("moveaxis", last[1], -1, 1, like=call)]

    pool_last = pool(name)
    return row


def _same(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """The border ``"same"``."""
    count = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return count // 2, count - count // 2


def resize(call: Call) -> Call | None:
    """An image of another size."""
    x, shape = call.args[:2]
    method = call.kwargs.get("method", call.args[-1])
    names = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}
    is_image = len(shape) == 4 and (x.shape[0], x.shape[-1]) == (shape[0], shape[-1])
    if not is_image or method not in names or call.kwargs.get("antialias") is not False:
        return None
    settings = {} if method == "linear" else {"interpolation": names[method]}
    return call_of("keras.ops.image.resize", x, tuple(shape[1:3]), like=call, **settings)
