"""Other sizes of images: interpolation, and blocks of pixels as channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from nestarray import ops
from nestarray.errors import ArgumentError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.typing import Array, check_range

_MODES = ("nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area")


class Upsample(Module):
    """x in another size, by interpolation.

    Args:
        size: the new spatial sizes; an integer, or one for each axis.
        scale_factor: ⌊size · scale_factor⌋ are the new sizes, in place of `size`; a number, or one
            for each axis.
        mode: ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"bicubic"``, ``"trilinear"``,
            ``"nearest-exact"`` or ``"area"``.
        align_corners: whether the centres of the corner elements stay at the corners, for the linear
            and cubic modes; None is False.
        recompute_scale_factor: whether positions scale by the quotient of the new and the old size,
            in place of `scale_factor`.

    Raises:
        ArgumentError: both or neither of `size` and `scale_factor` are given, `mode` is unknown, or
            it has no corners to align.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Upsample(scale_factor=2, mode="linear").init(na.random.key(0))
        >>> net(np.asarray([[[0.0, 4.0]]]))
        array([[[0., 1., 3., 4.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Upsample.html
    """

    @signature_errors()
    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        if (size is None) == (scale_factor is None):
            raise ArgumentError(
                f"{type(self).__name__}: got size={size!r} and scale_factor={scale_factor!r}, "
                "expected one of them"
            )
        if mode not in _MODES:
            raise ArgumentError(
                f"{type(self).__name__}: mode: got {mode!r}, expected one of {', '.join(_MODES)}"
            )
        if align_corners is not None and not mode.endswith(("linear", "cubic")):
            raise ArgumentError(
                f"{type(self).__name__}: align_corners: got {align_corners} with mode={mode!r}, "
                "expected None, or a linear or cubic mode"
            )
        if recompute_scale_factor and scale_factor is None:
            raise ArgumentError(
                f"{type(self).__name__}: recompute_scale_factor: got True without scale_factor"
            )
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns `(batch, channels, *size)`."""
        size, factor = self.size, self.scale_factor
        if self.recompute_scale_factor and factor is not None:
            spatial = ops.shape(x)[2:]
            factors = factor if isinstance(factor, Sequence) else [factor] * len(spatial)
            size, factor = [int(n * f) for n, f in zip(spatial, factors)], None
        return ops.interpolate(
            x, size=size, scale_factor=factor, mode=self.mode,
            align_corners=bool(self.align_corners),
        )  # fmt: skip


class _Upsampling2d(Upsample):
    """An `Upsample` of two axes by one mode."""

    corners: ClassVar[bool | None] = None
    kind: ClassVar[str]

    @signature_errors()
    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
    ) -> None:
        super().__init__(size, scale_factor, self.kind, self.corners)

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, height, width)`; returns `(batch, channels, *size)`."""
        if len(x.shape) != 4:
            raise ShapeError(
                f"{type(self).__name__}: x: got the shape {tuple(x.shape)}, expected (batch, "
                "channels, height, width)"
            )
        return super().forward(x)


class UpsamplingNearest2d(_Upsampling2d):
    """Images in another size, by the nearest pixel: ``Upsample(mode="nearest")``.

    Args:
        size, scale_factor: as for `Upsample`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.UpsamplingNearest2d(scale_factor=2).init(na.random.key(0))
        >>> net(np.asarray([[[[1.0, 2.0]]]]))
        array([[[[1., 1., 2., 2.],
                 [1., 1., 2., 2.]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.UpsamplingNearest2d.html
    """

    kind = "nearest"


class UpsamplingBilinear2d(_Upsampling2d):
    """Images in another size: ``Upsample(mode="bilinear", align_corners=True)``.

    Args:
        size, scale_factor: as for `Upsample`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.UpsamplingBilinear2d((1, 3)).init(na.random.key(0))
        >>> net(np.asarray([[[[1.0, 2.0]]]]))
        array([[[[1. , 1.5, 2. ]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.UpsamplingBilinear2d.html
    """

    kind, corners = "bilinear", True


class PixelShuffle(Module):
    """Channels as blocks of pixels: r² channels become r × r neighbouring pixels.

    Args:
        upscale_factor: the size r of a block.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.PixelShuffle(2).init(na.random.key(0))
        >>> net(np.arange(4.0).reshape(1, 4, 1, 1))
        array([[[[0., 1.],
                 [2., 3.]]]])

    References:
        https://arxiv.org/abs/1609.05158
        https://docs.pytorch.org/docs/stable/generated/torch.nn.PixelShuffle.html
    """

    @signature_errors()
    def __init__(self, upscale_factor: int) -> None:
        check_range("PixelShuffle", "upscale_factor", upscale_factor, 1)
        self.upscale_factor = upscale_factor

    def forward(self, x: Array) -> Array:
        """x: `(*batch, channels · r², h, w)`; returns `(*batch, channels, h · r, w · r)`."""
        return ops.pixel_shuffle(x, upscale_factor=self.upscale_factor)


class PixelUnshuffle(Module):
    """Blocks of pixels as channels: r × r neighbouring pixels become r² channels.

    Args:
        downscale_factor: the size r of a block.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.PixelUnshuffle(2).init(na.random.key(0))
        >>> net(np.ones((1, 3, 4, 6))).shape
        (1, 12, 2, 3)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.PixelUnshuffle.html
    """

    @signature_errors()
    def __init__(self, downscale_factor: int) -> None:
        check_range("PixelUnshuffle", "downscale_factor", downscale_factor, 1)
        self.downscale_factor = downscale_factor

    def forward(self, x: Array) -> Array:
        """x: `(*batch, channels, h · r, w · r)`; returns `(*batch, channels · r², h, w)`."""
        return ops.pixel_unshuffle(x, downscale_factor=self.downscale_factor)


class ChannelShuffle(Module):
    """Interleaved groups of channels: each new group has channels of all old groups.

    Args:
        groups: the number of groups; divides the number of channels.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ChannelShuffle(2).init(na.random.key(0))
        >>> net(np.asarray([[[1], [2], [3], [4]]])).ravel()
        array([1, 3, 2, 4])

    References:
        https://arxiv.org/abs/1707.01083
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ChannelShuffle.html
    """

    @signature_errors()
    def __init__(self, groups: int) -> None:
        check_range("ChannelShuffle", "groups", groups, 1)
        self.groups = groups

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns the same shape."""
        return ops.channel_shuffle(x, groups=self.groups)
