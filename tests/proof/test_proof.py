"""Reports of `verify` name the wrong node; random inputs, training."""

from __future__ import annotations

import json
import weakref

import jax
import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from nestarray.graph.execution import steps
from nestarray.proof import comparison
from nestarray.proof import verify as proof
from nestarray.proof.sampling import drawn_like
from nestarray.transforms.autodiff.elementwise import OfResult
from nestarray.transforms.autodiff.interpreter import RULES

#: All backends; those whose eager calls are compiled one by one in the full tests.
MOST = [
    "numpy",
    "torch",
    pytest.param("jax", marks=pytest.mark.full),
    pytest.param("tensorflow", marks=pytest.mark.full),
]


def chain(count=6):
    torch.manual_seed(0)
    layers = [layer for _ in range(count) for layer in (nn.Linear(4, 4), nn.Tanh())]
    return na.trace_graph(nn.Sequential(*layers), torch.randn(3, 4))


def planted(graph, number, change):
    """`graph` with the function of one node changed."""
    node = graph.calls[number]
    fn = node.target
    node.target = lambda *args, **kwargs: change(fn(*args, **kwargs), *args)
    return node


# -- the node ------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [True, False], ids=["all nodes", "when outputs differ"])
@pytest.mark.parametrize("number", [0, 4, 10])
def test_a_wrong_call_is_found_at_its_node(nodes, number):
    good = chain().to_backend("numpy").verify(nodes=nodes)
    assert good.ok
    assert len(good.nodes) == (12 if nodes else 0)
    graph = chain().to_backend("numpy")
    node = graph.calls[number]
    node.args = node.args[:2]  # without its bias
    report = graph.verify(nodes=nodes, gradients=False)
    assert not report.ok
    first = report.first_divergence
    assert first.name == node.name
    assert first.is_at_fault
    assert first.alone == pytest.approx(first.relative, rel=1e-5)
    assert first.alone > 0.1
    assert first.where.startswith(f"aten.linear.default {number} linear.py:")
    assert sum(c.is_at_fault for c in report.nodes) == 1
    assert [c.ok for c in report.nodes[:number]] == [True] * number


def test_what_adds_up_is_told_from_what_is_wrong():
    class Steep(nn.Module):
        def forward(self, x):
            return torch.exp(torch.exp(torch.exp(x + 1)))

    graph = na.trace_graph(Steep(), torch.tensor([0.3])).to_backend("numpy")
    planted(graph, 0, lambda y, *_: y * np.float32(1 + 5e-5))
    report = graph.verify(gradients=False)
    first = report.first_divergence
    assert first.name == "exp_1"
    assert not first.is_at_fault
    assert first.alone < 1e-6
    assert "so what is before it has added up" in str(report)


def test_a_run_holds_what_is_still_needed():
    graph = chain(20)
    source = graph.reference
    inputs = list(source.args)
    for run in (
        steps(graph, inputs, None),
        source.steps(graph, inputs, graph.v, graph.s, None),
    ):
        seen, most = [], 0
        for _, value in run:
            seen.append(weakref.ref(value))
            del value
            most = max(most, sum(ref() is not None for ref in seen))
        assert len(seen) == 40
        assert most <= 3


def test_an_error_in_a_call_names_the_call():
    graph = chain().to_backend("numpy")

    def fails(*_):
        raise ValueError("on purpose")

    graph.calls[3].target = fails
    with pytest.raises(ValueError, match="on purpose") as caught:
        graph.verify()
    assert caught.value.__notes__[0].startswith("in tanh_1 = torch.tanh(…) (3 activation.py:")


# -- random inputs -------------------------------------------------------------------------


