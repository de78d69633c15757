"""Names in stand-alone source: of the checkpoint, of attributes and of arguments."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import nestarray as na
from tests.exporters.styles import STYLES, TARGETS, needs_mlx


class Lists(torch.nn.Module):
    """Lists of dicts of layers and of parameters."""

    def __init__(self) -> None:
        super().__init__()
        layers = [
            {"norm": torch.nn.LayerNorm(4), "up": torch.nn.Linear(4, 4)},
            {"norm": torch.nn.LayerNorm(4), "up": torch.nn.Linear(4, 4)},
        ]
        self.layers = torch.nn.ModuleList(map(torch.nn.ModuleDict, layers))
        self.last = torch.nn.ModuleList([torch.nn.ModuleDict(layers[1]), torch.nn.Linear(4, 4)])
        self.scales = torch.nn.ParameterList([torch.ones(4), torch.ones(4), torch.ones(4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(4, 4) → (4, 4)."""
        for scale, layer in zip(self.scales, self.layers, strict=False):
            x = x + scale * torch.relu(layer["up"](layer["norm"](x)))
        return self.last[1](x + self.last[0]["up"](x))


@pytest.mark.parametrize(
    "style", ["torch", "functional", "equinox", "module", pytest.param("mlx", marks=needs_mlx)]
)
def test_items_of_lists_that_are_no_modules_with_a_call(style: str, tmp_path: Path) -> None:
    net = Lists()
    na.trace_graph(net, torch.ones(4, 4)).eject(tmp_path / "net", TARGETS[style], style=style)
    if style == "torch":
        model = runpy.run_path(str(tmp_path / "net" / "model.py"))["load"]()
        assert model.state_dict().keys() == net.state_dict().keys()


class Lambda(torch.nn.Module):
    """A part whose name is a word of Python in lower case."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * 2 + x


class LayerNorm(torch.nn.Module):
    """A model with the name of a function that the source defines for a part of it."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = torch.nn.Sequential(torch.nn.Linear(2, 4), Lambda(), torch.nn.LayerNorm(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.parts(x) + 1.0


class Load(LayerNorm):
    """A model with the name of a function of each source."""


class Path_(LayerNorm):
    """A model with the name of an import of each source."""


Path_.__name__ = "Path"


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", [LayerNorm, Load, Path_])
def test_models_may_have_names_of_the_source(
    kind: type[torch.nn.Module], style: str, tmp_path: Path
) -> None:
    graph = na.trace_graph(kind(), torch.ones(3, 2))
    graph.eject(tmp_path / "net", TARGETS[style], style=style)


@pytest.mark.parametrize(
    "style", ["torch", "nnx", "equinox", "module", pytest.param("mlx", marks=needs_mlx)]
)
def test_attributes_do_not_begin_with_two_underscores(style: str, tmp_path: Path) -> None:
    """Python changes such names in classes; Haiku has them for stacked layers."""
    x = jnp.ones((2, 4))
    stack = hk.transform(lambda x: hk.experimental.layer_stack(2)(lambda x: hk.Linear(4)(x))(x))
    graph = na.trace_graph(stack, x, params=stack.init(jax.random.key(0), x))
    graph.eject(tmp_path / "net", TARGETS[style], style=style)


