"""Weights of recurrent layers in the layouts of Keras and PyTorch.

| | Keras | PyTorch and `nestarray.nn` |
|---|---|---|
| weights | kernel `(in, gates)`, recurrent_kernel `(hidden, gates)` | weight_ih, weight_hh, transposed |
| gates of LSTM | i, f, g, o | i, f, g, o |
| gates of GRU | z, r, n | r, z, n |
| biases | one, or two of GRU in one array | two |
"""

from __future__ import annotations

from nestarray import ops
from nestarray.container import Container
from nestarray.errors import ArgumentError, StructureError
from nestarray.errors.signatures import signature_errors
from nestarray.errors.text import listed
from nestarray.typing import Array

__all__ = ["from_keras", "to_keras"]

#: The order of Keras' gates of GRU in PyTorch's order, and the reverse.
_GRU_ORDER = (1, 0, 2)


@signature_errors()
def from_keras(v: Container) -> Container:
    """Weights of Keras for `LSTM`, `GRU` and `RNN`.

    Args:
        v: the weights of one Keras layer, or of several in a stack, such as
            ``Container.from_keras(layer)``. Each cell has a kernel, a recurrent_kernel, and a bias
            or none; cells under ``backward_…`` are the backward directions of the cells before
            them. A GRU has ``reset_after=True``, which weights without bias do not show.

    Returns:
        a Container of weight_ih_l0, weight_hh_l0, and with biases bias_ih_l0 and bias_hh_l0, and so
        on for each layer and direction. The second bias of an LSTM or RNN is 0.

    Raises:
        StructureError: there is a leaf with another name, or a weight is missing.
        ArgumentError: the weights are of a GRU with ``reset_after=False``.

    Example:
        >>> import keras, numpy as np, nestarray as na
        >>> layer = keras.layers.LSTM(3)
        >>> layer.build((None, None, 2))
        >>> v = na.nn.recurrent_weights.from_keras(na.Container.from_keras(layer))
        >>> na.nn.LSTM(2, 3).with_variables(v).v.weight_ih_l0.shape
        TensorShape([12, 2])

    References:
        https://keras.io/api/layers/recurrent_layers/gru/
        https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html
    """
    converted = {}
    for suffix, path in _cells(v, "from_keras").items():
        cell = v[path] if path else v
        number = _number_of_gates(cell)
        kernels = [_reordered(ops.matrix_transpose(cell[name]), number) for name in _KERNELS]
        converted |= {f"weight_ih{suffix}": kernels[0], f"weight_hh{suffix}": kernels[1]}
        if "bias" in cell:
            biases = _biases(cell["bias"], number)
            converted |= {f"bias_ih{suffix}": biases[0], f"bias_hh{suffix}": biases[1]}
    return Container(converted)


@signature_errors()
def to_keras(v: Container, like: Container) -> Container:
    """Weights of `LSTM`, `GRU` and `RNN` for Keras: the inverse of `from_keras`.

    Args:
        v: the variables of the layer.
        like: weights of the Keras layer, such as ``Container.from_keras(layer)``.

    Returns:
        a Container with the structure of `like`, for ``load_into_keras``. The bias of an LSTM or
        RNN is the sum of both.

    Raises:
        StructureError: `like` is none of the layers of `from_keras`, or has other layers,
            directions or biases than `v`, or `v` has projections.

    Example:
        >>> import keras, numpy as np, nestarray as na
        >>> layer = keras.layers.GRU(3)
        >>> layer.build((None, None, 2))
        >>> net = na.nn.GRU(2, 3).init(na.random.key(0, backend="tensorflow"))
        >>> v = na.nn.recurrent_weights.to_keras(net.v, na.Container.from_keras(layer))
        >>> layer = v.load_into_keras(layer)

    References:
        https://keras.io/api/layers/recurrent_layers/gru/
    """
    converted, used = {}, set()
    for suffix, path in _cells(like, "to_keras: like").items():
        cell = like[path] if path else like
        names = [f"{name}{suffix}" for name in ("weight_ih", "weight_hh")]
        if "bias" in cell:
            names += [f"bias_ih{suffix}", f"bias_hh{suffix}"]
        missing = [name for name in names if name not in v]
        if missing:
            raise StructureError(f"to_keras: v: lacks {listed(map(repr, missing))}")
        used |= set(names)
        number = _number_of_gates(cell)
        first, second, *biases = [_reordered(v[name], number) for name in names]
        prefix = f"{path}/" if path else ""
        converted[f"{prefix}kernel"] = ops.matrix_transpose(first)
        converted[f"{prefix}recurrent_kernel"] = ops.matrix_transpose(second)
        if biases:
            both = ops.stack(biases) if len(cell["bias"].shape) == 2 else ops.add(*biases)
            converted[f"{prefix}bias"] = both
    extra = [path for path in v.paths() if path not in used]
    if extra:
        raise StructureError(f"to_keras: v: has {listed(map(repr, extra))}, which `like` lacks")
    return Container.from_flat_dict({path: converted[path] for path in like.paths()})


_KERNELS = ("kernel", "recurrent_kernel")


def _cells(v: Container, function: str) -> dict[str, str]:
    """The path of each cell by the suffix of its weights in PyTorch: ``_l0``, ``_l0_reverse``."""
    parents: dict[str, set[str]] = {}
    for path in v.paths():
        parent, _, name = path.rpartition("/")
        parents.setdefault(parent, set()).add(name)
    cells: dict[str, str] = {}
    layer = -1
    for parent, names in parents.items():
        if not names - {"bias"} == set(_KERNELS):
            raise StructureError(
                f"{function}: {parent!r} has {listed(map(repr, sorted(names)))}, expected a kernel, "
                "a recurrent_kernel, and a bias or none, such as Container.from_keras(layer)"
            )
        is_reverse = any(part.startswith("backward") for part in parent.split("/"))
        layer += not is_reverse
        cells[f"_l{layer}{'_reverse' * is_reverse}"] = parent
    return cells


def _number_of_gates(cell: Container) -> int:
    hidden, columns = cell["recurrent_kernel"].shape
    return columns // hidden


def _reordered(weight: Array, number: int) -> Array:
    """A weight of Keras in the order of PyTorch's gates along the first axis, or the reverse."""
    if number != len(_GRU_ORDER):
        return weight
    gates = ops.split(weight, weight.shape[0] // number, axis=0)
    return ops.concat([gates[i] for i in _GRU_ORDER], axis=0)


def _biases(bias: Array, number: int) -> list[Array]:
    """The biases of the input and of the hidden state."""
    if number != len(_GRU_ORDER):
        return [bias, ops.zeros_like(bias)]
    if len(bias.shape) != 2:
        raise ArgumentError(
            f"from_keras: bias: got the shape {tuple(bias.shape)}, of a GRU with reset_after=False; "
            "expected (2, gates), of one with reset_after=True"
        )
    return [_reordered(bias[i], number) for i in range(2)]
