"""Source for Keras 3 on its three backends, in processes without nestarray."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.exporters.export import example_of
from nestarray.exporters.source.eject import source_of
from nestarray.exporters.source.printing.keras_language import LANGUAGE
from nestarray.exporters.source.printing.keras_rows import ROWS
from tests import models
from tests.exporters.networks import NETWORKS, torch_kernel

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
    if len(before) == 1:  # its sum of squares is the loss
        loss = lambda y, output: keras.ops.sum(output * output)
        net.compile(optimizer=keras.optimizers.SGD(1e-3), loss=loss)
        net.fit(inputs[0], inputs[0], batch_size=len(inputs[0]), verbose=0)
        weights = {k: model.part_of(net, k) for k in model.load_file(model.WEIGHTS)}
        weights = {k: keras.ops.convert_to_numpy(x) for k, x in weights.items()}
        np.savez(f"{folder}/fitted.npz", **weights)
    keras.backend.clear_session()
"""


@pytest.mark.parametrize(
    "backend", ["jax", *(pytest.param(x, marks=pytest.mark.full) for x in ("torch", "tensorflow"))]
)
def test_keras_trains_saves_and_loads_on_each_backend(backend: str, tmp_path: Path) -> None:
    graphs = {}
    for name in ("mlp", "stages", "unet", "bert"):
        net, inputs = NETWORKS[name]() if name in NETWORKS else models.build(name)
        graphs[name] = na.trace_graph(net, **inputs)
        graphs[name].eject(tmp_path / name, "keras")
        np.savez(tmp_path / name / "inputs.npz", **example_of(graphs[name]).flat)
    folders = [str(path) for path in tmp_path.iterdir()]
    environment = {**os.environ, "KERAS_BACKEND": backend, "PATH": "", "PYTHONPATH": ""}
    subprocess.run([sys.executable, "-c", _ALONE, *folders], check=True, env=environment)
    for name, graph in graphs.items():
        if name != "bert":  # of several outputs
            _check_step(graph, np.load(tmp_path / name / "fitted.npz"))


def _check_step(graph: na.graph.Graph, weights: Any) -> None:
    """Compare the weights after a step of descent with those of the graph."""
    args, kwargs = example_of(graph).on("torch")
    _, grads = na.value_and_grad(lambda v: (graph(*args, v=v, **kwargs) ** 2).sum())(graph.v)
    for name, value in source_of(graph, "keras", "keras").variables.items():
        if value.source == "v":
            path, new = value.path.replace("kernel", "weight"), weights[name]
            new = torch_kernel(new) if name.endswith(".kernel") else new
            step = np.asarray(graph.v[path]) - new
            # the difference of float32 weights has an error of their last digits
            largest = max(1.0, float(abs(grads[path]).max()))
            np.testing.assert_allclose(step, 1e-3 * grads[path], rtol=1e-3, atol=1e-6 * largest)


def test_each_row_has_a_function_of_keras() -> None:
    targets = [row for row in ROWS.values() if isinstance(row, str) and row.startswith("keras.")]
    assert all(callable(LANGUAGE.function_of(target)) for target in targets)
