"""Control flow of torch modules: cond, while_loop, scan and map are calls with functions."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch._higher_order_ops import map as torch_map
from torch._higher_order_ops import scan

import nestarray as na
from nestarray import errors

BACKENDS = ("numpy", "jax", "torch", "tensorflow")


class Choice(nn.Module):
    """A choice in a choice, with parameters and a buffer in the branches."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("weight", torch.ones(3) * 2)

    def forward(self, x):
        y = torch.cond(
            x.sum() > 0,
            lambda x: torch.sin(self.fc(x)) * self.weight,
            lambda x: self.fc(x) + 1,
            (x,),
        )

        def outer(y):
            return torch.cond(y.max() > 1, lambda y: y * y, lambda y: y * 3, (y,))

        return torch.cond(y.mean() > 0, outer, lambda y: y * 5, (y,))


class Pair(nn.Module):
    """Branches with several results, of several dtypes."""

    def forward(self, x, i):
        return torch.cond(
            i > 2, lambda x, i: (x.exp(), i + 1), lambda x, i: (x - 1.0, i * 2), (x, i)
        )


class Loop(nn.Module):
    """As many steps as a value says."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x, n):
        _, y = torch.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, torch.tanh(self.fc(y))), (torch.tensor(0), x)
        )
        return y


class Recurrent(nn.Module):
    """A scan along the second dimension, from its end."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        def step(state, row):
            state = torch.tanh(self.fc(state["h"]) + row)
            return {"h": state}, state.sum(0)

        state, out = scan(step, {"h": torch.zeros(2, 3)}, x, dim=1, reverse=True)
        return state["h"], out


class Rows(nn.Module):
    """A function of each row, and of something else that is the same for all."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x, y):
        return torch_map(lambda row, y: torch.relu(self.fc(row)).sum() + y, x, y)


def _rows(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _called(function, *args):
    """torch's result; torch warns about itself when it compiles a function at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


#: name → (module, examples: the first is traced)
MODULES = {
    "cond": (Choice, [(torch.ones(2, 3),), (-torch.ones(2, 3),), (_rows(2, 3) * 3,)]),
    "results": (Pair, [(_rows(3), torch.tensor(3)), (_rows(3), torch.tensor(1))]),
    "while_loop": (Loop, [(_rows(2, 3), torch.tensor(n)) for n in (3, 0, 1)]),
    "scan": (Recurrent, [(_rows(2, 4, 3),)]),
    "map": (Rows, [(_rows(4, 3), torch.ones(2))]),
}


@functools.cache
def _traced(name: str):
    """(graph, [what torch gives for each example])."""
    torch.manual_seed(0)
    make, examples = MODULES[name]
    net = make()
    return na.trace_graph(net, *examples[0]), [_called(net, *example) for example in examples]


@pytest.mark.release("name")
@pytest.mark.one_in(16)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODULES)
def test_values_and_gradients_are_those_of_torch(name, backend):
    graph, wanted = _traced(name)
    graph = graph.to_backend(backend)
    has_gradients = name != "scan" or torch.__version__ >= "2.13"  # earlier ones are wrong
    for example, expected in zip(MODULES[name][1], wanted, strict=True):
        report = graph.verify(*example, gradients=has_gradients)
        assert report.ok, str(report)
        assert len(report.gradients) == (len(graph.v.leaves()) if has_gradients else 0)
        got = graph(*[na.to_backend(x, backend) for x in example])
        pairs = zip(got, expected) if isinstance(expected, tuple) else [(got, expected)]
        for ours, theirs in pairs:
            host = np.asarray(na.to_backend(ours, "numpy"))
            np.testing.assert_allclose(host, theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("cond", "jax"),
        ("while_loop", "tensorflow"),
        *[
            pytest.param(name, backend, marks=pytest.mark.full)
            for name in ("cond", "while_loop", "scan")
            for backend in ("jax", "tensorflow", "torch")
        ],
    ],
)
def test_compiled(name, backend):
    graph = _traced(name)[0].to_backend(backend)
    compiled = graph.compile(**({"backend": "aot_eager"} if backend == "torch" else {}))
    for example in MODULES[name][1]:
        given = [na.to_backend(x, backend) for x in example]
        pairs = zip(*[na.tree.flatten(f(*given))[0] for f in (compiled, graph)], strict=True)
        for ours, eager in pairs:
            host = [np.asarray(na.to_backend(x, "numpy")) for x in (ours, eager)]
            np.testing.assert_allclose(*host, rtol=1e-5, atol=1e-6)


