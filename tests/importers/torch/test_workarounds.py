"""Workarounds are data: each has a reason that still holds, and applies only where it is needed."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.errors import ConversionError
from nestarray.importers.torch.trace import Trace
from nestarray.importers.torch.workarounds import WORKAROUNDS
from nestarray.importers.workarounds import Workaround
from tests.importers.torch import reproducers

NAMES = [each.name for each in WORKAROUNDS]


ROWS = [
    pytest.param(each, reproducer, id=reproducer.__name__)
    for each in WORKAROUNDS
    for reproducer in reproducers.REPRODUCERS[each.name]
]


@pytest.mark.parametrize(("workaround", "reproducer"), ROWS)
@pytest.mark.filterwarnings("ignore")
def test_the_reason_of_a_workaround_still_holds(
    workaround: Workaround, reproducer: Callable[[], None]
) -> None:
    if not workaround.applies_to(torch.__version__):
        reproducer()
        return
    # if this passes, the installed release is repaired: set `until`, or remove the record
    with pytest.raises(Exception):  # noqa: B017, PT011  each reproducer fails in its own way
        reproducer()


@pytest.mark.parametrize("workaround", WORKAROUNDS, ids=NAMES)
def test_the_installed_release_has_all_names(workaround: Workaround) -> None:
    assert not workaround.missing()


def test_names_of_workarounds_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert {*NAMES} == reproducers.REPRODUCERS.keys()


PLAIN = """
import inspect

import torch
from torch import nn

import nestarray as na
from nestarray.importers import patching


def refuse(*places):
    raise AssertionError(f"{places} are replaced")


patching._set = refuse
image, rows = torch.ones(2, 3, 8, 8), torch.ones(2, 4, 8)
layers = [
    (nn.Linear(8, 3), rows), (nn.Conv2d(3, 4, 3), image), (nn.ConvTranspose2d(3, 4, 3), image),
    (nn.BatchNorm2d(3), image), (nn.GroupNorm(3, 3), image), (nn.LayerNorm(8), rows),
    (nn.RMSNorm(8), rows), (nn.Embedding(5, 3), torch.tensor([[0, 4]])), (nn.Dropout(), rows),
    (nn.MaxPool2d(2), image), (nn.AdaptiveAvgPool2d(1), image), (nn.GELU(), rows),
    (nn.TransformerEncoderLayer(8, 2, batch_first=True), rows),
    (nn.Sequential(nn.Flatten(), nn.Linear(192, 2), nn.Softmax(-1)), image),
]
for layer, x in layers:
    na.trace_graph(layer.eval(), x)
    name = next(iter(inspect.signature(layer.forward).parameters))
    assert na.trace_graph(layer.eval(), x, dynamic={name: {0: "batch"}}).sizes
print("traced", len(layers))
"""


@pytest.mark.full
def test_plain_layers_are_traced_without_workarounds() -> None:
    """In a process of its own, which has no other threads and no custom functions."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PLAIN)], capture_output=True, text=True
    )
    assert run.stdout.startswith("traced"), run.stderr


class Quantized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.quantize = torch.ao.quantization.FakeQuantize()

    def forward(self, x: Any) -> Any:
        return self.quantize(x)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_missing_name_disables_one_workaround(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.ao.quantization import observer

    monkeypatch.delattr(observer, "check_min_max_valid")
    with pytest.raises(
        ConversionError,
        match=r"workaround 'fake quantization' needs torch\.ao\.quantization\.observer\.check_min_max_valid, "
        r"which torch 2\.\d+.* lacks .*install a release that `nestarray doctor` lists as tested",
    ):
        na.trace_graph(Quantized(), torch.ones(2))
    graph = na.trace_graph(nn.Linear(2, 3), torch.ones(1, 2))
    assert graph.verify(torch.ones(1, 2)).ok


class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return 1 * x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return 3 * grads[0]


def test_a_class_method_of_c_is_replaced_too() -> None:
    """Since torch 2.14 ``apply`` is a method of the class in C."""
    x = torch.ones(2)
    graph = na.trace_graph(lambda x: Triple.apply(x), x)
    value, slopes = na.execute_with_gradients(lambda x: na.sum(graph(x)), x)
    assert (float(value), slopes.tolist()) == (2.0, [3.0, 3.0])


def test_a_module_of_torch_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that needs it fails with its name, and others are traced."""
    name = "torch.nn.attention.flex_attention"
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr(torch.nn.attention, "flex_attention", raising=False)

    class Attention(nn.Module):
        def forward(self, x: Any) -> Any:
            from torch.nn.attention.flex_attention import flex_attention

            return flex_attention(x, x, x)

    with pytest.raises(ConversionError, match=r"flex_attention"):
        na.trace_graph(Attention(), torch.ones(1, 1, 4, 4))
    assert na.trace_graph(nn.Linear(2, 3), torch.ones(1, 2)).verify(torch.ones(1, 2)).ok


def test_a_workaround_applies_from_the_attempt_that_needs_it() -> None:
    trace = Trace(nn.Linear(2, 3).eval(), None)
    assert all(
        each.name in ("annotations of other threads", "torch.autograd.Function")
        for each in trace.applied
    )
    assert trace.apply_all()
    assert not trace.apply_all()
