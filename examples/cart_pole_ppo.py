"""Proximal policy optimization (PPO) learns to balance a pole on a cart.

The environment is a pure function, mapped over carts by `na.vmap` and rolled out by `na.scan`.

usage: python examples/cart_pole_ppo.py [--backend numpy | jax | torch | tensorflow]
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import nestarray as na
from nestarray import nn

CARTS, LENGTH, EPOCHS, DISCOUNT, TRACE, CLIP = 16, 64, 6, 0.99, 0.95, 0.2


def reset(key: Any) -> Any:
    """Position, speed, angle and angular speed of carts, `(carts, 4)`, with an upright pole."""
    return na.random.uniform(key, (CARTS, 4), minval=-0.05, maxval=0.05)


def move(cart: Any, action: Any) -> tuple[Any, Any]:
    """The cart 0.02 s later, pushed to the left (0) or right (1); and 1 if it failed, or 0."""
    _, speed, angle, turn = (cart[i] for i in range(4))
    sine, cosine = na.sin(angle), na.cos(angle)
    push = (20.0 * na.astype(action, "float32") - 10.0 + 0.05 * turn**2 * sine) / 1.1
    turning = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine**2 / 1.1))
    moving = push - 0.05 * turning * cosine / 1.1
    cart = cart + 0.02 * na.stack([speed, moving, turn, turning])
    return cart, na.astype((na.abs(cart[0]) > 2.4) | (na.abs(cart[2]) > 0.21), "float32")


class Agent(nn.Module):
    """The logits of the two actions and the value, `(*batch, 2)` and `(*batch,)`, of carts."""

    def __init__(self, size: int = 32) -> None:
        self.body = nn.Sequential(nn.Linear(4, size), nn.Tanh(), nn.Linear(size, size), nn.Tanh())
        self.policy, self.value = nn.Linear(size, 2), nn.Linear(size, 1)

    def forward(self, carts: Any) -> tuple[Any, Any]:
        x = self.body(carts)
        return self.policy(x), self.value(x)[..., 0]


def rollout(net: Agent, v: na.Container, carts: Any, key: Any) -> tuple[Any, na.Container]:
    """The carts after `LENGTH` moves, and the moves: arrays `(length, carts, …)`."""

    def step(carts: Any, keys: Any) -> tuple[Any, na.Container]:
        logits, value = net(carts, v=v)
        action = na.random.categorical(keys[0], logits)
        after, failed = na.vmap(move)(carts, action)
        row = na.Container(carts=carts, action=action, logits=logits, value=value, failed=failed)
        return na.where(failed[:, None] > 0.0, reset(keys[1]), after), row

    def trace(total: Any, row: Any) -> tuple[Any, Any]:
        total = row[0] + TRACE * row[1] * total
        return total, total

    carts, moves = na.scan(step, carts, na.random.split(key, (LENGTH, 2)))
    following = na.concat([moves.value[1:], net(carts, v=v)[1][None]], axis=0)
    goes_on = DISCOUNT * (1.0 - moves.failed)
    surprise = goes_on * following - moves.failed - moves.value  # a failure has the reward -1
    advantage = na.scan(trace, na.zeros_like(following[0]), (surprise, goes_on), reverse=True)[1]
    return carts, moves.update({"advantage": advantage})


def loss_fn(net: Agent, v: na.Container, moves: na.Container) -> Any:
    """The clipped policy loss, the squared error of the values, and a bonus for entropy."""
    logits, value = net(moves.carts, v=v)
    before = na.cross_entropy(moves.logits, moves.action, reduction="none")
    ratio = na.exp(before - na.cross_entropy(logits, moves.action, reduction="none"))
    advantage = (moves.advantage - na.mean(moves.advantage)) / (na.std(moves.advantage) + 1e-8)
    gain = na.minimum(ratio * advantage, na.clip(ratio, 1.0 - CLIP, 1.0 + CLIP) * advantage)
    entropy = na.cross_entropy(logits, na.softmax(logits))
    return 0.5 * na.mse_loss(value, moves.advantage + moves.value) - na.mean(gain) - 0.01 * entropy


def main(backend: str = "jax", steps: int = 60) -> list[float]:
    """The failures per move in each round of moves."""
    key = na.random.key(0, backend=backend)
    net = Agent().init(na.random.fold_in(key, "weights"))
    step = na.train_step(partial(loss_fn, net), nn.Adam(0.01), compile=backend != "torch")
    play = partial(rollout, net) if backend == "torch" else na.jit(partial(rollout, net))
    state, carts, failures = step.init(net.v), reset(na.random.fold_in(key, "carts")), []
    for i in range(steps):
        carts, moves = play(state["v"], carts, na.random.fold_in(key, i))
        for _ in range(EPOCHS):
            state, _ = step(state, moves)
        failures.append(float(na.mean(moves.failed)))
    print(f"{backend}: a failure in {failures[0]:.2%} → {failures[-1]:.2%} of the moves")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="jax")
    main(**vars(parser.parse_args()))