class Masked(nn.Module):
    """Ids, a mask of zeros and ones, a mask to be added, floating numbers."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(7, 4)
        self.norm = nn.LayerNorm(4)

    def forward(self, ids, mask, bias, x):
        rows = self.table(ids) * mask[..., None]
        weights = torch.softmax(bias + rows.sum(-1), -1)
        return self.norm(rows + x) * weights[..., None], ids + 1


@pytest.fixture(scope="module")
def masked():
    torch.manual_seed(0)
    ids = torch.tensor([[1, 6, 0, 2], [3, 3, 5, 4]])
    bias = torch.tensor([[0.0, 0.0, -torch.inf, 0.0], [0.0, -torch.inf, 0.0, 0.0]])
    return na.trace_graph(Masked(), ids, (ids > 2).long(), bias, torch.rand(2, 4, 4))


@pytest.mark.parametrize("backend", MOST)
def test_samples_agree_and_are_always_the_same(masked, backend):
    graph = masked.to_backend(backend)
    report = graph.verify(samples=3)
    assert report.ok, str(report)
    assert [s.seed for s in report.samples] == [1, 2, 3]
    assert all(s.ok and s.gradient is not None for s in report.samples)
    again = graph.verify(samples=3, nodes=False).samples
    assert [s.output for s in again] == [s.output for s in report.samples]
    assert "samples: 3 of 3 agree" in str(report)


@pytest.mark.parametrize("backend", ["jax", pytest.param("tensorflow", marks=pytest.mark.full)])
@pytest.mark.parametrize("train", [False, True])
def test_the_compiled_graph_is_compared_by_one_program(monkeypatch, backend, train):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
    graph = na.trace_graph(net, torch.randn(8, 4), train=train).to_backend(backend)
    graph.verify(
        compiled=True
    ).raise_if_failed()  # modules that JAX imports in its first trace change its cache keys
    programs = []
    monkeypatch.setattr(proof, "jit", lambda fn: programs.append(na.jit(fn)) or programs[-1])
    report = graph.verify(compiled=True, samples=2)
    assert report.ok, str(report)
    assert [p.traces for p in programs] == [1]  # for the example and both samples
    assert not report.nodes
    assert len(report.gradients) == 6
    assert len(report.state) == (3 if train else 0)
    graph.calls[0].args = graph.calls[0].args[:2]  # without its bias
    wrong = graph.replace(name="wrong").verify(compiled=True)
    assert not wrong.ok
    assert wrong.first_divergence.name == graph.calls[0].name


class Chosen(nn.Module):
    """Another function for one id."""

    def forward(self, ids, x):
        return torch.where(ids == 4, 2 * x, x) + 1


def test_a_sample_that_differs_where_the_example_does_not():
    ids = torch.tensor([0, 2, 6, 1, 3, 0, 6, 6])  # no 4 and no 5
    graph = na.trace_graph(Chosen(), ids, torch.rand(8)).to_backend("numpy")
    node = next(n for n in graph.calls if "eq" in n.origin)
    node.args = (node.args[0], 5)
    report = graph.verify(samples=4)
    assert all(c.ok for c in (*report.outputs, *report.nodes))
    assert not report.ok
    failed = [s for s in report.samples if not s.ok]
    assert failed
    assert all(s.first_divergence.name == node.name for s in failed)
    assert f"sample {failed[0].seed}; first diverging node: FAIL" in str(report)
    with pytest.raises(errors.ConversionError, match=f"samples: {4 - len(failed)} of 4 agree"):
        report.raise_if_failed()


def test_drawn_inputs_are_in_the_image_of_the_example():
    rng = np.random.default_rng(0)
    draw = lambda x: drawn_like(x, rng)  # noqa: E731
    ids = draw(torch.tensor([[3, 9, 4] * 50]))
    assert ids.dtype is torch.int64
    assert (int(ids.min()), int(ids.max())) == (3, 9)
    assert set(draw(np.array([0, 1, 1] * 50, "int32")).tolist()) == {0, 1}
    assert set(draw(np.array([2.0, 5.0] * 50, "float32")).tolist()) == {2.0, 5.0}
    assert draw(np.ones(4)).tolist() == [1.0] * 4
    assert draw(np.array([True, False] * 50)).mean() == pytest.approx(0.5, abs=0.2)
    x = np.random.default_rng(1).uniform(3, 4, 1000).astype("float32")
    drawn = draw(x)
    assert drawn.dtype == x.dtype
    assert x.min() <= drawn.min() <= drawn.max() <= x.max()
    assert drawn.mean() == pytest.approx(x.mean(), abs=0.05)
    assert drawn.std() == pytest.approx(x.std(), abs=0.1)
    assert not np.array_equal(drawn, x)
    mask = draw(np.array([0.0, -np.inf, 1.0, 2.0] * 20))
    assert set(mask.tolist()) == {0.0, -np.inf, 1.0, 2.0}
    assert draw(torch.randn(5).bfloat16()).dtype is torch.bfloat16
    z = draw(np.array([1 + 2j, 3 + 4j, 2 + 3j] * 5, "complex64"))
    assert z.dtype == np.complex64
    assert np.ptp(z.imag) > 0
    assert draw(np.ones((0, 3))).shape == (0, 3)


def test_a_number_of_samples_below_zero():
    with pytest.raises(errors.ArgumentError, match="verify: samples: got -1, expected 0 or more"):
        chain(1).verify(samples=-1)


# -- training ------------------------------------------------------------------------------


class Dropping(nn.Module):
    """Dropout inside of attention, of layers and of nested layers, and a slow batch norm."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True)
        self.nested = nn.Sequential(
            nn.Dropout(0.2), nn.Sequential(nn.Linear(8, 8), nn.Dropout1d(0.4), nn.AlphaDropout(0.1))
        )
        self.norm = nn.BatchNorm1d(5, momentum=0.3)

    def forward(self, x):
        return self.norm(self.nested(self.layer(x)))


