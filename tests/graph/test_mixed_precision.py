"""`Graph.cast`: half precision where that is safe, float32 where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.errors import ArgumentError

RNG = np.random.default_rng(0)
X = torch.tensor(RNG.normal(size=(4, 3, 6, 6)).astype("float32"))
LABELS = torch.tensor([0, 1, 2, 1])


class Net(nn.Module):
    """A convolution, statistics, attention and a loss."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.layer, self.attention = nn.LayerNorm(8), nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Any, labels: Any) -> Any:
        x = torch.relu(self.norm(self.conv(x))).flatten(2).transpose(1, 2)
        y = self.layer(x)
        x = x + self.attention(y, y, y)[0]
        logits = self.head(x.mean(1))
        return logits, nn.functional.cross_entropy(logits, labels)


@pytest.fixture(scope="module")
def graph() -> na.Graph:
    return na.trace_graph(Net(), X, LABELS, train=True)


def _dtypes(graph: na.Graph) -> dict[str, set[str]]:
    """Op → the dtypes of its results."""
    found: dict[str, set[str]] = {}
    for node in graph.calls:
        if node.aval is not None and node.aval.dtype.is_floating:
            found.setdefault(node.target_name.removeprefix("na."), set()).add(node.aval.dtype.name)
    return found


def test_products_are_in_half_precision_and_sums_in_float32(graph: na.Graph) -> None:
    half = graph.cast(compute="bfloat16")
    found = _dtypes(half)
    for name in ("conv2d", "linear", "scaled_dot_product_attention", "relu"):
        assert found[name] == {"bfloat16"}, name
    for name in ("layer_norm", "log_softmax", "mean", "sum", "take_along_axis"):
        assert found[name] == {"float32"}, name
    assert [node.aval.dtype for node in half.output] == [na.float32, na.float32]
    assert {na.dtype_of(x) for x in half.v.leaves()} == {na.float32}
    assert {node.aval.dtype for node in half.state_updates.values()} == {na.float32, na.int64}


@pytest.mark.parametrize(
    "backend",
    ["numpy", *(pytest.param(b, marks=pytest.mark.full) for b in ("jax", "torch", "tensorflow"))],
)
@pytest.mark.parametrize("compute", ["bfloat16", "float16"])
def test_verify_and_gradients(graph: na.Graph, compute: str, backend: str) -> None:
    half = graph.cast(compute=compute).to_backend(backend)
    report = half.verify()
    assert report.ok, str(report)
    assert half.cast(compute=compute).calls  # casts of a cast graph change nothing that matters
    x, labels = (na.to_backend(a, backend) for a in (X, LABELS))
    gradients = na.grad(lambda v: half(x, labels, v=v)[0][1])(half.v)
    assert {na.dtype_of(g) for g in gradients.leaves()} == {na.float32}


def test_params_and_outputs(graph: na.Graph) -> None:
    half = graph.cast(compute="float16", params="float16", outputs="bfloat16").to_backend("numpy")
    assert {na.dtype_of(x) for x in half.v.leaves()} == {na.float16}
    assert {na.dtype_of(x) for x in half.s.leaves()} == {na.float32, na.int64}
    (logits, loss), _ = half(X.numpy(), LABELS.numpy())
    assert na.dtype_of(logits) is na.dtype_of(loss) is na.bfloat16
    report = half.verify()
    assert report.ok, str(report)
    gradients = na.grad(lambda v: na.astype(half(X.numpy(), LABELS.numpy(), v=v)[0][1], "float32"))
    assert {na.dtype_of(g) for g in gradients(half.v).leaves()} == {na.float16}


def test_keep_names_modules(graph: na.Graph) -> None:
    half = graph.cast(compute="bfloat16", keep=("**/con*", "attention"))
    found = _dtypes(half)
    assert found["conv2d"] == found["scaled_dot_product_attention"] == {"float32"}
    assert "bfloat16" in found["linear"]
    with pytest.raises(
        ArgumentError, match=r"cast: keep: '\*\*/nrom' matches no module of Net: att"
    ):
        graph.cast(compute="bfloat16", keep="**/nrom")


def test_keep_without_modules_reads_the_paths_of_parameters(graph: na.Graph) -> None:
    plain = graph.lower()
    for node in plain.calls:
        node.module = ""
    found = _dtypes(plain.cast(compute="bfloat16", keep="head"))
    assert found["linear"] == {"bfloat16", "float32"}
    assert found["conv2d"] == {"bfloat16"}


