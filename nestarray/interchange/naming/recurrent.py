"""Recurrent layers: the gates of each library, as sections with one name in all.

PyTorch and Keras store the gates of a layer in one array, in different orders; Flax has an array for
each gate, Haiku one for inputs and hidden state together. A section is the part of a leaf that belongs
to one gate: matched by role, it is at the right place in every library. The names of the leaves
identify the layers.

PyTorch has two biases for each gate, and the GRU of Keras too. Where only their sum counts, they are
twins: the other libraries store the sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nestarray.container.spec import Path, join_path
from nestarray.interchange.naming.axes import Layout
from nestarray.interchange.naming.pairs import Reshape, Shift, Split, Step

Shape = tuple[int, ...]

#: The gates of each number: PyTorch's letters. The candidate of a GRU that resets the state before
#: the product is a, after it n: two different functions.
_TORCH_GATES = {4: "ifgo", 3: "rzn", 1: "h"}
_KERAS_GATES = {4: "ifgo", 3: "zrn", 1: "h"}
_BOTH_BIASES_ARE_ONE = {"i", "f", "g", "o", "r", "z", "h"}
_OF_PYTORCH = re.compile(r"(weight|bias)_(ih|hh)(?:_l(\d+)(_reverse)?)?")
_OF_FLAX = re.compile(r"([ih])([ifgorzn])_?")
_SIDES = {"i": "input", "h": "hidden", "ih": "input", "hh": "hidden"}
_OUTPUTS_FIRST, _INPUTS_FIRST = Layout("o i"), Layout("i o")


class Section(NamedTuple):
    """A part of a leaf that is matched on its own.

    Attributes:
        path: the path by which it is matched.
        steps: from the leaf to the section.
        layout: its axes, if known.
        role: the gate and the variable; sections of different roles do not match.
    """

    path: Path
    steps: tuple[Step, ...] = ()
    layout: Layout | None = None
    role: str = ""


class _Layer(NamedTuple):
    """The sections of one layer, by the path of their leaf."""

    form: str
    sections: dict[Path, list[Section]]


def sections_of_layers(shapes: Mapping[Path, Shape]) -> tuple[set[str], dict[Path, list[Section]]]:
    """The forms of the recurrent layers in a tree, and the sections of their leaves.

    Example:
        >>> shapes = {("weight_ih",): (8, 3), ("weight_hh",): (8, 2), ("bias",): (8,)}
        >>> forms, sections = sections_of_layers(shapes)
        >>> forms, [section.role for section in sections["bias",]]
        ({'equinox'}, ['input i bias', 'input f bias', 'input g bias', 'input o bias'])
    """
    members: dict[Path, dict[Path, Shape]] = {}
    for path, shape in shapes.items():
        for depth in (1, 2):
            if len(path) >= depth:
                members.setdefault(path[:-depth], {})[path[-depth:]] = shape
    layers = [layer for parent, own in members.items() for layer in _read(parent, own)]
    sections = {path: parts for layer in layers for path, parts in layer.sections.items()}
    return {layer.form for layer in layers}, sections


def twin_of(path: Path) -> Path | None:
    """The path of the bias of the inputs, for the bias of the hidden state that is added to it.

    Example:
        >>> twin_of(("lstm", "hidden", "i", "bias"))
        ('lstm', 'input', 'i', 'bias')
        >>> twin_of(("gru", "hidden", "n", "bias"))
    """
    match path[-3:]:
        case ("hidden", gate, "bias") if gate in _BOTH_BIASES_ARE_ONE:
            return (*path[:-3], "input", gate, "bias")
    return None


def _read(parent: Path, members: Mapping[Path, Shape]) -> Iterator[_Layer]:
    """The layer with these members, in each library's names."""
    names = {path[0] for path in members if len(path) == 1}
    if "weight_ih" in names or any(str(name).startswith("weight_ih_l") for name in names):
        yield _of_pytorch(parent, members)
    elif {"kernel", "recurrent_kernel"} <= names:
        yield from _of_keras(parent, members)
    elif {"w_i", "w_h"} <= names:
        yield _of_haiku_gru(parent, members)
    elif parent and re.search(r"(^|/)\w*lstm\w*/linear$", join_path(parent)) and "w" in names:
        yield from _of_haiku_lstm(parent, members)
    else:
        yield from _of_flax(parent, members)