@pytest.fixture(scope="module")
def dropping():
    torch.manual_seed(0)
    return na.to_module(Dropping(), torch.randn(3, 5, 8))


@pytest.mark.parametrize("backend", MOST)
def test_masks_are_shared_and_state_agrees_in_training(dropping, backend):
    module = dropping.to_backend(backend)
    report = module.verify(train=True, samples=1)
    assert report.ok, str(report)
    assert report.train
    names = ("running_mean", "running_var", "num_batches_tracked")
    assert [c.name for c in report.state] == [f"norm/{name}" for name in names]
    assert len(report.gradients) == len(module.v.leaves())
    assert len(module.training_graph.random_numbers) >= 6


def test_masks_are_drawn_from_the_key(dropping):
    graph = dropping.training_graph
    x = graph.reference.args[0]
    first, again, other = (
        graph(x, key=na.random.key(seed, backend="torch"))[0] for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert graph.verify(key=na.random.key(1, backend="torch")).ok


# -- the derivative ------------------------------------------------------------------------


class Branching(nn.Module):
    """Parts, random numbers, integers and a normalization around a hyperbolic tangent."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.norm = nn.Linear(4, 6), nn.BatchNorm1d(6)
        self.drop, self.embed = nn.Dropout(0.3), nn.Embedding(3, 3)

    def forward(self, x, i):
        a, b = self.norm(self.first(x)).chunk(2, -1)
        return torch.cat([a.tanh() * self.embed(i), self.drop(b)], -1).log_softmax(-1)


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("form", ["traced", "lowered"])
def test_a_wrong_derivative_is_found_at_its_call(monkeypatch, form, train):
    args = torch.randn(5, 4), torch.tensor([0, 2, 1, 1, 0])
    graph = na.trace_graph(Branching(), *args, train=train).to_backend("numpy")
    graph = graph.lower() if form == "lowered" else graph
    good = graph.verify()
    assert good.ok
    assert not good.call_gradients
    monkeypatch.setitem(RULES, "tanh", OfResult(lambda y: 1.1 * (1 - y * y)))
    report = graph.verify()
    assert not report.ok
    assert report.first_divergence is None
    (name,) = (c.name for c in report.call_gradients if not c.ok)
    assert name.startswith("∂tanh/∂getitem")
    assert len(report.call_gradients) == (15 if train else 14)  # dropout
    wrong = report.wrong_call_gradient
    assert wrong.relative == pytest.approx(0.1, rel=1e-3)
    assert wrong.where.startswith("aten.tanh.default test_proof.py:")
    text = f"first diverging derivative of {len(report.call_gradients)}: {wrong}"
    assert str(report).endswith(text)
    assert text in report._repr_html_().replace("&#x27;", "'")
    assert json.loads(report.to_json())["call_gradients"][0]["ok"] is True


def test_a_wrong_derivative_between_calls_with_open_sizes(monkeypatch):
    def program(x):
        n = x.shape[0]
        a, b = torch.split(torch.cat([x, x]), n)
        first, last = torch.split(a.tanh(), [1, n - 1])
        return first.repeat(n, 1) * b * torch.arange(n)[:, None] + last.sum(0)

    graph = na.trace_graph(program, torch.randn(4, 3), dynamic={"x": {0: "batch"}})
    graph = graph.to_backend("numpy")
    monkeypatch.setitem(RULES, "tanh", OfResult(lambda y: 1.1 * (1 - y * y)))
    (wrong,) = (c for c in graph.verify().call_gradients if not c.ok)
    assert wrong.name.startswith("∂tanh/∂getitem")
    assert wrong.relative == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize("name", ["split", "_native_batch_norm_legit_functional"])
def test_a_wrong_call_with_several_results_is_found(name):
    args = torch.randn(5, 4), torch.tensor([0, 2, 1, 1, 0])
    graph = na.trace_graph(Branching(), *args, train=True).to_backend("numpy")
    number = [call.name for call in graph.calls].index(name)
    planted(graph, number, lambda parts, *_: tuple(x * np.float32(1.01) for x in parts))
    first = graph.verify(gradients=False).first_divergence
    assert first.name == name
    assert first.is_at_fault


class Kinked(nn.Module):
    """Two rectified numbers, one of which is next to zero."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([100.0, 0.4999995]))

    def forward(self, x):
        numbers = x * self.weight
        # at a whole number, which is of 64 bits in PyTorch alone
        big = -nn.functional.nll_loss(numbers[None], torch.arange(1), reduction="none")
        small = numbers[1:]
        return torch.cat([torch.relu(big), torch.relu(small - 0.5)])


def with_other_offset(offset):
    """The graph of it, where another number is taken from the second."""
    graph = na.trace_graph(Kinked(), torch.ones(2)).to_backend("numpy")
    (call,) = (call for call in graph.calls if 0.5 in call.args)
    call.args = (call.args[0], offset)
    return graph


def test_a_value_at_a_kink_is_told_from_a_wrong_derivative():
    graph = with_other_offset(0.5 - 6e-7)  # which puts the number above 0
    report = graph.verify(gradient_rtol=1e-3)
    assert not report.ok
    assert not any(c.is_at_fault for c in report.nodes)
    assert report.wrong_call_gradient is None
    assert str(report).endswith(
        "  derivatives of single calls: 11 agree on the source's inputs, so a value is at a kink (relu "
        "at 0, two equal maxima) or a slope is steep; verify in float64, or with other inputs"
    )


@pytest.mark.parametrize(
    ("backend", "compiled"),
    [
        ("numpy", False),
        ("jax", True),
        pytest.param("jax", False, marks=pytest.mark.full),
        pytest.param("tensorflow", False, marks=pytest.mark.full),
        pytest.param("tensorflow", True, marks=pytest.mark.full),
    ],
)
def test_at_a_kink_the_gradient_is_the_source_s_at_the_values_of_the_graph(backend, compiled):
    graph = with_other_offset(0.5 - 6e-7).to_backend(backend)
    report = graph.verify(nodes=False, compiled=compiled)
    assert report.ok, str(report)
    (row,) = report.gradients
    assert row.relative > 1.0
    assert row.along == 0.0
    assert str(row).endswith("weight; at the graph's own values 0.0e+00")
    assert graph.verify().ok == report.ok


def test_at_a_kink_each_call_has_to_agree_at_the_values_of_the_graph():
    graph = with_other_offset(0.5 - 1e-3)  # the output, in which 100 stands too, agrees
    report = graph.verify(nodes=False)
    assert all(c.ok for c in report.outputs)
    assert not report.ok
    assert report.gradients[0].along is None


def test_at_a_kink_a_wrong_gradient_is_found(monkeypatch):
    graph = with_other_offset(0.5 - 6e-7)
    slope = lambda y: np.where(y > 0, np.where(y < 1e-6, 1.1, 1.0), 0.0).astype(y.dtype)  # noqa: E731
    monkeypatch.setitem(RULES, "relu", OfResult(slope))  # right on the source's own values
    report = graph.verify(nodes=False)
    assert report.wrong_call_gradient is None
    assert not report.ok
    assert report.gradients[0].along == pytest.approx(0.1 / 1.1, rel=0.2)


# -- as a value ----------------------------------------------------------------------------


def test_as_json():
    graph = chain(2).to_backend("jax")
    report = graph.verify(samples=1, nodes=True)
    found = json.loads(report.to_json())
    assert found["ok"] is True
    assert found["backend"] == "jax"
    assert found["outputs"][0]["relative"] == report.output_error
    assert len(found["nodes"]) == 4
    assert len(found["gradients"]) == 4
    assert found["samples"][0]["output"]["ok"] is True
    assert found["first_divergence"] is None
    planted(graph, 3, lambda y, *_: y * float("inf"))
    bad = json.loads(graph.verify(gradients=False, nodes=True).to_json())
    assert bad["outputs"][0]["error"] == "inf"
    assert bad["first_divergence"]["name"] == "tanh_1"


def test_as_html():
    net = nn.Sequential()
    net.add_module("<script>", nn.Linear(2, 2))
    report = na.trace_graph(net, torch.ones(1, 2)).to_backend("numpy").verify(samples=1)
    html = report._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<details") == html.count("</details>") == 7
    assert html.count("<style>") == 1
    assert "Sequential on numpy (eval): agrees" in html


class HalfInside(nn.Module):
    """Two outputs of float32, of which one was computed in float16."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4).half()

    def forward(self, x):
        y = self.first(x)
        return y, self.second(y.half()).float()


@pytest.mark.parametrize("by", [1e-3, 1e-1])
def test_a_value_is_held_to_the_coarsest_dtype_that_it_has_been_through(by):
    graph = na.trace_graph(HalfInside(), torch.randn(3, 4)).to_backend("numpy")
    before = next(call.name for call in graph.calls if call.aval.dtype == na.float32)
    planted(graph, len(graph.calls) - 1, lambda y, *_: y * np.float32(1 + by))
    report = graph.verify(gradients=False)
    assert report.ok == (by == 1e-3)
    tolerances = {row.name: row.tolerance for row in report.nodes}
    assert tolerances[before] == 1e-4
    assert tolerances[graph.calls[-1].name] == 1e-2
    assert [row.tolerance for row in report.outputs] == [1e-4, 1e-2]
    planted(graph, 0, lambda y, *_: y * np.float32(1 + 1e-3))
    assert not graph.verify(gradients=False).nodes[0].ok


def test_typed_keys_are_compared_by_their_words() -> None:
    key = jax.random.key(3)
    np.testing.assert_array_equal(comparison.host(key), np.asarray(jax.random.key_data(key)))
