"""Layers after a flatten, between trees with channels first and trees with channels last.

A flatten orders its elements by (channels, positions) in PyTorch and Equinox, by (positions, channels)
in Flax, Haiku and Keras. The weights have the same shapes. `reorder_flattened` permutes the inputs of
the layers that the caller names, and warns about others that follow a convolution.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace

from nestarray.container import Container
from nestarray.container.spec import LEAF, Path, join_path
from nestarray.errors import ArgumentError, ShapeError
from nestarray.interchange.naming.key_map import KeyMap
from nestarray.interchange.naming.match_units import shape_of
from nestarray.interchange.naming.pairs import Pair, Reshape, Step, Transpose
from nestarray.interchange.naming.parameter_names import has_outputs_first

Shapes = Mapping[Path, tuple[int, ...]]

_SWAPPED = (Transpose((1, 0)),)
#: Kernels with outputs first to outputs last. The order of rank 3 is its own inverse.
_TO_CHANNELS_LAST = ((2, 3, 1, 0), (2, 3, 4, 1, 0))
_TO_CHANNELS_FIRST = ((3, 2, 0, 1), (4, 3, 0, 1, 2))


def reorder_flattened(keymap: KeyMap, c: Container, flatten: Mapping[str, int]) -> KeyMap:
    """The map, with steps that permute the inputs of layers after a flatten.

    Args:
        keymap: a map from `c`.
        c: the source tree.
        flatten: path of a leaf in `c` → the number of channels before the flatten.

    Raises:
        ArgumentError: a value of `flatten` is wrong, a leaf has no counterpart, or nothing decides
            which tree has channels first.
        ShapeError: the inputs of a leaf are not a multiple of the channels.
    """
    shapes = {path: shape_of(leaf) for path, leaf in zip(c._spec.paths, c._leaves, strict=True)}
    named = _checked(keymap, c, flatten)
    pairs = tuple(
        _reordered(pair, named[pair.source], keymap.pairs, shapes) if pair.source in named else pair
        for pair in keymap.pairs
    )
    place = {path: i for i, path in enumerate(c._spec.paths)}
    in_source_order = sorted(keymap.pairs, key=lambda pair: place[pair.source])
    suspects = _after_convolution(in_source_order, shapes)
    suspects |= _after_convolution(keymap.pairs, shapes)  # in the order of the target
    for path, (pair, channels) in suspects.items():
        if path not in named:
            _warn(pair, channels, shapes[path])
    return replace(keymap, pairs=pairs)


def _checked(keymap: KeyMap, c: Container, flatten: Mapping[str, int]) -> dict[Path, int]:
    if not isinstance(flatten, Mapping):
        raise ArgumentError(
            f"match: flatten: got {type(flatten).__name__}, expected a dict: path of a leaf → "
            "number of channels before the flatten"
        )
    decided = {pair.source for pair in keymap.pairs}
    named = {}
    for text, channels in flatten.items():
        start, _, spec = c._spec.locate(text)
        path = c._spec.paths[start] if spec is LEAF else None
        if type(channels) is not int or channels < 1:
            raise ArgumentError(
                f"match: flatten: {text!r}: got {channels!r}, expected the number of channels "
                "before the flatten"
            )
        if path not in decided:
            raise ArgumentError(
                f"match: flatten: {text!r} has no counterpart in the map; give its leaf in `known`"
            )
        named[path] = channels
    return named


# -- layouts ----------------------------------------------------------------------------------


def _is_convolution(pair: Pair) -> bool:
    """Whether a pair is a convolution kernel in two layouts."""
    match pair.steps:
        case (Transpose(axes),):
            return len(axes) > 2
    return False


def _has_channels_first(pair: Pair) -> bool | None:
    """Whether the source of a pair has channels first, and the target last; None if unknown."""
    old, new = has_outputs_first(pair.source), has_outputs_first(pair.target)
    if old is not None and new is not None and old != new:
        return old
    axes = pair.steps[0].axes if _is_convolution(pair) else ()  # type: ignore[union-attr]
    return True if axes in _TO_CHANNELS_LAST else False if axes in _TO_CHANNELS_FIRST else None


def _decided_layout(pair: Pair, pairs: Iterable[Pair], shapes: Shapes) -> bool | None:
    """As above, decided by the convolutions of the trees; None if the layouts are the same."""
    kernels = [p for p in pairs if _is_convolution(p)]
    if not kernels:
        has_equal_kernels = any(not p.steps and len(shapes[p.source]) > 2 for p in pairs)
        if has_equal_kernels or pair.source[-1:] == pair.target[-1:]:
            return None
    votes = {_has_channels_first(p) for p in kernels} - {None} or {_has_channels_first(pair)}
    if len(votes) != 1 or None in votes:
        raise ArgumentError(
            f"match: flatten: {join_path(pair.source)!r}: neither convolutions nor names say which "
            "tree has channels first; leave it out, and permute the leaf after KeyMap.apply"
        )
    return votes.pop()


# -- conversion -------------------------------------------------------------------------------


def _reordered(pair: Pair, channels: int, pairs: Iterable[Pair], shapes: Shapes) -> Pair:
    """The pair with its inputs permuted between (channels, positions) and (positions, channels)."""
    shape = shapes[pair.source]
    if len(shape) not in (1, 2) or pair.steps not in ((), _SWAPPED):
        raise ShapeError(
            f"match: flatten: {join_path(pair.source)!r} has the shape {shape}, expected the matrix "
            "or the vector of a layer after a flatten"
        )
    source_is_first = _decided_layout(pair, pairs, shapes)
    if source_is_first is None:
        return pair
    inputs = shape[1] if pair.steps and source_is_first else shape[0]
    if inputs % channels:
        raise ShapeError(
            f"match: flatten: {join_path(pair.source)!r} has {inputs} inputs, expected a multiple of "
            f"the {channels} channels"
        )
    # permute where the inputs are the first axis: in the tree with channels last
    first, last = (channels, inputs // channels), (inputs // channels, channels)
    before, after = (first, last) if source_is_first else (last, first)
    rest = (shape[0] if source_is_first else shape[1],) if pair.steps else shape[1:]
    axes = (1, 0, *range(2, 2 + len(rest)))
    steps: tuple[Step, ...] = (
        Reshape((inputs, *rest), (*before, *rest)),
        Transpose(axes),
        Reshape((*after, *rest), (inputs, *rest)),
    )
    return replace(pair, steps=(*pair.steps, *steps) if source_is_first else (*steps, *pair.steps))


# -- warnings ---------------------------------------------------------------------------------


def _after_convolution(pairs: Iterable[Pair], shapes: Shapes) -> dict[Path, tuple[Pair, int]]:
    """Matrices whose inputs are several positions of the convolution before, and vectors between."""
    found: dict[Path, tuple[Pair, int]] = {}
    channels, source_is_first, vectors = 0, None, []
    for pair in pairs:
        shape = shapes[pair.source]
        if len(shape) < 2:
            vectors.append(pair)
            continue
        if _is_convolution(pair):
            source_is_first = _has_channels_first(pair)
            channels = 0 if source_is_first is None else _outputs(pair, shape, source_is_first)
        else:
            inputs = shape[1] if source_is_first else shape[0]
            if channels and inputs > channels and not inputs % channels and pair.steps == _SWAPPED:
                between = [vector for vector in vectors if shapes[vector.source] == (inputs,)]
                found |= {one.source: (one, channels) for one in (*between, pair)}
            channels = 0
        vectors = []
    return found


def _outputs(pair: Pair, shape: tuple[int, ...], source_is_first: bool) -> int:
    """The number of outputs of a convolution kernel."""
    step = pair.steps[0]
    if not source_is_first:  # to the layout with channels first
        step, shape = step.inverse(), step.shape(shape) or shape
    assert isinstance(step, Transpose)
    is_depthwise = shape[1] == 1
    return shape[0] if step.axes[-2:] == (1, 0) or is_depthwise else shape[1]


def _warn(pair: Pair, channels: int, shape: tuple[int, ...]) -> None:
    name = join_path(pair.source)
    warnings.warn(
        f"match: {name!r} → {join_path(pair.target)!r}: the layer with the shape {shape} follows a "
        f"convolution with {channels} channels, in another layout. After a flatten its inputs have "
        f"another order: give flatten={{{name!r}: {channels}}}. Otherwise flatten={{{name!r}: 1}} "
        "keeps the order",
        stacklevel=5,
    )
