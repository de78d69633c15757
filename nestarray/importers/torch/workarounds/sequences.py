"""Recurrent networks over sequences of open or unequal lengths.

The exporter runs an LSTM step by step, which fixes the number of steps, and the shapes of a packed
sequence depend on values. During the trace such a call is one operation of the library
``nestarray``, and a packed sequence consists of the padded tensor and the lengths. Rowwise
functions of packed data, such as an embedding, apply to the padded tensor; others raise an
error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch.nn.utils import rnn

from nestarray.errors import ConversionError
from nestarray.importers.workarounds import Factory, Workaround, always

_KINDS = ("lstm", "gru", "rnn_tanh", "rnn_relu")

#: Rowwise functions of packed data, by name in torch.nn.functional or torch.
_BY_ROWS = frozenset(
    ["dropout", "embedding", "gelu", "layer_norm", "linear", "relu", "sigmoid", "tanh"]
)


# -- the operations -------------------------------------------------------------------------


@cache
def _operation(kind: str) -> Any:
    """``torch.ops.nestarray.lstm``: torch's function with lengths."""
    state, count = ("Tensor[]", 3) if kind == "lstm" else ("Tensor", 2)
    operation = torch.library.custom_op(
        f"nestarray::{kind}",
        partial(run_natively, kind),
        mutates_args=(),
        schema=f"(Tensor input, {state} hx, Tensor[] params, bool has_biases, int num_layers, "
        "float dropout, bool train, bool bidirectional, bool batch_first, Tensor? lengths=None) "
        f"-> ({', '.join(['Tensor'] * count)})",
    )
    operation.register_fake(partial(_shapes, kind))
    return operation


def native(target: Any) -> Callable[..., Any] | None:
    """The differentiable torch function of an operation of this file; None for other operations."""
    library, _, name = str(target).partition(".")
    kind = name.partition(".")[0]
    return partial(run_natively, kind) if library == "nestarray" and kind in _KINDS else None


def run_natively(
    kind: str,
    input: Any,
    hx: Any,
    params: Any,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    lengths: Any = None,
) -> tuple[Any, ...]:
    """Run the network in torch; with lengths, pack the sequence and pad the result with zeros."""
    function = getattr(torch, kind)
    settings = (params, has_biases, num_layers, dropout, train, bidirectional)
    if lengths is None:
        return function(input, hx, *settings, batch_first)
    packed = rnn.pack_padded_sequence(input, lengths.cpu(), batch_first, enforce_sorted=False)
    inward: Any = packed.sorted_indices
    outward: Any = packed.unsorted_indices
    states = [h.index_select(1, inward) for h in (hx if kind == "lstm" else [hx])]
    data, *last = function(
        packed.data, packed.batch_sizes, states if kind == "lstm" else states[0], *settings
    )
    steps = input.shape[1 if batch_first else 0]
    outputs, _ = rnn.pad_packed_sequence(packed._replace(data=data), batch_first, 0.0, steps)
    return outputs, *(end.index_select(1, outward) for end in last)


