"""A recurrent layer in both directions of time."""

from __future__ import annotations

import copy
from typing import Any

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.typing import Array


class Bidirectional(Module):
    """A recurrent layer and its copy that reads the sequence from the end, merged.

    Args:
        layer: a module that is called as `GRU` is: ``out, state = layer(x, state, lengths=...)``.
            The axis of time is 1 if it has ``batch_first=True``, else 0.
        merge_mode: ``"concat"`` joins the outputs along the last axis; ``"sum"``, ``"mul"`` and
            ``"ave"`` combine the elements; None returns both.
        backward_layer: the layer for the backward direction; None: a copy of `layer`.

    Variables: of the layers under ``forward_layer`` and ``backward_layer``.

    Raises:
        ArgumentError: a layer is not a module, or `merge_mode` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Bidirectional(na.nn.GRU(2, 3), "sum").init(na.random.key(0))
        >>> out, (forward, backward) = net(np.ones((5, 4, 2), np.float32))
        >>> out.shape, forward.shape, backward.shape
        ((5, 4, 3), (1, 4, 3), (1, 4, 3))

    References:
        https://doi.org/10.1109/78.650093
        https://keras.io/api/layers/recurrent_layers/bidirectional/
    """

    @signature_errors()
    def __init__(
        self,
        layer: Module,
        merge_mode: str | None = "concat",
        *,
        backward_layer: Module | None = None,
    ) -> None:
        if merge_mode not in ("concat", "sum", "mul", "ave", None):
            raise ArgumentError(
                f"Bidirectional: merge_mode: got {merge_mode!r}, expected 'concat', 'sum', 'mul', "
                "'ave' or None"
            )
        for name, value in (("layer", layer), ("backward_layer", backward_layer)):
            if not isinstance(value, Module) and (value is not None or name == "layer"):
                got = type(value).__name__
                raise ArgumentError(f"Bidirectional: {name}: got {got}, expected a module")
        self.forward_layer = layer
        self.backward_layer = copy.deepcopy(layer) if backward_layer is None else backward_layer
        self.merge_mode = merge_mode

    def forward(
        self, x: Array, state: tuple[Any, Any] | None = None, *, lengths: Array | None = None
    ) -> tuple[Any, tuple[Any, Any]]:
        """Run over time in both directions.

        Args:
            x: the input of the layer.
            state: initial states of both directions; None: zeros.
            lengths: `(batch,)`, the length of each sequence; the backward direction starts at the end.

        Returns:
            the merged outputs, and the last states of both directions.
        """
        first, second = state or (None, None)
        options = {} if lengths is None else {"lengths": lengths}
        out, first = self.forward_layer(x, first, **options)
        other, second = self.backward_layer(self._reversed(x, lengths), second, **options)
        other = self._reversed(other, lengths)
        if self.merge_mode is None:
            return (out, other), (first, second)
        return self._merged(out, other), (first, second)

    def _merged(self, out: Array, other: Array) -> Array:
        if self.merge_mode == "concat":
            return ops.concat([out, other], axis=-1)
        if self.merge_mode == "mul":
            return ops.multiply(out, other)
        total = ops.add(out, other)
        return ops.multiply(total, 0.5) if self.merge_mode == "ave" else total

    def _reversed(self, x: Array, lengths: Array | None) -> Array:
        """x with each sequence reversed, up to its length."""
        is_batch_first = len(x.shape) > 2 and getattr(self.forward_layer, "batch_first", False)
        axis = int(is_batch_first)
        if lengths is None:
            return ops.flip(x, axis=axis)
        times = ops.arange(ops.shape(x)[axis], dtype=dtypes.dtype_of(lengths), like=lengths)
        times, ends = ops.expand_dims(times, axis=1 - axis), ops.expand_dims(lengths, axis=axis)
        places = ops.where(ops.less(times, ends), ops.subtract(ends, times + 1), times)
        return ops.take_along_axis(x, ops.expand_dims(places, axis=2), axis=axis)
