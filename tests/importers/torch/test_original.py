"""`verify` finds differences between a module and its export.

Each test disables the part of the importer that keeps them equal.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import nestarray as na
from nestarray.importers.torch import exporting, trace, workarounds
from nestarray.importers.torch.outputs import plain_output
from nestarray.importers.torch.workarounds import autograd_functions
from tests.importers.torch.rows import STATE, Function


class Signs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        return g.sign()


class Shifted(Signs):
    @staticmethod
    def backward(ctx, g):
        return g + 0.5


def hooked(layer: Any, x: Any) -> Any:
    h = layer(x)
    h.register_hook(lambda g: g * 10)
    return h * 2


def written_data(layer: Any, x: Any) -> Any:
    h = layer(x)
    h.data[0] = 5.0
    return h * h


def written_detached(layer: Any, x: Any) -> Any:
    h = layer(x)
    h.detach()[0] = 5.0
    return h * h


def written_windows(layer: Any, x: Any) -> Any:
    h = layer(x)
    h.unfold(1, 2, 2).mul_(3.0)
    return h


def write_later(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Write assigned buffers, and return the output without a copy."""
    old = module.h
    output = plain_output(module(*args, **kwargs))
    new, module.h = module.h, old
    old.copy_(new)
    return output


def nothing(*_: Any) -> None:
    pass


def always(*_: Any) -> bool:
    return True


def without(name: str) -> tuple[Any, str, Any]:
    """A trace that does not know a workaround."""
    known = tuple([each for each in workarounds.WORKAROUNDS if each.name != name])
    assert len(known) < len(workarounds.WORKAROUNDS)
    return trace, "WORKAROUNDS", known


GRADIENTS = ["gradient of layer/weight", "gradient of layer/bias", "gradient of x"]

#: name → module, whether it trains, the disabled part, and the difference.
CASES = {
    "checkpoint": (
        Function(lambda layer, x: checkpoint(layer, torch.tanh(layer(x)), use_reentrant=True)),
        without("torch.autograd.Function"),
        GRADIENTS,
    ),
    "instance_norm": (
        STATE["instance_norm"]().train(),
        without("instance norm"),
        ["1/running_mean", "1/running_var"],
    ),
    "hook": (Function(hooked), (trace, "_refuse_hook", nothing), GRADIENTS),
    "data": (Function(written_data), (exporting, "refuse_lost_writes", nothing), GRADIENTS),
    "detach": (Function(written_detached), (exporting, "refuse_lost_writes", nothing), GRADIENTS),
    "detach_": (
        Function(lambda layer, x: layer(x).detach_() * layer(x)),
        (exporting, "detach_in_place", nothing),
        GRADIENTS,
    ),
    "signs": (
        Function(lambda layer, x: Signs.apply(layer(x))),
        (autograd_functions, "_is_linear", always),
        GRADIENTS,
    ),
    "shifted": (
        Function(lambda layer, x: Shifted.apply(layer(x))),
        (autograd_functions, "_is_linear", always),
        GRADIENTS,
    ),
    "old_buffer": (
        STATE["old_returned"](),
        (exporting, "call_with_writes", write_later),
        ["1"],
    ),
    "windows": (
        Function(written_windows),
        (exporting, "refuse_lost_writes", nothing),
        ["output", *GRADIENTS],
    ),
}


@pytest.mark.filterwarnings("ignore:.*use_reentrant")
@pytest.mark.parametrize("name", CASES)
def test_export_that_differs_from_its_module(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, disabled, differing = CASES[name]
    torch.manual_seed(0)
    x = torch.randn(4, 3)
    before = copy.deepcopy(module.state_dict())
    monkeypatch.setattr(*disabled)
    report = na.trace_graph(module, x, train=module.training and name == "instance_norm").verify()
    assert not report.ok
    assert sorted(c.name for c in report.export if not c.ok) == sorted(differing)
    assert "the export differs from the module at " in str(report)
    assert report.to_dict()["export"]
    assert all(torch.equal(a, before[n]) for n, a in module.state_dict().items())


@pytest.mark.parametrize("name", ["hook", "data", "detach", "signs", "shifted", "windows"])
def test_refused(name: str) -> None:
    with pytest.raises(na.errors.ConversionError, match="trace_graph: ") as caught:
        na.trace_graph(CASES[name][0], torch.randn(4, 3))
    assert "hook" in str(caught.value) or "write" in str(caught.value) or "linear" in str(caught)


class Chain(nn.Module):
    """Dropout, and a layer without gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.frozen = nn.Linear(3, 3), nn.Linear(3, 3).requires_grad_(False)

    def forward(self, x: Any, scale: float = 1.0, *, mask: Any) -> dict[str, Any]:
        h = torch.dropout(self.first(x), 0.5, self.training)
        return {"h": self.frozen(h) * scale, "rows": [mask * h, torch.rand_like(h) + h]}


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_random_numbers_of_module_and_export_agree(train: bool) -> None:
    x, mask, module = torch.ones(4, 3), torch.ones(4, 3), Chain()
    state = torch.get_rng_state()
    graph = na.trace_graph(module, x, 2.0, mask=mask, train=train).to_backend("numpy")
    report = graph.verify()
    assert report.ok, str(report)
    assert [c.name for c in report.export] == [
        *("h", "rows/0", "rows/1"),
        *("gradient of first/weight", "gradient of first/bias"),
        *("gradient of x", "gradient of mask"),
    ]
    assert [c.name for c in report.input_gradients] == ["x", "mask"]
    assert torch.equal(torch.get_rng_state(), state)


def test_functions_are_called_with_copies_of_their_modules() -> None:
    norm = nn.BatchNorm1d(3)

    def program(x):
        return norm(x) * 2

    before = copy.deepcopy(norm.state_dict())
    report = na.trace_graph(program, torch.randn(4, 3)).verify()
    assert report.ok, str(report)
    assert report.export
    assert all(torch.equal(a, before[n]) for n, a in norm.state_dict().items())


class Uncopied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lock = open(__file__)  # noqa: SIM115

    def forward(self, x: Any) -> Any:
        return x * 2


def test_module_that_cannot_be_copied() -> None:
    module = Uncopied()
    report = na.trace_graph(module, torch.ones(3)).verify()
    module.lock.close()
    assert report.ok
    assert not report.export
    assert "export: the module itself is not compared: TypeError: cannot pickle" in str(report)
