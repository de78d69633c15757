"""Trees with typed random keys of JAX, as models with ``nnx.Dropout`` have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import nestarray as na
from nestarray.errors import DtypeError, IndexingError


class Net(nnx.Module):
    """A layer and a dropout with its own stream of keys."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)


KEY = "RngKey/dropout/rngs/key"


def tree() -> na.Container:
    c = na.Container.from_flax(Net(nnx.Rngs(0)))
    assert jnp.issubdtype(c[KEY].dtype, jax.dtypes.prng_key)
    return c


OPS: dict[str, Callable[[Any], Any]] = {
    "number": lambda c: c * 2.0 + 1.0,
    "number first": lambda c: 1.0 - c,
    "two trees": lambda c: c + c * c,
    "bools first": lambda c: na.multiply(c.map(lambda _: True), c),
    "unary": na.exp,
    "reduction": na.mean,
    "comparison": lambda c: na.less(c, 0.5),
    "setting": lambda c: na.clip(c, 0.0, max=1.0),
    "pair": lambda c: divmod(c, 2.0)[1],
    "cast": lambda c: c.astype("float32"),
    "lerp": lambda c: c.lerp(c * 0.0, 0.5),
    "ema": lambda c: c.ema(c * 0.0, 0.5),
    "clip": lambda c: c.global_clip(0.1),
    "at": lambda c: c.at["**"].set(0.0),
    "numpy": np.exp,
    "fused": lambda c: (c.fuse() * 2.0).unfuse(),
    "vmap": lambda c: na.vmap(na.exp)(na.stack([c, c]))[0],
}


@pytest.mark.parametrize("fn", OPS.values(), ids=OPS)
@pytest.mark.parametrize("transform", [lambda fn: fn, na.jit], ids=["eager", "jit"])
def test_numeric_ops_pass_keys_through(fn: Any, transform: Any) -> None:
    c = tree()
    changed = transform(fn)(c)
    rest = c.exclude(KEY)
    expected = transform(fn)(rest)
    assert changed.paths() == c.paths()
    if fn is not OPS["comparison"]:
        assert (changed[KEY] == c[KEY]).all()
    for path in rest.paths():
        np.testing.assert_array_equal(changed[path], expected[path])


def test_keys_alone() -> None:
    keys = tree().select(KEY)
    assert (na.exp(keys + keys)[KEY] == keys[KEY]).all()
    assert keys.tree_norm() == 0.0
    assert keys.tree_ravel()[0].shape == (0,)


def test_reductions_and_selections_leave_keys_out() -> None:
    c = tree()
    rest = c.exclude(KEY)
    for reduce in (na.tree_sum, na.tree_norm, na.tree_max, lambda c: na.tree_dot(c, c)):
        np.testing.assert_array_equal(reduce(c), reduce(rest))
    vector, unravel = c.tree_ravel()
    assert vector.shape == (10,)
    assert (unravel(vector)[KEY] == c[KEY]).all()
    assert c.select(dtype="real floating").paths() == ("params/linear/bias", "params/linear/kernel")
    assert not c.diff(c.at["params"].multiply(1.0))


def test_ops_of_elements_include_keys() -> None:
    c = tree()
    assert na.stack([c, c])[KEY].shape == (2,)
    assert na.expand_dims(c, axis=0)[KEY].shape == (1,)
    assert na.tree_all(c == c)
    assert na.random.normal(c.select(KEY), shape=(4,))[KEY].shape == (4,)


def test_gradients_leave_keys_out() -> None:
    c = tree()
    grads = na.grad(lambda c: na.tree_sum(c["params"] * 2.0))(c)
    np.testing.assert_array_equal(grads["params/linear/kernel"], np.full((2, 3), 2.0))
    stepped = c - 0.5 * grads
    assert (stepped[KEY] == c[KEY]).all()
    np.testing.assert_array_equal(
        stepped["params/linear/bias"], c["params/linear/bias"] - np.float32(1.0)
    )


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
def test_conversion_carries_keys_as_words(backend: str) -> None:
    net = Net(nnx.Rngs(0))
    c = na.Container.from_flax(net)
    moved = c.to_backend(backend)
    words = moved.to_backend("numpy")[KEY]
    assert words.dtype == np.uint32
    np.testing.assert_array_equal(words, jax.random.key_data(c[KEY]))
    restored = moved.to_flax(net)
    assert (restored.dropout.rngs.key.get_value() == c[KEY]).all()
    np.testing.assert_array_equal(restored.dropout(jnp.ones(8)), net.dropout(jnp.ones(8)))


def test_errors_of_other_leaves_remain() -> None:
    with pytest.raises(IndexingError, match="axis: got 5"):
        na.sum(tree(), axis=5)
    with pytest.raises(DtypeError, match="key<fry>"):
        na.exp(jax.random.key(0))
