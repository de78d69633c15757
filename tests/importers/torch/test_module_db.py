"""Every module of torch's own records, traced and proved: outputs, state and gradients."""

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


#: Module and setting → why gradients are not compared.
WITHOUT_GRADIENTS = {
    ("PoissonNLLLoss", "full"): "by a target of 0: the product 0 · ∞ of a logarithm that is masked",
}


def _inputs(info: Any, train: bool) -> list[Any]:
    torch.manual_seed(0)
    return info.module_inputs_func(info, "cpu", torch.float64, False, training=train)


def prove(name: str, backend: str, train: bool, limit: int) -> int:
    info, count = RECORDS[name], 0
    with warnings.catch_warnings(), jax.enable_x64(True):
        warnings.simplefilter("ignore")  # torch's notes on its own modules
        for sample in _inputs(info, train)[:limit]:
            made, given = sample.constructor_input, sample.forward_input
            torch.manual_seed(0)
            module = info.module_cls(*made.args, **made.kwargs).double()
            graph = na.trace_graph(module, *given.args, train=train, **given.kwargs)
            has_gradients = not any(
                (name, k) in WITHOUT_GRADIENTS for k, value in made.kwargs.items() if value is True
            )
            report = graph.to_backend(backend).verify(nodes=False, gradients=has_gradients)
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


@pytest.mark.one_in(8)
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize(("name", "backend"), _quick())
def test_module(name: str, backend: str, train: bool) -> None:
    assert prove(name, backend, train, 2)


@pytest.mark.full
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("name", [name for name in RECORDS if name not in LEFT_OUT])
def test_module_on_all_inputs(name: str, train: bool) -> None:
    assert prove(name, "numpy", train, 100)
