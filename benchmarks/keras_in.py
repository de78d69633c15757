"""Keras models in PyTorch and JAX, against the same networks in PyTorch and on Keras' JAX backend.

Keras has one backend a process, so the models on its JAX backend run in a process of their own,
beside the graph of the same model on TensorFlow.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable

NAMES = ("ResNet50", "EfficientNetB0")
#: Images and their size.
BATCH, SIZE = 4, 128


def tables() -> list[Table]:
    """PyTorch, then JAX."""
    return [on_torch(), on_jax()]


def _images() -> np.ndarray:
    return np.random.default_rng(0).random((BATCH, SIZE, SIZE, 3), "float32")


def _model(name: str) -> Any:
    import keras

    return getattr(keras.applications, name)(weights=None, input_shape=(SIZE, SIZE, 3))


def on_torch() -> Table:
    """Forward and backward, of the converted ``torch.nn.Module`` and of a twin."""
    import torch

    from benchmarks.torch_twins import TWINS

    table = Table(
        "Keras in: forward and backward in PyTorch",
        ["", "written for PyTorch", "converted", "ratio"],
        f"{BATCH} images of {SIZE} × {SIZE}, eager. torchvision has no files for a PyTorch without "
        "CUDA here, so the peer is the network in modules of PyTorch, as torchvision writes it.",
    )
    x = torch.from_numpy(_images())
    for name in NAMES:
        converted = na.to_module(_model(name), x.numpy()).to_torch_module()
        for train in (False, True):
            twin = TWINS[name]().train(train)
            runs = {
                "twin": _step(twin, x.movedim(-1, 1).contiguous()),
                "converted": _step(converted.train(train), x),
            }
            times = compare(runs, rounds=7, at_least=0.0)
            mode = "training" if train else "evaluation"
            table.add(f"{name}, {mode}", *map(readable, times.values()),
                      ratio(times["converted"], times["twin"]))  # fmt: skip
    return table


def _step(net: Any, x: Any) -> Callable[[], Any]:
    import torch

    parameters = list(net.parameters())
    return lambda: torch.autograd.grad(net(x).square().mean(), parameters)


def on_jax() -> Table:
    """The forward pass under ``jax.jit``, and Keras on its JAX backend."""
    table = Table(
        "Keras in: forward pass under jax.jit",
        ["", "Keras on JAX", "converted", "ratio", "optimized", "ratio"],
        f"{BATCH} images of {SIZE} × {SIZE}, with the same weights, which are arguments of both.",
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            model = _model(name)
            model.save(f"{folder}/{name}.keras")
            na.trace_graph(model, _images()).save(f"{folder}/{name}.npz")
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.keras_in", folder],
            env={**os.environ, "KERAS_BACKEND": "jax"}, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    for name, times in json.loads(run.stdout.splitlines()[-1]).items():
        cells = [readable(times["Keras"])]
        for each in ("converted", "optimized"):
            cells += [readable(times[each]), ratio(times[each], times["Keras"])]
        table.add(name, *cells)
    return table


def _times_on_jax(folder: str) -> dict[str, dict[str, float]]:
    """Name → candidate → seconds, in a process whose Keras runs on JAX."""
    import jax
    import jax.numpy as jnp
    import keras

    found = {}
    x = jnp.asarray(_images())
    for name in NAMES:
        model = keras.saving.load_model(f"{folder}/{name}.keras")
        graph = na.Graph.load(f"{folder}/{name}.npz", backend="jax")
        weights = [
            [variable.value for variable in variables]
            for variables in (model.trainable_variables, model.non_trainable_variables)
        ]
        keras_call = jax.jit(lambda x, *weights, model=model: model.stateless_call(*weights, x)[0])
        runs = {
            "Keras": lambda x, call=keras_call, weights=weights: call(x, *weights),
            "converted": graph.compile(),
            "optimized": graph.optimize().compile(),
        }
        want = runs["Keras"](x)
        for run in runs.values():
            np.testing.assert_allclose(run(x), want, rtol=1e-2, atol=1e-5)
        calls = {label: lambda f=f: jax.block_until_ready(f(x)) for label, f in runs.items()}
        found[name] = compare(calls, rounds=9, at_least=0.0)
    return found


if __name__ == "__main__":
    print(json.dumps(_times_on_jax(sys.argv[1])))
