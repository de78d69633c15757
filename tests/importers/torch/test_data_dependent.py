"""Functions of torch that read values first: traced, and equal to the functions themselves."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import assert_agrees, host

FAST = ("numpy", "torch")


class Behind(nn.Module):
    """`function` of a layer's result."""

    def __init__(self, function) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(4, 4)
        self.function = function

    def forward(self, x):
        return self.function(self.fc(x))


COUNTS, WEIGHTS = torch.tensor([1, 2, 1, 3]), torch.tensor([0.1, 0.2, 0.3, 0.4])

FUNCTIONS = {
    "cov": lambda x: torch.cov(x),
    "cov of counts": lambda x: x.cov(correction=0, fweights=COUNTS),
    "cov of weights": lambda x: torch.cov(x, fweights=COUNTS, aweights=WEIGHTS),
    "cov of one": lambda x: torch.cov(x[0]),
    "cov of integers": lambda x: torch.cov((x * 4).int()) + x.sum(),
    "cov of complex": lambda x: torch.view_as_real(torch.cov(torch.complex(x, x.flip(0)))),
    "corrcoef": lambda x: torch.corrcoef(x),
    "corrcoef of one": lambda x: x[0].corrcoef(),
    "lstsq": lambda x: torch.linalg.lstsq(x.T, torch.ones(4, 2)).solution,
    "lstsq of vectors": lambda x: torch.linalg.lstsq(x, torch.ones(3), driver="gelsd")[0],
    "linearize": lambda x: (
        torch.func.linearize(torch.sin, x)[0] + torch.func.linearize(torch.sin, x)[1](x.cos())
    ),
    "combinations": lambda x: torch.combinations(x[0], 3, with_replacement=True),
    "equal": lambda x: (torch.equal(x, x * 1), x.equal(x + 1), torch.equal(x, x[:2]), x),
    "allclose": lambda x: (torch.allclose(x, x + 1e-9), x.allclose(x + 1, atol=0.5), x),
}


# torch's own linearize, called as the oracle
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_are_torchs(name):
    draw = torch.Generator().manual_seed(1)
    module = Behind(FUNCTIONS[name])
    graph = na.trace_graph(module, torch.randn(3, 4, generator=draw))
    assert_agrees(module, torch.randn(3, 4, generator=draw), graph=graph, backends=FAST)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning")
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_compiled_backends(name, backend):
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    assert_agrees(Behind(FUNCTIONS[name]), x, backends=(backend,), rtol=5e-5)


@pytest.mark.parametrize(
    "backend",
    [
        "numpy",
        "torch",
        pytest.param("jax", marks=pytest.mark.full),
        pytest.param("tensorflow", marks=pytest.mark.full),
    ],
)
def test_as_many_classes_as_the_largest_index_says(backend):
    graph = na.trace_graph(lambda x: F.one_hot(x), torch.tensor([[0, 2], [1, 0]]))
    for x in (torch.tensor([[3, 1], [0, 1]]), torch.tensor([[0, 0], [1, 0]])):
        found = graph.to_backend(backend)(na.to_backend(x, backend))
        np.testing.assert_array_equal(host(found), F.one_hot(x).numpy())


def test_a_choice_by_equality_is_refused_with_its_line():
    text = (
        r"a choice by a value: return x if torch\.equal\(x, x \* 2\) else -x "
        r"\(test_data_dependent\.py:\d+\)\. Write it with torch\.where"
    )

    def chosen(x):
        return x if torch.equal(x, x * 2) else -x

    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(chosen, torch.ones(3))


def test_what_values_decide_of_least_squares_is_named():
    text = re.escape(
        "trace_graph: torch.linalg.lstsq(A, B).rank: values decide which of its results are empty; "
        "take .solution, and compute the others from it: (A @ x - B).square().sum(-2), "
        "torch.linalg.matrix_rank(A), torch.linalg.svdvals(A)"
    )
    with pytest.raises(errors.ConversionError, match=f"^{text}$"):
        na.trace_graph(lambda x: torch.linalg.lstsq(x, x).rank, torch.eye(3))


def test_a_failed_export_prints_nothing(capfd):
    def chosen(x):
        return x * 2 if x.sum() > 0 else x

    with pytest.raises(errors.ConversionError, match="a choice by a value"):
        na.trace_graph(Behind(chosen), torch.ones(3, 4))
    assert capfd.readouterr() == ("", "")
    assert torch.func.linearize.__module__.startswith("torch.")
    assert "print" not in vars(sys.modules["torch.export._trace"])


class Translating(nn.Module):
    """A transformer with masks that its layers would compare with the causal one."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)

    def forward(self, x, pad):
        causal = self.net.generate_square_subsequent_mask(x.shape[1])
        return self.net(
            x,
            x.flip(1),
            causal.T,
            causal,
            src_key_padding_mask=pad,
            tgt_key_padding_mask=pad.flip(1),
        )


OPEN = {"x": {0: "b", 1: "l"}, "pad": {0: "b", 1: "l"}}


@pytest.mark.parametrize("dynamic", [None, pytest.param(OPEN, marks=pytest.mark.full)])
@pytest.mark.filterwarnings("ignore:Support for mismatched:UserWarning")
def test_masks_of_transformers_need_not_be_known(dynamic):
    pad = torch.arange(5)[None] >= torch.tensor([[5], [4]])
    example = torch.randn(2, 5, 8), pad
    graph = na.trace_graph(Translating(), *example, **({"dynamic": dynamic} if dynamic else {}))
    if dynamic:
        example = torch.randn(3, 7, 8), torch.arange(7)[None] >= torch.tensor([[6], [7], [4]])
    assert_agrees(Translating(), *example, graph=graph, backends=FAST)
