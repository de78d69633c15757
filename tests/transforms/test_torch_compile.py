"""Transformations, loops and random numbers inside of what people hand to torch.compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import nestarray as na
from nestarray.dynamo import compile_time_constant
from nestarray.testing import assert_close

square = na.custom_vjp(lambda x: x * x)
square.defvjp(lambda x: (x * x, x), lambda x, g: (2 * x * g,))

OPTIMIZER = na.nn.AdamW(1e-2)
V = na.Container(w=torch.tensor([1.0, -2.0, 3.0]))
STATE = OPTIMIZER.init(V)
X = torch.tensor([[1.0, 2.0, -1.0], [0.5, -3.0, 2.0]])


def key() -> torch.Tensor:
    return na.random.key(3, backend="torch")


def cubes(x: torch.Tensor) -> torch.Tensor:
    return na.sum(x**3)


FUNCTIONS: dict[str, Callable[[torch.Tensor], Any]] = {
    "vmap": lambda x: na.vmap(na.grad(cubes))(x),
    "vmap of trees": lambda x: na.vmap(lambda c: c * 2)(na.Container(a=x)),
    "grad of grad": lambda x: na.grad(lambda y: na.sum(na.grad(cubes)(y)))(x),
    "jacrev": lambda x: na.jacrev(na.sin)(x[0]),
    "jacfwd": lambda x: na.jacfwd(na.sin)(x[0]),
    "hessian": lambda x: na.hessian(cubes)(x[0]),
    "jvp": lambda x: na.jvp(na.sin, (x,), (x,)),
    "vjp": lambda x: na.vjp(na.sin, x)[1](x),
    "linearize": lambda x: na.linearize(na.sin, x)[1](x),
    "custom_vjp": lambda x: na.grad(lambda y: na.sum(square(y)))(x),
    "checkpoint": lambda x: na.grad(lambda y: na.sum(na.checkpoint(na.sin)(y)))(x),
    "scan": lambda x: na.grad(lambda y: na.sum(na.scan(lambda c, r: (c + r, c * r), y[0], y)[1]))(x),
    "while_loop": lambda x: na.while_loop(lambda c: na.sum(c) < 100.0, lambda c: c * 2 + 1, x),
    "cond": lambda x: na.cond(na.sum(x) > 0, lambda y: y * 2, lambda y: y - 1, x),
    "associative_scan": lambda x: na.associative_scan(na.add, x),
    "random": lambda x: [na.random.normal(k, (2,)) for k in na.random.split(key(), 2)],
    "permutation": lambda x: na.random.permutation(na.random.fold_in(key(), 1), x),
    "optimizer": lambda x: OPTIMIZER.step(V, na.Container(w=x[0]), STATE),
    "wrt": lambda x: na.execute_with_gradients(lambda v: na.sum(v.w * x[0]), V, wrt="w"),
}  # fmt: skip


QUICK = ("vmap of trees", "jvp", "custom_vjp", "cond", "wrt")


@pytest.mark.filterwarnings("ignore:.*autograd.function.Function.*:DeprecationWarning")  # torch's
@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.full) for n in FUNCTIONS]
)
def test_read_in_one_piece(name: str) -> None:
    torch._dynamo.reset()
    expected = FUNCTIONS[name](X)
    found = torch.compile(FUNCTIONS[name], backend="eager", fullgraph=True)(X)
    leaves, wanted = na.tree.flatten(found)[0], na.tree.flatten(expected)[0]
    assert leaves
    for x, y in zip(leaves, wanted, strict=True):
        assert_close(x, y)


def test_older_versions_compile_what_is_around_calls(monkeypatch):
    """Dynamo before PyTorch 2.12 cannot call constant functions with objects: it stops with a message."""
    import torch._dynamo
    from torch.torch_version import TorchVersion

    monkeypatch.setattr(torch, "__version__", TorchVersion("2.11.0"))

    @compile_time_constant
    def factor(kind: type) -> float:
        return 2.0 if kind is torch.Tensor else 3.0

    def around(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(x) * factor(type(x))

    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"calls of nestarray from PyTorch 2\.12 on"):  # fmt: skip
        torch.compile(around, backend="eager", fullgraph=True)(X)
    assert_close(torch.compile(around, backend="eager")(X), torch.sin(X) * 2)
