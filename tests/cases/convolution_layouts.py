"""Cases of `nestarray.ops.convolution_layouts`; the oracles are torch.nn.functional and jax.lax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
from jax import lax

from tests.cases import Case

Rng = np.random.Generator


def draw(*shapes: tuple[int, ...]) -> Callable[[Rng], tuple[Any, ...]]:
    return lambda rng: tuple(rng.normal(size=shape) for shape in shapes)


def channels_last(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch's function, around which the channels are moved."""

    def reference(
        x: Any, *arrays: Any, data_format: str = "channels_first", **settings: Any
    ) -> Any:
        is_last = data_format == "channels_last"
        x, *arrays = map(torch.as_tensor, (x, *arrays))
        out = function(x.movedim(-1, 1) if is_last else x, *arrays, **settings)
        return out.movedim(1, -1) if is_last else out

    return reference


def kernel_last(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch's function of a kernel whose channels stand last too."""

    def reference(x: Any, weight: Any, *rest: Any, weight_format: str, **settings: Any) -> Any:
        moved = torch.as_tensor(weight).movedim((-1, -2), (0, 1))
        return channels_last(function)(x, moved, *rest, **settings)

    return reference


def same_transposed(x: Any, weight: Any, *, stride: Any, **_: Any) -> Any:
    """JAX's function, channels last; its kernel is (*kernel, out, in)."""
    kernel = np.moveaxis(weight, (0, 1), (-1, -2))
    with jax.enable_x64(True):
        return np.asarray(
            lax.conv_transpose(
                *map(jnp.asarray, (x, kernel)),
                stride,
                "SAME",
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
                transpose_kernel=True,
            )
        )


def separable(x: Any, depthwise: Any, pointwise: Any, bias: Any, **settings: Any) -> Any:
    each = F.conv2d(x, depthwise, groups=x.shape[1], **settings)
    return torch.einsum("nchw,oc->nohw", each, pointwise) + bias.reshape(-1, 1, 1)


def depthwise(x: Any, weight: Any, bias: Any = None, **settings: Any) -> Any:
    return (F.conv1d, F.conv2d)[x.ndim - 3](x, weight, bias, groups=x.shape[1], **settings)


def local(x: Any, weight: Any, bias: Any = None, *, kernel_size: Any, stride: Any = 1, **s: Any):
    count = x.ndim - 2
    names = "NCHW"[: count + 2], "OIHW"[: count + 2], "NCHW"[: count + 2]
    strides = (stride,) * count if isinstance(stride, int) else stride
    with jax.enable_x64(True):
        out = lax.conv_general_dilated_local(
            *map(jnp.asarray, (x, weight)), strides, s.get("padding", "VALID"), kernel_size,
            dimension_numbers=names,
        )  # fmt: skip
        return np.asarray(out) + (0.0 if bias is None else bias)


CASES = [
    Case(
        "conv",
        draw((2, 5, 4, 4), (6, 2, 3, 2), (6,)),
        {"stride": (2, 1), "padding": (1, 0), "groups": 2, "data_format": "channels_last"},
        channels_last(F.conv2d),
    ),
    Case("conv", draw((2, 3, 5), (2, 3, 3)), {"dilation": 2}, channels_last(F.conv1d), id="line"),
    *(
        Case(
            "conv",
            draw(shape, weight, weight[-1:]),
            {"data_format": "channels_last", "weight_format": "channels_last", **settings},
            kernel_last(function),
            id=id,
        )
        for id, function, shape, weight, settings in (
            ("kernel last", F.conv2d, (2, 5, 4, 3), (3, 2, 3, 4), {"stride": 2, "padding": 1}),
            ("kernel last, line", F.conv1d, (2, 5, 2), (2, 2, 3), {"dilation": 2}),
            ("kernel last, depthwise", F.conv2d, (2, 5, 4, 2), (3, 2, 1, 4), {"groups": 2}),
            ("kernel last, groups", F.conv2d, (2, 5, 4, 4), (3, 2, 2, 6), {"groups": 2}),
            ("kernel last, volume", F.conv3d, (1, 3, 3, 2, 2), (2, 2, 2, 2, 3), {}),
        )
    ),
    Case(
        "conv_transpose",
        draw((2, 3, 2, 4), (4, 2, 3, 2), (2,)),
        {"stride": 2, "padding": 1, "output_padding": 1, "data_format": "channels_last"},
        channels_last(F.conv_transpose2d),
    ),
    Case(
        "conv_transpose",
        draw((2, 3, 2, 4), (3, 2, 2, 4), (2,)),
        {
            "stride": 2,
            "padding": 1,
            "output_padding": 1,
            "dilation": (1, 2),
            "data_format": "channels_last",
            "weight_format": "channels_last",
        },
        kernel_last(F.conv_transpose2d),
        id="kernel-last",
    ),
    Case(
        "conv_transpose",
        draw((2, 4, 3), (3, 2, 3)),
        {"data_format": "channels_last", "weight_format": "channels_last"},
        kernel_last(F.conv_transpose1d),
        id="kernel-last-1d",
    ),
    Case(
        "conv_transpose",
        draw((2, 3, 4, 2), (2, 3, 4, 1)),
        {"stride": (1, 2), "padding": "same", "data_format": "channels_last"},
        same_transposed,
        id="same",
    ),
    Case(
        "separable_conv",
        # XLA's compiler for CPUs ends the process at the gradient of a 2 × 3 kernel here, in float64
        draw((2, 3, 4, 4), (6, 1, 3, 3), (5, 6), (5,)),
        {"padding": 1, "stride": 2},
        channels_last(separable),
    ),
    Case(
        "depthwise_conv",
        draw((2, 3, 5, 4), (6, 1, 3, 3), (6,)),
        {"padding": 1, "stride": 2},
        channels_last(depthwise),
    ),
    Case(
        "depthwise_conv",
        draw((2, 5, 5, 3), (3, 1, 3, 3)),
        {"dilation": 2, "data_format": "channels_last"},
        channels_last(depthwise),
        id="channels_last",
    ),
    Case(
        "locally_connected",
        draw((2, 3, 4, 5), (2, 12, 2, 4), (2, 2, 4)),
        {"kernel_size": (2, 2), "stride": (2, 1)},
        local,
    ),
    Case(
        "locally_connected",
        draw((2, 2, 4), (3, 6, 5)),
        {"kernel_size": (3,), "padding": ((1, 2),)},
        local,
        id="padded",
    ),
]
