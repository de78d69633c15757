"""`Metric`, the base class, and means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.container.leaf import describe
from nestarray.dtypes import as_dtype, dtype_of
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array, DTypeLike, Shape


class Metric:
    """A number about many batches, as pure functions over a state: a Container of sums.

    States of parts of the data can be computed in any order, on several devices, and merged. All
    functions compile with `na.jit`. A subclass defines the state of one batch (`measure`), the result
    (`compute`), and the shapes of the sums (`shapes`).

    Example:
        >>> import numpy as np, nestarray as na
        >>> accuracy = na.nn.metrics.Accuracy()
        >>> state = accuracy.init()
        >>> for x, target in (([[2.0, 1.0]], [0]), ([[0.0, 1.0], [3.0, 1.0]], [1, 1])):
        ...     state = accuracy.update(state, np.asarray(x), np.asarray(target))
        >>> round(float(accuracy.compute(state)), 3)
        0.667
    """

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"

    def shapes(self) -> Mapping[str, Shape]:
        """The names and shapes of the arrays of the state."""
        raise TypeError(f"{type(self).__name__} defines no shapes")

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch.

        Args:
            x: predictions.
            target: the right values.
            weight: of each element of `target`, broadcast to its shape; 0 leaves it out. None: 1.
        """
        raise TypeError(f"{type(self).__name__} defines no measure")

    def compute(self, state: Container) -> Array:
        """The metric of all that the state has seen; NaN if that is nothing."""
        raise TypeError(f"{type(self).__name__} defines no compute")

    def init(self, *, like: Array | None = None, dtype: DTypeLike = "float32") -> Container:
        """The state before the first batch.

        Args:
            like: an array of the backend and device of the state; None: the current backend.
            dtype: of the sums. Above 2²⁴ elements, float32 sums have rounding errors of about 1e-7 for
                each batch; float64 has none.
        """
        kind = as_dtype(dtype)
        if not kind.is_floating:
            raise ArgumentError(
                f"{type(self).__name__}.init: dtype: got {kind.name}, expected a floating dtype"
            )
        return Container({
            name: ops.zeros(shape, dtype=kind, like=like) for name, shape in self.shapes().items()
        })  # fmt: skip

    def update(
        self, state: Container, x: Array, target: Array, weight: Array | None = None
    ) -> Container:
        """The state after one more batch, in the dtype of the state.

        Args:
            state: from `init`, `update` or `merge`.
            x, target, weight: as for `measure`.
        """
        return self._add(state, self.measure(x, target, weight))

    def merge(self, a: Container, b: Container) -> Container:
        """The state that has seen the batches of both."""
        return a + b

    def _add(self, state: Container, batch: Container) -> Container:
        names = (*self.shapes(),)
        if not isinstance(state, Container) or any(name not in state for name in names):
            raise ArgumentError(
                f"{type(self).__name__}.update: state: got {describe(state)}, expected a Container of "
                f"{', '.join(names)}, as init() makes it; the call is update(state, x, target)"
            )
        same = batch.map(lambda x, like: ops.astype(x, dtype_of(like), copy=False), state)
        return self.merge(state, same)


class Mean(Metric):
    """The weighted mean of numbers, Σ w x / Σ w, such as the losses of batches.

    Example:
        >>> import nestarray as na
        >>> mean = na.nn.metrics.Mean()
        >>> state = mean.init()
        >>> for loss in (1.0, 2.0, 6.0):
        ...     state = mean.update(state, loss)
        >>> float(mean.compute(state))
        3.0
    """

    def shapes(self) -> Mapping[str, Shape]:
        """The weighted sum, and the sum of the weights."""
        return {"total": (), "count": ()}

    def measure(self, x: Array, weight: Array | None = None) -> Container:  # type: ignore[override]
        """The state of one batch.

        Args:
            x: numbers of any shape.
            weight: broadcast to the shape of `x`; None: 1.
        """
        x = as_floating(x)
        weight = weights_of(type(self).__name__, weight, x)
        return Container(total=ops.sum(x * weight), count=ops.sum(weight))

    def update(  # type: ignore[override]
        self, state: Container, x: Array, weight: Array | None = None
    ) -> Container:
        """The state after one more batch; arguments as for `measure`."""
        like = state["count"] if isinstance(state, Container) and "count" in state else None
        return self._add(state, self.measure(ops.asarray(x, like=like), weight))

    def compute(self, state: Container) -> Array:
        """Σ w x / Σ w."""
        return ratio(state["total"], state["count"])


def ratio(numerator: Array, denominator: Array, empty: float = float("nan")) -> Array:
    """The quotient, and `empty` where the denominator is 0."""
    is_empty = ops.equal(denominator, 0)
    return ops.where(is_empty, empty, numerator / ops.where(is_empty, 1.0, denominator))


def as_floating(x: Any) -> Array:
    """`x` in float32, or float64 if that is its dtype."""
    dtype = dtype_of(x)
    return x if dtype in (dtypes.float32, dtypes.float64) else ops.astype(x, dtypes.float32)


def weights_of(name: str, weight: Any, like: Array) -> Array:
    """The weights in the shape and dtype of `like`; ones for None."""
    if weight is None:
        return ops.ones_like(like)
    weight = ops.astype(weight, dtype_of(like), copy=False)
    if len(weight.shape) > len(like.shape):
        raise ShapeError(
            f"{name}: weight: got the shape {tuple(weight.shape)}, expected one that broadcasts to "
            f"{tuple(like.shape)}"
        )
    return weight * ops.ones_like(like)


def check_shapes(name: str, x: Array, target: Array, *, classes: bool = False) -> None:
    """Raise a ShapeError unless `x` has the shape of `target`, with `classes` one axis more."""
    expected = tuple(x.shape)[:-1] if classes else tuple(x.shape)
    got = tuple(target.shape)
    is_same = len(got) == len(expected) and all(
        a == b for a, b in zip(got, expected) if None not in (a, b)
    )
    if not is_same or (classes and not len(x.shape)):
        kind = "(*batch, classes) and (*batch,)" if classes else "equal shapes"
        raise ShapeError(
            f"{name}: x and target: got the shapes {tuple(x.shape)} and {got}, expected {kind}"
        )