# -- libraries --------------------------------------------------------------------------------


def _of_pytorch(parent: Path, members: Mapping[Path, Shape]) -> _Layer:
    """PyTorch's layers and cells, and the cells of Equinox."""
    names = {str(path[0]): shape for path, shape in members.items() if len(path) == 1}
    variables = {name: m for name in names if (m := _OF_PYTORCH.fullmatch(name))}
    has_levels = len({m[3] for m in variables.values()}) > 1
    has_directions = any(m[4] for m in variables.values())
    sections: dict[Path, list[Section]] = {}
    for name, m in variables.items():
        suffix = f"_l{m[3]}{m[4] or ''}" if m[3] else ""
        hidden = names.get(f"weight_hh{suffix}", (1, 1))
        count = 4 if f"weight_hr{suffix}" in names else hidden[0] // max(hidden[-1], 1)
        if count not in _TORCH_GATES:
            continue
        front = (
            *parent,
            *([f"layer_{m[3]}"] if has_levels else []),
            *(["backward" if m[4] else "forward"] if has_directions else []),
            _SIDES[m[2]],
        )
        parts = _gates(_TORCH_GATES[count], names[name], 0)
        sections[(*parent, name)] = _named(front, m[1], parts, _OUTPUTS_FIRST)
    form = "pytorch"
    if "bias" in names or "bias_n" in names:  # of Equinox
        form = "equinox"
        parts = _gates(
            _TORCH_GATES.get(names["bias"][0] // names["weight_hh"][1], ""), names["bias"], 0
        )
        sections[(*parent, "bias")] = _named((*parent, "input"), "bias", parts, None)
        if "bias_n" in names:
            sections[(*parent, "bias_n")] = _named((*parent, "hidden"), "bias", [("n", ())], None)
    return _Layer(form, sections)


def _of_keras(parent: Path, members: Mapping[Path, Shape]) -> Iterator[_Layer]:
    hidden, bias = members["recurrent_kernel",], members.get(("bias",))
    count = hidden[-1] // max(hidden[0], 1)
    if len(hidden) != 2 or count not in _KERAS_GATES:
        return
    gates = _KERAS_GATES[count]
    if count == 3 and bias is not None and len(bias) == 1:
        gates = gates.replace("n", "a")
    sections = {
        (*parent, name): _named(
            (*parent, side), "weight", _gates(gates, members[name,], 1), _INPUTS_FIRST
        )
        for name, side in (("kernel", "input"), ("recurrent_kernel", "hidden"))
    }
    if bias is not None and len(bias) == 1:
        sections[*parent, "bias"] = _named((*parent, "input"), "bias", _gates(gates, bias, 0), None)
    elif bias is not None:
        sections[*parent, "bias"] = [
            section
            for row, side in enumerate(("input", "hidden"))
            for section in _named(
                (*parent, side),
                "bias",
                [
                    (
                        gate,
                        (
                            Split(0, row, row + 1, 2),
                            *steps,
                            Reshape((1, bias[1] // 3), (bias[1] // 3,)),
                        ),
                    )
                    for gate, steps in _gates(gates, bias, 1)
                ],
                None,
            )
        ]
    yield _Layer("keras", sections)


def _of_haiku_gru(parent: Path, members: Mapping[Path, Shape]) -> _Layer:
    sections = {}
    for name, side, variable in (
        ("w_i", "input", "weight"),
        ("w_h", "hidden", "weight"),
        ("b", "input", "bias"),
    ):
        if (name,) in members:
            shape = members[name,]
            parts = _gates("zra", shape, len(shape) - 1)
            layout = _INPUTS_FIRST if variable == "weight" else None
            sections[*parent, name] = _named((*parent, side), variable, parts, layout)
    return _Layer("haiku", sections)


def _of_haiku_lstm(parent: Path, members: Mapping[Path, Shape]) -> Iterator[_Layer]:
    """One linear layer of inputs and hidden state; 1 is added to the forget gate."""
    rows, columns = members["w",]
    size = columns // 4
    if columns % 4 or rows <= size:
        return
    front = tuple([part for key in parent for part in str(key).split("/")])[:-1]
    gates = _gates("igfo", (rows, columns), 1)
    sections = {(*parent, "w"): []}
    for side, start, stop in (("input", 0, rows - size), ("hidden", rows - size, rows)):
        parts = [(gate, (Split(0, start, stop, rows), *steps)) for gate, steps in gates]
        sections[*parent, "w"] += _named((*front, side), "weight", parts, _INPUTS_FIRST)
    if ("b",) in members:
        parts = [
            (gate, (*steps, Shift(1.0)) if gate == "f" else steps)
            for gate, steps in _gates("igfo", (columns,), 0)
        ]
        sections[*parent, "b"] = _named((*front, "input"), "bias", parts, None)
    yield _Layer("haiku", sections)


def _of_flax(parent: Path, members: Mapping[Path, Shape]) -> Iterator[_Layer]:
    """A layer of Flax for each gate, or fused ones (``dense_i``, ``dense_h``), or Haiku's RNN."""
    below = [path for path in members if len(path) == 2]
    layers = {str(path[0]) for path in below}
    gates = {name: m for name in layers if (m := _OF_FLAX.fullmatch(name))}
    sections: dict[Path, list[Section]] = {}
    if {m[1] + m[2] for m in gates.values()} in _FLAX_CELLS:
        one_bias = "g" in {m[2] for m in gates.values()}
        for layer, variable in below:
            m = gates.get(str(layer))
            if m and variable in ("kernel", "bias"):
                side = "input" if variable == "bias" and one_bias else _SIDES[m[1]]
                part: tuple[str, tuple[Step, ...]] = (m[2], ())
                sections[*parent, layer, variable] = _of_variable(parent, side, variable, [part])
        yield _Layer("flax", sections)
    elif layers == {"i", "h"}:
        for layer, variable in below:
            sections[*parent, layer, variable] = _of_variable(
                parent, _SIDES[str(layer)], variable, [("h", ())]
            )
        yield _Layer("flax", sections)
    elif layers == {"dense_i", "dense_h"} and ("dense_h", "kernel") in members:
        rows, columns = members["dense_h", "kernel"]
        names = _TORCH_GATES.get(columns // max(rows, 1), "")
        for layer, variable in below if names else ():
            shape = members[layer, variable]
            one_bias = variable == "bias" and len(names) == 4
            side = "input" if one_bias else _SIDES[str(layer)[-1]]
            parts = _gates(names, shape, len(shape) - 1)
            sections[*parent, layer, variable] = _of_variable(parent, side, variable, parts)
        yield _Layer("nnx", sections)


_FLAX_CELLS = (
    {side + gate for side in "ih" for gate in "ifgo"},
    {side + gate for side in "ih" for gate in "rzn"},
)


def _of_variable(
    parent: Path, side: str, variable: object, parts: Sequence[tuple[str, tuple[Step, ...]]]
) -> list[Section]:
    name, layout = ("weight", _INPUTS_FIRST) if variable == "kernel" else ("bias", None)
    return _named((*parent, side), name, parts, layout)


# -- sections ---------------------------------------------------------------------------------


def _gates(gates: str, shape: Shape, axis: int) -> list[tuple[str, tuple[Step, ...]]]:
    """Each gate with the steps to its section of an array."""
    if len(gates) < 2:
        return [(gate, ()) for gate in gates]
    size = shape[axis]
    width = size // len(gates)
    return [
        (gate, (Split(axis, n * width, (n + 1) * width, size),)) for n, gate in enumerate(gates)
    ]


def _named(
    front: Path, variable: str, parts: Iterable[tuple[str, tuple[Step, ...]]], layout: Layout | None
) -> list[Section]:
    return [
        Section(
            (*front, gate, variable),
            steps,
            layout if variable == "weight" else None,
            f"{front[-1]} {gate} {variable}",
        )
        for gate, steps in parts
    ]
