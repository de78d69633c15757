"""Modules made of other modules and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.transforms.custom import POLICIES, checkpoint
from nestarray.typing import Array


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
        self._layers = check_layers(self, layers)

    def children(self) -> Mapping[str, Module]:
        """The modules among the layers, by number."""
        return numbered(self._layers)

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
        return shown("Sequential(", self._layers)


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


class Residual(Module):
    """shortcut(x) + layer(x).

    Args:
        layer: a module or a function.
        shortcut: a module or a function whose result has the same shape, such as a convolution
            with the stride of the layer; None is x itself.

    Variables: of the layer under ``layer``, of the shortcut under ``shortcut``.

    Raises:
        ArgumentError: the layer cannot be called.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nn.Residual(lambda x: 2 * x).init(na.random.key(0))(np.ones(2))
        array([3., 3.])

    References:
        https://arxiv.org/abs/1512.03385
    """

    @signature_errors()
    def __init__(
        self, layer: Callable[..., Any], shortcut: Callable[..., Any] | None = None
    ) -> None:
        (self.layer,) = check_layers(self, (layer,))
        self.shortcut = None if shortcut is None else check_layers(self, (shortcut,))[0]

    def forward(self, x: Array, *args: Any, **kwargs: Any) -> Array:
        """Add the shortcut of x and the result of the layer, which gets all arguments."""
        start = x if self.shortcut is None else self.shortcut(x)
        return ops.add(start, self.layer(x, *args, **kwargs))


class Parallel(Module):
    """Branches that read the same input, and their merged results.

    Args:
        *branches: modules or functions.
        merge: ``"concat"`` or ``"stack"`` joins the results along `axis`; ``"sum"`` adds them.
        axis: the axis of the result.

    Variables: of each module under its number, ``"0/weight"``.

    Raises:
        ArgumentError: branches are missing or cannot be called, or `merge` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Parallel(na.nn.Linear(2, 3), na.tanh).init(na.random.key(0))
        >>> net.v.paths(), net(np.ones((4, 2), np.float32)).shape
        (('0/weight', '0/bias'), (4, 5))
    """

    @signature_errors()
    def __init__(
        self, *branches: Callable[..., Any], merge: str = "concat", axis: int = -1
    ) -> None:
        if merge not in ("concat", "stack", "sum"):
            raise ArgumentError(
                f"Parallel: merge: got {merge!r}, expected 'concat', 'stack' or 'sum'"
            )
        if not branches:
            raise ArgumentError("Parallel: branches: got none, expected at least one")
        self._branches = check_layers(self, branches)
        self.merge, self.axis = merge, axis

    def children(self) -> Mapping[str, Module]:
        """The modules among the branches, by number."""
        return numbered(self._branches)

    def forward(self, *args: Any, **kwargs: Any) -> Array:
        """Merge the results of the branches, which get all arguments."""
        results = [branch(*args, **kwargs) for branch in self._branches]
        if self.merge == "sum":
            return sum(results[1:], results[0])
        merge = ops.concat if self.merge == "concat" else ops.stack
        return merge(results, axis=self.axis)

    def __repr__(self) -> str:
        axis = f", axis={self.axis}" * (self.merge != "sum")
        return shown(f"Parallel(merge={self.merge!r}{axis}", self._branches)


class Remat(Module):
    """A layer whose intermediate values are recomputed in the backward pass: `na.checkpoint`.

    Args:
        layer: a module, or a function without modules.
        policy: the values to store, as for `na.checkpoint`.

    Variables: of the layer under ``layer``.

    Raises:
        ArgumentError: the layer cannot be called, or `policy` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> block = na.nn.Sequential(na.nn.Linear(2, 8), na.gelu, na.nn.Linear(8, 2))
        >>> net = na.nn.Remat(block).init(na.random.key(0))
        >>> net(np.ones((4, 2), np.float32)).shape
        (4, 2)

    References:
        https://arxiv.org/abs/1604.06174
    """

    @signature_errors()
    def __init__(
        self, layer: Callable[..., Any], policy: str | Callable[..., Any] = "nothing_saveable"
    ) -> None:
        if not callable(policy) and policy not in POLICIES:
            raise ArgumentError(
                f"Remat: policy: got {policy!r}, expected one of {', '.join(map(repr, POLICIES))}, "
                "or a policy of JAX or PyTorch"
            )
        (self.layer,) = check_layers(self, (layer,))
        self.policy = policy

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the layer."""
        return checkpoint(self.layer, policy=self.policy)(*args, **kwargs)


class TimeDistributed(Module):
    """A layer applied to each time step.

    The layer gets all steps in one call, as one batch.

    Args:
        layer: a module or a function of `(batch, *features)`.

    Variables: of the layer under ``layer``.

    Raises:
        ArgumentError: the layer cannot be called.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.TimeDistributed(na.nn.Conv1d(2, 3, 3)).init(na.random.key(0))
        >>> net(np.ones((4, 5, 2, 7), np.float32)).shape
        (4, 5, 3, 5)

    References:
        https://keras.io/api/layers/recurrent_layers/time_distributed/
    """

    @signature_errors()
    def __init__(self, layer: Callable[..., Any]) -> None:
        (self.layer,) = check_layers(self, (layer,))

    def forward(self, x: Array) -> Array:
        """x: `(batch, time, *features)`; returns `(batch, time, *features)`."""
        batch, time, *features = ops.shape(x)
        out = self.layer(ops.reshape(x, (batch * time, *features)))
        return ops.reshape(out, (batch, time, *ops.shape(out)[1:]))


def check_layers(
    module: Module, layers: tuple[Callable[..., Any], ...]
) -> tuple[Callable[..., Any], ...]:
    """The layers, after a check that each can be called."""
    for number, layer in enumerate(layers):
        if not callable(layer):
            raise ArgumentError(
                f"{type(module).__name__}: layer {number}: got {type(layer).__name__}, expected a "
                "module or a function"
            )
    return layers


def numbered(layers: tuple[Callable[..., Any], ...]) -> dict[str, Module]:
    """The modules among the layers, by number."""
    return {str(i): layer for i, layer in enumerate(layers) if isinstance(layer, Module)}


def shown(head: str, layers: tuple[Callable[..., Any], ...]) -> str:
    """The text of a module with these layers, after its name and settings."""
    lines = "".join(
        "\n  " + f"{number}: {_name(layer)}".replace("\n", "\n  ")
        for number, layer in enumerate(layers)
    )
    return f"{head}{lines}\n)" if lines else f"{head})"


def _name(layer: Callable[..., Any]) -> str:
    return repr(layer) if isinstance(layer, Module) else getattr(layer, "__name__", repr(layer))
