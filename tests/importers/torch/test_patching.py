"""Replacements of parts of torch act in the thread that traces, and end with the trace."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.importers.patching import patched


class Base:
    def value(self) -> int:
        return 1


class Derived(Base):
    pass


def test_what_was_there_is_there_again() -> None:
    functions: Any = torch._VF  # which finds them by its __getattr__
    lstm = functions.lstm
    places = (torch, "tanh", len), (Derived, "value", lambda self: 2), (functions, "lstm", len)
    before = torch.tanh

    def failing() -> None:
        with patched(*places):
            assert (torch.tanh([1]), functions.lstm([1]), Derived().value()) == (1, 1, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert (torch.tanh, functions.lstm, Derived().value()) == (before, lstm, 1)
    assert vars(Derived).keys().isdisjoint(["value"])
    assert vars(functions).keys().isdisjoint(["lstm"])


def test_replacements_nest() -> None:
    with patched((Base, "value", lambda self: 2)):
        with patched((Base, "value", lambda self: 3)):
            assert Base().value() == 3
        assert Base().value() == 2
    assert Base().value() == 1


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * 2 * ctx.saved_tensors[0]


def train_layers() -> None:
    norm = nn.BatchNorm1d(3, momentum=None).train()
    net = nn.Sequential(nn.Linear(3, 3), norm, nn.LayerNorm(3), nn.LSTM(3, 3))
    x = torch.arange(12.0).reshape(4, 3)
    net(x)[0].sum().backward()
    assert net[0].weight.grad is not None
    assert net[1].num_batches_tracked.item() == 1


def use_custom_function() -> None:
    x = torch.arange(3.0, requires_grad=True)
    (once,) = torch.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    (twice,) = torch.autograd.grad(once.sum(), x)
    assert torch.equal(once, 2 * x)
    assert torch.equal(twice, torch.full((3,), 2.0))


def use_generators() -> None:
    assert isinstance(torch.default_generator, torch.Generator)
    assert isinstance(torch.Generator(), torch.Generator)
    assert isinstance(torch.manual_seed(0), torch.Generator)
    assert torch.equal(torch.rand(2), torch.manual_seed(0) and torch.rand(2))


def use_inference_mode() -> None:
    with torch.inference_mode():
        assert torch.ones(2).is_inference()


def use_transforms() -> None:
    weight = torch.ones(1, 3, 2)
    loss = lambda x: nn.functional.conv1d(x[None], weight).sum()  # noqa: E731
    slopes = torch.func.vmap(torch.func.grad(loss))(torch.ones(4, 3, 5))
    assert slopes.shape == (4, 3, 5)
    double = lambda x: torch.cat([x, x])  # noqa: E731
    tangents = torch.func.jvp(double, (torch.ones(3),), (torch.ones(3),))[1]
    assert torch.equal(tangents, torch.ones(6))


def use_packed_sequences() -> None:
    packed = nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 3), torch.tensor([3, 1]))
    assert packed.data.shape == (4, 3)


def use_checks() -> None:
    with pytest.raises(ValueError, match="scale"):
        torch.distributions.Normal(torch.tensor(0.0), torch.tensor(-1.0))
    assert torch.equal(torch.ones(2), torch.ones(2)) is True


@pytest.mark.parametrize(
    "work",
    [
        train_layers,
        use_custom_function,
        use_generators,
        use_inference_mode,
        use_transforms,
        use_packed_sequences,
        use_checks,
    ],
)
@pytest.mark.parametrize("differentiates", [False, True])
def test_other_threads_keep_torch(
    work: Callable[[], None], differentiates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # torch.compile turns checks off for the rest of the process
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)
    finished: list[bool] = []

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            def run() -> None:
                work()
                finished.append(True)

            with ThreadPoolExecutor(1) as pool:
                pool.submit(run).result()
            loss = lambda x: self.linear(x).tanh().sum()  # noqa: E731
            return torch.func.grad(loss)(x) if differentiates else loss(x)

    with ThreadPoolExecutor(1) as pool:  # another thread than the test runner's
        graph = pool.submit(na.trace_graph, Net(), torch.ones(4, 3)).result()
    assert finished
    assert graph.verify().ok


def test_threads_trace_one_after_another() -> None:
    start = Barrier(3)

    def trace(width: int) -> na.Graph:
        start.wait()
        return na.trace_graph(nn.Linear(width, width), torch.ones(2, width))

    with ThreadPoolExecutor(3) as pool:
        graphs = list(pool.map(trace, [2, 3, 4]))
    assert [graph.v["bias"].shape[0] for graph in graphs] == [2, 3, 4]
    assert all(graph.verify().ok for graph in graphs)
