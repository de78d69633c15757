"""Transposes of Fourier transforms: the inverse direction with the opposite normalization."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes, ops
from nestarray.numerics.axes import one_axis
from nestarray.transforms.autodiff.rules import Composed, Linear, Rule

_OTHER = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _resized(x: Any, size: int, axis: int) -> Any:
    """Pad the end of an axis with zeros, or cut it."""
    length = x.shape[axis]
    if length >= size:
        return x[(*(slice(None),) * axis, slice(size))] if length > size else x
    shape = (*x.shape[:axis], size - length, *x.shape[axis + 1 :])
    return ops.concat([x, ops.zeros(shape, dtype=dtypes.dtype_of(x), like=x)], axis=axis)


def _fft(ct: Any, x: Any, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    axis = one_axis(axis, len(x.shape), "fft")
    return _resized(ops.ifft(ct, axis=axis, norm=_OTHER[norm]), x.shape[axis], axis)


def _ifft(ct: Any, x: Any, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    axis = one_axis(axis, len(x.shape), "ifft")
    return _resized(ops.fft(ct, axis=axis, norm=_OTHER[norm]), x.shape[axis], axis)


def _rfft(ct: Any, x: Any, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    axis = one_axis(axis, len(x.shape), "rfft")
    whole = _resized(ct, x.shape[axis] if n is None else n, axis)
    back = ops.real(ops.ifft(whole, axis=axis, norm=_OTHER[norm]))
    return _resized(back, x.shape[axis], axis)


def _irfft(ct: Any, x: Any, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    axis = one_axis(axis, len(x.shape), "irfft")
    size = ct.shape[axis]
    half = ops.rfft(ct, axis=axis, norm=_OTHER[norm])
    # every frequency counts twice, except 0 and, for an even size, the highest one
    weights = [1.0] + [2.0] * (half.shape[axis] - 1)
    if size % 2 == 0:
        weights[-1] = 1.0
    shape = [1] * len(x.shape)
    shape[axis] = -1
    real = ops.real(ct).dtype
    scale = ops.reshape(ops.asarray(weights, dtype=real, like=ops.stop_gradient(ct)), tuple(shape))
    return _resized(ops.multiply(half, scale), x.shape[axis], axis)


def _several(name: str) -> Any:
    """Apply the rule to one axis after the other."""

    def transform(x: Any, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        if axes is None:
            axes = range(len(x.shape)) if s is None else range(-len(s), 0)
        one = getattr(ops, name)
        for i, axis in enumerate(axes):
            x = one(x, n=None if s is None else s[i], axis=axis, norm=norm)
        return x

    return transform


RULES: dict[str, Rule] = {
    "fft": Linear(_fft),
    "ifft": Linear(_ifft),
    "rfft": Linear(_rfft),
    "irfft": Linear(_irfft),
    "fftn": Composed(_several("fft")),
    "ifftn": Composed(_several("ifft")),
}
