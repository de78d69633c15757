"""One step of recurrent networks, with PyTorch's variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from nestarray import ops
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.module import Module, Variable
from nestarray.nn.recurrent import check_nonlinearity, check_sizes
from nestarray.ops.recurrent import gru_cell, lstm_cell
from nestarray.typing import Array


class _Cell(Module):
    """The weights of the input and of the hidden state."""

    gates: ClassVar[int]

    def _configure(self, input_size: int, hidden_size: int, bias: bool) -> None:
        check_sizes(self, input_size=input_size, hidden_size=hidden_size)
        self.input_size, self.hidden_size, self.has_bias = input_size, hidden_size, bias

    def variables(self) -> Mapping[str, Variable]:
        """weight_ih and weight_hh, and bias_ih and bias_hh if there are biases."""
        rows = self.gates * self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, self.input_size),
            "weight_hh": (rows, self.hidden_size),
        }
        if self.has_bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        initial = initializers.uniform(self.hidden_size**-0.5)
        return {name: Variable(shape, initial) for name, shape in shapes.items()}

    def _gates(self, x: Array) -> Array:
        """The input's contribution to the gates."""
        return ops.linear(x, self.weight_ih, self.bias_ih if self.has_bias else None)

    def _hidden_weights(self) -> tuple[Array, Array | None]:
        return self.weight_hh, self.bias_hh if self.has_bias else None

    def _start(self, gates: Array, state: Array | None) -> Array:
        return ops.zeros_like(gates[..., : self.hidden_size]) if state is None else state


class RNNCell(_Cell):
    """One step of `RNN`: h′ = tanh(W x + b + U h + c).

    Args:
        input_size: size of the last axis of x.
        hidden_size: size of the hidden state.
        bias: whether there are b and c.
        nonlinearity: ``"tanh"`` or ``"relu"``.

    Variables: weight_ih `(hidden, in)`, weight_hh `(hidden, hidden)`, bias_ih `(hidden,)`,
    bias_hh `(hidden,)`.

    Raises:
        ArgumentError: a size is not positive, or `nonlinearity` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.RNNCell(2, 3).init(na.random.key(0))
        >>> net(np.ones((4, 2), np.float32)).shape
        (4, 3)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.RNNCell.html
    """

    gates = 1

    @signature_errors()
    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh"
    ) -> None:
        self._configure(input_size, hidden_size, bias)
        self.nonlinearity = check_nonlinearity(self, nonlinearity)

    def forward(self, x: Array, state: Array | None = None) -> Array:
        """x: `(*batch, in)`; state: `(*batch, hidden)`, None: zeros; returns the next state."""
        gates = self._gates(x)
        hidden = ops.linear(self._start(gates, state), *self._hidden_weights())
        activation = ops.tanh if self.nonlinearity == "tanh" else ops.relu
        return activation(ops.add(gates, hidden))


class GRUCell(_Cell):
    """One step of `GRU`: h′ = (1 − z) ⊙ n + z ⊙ h.

    Args:
        input_size: size of the last axis of x.
        hidden_size: size of the hidden state.
        bias: whether there are biases.

    Variables: weight_ih `(3 · hidden, in)`, weight_hh `(3 · hidden, hidden)`, bias_ih
    `(3 · hidden,)`, bias_hh `(3 · hidden,)`: the rows of r, z and n.

    Raises:
        ArgumentError: a size is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GRUCell(2, 3).init(na.random.key(0))
        >>> net(np.ones((4, 2), np.float32)).shape
        (4, 3)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.GRUCell.html
    """

    gates = 3

    @signature_errors()
    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        self._configure(input_size, hidden_size, bias)

    def forward(self, x: Array, state: Array | None = None) -> Array:
        """x: `(*batch, in)`; state: `(*batch, hidden)`, None: zeros; returns the next state."""
        gates = self._gates(x)
        return gru_cell(gates, (self._start(gates, state),), *self._hidden_weights())[0]


class LSTMCell(_Cell):
    """One step of `LSTM`: c′ = f ⊙ c + i ⊙ g and h′ = o ⊙ tanh(c′).

    Args:
        input_size: size of the last axis of x.
        hidden_size: size of the hidden state and of the cell.
        bias: whether there are biases.

    Variables: weight_ih `(4 · hidden, in)`, weight_hh `(4 · hidden, hidden)`, bias_ih
    `(4 · hidden,)`, bias_hh `(4 · hidden,)`: the rows of i, f, g and o.

    Raises:
        ArgumentError: a size is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LSTMCell(2, 3).init(na.random.key(0))
        >>> h, c = net(np.ones((4, 2), np.float32))
        >>> h.shape, c.shape
        ((4, 3), (4, 3))

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTMCell.html
    """

    gates = 4

    @signature_errors()
    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        self._configure(input_size, hidden_size, bias)

    def forward(self, x: Array, state: tuple[Array, Array] | None = None) -> tuple[Array, Array]:
        """Compute the next hidden state and cell.

        Args:
            x: `(*batch, in)`.
            state: the hidden state and the cell, each `(*batch, hidden)`; None: zeros.
        """
        gates = self._gates(x)
        h, c = state or (None, None)
        states = (self._start(gates, h), self._start(gates, c))
        h, c = lstm_cell(gates, states, *self._hidden_weights())
        return h, c
