"""Modules made of other modules and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module


class Sequential(Module):
    """A chain of modules and functions.

    Args:
        *layers: modules, or functions of one argument such as ``na.relu``.

    Variables: of each module under its number, ``"0/weight"``, as in PyTorch.

    Raises:
        ArgumentError: a layer cannot be called.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Sequential(na.nn.Linear(2, 3), na.tanh, na.nn.Linear(3, 1))
        >>> net = net.init(na.random.key(0))
        >>> net.v.paths()
        ('0/weight', '0/bias', '2/weight', '2/bias')
        >>> net(np.ones((5, 2), np.float32)).shape
        (5, 1)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html
    """

    @signature_errors()
    def __init__(self, *layers: Callable[..., Any]) -> None:
        for number, layer in enumerate(layers):
            if not callable(layer):
                raise ArgumentError(
                    f"Sequential: layer {number}: got {type(layer).__name__}, expected a module "
                    "or a function"
                )
        self._layers = tuple(layers)

    def children(self) -> Mapping[str, Module]:
        """The modules among the layers, by number."""
        return {str(i): layer for i, layer in enumerate(self._layers) if isinstance(layer, Module)}

    def forward(self, x: Any, **kwargs: Any) -> Any:
        """Apply the layers in order; keywords go to the first."""
        for number, layer in enumerate(self._layers):
            x = layer(x, **kwargs) if number == 0 else layer(x)
        return x

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(self._layers)

    def __getitem__(self, index: int) -> Callable[..., Any]:
        return self._layers[index]

    def __repr__(self) -> str:
        lines = "".join(
            "\n  " + f"{number}: {_name(layer)}".replace("\n", "\n  ")
            for number, layer in enumerate(self._layers)
        )
        return f"Sequential({lines}\n)" if lines else "Sequential()"


def _name(layer: Callable[..., Any]) -> str:
    return repr(layer) if isinstance(layer, Module) else getattr(layer, "__name__", repr(layer))


class Lambda(Module):
    """A function as a module.

    Args:
        fn: function of the arguments of the module.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nn.Lambda(lambda x: x * 2).init(na.random.key(0))(np.ones(2))
        array([2., 2.])
    """

    @signature_errors()
    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """``fn`` of the arguments."""
        return self.fn(*args, **kwargs)