def test_lookups_in_parameters_are_in_their_dtype() -> None:
    """The gradient of a row that occurs many times is a sum, which bfloat16 would round each time."""
    net = nn.Sequential(nn.Embedding(3, 4), nn.Linear(4, 4))
    half = na.trace_graph(net, torch.zeros(2, 5, dtype=torch.int64)).cast(compute="bfloat16")
    found = _dtypes(half)
    assert found["linear"] == {"bfloat16"}
    assert next(n.aval.dtype for n in half.calls if n.module == "0") is na.float32


def test_loops_keep_the_dtypes_of_their_carry() -> None:
    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.cell = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            def body(i: Any, y: Any) -> Any:
                return i + 1, torch.tanh(self.cell(y))

            return torch.while_loop(lambda i, y: i < 3, body, (torch.tensor(0), x))[1]

    graph = na.trace_graph(Loop(), torch.ones(2, 4)).cast(compute="bfloat16")
    assert "bfloat16" in str(graph)
    # bfloat16 has 8 bits: a relative rounding of 4e-3 in each step
    report = graph.to_backend("numpy").verify(rtol=1e-2)
    assert report.ok, str(report)


def test_masks_of_the_smallest_number_have_no_nan() -> None:
    def attend(q: Any, lengths: Any) -> Any:
        is_beyond = torch.arange(4) >= lengths[:, None]
        mask = is_beyond[:, None, None].float() * torch.finfo(torch.float32).min
        return nn.functional.scaled_dot_product_attention(q, q, q, mask.expand(-1, 1, 4, 4))

    q = torch.tensor(RNG.normal(size=(2, 1, 4, 6)).astype("float32"))
    lengths = torch.tensor([2, 0])
    half = na.trace_graph(attend, q, lengths).cast(compute="bfloat16")
    assert _dtypes(half)["scaled_dot_product_attention"] == {"bfloat16"}
    out = half.to_backend("numpy")(q.numpy(), lengths.numpy())
    # bfloat16 has 8 bits: roundings of 4e-3 of numbers about 1
    np.testing.assert_allclose(out[0], attend(q, lengths)[0], atol=1e-2)
    np.testing.assert_allclose(out[1], q[1].mean(1, keepdim=True).expand(1, 4, 6), atol=1e-2)


def test_limits_stay_finite() -> None:
    def masked(x: Any, w: Any) -> Any:
        scores = (x @ w).masked_fill(x > 0, torch.finfo(torch.float32).min)
        return scores * 0

    x = torch.tensor([[1.0, -1.0], [2.0, -3.0]])
    half = na.trace_graph(masked, x, x).cast(compute="float16").to_backend("numpy")
    assert np.isfinite(half(x.numpy(), x.numpy())).all()


def test_bits_are_those_of_float32() -> None:
    def signs(x: Any, w: Any) -> Any:
        return na.bitcast(na.matmul(x, w), na.int32) >> 31

    x = np.asarray([[1.0, -1.0], [2.0, -3.0]], "float32")
    half = na.trace_graph(signs, x, x).cast(compute="bfloat16")
    assert _dtypes(half)["matmul"] == {"bfloat16"}
    np.testing.assert_array_equal(half(x, x), signs(x, x))


def test_sums_of_axes_by_name_are_in_float32() -> None:
    x = np.ones((2, 2), "float32")
    half = na.trace_graph(lambda x: na.reduce(na.matmul(x, x), "a b -> a", "sum"), x)
    assert _dtypes(half.cast(compute="bfloat16"))["reduce"] == {"float32"}


def test_wrong_dtypes_are_refused(graph: na.Graph) -> None:
    text = "cast: compute: got 'float32', expected 'float16', 'bfloat16'"
    with pytest.raises(ArgumentError, match=text):
        graph.cast(compute="float32")
    with pytest.raises(ArgumentError, match="cast: outputs: got 'int32', expected 'float16'"):
        graph.cast(compute="bfloat16", outputs="int32")


def test_modules_cast_their_training_behaviour_too() -> None:
    x = X.reshape(4, -1)
    net = nn.Sequential(nn.Linear(108, 4), nn.BatchNorm1d(4), nn.Softmax(-1))
    module = na.to_module(net, x).to_backend("numpy")
    half = module.cast(compute="bfloat16", keep="1")
    assert _dtypes(half.graph)["linear"] == _dtypes(half.training_graph)["linear"] == {"bfloat16"}
    assert "bfloat16" not in str(module.graph)
    out, state = half(x.numpy(), train=True)
    assert out.dtype == np.float32
    assert {x.dtype for x in state.leaves()} == {np.dtype("float32"), np.dtype("int64")}
