"""Dynamic loss scaling: gradients of float16 that neither vanish nor overflow.

The smallest numbers of float16 are about 6e-8, so gradients vanish. A loss that is multiplied by a
number has larger ones; they are divided again before the step. If one overflows, the step is
skipped and the number is reduced; after many steps without, it grows. bfloat16 has the range of
float32 and needs none of this.

References:
    https://arxiv.org/abs/1710.03740
    https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
    https://github.com/google-deepmind/jmp
"""

from __future__ import annotations

from typing import Any

from nestarray import dtypes, ops, tree
from nestarray.container import Container
from nestarray.errors import ArgumentError, DtypeError
from nestarray.nn.optimizers import Optimizer
from nestarray.typing import Array

__all__ = ["DynamicLossScale"]


class DynamicLossScale:
    """Scales a loss, and adapts the scale: pure functions over a state, as of an `Optimizer`.

    The numbers are those of ``torch.amp.GradScaler``. All functions compile with `na.jit`.

    Args:
        initial: the first scale.
        growth: the factor of the scale after `interval` steps with finite gradients.
        backoff: the factor of the scale after a step with others.
        interval: the number of steps.

    Raises:
        ArgumentError: `growth` or `initial` are not positive, `backoff` is not between 0 and 1, or
            `interval` is less than 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.ones(2, "float32"))
        >>> optimizer, scaling = na.nn.SGD(0.5), na.nn.DynamicLossScale(initial=8.0)
        >>> state, scale = optimizer.init(v), scaling.init(v)
        >>> grads = na.grad(lambda v: scaling.scale(na.sum(v.w), scale))(v)
        >>> grads.w
        array([8., 8.], dtype=float32)
        >>> v, state, scale = scaling.step(optimizer, v, grads, state, scale)
        >>> v.w, int(scale["count"])
        (array([0.5, 0.5], dtype=float32), 1)
        >>> v, state, scale = scaling.step(optimizer, v, grads * np.inf, state, scale)
        >>> v.w, float(scale["scale"])
        (array([0.5, 0.5], dtype=float32), 4.0)
    """

    def __init__(
        self,
        initial: float = 2.0**16,
        *,
        growth: float = 2.0,
        backoff: float = 0.5,
        interval: int = 2000,
    ) -> None:
        for name, value, is_right, expected in (
            ("initial", initial, initial > 0, "a positive number"),
            ("growth", growth, growth > 1, "a number above 1"),
            ("backoff", backoff, 0 < backoff < 1, "a number between 0 and 1"),
            ("interval", interval, interval >= 1, "1 or more"),
        ):
            if not is_right:
                raise ArgumentError(f"DynamicLossScale: {name}: got {value!r}, expected {expected}")
        self.initial, self.growth, self.backoff, self.interval = initial, growth, backoff, interval

    def __repr__(self) -> str:
        settings = f"growth={self.growth}, backoff={self.backoff}, interval={self.interval}"
        return f"DynamicLossScale({self.initial}, {settings})"

    def init(self, v: Container) -> Container:
        """The state before the first step, on the backend of `v`.

        Args:
            v: the variables to train.

        Returns:
            a Container: ``scale``, float32 of shape `()`, and ``count``, int32 of shape `()`, the
            number of steps with finite gradients since the scale changed.
        """
        like = tree.leaves(v)[0]
        return Container(
            scale=ops.full((), self.initial, dtype=dtypes.float32, like=like),
            count=ops.zeros((), dtype=dtypes.int32, like=like),
        )

    def scale(self, loss: Array, state: Container) -> Array:
        """The loss times the scale, in float32.

        Args:
            loss: the loss, `()`, floating.
            state: from `init` or `step`.
        """
        return ops.multiply(ops.astype(loss, dtypes.float32, copy=False), state["scale"])

    def unscale(self, grads: Container, state: Container) -> tuple[Container, Array]:
        """Gradients divided by the scale, and whether all of them are finite.

        Clip the gradients between `unscale` and `apply`.

        Args:
            grads: the gradients of the scaled loss.
            state: from `init` or `step`.

        Raises:
            DtypeError: a gradient is float16, which the division would turn to zero; names its path.
        """
        is_finite: Any = None
        for path, x in grads.flat_items():
            if dtypes.dtype_of(x) is dtypes.float16:
                raise DtypeError(
                    f"unscale: grads[{path!r}]: got float16, expected float32; keep the parameters "
                    'in float32, as graph.cast(compute="float16") does'
                )
            if dtypes.dtype_of(x).is_inexact:
                here = ops.all(ops.isfinite(x))
                is_finite = here if is_finite is None else ops.logical_and(is_finite, here)
        if is_finite is None:
            raise ArgumentError("unscale: grads: got no floating leaf, expected gradients")
        inverse = ops.reciprocal(state["scale"])

        def divided(x: Any) -> Any:
            dtype = dtypes.dtype_of(x)
            return x * ops.astype(inverse, dtype, copy=False) if dtype.is_inexact else x

        return grads.map(divided), is_finite

    def update(self, state: Container, is_finite: Array) -> Container:
        """The state after a step: a smaller scale if gradients were not finite, later a larger one.

        Args:
            state: from `init` or `step`.
            is_finite: from `unscale`.
        """
        scale, count = state["scale"], state["count"] + 1
        is_due = ops.equal(count, self.interval)
        larger = scale * self.growth
        grown = ops.where(ops.logical_and(is_due, ops.isfinite(larger)), larger, scale)
        scale = ops.where(is_finite, grown, scale * self.backoff)
        zero = ops.zeros_like(count)
        count = ops.where(is_finite, ops.where(is_due, zero, count), zero)
        return Container(scale=scale, count=count)

    def apply(
        self,
        optimizer: Optimizer,
        v: Container,
        grads: Container,
        state: Container,
        is_finite: Array,
    ) -> tuple[Container, Container]:
        """A step of an optimizer if the gradients are finite, else the arguments.

        Args:
            optimizer: of `nestarray.nn`.
            v: variables.
            grads: gradients from `unscale`.
            state: of the optimizer.
            is_finite: from `unscale`.

        Returns:
            (new variables, new state).
        """
        new = optimizer.step(v, grads, state)
        return tree.map(lambda new, old: ops.where(is_finite, new, old), new, (v, state))

    def step(
        self,
        optimizer: Optimizer,
        v: Container,
        grads: Container,
        state: Container,
        scale: Container,
    ) -> tuple[Container, Container, Container]:
        """`unscale`, `apply` and `update`.

        Args:
            optimizer: of `nestarray.nn`.
            v: variables.
            grads: gradients of the scaled loss.
            state: of the optimizer.
            scale: the state of the scale, from `init` or `step`.

        Returns:
            (new variables, new state of the optimizer, new state of the scale).
        """
        grads, is_finite = self.unscale(grads, scale)
        v, state = self.apply(optimizer, v, grads, state, is_finite)
        return v, state, self.update(scale, is_finite)
