"""A layer repeated in sequence."""

from __future__ import annotations

from typing import Any

from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.nn.stacking import Stacked
from nestarray.transforms.control_flow import scan
from nestarray.typing import Nest


class Repeat(Stacked):
    """A layer applied `n` times in sequence, each time with its own variables, by one `na.scan`.

    The compiled program contains the layer once.

    Args:
        layer: a module whose result has the structure, shapes and dtypes of its first argument.
        n: number of repetitions.

    Variables and state: of the layer, with a first axis of size `n`.

    Raises:
        ArgumentError: `layer` is not a module, or `n` is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> block = na.nn.Residual(na.nn.Sequential(na.nn.Linear(3, 3), na.tanh))
        >>> net = na.nn.Repeat(block, 5).init(na.random.key(0))
        >>> net.v["layer/0/weight"].shape, net(np.ones((4, 3), np.float32)).shape
        ((5, 3, 3), (4, 3))

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html
        https://dm-haiku.readthedocs.io/en/latest/api.html#layer-stack
    """

    @signature_errors()
    def __init__(self, layer: Module, n: int) -> None:
        super().__init__(layer, n)

    def forward(self, x: Nest, *args: Any, **kwargs: Any) -> Nest:
        """Apply the layer `n` times.

        Args:
            x: the first argument of the first layer; each layer gets the result of the previous.
            *args: for each layer, with the keywords.
            **kwargs: for each layer.

        Returns:
            the result of the last layer.
        """
        x, s = scan(
            lambda x, sets: self._applied(sets, x, *args, **kwargs),
            *(x, self._sets()),
            length=self._count,
        )
        self._update(s)
        return x
