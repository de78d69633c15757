"""The example scripts run and give the results that they claim."""

from __future__ import annotations

import functools
import math
import runpy
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

import nestarray as na
from examples import (
    cart_pole_ppo,
    character_transformer,
    digit_diffusion,
    gaussian_process,
    graph_classification,
    lora_in_jax,
    speech_ctc,
    text_generation,
)
from nestarray.demo import flax_in_torch, keras_in_torch

#: The examples that train a network on any backend, and the steps after which the loss is lower.
TRAINED: dict[Any, int] = {
    cart_pole_ppo: 9,
    character_transformer: 9,
    digit_diffusion: 9,
    graph_classification: 18,
    speech_ctc: 9,
}


def name_of(program: ModuleType | float) -> str:
    return getattr(program, "__name__", str(program)).rpartition("examples.")[2]


@pytest.mark.release
def test_adapters_trained_in_jax_improve_the_model_in_torch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, after = lora_in_jax.main(steps=20)
    assert after < 0.95 * before
    printed = capsys.readouterr().out
    assert printed.startswith("8 changed; 28 leaves → 28\n")
    assert "16 leaves, 4096 numbers trained" in printed


@pytest.mark.full
@pytest.mark.release
def test_a_decoder_generates_the_same_tokens_in_jax() -> None:
    native, likeliest, drawn = text_generation.main()
    assert likeliest == native
    assert drawn != native
    assert all(len(set(row)) > 3 for row in native)


# torch's own, where Inductor lowers a diagonal
@pytest.mark.release
@pytest.mark.filterwarnings("ignore:`torch._prims_common.check` is deprecated:FutureWarning")
@pytest.mark.parametrize(
    "backend",
    [
        "numpy",
        pytest.param("jax", marks=pytest.mark.full),
        pytest.param("torch", marks=pytest.mark.full),
        pytest.param("tensorflow", marks=pytest.mark.full),
    ],
)
def test_the_gaussian_process_is_that_of_scikit_learn(backend: str) -> None:
    x, y = gaussian_process.data()
    p = gaussian_process.main(backend)
    length, scale, noise = (math.exp(p[name]) for name in ("length", "scale", "noise"))
    oracle = GaussianProcessRegressor(
        kernels.ConstantKernel(scale) * kernels.RBF(length) + kernels.WhiteKernel(noise),
        optimizer=None,  # type: ignore[arg-type]
    ).fit(x.astype("float64"), y.astype("float64"))
    own_x, own_y = na.to_backend(x, backend), na.to_backend(y, backend)
    found = gaussian_process.log_likelihood(p, own_x, own_y)
    assert float(found) == pytest.approx(oracle.log_marginal_likelihood_value_, rel=1e-3)
    start = p * 0.0
    assert float(found) > float(gaussian_process.log_likelihood(start, own_x, own_y)) + 10.0
    new = np.linspace(-2.0, 2.0, 10, dtype="float32").reshape(5, 2)
    mean = gaussian_process.predict(p, own_x, own_y, na.to_backend(new, backend))
    np.testing.assert_allclose(na.to_backend(mean, "numpy"), oracle.predict(new), atol=2e-3)


@functools.cache
def losses_on_numpy(program: Any) -> list[float]:
    return program.main("numpy", TRAINED[program])


@pytest.mark.release
@pytest.mark.parametrize("program", TRAINED, ids=name_of)
def test_a_network_learns_in_a_few_steps(program: Any) -> None:
    losses = losses_on_numpy(program)
    assert len(losses) == TRAINED[program]
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.release
@pytest.mark.parametrize(
    "backend",
    [
        "torch",
        pytest.param("jax", marks=pytest.mark.full),
        pytest.param("tensorflow", marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("program", TRAINED, ids=name_of)
def test_the_losses_of_a_network_agree(program: Any, backend: str) -> None:
    expected = losses_on_numpy(program)[:5]
    assert program.main(backend, steps=5) == pytest.approx(expected, rel=2e-6)


@pytest.mark.full
@pytest.mark.release
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
@pytest.mark.parametrize("program", [character_transformer, digit_diffusion], ids=name_of)
def test_frameworks_generate_the_same(
    program: Any, backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The text or the images are printed after a line with the losses."""
    printed = {}
    for name in ("numpy", backend):
        program.main(name, steps=2)
        printed[name] = capsys.readouterr().out.partition("\n")[2]
    assert len(printed["numpy"]) > 60
    assert printed[backend] == printed["numpy"]


@pytest.mark.full
@pytest.mark.release
@pytest.mark.parametrize(
    ("program", "share"),
    [
        (cart_pole_ppo, 0.2),
        (character_transformer, 0.4),
        (digit_diffusion, 0.15),
        (speech_ctc, 0.05),
    ],
    ids=name_of,
)
def test_a_complete_run_learns(program: Any, share: float) -> None:
    losses = program.main("jax")
    assert np.mean(losses[-5:]) < share * losses[0]


@pytest.mark.release
def test_an_example_runs_as_a_script(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = graph_classification.__file__
    monkeypatch.setattr(sys, "argv", [path, "--backend", "numpy"])
    runpy.run_path(path, run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.startswith("numpy: loss 1.14")
    assert printed.endswith("95% of new graphs are right\n")


@pytest.mark.full
@pytest.mark.release
@pytest.mark.parametrize(
    ("program", "name"), [(flax_in_torch, "Network"), (keras_in_torch, "Sequential")]
)
def test_a_network_is_fine_tuned_in_torch(
    program: Any, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = program.run(epochs=3, tuning_epochs=3)
    assert figures["agrees"]
    assert figures["learned"] > 0.8
    assert figures["after"] > figures["before"] + 0.15
    assert f"in PyTorch: {name} on torch (eval): agrees" in capsys.readouterr().out
