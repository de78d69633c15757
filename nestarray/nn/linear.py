"""Affine and bilinear maps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray import ops
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array, check_range


class Linear(Module):
    """The affine map x Wᵀ + b.

    Args:
        in_features: size of the last axis of x; None: `init` reads it from an input.
        out_features: size of the last axis of the result.
        bias: whether to add b.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √in.

    Variables: weight `(out, in)`, bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Linear(2, 3).init(na.random.key(0))
        >>> net(np.ones((4, 2), np.float32)).shape
        (4, 3)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
    """

    inferred = ("in_features", -1)

    @signature_errors()
    def __init__(
        self,
        in_features: int | None,
        out_features: int,
        bias: bool = True,
        *,
        initializer: Initializer | None = None,
    ) -> None:
        self.in_features: Any = in_features
        self.out_features, self.has_bias = out_features, bias
        self._initializer = initializer or initializers.fan_in_uniform()

    def variables(self) -> Mapping[str, Variable]:
        """weight, and bias if there is one."""
        shape = (self.out_features, self.in_features)
        declared = {"weight": Variable(shape, self._initializer)}
        if self.has_bias:
            bound = self.in_features**-0.5 if self.in_features else 0.0
            declared["bias"] = Variable((self.out_features,), initializers.uniform(bound))
        return declared

    def forward(self, x: Array) -> Array:
        """x: `(*batch, in)`; returns `(*batch, out)`."""
        return ops.linear(x, self.weight, self.bias if self.has_bias else None)


class Bilinear(Module):
    """The bilinear map yₖ = x1ᵀ Wₖ x2 + bₖ.

    Args:
        in1_features: size of the last axis of x1.
        in2_features: size of the last axis of x2.
        out_features: size of the last axis of the result.
        bias: whether to add b.
        initializer: of the weight; None is PyTorch's, uniform in ±1 / √in1.

    Variables: weight `(out, in1, in2)`, bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Bilinear(2, 3, 4).init(na.random.key(0))
        >>> net(np.ones((5, 2), np.float32), np.ones((5, 3), np.float32)).shape
        (5, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Bilinear.html
    """

    @signature_errors()
    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        *,
        initializer: Initializer | None = None,
    ) -> None:
        check_range("Bilinear", "in1_features", in1_features, 1)
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features, self.has_bias = out_features, bias
        self._initializer = initializer or initializers.uniform(in1_features**-0.5)

    def variables(self) -> Mapping[str, Variable]:
        """weight, and bias if there is one."""
        shape = (self.out_features, self.in1_features, self.in2_features)
        declared = {"weight": Variable(shape, self._initializer)}
        if self.has_bias:
            bound = self.in1_features**-0.5
            declared["bias"] = Variable((self.out_features,), initializers.uniform(bound))
        return declared

    def forward(self, x1: Array, x2: Array) -> Array:
        """x1: `(*batch, in1)`, x2: `(*batch, in2)`; returns `(*batch, out)`."""
        out = ops.einsum("...i,oij,...j->...o", x1, self.weight, x2)
        return ops.add(out, self.bias) if self.has_bias else out
