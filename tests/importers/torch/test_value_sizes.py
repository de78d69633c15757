"""Sizes that values decide: one graph, other sizes at each call, where no compiler must know them."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import BACKENDS, assert_agrees, host, leaves


def rounded(x):
    return (x * 2).int()


CHOICES = {
    "nonzero": lambda x: torch.nonzero(x > 0),
    "where": lambda x: torch.where(x > 0),
    "masked_select": lambda x: torch.masked_select(x, x > 0) * 2,
    "rows": lambda x: torch.matmul(x[x[:, 0] > 0], x.T),
    "written": lambda x: torch.index_put(x, [x > 0], x[x > 0] * 2),
    "viewed": lambda x: x[:, :2][x[:, :2] > -9].view(2, -1).sum(1),
    "unique": lambda x: torch.unique(rounded(x)),
    "unique_parts": lambda x: torch.unique(rounded(x), return_inverse=True, return_counts=True),
    "unique_rows": lambda x: torch.unique(x > 0, dim=0, return_counts=True),
    "neighbours": lambda x: torch.unique_consecutive(rounded(x)),
    "neighbours_parts": lambda x: torch.unique_consecutive(x[:, 0] > 0, return_inverse=True),
    "repeats": lambda x: torch.repeat_interleave(x, x[:, 0].abs().ceil().long(), dim=0),
    "counted": lambda x: torch.arange((x > 0).sum().item()),
    "part": lambda x: x.flatten()[: (x > 0).sum().item()] + 1,
    "new": lambda x: torch.zeros((x > 0).sum().item(), 3) @ x.T,
    "bins": lambda x: torch.bincount(x.abs().long().flatten()),
}


@pytest.fixture(scope="module")
def choices():
    """All of `CHOICES` as one graph of one export."""
    draw = torch.Generator().manual_seed(0)
    first, *others = (torch.randn(4, 3, generator=draw) for _ in range(3))
    graph = na.trace_graph(lambda x: {name: f(x) for name, f in CHOICES.items()}, first)
    return graph, others


@pytest.mark.parametrize(
    "where",
    [
        "numpy",
        "torch",
        "lowered",
        # compiles each operation for each size
        pytest.param("jax", marks=pytest.mark.full),
        pytest.param("tensorflow", marks=pytest.mark.full),
    ],
)
def test_sizes_are_those_of_the_values(choices, where):
    graph, others = choices
    run = graph.to_backend("numpy").lower() if where == "lowered" else graph.to_backend(where)
    for x in others:
        found = run(na.to_backend(x, run.backend))
        assert sorted(found) == sorted(CHOICES)
        for name, function in CHOICES.items():
            for a, b in zip(leaves(found[name]), leaves(function(x)), strict=True):
                assert tuple(a.shape) == tuple(b.shape), name
                np.testing.assert_allclose(host(a), host(b), rtol=1e-5, atol=1e-6, err_msg=name)


def test_sizes_of_values_on_compiled_backends():
    function = CHOICES["rows"]
    graph = na.trace_graph(function, torch.linspace(-1, 1, 12).reshape(4, 3))
    x = torch.linspace(1, -2, 12).reshape(4, 3).sin()
    for backend in ("jax", "tensorflow"):
        found = graph.to_backend(backend)(na.to_backend(x, backend))
        np.testing.assert_allclose(host(found), host(function(x)), rtol=1e-5, atol=1e-6)


class Chosen(nn.Module):
    """A layer on those rows alone that begin with a positive number."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x[x[:, 0] > 0]).tanh()


def test_gradients_through_chosen_rows():
    torch.manual_seed(0)
    assert_agrees(Chosen(), torch.randn(5, 3))


def test_compiled_where_the_compiler_need_not_know_sizes():
    torch.manual_seed(0)
    net, x = Chosen().eval(), torch.randn(5, 3)
    graph = na.trace_graph(net, x)
    compiled = graph.to_backend("tensorflow").compile()
    for given in (x, -x):
        got = compiled(na.to_backend(given, "tensorflow"))
        np.testing.assert_allclose(host(got), host(net(given)), rtol=1e-5)
    for backend in ("jax", "torch"):
        text = (
            r"compile: Chosen: values decide the size of 'index' \(test_value_sizes\.py:\d+\), and a "
            rf"program compiled for {backend} knows its sizes; call the graph itself, or compile it on "
            "TensorFlow"
        )
        with pytest.raises(errors.UnsupportedError, match=f"^{text}$"):
            graph.to_backend(backend).compile()(na.to_backend(x, backend))
    assert na.trace_graph(nn.Linear(3, 2), x).sized_by_values is None
    named = na.trace_graph(nn.Linear(3, 2), x, dynamic={"input": {0: "batch"}})
    assert named.sized_by_values is None


