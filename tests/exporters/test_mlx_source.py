"""Source for MLX: the spelling of JAX's calls, layers, weights, and what MLX lacks."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import nestarray as na
from nestarray.errors import ConversionError
from tests.exporters.styles import lint

pytest.importorskip("mlx", reason="MLX has no wheel for this platform")


def _body(graph: na.Graph) -> str:
    """The text of the method of a model."""
    text = graph.to_source("mlx", standalone=True)
    return text[text.rindex("    def __call__") : text.index("def load")].strip()


def _calls(x: Any) -> Any:
    y = torch.clamp(torch.roll(x, 1, 1), max=0.5).float()
    order = torch.argsort(y, dim=1)
    return F.gelu(y, approximate="tanh"), y.amax(1), torch.full((2,), 3.0), order


def test_calls_have_the_names_and_arguments_of_mlx(tmp_path: Path) -> None:
    graph = na.trace_graph(_calls, torch.randn(2, 3))
    assert graph.eject(tmp_path / "net", "mlx").error < 1e-6
    body = _body(graph)
    assert "mx.clip(mx.roll(x, 1, axis=1), None, 0.5)" in body, body
    assert "nn.gelu_approx(" in body
    assert "mx.max(x, axis=1)" in body, body
    assert "mx.full((2,), 3.0, dtype=mx.float32)" in body
    assert "mx.stop_gradient(mx.argsort(x, axis=1)).astype(mx.int32)" in body, body


def test_attention_is_fused() -> None:
    def attended(q: Any, k: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, k, is_causal=True)

    x = torch.randn(2, 4, 6, 8)
    assert _body(na.trace_graph(attended, x, x)) == (
        "def __call__(self, q, k):\n"
        '        return mx.fast.scaled_dot_product_attention(q, k, k, scale=8**-0.5, mask="causal")'
    )


def test_elements_are_written_into_a_copy(tmp_path: Path) -> None:
    def written(x: Any) -> Any:
        y = x.clone()
        y[:, 1:] = y[:, 1:] * 2
        return x + y

    graph = na.trace_graph(written, torch.randn(2, 3))
    assert graph.eject(tmp_path / "net", "mlx").error == 0
    assert "mx.array(x)" in _body(graph)
    assert "[:, 1:] = " in _body(graph)


def test_a_loop_is_a_statement(tmp_path: Path) -> None:
    def decay(x: Any) -> Any:
        def step(h: Any, row: Any) -> tuple[Any, Any]:
            h = na.tanh(0.5 * h + row)
            return h, h

        last, states = na.scan(step, na.zeros_like(x[0]), x)
        return na.cond(na.sum(last) > 0, lambda: states, lambda: -states)

    graph = na.trace_graph(decay, np.ones((5, 3), np.float32))
    assert graph.eject(tmp_path / "net", "mlx").error < 1e-6
    body = _body(graph)
    assert "for x_t in x:" in body
    assert "mx.stack(ys)" in body
    assert "if mask:" in body


class Shapes(nn.Module):
    """Convolutions of all kinds, a weight that two layers read, a buffer, a name of MLX."""

    def __init__(self) -> None:
        super().__init__()
        self.items = nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.values = nn.Conv2d(4, 4, (3, 1), stride=(2, 1), padding="valid", dilation=(1, 2))
        self.up = nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, output_padding=1)
        self.line = nn.Conv1d(4, 4, 3, bias=False)
        self.register_buffer("_scale", torch.tensor([1.0, 2.0, 4.0, 3.0]))
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Images → rows."""
        x = self.up(self.values(F.max_pool2d(self.items(x), 2)))
        x = self.line(x.flatten(2)).mean(2) * self._scale
        return self.fc(x) @ self.fc.weight


def test_layers_and_layouts_of_weights(tmp_path: Path) -> None:
    import mlx.core as mx
    from mlx import nn as layers
    from mlx.utils import tree_flatten

    torch.manual_seed(0)
    net, x = Shapes().eval(), torch.randn(2, 4, 8, 8)
    graph = na.trace_graph(net, x)
    ejected = graph.eject(tmp_path / "net", "mlx")
    assert ejected.error < 1e-5
    text = (ejected.path / "model.py").read_text()
    assert lint(text) == ""
    for line in (
        "self.items_layer = nn.Conv2d(4, 4, 3, padding=1, groups=2)",
        "self.values_layer = nn.Conv2d(4, 4, (3, 1), stride=(2, 1), dilation=(1, 2))",
        "self.up = nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, output_padding=1)",
        "self.line = nn.Conv1d(4, 4, 3, bias=False)",
        'self.freeze(keys=["scale_layer"], recurse=False)',
    ):
        assert line in text, text
    model = runpy.run_path(str(ejected.path / "model.py"))["load"]()
    _, tree = layers.value_and_grad(model, lambda x: (model(x) ** 2).sum())(mx.array(x.numpy()))
    (net(x) ** 2).sum().backward()
    grads = dict(tree_flatten(tree))
    assert "scale_layer" not in grads
    for name, order in (("items", (0, 3, 1, 2)), ("up", (3, 0, 1, 2)), ("line", (0, 2, 1))):
        key = f"{name}_layer" if name == "items" else name
        got = np.asarray(grads[f"{key}.weight"]).transpose(order)
        _assert_gradient(got, getattr(net, name).weight.grad)
    _assert_gradient(np.asarray(grads["fc.weight"]), net.fc.weight.grad)


def _assert_gradient(got: Any, expected: Any) -> None:
    """Sums of float32 in another order: the error is relative to the largest element."""
    largest = float(abs(expected).max())
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5 * largest)


def test_an_error_names_the_call_without_a_row(tmp_path: Path) -> None:
    graph = na.trace_graph(lambda x: torch.lgamma(x) + torch.gcd(x.int(), x.int()), torch.ones(3))
    with pytest.raises(ConversionError, match=r"calls jax\.\S+\(.*for which MLX has no row"):
        graph.eject(tmp_path / "net", "mlx")
    assert not (tmp_path / "net").exists()
