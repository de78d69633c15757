"""A network trained from one key, with dropout, ends at the same loss on every backend."""

from __future__ import annotations

from typing import Any

import pytest

import nestarray as na
from nestarray import nn

STEPS = 200


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 16)
        self.dropout = nn.Dropout(0.2)
        self.second = nn.Linear(16, 1)

    def forward(self, x: Any) -> Any:
        return self.second(self.dropout(na.tanh(self.first(x))))


def losses_at(backend: str) -> tuple[float, float]:
    """The losses before the first and after the last step; data, weights and masks come of one key."""
    key = na.random.key(0, backend=backend)
    weights, data, masks = (na.random.fold_in(key, name) for name in ("v", "x", "masks"))
    net = Net().init(weights)
    x = na.random.normal(data, (32, 4))
    target = na.sum(na.sin(x), axis=1, keepdims=True)
    optimizer = nn.Adam(0.01)

    def loss_of(v: Any, key: Any, train: bool) -> Any:
        y = net(x, v=v, s=net.s, train=train, key=key)
        return na.mean(na.square((y[0] if train else y) - target))

    def step(i: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        v, state = carry
        key = na.random.fold_in(masks, i)
        _, grads = na.execute_with_gradients(lambda v: loss_of(v, key, True), v)
        return optimizer.step(v, grads, state)

    def train(v: Any) -> Any:
        return na.fori_loop(0, STEPS, step, (v, optimizer.init(v)))[0]

    if backend in ("jax", "tensorflow"):  # their single calls are slow
        train = na.jit(train)
    before = float(loss_of(net.v, masks, False))
    return before, float(loss_of(train(net.v), masks, False))


COMPILED = [pytest.param(name, marks=pytest.mark.full) for name in ("jax", "tensorflow")]


@pytest.mark.release
@pytest.mark.parametrize("backend", ["torch", *COMPILED])
def test_the_losses_of_200_steps_with_dropout_agree(backend: str) -> None:
    expected = losses_at("numpy")
    assert expected[1] < expected[0] / 4
    assert losses_at(backend) == pytest.approx(expected, rel=1e-5)
