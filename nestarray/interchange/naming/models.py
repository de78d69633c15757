"""Layouts of the parameters of a model, by the types and settings of its layers.

A table for each library says which axes a parameter has. Layers of PyTorch, Keras, NNX and Equinox are
members of the model. Linen and Haiku make their layers during a call, so these need an input.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from nestarray.container import Container
from nestarray.errors import ArgumentError, StructureError
from nestarray.interchange.equinox import to_equinox
from nestarray.interchange.flax import to_flax
from nestarray.interchange.haiku import to_haiku
from nestarray.interchange.keras import load_into_keras
from nestarray.interchange.naming.axes import Layout
from nestarray.interchange.naming.key_map import KeyMap

#: Variable → layout, by the public name of a class or of its base.
_Table = list[tuple[str, Callable[[Any], Mapping[str, Layout]]]]


def _rows(table: _Table, layer: Any) -> Mapping[str, Layout]:
    """The row of a layer's class, or of the nearest base that has one."""
    for base in type(layer).__mro__:
        for pattern, row in table:
            if re.fullmatch(pattern, base.__name__):
                return row(layer)
    return {}


def _fixed(**layouts: str) -> Callable[[Any], Mapping[str, Layout]]:
    row = {name: Layout(text) for name, text in layouts.items()}
    return lambda layer: row


def _grouped(name: str, text: str, setting: str) -> Callable[[Any], Mapping[str, Layout]]:
    return lambda layer: {name: Layout(text, (("g", getattr(layer, setting)),))}


# -- PyTorch ----------------------------------------------------------------------------------


_TORCH: _Table = [
    ("Linear", _fixed(weight="o i")),
    ("Bilinear", _fixed(weight="o i j")),
    (r"Embedding(Bag)?", _fixed(weight="v e")),
    (r"Conv[123]d", _grouped("weight", "(g o) i *", "groups")),
    (r"ConvTranspose[123]d", _grouped("weight", "(g i) o *", "groups")),
    (
        "MultiheadAttention",
        _fixed(
            in_proj_weight="o i", q_proj_weight="o i", k_proj_weight="o i", v_proj_weight="o i"
        ),
    ),
]  # fmt: skip


def _torch_layouts(model: Any, inputs: Any) -> Iterator[tuple[str, Layout]]:
    for prefix, layer in model.named_modules(remove_duplicate=False):
        for name, layout in _rows(_TORCH, layer).items():
            yield "/".join([*prefix.split("."), name] if prefix else [name]), layout


# -- Keras ------------------------------------------------------------------------------------


def _einsum_layout(equation: str) -> Layout:
    """The kernel of an equation of `einsum`: the labels of the input are inputs.

    Example:
        >>> _einsum_layout("abc,cde->abde").text
        'i1 o1 o2'
    """
    x, kernel, result = re.split(",|->", equation.replace(" ", "").replace("...", ""))
    counts = {"i": 0, "o": 0, "g": 0}
    labels = []
    for letter in kernel:
        kind = "g" if letter in x and letter in result else "i" if letter in x else "o"
        counts[kind] += 1
        labels.append(f"{kind}{counts[kind]}")
    return Layout(" ".join(labels))


_KERAS: _Table = [
    ("Dense", _fixed(kernel="i o")),
    ("EinsumDense", lambda layer: {"kernel": _einsum_layout(layer.equation)}),
    ("Embedding", _fixed(embeddings="v e")),
    (r"Conv[123]D", _grouped("kernel", "* i (g o)", "groups")),
    (r"DepthwiseConv[12]D", _fixed(kernel="* g o")),
    (r"SeparableConv[12]D", _fixed(depthwise_kernel="* g o", pointwise_kernel="* i o")),
    (r"Conv[123]DTranspose", _fixed(kernel="* o i")),
]


def _keras_layouts(model: Any, inputs: Any) -> Iterator[tuple[str, Layout]]:
    for layer in model._flatten_layers():  # keras.Layer has no public iterator over nested layers
        for name, layout in _rows(_KERAS, layer).items():
            for variable in layer.weights:
                if variable.name == name:
                    yield variable.path, layout


# -- Flax -------------------------------------------------------------------------------------


def _general(inputs: int, outputs: int) -> Mapping[str, Layout]:
    labels = [*(f"i{n + 1}" for n in range(inputs)), *(f"o{n + 1}" for n in range(outputs))]
    return {"kernel": Layout(" ".join(labels))}


def _count(sizes: Any) -> int:
    return len(sizes) if isinstance(sizes, (tuple, list)) else 1


def _transposed(layer: Any) -> Mapping[str, Layout]:
    return {"kernel": Layout("* o i" if layer.transpose_kernel else "~* i o")}


