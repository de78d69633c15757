"""Ops by functions that the source defines itself, in every framework that has such a file.

`nestarray.exporters.source.functions` has a function of an op's own name, or one for all numbers of
axes: ``conv`` for ``conv2d``, with the settings of each axis.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from typing import Any

from nestarray import dtypes, ops
from nestarray.backends.base import supports
from nestarray.dispatch import OPS, Op
from nestarray.dtypes import dtype_of
from nestarray.exporters.source.recording.observation import current, observed
from nestarray.numerics import windows

#: Functions for any number of axes; ops of these names take other settings.
_FOR_ANY_AXES = ("conv", "conv_transpose", "max_pool", "avg_pool", "resize")


@cache
def _file(backend: str) -> Any:
    name = f"nestarray.exporters.source.functions.{backend}_functions"
    return None if importlib.util.find_spec(name) is None else importlib.import_module(name)


def source_function(name: str) -> Any:
    """A function that the source of this framework defines; None if it has none of this name."""
    function = getattr(_file(current().backend), name, None)
    return None if function is None else observed(f".{name}", function)


def _settings(function: observed | None, settings: dict[str, Any]) -> dict[str, Any] | None:
    """The settings that are not None; None if the function lacks a parameter for one."""
    options = {name: x for name, x in settings.items() if x is not None}
    known = function is not None and set(signature(function.native).parameters)
    return options if known and set(options) <= known else None


def has_indices(indices: Any, *_: Any, **__: Any) -> bool:
    """Whether the first array is of integers, as all frameworks want indices."""
    return dtype_of(indices).kind in ("int", "uint")


def is_aligned(x: Any, indices: Any, *, axis: int) -> bool:
    """Whether two arrays have the same sizes along the other axes."""
    axis %= len(x.shape)
    return all(n == m for i, (n, m) in enumerate(zip(x.shape, indices.shape)) if i != axis)


def is_single(*args: Any, **_: Any) -> bool:
    """Whether the arrays have one dtype, and nestarray computes in it and not in a wider one."""
    kinds = {dtype_of(x) for x in args if hasattr(x, "dtype")} - {dtypes.bool}
    return len(kinds) == 1 and all(d.is_floating and d.bits > 16 for d in kinds)


def _is_over_last_axes(x: Any, *_: Any, axis: Any = -1, **__: Any) -> bool:
    """Whether a weight with the shape of the axes broadcasts with `x`."""
    rank, axes = len(x.shape), (axis,) if isinstance(axis, int) else tuple(axis)
    return [i % rank for i in axes] == list(range(rank - len(axes), rank))


def own(op: Op, backend: str) -> Callable[..., Any] | None:
    """An op by the function of its name; None if the source has none."""
    native = getattr(_file(backend), op.name, None)
    if native is None or op.name in _FOR_ANY_AXES:
        return None
    function, parameters = observed(f".{op.name}", native), signature(native).parameters

    def arguments(args: Any, kwargs: Any) -> dict[str, Any]:
        values = op.signature.bind(*args, **kwargs).arguments
        return {
            name: x
            for name, x in values.items()
            if name in parameters or x != op.signature.parameters[name].default
        }

    def is_supported(*args: Any, **kwargs: Any) -> bool:
        has_settings = set(arguments(args, kwargs)) <= set(parameters)
        is_plain = op.name not in ("layer_norm", "rms_norm") or _is_over_last_axes(*args, **kwargs)
        return has_settings and is_plain and is_single(*args)

    @supports(is_supported)
    def call(*args: Any, **kwargs: Any) -> Any:
        values = arguments(args, kwargs)
        arrays = [values.pop(name, None) for name in op.array_parameters if name in parameters]
        return function(*arrays, **values)

    return call


def padded_embedding(indices: Any, weight: Any, *, padding_idx: int) -> Any:
    """The rows of a table, of which the row `padding_idx` gets no gradient: no op has this."""
    backend = current().backend
    if backend == "numpy":
        return ops.embedding(indices, weight)  # which has no gradients
    if backend == "torch":
        native = importlib.import_module("torch.nn.functional").embedding
        function: Any = observed("torch.nn.functional.embedding", native)
    else:
        function = source_function("embedding")
    return function(indices, weight, padding_idx=padding_idx)


def attention_of_heads(query: Any, key: Any, value: Any, **settings: Any) -> Any:
    """Attention of `(batch, length, heads, features)` in JAX."""
    native = importlib.import_module("jax.nn").dot_product_attention
    return observed("jax.nn.dot_product_attention", native)(query, key, value, **settings)


# windows


def padded_as_same(x: Any, *, window: Any, stride: Any, value: float = 0.0) -> Any:
    """Images with a border for ``ceil(size / stride)`` windows, which no op makes for open sizes."""
    return source_function("pad_same")(x, window=window, stride=stride, value=value)


def _form(name: str, settings_of: Callable[..., dict[str, Any] | None], op: str) -> Any:
    """An op by a function of another name, or with other settings.

    Args:
        name: of the function.
        settings_of: the op's name and arguments → the settings, or None for others.
        op: its name.
    """

    def given(*args: Any, **kwargs: Any) -> dict[str, Any] | None:
        bound = OPS[op].signature.bind(*args, **kwargs)
        bound.apply_defaults()
        options = settings_of(op, **bound.arguments)
        return options and _settings(source_function(name), options)

    def is_supported(*args: Any, **kwargs: Any) -> bool:
        return is_single(*args) and given(*args, **kwargs) is not None

    @supports(is_supported)
    def call(*args: Any, **kwargs: Any) -> Any:
        options = given(*args, **kwargs)
        assert options is not None
        return source_function(name)(*args, **options)

    return call


def _axes(op: str) -> int:
    """The number of spatial axes: 2 for ``"conv2d"``."""
    return int(op[-2])


def _of_convolution(at: windows.Windows, padding: Any, groups: int) -> dict[str, Any]:
    return {
        "stride": at.stride, "padding": padding,
        "dilation": None if set(at.dilation) == {1} else at.dilation,
        "groups": None if groups == 1 else groups,
    }  # fmt: skip


def _convolution(op: str, *, x: Any, weight: Any, bias: Any, **settings: Any) -> dict[str, Any]:
    at = windows.convolution(op, _axes(op), x.shape, weight.shape, bias, **settings)
    return _of_convolution(at, at.padding, settings["groups"])


def _transposed_convolution(
    op: str, *, x: Any, weight: Any, bias: Any, **settings: Any
) -> dict[str, Any]:
    at = windows.transposed_convolution(op, _axes(op), x.shape, weight.shape, bias, **settings)
    return _of_convolution(at.windows, at.crop, settings["groups"])


def _pool(
    op: str, x: Any, kernel_size: Any, **settings: Any
) -> tuple[windows.Windows, dict[str, Any]]:
    at = windows.pooling(op, _axes(op), x.shape, kernel_size, **settings)
    return at, {"kernel_size": at.kernel, "stride": at.stride, "padding": at.padding}


def _max_pool(op: str, *, x: Any, **settings: Any) -> dict[str, Any] | None:
    is_plain = windows.is_dense(settings["dilation"], _axes(op)) and windows.is_less_than_kernel(
        settings["padding"], settings["kernel_size"]
    )
    return _pool(op, x, **settings)[1] if is_plain else None


def _avg_pool(
    op: str, *, x: Any, count_include_pad: bool, divisor_override: int | None, **settings: Any
) -> dict[str, Any] | None:
    at, options = _pool(op, x, **settings)
    numbers = windows.counts(at, x.shape[2:], count_include_pad=count_include_pad)
    is_mean = numbers is not None and all(
        {*padding} == {k} for padding, k in zip(numbers, at.kernel, strict=True)
    )
    return options if is_mean and divisor_override is None else None


def _forms(name: str, settings_of: Callable[..., Any]) -> map[Callable[..., Any]]:
    """The function for one, two and three axes."""
    return map(partial(_form, name, settings_of), [f"{name}{n}d" for n in (1, 2, 3)])


conv1d, conv2d, conv3d = _forms("conv", _convolution)
conv_transpose1d, conv_transpose2d, conv_transpose3d = _forms(
    "conv_transpose", _transposed_convolution
)
max_pool1d, max_pool2d, max_pool3d = _forms("max_pool", _max_pool)
avg_pool1d, avg_pool2d, avg_pool3d = _forms("avg_pool", _avg_pool)


# windows with the channels last, the layout of Flax and Keras


def is_last(x: Any, *arrays: Any, **settings: Any) -> bool:
    """Whether images and kernels have the channels last, in one dtype."""
    formats = {settings.get(name) for name in ("data_format", "weight_format")} - {None}
    is_plain = not settings.get("ceil_mode") and settings.get("dilation", 1) in (1, (1,), (1, 1))
    is_plain = is_plain or bool(arrays)  # dilated convolutions have a public form
    return formats == {"channels_last"} and is_plain and is_single(x, *arrays)


def windows_last(
    x: Any, kernel: Any, *, stride: Any = None, padding: Any = 0, dilation: Any = 1, **_: Any
) -> tuple[windows.Windows, Any]:
    """The windows over images with the channels last, and the border as JAX and TensorFlow take it.

    It is ``"VALID"``, ``"SAME"`` or pairs. A number for both ends, as in PyTorch, does not depend on
    the size of the image.
    """
    at, same = (
        windows.settings(
            "eject", x.shape[1:-1], kernel, stride=stride or kernel, padding=pads, dilation=dilation
        )
        for pads in (padding, "same")
    )
    if not at.is_padded:
        return at, "VALID"
    is_number = isinstance(padding, int) or isinstance(padding[0], int)
    return at, "SAME" if at.padding == same.padding and not is_number else at.padding


def transposed_last(
    x: Any, weight: Any, *, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    dilation: Any = 1, groups: int = 1, **_: Any,
) -> tuple[windows.Windows, Any]:  # fmt: skip
    """The windows of a transposed convolution with the channels last, and its border."""
    *kernel, outer, inner = weight.shape
    shape = (inner, outer, *kernel)
    at = windows.transposed_convolution(
        "conv_transpose", len(kernel), (x.shape[0], x.shape[-1], *x.shape[1:-1]), shape, stride=stride, padding=padding,
        output_padding=output_padding, dilation=dilation, groups=groups,
    )  # fmt: skip
    is_dense = all(e >= s for e, s in zip(at.windows.extent, at.windows.stride, strict=True))
    is_whole = not any(map(any, at.crop)) and is_dense
    return at.windows, "VALID" if is_whole else at.input_padding


def is_mean_last(x: Any, *, divisor_override: Any = None, **settings: Any) -> bool:
    """Whether images have the channels last, and the number of elements divides their sums."""
    return divisor_override is None and is_last(x, **settings)


def _global_pool(count: int) -> Callable[..., Any]:
    def is_supported(x: Any, *, output_size: Any) -> bool:
        is_mean = output_size in (1, (1,) * count) and is_single(x)
        return is_mean and _file(current().backend) is not None

    @supports(is_supported)
    def pool(x: Any, *, output_size: Any) -> Any:
        return ops.mean(x, axis=tuple(range(2, count + 2)), keepdims=True)

    return pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_global_pool, (1, 2, 3))


_METHODS = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear"}


def resized(
    x: Any, *, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool = False, antialias: bool = False, data_format: str = "channels_first",
) -> dict[str, Any] | None:  # fmt: skip
    """The size and the method of an interpolation by half pixels; None for another one."""
    old = tuple(x.shape[1:-1] if data_format == "channels_last" else x.shape[2:])
    if size is not None:
        new = (size,) * len(old) if isinstance(size, int) else tuple(size)
    else:
        is_one = isinstance(scale_factor, (int, float))
        factors = [scale_factor] * len(old) if is_one else scale_factor
        new = tuple(int(n * f) for n, f in zip(old, factors, strict=True))
        if any(n * f != m for n, f, m in zip(old, factors, new, strict=True)):
            return None
    is_plain = not align_corners and not antialias
    # the element at the floor of the position is the nearest one for whole factors
    is_whole = mode != "nearest" or all(m % n == 0 for n, m in zip(old, new, strict=True))
    if not is_plain or not is_whole or mode not in _METHODS or not is_single(x):
        return None
    return {"size": new, "method": _METHODS[mode]}


def _resized(_: str, **settings: Any) -> dict[str, Any] | None:
    return None if settings["data_format"] == "channels_last" else resized(**settings)


interpolate = _form("resize", _resized, "interpolate")
