"""Layers of ``torch.nn`` that make several calls: attention, cells, blocks of Transformers.

The class of a module names the layer, and its variables and calls tell the settings. The layer is
then traced and recorded like the model, and the module is this layer if the two programs are equal.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import nn

from nestarray.errors import ConversionError
from nestarray.exporters.source.programs import program_of
from nestarray.exporters.source.recording.records import Call, Value, values_in
from nestarray.exporters.source.tree.matching import is_same_program
from nestarray.exporters.source.tree.modules import (
    Layer,
    Module,
    Step,
    Use,
    arguments,
    results,
)
from nestarray.importers.tracing import trace_graph


class _Input(NamedTuple):
    """The place of an argument among the inputs of a module."""

    index: int


class _CausalMask(NamedTuple):
    """The mask for causal attention along an axis of an input, which PyTorch wants and does not read."""

    index: int
    axis: int


class _Candidate(NamedTuple):
    """A layer that a module may be, and the form of its call.

    Attributes:
        name: of the class in ``torch.nn``.
        settings: (name, value) of the arguments of its constructor.
        args: nest of the arguments of a call: `_Input`s.
        options: (name, value) of its keyword arguments: `_Input`s, masks and constants.
        count: the number of results, if it returns a tuple.
    """

    name: str
    settings: tuple[tuple[str, Any], ...]
    args: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...] = ()
    count: int = 0


def known_layer(
    module: Module, give_layers: Callable[[Module], None], *, train: bool
) -> Layer | None:
    """The layer that has the program of a module; the module gets the inputs of the layer.

    Constants of the module, such as masks, are inputs of the layer.

    Args:
        module: a module, whose children have their layers.
        give_layers: finds the layers of a tree of modules.
        train: whether the module is in the training mode.
    """
    outputs = module.outputs
    constants = [x for x in module.variables.values() if x.source == "constants"]
    variables = {name: x for name, x in module.variables.items() if x not in constants}
    part = dataclasses.replace(module, inputs=[*module.inputs, *constants], variables=variables)
    shapes = tuple((value.shape, value.dtype) for value in part.inputs)
    read = frozenset(size for inner in module.walk() for size in _open_sizes(inner))
    for candidate in _CANDIDATES[part.kind](part):
        for chosen in itertools.combinations(range(candidate.count or 1), len(outputs)):
            program = _program(candidate, chosen, shapes, read, give_layers, train)
            if program is None or not _is_same(part, program.module):
                continue
            results: list[Value | None] = [None] * (candidate.count or 1)
            for place, value in zip(program.places, outputs, strict=True):
                results[chosen[place]] = value
            result = tuple(results) if candidate.count else results[0]
            layer = _layer(candidate, part, result, read)
            module.inputs, module.variables = part.inputs, variables
            return layer
    return None


def has_candidates(module: Module) -> bool:
    """Whether the class of a module has the name of such a layer."""
    return module.kind in _CANDIDATES


def _open_sizes(module: Module) -> Iterator[int]:
    """The sizes that a module reads, or that a reshape finds."""
    for value, axis in (call.args for call in _calls(module, "size")):
        yield value.shape[axis]
    for call in _calls(module, "method:reshape"):
        yield from (n for n, size in zip(call.result.shape, call.args[1:]) if size == -1)


def _layer(candidate: _Candidate, module: Module, result: Any, read: Collection[int]) -> Layer:
    """The layer with the form of its call; the inputs of the module become the arguments."""
    inputs: list[Value] = []

    def text(nest: Any) -> str:
        if isinstance(nest, _Input):
            inputs.append(module.inputs[nest.index])
            return "{}"
        if isinstance(nest, _CausalMask):
            size = module.inputs[nest.index].shape[nest.axis]
            length = f"{text(_Input(nest.index))}.shape[{nest.axis}]" if size in read else size
            return f"nn.Transformer.generate_square_subsequent_mask({length})"
        return f"({', '.join(map(text, nest))})" if isinstance(nest, tuple) else repr(nest)

    parts = [*map(text, candidate.args)]
    parts += [f"{name}={text(value)}" for name, value in candidate.options]
    module.inputs = inputs
    settings = dict(candidate.settings)
    return Layer(f"torch.nn.{candidate.name}", (), settings, result, form=f"({', '.join(parts)})")


# -- the program of a layer ---------------------------------------------------------------------


class _Called(nn.Module):
    """Calls a layer, and returns some of its results."""

    def __init__(self, candidate: _Candidate, chosen: Sequence[int]) -> None:
        super().__init__()
        self.candidate, self.chosen = candidate, chosen
        layer = getattr(nn, candidate.name)(**dict(candidate.settings))
        self.layers = nn.ModuleList([layer])  # numbers have modules also if these have few calls

    def forward(self, *inputs: torch.Tensor) -> Any:
        """The results."""

        def given(nest: Any) -> Any:
            if isinstance(nest, _Input):
                return inputs[nest.index]
            if isinstance(nest, _CausalMask):
                size = inputs[nest.index].shape[nest.axis]
                return nn.Transformer.generate_square_subsequent_mask(size)
            return tuple(map(given, nest)) if isinstance(nest, tuple) else nest

        options = {name: given(value) for name, value in self.candidate.options}
        result = self.layers[0](*map(given, self.candidate.args), **options)
        return tuple(result[i] for i in self.chosen) if self.candidate.count else (result,)


class _Program(NamedTuple):
    """The program of a layer: its module, and for each of its outputs the place in the results."""

    module: Module
    places: list[int]


@functools.lru_cache(maxsize=256)
def _program(
    candidate: _Candidate,
    chosen: tuple[int, ...],
    shapes: tuple[tuple[tuple[int, ...], str], ...],
    read: frozenset[int],
    give_layers: Callable[[Module], None],
    train: bool,
) -> _Program | None:
    """The program of a layer, recorded as a model is; None if it takes other inputs.

    Sizes that the module reads are open.
    """
    arrays = [torch.ones(shape, dtype=getattr(torch, dtype)) for shape, dtype in shapes]
    with torch.random.fork_rng(devices=[]):
        net = _Called(candidate, chosen).train(train)
        try:
            net(*arrays)
        except (AssertionError, RuntimeError, ValueError):  # the layer takes other shapes
            return None
    names = [{i: f"n{n}" for i, n in enumerate(shape) if n in read} for shape, _ in shapes]
    dynamic = {f"inputs_{i}": axes for i, axes in enumerate(names) if axes}
    try:
        graph = trace_graph(net, *arrays, train=train, dynamic=dynamic or None)
    except ConversionError:  # the layer has a fixed size where the module has an open one
        return None
    root = program_of(graph, "torch", "torch").root
    (use,) = root.steps if len(root.steps) == 1 else (None,)
    if not isinstance(use, Use) or {*use.inputs} != {*root.inputs}:
        return None
    module = root.children[use.name]
    module.inputs = [module.inputs[use.inputs.index(value)] for value in root.inputs]
    use.inputs = root.inputs
    give_layers(module)
    results = values_in(root.output)
    return _Program(module, [results.index(value) for value in values_in(use.outputs)])


def _is_same(one: Module, other: Module) -> bool:
    """Whether the programs of two modules are equal, with all settings and shapes of variables."""
    if not is_same_program(_in_order_of_use(one), _in_order_of_use(other), _is_same):
        return False
    if one.layer and other.layer and one.layer.kwargs != other.layer.kwargs:
        return False
    shapes = [{name: x.shape for name, x in m.variables.items()} for m in (one, other)]
    return shapes[0] == shapes[1]


def _in_order_of_use(module: Module) -> Module:
    """A module with its steps in the order in which its output and its statements need them."""
    makers = {value: step for step in module.steps for value in results(step)}
    ordered: dict[Step, None] = {}

    def visit(step: Step) -> None:
        for value in arguments(step):
            if value in makers and makers[value] not in ordered:
                visit(makers[value])
        ordered[step] = None

    last = [makers[value] for value in module.outputs if value in makers]
    for step in [*last, *(step for step in module.steps if not results(step))]:
        visit(step)
    return dataclasses.replace(module, steps=[*ordered])


# -- candidates ---------------------------------------------------------------------------------


def _calls(module: Module, *targets: str) -> list[Call]:
    return [step for step in module.steps if isinstance(step, Call) and step.target in targets]


_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
#: Number of arrays → the places of query, key and value among them.
_QUERY_KEY_VALUE: dict[int, list[tuple[int, ...]]] = {
    1: [(0, 0, 0)],
    2: [(0, 1, 1), (1, 0, 0), (0, 0, 1), (1, 1, 0)],
    3: [*itertools.permutations(range(3))],
}


def _attention(module: Module) -> Iterator[_Candidate]:
    """Attention: queries have the width of a head, and only fused attention returns no weights."""
    shapes = {name: value.shape for name, value in module.variables.items()}
    weight = shapes.get("in_proj_weight") or shapes.get("q_proj_weight")
    fused = _calls(module, _ATTENTION)
    is_causal = bool(fused) and fused[0].kwargs["is_causal"]
    products = fused or _calls(module, "operator.matmul", "torch.baddbmm")
    if weight is None or not products:
        return
    queries = products[0].args[-2] if products[0].target == "torch.baddbmm" else products[0].args[0]
    settings: dict[str, Any] = {
        "embed_dim": weight[1], "num_heads": weight[1] // queries.shape[-1],
        "dropout": _dropout(module),
        "bias": "in_proj_bias" in shapes, "add_bias_kv": "bias_k" in shapes,
        "batch_first": False,
    }  # fmt: skip
    if "k_proj_weight" in shapes:
        settings |= {"kdim": shapes["k_proj_weight"][1], "vdim": shapes["v_proj_weight"][1]}
    widths = {weight[1], settings.get("kdim"), settings.get("vdim")}
    count = len(module.outputs[0].shape)
    is_data = [len(x.shape) == count and x.shape[-1] in widths for x in module.inputs]
    orders = (True, False) if count == 3 else (False,)
    for masks in _masks(is_data, ("attn_mask", "key_padding_mask")):
        masked = {x for _, x in masks}
        data = [i for i in range(len(module.inputs)) if _Input(i) not in masked]
        rows = _QUERY_KEY_VALUE.get(len(data), [])
        for places, settings["batch_first"] in itertools.product(rows, orders):
            args = tuple(_Input(data[i]) for i in places)
            base = (*masks, *(_causal("", args[0].index, settings) if is_causal else ()))
            no_weights, per_head = ("need_weights", False), ("average_attn_weights", False)
            for options in [(*base, no_weights), *([] if fused else [base, (*base, per_head)])]:
                yield _Candidate("MultiheadAttention", (*settings.items(),), args, options, 2)


def _dropout(module: Module) -> float:
    """The probability of dropout, of which evaluation shows nothing."""
    return next((call.kwargs["p"] for call in _calls(module, "torch.nn.functional.dropout")), 0.0)


def _causal(prefix: str, index: int, settings: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The options for causal attention to an input."""
    name = f"{prefix}_mask" if prefix else "attn_mask"
    is_causal = "is_causal" if prefix in ("", "src") else f"{prefix}_is_causal"
    return (name, _CausalMask(index, int(settings["batch_first"]))), (is_causal, True)