_FLAX: _Table = [  # of Linen and NNX
    ("Embed", _fixed(embedding="v e")),
    ("Conv", _grouped("kernel", "* i (g o)", "feature_group_count")),
    ("ConvTranspose", _transposed),
]
_LINEN: _Table = [
    ("Dense", _fixed(kernel="i o")),
    ("DenseGeneral", lambda layer: _general(_count(layer.axis), _count(layer.features))),
    *_FLAX,
]
_NNX: _Table = [
    ("Linear", _fixed(kernel="i o")),
    ("LinearGeneral", lambda layer: _general(_count(layer.in_features), _count(layer.out_features))),
    *_FLAX,
]  # fmt: skip


def _nnx_layouts(model: Any, inputs: Any) -> Iterator[tuple[str, Layout]]:
    for path, layer in sys.modules["flax.nnx"].iter_modules(model):
        for name, layout in _rows(_NNX, layer).items():
            yield "/".join(map(str, (*path, name))), layout


def _linen_layouts(model: Any, inputs: Any) -> Iterator[tuple[str, Layout]]:
    import jax

    linen = sys.modules["flax.linen"]
    layouts: dict[str, Layout] = {}

    def note(call: Any, args: Any, kwargs: Any, context: Any) -> Any:
        for name, layout in _rows(_LINEN, context.module).items():
            layouts["/".join((*context.module.path, name))] = layout
        return call(*args, **kwargs)

    with linen.intercept_methods(note):
        jax.eval_shape(lambda key: model.init(key, *inputs), jax.random.key(0))
    yield from layouts.items()


# -- Haiku and Equinox ------------------------------------------------------------------------


_HAIKU: _Table = [
    ("Linear", _fixed(w="i o")),
    ("Embed", _fixed(embeddings="v e")),
    (r"DepthwiseConv[123]D", _fixed(w="* i (g o)")),
    ("ConvND", _grouped("w", "* i (g o)", "feature_group_count")),
    ("ConvNDTranspose", _fixed(w="~* o i")),
]
_EQUINOX: _Table = [
    ("Linear", _fixed(weight="o i")),
    ("Embedding", _fixed(weight="v e")),
    ("Conv", _grouped("weight", "(g o) i *", "groups")),
    ("ConvTranspose", _grouped("weight", "(g o) i ~*", "groups")),
]


def _haiku_layouts(model: Any, inputs: Any) -> Iterator[tuple[str, Layout]]:
    import jax

    haiku = sys.modules["haiku"]
    layouts: dict[str, Layout] = {}

    def note(call: Any, args: Any, kwargs: Any, context: Any) -> Any:
        is_made = context.method_name != "__init__"
        for name, layout in _rows(_HAIKU, context.module).items() if is_made else ():
            layouts[f"{context.module.module_name}/{name}"] = layout
        return call(*args, **kwargs)

    def init(key: Any) -> Any:
        with haiku.intercept_methods(note):
            return model.init(key, *inputs)

    jax.eval_shape(init, jax.random.key(0))
    yield from layouts.items()


def _equinox_layouts(model: Any, inputs: Any) -> Iterator[tuple[str, Layout]]:
    import jax

    def is_layer(node: Any) -> bool:
        return bool(_rows(_EQUINOX, node))

    for path, layer in jax.tree_util.tree_flatten_with_path(model, is_leaf=is_layer)[0]:
        keys = [
            str(getattr(key, "name", getattr(key, "idx", getattr(key, "key", key)))) for key in path
        ]
        for name, layout in _rows(_EQUINOX, layer).items():
            yield "/".join([*keys, name]), layout


# -- calls ------------------------------------------------------------------------------------


def _call_torch(model: Any, v: Container, inputs: tuple[Any, ...]) -> Any:
    torch = sys.modules["torch"]
    tensors = {name: x.clone() for name, x in v.to_torch_state_dict().items()}
    with torch.no_grad():
        arguments = tuple([torch.as_tensor(np.asarray(x)) for x in inputs])
        return torch.func.functional_call(model, tensors, arguments)


def _call_keras(model: Any, v: Container, inputs: tuple[Any, ...]) -> Any:
    before = Container.from_keras(model)
    try:
        return load_into_keras(v, model)(*map(np.asarray, inputs))
    finally:
        load_into_keras(before, model)


def _call_nnx(model: Any, v: Container, inputs: tuple[Any, ...]) -> Any:
    return to_flax(v, like=model)(*map(np.asarray, inputs))


def _call_linen(model: Any, v: Container, inputs: tuple[Any, ...]) -> Any:
    return model.apply(to_flax(v), *map(np.asarray, inputs))


