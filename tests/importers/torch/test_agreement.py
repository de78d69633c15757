"""Small modules in every way to run them, against eager PyTorch."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

import nestarray as na
from tests.importers.agreement import Expected, check, weights
from tests.importers.torch.rows import FAMILIES

ROWS = [(family, name) for family, rows in FAMILIES.items() for name in rows]


def made(family: str, name: str) -> tuple[Any, Any]:
    """(module, input)."""
    torch.manual_seed(0)
    return FAMILIES[family][name]().double(), torch.randn(4, 3, dtype=torch.float64)


@functools.cache
def converted(family: str, name: str) -> tuple[Any, Any]:
    """(input, result of `na.to_module`)."""
    net, x = made(family, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's notes on reentrant checkpoints
        return x, na.to_module(net, x)


@functools.cache
def eager(family: str, name: str, train: bool) -> Expected:
    """The results of the module."""
    net, x = made(family, name)
    net.train(train)
    x.requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = [y for y in tree_leaves(net(x)) if isinstance(y, torch.Tensor)]
    terms = [
        (y * torch.from_numpy(weights(tuple(y.shape)))).sum()
        for y in outputs
        if y.is_floating_point()
    ]
    total = sum(terms)
    if total.requires_grad:
        total.backward()

    def gradient(x: Any) -> Any:
        return (torch.zeros_like(x) if x.grad is None else x.grad).numpy()

    return Expected(
        [y.detach().numpy().copy() for y in outputs],
        {
            n.replace(".", "/"): y.detach().numpy().copy()
            for n, y in (*net.named_buffers(), *net.named_parameters())
        },
        {n.replace(".", "/"): gradient(p) for n, p in net.named_parameters() if p.requires_grad},
        [gradient(x)],
    )


@pytest.mark.release("family", "backend")
@pytest.mark.one_in(64)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("backend", ["jax", "tensorflow", "numpy"])
@pytest.mark.parametrize(("family", "name"), ROWS, ids=map("-".join, ROWS))
def test_row(family: str, name: str, backend: str, train: bool, tmp_path: Path) -> None:
    x, module = converted(family, name)
    check(module, backend, [x.numpy()], train, eager(family, name, train), tmp_path)


def test_every_family_has_ten_rows() -> None:
    assert {family: len(rows) for family, rows in FAMILIES.items() if len(rows) < 10} == {}