class Regularized(torch.nn.Module):
    """A sequence with dropout, a list of which one item is not called, a buffer for itself."""

    def __init__(self) -> None:
        super().__init__()
        linear = torch.nn.Linear
        self.register_buffer("ids", torch.arange(4), persistent=False)
        self.register_buffer("table", torch.tensor([3.0, 1.0, 4.0, 1.0]), persistent=False)
        self.head = torch.nn.Sequential(linear(4, 4), torch.nn.Dropout(), linear(4, 3))
        self.layers = torch.nn.ModuleList([linear(4, 4), torch.nn.Identity(), linear(4, 4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        for layer in self.layers:
            x = x + F.relu(layer(x))
        return self.head(x + self.ids * self.table)


class Tied(torch.nn.Module):
    """Names of one parameter, of which one is of a module that is not called; a dict of modules."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = torch.nn.Linear(4, 4, bias=False)
        parts = {name: torch.nn.Linear(4, 4, bias=False) for name in ("encode", "decode")}
        self.parts = torch.nn.ModuleDict(parts)
        self.decoder = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
        for part in (*parts.values(), self.decoder[0]):
            part.weight = self.shared.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """A network of which all layers have one weight."""
        return self.decoder(F.relu(self.parts["decode"](self.parts["encode"](x))))


class Unused(torch.nn.Module):
    """A list and a module of which a call uses a part."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4), torch.nn.LayerNorm(4)])
        self.scale = torch.nn.Parameter(torch.ones(4))
        self.register_buffer("steps", torch.zeros(2))
        self.pooler = torch.nn.BatchNorm1d(4)
        self.tower = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(3)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The first layer."""
        return self.layers[0](x)


class Parametrized(torch.nn.Module):
    """Layers whose weights are computed of other parameters."""

    def __init__(self) -> None:
        super().__init__()
        rules = torch.nn.utils.parametrizations
        self.scaled = rules.weight_norm(torch.nn.Linear(4, 5))
        self.bounded = rules.spectral_norm(torch.nn.Linear(5, 4))
        self.rotated = rules.orthogonal(torch.nn.Linear(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Three layers."""
        return self.rotated(self.bounded(self.scaled(x)))


class Frozen(torch.nn.Module):
    """Statistics without a counter, of a normalization that is written by hand, and with one."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("running_mean", torch.rand(4))
        self.register_buffer("running_var", 1.0 + torch.rand(4))
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Two normalizations."""
        return self.norm((x - self.running_mean) * (self.running_var + 1e-5).rsqrt())


@pytest.mark.parametrize("kind", [Regularized, Tied, Parametrized, Unused, Frozen])
def test_names_of_a_torch_source_stay(kind: type[torch.nn.Module], tmp_path: Path) -> None:
    torch.manual_seed(0)
    net, x = kind().eval(), torch.ones(2, 4)
    na.trace_graph(net, x).eject(tmp_path / "net", "torch")
    path = tmp_path / "net" / "model.py"
    module: dict[str, Any] = {"__file__": str(path)}
    exec(compile(path.read_text(), "model.py", "exec"), module)
    ejected = module["load"]()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 1.0
    assert ejected.load_state_dict(net.state_dict()) == ([], [])
    torch.testing.assert_close(ejected(x), net(x))
    shared = [parameter.shape for parameter in ejected.parameters()]
    assert sorted(shared) == sorted(parameter.shape for parameter in net.parameters())


def test_equal_layers_that_no_call_uses_are_one_item() -> None:
    text = na.trace_graph(Unused().eval(), torch.ones(2, 4)).to_source("torch", standalone=True)
    assert '**{f"tower.{i}.bias": nn.Parameter(torch.empty(4)) for i in range(3)},' in text
    assert '"layers.1.bias": nn.Parameter(torch.empty(4)),' in text


@pytest.mark.parametrize("target", ["torch", "jax"])
def test_inputs_have_names_that_python_allows(target: str, tmp_path: Path) -> None:
    params = {"mlp/w": np.ones(2, "float32"), "mlp_w": np.ones(2, "float32")}
    graph = na.trace_graph(lambda params: params["mlp/w"] - params["mlp_w"], params)
    graph.eject(tmp_path / "net", target)
    assert "params_mlp_w, params_mlp_w_2" in (tmp_path / "net" / "model.py").read_text()


def test_tied_layers_read_as_in_pytorch() -> None:
    text = na.trace_graph(Tied().eval(), torch.ones(2, 4)).to_source("torch", standalone=True)
    assert "self.parts.decode = nn.Linear(4, 4, bias=False)" in text
    assert "self.parts.decode.weight = self.parts.encode.weight" in text
    assert "self.decoder[0].weight = self.parts.encode.weight" in text
    assert 'weights["shared.weight"] = weights["parts.encode.weight"]' in text


class Heads(nn.Module):
    """Heads of attention, whose number differs between layers."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.query = heads, nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        y = self.query(x).reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
        return (y @ y.transpose(-1, -2) @ y).transpose(1, 2).reshape(batch, length, width)


def test_sizes_are_named_by_their_meaning() -> None:
    net = nn.Sequential(Heads(8, 2), nn.Linear(8, 12), Heads(12, 3), Heads(12, 2))
    text = na.trace_graph(net, torch.rand(2, 3, 8)).to_source("torch", standalone=True)
    assert "def __init__(self, heads, head_size, size):" in text
    assert "Heads(heads=3, head_size=4, size=12)" in text


def test_rows_of_loops_are_named_after_their_arrays() -> None:
    def layers(params: Any, x: Any) -> Any:
        def layer(x: Any, own: Any) -> Any:
            return jnp.tanh(x @ own["up"]["kernel"]) @ own["down"]["kernel"], None

        return jax.lax.scan(layer, x, params)[0]

    params = {"up": {"kernel": jnp.ones((3, 2, 4))}, "down": {"kernel": jnp.ones((3, 4, 2))}}
    graph = na.trace_graph(layers, params, jnp.ones((1, 2)), v="params")
    text = graph.to_source("torch", standalone=True)
    assert "for down_kernel_t, up_kernel_t in zip(self.down.kernel, self.up.kernel):" in text
    assert "x = torch.tanh(x @ up_kernel_t) @ down_kernel_t" in text


def test_open_sizes_are_written_where_arrays_are_made() -> None:
    def masked(x: Any) -> Any:
        n = x.shape[1]
        fill = jnp.full((2, 3, n, n), -2e38, jnp.float32)
        return jnp.where(x[:, None, :, None] > 0, fill, x[:, None, None, :])

    graph = na.trace_graph(masked, jnp.ones((2, 5)), dynamic={"x": {1: "n"}})
    text = graph.to_source("torch", standalone=True)
    size = "(2, 3, x.shape[1], x.shape[1]), -2e38, dtype=torch.float32, device=x.device"
    assert f"h = torch.full({size})" in " ".join(text.split()).replace("( ", "(").replace(" )", ")")
