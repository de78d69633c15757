"""Pytrees of JAX in and out, the states of Optax that hold Containers among them."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib
import pytest
from hypothesis import given

import nestarray as na
from nestarray.container import ListContainer, TupleContainer
from nestarray.errors import StructureError
from tests.trees import is_same_pytree, roots


@jax.tree_util.register_dataclass
@dataclass
class State:
    step: Any
    params: Any


class Pair(NamedTuple):
    first: Any
    second: Any


@jax.tree_util.register_pytree_node_class
class Numbered:
    """Registered without names, with static data."""

    def __init__(self, x: Any, y: Any, label: str) -> None:
        self.x, self.y, self.label = x, y, label

    def tree_flatten(self) -> Any:
        return (self.x, self.y), self.label

    @classmethod
    def tree_unflatten(cls, label: str, children: Any) -> Numbered:
        return cls(*children, label)


@given(roots())
def test_plain_trees_come_back(tree: dict[str, Any]) -> None:
    c = na.Container.from_pytree(tree)
    assert c.spec is na.Container(tree).spec  # in the order of the dict, which JAX would sort
    back = c.to_pytree(tree)
    assert back == tree
    assert na.Container.from_pytree(back).spec is c.spec


def test_classes_of_all_kinds_come_back() -> None:
    x = jnp.ones(2)
    tree = {
        "z": State(x, {"w": jnp.zeros(3), "b": [x, ()]}),
        "a": Pair(Numbered(jnp.ones(1), None, "static"), OrderedDict(b=x, a=1.5)),
        "d": defaultdict(list, b=1, a=2),
        0: optax.EmptyState(),
    }
    c = na.Container.from_pytree(tree)
    assert c.paths() == (
        "z/step", "z/params/w", "z/params/b/0", "a/first/0", "a/first/1", "a/second/b",
        "a/second/a", "d/b", "d/a",
    )  # fmt: skip
    assert type(c["z/params/b"]) is ListContainer
    assert type(c["z/params/b/1"]) is TupleContainer
    assert len(c[0]) == 0
    back = c.to_pytree(tree)
    assert list(back) == list(tree)
    del back[0], tree[0]  # JAX cannot sort 0 among strings
    assert is_same_pytree(back, tree)
    assert back["a"].first.label == "static"
    assert list(back["d"]) == ["b", "a"]
    assert back["d"].default_factory is list


def test_frozen_dicts_keep_their_order() -> None:
    from flax.core import FrozenDict, freeze

    tree = freeze({"b": {"y": 1, "x": 2}, "a": 3})
    c = na.Container.from_pytree(tree)
    assert c.paths() == ("b/y", "b/x", "a")
    back = c.to_pytree(tree)
    assert type(back) is FrozenDict
    assert back == tree
    assert na.Container.from_pytree(back).spec is c.spec


def test_leaves_find_their_places_by_path() -> None:
    like = State(1, [2, {"a": 3}])
    flat = na.Container.from_flat_dict({"params/1/a": 30, "params/0": 20, "step": 10})
    assert flat.to_pytree(like) == State(10, [20, {"a": 30}])


def test_none_is_a_leaf() -> None:
    tree = State(None, [None, jnp.ones(1)])
    c = na.Container.from_pytree(tree)
    assert c["step"] is None
    assert c.set("step", 3).to_pytree(tree).step == 3


def test_bare_leaves() -> None:
    x = jnp.ones(2)
    assert na.Container.from_pytree(x).leaves() == (x,)
    assert na.Container.from_pytree(x).to_pytree(0) is x


def test_shared_leaves_stay_one_object(backend: str) -> None:
    x = na.to_backend(np.ones(2, "float32"), backend)
    tree = State(x, [x, Pair(x, 1)])
    c = na.Container.from_pytree(tree)
    assert all(leaf is x for leaf in c.leaves()[:3])
    back = c.to_pytree(tree)
    assert back.step is back.params[0] is back.params[1].first is x


# -- Optax ------------------------------------------------------------------------------------------


def parameters() -> na.Container:
    bf16 = jnp.ones((2,), "bfloat16")
    return na.Container(
        z=jnp.ones((2, 3)), a=[bf16, (jnp.zeros(1),)], **{"x/y": {"b": jnp.ones(())}}
    )


OPTIMIZERS = {
    "adam": lambda v: optax.adam(0.1),
    "chain": lambda v: optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9)),
    "adafactor": lambda v: optax.adafactor(0.1),
    "masked": lambda v: optax.masked(optax.adam(0.1), v.mask("z")),
    "multi_transform": lambda v: optax.multi_transform(
        {"slow": optax.adam(0.1), "fast": optax.sgd(1.0)}, v.map(lambda _: "slow")
    ),
    "inject_hyperparams": lambda v: optax.inject_hyperparams(optax.adam)(learning_rate=0.1),
    "accumulated": lambda v: optax.MultiSteps(optax.adam(0.1), 2),
    "schedule": lambda v: optax.adamw(optax.cosine_decay_schedule(0.1, 10)),
    "groups": lambda v: optax.multi_transform(
        {"wide": optax.adam(0.1), "narrow": optax.sgd(1.0, momentum=0.9), "none": optax.set_to_zero()},
        jax.tree.map(lambda x: ["none", "narrow", "wide"][x.ndim], v),
    ),
    "decay": lambda v: optax.adamw(0.1, mask=jax.tree.map(lambda x: x.ndim > 1, v)),
    "muon": lambda v: optax.contrib.muon(0.1),
    "lists": lambda v: optax.GradientTransformation(_lists, lambda g, s, p=None: (g, s)),
}  # fmt: skip


def assert_equal_pytrees(a: Any, b: Any) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


def _lists(v: Any) -> Any:
    """A state with a node for each parameter."""
    return jax.tree.map(lambda x: {"moments": [x, 2 * x], "last": (None, x[..., None])}, v)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_states_of_optax_come_back(name: str, tmp_path: Path) -> None:
    for v in (parameters(), parameters().to_dict()):
        if name == "masked" and isinstance(v, dict):
            continue
        optimizer = OPTIMIZERS[name](v)
        like, ones = optimizer.init(v), jax.tree.map(jnp.ones_like, v)
        _, state = optimizer.update(ones, like, v)
        c = na.Container.from_pytree(state)
        back = c.to_pytree(like)
        assert is_same_pytree(back, state)
        assert na.Container.from_pytree(back).spec is c.spec
        c.save(tmp_path / "state.safetensors")
        loaded = na.Container.load(tmp_path / "state.safetensors", backend="jax").to_pytree(like)
        assert_equal_pytrees(loaded, state)
        expected, again = (optimizer.update(ones, s, v)[0] for s in (state, loaded))
        assert_equal_pytrees(again, expected)


def test_saving_what_optax_left_out_names_the_remedy(tmp_path: Path) -> None:
    optimizer = optax.masked(optax.adam(0.1), lambda v: v.map(lambda x: x.ndim > 1))
    mu = optimizer.init(parameters()).inner_state[0].mu
    with pytest.raises(na.errors.ArgumentError) as info:
        mu.save(tmp_path / "mu.safetensors")
    assert str(info.value) == (
        "Container.save: 'a/0' is a MaskedNode, expected an array, a number, a string or None; save "
        "na.Container.from_pytree(c), which to_pytree(like) restores, or leave it out with "
        "c.exclude('a/0')"
    )
    na.Container.from_pytree(mu).save(tmp_path / "mu.safetensors")
    back = na.Container.load(tmp_path / "mu.safetensors", backend="jax").to_pytree(mu)
    assert_equal_pytrees(back, mu)


def test_states_of_optax_hold_containers() -> None:
    v = parameters()
    optimizer = optax.adam(0.1)
    state = optimizer.init(v)
    assert state[0].mu.spec is v.spec
    c = na.Container.from_pytree(state)
    assert c.paths() == ("0/count", *(f"0/{m}/{p}" for m in ("mu", "nu") for p in v.paths()))
    assert c["0/mu"].spec is v.spec
    assert type(c[1]) is na.Container  # the EmptyState of the scale
    assert len(c[1]) == 0

    _, after = optimizer.update(v, state, v)
    stored = na.Container.from_pytree(after).to_flat_dict()  # the contents of a file
    restored = na.Container.from_flat_dict(stored).to_pytree(state)
    assert is_same_pytree(restored, after)
    again = optimizer.update(v, restored, v)[0]
    expected = optimizer.update(v, after, v)[0]
    for path, leaf in again.flat_items():
        np.testing.assert_array_equal(leaf, expected[path])
        assert leaf.dtype == v[path].dtype


# -- messages -----------------------------------------------------------------------------------------


def test_messages_of_leaves_that_do_not_fit() -> None:
    state = optax.adam(0.1).init(na.Container(w=jnp.ones(2)))
    c = na.Container.from_pytree(state)
    with pytest.raises(StructureError) as info:
        c.rename({"0/mu": "mo"}).to_pytree(state)
    assert str(info.value) == (
        "to_pytree: the Container does not fit `like`: no leaf for '0/mu/w'; no place for '0/mo/w' "
        "(the nearest is '0/mu/w'). Rename, exclude or set leaves so that the paths are those of "
        "`like`"
    )
    with pytest.raises(StructureError, match="does not fit the State: no leaf for 'params'"):
        na.Container(step=1).to_pytree(State(1, 2))


def test_messages_of_keys() -> None:
    with pytest.raises(StructureError) as info:
        na.Container.from_pytree({"a": {(0, 1): 1}})
    assert str(info.value) == (
        "Container.from_pytree: got the key (0, 1) at 'a', expected a string or an integer"
    )

    class Twins(Numbered):
        pass

    twin = jax.tree_util.GetAttrKey("x")
    jax.tree_util.register_pytree_with_keys(
        Twins, lambda t: (((twin, t.x), (twin, t.y)), None), lambda _, xs: Twins(*xs, "")
    )
    with pytest.raises(StructureError) as info:
        na.Container.from_pytree([Twins(1, 2, "")])
    assert str(info.value) == (
        "Container.from_pytree: the Twins at '0' has two children of the key 'x'"
    )


def test_without_jax() -> None:
    code = (
        "import sys; sys.modules['jax'] = None\n"
        "import nestarray as na\n"
        "for f in (na.Container.from_pytree, na.Container(a=1).to_pytree):\n"
        "    try: f({'a': 1})\n"
        "    except na.errors.MissingFrameworkError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("backend 'jax' needs the package 'jax', which cannot be imported")
        assert line.endswith("Install it with: pip install 'nestarray[jax]'")
