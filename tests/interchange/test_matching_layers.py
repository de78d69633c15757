"""match: a layer of each kind computes the same in each library."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, StructureError
from tests.interchange.layers import (
    IMAGE,
    LAYERS,
    SEQUENCE,
    TOKENS,
    VOLUME,
    Network,
    of_haiku,
    of_keras,
    of_linen,
    of_torch,
)


def input_of(kind: str) -> np.ndarray:
    if "embedding" in kind:
        return TOKENS
    if "3d" in kind:
        return VOLUME
    return IMAGE if "2d" in kind or kind in ("batch norm", "group norm") else SEQUENCE


def agree(source: Network, target: Network, keymap: na.KeyMap, x: np.ndarray) -> None:
    """Both compute the same, and the source with weights that went there and back."""
    expected = source.call(source.variables, x)
    result = target.call(keymap.apply(source.variables), x)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    back = keymap.invert().apply(keymap.apply(source.variables))
    again = source.call(source.variables.update(back), x)
    np.testing.assert_allclose(again, expected, rtol=1e-4, atol=1e-5)


def inputs_of(a: Network, b: Network, x: np.ndarray) -> dict[str, np.ndarray]:
    """One example for each model that takes one."""
    networks = {"source": a, "target": b}
    return {side: n.inputs(x) for side, n in networks.items() if n.inputs is not None}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("kind", LAYERS)
def test_models_decide_the_layouts(kind: str, tmp_path: Path) -> None:
    x = input_of(kind)
    networks = {name: build() for name, build in LAYERS[kind]().items()}
    torch = networks.pop("torch")
    for other in networks.values():
        for a, b in ((torch, other), (other, torch)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # outputs that differ
                keymap = a.variables.match(
                    b.variables, source=a.model, target=b.model, check=inputs_of(a, b, x[:1])
                )
            agree(a, b, keymap, x)
            keymap.save(tmp_path / "map.json")
            assert na.KeyMap.load(tmp_path / "map.json") == keymap


RECURRENT = [kind for kind in LAYERS if any(name in kind for name in ("LSTM", "GRU", "RNN"))]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("kind", RECURRENT)
def test_names_tell_recurrent_layers(kind: str) -> None:
    networks = {name: build() for name, build in LAYERS[kind]().items()}
    torch = networks.pop("torch")
    for other in networks.values():
        agree(torch, other, torch.variables.match(other.variables), SEQUENCE)
        agree(other, torch, other.variables.match(torch.variables), SEQUENCE)


def test_a_depthwise_kernel_keeps_height_and_width() -> None:
    layers = LAYERS["depthwise conv2d, square"]()
    a, b = layers["torch"](), layers["keras"]()
    agree(a, b, a.variables.match(b.variables), IMAGE)


def test_another_formula_is_refused() -> None:
    """A GRU that resets the state before the product is another function."""
    import haiku as hk
    import keras
    from torch import nn

    torch = of_torch(nn.GRU(4, 3, batch_first=True))
    before = of_keras(keras.layers.GRU(3, reset_after=False, return_sequences=True), SEQUENCE)
    core = of_haiku(lambda x: hk.GRU(3)(x[:, 0], hk.GRU(3).initial_state(len(x)))[0], SEQUENCE)
    for other in (before, core):
        keymap = torch.variables.match(other.variables)
        with pytest.raises(StructureError, match="unmatched"):
            keymap.apply(torch.variables)
    agree_of_keras = before.variables.match(before.variables)
    assert not any(pair.steps for pair in agree_of_keras.pairs)


def transposed() -> tuple[Network, Network]:
    layers = LAYERS["transposed conv2d, square"]()
    return layers["torch"](), layers["linen"]()


def test_square_kernels_of_transposed_convolutions_are_not_guessed() -> None:
    torch, linen = transposed()
    target = linen.variables.rename({"params": "ConvTranspose_0"})
    keymap = torch.variables.match(target)
    assert set(keymap.ambiguous) == {"weight"}
    keymap = torch.variables.match(linen.variables, layers={"weight": "transposed convolution"})
    assert set(keymap.ambiguous) == {"weight"}  # Flax has it in two ways
    keymap = torch.variables.match(linen.variables, target=linen.model, check={"target": IMAGE})
    agree(torch, linen, keymap, IMAGE)


def test_kinds_decide_without_models() -> None:
    old, new = na.Container(x=np.ones((8, 1, 3, 3))), na.Container(y=np.ones((3, 3, 8, 1)))
    assert set(old.match(new).ambiguous) == {"x"}
    keymap = old.match(new, layers={"x": "depthwise"})
    assert [str(step) for step in keymap.pairs[0].steps] == ["transpose [2, 3, 0, 1]"]


def test_a_check_reports_other_outputs() -> None:
    import keras
    from torch import nn

    torch = of_torch(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    other = of_keras(keras.layers.Dense(4, activation="relu"), SEQUENCE)
    before = [np.array(value) for value in other.model.get_weights()]
    with pytest.warns(
        UserWarning, match=r"match: check: the outputs of both models differ by up to"
    ):
        torch.variables.match(
            other.variables, source=torch.model, target=other.model, check=SEQUENCE
        )
    for value, old in zip(other.model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(value, old)
    with pytest.warns(
        UserWarning, match="the outputs are not compared: KeyMap.apply: 1 leaf of the"
    ):
        torch.variables.match(
            other.variables.exclude("**/bias"),
            source=torch.model,
            target=other.model,
            check=SEQUENCE,
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"source": object()},
            "match: source: got object, expected a torch.nn.Module, a keras.Model",
        ),
        (
            {"layers": {"w": "dense"}},
            "match: layers: 'w': got 'dense', expected one of linear, emb",
        ),
        ({"layers": ["w"]}, "match: layers: got list, expected a dict: path of a kernel → kind"),
        (
            {"layers": {"n": "depthwise"}},
            "match: layers: 'n' is a node, expected the path of a ker",
        ),
        ({"check": {"x": 1}}, "match: check: got the keys 'x', expected 'source' and 'target'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    import torch  # noqa: F401  # a library whose modules are known

    c = na.Container(w=np.ones((2, 2)), n={"b": np.ones(2)})
    with pytest.raises(ArgumentError) as error:
        c.match(c, **arguments)
    assert message in str(error.value)


def test_linen_needs_an_input() -> None:
    import flax.linen as fl

    linen = of_linen(fl.Dense(3), SEQUENCE)
    with pytest.raises(ArgumentError, match="match: target: the layers of a Dense exist in a call"):
        linen.variables.match(linen.variables, target=linen.model)
