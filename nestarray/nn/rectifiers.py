"""Piecewise activations: rectifiers, thresholds and shrinkage; elementwise."""

from __future__ import annotations

import math
from collections.abc import Mapping

from nestarray import ops
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array, check_not_zero, check_range


class ReLU(Module):
    """max(x, 0).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ReLU().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([0., 2.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ReLU.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.relu(x)


class ReLU6(Module):
    """min(max(x, 0), 6).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ReLU6().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0, 8.0]))
        array([0., 2., 6.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ReLU6.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.relu6(x)


class LeakyReLU(Module):
    """x where x > 0, negative_slope · x elsewhere.

    Args:
        negative_slope: the slope below zero.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LeakyReLU().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.01,  2.  ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LeakyReLU.html
    """

    @signature_errors()
    def __init__(self, negative_slope: float = 0.01) -> None:
        self.negative_slope = negative_slope

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.leaky_relu(x, negative_slope=self.negative_slope)


class PReLU(Module):
    """x where x > 0, weight · x elsewhere, with learned slopes.

    Args:
        num_parameters: 1, or the number of channels: one slope for each.
        init: the slopes before training.

    Variables: weight `(num_parameters,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.PReLU().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.25,  2.  ])

    References:
        https://arxiv.org/abs/1502.01852
        https://docs.pytorch.org/docs/stable/generated/torch.nn.PReLU.html
    """

    @signature_errors()
    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        check_range("PReLU", "num_parameters", num_parameters, 1)
        self.num_parameters, self._slope = num_parameters, init

    def variables(self) -> Mapping[str, Variable]:
        """weight."""
        return {"weight": Variable((self.num_parameters,), initializers.constant(self._slope))}

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`, or any shape for one slope; returns the same shape."""
        return ops.prelu(x, self.weight)


class RReLU(Module):
    """x where x > 0, slope · x elsewhere, with a random slope for each element in training.

    The slopes are uniform in [lower, upper); in evaluation they are (lower + upper) / 2.

    Args:
        lower: the smallest slope.
        upper: the largest slope.

    Raises:
        ArgumentError: `lower` is greater than `upper`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.RReLU().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.22916667,  2.        ])

    References:
        https://arxiv.org/abs/1505.00853
        https://docs.pytorch.org/docs/stable/generated/torch.nn.RReLU.html
    """

    @signature_errors()
    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3) -> None:
        check_range("RReLU", "lower", lower, -math.inf, upper)
        self.lower, self.upper = lower, upper

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        key = self.key_for("the slopes") if self.training else None
        return ops.rrelu(x, key, lower=self.lower, upper=self.upper)


class ELU(Module):
    """x where x > 0, alpha · (exp(x) − 1) elsewhere.

    Args:
        alpha: minus the limit at −∞.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.ELU().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.63212056,  2.        ])

    References:
        https://arxiv.org/abs/1511.07289
        https://docs.pytorch.org/docs/stable/generated/torch.nn.ELU.html
    """

    @signature_errors()
    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.elu(x, alpha=self.alpha)


class SELU(Module):
    """1.0507 · x where x > 0, 1.0507 · 1.6733 · (exp(x) − 1) elsewhere.

    The two constants keep mean 0 and variance 1 from layer to layer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.SELU().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-1.11133074,  2.10140197])

    References:
        https://arxiv.org/abs/1706.02515
        https://docs.pytorch.org/docs/stable/generated/torch.nn.SELU.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.selu(x)


class CELU(Module):
    """x where x > 0, alpha · (exp(x / alpha) − 1) elsewhere.

    Args:
        alpha: minus the limit at −∞; not 0.

    Raises:
        ArgumentError: `alpha` is 0.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.CELU(0.5).init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.43233236,  2.        ])

    References:
        https://arxiv.org/abs/1704.07483
        https://docs.pytorch.org/docs/stable/generated/torch.nn.CELU.html
    """

    @signature_errors()
    def __init__(self, alpha: float = 1.0) -> None:
        check_not_zero("CELU", "alpha", alpha)
        self.alpha = alpha

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.celu(x, alpha=self.alpha)


class Threshold(Module):
    """x where x > threshold, value elsewhere.

    Args:
        threshold: the largest x that is replaced.
        value: the replacement.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Threshold(0.5, -7.0).init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-7.,  2.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Threshold.html
    """

    @signature_errors()
    def __init__(self, threshold: float, value: float) -> None:
        self.threshold, self.value = threshold, value

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.threshold(x, threshold=self.threshold, value=self.value)


class Hardtanh(Module):
    """min(max(x, min_val), max_val).

    Args:
        min_val: the smallest result.
        max_val: the largest result.

    Raises:
        ArgumentError: `min_val` is greater than `max_val`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Hardtanh().init(na.random.key(0))
        >>> net(np.asarray([-3.0, 0.5, 2.0]))
        array([-1. ,  0.5,  1. ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Hardtanh.html
    """

    @signature_errors()
    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        check_range("Hardtanh", "min_val", min_val, -math.inf, max_val)
        self.min_val, self.max_val = min_val, max_val

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.hard_tanh(x, min_value=self.min_val, max_value=self.max_val)


class Hardshrink(Module):
    """x where |x| > lambd, 0 elsewhere.

    Args:
        lambd: the threshold.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Hardshrink().init(na.random.key(0))
        >>> net(np.asarray([-2.0, 0.25, 2.0]))
        array([-2.,  0.,  2.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Hardshrink.html
    """

    @signature_errors()
    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.hard_shrink(x, threshold=self.lambd)


class Softshrink(Module):
    """sign(x) · max(|x| − lambd, 0).

    Args:
        lambd: the threshold; not negative.

    Raises:
        ArgumentError: `lambd` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Softshrink().init(na.random.key(0))
        >>> net(np.asarray([-2.0, 0.25, 2.0]))
        array([-1.5,  0. ,  1.5])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Softshrink.html
    """

    @signature_errors()
    def __init__(self, lambd: float = 0.5) -> None:
        check_range("Softshrink", "lambd", lambd, 0.0)
        self.lambd = lambd

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.soft_shrink(x, threshold=self.lambd)
