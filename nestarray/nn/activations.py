"""Smooth activations and their approximations; elementwise, except for `GLU`."""

from __future__ import annotations

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.typing import Array, check_not_zero


class Sigmoid(Module):
    """1 / (1 + exp(−x)).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Sigmoid().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([0.26894142, 0.88079708])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Sigmoid.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.sigmoid(x)


class LogSigmoid(Module):
    """−log(1 + exp(−x)).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LogSigmoid().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-1.31326169, -0.12692801])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LogSigmoid.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.log_sigmoid(x)


class Hardsigmoid(Module):
    """min(max(x + 3, 0), 6) / 6, piecewise linear.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Hardsigmoid().init(na.random.key(0))
        >>> net(np.asarray([-4.0, 0.0, 1.5]))
        array([0.  , 0.5 , 0.75])

    References:
        https://arxiv.org/abs/1511.00363
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Hardsigmoid.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.hard_sigmoid(x)


class Tanh(Module):
    """(exp(x) − exp(−x)) / (exp(x) + exp(−x)).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Tanh().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.76159416,  0.96402758])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Tanh.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.tanh(x)


class Tanhshrink(Module):
    """x − tanh(x).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Tanhshrink().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.23840584,  1.03597242])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Tanhshrink.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.tanh_shrink(x)


class SiLU(Module):
    """x · sigmoid(x), also called swish.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.SiLU().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.26894142,  1.76159416])

    References:
        https://arxiv.org/abs/1702.03118
        https://docs.pytorch.org/docs/stable/generated/torch.nn.SiLU.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.silu(x)


class Hardswish(Module):
    """x · min(max(x + 3, 0), 6) / 6.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Hardswish().init(na.random.key(0))
        >>> net(np.asarray([-4.0, 0.0, 3.0]))
        array([-0.,  0.,  3.])

    References:
        https://arxiv.org/abs/1905.02244
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Hardswish.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.hard_swish(x)


class Mish(Module):
    """x · tanh(log(1 + exp(x))).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Mish().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.30340146,  1.94395896])

    References:
        https://arxiv.org/abs/1908.08681
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Mish.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.mish(x)


class GELU(Module):
    """x · Φ(x), Φ the distribution function of the normal distribution.

    Args:
        approximate: ``"none"``: Φ by erf; ``"tanh"``: Φ by tanh.

    Raises:
        ArgumentError: `approximate` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GELU().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.15865525,  1.95449974])

    References:
        https://arxiv.org/abs/1606.08415
        https://docs.pytorch.org/docs/stable/generated/torch.nn.GELU.html
    """

    @signature_errors()
    def __init__(self, approximate: str = "none") -> None:
        if approximate not in ("none", "tanh"):
            raise ArgumentError(
                f"GELU: approximate: got {approximate!r}, expected 'none' or 'tanh'"
            )
        self.approximate = approximate

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.gelu(x, approximate=self.approximate == "tanh")


class Softplus(Module):
    """log(1 + exp(beta · x)) / beta.

    Args:
        beta: the sharpness; not 0.
        threshold: the result is x where beta · x is greater.

    Raises:
        ArgumentError: `beta` is 0.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Softplus().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([0.31326169, 2.12692801])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Softplus.html
    """

    @signature_errors()
    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        check_not_zero("Softplus", "beta", beta)
        self.beta, self.threshold = beta, threshold

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.softplus(x, beta=self.beta, threshold=self.threshold)


class Softsign(Module):
    """x / (1 + |x|).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Softsign().init(na.random.key(0))
        >>> net(np.asarray([-1.0, 2.0]))
        array([-0.5       ,  0.66666667])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Softsign.html
    """

    def forward(self, x: Array) -> Array:
        """x: any shape; returns the same shape."""
        return ops.softsign(x)


class GLU(Module):
    """a · sigmoid(b), with a and b the halves of x along an axis.

    Args:
        dim: the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GLU().init(na.random.key(0))
        >>> net(np.asarray([2.0, 0.0]))
        array([1.])

    References:
        https://arxiv.org/abs/1612.08083
        https://docs.pytorch.org/docs/stable/generated/torch.nn.GLU.html
    """

    @signature_errors()
    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: Array) -> Array:
        """x: an even size along `dim`; returns half of it."""
        return ops.glu(x, axis=self.dim)
