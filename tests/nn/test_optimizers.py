"""Optimizers: the numbers of optax and torch.optim, on every backend."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch

import nestarray as na
from nestarray import errors, nn
from nestarray.testing import assert_close

_RNG = np.random.default_rng(0)
_START = {"a": {"w": _RNG.standard_normal((3, 2)).astype("float32")}, "b": np.ones(2, "float32")}
_GRADS = [
    {"a": {"w": _RNG.standard_normal((3, 2)).astype("float32")}, "b": _RNG.random(2, "float32")}
    for _ in range(5)
]

_CASES = {
    "sgd": (nn.SGD(0.1), optax.sgd(0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "momentum": (
        nn.SGD(0.1, momentum=0.9),
        optax.sgd(0.1, momentum=0.9),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    ),
    "nesterov": (
        nn.SGD(0.1, momentum=0.9, nesterov=True),
        optax.sgd(0.1, momentum=0.9, nesterov=True),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    ),
    "adam": (nn.Adam(0.01), optax.adam(0.01), lambda p: torch.optim.Adam(p, 0.01)),
    "adamw": (
        nn.AdamW(0.01, weight_decay=0.1),
        optax.adamw(0.01, weight_decay=0.1),
        lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.1),
    ),
}


def _run(optimizer, backend):
    v = na.Container(_START).to_backend(backend)
    state = optimizer.init(v)
    for g in _GRADS:
        v, state = optimizer.step(v, na.Container(g).to_backend(backend), state)
    return v.to_backend("numpy"), state


def _optax(transform):
    v = na.Container(_START).to_backend("jax")
    state = transform.init(v)
    for g in _GRADS:
        updates, state = transform.update(na.Container(g).to_backend("jax"), state, v)
        v = optax.apply_updates(v, updates)
    return v.to_backend("numpy")


def _torch(make):
    v = na.Container(_START).to_backend("torch").map(lambda x: x.clone())
    leaves = v.leaves()
    optimizer = make(list(leaves))
    for g in _GRADS:
        for leaf, slope in zip(leaves, na.Container(g).to_backend("torch").leaves()):
            leaf.grad = slope
        optimizer.step()
    return v.to_backend("numpy")


@pytest.mark.parametrize("name", _CASES)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_the_numbers_of_optax_and_torch(name, backend):
    ours, theirs, torchs = _CASES[name]
    got, state = _run(ours, backend)
    for expected in (
        _optax(theirs),
        _torch(torchs),
    ):  # five float32 steps, each rounded its own way
        for path, leaf in got.flat_items():
            np.testing.assert_allclose(leaf, expected[path], rtol=2e-6, atol=1e-6, err_msg=path)
    assert int(state["count"]) == len(_GRADS)


def test_a_schedule_is_called_with_the_number_of_steps_done():
    seen = []

    def schedule(count):
        seen.append(int(count))
        return 0.1 / (1 + count)

    v, _ = _run(nn.SGD(schedule), "jax")
    expected, _ = _run(nn.SGD(0.1), "jax")
    assert seen == [0, 1, 2, 3, 4]
    assert not np.allclose(v["b"], expected["b"])


def test_integers_and_other_leaves_stay():
    v = na.Container(w=np.ones(2, "float32"), n=np.arange(2), name="x")
    grads = na.Container(w=np.ones(2, "float32"), n=np.zeros(2, int), name="x")
    optimizer = nn.Adam(0.1)
    new, _ = optimizer.step(v, grads, optimizer.init(v))
    assert new["n"] is v["n"]
    assert new["name"] == "x"
    assert new["w"].dtype == np.float32
    assert_close(new["w"], np.full(2, 0.9, "float32"))  # the first step of Adam is the rate


def test_half_precision_stays_half():
    v = na.Container(w=jnp.ones(2, "bfloat16"))
    optimizer = nn.Adam(lambda count: 0.1 / (1 + count))
    new, state = optimizer.step(v, v, optimizer.init(v))
    assert new["w"].dtype == jnp.bfloat16
    assert state["mu/w"].dtype == jnp.bfloat16


def test_decay_of_a_part():
    v = na.Container(w=np.ones(2, "float32"), b=np.ones(2, "float32"))
    optimizer = nn.AdamW(0.1, weight_decay=0.5, decay="w")
    new, _ = optimizer.step(v, v * 0.0, optimizer.init(v))
    np.testing.assert_allclose(new["w"], 0.95)
    np.testing.assert_array_equal(new["b"], 1.0)


def test_errors():
    with pytest.raises(
        errors.ArgumentError, match=r"^optimizer\.init: v: got dict, expected a Container"
    ):
        nn.SGD(0.1).init({"w": np.ones(2)})
    with pytest.raises(errors.ArgumentError, match=r"v has no floating leaf"):
        nn.SGD(0.1).init(na.Container(n=np.arange(3)))
    v = na.Container(w=np.ones(2, "float32"))
    optimizer = nn.SGD(0.1)
    with pytest.raises(errors.StructureError, match=r"'w' is in the (left|right) one"):
        optimizer.step(v, na.Container(u=np.ones(2, "float32")), optimizer.init(v))
    adam = nn.Adam(1e-3)
    for wrong, shown in (
        ({}, "dict"),
        (v, "a Container of w"),
        (optimizer.init(v), "a Container of count"),
    ):
        with pytest.raises(errors.ArgumentError) as info:
            adam.step(v, v, wrong)  # pyright: ignore[reportArgumentType]
        assert str(info.value) == (
            f"optimizer.step: state: got {shown}, expected a Container of count, mu, nu, as "
            "optimizer.init(v) makes it; the call is step(v, grads, state)"
        )


@pytest.mark.parametrize("rate", ["1e-3", None, {"w": 0.1}])
def test_what_is_no_learning_rate(rate):
    with pytest.raises(errors.ArgumentError) as info:
        nn.Adam(rate)
    assert str(info.value) == (
        f"Adam: learning_rate: got {rate!r}, expected a number, or a function of the number of steps "
        "done"
    )