class Means(nn.Module):
    """The mean of the rows of each of so many groups."""

    def forward(self, x, group, count):
        sums = torch.zeros(count, x.shape[1]).index_add(0, group, x)
        return sums / torch.bincount(group, minlength=count).clamp(min=1)[:, None]


def test_counts_beside_arrays_of_a_known_size_are_compiled():
    x, group = torch.randn(5, 3), torch.tensor([0, 2, 2, 1, 2])
    graph = na.trace_graph(Means(), x, group, 4)
    assert graph.sized_by_values is None
    assert graph.verify().ok
    for moved in (graph.to_backend("jax"), graph.to_backend("tensorflow").lower()):
        given = [na.to_backend(a, moved.backend) for a in (x.flip(0), group)]
        found = moved.compile()(*given, 4)
        np.testing.assert_allclose(host(found), host(Means()(x.flip(0), group, 4)), rtol=1e-5)


def test_numbers_of_python_are_refused_with_what_to_do():
    class Taken(nn.Module):
        def forward(self, x):
            return torch.zeros(int((x > 0).sum().item()))

    text = (
        r"a number that a value decides: return torch\.zeros\(int\(\(x > 0\)\.sum\(\)\.item\(\)\)\) "
        r"\(test_value_sizes\.py:\d+\)\. x\.item\(\) of an integer may be a size as it is, without int\(\); else pass the number as an int, which a graph keeps as it is "
        r"traced \(num_classes= of one_hot\); a loop of as many steps is torch\.while_loop$"
    )
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(Taken(), torch.ones(2))


def test_a_choice_by_a_size_is_refused_with_what_to_do():
    class Checked(nn.Module):
        def __init__(self, is_said):
            super().__init__()
            self.is_said = is_said

        def forward(self, x):
            positive = x[x > 0]
            if self.is_said:
                torch._check(positive.numel() > 0)
            return positive.mean() if positive.numel() > 0 else x.sum()

    text = (
        "a choice by a value: return positive.mean() if positive.numel() > 0 else x.sum() "
        "(test_value_sizes.py:LINE). Write it with torch.where, or with torch.cond "
        "where one side alone may run; float(x) of an array is x itself; what is always so is said "
        "with torch._check. A check, an assert or an if that only raises or prints, is dropped by itself"
    )
    x = torch.tensor([1.0, -2.0, 3.0])
    with pytest.raises(errors.ConversionError, match=re.escape(text).replace("LINE", r"\d+") + "$"):
        na.trace_graph(Checked(False), x)
    assert na.trace_graph(Checked(True), x)(x).item() == 2.0


# -- operations that ATen calls otherwise ---------------------------------------------------


class Unpooled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2, 1, 1))
        self.pool, self.unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)

    def forward(self, x):
        return self.unpool(*self.pool(x * self.scale), output_size=x.shape[2:])


def test_maxima_put_back():
    torch.manual_seed(0)
    # JAX compiles each operation of the derivative of a scatter for seconds
    assert_agrees(Unpooled(), torch.randn(2, 2, 5, 4), backends=("numpy", "torch", "tensorflow"))


def test_an_embedding_bag_that_is_not_trained():
    torch.manual_seed(0)
    net = nn.Sequential(nn.EmbeddingBag.from_pretrained(torch.randn(7, 3), mode="mean"))
    assert_agrees(net, torch.tensor([[1, 2, 6], [0, 0, 5]]), gradients=False)


# -- averages of all batches ----------------------------------------------------------------


def test_running_statistics_that_are_averages_of_all_batches():
    torch.manual_seed(0)
    x = torch.randn(3, 4, 2, 3, 5, 5)
    net = nn.Sequential(nn.Conv2d(3, 4, 2), nn.BatchNorm2d(4, momentum=None), nn.ReLU())
    graph = na.trace_graph(net, x[0, 0], train=True)
    twins = {backend: graph.to_backend(backend) for backend in BACKENDS}
    states = {backend: twin.s for backend, twin in twins.items()}
    net = copy.deepcopy(net).train()  # a graph shares the memory of its source's buffers
    for batch in x[:, 0]:
        want = net(batch)
        for backend, twin in twins.items():
            got, states[backend] = twin(na.to_backend(batch, backend), s=states[backend])
            np.testing.assert_allclose(host(got), host(want), rtol=1e-4, atol=1e-5)
            for name, buffer in net.named_buffers():
                now = host(states[backend][name.replace(".", "/")])
                np.testing.assert_allclose(now, host(buffer), rtol=1e-5, atol=1e-6, err_msg=name)
    assert twins["numpy"].verify().ok
    assert nn.BatchNorm2d.forward.__qualname__ == "_BatchNorm.forward"  # torch is restored
