"""Recurrent networks of several layers and directions, with PyTorch's variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from nestarray import ops
from nestarray.errors import ArgumentError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.module import Module, Variable
from nestarray.nn.regularization import Dropout
from nestarray.typing import Array


class _Recurrent(Module):
    """Layers that each run over time, with dropout between them."""

    gates: ClassVar[int]
    op: ClassVar[Callable[..., Any]]  # one layer over time

    def _configure(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        proj_size: int = 0,
    ) -> None:
        check_sizes(self, input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.has_bias, self.batch_first, self.bidirectional = bias, batch_first, bidirectional
        self.proj_size = proj_size
        self.dropout = Dropout(dropout)

    def variables(self) -> Mapping[str, Variable]:
        """The weights of each layer and direction."""
        declared = {}
        for layer in range(self.num_layers):
            for direction in self._directions():
                for name, shape in self._shapes(layer).items():
                    initial = initializers.uniform(self.hidden_size**-0.5)
                    declared[f"{name}_l{layer}{direction}"] = Variable(shape, initial)
        return declared

    def _directions(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the variables of one direction, in the order of the op's weights."""
        out = self.proj_size or self.hidden_size
        rows = self.gates * self.hidden_size
        columns = out * len(self._directions()) if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, columns),
            "weight_hh": (rows, out),
        }
        if self.has_bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    def _run(
        self, x: Array, states: Sequence[Array | None], lengths: Array | None
    ) -> tuple[Array, tuple[Array, ...]]:
        """The outputs of the last layer, and the last states of all."""
        directions = len(self._directions())
        for state in states:
            if state is not None and state.shape[0] not in (None, self.num_layers * directions):
                raise ShapeError(
                    f"{type(self).__name__}: state: got the shape {tuple(state.shape)}, expected "
                    f"{self.num_layers * directions} along axis 0: layers · directions"
                )
        ends = []
        for layer in range(self.num_layers):
            weights = [
                getattr(self, f"{name}_l{layer}{direction}")
                for direction in self._directions()
                for name in self._shapes(layer)
            ]
            start = layer * directions
            starts = [None if s is None else s[start : start + directions] for s in states]
            x = self.dropout(x) if layer else x
            x, *end = self.op(x, weights, *starts, lengths, **self._settings())
            ends.append(end)
        return x, tuple([ops.concat(column, axis=0) for column in zip(*ends)])

    def _settings(self) -> dict[str, Any]:
        return {"bidirectional": self.bidirectional, "batch_first": self.batch_first}


class RNN(_Recurrent):
    """A plain recurrent network, hₜ = tanh(W xₜ + b + U hₜ₋₁ + c).

    Args:
        input_size: size of the last axis of x.
        hidden_size: size of the hidden state.
        num_layers: number of layers; each reads the outputs of the previous one.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        bias: whether there are b and c.
        batch_first: whether x and the outputs are `(batch, length, …)`.
        dropout: the probability of a zero in the outputs of each layer but the last, in training
            mode.
        bidirectional: whether each layer has a backward direction, whose outputs are appended.

    Variables: for each layer k weight_ih_lk `(hidden, in)`, weight_hh_lk `(hidden, hidden)`,
    bias_ih_lk `(hidden,)`, bias_hh_lk `(hidden,)`, and the same of the backward direction with
    the suffix ``_reverse``.

    Raises:
        ArgumentError: a size is not positive, `dropout` is not a probability, or `nonlinearity` is
            unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.RNN(2, 3).init(na.random.key(0))
        >>> out, state = net(np.ones((5, 4, 2), np.float32))
        >>> out.shape, state.shape
        ((5, 4, 3), (1, 4, 3))

    References:
        https://doi.org/10.1207/s15516709cog1402_1
        https://docs.pytorch.org/docs/stable/generated/torch.nn.RNN.html
    """

    gates = 1
    op = staticmethod(ops.rnn)

    @signature_errors()
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        self._configure(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        )
        self.nonlinearity = check_nonlinearity(self, nonlinearity)

    def forward(
        self, x: Array, state: Array | None = None, *, lengths: Array | None = None
    ) -> tuple[Array, Array]:
        """Run over time, with the arguments and results of `GRU.forward`."""
        out, (state,) = self._run(x, (state,), lengths)
        return out, state

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"nonlinearity": self.nonlinearity}


