"""Parameters and states of Haiku in and out, flat and nested."""

from __future__ import annotations

from functools import cache
from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, StructureError


def network(x: Any) -> Any:
    """Modules in modules, one with parameters and modules, a state, shared weights."""
    x = hk.nets.MLP([3, 2], name="mlp")(x)
    x = hk.BatchNorm(True, True, 0.9)(x, is_training=True)
    shared = hk.Linear(2, with_bias=False, name="z")
    x = shared(shared(x))
    return x * hk.get_parameter("scale", (2,), jnp.bfloat16, jnp.ones)


@cache
def initialized() -> tuple[Any, Any]:
    return hk.transform_with_state(network).init(jax.random.key(0), jnp.ones((4, 2)))


def check_identical(a: Any, b: Any) -> None:
    """The same names in the same order, the same arrays, in plain dicts."""
    assert list(a) == list(b)
    for module, entries in a.items():
        assert type(entries) is dict
        assert list(entries) == list(b[module])
        assert all(leaf is b[module][name] for name, leaf in entries.items())


@pytest.mark.parametrize("part", [0, 1], ids=["params", "state"])
def test_names_are_kept_exactly(part: int) -> None:
    tree = initialized()[part]
    c = na.Container.from_haiku(tree)
    assert list(c) == list(tree)
    check_identical(c.to_haiku(), tree)


@pytest.mark.parametrize("part", [0, 1], ids=["params", "state"])
def test_nested_and_back(part: int) -> None:
    tree = initialized()[part]
    c = na.Container.from_haiku(tree, nested=True)
    assert not any("/" in str(key) for path in c.spec.paths for key in path)
    check_identical(c.to_haiku(nested=True), tree)
    flat = na.Container.from_haiku(tree)
    assert c.paths() == flat.paths()
    assert all(c[path] is flat[path] for path in flat.paths())


def test_nested_modules_are_parts() -> None:
    c = na.Container.from_haiku(initialized()[0], nested=True)
    assert list(c["mlp/~"]) == ["linear_0", "linear_1"]
    assert c["mlp/~/linear_0/w"].shape == (2, 3)
    assert c["~/scale"].dtype == jnp.bfloat16


def test_the_network_takes_what_comes_back(backend: str) -> None:
    params, state = initialized()
    apply = hk.transform_with_state(network).apply
    x = jnp.asarray([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0], [2.0, 2.0]])
    expected, after = apply(params, state, None, x)
    # the counter of the moving average is int32, which every backend has
    moved = [na.Container.from_haiku(t, nested=True).to_backend(backend) for t in (params, state)]
    out, own = apply(*[m.to_haiku(nested=True) for m in moved], None, x)
    np.testing.assert_array_equal(out, expected)
    assert list(own) == list(after)
    jax.tree.map(np.testing.assert_array_equal, own, after)


def test_modules_with_parameters_beside_modules() -> None:
    x = jnp.ones(1)
    tree = {"net": {"w": x}, "net/a": {"w": x, "b": x}, "net/a/~/c": {"w": x}, "other": {}}
    c = na.Container.from_haiku(tree, nested=True)
    assert c.paths() == ("net/w", "net/a/w", "net/a/b", "net/a/~/c/w")
    assert c["net/w"] is c["net/a/~/c/w"]
    check_identical(c.to_haiku(nested=True), tree)


def test_states_may_be_trees() -> None:
    x = jnp.ones(1)
    tree = {"attention": {"cache": {"k": [x, (x,)]}, "counter": x}}
    assert na.Container.from_haiku(tree).to_haiku() == tree
    with pytest.raises(StructureError) as info:
        na.Container.from_haiku(tree, nested=True)
    assert str(info.value) == (
        "Container.from_haiku: 'cache' in 'attention' is a mapping itself, which could not be told "
        "from a module; leave nested=False"
    )


@pytest.mark.parametrize(
    "tree",
    [
        {"net": {"a": 1}, "net/a/~/b": {"w": 2}},
        {"net/a/~/b": {"w": 2}, "net": {"a": 1}},
    ],
)
def test_messages_of_names_that_meet(tree: Any) -> None:
    assert na.Container.from_haiku(tree).to_haiku() == tree
    with pytest.raises(StructureError) as info:
        na.Container.from_haiku(tree, nested=True)
    assert "Container.from_haiku: 'a' is a parameter and also a module, in 'net" in str(info.value)
    assert str(info.value).endswith("leave nested=False")


def test_messages_of_wrong_arguments() -> None:
    with pytest.raises(ArgumentError) as info:
        na.Container.from_haiku(initialized())
    assert str(info.value) == (
        "Container.from_haiku: params: got a tuple of 2, expected one mapping; parameters and state "
        "of a transform_with_state are taken one by one"
    )
    with pytest.raises(ArgumentError) as info:
        na.Container.from_haiku(network)
    assert str(info.value) == (
        "Container.from_haiku: params: got function, expected a mapping of module names to "
        "parameters, as `init` returns it"
    )
    with pytest.raises(ArgumentError) as info:
        na.Container.from_haiku({"linear": jnp.ones(1)})
    assert str(info.value) == (
        "Container.from_haiku: params: got ArrayImpl at 'linear', expected a mapping of parameter "
        "names to arrays for each module name"
    )
    for nested in (False, True):
        with pytest.raises(StructureError) as info:
            na.Container(linear=jnp.ones(1)).to_haiku(nested=nested)
        assert str(info.value) == (
            "to_haiku: 'linear' is a leaf, expected a mapping of parameter names to arrays for each "
            "module name"
        )