@pytest.mark.full
def test_functions_are_printed_as_functions():
    text = str(_traced("cond")[0])
    assert (
        """
    def if_true():
        linear = torch.nn.functional.linear(x, v['fc/weight'], v['fc/bias'])  # float32[2, 3]
        sin = torch.sin(linear)  # float32[2, 3]
        mul = torch.mul(sin, s['weight'])  # float32[2, 3]
        return (mul,)

    def if_false():
"""
        in text
    )
    assert "    cond = torch.cond(gt, if_true, if_false)\n" in text
    assert "        def if_true_1():\n" in text  # of the inner choice
    text = str(_traced("scan")[0])
    assert (
        """
    def step(carry, row):
        (carry_0,) = carry
        (row_0,) = row
"""
        in text
    )
    assert "    scan = torch._higher_order_ops.scan(step, (zeros,), (flip,))\n" in text


def test_a_loop_of_open_sizes():
    graph = na.trace_graph(
        Loop(), _rows(2, 3), torch.tensor(2), dynamic={"x": {0: "batch"}}
    ).to_backend("numpy")
    assert graph.verify(_rows(5, 3), torch.tensor(3)).ok
    graph = na.trace_graph(Rows(), _rows(4, 3), torch.ones(2), dynamic={"x": {0: "rows"}})
    assert graph.to_backend("numpy").verify(_rows(7, 3), torch.ones(2)).ok


def test_a_loop_that_counts_in_numbers():
    class Powers(nn.Module):
        def forward(self, x):
            return torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), (0, x))[1]

    x = _rows(3)
    graph = na.trace_graph(Powers(), x)
    for backend in BACKENDS:
        got = graph.to_backend(backend)(na.to_backend(x, backend))
        np.testing.assert_allclose(na.to_backend(got, "numpy"), (x**8).numpy(), rtol=1e-5)


def test_random_numbers_in_a_branch_are_refused():
    class Noisy(nn.Module):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: x * torch.rand(3), lambda x: x + 1, (x,))

    with pytest.raises(errors.ConversionError) as caught:
        na.trace_graph(Noisy(), torch.ones(3))
    message = str(caught.value)
    assert message.startswith("trace_graph: torch.rand (")
    assert message.endswith(
        "draws random numbers in a function that torch.cond takes, where every step would draw the "
        "same; draw them before, and pass them as operands"
    )


# -- the functions of the frontend -----------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_frontend_s_functions(backend):
    import nestarray.frontends.torch as ours

    x = _rows(4, 3)
    given = na.to_backend(x, backend)
    higher = ours._higher_order_ops

    def same(got, expected):
        host = np.asarray(na.to_backend(got, "numpy"))
        np.testing.assert_allclose(host, expected.numpy(), rtol=1e-5, atol=1e-6)

    for sign in (1, -1):
        pred = ours.gt(ours.sum(given) * 0 + sign, 0)
        same(ours.cond(ours.reshape(pred, (1,)), ours.exp, ours.sin, (given,)), torch.exp(x) if sign > 0 else torch.sin(x))  # fmt: skip
    assert ours.cond(True, lambda: 1.0, lambda: 2.0) == 1.0
    (total,) = ours.while_loop(
        lambda y: ours.sum(y) < 100, lambda y: (ours.add(ours.mul(y, y), 1),), (given,)
    )
    want = x
    while want.sum() < 100:
        want = want * want + 1
    same(total, want)
    carry, ys = higher.scan(
        lambda c, row: (c + row, {"product": c * row}), ours.zeros_like(given[:, 0]), given, dim=1
    )
    theirs = scan(lambda c, row: (c + row, {"product": c * row}), torch.zeros(4), x, dim=1)
    same(carry, theirs[0])
    same(ys["product"], theirs[1]["product"])
    same(
        higher.map(lambda row, y: row * y, given, given[0]),
        torch_map(lambda r, y: r * y, x, x[0].clone()),
    )
    from torch._higher_order_ops import associative_scan

    for dim, reverse in ((0, False), (1, True)):
        same(
            higher.associative_scan(ours.mul, given, dim, reverse, combine_mode="pointwise"),
            associative_scan(torch.mul, x, dim, reverse, combine_mode="generic"),
        )
    square = _rows(5, 2, 2, seed=1)
    same(
        higher.associative_scan(
            ours.matmul, na.to_backend(square, backend), 0, combine_mode="generic"
        ),
        associative_scan(torch.matmul, square, 0, combine_mode="generic"),
    )


def test_errors_of_the_frontend_s_functions():
    import nestarray.frontends.torch as ours

    x = np.ones((2, 3))
    with pytest.raises(
        errors.ArgumentError,
        match=r"cond: pred: got an array of shape \(2, 3\), expected one element",
    ):
        ours.cond(x > 0, ours.exp, ours.sin, (x,))
    with pytest.raises(
        errors.ArgumentError, match="combine_mode: got 'fast', expected 'pointwise' or 'generic'"
    ):
        ours._higher_order_ops.associative_scan(ours.add, x, 0, combine_mode="fast")
