"""The proof: reports that pass, reports that name the error."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import errors
from tests.graph.networks import ConvNet


@pytest.fixture(scope="module")
def traced():
    torch.manual_seed(0)
    net, x = ConvNet(), torch.randn(2, 1, 8, 8)
    return {train: na.trace_graph(net, x, train=train) for train in (False, True)}


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "tensorflow"])
def test_agreement(traced, backend, train):
    report = traced[train].to_backend(backend).verify()
    assert report.ok, str(report)
    assert report.first_divergence is None
    assert [c.name for c in report.gradients] == list(traced[train].v.paths())
    assert len(report.nodes) >= 6 or backend in ("jax", "tensorflow")
    assert bool(report.state) == train
    assert backend == "torch" or 0 < report.gradient_error < 1e-3


def test_a_wrong_constant_is_found_in_outputs_gradients_and_nodes():
    torch.manual_seed(0)
    graph = na.trace_graph(ConvNet(), torch.randn(2, 1, 8, 8)).to_backend("jax")
    node = next(n for n in graph.calls if "batch_norm" in n.origin)
    node.args = tuple(0.5 if a == 1e-5 else a for a in node.args)
    node.kwargs = {k: 0.5 if k == "eps" else a for k, a in node.kwargs.items()}
    report = graph.verify()
    assert not report.ok
    assert "batch_norm" in report.first_divergence.where
    assert "norm" in report.first_divergence.where
    assert any(not c.ok for c in report.gradients)
    text = str(report)
    assert text.startswith("ConvNet on jax (eval): DIFFERS")
    assert "first diverging node of" in text
    with pytest.raises(errors.ConversionError, match="DIFFERS"):
        report.raise_if_failed()


class _Fading(torch.nn.Module):
    """Two multiplications by a small number."""

    def __init__(self, factor):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(factor))

    def forward(self, x):
        return x * self.factor * self.factor


def test_what_is_below_the_normal_numbers_may_be_zero():
    x = torch.arange(1.0, 5.0)
    for factor, agrees in ((3e-20, True), (3e-18, False)):
        graph = na.trace_graph(_Fading(factor), x).to_backend("numpy")
        last = graph.calls[-1]
        last.args = (last.args[0], 0.0)
        report = graph.verify()
        assert [c.ok for c in report.outputs] == [agrees]


class _Copied(torch.nn.Module):
    """A write in place, and a size that is computed from numbers in the program."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        written = torch.zeros(2, 3)
        written.copy_(x * self.weight)
        size = x.long().max().item() + 1
        return written[:size]


def test_copies_have_gradients_and_sizes_are_python_numbers():
    graph = na.trace_graph(_Copied(), torch.ones(3))
    report = graph.to_backend("numpy").verify()
    assert report.ok, str(report)
    assert [c.name for c in report.gradients] == ["weight"]
    assert re.search(r"add = \w+ \+ 1\n", graph.to_source())


class _Checked(torch.nn.Module):
    """The exporter asserts the dtype of a number that nothing returned depends on."""

    def forward(self, x):
        torch.tensor(3).to(torch.float64)
        return x * 2.0


def test_what_only_checks_of_the_exporter_read_is_no_constant_of_the_graph():
    graph = na.trace_graph(_Checked(), torch.ones(2))
    assert graph.reference.program.constants  # an integer, which JAX would narrow
    assert not graph.constants.leaves()
    graph.to_backend("jax").verify().raise_if_failed()


class Drawing(torch.nn.Module):
    """Random numbers of operations and of dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(self.fc(x), 0.5, True) + torch.randn(3)


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_global_random_states_stay(backend, train):
    graph = na.trace_graph(Drawing(), torch.ones(2, 3), train=train).to_backend(backend)
    before = torch.get_rng_state(), np.random.get_state(), random.getstate()
    assert graph.verify(key=na.random.key(1, backend=backend), samples=1).ok
    assert torch.equal(torch.get_rng_state(), before[0])
    assert all(map(np.array_equal, np.random.get_state(), before[1]))
    assert random.getstate() == before[2]


_MODES = [lambda: torch.autocast("cpu", dtype=torch.bfloat16), torch.inference_mode, torch.no_grad]


@pytest.mark.parametrize("mode", _MODES, ids=["autocast", "inference_mode", "no_grad"])
def test_modes_around_a_proof_change_nothing(mode):
    graph = na.trace_graph(
        torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.GELU()), torch.ones(4, 3)
    )
    with mode():
        report = graph.to_backend("torch").verify()
    assert report.ok
    assert len(report.gradients) == 2


class _Casts(torch.nn.Module):
    """Half precision after a parameter and a buffer in float32."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x).to(torch.bfloat16) * 2


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_another_dtype_is_a_difference_at_the_first_call_that_has_it(backend: str) -> None:
    graph = na.trace_graph(_Casts(), torch.randn(4, 3), train=True).to_backend(backend)
    assert graph.verify().ok
    cast = next(n for n in graph.calls if n.aval and n.aval.dtype is na.bfloat16)
    cast.target, cast.args, cast.kwargs = na.positive, cast.args[:1], {}
    report = graph.verify()
    assert not report.ok
    assert [c.dtypes for c in report.outputs] == [("float32", "bfloat16")]
    assert report.first_divergence.name == cast.name
    assert ": dtype float32, expected bfloat16" in str(report)
    assert report.to_dict()["outputs"][0]["dtypes"] == ("float32", "bfloat16")
    assert all(c.ok for c in (*report.gradients, *report.input_gradients))


def test_integers_of_jax_without_x64_have_32_bits() -> None:
    graph = na.trace_graph(torch.nn.Flatten(0), torch.arange(6).reshape(2, 3))
    assert graph.to_backend("jax").verify().ok
    narrow = na.trace_graph(lambda x: x.to(torch.int32), torch.arange(6)).to_backend("numpy")
    cast = narrow.calls[-1]
    cast.target, cast.target_name, cast.args, cast.kwargs = (
        na.positive,
        "na.positive",
        cast.args[:1],
        {},
    )
    assert [c.dtypes for c in narrow.verify().outputs] == [("int64", "int32")]


def test_state_has_the_dtype_of_the_source() -> None:
    graph = na.trace_graph(_Casts(), torch.randn(4, 3), train=True).to_backend("numpy")
    count = graph.state_updates["norm/num_batches_tracked"]
    count.target, count.target_name, count.args = na.astype, "na.astype", (count.args[0], na.int32)
    report = graph.verify()
    assert {c.name: c.dtypes for c in report.state if c.dtypes} == {
        "norm/num_batches_tracked": ("int32", "int64")
    }
