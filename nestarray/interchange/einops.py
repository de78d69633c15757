"""Array objects in the functions of einops, which finds a backend among the subclasses of its class.

https://github.com/arogozhnikov/einops/blob/main/einops/_backends.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from einops._backends import AbstractBackend

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.container.spec import LEAF
from nestarray.dispatch import OPS
from nestarray.errors import StructureError


class ArrayObjects(AbstractBackend):
    """The operations that einops composes its functions of."""

    framework_name = "nestarray"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Container)

    def shape(self, x: Container) -> Any:
        if x.spec is not LEAF:
            raise StructureError(
                "einops: got a tree of arrays, expected one array; na.rearrange, na.reduce and "
                "na.repeat_axes take trees"
            )
        return ops.shape(x.leaves()[0])

    def reshape(self, x: Container, shape: Any) -> Any:
        return ops.reshape(x, tuple(shape))

    def transpose(self, x: Container, axes: Any) -> Any:
        return ops.permute_dims(x, tuple(axes))

    def reduce(self, x: Container, operation: str, axes: Any) -> Any:
        return OPS[operation].function(x, axis=tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: list[Container]) -> Any:
        return ops.stack(tensors)

    def add_axis(self, x: Container, new_position: int) -> Any:
        return ops.expand_dims(x, axis=new_position)

    def tile(self, x: Container, repeats: Any) -> Any:
        return ops.tile(x, repeats)

    def concat(self, tensors: list[Container], axis: int) -> Any:
        return ops.concat(tensors, axis=axis)

    def einsum(self, pattern: str, *x: Container) -> Any:
        return ops.einsum(pattern, *x)

    def is_float_type(self, x: Container) -> bool:
        return dtypes.dtype_of(x.leaves()[0]).is_inexact

    def to_numpy(self, x: Container) -> np.ndarray:
        return np.asarray(x)