def _shapes(
    kind: str,
    input: Any,
    hx: Any,
    params: Any,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    lengths: Any = None,
) -> tuple[Any, ...]:
    directions = 2 if bidirectional else 1
    batch = input.shape[0 if batch_first else 1]
    size = params[1].shape[1]
    outputs = input.new_empty(*input.shape[:2], directions * size)
    last = [input.new_empty(num_layers * directions, batch, size)]
    if kind == "lstm":
        last.append(input.new_empty(num_layers * directions, batch, params[0].shape[0] // 4))
    return outputs, *last


# -- packed sequences -----------------------------------------------------------------------


class _Part:
    """A part of a packed sequence, of which all that depends on the lengths is refused."""

    name: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _refusal(f"packed.{self.name}.{name}")

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        raise _refusal(f"{getattr(function, '__name__', str(function))} of packed.{cls.name}")


class _Data(_Part):
    """The data of a packed sequence: `padded`, (steps, batch, …)."""

    name = "data"

    def __init__(self, padded: Any) -> None:
        self.padded = padded
        self.dtype, self.device = padded.dtype, padded.device

    def dim(self) -> int:
        """The number of dimensions of packed data: steps and batch are one axis."""
        return self.padded.dim() - 1

    def size(self, axis: int) -> Any:
        """Raise unless the function acts on one axis other than the first."""
        if axis % self.dim() == 0:
            raise _refusal("packed.data.size(0)")
        return self.padded.shape[axis % self.dim() + 1]

    def to(self, *args: Any, **kwargs: Any) -> _Data:
        """In another dtype, on another device."""
        return _Data(self.padded.to(*args, **kwargs))

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if getattr(function, "__name__", "") in _BY_ROWS and isinstance(args[0], cls):
            return cls(function(args[0].padded, *args[1:], **(kwargs or {})))
        return super().__torch_function__(function, types, args, kwargs)


class _Sizes(_Part):
    """The batch sizes of a packed sequence, as its lengths and the number of sequences."""

    name = "batch_sizes"

    def __init__(self, lengths: Any, batch: Any) -> None:
        self.lengths, self.batch, self.device = lengths, batch, lengths.device

    def __getitem__(self, index: int) -> Any:
        if index != 0:
            raise _refusal(f"packed.batch_sizes[{index}]")
        return self.batch

    def size(self, axis: int) -> _Longest:
        """The longest length, which depends on values."""
        return _Longest()


class _Longest:
    """Placeholder of the longest length; it is not checked against a ``total_length``."""

    def __gt__(self, steps: Any) -> bool:
        return False


def _refusal(what: str) -> ConversionError:
    return ConversionError(
        f"trace_graph: {what}: the shape of packed data depends on the lengths; pad it first: "
        "pad_packed_sequence(packed, total_length=x.shape[1])"
    )


def is_foreign(value: Any) -> bool:
    """Whether a value is a PackedSequence that was not packed while tracing."""
    return type(value).__name__ == "PackedSequence" and not isinstance(value.data, _Data)


def check_padded(output: Any) -> None:
    """Raise if an output is a PackedSequence."""
    if type(output).__name__ == "PackedSequence":
        raise _refusal("a PackedSequence is returned")


def _pack(input: Any, lengths: Any, batch_first: bool) -> tuple[_Data, _Sizes]:
    padded = input.transpose(0, 1) if batch_first else input
    return _Data(padded), _Sizes(lengths, padded.shape[1])


def _pad(data: _Data, sizes: _Sizes, batch_first: bool, value: float, steps: Any) -> Any:
    x = data.padded
    if isinstance(steps, _Longest):
        steps = sizes.lengths.max().item()
        torch._check(steps >= 0)
        torch._check(steps <= x.shape[0])
        x = x[:steps]
    elif x.shape[0] != steps:
        x = torch.cat([x, x.new_zeros(steps, *x.shape[1:])])[:steps]
    ended = torch.arange(steps, device=x.device).unsqueeze(1) >= sizes.lengths.to(x.device)
    x = x.masked_fill(ended.view(*ended.shape, *[1] * (x.dim() - 2)), value)
    return (x.transpose(0, 1) if batch_first else x), sizes.lengths


# -- patches during the trace ---------------------------------------------------------------


def _has_networks(trace: Any) -> bool:
    return any(isinstance(part, torch.nn.RNNBase) for part in trace.module.modules())


def _network(kind: str) -> Factory:
    return lambda trace, native: partial(_call_network, kind, native)


def _call_network(kind: str, native: Callable[..., Any], input: Any, *args: Any) -> Any:
    """A call of ``torch.lstm`` and the like."""
    if isinstance(input, _Data):
        sizes, *others = args
        outputs, *last = _operation(kind)(input.padded, *others, False, sizes.lengths)
        return _Data(outputs), *last
    batch_first = args[-1]
    if isinstance(input.shape[1 if batch_first else 0], int):
        return native(input, *args)
    return _operation(kind)(input, *args)


def _of_padded(trace: Any, check: Callable[..., Any]) -> Callable[..., Any]:
    """A check of sizes that takes the batch from the padded tensor: ``int`` would fix it."""

    def of_padded(self: Any, input: Any, batch_sizes: Any) -> Any:
        if not isinstance(input, _Data):
            return check(self, input, batch_sizes)
        padded = input.padded
        return check(self, padded.transpose(0, 1) if self.batch_first else padded, None)

    return of_padded


SEQUENCES = Workaround(
    "sequences",
    "recurrent networks are exported step by step, and packed sequences not at all",
    issue="pytorch#115092, pytorch#112044",
    attributes={
        "torch.nn.RNNBase.get_expected_hidden_size": _of_padded,
        "torch.nn.LSTM.get_expected_cell_size": _of_padded,
        "torch._VF._pad_packed_sequence": always(_pad),  # its length is no number
    },
    # functions that torch.nn calls, whatever alias of pack_padded_sequence a program uses
    functions={
        **{f"torch.{kind}": _network(kind) for kind in _KINDS},
        "torch._pack_padded_sequence": always(_pack),
    },
    is_needed=_has_networks,
)
