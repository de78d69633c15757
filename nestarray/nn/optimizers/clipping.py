"""Clipping of gradients: by value, by the norm of all leaves, by the norm of each leaf."""

from __future__ import annotations

from nestarray import ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.chains import GradientTransformation
from nestarray.nn.optimizers.optimizer import Optimizer
from nestarray.nn.optimizers.settings import check_not_negative, refuse_setting
from nestarray.tree_math.reductions import tree_norm


class ClipByValue(GradientTransformation):
    """Clips each element of the gradients to [−max_value, max_value].

    Args:
        max_value: the largest magnitude.
        optimizer: the inner optimizer.

    Raises:
        ArgumentError: `max_value` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, optimizer = na.Container(w=np.zeros(2)), na.nn.ClipByValue(1.0, na.nn.SGD(0.5))
        >>> optimizer.step(v, na.Container(w=np.asarray([3.0, -0.5])), optimizer.init(v))[0].w
        array([-0.5 ,  0.25])
    """

    @signature_errors()
    def __init__(self, max_value: float, optimizer: Optimizer) -> None:
        super().__init__(optimizer)
        check_not_negative(self, max_value=max_value)
        self.max_value = max_value

    def transform(self, grads: Container, v: Container) -> Container:
        """See the class."""
        return ops.clip(grads, -self.max_value, self.max_value)


class ClipByGlobalNorm(GradientTransformation):
    """Scales the gradients by min(1, max_norm / ‖g‖), with the norm ‖g‖ of all leaves.

    Args:
        max_norm: the largest norm.
        optimizer: the inner optimizer.

    Raises:
        ArgumentError: `max_norm` is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, optimizer = na.Container(w=np.zeros(2)), na.nn.ClipByGlobalNorm(1.0, na.nn.SGD(1.0))
        >>> optimizer.step(v, na.Container(w=np.asarray([3.0, 4.0])), optimizer.init(v))[0].w
        array([-0.6, -0.8])

    References:
        Pascanu, Mikolov and Bengio, On the difficulty of training recurrent neural networks.
        ICML 2013.
    """

    @signature_errors()
    def __init__(self, max_norm: float, optimizer: Optimizer) -> None:
        super().__init__(optimizer)
        check_not_negative(self, max_norm=max_norm)
        if not max_norm:
            refuse_setting(self, "max_norm", max_norm, "a number above 0")
        self.max_norm = max_norm

    def transform(self, grads: Container, v: Container) -> Container:
        """See the class."""
        return grads.global_clip(self.max_norm, norm=tree_norm(grads))


class ClipByNorm(GradientTransformation):
    """Scales each leaf of the gradients by min(1, max_norm / ‖leaf‖), as Keras' ``clipnorm``.

    Args:
        max_norm: the largest norm of a leaf.
        optimizer: the inner optimizer.

    Raises:
        ArgumentError: `max_norm` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v, optimizer = na.Container(w=np.zeros(2)), na.nn.ClipByNorm(1.0, na.nn.SGD(1.0))
        >>> optimizer.step(v, na.Container(w=np.asarray([3.0, 4.0])), optimizer.init(v))[0].w
        array([-0.6, -0.8])
    """

    @signature_errors()
    def __init__(self, max_norm: float, optimizer: Optimizer) -> None:
        super().__init__(optimizer)
        check_not_negative(self, max_norm=max_norm)
        self.max_norm = max_norm

    def transform(self, grads: Container, v: Container) -> Container:
        """See the class."""
        norms = ops.sqrt(ops.sum(ops.square(grads)))
        is_long = norms > self.max_norm
        factors = self.max_norm / ops.where(is_long, norms, ops.ones_like(norms))
        return grads * ops.where(is_long, factors, ops.ones_like(norms))
