"""Recurrent networks of several layers and directions, with PyTorch's weight layout.

`weights` is one flat sequence: for each layer and direction, the input weight
`(gates · hidden, in)`, the recurrent weight `(gates · hidden, out)`, two biases
`(gates · hidden,)` if the network has biases, and the projection `(out, hidden)` of an `lstm`
with projection. The number of arrays determines which of these are present.

With `lengths`, a sequence ends early: its state is constant after its end, later outputs are 0,
and the backward direction starts at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nestarray import dtypes, ops
from nestarray.backends.control_flow import Arrays, find_for
from nestarray.dispatch import Trait, floating_op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array

__all__ = ["gru", "lstm", "rnn"]
TRAITS = Trait.PRODUCT

#: (gates of the input, states, weight and bias of the hidden state) → the new states.
Cell = Callable[[Array, tuple[Array, ...], Array, Array | None], tuple[Array, ...]]


@floating_op(not_promoted=("lengths",))
def rnn(
    x: Array,
    weights: Sequence[Array],
    h0: Array | None = None,
    lengths: Array | None = None,
    /,
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
    nonlinearity: str = "tanh",
) -> tuple[Array, Array]:
    """A plain recurrent network, hₜ = tanh(W xₜ + b + U hₜ₋₁ + c).

    Args:
        x: `(length, batch, in)`, or `(length, in)`, floating.
        weights: for each layer and direction W `(hidden, in)` and U `(hidden, hidden)`, and
            with biases also b `(hidden,)` and c `(hidden,)`; `in` of a later layer is
            directions · hidden.
        h0: `(layers · directions, batch, hidden)`: the initial states; None: zeros.
        lengths: `(batch,)`, integer: the length of each sequence; None: the length of x.
        num_layers: the number of layers; each layer reads the outputs of the previous one.
        bidirectional: add a backward direction to each layer.
        batch_first: x and the outputs are `(batch, length, …)`.
        nonlinearity: ``"tanh"`` or ``"relu"``.

    Returns:
        the outputs of the last layer, `(length, batch, directions · hidden)`, and the last
        states, of the shape of `h0`; both without the batch axis if x has none.

    Raises:
        ShapeError: the shapes of x, the states and the weights do not match.
        ArgumentError: the number of weights is wrong, or `nonlinearity` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> weights = [np.ones((1, 1)), np.full((1, 1), 10.0)]
        >>> outputs, last = na.rnn(np.ones((2, 1)), weights, nonlinearity="relu")
        >>> outputs
        array([[ 1.],
               [11.]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.RNN.html
    """
    activation = {"tanh": ops.tanh, "relu": ops.relu}.get(nonlinearity)
    if activation is None:
        raise ArgumentError(f"rnn: nonlinearity: got {nonlinearity!r}, expected 'tanh' or 'relu'")

    def cell(
        gates: Array, states: tuple[Array, ...], weight: Array, bias: Array | None
    ) -> tuple[Array, ...]:
        return (activation(gates + ops.linear(states[0], weight, bias)),)

    layout = Layout("rnn", 1, num_layers, bidirectional, batch_first)
    outputs, (last,) = _network(layout, cell, x, weights, (h0,), lengths)
    return outputs, last


@floating_op(not_promoted=("lengths",))
def gru(
    x: Array,
    weights: Sequence[Array],
    h0: Array | None = None,
    lengths: Array | None = None,
    /,
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
) -> tuple[Array, Array]:
    """Gated recurrent units, hₜ = (1 − z) ⊙ n + z ⊙ hₜ₋₁.

    r = σ(W_r xₜ + b_r + U_r hₜ₋₁ + c_r), z likewise with its own weights, and
    n = tanh(W_n xₜ + b_n + r ⊙ (U_n hₜ₋₁ + c_n)).

    Args:
        x: `(length, batch, in)`, or `(length, in)`, floating.
        weights: for each layer and direction W `(3 · hidden, in)` and U
            `(3 · hidden, hidden)`, and with biases also b and c, `(3 · hidden,)`: the rows
            of r, z and n in this order.
        h0: `(layers · directions, batch, hidden)`: the initial states; None: zeros.
        lengths: `(batch,)`, integer: the length of each sequence; None: the length of x.
        num_layers: the number of layers; each layer reads the outputs of the previous one.
        bidirectional: add a backward direction to each layer.
        batch_first: x and the outputs are `(batch, length, …)`.

    Returns:
        the outputs of the last layer, `(length, batch, directions · hidden)`, and the last
        states, of the shape of `h0`; both without the batch axis if x has none.

    Raises:
        ShapeError: the shapes of x, the states and the weights do not match.
        ArgumentError: the number of weights is wrong.

    Example:
        >>> import numpy as np, nestarray as na
        >>> outputs, last = na.gru(np.ones((4, 2)), [np.ones((9, 2)), np.ones((9, 3))])
        >>> outputs.shape, last.shape
        ((4, 3), (1, 3))

    References:
        https://arxiv.org/abs/1406.1078
        https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html
    """
    layout = Layout("gru", 3, num_layers, bidirectional, batch_first)
    outputs, (last,) = _network(layout, gru_cell, x, weights, (h0,), lengths)
    return outputs, last


@floating_op(not_promoted=("lengths",))
def lstm(
    x: Array,
    weights: Sequence[Array],
    h0: Array | None = None,
    c0: Array | None = None,
    lengths: Array | None = None,
    /,
    *,
    num_layers: int = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
) -> tuple[Array, Array, Array]:
    """A long short-term memory, cₜ = f ⊙ cₜ₋₁ + i ⊙ g and hₜ = o ⊙ tanh(cₜ).

    i, f, o = σ(W xₜ + b + U hₜ₋₁ + c) and g = tanh of the same, each with its own rows of
    the weights. With a projection P, hₜ = P (o ⊙ tanh(cₜ)).

    Args:
        x: `(length, batch, in)`, or `(length, in)`, floating.
        weights: for each layer and direction W `(4 · hidden, in)` and U `(4 · hidden, out)`;
            with biases also b and c, `(4 · hidden,)`; with projection finally P
            `(out, hidden)`, else out = hidden. The rows belong to i, f, g and o in this order.
        h0: `(layers · directions, batch, out)`: the initial states; None: zeros.
        c0: `(layers · directions, batch, hidden)`: the initial cells; None: zeros.
        lengths: `(batch,)`, integer: the length of each sequence; None: the length of x.
        num_layers: the number of layers; each layer reads the outputs of the previous one.
        bidirectional: add a backward direction to each layer.
        batch_first: x and the outputs are `(batch, length, …)`.

    Returns:
        the outputs of the last layer, `(length, batch, directions · out)`, the last states
        and the last cells, of the shapes of `h0` and `c0`; all without the batch axis if x has none.

    Raises:
        ShapeError: the shapes of x, the states and the weights do not match.
        ArgumentError: the number of weights is wrong.

    Example:
        >>> import numpy as np, nestarray as na
        >>> weights = [np.ones((12, 2)), np.ones((12, 3))]
        >>> outputs, state, cell = na.lstm(np.ones((5, 7, 2)), weights)
        >>> outputs.shape, state.shape, cell.shape
        ((5, 7, 3), (1, 7, 3), (1, 7, 3))

    References:
        https://doi.org/10.1162/neco.1997.9.8.1735
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html
    """
    layout = Layout("lstm", 4, num_layers, bidirectional, batch_first)
    outputs, (state, last) = _network(layout, lstm_cell, x, weights, (h0, c0), lengths)
    return outputs, state, last


class Layout(NamedTuple):
    """The layers and directions of a network."""

    name: str
    gates: int
    num_layers: int
    bidirectional: bool
    batch_first: bool

    @property
    def directions(self) -> int:
        """How many directions each layer has."""
        return 2 if self.bidirectional else 1

    def parts(self, weights: Sequence[Array]) -> list[Part]:
        """The weights of each layer and direction.

        Raises:
            ArgumentError: their number is none that such a network has.
        """
        cells = self.num_layers * self.directions
        counts = (2, 4) if self.gates < 4 else (2, 4, 3, 5)
        each, rest = divmod(len(weights), cells) if cells > 0 else (0, 1)
        if rest or each not in counts:
            raise ArgumentError(
                f"{self.name}: weights: got {len(weights)} arrays, expected one "
                f"of {', '.join(map(str, sorted(counts)))} for each of num_layers={self.num_layers} "
                f"layers and {self.directions} directions"
            )
        return [self._part(weights[i * each : (i + 1) * each]) for i in range(cells)]

    def _part(self, weights: Sequence[Array]) -> Part:
        b_input, b_hidden = weights[2:4] if len(weights) > 3 else (None, None)
        if b_hidden is not None and self.name != "gru":  # whose reset gate scales the second bias
            b_input, b_hidden = ops.add(b_input, b_hidden), None  # once, not in each step
        projection = weights[-1] if len(weights) % 2 else None
        part = Part(weights[0], weights[1], b_input, b_hidden, projection)
        rows, columns = weights[0].shape[0], part.out(self.gates)
        if rows % self.gates or tuple(part.w_hidden.shape) != (rows, columns):
            raise ShapeError(
                f"{self.name}: weights: got the shapes {tuple(weights[0].shape)} for the input and "
                f"{tuple(part.w_hidden.shape)} for the hidden state, expected ({self.gates} · "
                f"hidden, in) and ({self.gates} · hidden, out)"
            )
        return part


class Part(NamedTuple):
    """The weights of one layer in one direction."""

    w_input: Array
    w_hidden: Array
    b_input: Array | None
    b_hidden: Array | None
    projection: Array | None

    def hidden(self, gates: int) -> int:
        """The size of the cell."""
        return self.w_input.shape[0] // gates

    def out(self, gates: int) -> int:
        """The size of the state."""
        return self.hidden(gates) if self.projection is None else self.projection.shape[0]


def lstm_cell(
    gates: Array, states: tuple[Array, ...], weight: Array, bias: Array | None
) -> tuple[Array, ...]:
    """One step of `lstm`, without projection: the `Cell`."""
    hidden, cell = states
    gates = gates + ops.linear(hidden, weight, bias)
    into, forget, candidate, out = ops.split(gates, weight.shape[0] // 4, axis=-1)
    cell = ops.sigmoid(forget) * cell + ops.sigmoid(into) * ops.tanh(candidate)
    return ops.sigmoid(out) * ops.tanh(cell), cell


def gru_cell(
    gates: Array, states: tuple[Array, ...], weight: Array, bias: Array | None
) -> tuple[Array, ...]:
    """One step of `gru`: the `Cell`."""
    (hidden,) = states
    size = weight.shape[0] // 3
    x_reset, x_update, x_new = ops.split(gates, size, axis=-1)
    h_reset, h_update, h_new = ops.split(ops.linear(hidden, weight, bias), size, axis=-1)
    update = ops.sigmoid(x_update + h_update)
    new = ops.tanh(x_new + ops.sigmoid(x_reset + h_reset) * h_new)
    return (new + update * (hidden - new),)


def _network(
    layout: Layout,
    cell: Cell,
    x: Array,
    weights: Sequence[Array],
    starts: tuple[Array | None, ...],
    lengths: Array | None,
) -> tuple[Array, tuple[Array, ...]]:
    """The outputs of the last layer, and the last states of all."""
    parts = layout.parts(weights)
    is_batched = _check(layout, x, parts[0], starts, lengths)
    if not is_batched:
        x = ops.expand_dims(x, axis=1)
        starts = tuple(None if s is None else ops.expand_dims(s, axis=1) for s in starts)
    elif layout.batch_first:
        x = ops.swapaxes(x, 0, 1)
    mask = None
    if lengths is not None:
        times = ops.arange(ops.shape(x)[0], dtype=dtypes.dtype_of(lengths), like=lengths)
        mask = ops.expand_dims(ops.less(ops.expand_dims(times, axis=1), lengths), axis=2)
    ends: list[tuple[Array, ...]] = []
    for first in range(0, len(parts), layout.directions):
        outputs = []
        for place in range(first, first + layout.directions):
            states = tuple(None if s is None else s[place] for s in starts)
            out, end = _layer(layout, cell, x, parts[place], states, mask, place - first == 1)
            outputs.append(out)
            ends.append(end)
        x = outputs[0] if len(outputs) == 1 else ops.concat(outputs, axis=-1)
    last = tuple(ops.stack(found, axis=0) for found in zip(*ends))
    if not is_batched:
        return ops.squeeze(x, axis=1), tuple(ops.squeeze(end, axis=1) for end in last)
    return (ops.swapaxes(x, 0, 1) if layout.batch_first else x), last


def _layer(
    layout: Layout,
    cell: Cell,
    x: Array,
    part: Part,
    states: tuple[Array | None, ...],
    mask: Array | None,
    reverse: bool,
) -> tuple[Array, tuple[Array, ...]]:
    """One layer in one direction; one product computes the input's contribution for all time steps."""
    gates = ops.linear(x, part.w_input, part.b_input)
    sizes = (part.out(layout.gates), part.hidden(layout.gates))
    # zeros like a slice of the gates, because the batch size may be known only at run time
    starts = tuple(
        ops.zeros_like(gates[0][:, :size]) if state is None else state
        for state, size in zip(states, sizes)
    )

    def step(states: Arrays, time: Arrays) -> tuple[Arrays, Arrays]:
        new = cell(time[0], states, part.w_hidden, part.b_hidden)
        if part.projection is not None:
            new = (ops.linear(new[0], part.projection), *new[1:])
        if len(time) > 1:
            new = tuple(ops.where(time[1], after, before) for after, before in zip(new, states))
        return new, new[:1]

    inputs = (gates,) if mask is None else (gates, mask)
    scan = find_for(inputs, "scan")
    last, (outputs,) = scan(step, starts, inputs, reverse=reverse)
    return outputs if mask is None else ops.where(mask, outputs, 0.0), last


def _check(
    layout: Layout,
    x: Array,
    part: Part,
    starts: tuple[Array | None, ...],
    lengths: Array | None,
) -> bool:
    """Whether x has a batch, after a check of the shapes."""
    shape = tuple(x.shape)
    axes = "(batch, length, in)" if layout.batch_first else "(length, batch, in)"
    features = part.w_input.shape[1]
    if len(shape) not in (2, 3) or shape[-1] != features:
        raise ShapeError(
            f"{layout.name}: x has shape {shape}, expected {axes} or (length, in) with in = "
            f"{features}: axis 1 of the first weight {tuple(part.w_input.shape)}"
        )
    is_batched = len(shape) == 3
    if shape[1 if is_batched and layout.batch_first else 0] == 0:
        raise ShapeError(f"{layout.name}: x has shape {shape}, expected a length of at least 1")
    batch = (shape[0 if layout.batch_first else 1],) if is_batched else ()
    cells = layout.num_layers * layout.directions
    sizes = (part.out(layout.gates), part.hidden(layout.gates))
    for name, start, size in zip(("h0", "c0"), starts, sizes):
        expected = (cells, *batch, size)
        if start is not None and not _agree(tuple(start.shape), expected):
            raise ShapeError(
                f"{layout.name}: {name} has shape {tuple(start.shape)}, expected {expected}: "
                "(layers · directions, batch, size)"
            )
    if lengths is not None and (not is_batched or not _agree(tuple(lengths.shape), batch)):
        raise ShapeError(
            f"{layout.name}: lengths has shape {tuple(lengths.shape)} for x {shape}, expected one "
            "length for each sequence of a batch"
        )
    return is_batched


def _agree(found: tuple[int | None, ...], expected: tuple[int | None, ...]) -> bool:
    """Whether two shapes are equal where both are known."""
    return len(found) == len(expected) and all(
        a == b or a is None or b is None for a, b in zip(found, expected)
    )