def _call_equinox(model: Any, v: Container, inputs: tuple[Any, ...]) -> Any:
    return to_equinox(v, model)(*map(np.asarray, inputs))


def _call_haiku(model: Any, v: Container, inputs: tuple[Any, ...]) -> Any:
    arrays = [np.asarray(x) for x in inputs]
    if isinstance(model, sys.modules["haiku"].Transformed):
        return model.apply(to_haiku(v), None, *arrays)
    _, state = model.init(sys.modules["jax"].random.key(0), *arrays)
    return model.apply(to_haiku(v), state, None, *arrays)[0]


class _Library(NamedTuple):
    """How the models of a library are read and called."""

    module: str
    class_name: str
    layouts: Callable[[Any, Any], Iterator[tuple[str, Layout]]]
    call: Callable[[Any, Container, tuple[Any, ...]], Any]
    needs_inputs: bool = False


_LIBRARIES = [
    _Library("torch.nn", "Module", _torch_layouts, _call_torch),
    _Library("keras", "Layer", _keras_layouts, _call_keras),
    _Library("flax.nnx", "Module", _nnx_layouts, _call_nnx),
    _Library("flax.linen", "Module", _linen_layouts, _call_linen, needs_inputs=True),
    _Library("equinox", "Module", _equinox_layouts, _call_equinox),
    _Library("haiku", "Transformed", _haiku_layouts, _call_haiku, needs_inputs=True),
    _Library("haiku", "TransformedWithState", _haiku_layouts, _call_haiku, needs_inputs=True),
]


def _library_of(model: Any, argument: str) -> _Library:
    for library in _LIBRARIES:
        module = sys.modules.get(library.module)  # already imported if a model exists
        if module is not None and isinstance(model, getattr(module, library.class_name)):
            return library
    raise ArgumentError(
        f"match: {argument}: got {type(model).__name__}, expected a torch.nn.Module, a keras.Model, an "
        "nnx.Module, a linen Module, an equinox.Module, or a function transformed by Haiku"
    )


def layouts_of(model: Any, inputs: tuple[Any, ...] | None, argument: str) -> dict[str, Layout]:
    """Path of a parameter → layout, for the layers of a model that the tables contain.

    Args:
        model: a module of PyTorch, Keras, Flax or Equinox, or a function transformed by Haiku.
        inputs: the arguments of a call, for Linen and Haiku.
        argument: the name of the argument `model`, for errors.

    Raises:
        ArgumentError: `model` is none of these, or needs `inputs`.
    """
    library = _library_of(model, argument)
    if library.needs_inputs and inputs is None:
        raise ArgumentError(
            f"match: {argument}: the layers of a {type(model).__name__} exist in a call only; give an "
            "input of the model: check="
        )
    return dict(library.layouts(model, inputs))


def warn_of_differences(
    source: tuple[Any, Container, tuple[Any, ...]],
    target: tuple[Any, tuple[Any, ...]],
    keymap: KeyMap,
) -> None:
    """Call both models, the target with the converted weights, and warn if their outputs differ."""
    model, v, inputs = source
    other, other_inputs = target
    try:
        converted = keymap.apply(v)
    except StructureError as error:
        _warn(f"the outputs are not compared: {error}")
        return
    expected = _first_array(_library_of(model, "source").call(model, v, inputs))
    result = _first_array(_library_of(other, "target").call(other, converted, other_inputs))
    # channels may be last in one and first in the other
    moves = [(-1, axis) for axis in range(result.ndim - 1)]
    moves += [(axis, -1) for axis in range(result.ndim - 1)]
    orders = [result, *(np.moveaxis(result, *move) for move in moves)]
    differences = [abs(x - expected) for x in orders if x.shape == expected.shape]
    if not differences:
        _warn(f"the outputs have the shapes {expected.shape} and {result.shape}")
        return
    difference = min(float(x.max(initial=0)) for x in differences)
    scale = float(abs(expected).max(initial=0))
    if not difference <= 1e-3 * scale + 1e-6:
        _warn(
            f"the outputs of both models differ by up to {difference:.3g}, of values up to {scale:.3g}. "
            "Compare the pairs of low confidence, the settings of the layers (epsilon, padding, "
            "activation), and layers after a flatten"
        )


def _first_array(output: Any) -> np.ndarray:
    """The first array of an output, without axes of length 1."""
    while isinstance(output, (tuple, list, Mapping)):
        output = next(iter(output.values() if isinstance(output, Mapping) else output))
    return np.squeeze(np.asarray(output))


def _warn(message: str) -> None:
    warnings.warn(f"match: check: {message}", stacklevel=5)
