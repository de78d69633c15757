"""Asserts and conditions of errors are dropped; a bool that decides something else is refused."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import BACKENDS
from tests.importers.torch import checked


class Checked(nn.Module):
    def __init__(self, check) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.check = nn.Linear(3, 3), check

    def forward(self, x):
        y = self.fc(x)
        result = self.check(y)
        return torch.tanh(y if result is None else result)


X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("check", "texts"),
    [
        (checked.padded, ["assert (padded[:, 1:-1] == y).all(), f'lost {y.sum().item()}'"]),
        (
            checked.each,
            [
                "assert all(((row < 1000.0).all() for row in y))",
                "assert y.min() > -1000.0 and y.max() < 1000.0 and (not torch.isnan(y).any())",
                "assert 0 <= (y > 0).sum() <= 100",
            ],
        ),
        (
            checked.errors,
            [
                "if torch.isnan(y).any() or torch.isinf(y).any():",
                "if not (y < 1000.0).all():",
                "if (y > -1000.0).all():",
            ],
        ),
        (checked.messages, ["if y.sum() > 1000.0:", "if not torch.isfinite(y).all():"]),
        (
            checked.numbers,
            [
                "assert largest < 1000.0, largest",
                "if y.abs().max().item() > 1000.0 or largest != largest:",
            ],
        ),
        (
            checked.calls,
            [
                "assert is_small(y)",
                "if not is_small(y):",
                "torch._assert",
                "torch.testing.assert_close",
            ],
        ),
    ],
)
def test_checks_are_dropped(check, texts):
    graph = na.trace_graph(Checked(check), X)
    assert [text.partition(" (checked.py")[0] for text in graph.dropped] == texts
    for backend in BACKENDS if check is checked.errors else ("jax",):
        assert graph.to_backend(backend).verify().ok


@pytest.mark.parametrize(
    "choice",
    [
        checked.assigns,
        checked.returns,
        checked.mode,
        checked.falls_back,
        checked.handled_outside,
        checked.function_of_bool,
        checked.loop,
    ],
)
def test_choices_by_values_are_refused(choice):
    with pytest.raises(errors.ConversionError, match="value"):
        na.trace_graph(Checked(choice), X)
