"""Equinox modules in and out."""

from __future__ import annotations

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, StructureError
from tests.trees import is_same_pytree


class Net(eqx.Module):
    """Modules in a list, functions and numbers between arrays, shared weights, bfloat16."""

    layers: list[Any]
    mlp: eqx.nn.MLP
    scale: jax.Array
    tied: jax.Array
    rate: float
    nothing: None
    host: np.ndarray
    name: str = eqx.field(static=True, default="net")

    def __init__(self) -> None:
        keys = jax.random.split(jax.random.key(0), 3)
        self.layers = [
            eqx.nn.Linear(2, 3, key=keys[0]),
            jax.nn.relu,
            eqx.nn.Linear(3, 2, key=keys[1]),
        ]
        self.mlp = eqx.nn.MLP(2, 2, width_size=3, depth=1, key=keys[2])
        self.scale = jnp.ones((2,), "bfloat16")
        self.tied = self.layers[0].weight
        self.rate, self.nothing, self.host = 0.5, None, np.ones(2, "float64")

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.mlp(x) * self.scale


@cache
def net() -> Net:
    return Net()


def test_arrays_are_nested_by_field() -> None:
    c = na.Container.from_equinox(net())
    assert c.paths() == (
        "layers/0/weight", "layers/0/bias", "layers/2/weight", "layers/2/bias",
        "mlp/layers/0/weight", "mlp/layers/0/bias", "mlp/layers/1/weight", "mlp/layers/1/bias",
        "scale", "tied", "host",
    )  # fmt: skip
    own = jax.tree.leaves(eqx.filter(net(), eqx.is_array))
    assert all(a is b for a, b in zip(c.leaves(), own, strict=True))
    assert c["tied"] is c["layers/0/weight"]


def test_modules_come_back() -> None:
    c = na.Container.from_equinox(net())
    back = c.to_equinox(net())
    assert type(back) is Net
    assert is_same_pytree(back, net())
    assert back.tied is back.layers[0].weight
    assert na.Container.from_equinox(back).spec is c.spec


def test_other_values_leave_the_source_alone() -> None:
    c = na.Container.from_equinox(net())
    doubled = (c * 2).to_equinox(net())
    np.testing.assert_array_equal(doubled.layers[2].weight, net().layers[2].weight * 2)
    assert doubled.scale.dtype == jnp.bfloat16
    assert (doubled.rate, doubled.name, doubled.layers[1]) == (0.5, "net", jax.nn.relu)
    assert doubled.host.dtype == "float64"
    assert type(doubled.host) is np.ndarray
    assert c["scale"] is net().scale


def test_there_and_back_through_every_backend(backend: str) -> None:
    c = na.Container.from_equinox(net())
    host = c.host  # float64, which JAX would not take
    back = c.delete("host").to_backend(backend).set("host", host).to_equinox(net())
    assert back.host is host
    assert eqx.tree_equal(back, net())
    x = jnp.asarray([1.0, -2.0])
    np.testing.assert_array_equal(back(x), net()(x))


def test_paths_in_any_order_and_through_a_flat_dict() -> None:
    c = na.Container.from_equinox(net())
    flat = dict(reversed(c.to_flat_dict(".").items()))
    assert is_same_pytree(na.Container.from_flat_dict(flat, ".").to_equinox(net()), net())


def test_modules_with_state() -> None:
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name="batch", mode="ema")
    c = na.Container.from_equinox(norm)
    assert c.paths() == ("weight", "bias")
    assert is_same_pytree(c.to_equinox(norm), norm)
    held = na.Container.from_pytree(state)
    assert [leaf.shape for leaf in held.leaves()] == [(), (3,), (3,)]
    assert is_same_pytree(held.to_pytree(state), state)


def test_shapes_are_free() -> None:
    stacked = na.Container.from_equinox(net()).map(lambda x: np.stack([x, x]))
    both = stacked.to_equinox(net())
    x = jnp.asarray([1.0, -2.0])
    out = eqx.filter_vmap(lambda net: net(x), in_axes=eqx.if_array(0))(both)
    np.testing.assert_allclose(out[0], net()(x), rtol=1e-6)


def test_messages() -> None:
    c = na.Container.from_equinox(net())
    with pytest.raises(StructureError) as info:
        c.rename({"scale": "scales"}).to_equinox(net())
    assert str(info.value) == (
        "to_equinox: the Container does not fit Net: no leaf for 'scale'; no place for 'scales' (the "
        "nearest is 'scale'). Rename, exclude or set leaves so that the paths are those of `like`"
    )
    for function in (na.Container.from_equinox, c.to_equinox):
        name = "Container.from_equinox" if function is na.Container.from_equinox else "to_equinox"
        with pytest.raises(ArgumentError) as info:
            function({"a": 1})
        assert str(info.value) == (
            f"{name}: module: got dict, expected an equinox.Module; for other trees use "
            "Container.from_pytree and to_pytree"
        )
