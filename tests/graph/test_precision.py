"""Parts of a model in float64, computed in float32."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.errors import ArgumentError, DtypeError


class Rotary(nn.Module):
    """A table of angles in float64, as in diffusion transformers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(4, 4)
        self.register_buffer("frequencies", torch.logspace(0, -2, 4, dtype=torch.float64))

    def forward(self, x: Any) -> Any:
        places = torch.arange(len(x), dtype=torch.float64)
        angles = torch.outer(places, self.frequencies)
        table = torch.polar(torch.ones_like(angles), angles)
        turned = (self.layer(x).double() * table).real
        return turned.to(x.dtype)


class Doubled(nn.Module):
    """A loop in float64."""

    def forward(self, x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, y * x[0, 0].to(torch.float64)

        steps = torch.while_loop(lambda i, y: i < 3, body, (torch.tensor(0), x.double()))
        return steps[1].float()


X = torch.linspace(-1.0, 1.0, 20).reshape(5, 4)
SOURCES = {
    "rotary": (Rotary(), X),
    "loop": (Doubled(), X),
    "double": (nn.Sequential(nn.Linear(4, 4), nn.Tanh()).double(), X.double()),
}


@pytest.mark.parametrize("backend", ["jax", "numpy", "tensorflow", "torch"])
@pytest.mark.parametrize("name", SOURCES)
def test_float64_in_float32(name: str, backend: str) -> None:
    module, x = SOURCES[name]
    graph = na.trace_graph(module, x)
    assert graph.report().float64
    graph = graph.to_backend(backend, float64="float32")
    assert graph.report().float64 == []
    assert "float64" not in str(graph)
    report = graph.verify(nodes=True)
    assert report.ok, str(report)
    assert {n.name for n in graph.calls if n.aval} <= {row.name for row in report.nodes}
    out = graph(na.to_backend(X, backend))
    assert na.dtypes.dtype_of(out) is na.float32


def test_the_original_stays_in_float64() -> None:
    graph = na.trace_graph(*SOURCES["rotary"])
    graph.to_backend("numpy", float64="float32")
    assert na.dtypes.dtype_of(graph.s["frequencies"]) is na.float64
    assert "complex128" in str(graph)


def test_trace_graph_and_to_module_take_it() -> None:
    module, x = SOURCES["rotary"]
    graph = na.trace_graph(module, x, float64="float32").to_backend("jax")
    layer = na.to_module(module, x, float64="float32").to_backend("jax")
    expected = module(x).detach().numpy()
    np.testing.assert_allclose(graph(jnp.asarray(x.numpy())), expected, atol=1e-5)
    np.testing.assert_allclose(layer(jnp.asarray(x.numpy())), expected, atol=1e-5)
    out, _ = layer(jnp.asarray(x.numpy()), train=True)
    np.testing.assert_allclose(out, expected, atol=1e-5)


@pytest.mark.parametrize("dynamic", [False, True])
def test_new_arrays_are_cast(dynamic: bool) -> None:
    """``like=`` of a carry names the framework and the device, not the dtype."""

    def sums(x: Any) -> Any:
        first = na.zeros((x.shape[1],), like=x)
        return na.scan(lambda c, row: (c + row, c), first, x)[0]

    graph = na.trace_graph(sums, X, dynamic={"x": {1: "width"}} if dynamic else None)
    wide = graph.to_torch_module().double()
    torch.testing.assert_close(wide(X.double()), X.double().sum(0))


def test_the_error_names_calls_and_the_option() -> None:
    text = (
        r"Rotary: 7 calls and 1 array of this graph need float64, which JAX computes in 32 bits now: "
        r"arange = torch\.arange\(…\) \(test_precision\.py:\d+\), .* and 5 more\. Compute in float32 "
        r'with graph\.to_backend\("jax", float64="float32"\), .* or call jax\.config\.update'
    )
    with pytest.raises(DtypeError, match=text):
        na.trace_graph(*SOURCES["rotary"]).to_backend("jax")
    graph = na.trace_graph(lambda x: (x.double() * 2).float(), X).to_backend("jax")
    for call in (graph, graph.compile()):
        with pytest.raises(DtypeError, match=r'2 calls .* float64="float32"'):
            call(jnp.ones((5, 4)))


def test_another_precision_is_refused() -> None:
    text = "to_backend: float64: got 'float16', expected None or 'float32'"
    with pytest.raises(ArgumentError, match=text):
        na.trace_graph(*SOURCES["double"]).to_backend("jax", float64="float16")


class Large(nn.Module):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.register_buffer("numbers", torch.tensor([number, 3]))

    def forward(self, x: Any) -> Any:
        return x * self.numbers[1]


def test_int64_on_jax_has_to_fit() -> None:
    assert na.trace_graph(Large(2**31 - 1), X).to_backend("jax").s["numbers"].dtype == "int32"
    text = r"Large: s\['numbers'\]: got int64 from 3 to 2147483648, which JAX holds in int32 now"
    with pytest.raises(DtypeError, match=text):
        na.trace_graph(Large(2**31), X).to_backend("jax")


@pytest.mark.parametrize("dynamic", [False, True])
def test_lowered_random_numbers_need_no_float64_on_jax(dynamic: bool) -> None:
    """TensorFlow's normal numbers are computed in the widest dtype of the framework that runs them."""
    import tensorflow as tf

    def noisy(x: Any) -> Any:
        return x + tf.random.stateless_normal(tf.shape(x), [1, 2])

    x = tf.ones((3, 4))
    graph = na.trace_graph(noisy, x, dynamic={"x": {0: "batch"}} if dynamic else None)
    lowered = graph.to_backend("jax").lower()
    assert lowered.report().float64 == []
    np.testing.assert_allclose(lowered(jnp.ones((3, 4))), noisy(x), atol=1e-5)
    assert graph.to_backend("numpy").lower().report().float64