def _masks(is_data: Sequence[bool], names: Sequence[str]) -> Iterator[tuple[tuple[str, Any], ...]]:
    """The keyword arguments that the inputs other than data may be."""
    count = is_data.count(False)
    places = [_Input(i) for i, is_array in enumerate(is_data) if not is_array]
    for chosen in itertools.permutations(names, count):
        yield tuple(sorted(zip(chosen, places, strict=True)))


def _block(name: str, prefix: str, masks: Sequence[str]) -> Any:
    """A layer of the encoder or decoder of a Transformer."""

    def candidates(module: Module) -> Iterator[_Candidate]:
        children = {name[-1]: child.layer for name, child in module.children.items()}
        attention, first, norm = (children.get(x) for x in ("self_attn", "linear1", "norm1"))
        if attention is None or first is None or norm is None:
            return
        is_gelu = bool(_calls(module, "torch.nn.functional.gelu"))
        settings = {
            "d_model": attention.kwargs["embed_dim"], "nhead": attention.kwargs["num_heads"],
            "dim_feedforward": first.kwargs["out_features"],
            "dropout": _dropout(module),
            **({"activation": "gelu"} if is_gelu else {}), "layer_norm_eps": norm.kwargs["eps"],
            "batch_first": attention.kwargs["batch_first"],
            "norm_first": next(s.name for s in module.steps if isinstance(s, Use)) == ("norm1",),
            "bias": first.kwargs["bias"],
        }  # fmt: skip
        kind = len(module.outputs[0].shape), settings["d_model"]
        rows = [i for i, x in enumerate(module.inputs) if (len(x.shape), x.shape[-1]) == kind]
        for data in itertools.permutations(rows, len(masks) // 2):
            causal = (
                _causal(prefix, data[0], settings) if "is_causal=True" in attention.form else ()
            )
            for options in _masks([i in data for i in range(len(module.inputs))], masks):
                yield _Candidate(
                    name, (*settings.items(),), (*map(_Input, data),), (*options, *causal)
                )

    return candidates


def _cell(name: str, *args: Any, count: int = 0) -> Any:
    """A step of a recurrent network, with its arguments among the inputs, in the order of their use."""

    def candidates(module: Module) -> Iterator[_Candidate]:
        shapes = {name: value.shape for name, value in module.variables.items()}
        if {"weight_ih", "weight_hh"} <= shapes.keys() and len(module.inputs) == len(
            args
        ) + count // 2:
            settings = {
                "input_size": shapes["weight_ih"][1], "hidden_size": shapes["weight_hh"][1],
                "bias": "bias_ih" in shapes,
            }  # fmt: skip
            yield _Candidate(name, (*settings.items(),), args, count=count)

    return candidates


def _flatten(module: Module) -> Iterator[_Candidate]:
    if len(module.inputs) == 1:
        yield _Candidate("Flatten", (), (_Input(0),))


def _pool(name: str) -> Any:
    """The pooling of all positions, which is a mean."""

    def candidates(module: Module) -> Iterator[_Candidate]:
        if len(module.inputs) == 1:
            yield _Candidate(name, (("output_size", 1),), (_Input(0),))

    return candidates


def _unflatten(module: Module) -> Iterator[_Candidate]:
    """The axis that becomes several axes of the result."""
    outputs = values_in(module.output)
    if len(module.inputs) != 1 or len(outputs) != 1:
        return
    before, after = module.inputs[0].shape, outputs[0].shape
    count = len(after) - len(before) + 1
    for axis in range(len(before)):
        if before[:axis] == after[:axis] and before[axis + 1 :] == after[axis + count :]:
            sizes = after[axis : axis + count]
            settings = (("dim", axis), ("unflattened_size", sizes))
            yield _Candidate("Unflatten", settings, (_Input(0),))


#: Name of a class → the layers that a module of it may be.
_CANDIDATES: dict[str, Callable[[Module], Iterator[_Candidate]]] = {
    "MultiheadAttention": _attention,
    "TransformerEncoderLayer": _block(
        "TransformerEncoderLayer", "src", ("src_mask", "src_key_padding_mask")
    ),
    "TransformerDecoderLayer": _block(
        "TransformerDecoderLayer", "tgt",
        ("tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask"),
    ),
    "LSTMCell": _cell("LSTMCell", _Input(1), (_Input(0), _Input(2)), count=2),
    "GRUCell": _cell("GRUCell", _Input(0), _Input(1)),
    "RNNCell": _cell("RNNCell", _Input(1), _Input(0)),
    **{name: _pool(name) for name in (f"AdaptiveAvgPool{n}d" for n in (1, 2, 3))},
    "Flatten": _flatten,
    "Unflatten": _unflatten,
}  # fmt: skip
