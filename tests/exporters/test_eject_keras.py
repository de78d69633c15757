"""Source for Keras 3 on its three backends, in processes without nestarray."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.exporters.export import example_of
from nestarray.exporters.source.eject import source_of
from nestarray.exporters.source.printing.keras_language import LANGUAGE, ROWS
from tests import models
from tests.exporters.networks import NETWORKS

_BACKENDS = ("jax", "torch", "tensorflow")

#: Loads each folder of the command line, trains the model for a step, saves and loads it.
_ALONE = """
import importlib.util, sys
sys.modules["nestarray"] = None
import keras
import numpy as np

for folder in sys.argv[1:]:
    spec = importlib.util.spec_from_file_location("model", f"{folder}/model.py")
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    net, inputs = model.load(), [*np.load(f"{folder}/inputs.npz").values()]
    before = keras.tree.flatten(net(*inputs))
    net.save(f"{folder}/net.keras")
    loaded = keras.models.load_model(f"{folder}/net.keras")
    after = keras.tree.flatten(loaded(*inputs))
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(*map(keras.ops.convert_to_numpy, (one, other)))
    if len(inputs) == 1 and len(before) == 1:
        net.compile(optimizer=keras.optimizers.SGD(1e-3), loss="mse")
        y, settings = np.zeros(before[0].shape, "float32"), {"batch_size": len(inputs[0]), "verbose": 0}
        losses = net.fit(inputs[0], y, epochs=2, **settings).history["loss"]
        assert losses[1] < losses[0], losses
    keras.backend.clear_session()
"""


@pytest.mark.parametrize("backend", [pytest.param("jax"), *(pytest.param(x, marks=pytest.mark.full) for x in _BACKENDS[1:])])  # fmt: skip
def test_keras_trains_saves_and_loads_on_each_backend(backend: str, tmp_path: Path) -> None:
    for name in ("mlp", "stages", "unet", "bert"):
        net, inputs = NETWORKS[name]() if name in NETWORKS else models.build(name)
        graph = na.trace_graph(net, **inputs)
        graph.eject(tmp_path / name, "keras")
        np.savez(tmp_path / name / "inputs.npz", **example_of(graph).flat)
    folders = [str(path) for path in tmp_path.iterdir()]
    environment = {**os.environ, "KERAS_BACKEND": backend, "PATH": "", "PYTHONPATH": ""}
    subprocess.run([sys.executable, "-c", _ALONE, *folders], check=True, env=environment)


def test_each_row_has_a_function_of_keras() -> None:
    targets = [row for row in ROWS.values() if isinstance(row, str) and row.startswith("keras.")]
    assert all(callable(LANGUAGE.function_of(target)) for target in targets)
