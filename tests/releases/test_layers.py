"""Every type of layer of every library, in one behaviour and on one other framework.

A part of the layers is compared with its gradients: these take most of the time.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from importlib import metadata
from typing import Any

import jax
import keras
import pytest

import nestarray as na
from nestarray.versions import numbers
from tests.importers.jax.test_layers import LIBRARIES
from tests.importers.tensorflow import layers
from tests.importers.tensorflow.test_layers import NEED_64_BITS
from tests.importers.torch.test_module_db import LEFT_OUT, RECORDS, prove

pytestmark = pytest.mark.full

#: (library, name of a row) of one row for each class.
LAYERS_OF_JAX = [
    (library, name)
    for library, module in LIBRARIES.items()
    for name in {name.partition("/")[0]: name for name in reversed(module.TABLE)}.values()
]


def turn(name: str, choices: Sequence[Any]) -> Any:
    """One of the choices; the next names have others."""
    return choices[zlib.crc32(name.encode()) % len(choices)]


def skip_before(distribution: str, version: str, reason: str) -> None:
    """Skip a test with an older release, of which a failure is known."""
    installed = metadata.version(distribution)
    if numbers(installed) < numbers(version):
        pytest.skip(f"{distribution} {installed}: {reason}")


@pytest.mark.release("library", "name")
@pytest.mark.parametrize(("library", "name"), LAYERS_OF_JAX)
def test_layer_of_jax(library: str, name: str) -> None:
    train = turn(f"{name} in training", (False, True))
    call = LIBRARIES[library].TABLE[name].make(train)
    graph = na.trace_graph(call.source, *call.args, train=train, **call.kwargs)
    backend = turn(name, ("numpy", "torch", "tensorflow"))
    has_gradients = turn(f"gradients of {name}", (True, False, False))
    report = graph.to_backend(backend).verify(nodes=False, gradients=has_gradients)
    assert report.ok, str(report)
    assert report.outputs


@pytest.mark.release("name")
@pytest.mark.parametrize("name", [name for name in RECORDS if name not in LEFT_OUT])
def test_module_of_torch(name: str) -> None:
    backend = turn(name, ("numpy", "jax", "tensorflow"))
    assert prove(name, backend, turn(f"{name} in training", (False, True)), 1)


@pytest.mark.release("name")  # later releases have more layers
@pytest.mark.parametrize("name", [name for name in layers.LAYERS if hasattr(keras.layers, name)])
def test_layer_of_keras(name: str) -> None:
    layer, inputs = layers.build(name)
    train = turn(f"{name} in training", (False, True))
    graph = na.trace_graph(layer, *inputs, train=train)
    has_gradients = turn(f"gradients of {name}", (True, False, False))
    with jax.enable_x64(name in NEED_64_BITS):
        report = graph.to_backend(turn(name, ("numpy", "torch", "jax"))).verify(
            nodes=False, gradients=has_gradients
        )
    assert report.ok, str(report)
    assert report.outputs
