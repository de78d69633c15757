"""Every module of torch's own records, traced and proved: outputs, state and gradients.

A module stands behind a sum with a parameter of zeros, so that the gradient of its first
floating input is compared too, whether or not it has parameters.
"""

from __future__ import annotations

import warnings
import zlib
from typing import Any

import jax
import pytest
import torch
from torch.testing._internal.common_modules import module_db

import nestarray as na
from nestarray.config import BACKENDS

RECORDS = {info.name.removeprefix("nn."): info for info in module_db}

#: Modules that no graph can be made of, and why.
LEFT_OUT = {
    name: "has no parameters before its first call, which torch.export needs; call it once"
    for name in RECORDS
    if name.startswith("Lazy")
} | {
    "GaussianNLLLoss": "torch.export cannot: upstream looks whether a variance is negative",
}


#: Module and sample → why gradients are not compared on JAX.
WITHOUT_GRADIENTS = {
    (
        "LPPool1d",
        "norm",
    ): "roots of negative numbers: what relu makes of the gradient at NaN differs",
}


class Shifted(torch.nn.Module):
    """A module behind ``x + 0``, the zeros being a parameter."""

    def __init__(self, module: torch.nn.Module, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.module = module
        self.place = next((i for i, x in enumerate(args) if _is_floating(x)), None)
        if self.place is not None:
            self.shift = torch.nn.Parameter(torch.zeros_like(args[self.place]))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.place is not None:
            args = tuple(x + self.shift if i == self.place else x for i, x in enumerate(args))
        return self.module(*args, **kwargs)


def _is_floating(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.is_floating_point()


def _inputs(info: Any, train: bool) -> list[Any]:
    torch.manual_seed(0)
    return info.module_inputs_func(info, "cpu", torch.float64, False, training=train)


def _prove(name: str, backend: str, train: bool, limit: int) -> int:
    info, count = RECORDS[name], 0
    with warnings.catch_warnings(), jax.enable_x64(True):
        warnings.simplefilter("ignore")  # torch's notes on its own modules
        for sample in _inputs(info, train)[:limit]:
            made, given = sample.constructor_input, sample.forward_input
            torch.manual_seed(0)
            module = info.module_cls(*made.args, **made.kwargs).double()
            net = Shifted(module, given.args)
            graph = na.trace_graph(net, *given.args, train=train, **given.kwargs)
            both = backend != "jax" or (name, sample.desc) not in WITHOUT_GRADIENTS
            report = graph.to_backend(backend).verify(nodes=False, gradients=both)
            assert report.ok, f"{sample.desc}: {report}"
            count += 1
    return count


def _quick() -> list[Any]:
    """A fifteenth of the modules, each on one backend; ``make test-full`` takes them all."""
    found = []
    for name in RECORDS:
        if name in LEFT_OUT:
            continue
        number = zlib.crc32(name.encode())
        for i, backend in enumerate(BACKENDS):
            is_chosen = number % 15 == 0 and (number // 15) % 4 == i
            marks = [] if is_chosen else [pytest.mark.full]
            found.append(pytest.param(name, backend, id=f"{backend}-{name}", marks=marks))
    return found


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize(("name", "backend"), _quick())
def test_module(name: str, backend: str, train: bool) -> None:
    assert _prove(name, backend, train, 2)


@pytest.mark.full
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("name", [name for name in RECORDS if name not in LEFT_OUT])
def test_module_on_all_inputs(name: str, train: bool) -> None:
    assert _prove(name, "numpy", train, 100)
