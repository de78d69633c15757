"""Random bits in functions that torch.compile reads: one operation, the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import nestarray as na
from nestarray.testing import assert_close

KEY = na.random.key(3, backend="torch")
KEYS = na.random.split(KEY, 4)


def drawn(key: torch.Tensor) -> torch.Tensor:
    return na.random.uniform(na.random.fold_in(key, 7), (5,))


def dropped(x: torch.Tensor) -> torch.Tensor:
    return na.sum((x * na.random.dropout_mask(KEY, shape=x.shape, rate=0.5)) ** 2)


FUNCTIONS: dict[str, Callable[[], Any]] = {
    "bits": lambda: na.random.bits(KEY, (3, 4), dtype="uint64"),
    "bits of half the width": lambda: na.random.bits(KEY, (5,), dtype="uint16"),
    "integers": lambda: na.random.randint(KEY, (7,), -3, 2**31 - 1),
    "no numbers": lambda: na.random.uniform(KEY, (0, 3)),
    "one number": lambda: na.random.uniform(KEY, (), dtype="float64"),
    "keys": lambda: na.random.split(KEY, 3),
    "mapped over keys": lambda: na.vmap(drawn)(KEYS),
    "mapped twice": lambda: na.vmap(na.vmap(drawn))(na.reshape(KEYS, (2, 2, 2))),
    "one key for all": lambda: na.vmap(lambda x: x + drawn(KEY))(torch.ones(4, 5)),
    "differentiated": lambda: na.grad(dropped)(torch.arange(6.0)),
    "mapped and differentiated": lambda: na.vmap(na.grad(dropped))(torch.ones(2, 6)),
    "forward": lambda: na.jvp(dropped, (torch.ones(6),), (torch.ones(6),)),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:.*autograd.function.Function.*:DeprecationWarning")  # torch's
def test_the_numbers_of_plain_calls(name: str) -> None:
    torch._dynamo.reset()
    found = torch.compile(FUNCTIONS[name], backend="aot_eager", fullgraph=True)()
    for x, y in zip(
        *(na.tree.flatten(each)[0] for each in (found, FUNCTIONS[name]())), strict=True
    ):
        assert_close(x, y)


SAMPLERS: dict[str, Callable[[Any], Any]] = {
    "uniform": lambda shape: na.random.uniform(KEY, shape),
    "bits": lambda shape: na.random.bits(KEY, shape, dtype="uint64"),
    "dropout_mask": lambda shape: na.random.dropout_mask(KEY, 0.3, shape),
    "randint": lambda shape: na.random.randint(KEY, shape, 0, 10),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_symbolic_sizes(name: str) -> None:
    torch._dynamo.reset()
    sampler, programs = SAMPLERS[name], []

    def counted(program: Any, inputs: Any) -> Any:
        programs.append(program)
        return program

    compiled = torch.compile(
        lambda x: sampler(x.shape), backend=counted, fullgraph=True, dynamic=True
    )
    for shape in ((3, 4), (5, 2), (7, 6)):
        torch.testing.assert_close(compiled(torch.zeros(shape)), sampler(shape))
    assert len(programs) == 1


def test_one_operation() -> None:
    torch._dynamo.reset()
    programs: list[Any] = []

    def count(program: Any, inputs: Any) -> Any:
        programs.append([node.target for node in program.graph.nodes])
        return program

    def draw(x: torch.Tensor) -> torch.Tensor:
        return x * na.random.uniform(KEY, x.shape)

    torch.compile(draw, backend=count, fullgraph=True)(torch.ones(3))
    (calls,) = programs
    assert calls.count(torch.ops.nestarray.random_words) == 1
    assert len(calls) < 20  # the rounds alone are more than a hundred


def test_exported_programs_hold_no_operation_of_nestarray() -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
            return x * na.random.uniform(key, x.shape)

    x = torch.ones(3)
    program = torch.export.export(Net(), (x, KEY))
    assert "nestarray" not in str(program.graph)
    assert_close(program.module()(x, KEY), Net()(x, KEY))


COUNTS = torch.arange(3)
OPERATIONS = {
    "threefry2x32": (KEY.to(torch.int64), torch.zeros_like(COUNTS), COUNTS),
    "random_words": (KEY.to(torch.int64), 3, 32),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_follow_the_rules_of_torch(name: str) -> None:
    operation = getattr(torch.ops.nestarray, name).default
    torch.library.opcheck(operation, OPERATIONS[name])
