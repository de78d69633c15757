"""Keras' settings that its ops read: the floating dtype, the fuzz factor and the layout of images.

Upstream: https://keras.io/api/utils/config_utils/. The settings are the frontend's: they do not
change Keras', and Keras' do not change them.
"""

from __future__ import annotations

from typing import Any

from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError

__all__ = [
    "epsilon", "floatx", "image_data_format", "set_epsilon", "set_floatx", "set_image_data_format",
]  # fmt: skip

_DATA_FORMATS = ("channels_last", "channels_first")

_floatx: DType = dtypes.float32
_epsilon = 1e-7
_image_data_format = "channels_last"


def floatx() -> str:
    """The name of the dtype of new floating numbers."""
    return str(_floatx)


def default_float() -> DType:
    """The dtype of new floating numbers."""
    return _floatx


def set_floatx(value: Any) -> None:
    """Set the dtype of new floating numbers: ``"bfloat16"``, ``"float16"``, 32 or 64."""
    global _floatx
    dtype = dtypes.as_dtype(value)
    if not dtype.is_floating:
        raise ArgumentError(f"set_floatx: value: got {value!r}, expected a floating dtype")
    _floatx = dtype


def epsilon() -> float:
    """The number that keeps logarithms and quotients finite."""
    return _epsilon


def set_epsilon(value: float) -> None:
    """Set the number that keeps logarithms and quotients finite."""
    global _epsilon
    _epsilon = float(value)


def image_data_format() -> str:
    """The layout of images where a call gives none."""
    return _image_data_format


def set_image_data_format(data_format: str) -> None:
    """Set the layout of images where a call gives none."""
    global _image_data_format
    _image_data_format = layout("set_image_data_format", data_format)


def layout(op: str, data_format: str | None) -> str:
    """The layout of a call: the default one for None.

    Args:
        op: the name of the function, for the error.
        data_format: ``"channels_last"``, ``"channels_first"`` or None.

    Raises:
        ArgumentError: `data_format` is unknown.
    """
    if data_format is None:
        return _image_data_format
    lowered = str(data_format).lower()
    if lowered not in _DATA_FORMATS:
        raise ArgumentError(
            f"{op}: data_format: got {data_format!r}, expected 'channels_last' or 'channels_first'"
        )
    return lowered
