"""Files of ONNX: names of inputs, outputs and sizes, and operations that `torch.onnx` lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import onnxruntime
import pytest
import torch
from jax import lax

import nestarray as na


def test_attention_with_a_learned_mask_becomes_onnx(tmp_path: Path) -> None:
    class Biased(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias = torch.nn.Parameter(torch.linspace(-1.0, 1.0, 16).reshape(1, 1, 4, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q = x.view(2, 4, 2, 3).transpose(1, 2)
            out = torch.nn.functional.scaled_dot_product_attention(q, q, q, 2 * self.bias)
            return out.transpose(1, 2).reshape(2, 4, 6)

    graph = na.trace_graph(Biased(), torch.linspace(-1.0, 1.0, 48).reshape(2, 4, 6))
    assert graph.export(tmp_path / "net.onnx").error < 1e-5


@pytest.mark.parametrize(
    "mask_shape",
    [None, *[pytest.param(shape, marks=pytest.mark.full) for shape in ((4, 5), (2, 4, 5))]],
)
def test_attention_without_heads_becomes_onnx(mask_shape: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    arrays = [torch.randn(2, n, 3) for n in (4, 5, 5)]
    mask = [] if mask_shape is None else [torch.randn(mask_shape)]
    graph = na.trace_graph(torch.nn.functional.scaled_dot_product_attention, *arrays, *mask)
    assert graph.export(tmp_path / "net.onnx").error < 1e-5


def test_products_become_onnx(tmp_path: Path) -> None:
    graph = na.trace_graph(lambda x: (x.prod(1), x.prod()), torch.linspace(1, 2, 6).reshape(2, 3))
    assert graph.export(tmp_path / "net.onnx").error < 1e-6


def test_places_booleans_and_sizes_become_onnx(tmp_path: Path) -> None:
    """Three operations that the exporter of PyTorch, or ONNX Runtime, lacks or computes otherwise."""

    def places(row: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = torch.searchsorted(row, x), torch.searchsorted(row, x, right=True, out_int32=True)
        chosen = torch.where(x > 1, x > 2, x < 0)
        return *found, chosen, x * (-(-x.shape[0] // 2))

    x = torch.tensor([-1.0, 0.0, 1.5, 2.0, 5.0])
    graph = na.trace_graph(places, torch.tensor([0.0, 1.0, 2.0]), x, dynamic={"x": {0: "length"}})
    assert graph.export(tmp_path / "net.onnx").error < 1e-6
    row = np.asarray([0.0, 1.0, 2.0], np.float32)
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    for got, want in zip(
        session.run(None, {"row": row, "x": x.numpy()}), places(torch.tensor(row), x)
    ):
        np.testing.assert_array_equal(got, want)


@pytest.mark.full
def test_the_inverse_of_erf_becomes_onnx(tmp_path: Path) -> None:
    graph = na.trace_graph(lambda x: torch.erfinv(x), torch.ones(5))
    graph.export(tmp_path / "net.onnx")
    x = torch.tensor([-1.0, -0.999, 1e-6, 0.5, 2.0])
    (got,) = onnxruntime.InferenceSession(tmp_path / "net.onnx").run(None, {"x": x.numpy()})
    np.testing.assert_allclose(got, torch.erfinv(x), rtol=1e-5)


def test_inputs_of_a_dict_keep_their_names_in_onnx(tmp_path: Path) -> None:
    def scaled(arrays: dict[str, torch.Tensor]) -> torch.Tensor:
        return arrays["z"] * arrays["a"]

    graph = na.trace_graph(scaled, {"z": torch.ones(3), "a": torch.arange(3)})
    assert graph.export(tmp_path / "net.onnx").error == 0


def test_open_sizes_keep_their_names_in_onnx(tmp_path: Path) -> None:
    def joined(x: torch.Tensor, pair: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.cat([x + pair["a"], pair["b"]])

    pair = {"a": torch.ones(3), "b": torch.ones(4)}
    axes = {"x": {0: "n"}, "pair": {"a": {0: "n"}, "b": {0: "more"}}}
    na.trace_graph(joined, torch.ones(3), pair, dynamic=axes).export(tmp_path / "net.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    shapes = {x.name: x.shape for x in session.get_inputs()}
    assert shapes == {"x": ["n"], "pair_a": ["n"], "pair_b": ["more"]}


def test_outputs_of_onnx_may_have_the_names_of_inputs_and_of_calls(tmp_path: Path) -> None:
    def moved(cache: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"cache": cache + 1, "relu": torch.relu(cache) * 2}

    graph = na.trace_graph(moved, torch.ones(3), dynamic={"cache": {0: "length"}})
    assert graph.export(tmp_path / "net.onnx").error == 0
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    assert [x.name for x in session.get_outputs()] == ["cache_output", "relu"]


def test_stable_sorts_become_onnx(tmp_path: Path) -> None:
    def order(x: torch.Tensor) -> torch.Tensor:
        return torch.argsort(x, dim=1, descending=True, stable=True)

    x = torch.randint(0, 3, (5, 7)).float()
    assert na.trace_graph(order, x).export(tmp_path / "net.onnx").error == 0
    got = onnxruntime.InferenceSession(tmp_path / "net.onnx").run(None, {"x": x.numpy()})[0]
    np.testing.assert_array_equal(got, order(x))


@pytest.mark.full
def test_positions_in_int32_become_onnx(tmp_path: Path) -> None:
    table = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)

    def chosen(rows: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jax.numpy.take(table, rows, axis=0), jax.numpy.asarray(table)[rows, 0]

    rows = np.asarray([[0, 3], [1, 1]], np.int32)
    assert na.trace_graph(chosen, jax.numpy.asarray(rows)).export(tmp_path / "net.onnx").error == 0
    first, _ = onnxruntime.InferenceSession(tmp_path / "net.onnx").run(None, {"rows": rows})
    np.testing.assert_array_equal(first, table[rows])


def running_and_sorted(x: jax.Array) -> dict[str, jax.Array]:
    """Running extrema, and derivatives through sorting and searching, along both axes."""
    knots, values = jnp.linspace(-1.0, 1.0, 4), jnp.asarray([0.0, 2.0, 1.0, 3.0])
    functions: dict[str, Callable[[Any], Any]] = {
        "sort": jnp.sort,
        "median": lambda x: jnp.median(x, 1),
        "quantile": lambda x: jnp.quantile(x, jnp.asarray([0.3, 0.6]), axis=0),
        "interp": lambda x: jnp.interp(x, knots, values),
        "histogram": lambda x: jnp.histogram(x, 5, weights=x)[0],
    }
    gradients = {
        name: jax.grad(lambda x, f=f: jnp.sum(jnp.sin(f(x))))(x) for name, f in functions.items()
    }
    return {
        "cummax": lax.cummax(x, 0),
        "cummin": lax.cummin(jnp.round(x).astype(jnp.int32), 1, reverse=True),
        "cumlogsumexp": lax.cumlogsumexp(x, 0),
        **gradients,
    }


@pytest.mark.full
@pytest.mark.parametrize(
    "dynamic",
    [None, pytest.param({"x": {0: "rows"}}, marks=pytest.mark.full)],
    ids=["fixed", "open"],
)
def test_running_extrema_and_derivatives_of_sorts_become_onnx(tmp_path: Path, dynamic: Any) -> None:
    x = np.random.default_rng(0).normal(size=(6, 7)).astype(np.float32)
    graph = na.trace_graph(running_and_sorted, jnp.asarray(x), dynamic=dynamic)
    assert graph.export(tmp_path / "net.onnx").error < 1e-5
    x = x[::2] if dynamic else x
    x[1, 2] = x[0, 4]
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    got = dict(zip([out.name for out in session.get_outputs()], session.run(None, {"x": x})))
    for name, want in running_and_sorted(jnp.asarray(x)).items():
        np.testing.assert_allclose(got[name], want, rtol=1e-5, atol=1e-6, err_msg=name)
    x[0, 0] = np.nan
    (got,) = session.run(["cummax"], {"x": x})
    assert np.isnan(got[:, 0]).all()
