"""Source of models that draw random numbers draws them by the framework's own generator."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.errors import ConversionError
from tests.exporters.styles import needs_mlx

_STYLES = [
    ("torch", None),
    ("jax", None),
    pytest.param("jax", "nnx", marks=pytest.mark.full),
    pytest.param("jax", "equinox", marks=pytest.mark.full),
    pytest.param("tensorflow", None, marks=pytest.mark.full),
    ("numpy", None),
    pytest.param("mlx", None, marks=needs_mlx),
]


class Encoder(nn.Module):
    """A sample of a normal distribution."""

    def __init__(self) -> None:
        super().__init__()
        self.moments = nn.Linear(3, 4)
        self.drop = nn.Dropout(0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean, log_variance = self.moments(self.drop(x)).chunk(2, -1)
        return mean + torch.randn_like(mean) * torch.exp(log_variance / 2)


class Autoencoder(nn.Module):
    """A variational autoencoder with two samples of one class."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.decoder = Encoder(), Encoder(), nn.Linear(2, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.first(x) + self.second(x))


class Sampler(nn.Module):
    """Other distributions."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        weights = torch.softmax(x, -1)
        return (
            torch.rand(300, 400) * 3 - 1,
            torch.randint(2, 7, (300, 400)),
            torch.bernoulli(weights),
            torch.multinomial(weights, 2),
            nn.functional.gumbel_softmax(x, tau=0.5),
        )


@pytest.mark.parametrize(("target", "style"), _STYLES)
def test_open_sizes_modules_and_dropout(target: str, style: str | None, tmp_path: Any) -> None:
    torch.manual_seed(0)
    graph = na.trace_graph(
        Autoencoder(), torch.randn(4, 3), train=True, dynamic={"x": {0: "batch"}}
    )
    assert graph.eject(tmp_path / "net", target, style=style).error < 1e-4
    text = (tmp_path / "net" / "model.py").read_text()
    drawn = {
        "torch": r"torch.randn_like\(\w+\)",
        "jax": r"jax.random.normal\(subkey, \w+.shape\)",
        "tensorflow": r"tf.random.normal\(tf.shape\(\w+\)\)",
        "mlx": r"mx.random.normal\(shape=\w+.shape\)",
        "numpy": r"rng.standard_normal\(\w+.shape, dtype=np.float32\)",
    }[target]
    assert len(re.findall(drawn, text)) == 1, text  # one class for both encoders


@pytest.mark.parametrize(("target", "style"), _STYLES)
def test_other_distributions(target: str, style: str | None, tmp_path: Any) -> None:
    graph = na.trace_graph(Sampler(), torch.randn(5, 6), train=True)
    assert graph.eject(tmp_path / "net", target, style=style).error < 1e-4


@pytest.mark.parametrize("target", ["torch", "jax", "numpy"])
def test_the_numbers_have_their_distribution(target: str, tmp_path: Any) -> None:
    graph = na.trace_graph(Sampler(), torch.zeros(20_000, 6), train=True)
    graph.eject(tmp_path / "net", target)
    space: dict[str, Any] = {"__file__": str(tmp_path / "net" / "model.py")}
    exec((tmp_path / "net" / "model.py").read_text(), space)
    model, x = space["load"](), na.to_backend(np.zeros((20_000, 6), np.float32), target)
    if target == "torch":
        torch.manual_seed(0)
        outputs = model(x)
    else:
        generator = jax.random.key(0) if target == "jax" else np.random.default_rng(0)
        outputs = space["sampler"](model, x, generator)
    uniform, integers, chosen, drawn, soft = map(np.asarray, outputs)
    assert -1 <= uniform.min() < -0.99
    assert 1.99 < uniform.max() <= 2
    # the means of 120,000 fixed draws: the standard errors are below 0.003
    np.testing.assert_allclose(uniform.mean(), 0.5, atol=0.01)
    np.testing.assert_array_equal(np.unique(integers), [2, 3, 4, 5, 6])
    np.testing.assert_allclose(chosen.mean(), 1 / 6, atol=0.01)
    assert (drawn[:, 0] != drawn[:, 1]).all()
    np.testing.assert_allclose(soft.sum(-1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(soft.mean(0), 1 / 6, atol=0.01)


def test_keys_that_are_arguments_give_the_numbers_of_jax(tmp_path: Any) -> None:
    def noisy(key: Any, x: Any) -> Any:
        first, second = jax.random.split(key)
        third = jax.random.fold_in(second, 3)
        y = x + jax.random.normal(first, x.shape) + jax.random.uniform(second, (3,), minval=-1.0)
        return y + jax.random.bernoulli(third, 0.3, (3,))

    key, x = jax.random.key(0), jnp.ones((2, 3))
    graph = na.trace_graph(noisy, key, x)
    assert graph.eject(tmp_path / "net", "jax").error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    for call in ("jax.random.split(key)", "jax.random.fold_in(", "jax.random.normal("):
        assert call in text
    space: dict[str, Any] = {"__file__": str(tmp_path / "net" / "model.py")}
    exec(text, space)
    for seed in (jax.random.key(1), jax.random.PRNGKey(1)):  # of both kinds
        got, want = space["noisy"]({}, seed, x), noisy(seed, x)
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert graph.eject(tmp_path / "other", "torch").error < 1e-5
    assert "torch.randn_like(x)" in (tmp_path / "other" / "model.py").read_text()


def test_other_uses_of_keys_are_refused() -> None:
    class Shuffled(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x[torch.randperm(3)]

    graph = na.trace_graph(Shuffled(), torch.ones(3), train=True)
    with pytest.raises(ConversionError, match="uses a random key, and source code can draw"):
        graph.to_source("torch", standalone=True)


@pytest.mark.parametrize(
    "draw", [torch.rand_like, torch.bernoulli, lambda x: torch.randint(2, 9, x.shape) * x]
)
def test_random_numbers_whose_count_values_decide(draw: Any, tmp_path: Any) -> None:
    class Noisy(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            kept = x[x > 0]
            return kept + draw(kept)

    graph = na.trace_graph(Noisy(), torch.tensor([0.5, -1.0, 0.2, -0.1]))
    assert graph.eject(tmp_path / "net", "torch").error == 0


@pytest.mark.parametrize("target", ["torch", "tensorflow", "jax", "numpy"])
def test_seeds_that_keras_counts_are_no_state(target: str, tmp_path: Any) -> None:
    keras.utils.clear_session()
    layers = [keras.layers.Dense(4), keras.layers.Dropout(0.3), keras.layers.GaussianNoise(0.1)]
    net = keras.Sequential([keras.Input((4,)), *layers])
    graph = na.trace_graph(net, np.ones((3, 4), np.float32), train=True)
    assert graph.eject(tmp_path / "net", target).error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert "seed" not in text
    assert re.search(r"(?<!self\.)dropout\(", text)
    assert re.search(r"randn_like|random\.normal|standard_normal", text)
    assert "+ 0.0" not in text