class GRU(_Recurrent):
    """Gated recurrent units, hₜ = (1 − z) ⊙ n + z ⊙ hₜ₋₁.

    r = σ(W_r xₜ + b_r + U_r hₜ₋₁ + c_r), z likewise with its own weights, and
    n = tanh(W_n xₜ + b_n + r ⊙ (U_n hₜ₋₁ + c_n)).

    Args:
        input_size: size of the last axis of x.
        hidden_size: size of the hidden state.
        num_layers: number of layers; each reads the outputs of the previous one.
        bias: whether there are b and c.
        batch_first: whether x and the outputs are `(batch, length, …)`.
        dropout: the probability of a zero in the outputs of each layer but the last, in training
            mode.
        bidirectional: whether each layer has a backward direction, whose outputs are appended.

    Variables: for each layer k weight_ih_lk `(3 · hidden, in)`, weight_hh_lk
    `(3 · hidden, hidden)`, bias_ih_lk `(3 · hidden,)`, bias_hh_lk `(3 · hidden,)`: the rows of
    r, z and n; and the same of the backward direction with the suffix ``_reverse``.

    Raises:
        ArgumentError: a size is not positive, or `dropout` is not a probability.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GRU(2, 3, bidirectional=True).init(na.random.key(0))
        >>> out, state = net(np.ones((5, 4, 2), np.float32), lengths=np.asarray([5, 2, 3, 1]))
        >>> out.shape, state.shape, out[2:, 1].any()
        ((5, 4, 6), (2, 4, 3), np.False_)

    References:
        https://arxiv.org/abs/1406.1078
        https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html
    """

    gates = 3
    op = staticmethod(ops.gru)

    @signature_errors()
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        self._configure(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        )

    def forward(
        self, x: Array, state: Array | None = None, *, lengths: Array | None = None
    ) -> tuple[Array, Array]:
        """Run over time.

        Args:
            x: `(length, batch, in)`; `(batch, length, in)` if `batch_first`; or `(length, in)`.
            state: `(layers · directions, batch, hidden)`, without the batch axis if x has none;
                None: zeros.
            lengths: `(batch,)`, integers. A state is constant after the end of its sequence, later
                outputs are 0, and the backward direction starts at the end; so the results are the
                ones of PyTorch's packed sequences. None: the length of x.

        Returns:
            the outputs of the last layer, as x with the last axis `directions · hidden`, and the
            last state.
        """
        out, (state,) = self._run(x, (state,), lengths)
        return out, state


class LSTM(_Recurrent):
    """A long short-term memory, cₜ = f ⊙ cₜ₋₁ + i ⊙ g and hₜ = o ⊙ tanh(cₜ).

    i, f, o = σ(W xₜ + b + U hₜ₋₁ + c) and g = tanh of the same, each with its own rows of
    the weights. With a projection P, hₜ = P (o ⊙ tanh(cₜ)).

    Args:
        input_size: size of the last axis of x.
        hidden_size: size of the cell.
        num_layers: number of layers; each reads the outputs of the previous one.
        bias: whether there are b and c.
        batch_first: whether x and the outputs are `(batch, length, …)`.
        dropout: the probability of a zero in the outputs of each layer but the last, in training
            mode.
        bidirectional: whether each layer has a backward direction, whose outputs are appended.
        proj_size: size of the hidden state, less than `hidden_size`; 0: `hidden_size`, without P.

    Variables: for each layer k weight_ih_lk `(4 · hidden, in)`, weight_hh_lk `(4 · hidden, out)`,
    bias_ih_lk `(4 · hidden,)`, bias_hh_lk `(4 · hidden,)`: the rows of i, f, g and o; with
    projection weight_hr_lk `(out, hidden)`; and the same of the backward direction with the suffix
    ``_reverse``.

    Raises:
        ArgumentError: a size is not positive, `dropout` is not a probability, or `proj_size` is not
            less than `hidden_size`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LSTM(2, 3, batch_first=True).init(na.random.key(0))
        >>> out, (h, c) = net(np.ones((4, 5, 2), np.float32))
        >>> out.shape, h.shape, c.shape
        ((4, 5, 3), (1, 4, 3), (1, 4, 3))

    References:
        https://doi.org/10.1162/neco.1997.9.8.1735
        https://arxiv.org/abs/1402.1128
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html
    """

    gates = 4
    op = staticmethod(ops.lstm)

    @signature_errors()
    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
    ) -> None:
        if not 0 <= proj_size < hidden_size:
            raise ArgumentError(
                f"LSTM: proj_size: got {proj_size}, expected at least 0 and less than "
                f"hidden_size={hidden_size}"
            )
        self._configure(
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
        )

    def forward(
        self,
        x: Array,
        state: tuple[Array, Array] | None = None,
        *,
        lengths: Array | None = None,
    ) -> tuple[Array, tuple[Array, Array]]:
        """Run over time.

        Args:
            x: as for `GRU.forward`.
            state: the hidden states `(layers · directions, batch, out)` and the cells
                `(layers · directions, batch, hidden)`; None: zeros.
            lengths: as for `GRU.forward`.

        Returns:
            the outputs of the last layer, as x with the last axis `directions · out`, and the
            last hidden states and cells.
        """
        out, (h, c) = self._run(x, state or (None, None), lengths)
        return out, (h, c)


def check_sizes(layer: Module, **sizes: int) -> None:
    """Raise unless all sizes are positive."""
    for name, size in sizes.items():
        if size < 1:
            raise ArgumentError(f"{type(layer).__name__}: {name}: got {size}, expected at least 1")


def check_nonlinearity(layer: Module, nonlinearity: str) -> str:
    """The name of an activation, after a check."""
    if nonlinearity not in ("tanh", "relu"):
        raise ArgumentError(
            f"{type(layer).__name__}: nonlinearity: got {nonlinearity!r}, expected 'tanh' or 'relu'"
        )
    return nonlinearity
