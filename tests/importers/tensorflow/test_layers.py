"""Every layer, loss, metric and optimizer of Keras becomes a graph that computes and trains the same."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import jax
import keras
import pytest

from tests.importers.tensorflow import layers

TARGETS = ("numpy", "torch", "jax")
#: A part of the layers, with which `make test` runs.
FEW_LAYERS = (
    "BatchNormalization", "Conv1DTranspose", "DepthwiseConv2D", "Dropout", "EinsumDense",
    "GroupNormalization", "MultiHeadAttention", "SeparableConv1D", "SpectralNormalization",
    "TimeDistributed",
)  # fmt: skip
#: The layers that compute in float64, or draw by 64-bit integers, which JAX has on request.
NEED_64_BITS = ("AugMix", "Equalization", "RandAugment", "RandomPosterization")


@pytest.mark.parametrize("name", FEW_LAYERS)
def test_some_layers(name: str) -> None:
    layer, inputs = layers.build(name)
    layers.verify(layer, inputs, "torch", train=True)


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("name", layers.LAYERS)
def test_layers(name: str, train: bool, target: str) -> None:
    layer, inputs = layers.build(name)
    with jax.enable_x64(name in NEED_64_BITS):
        layers.verify(layer, inputs, target, train=train)


@pytest.mark.parametrize("name", ["BinaryFocalCrossentropy", "Huber"])
def test_some_losses(name: str) -> None:
    layers.verify(layers.Loss(name), layers.LOSSES[name][1:], "torch")


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", layers.LOSSES)
def test_losses(name: str, target: str) -> None:
    layers.verify(layers.Loss(name), layers.LOSSES[name][1:], target)


@pytest.mark.parametrize("name", ["F1Score", "R2Score"])
def test_some_metrics(name: str) -> None:
    layers.verify(layers.Metric(name), layers.METRICS[name][1:], "numpy")


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", layers.METRICS)
def test_metrics(name: str, target: str) -> None:
    layers.verify(layers.Metric(name), layers.METRICS[name][1:], target)


@pytest.mark.parametrize("name", ["AdamW", "SGD"])
def test_some_steps_of_optimizers(name: str) -> None:
    layers.verify(layers.Step(name), layers.STEP_INPUTS, "torch")


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", layers.OPTIMIZERS)
def test_steps_of_optimizers(name: str, target: str) -> None:
    layers.verify(layers.Step(name), layers.STEP_INPUTS, target)


def _classes(module: Any, *without: str) -> set[type]:
    """The public classes of a module, which have several names, but for some."""
    found = {cls for _, cls in inspect.getmembers(module, inspect.isclass)}
    return found - _named(module, without)


def _named(module: Any, names: Iterable[str]) -> set[type]:
    return {getattr(module, name) for name in names}


def test_every_public_class_has_an_example() -> None:
    module = keras.layers
    assert _classes(module, *layers.OMITTED) == _named(module, layers.LAYERS)
    module = keras.losses
    assert _classes(module, "Loss") == _named(module, layers.LOSSES)
    module = keras.metrics
    bases = ("Metric", "Mean", "Sum", "MeanMetricWrapper")
    assert _classes(module, *bases) == _named(module, layers.METRICS)
    module = keras.optimizers
    assert _classes(module, "Optimizer", "MultiOptimizer", "OptimizerMap") == _named(
        module, layers.OPTIMIZERS
    )
