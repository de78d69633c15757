"""Properties of every pair `Container.from_…` and `to_…`, on small models of each framework.

A row of the table makes a model and says how its values become a Container and how they go back.
The properties below run over all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import nestarray as na
from nestarray.dtypes import dtype_of
from nestarray.errors import StructureError


class Pair(NamedTuple):
    """A conversion, its inverse, and a function that reads the result."""

    make: Callable[[], Any]
    take: Callable[[Any], na.Container]
    give: Callable[[na.Container, Any], Any]
    #: (name, array) of all that the source holds, in its own order, by its own means
    entries: Callable[[Any], list[tuple[str, Any]]]
    #: two paths of one array, if the model has tied weights
    tied: tuple[str, str] | None = None


@dataclass
class Layer:
    weight: Any
    bias: Any


@dataclass
class Block:
    outer: Layer
    inner: Layer


def record() -> Block:
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(2, 3)).astype("float32")
    return Block(Layer(shared, rng.normal(size=3)), Layer(shared, np.arange(4)))


def record_entries(block: Block) -> list[tuple[str, Any]]:
    parts = {"outer": block.outer, "inner": block.inner}
    return [e for n, x in parts.items() for e in ((f"{n}/weight", x.weight), (f"{n}/bias", x.bias))]


def nest() -> dict[str, Any]:
    x = np.arange(6.0, dtype="float32").reshape(2, 3)
    return {"z": [x, (np.arange(3), x)], "a": {"k": na.astype(x, na.bfloat16)}}


def nest_entries(tree: dict[str, Any]) -> list[tuple[str, Any]]:
    (x, (numbers, again)) = tree["z"]
    return [("z/0", x), ("z/1/0", numbers), ("z/1/1", again), ("a/k", tree["a"]["k"])]


def torch_network() -> Any:
    """An encoder layer, statistics, tied weights, a half."""
    import torch

    torch.manual_seed(0)
    net = torch.nn.Module()
    net.norm = torch.nn.BatchNorm1d(4)
    net.encoder = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    net.embed = torch.nn.Embedding(5, 4)
    net.head = torch.nn.Linear(4, 5, dtype=torch.float32)
    net.head.weight = net.embed.weight
    net.half = torch.nn.Linear(4, 2, dtype=torch.bfloat16)
    return net


def state_entries(state: Any) -> list[tuple[str, Any]]:
    return [(name.replace(".", "/"), x) for name, x in state.items()]


def load_state(c: na.Container, _: Any) -> Any:
    fresh = torch_network()
    fresh.load_state_dict(c.to_torch_state_dict())
    return fresh.state_dict()


@cache
def linen_variables() -> Any:
    import flax.linen as nn
    import jax
    import jax.numpy as jnp

    net = nn.Sequential([
        nn.Dense(3), nn.BatchNorm(use_running_average=False), nn.Dense(2, param_dtype=jnp.bfloat16),
    ])  # fmt: skip
    return net.init(jax.random.key(0), jnp.ones((2, 2)))


def mapping_entries(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    if not hasattr(tree, "items"):
        return [(path, tree)]
    inside = ((f"{path}/{key}" if path else str(key), child) for key, child in tree.items())
    return [entry for name, child in inside for entry in mapping_entries(child, name)]


@cache
def nnx_network() -> Any:
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.layers = nnx.List([nnx.Linear(2, 3, rngs=rngs), nnx.Linear(3, 2, rngs=rngs)])
            self.norm = nnx.BatchNorm(2, rngs=rngs)

    return Net(nnx.Rngs(0))


def nnx_entries(net: Any) -> list[tuple[str, Any]]:
    first, second = net.layers
    params = [
        ("layers/0/bias", first.bias), ("layers/0/kernel", first.kernel),
        ("layers/1/bias", second.bias), ("layers/1/kernel", second.kernel),
        ("norm/bias", net.norm.bias), ("norm/scale", net.norm.scale),
    ]  # fmt: skip
    statistics = [("norm/mean", net.norm.mean), ("norm/var", net.norm.var)]
    both = {"params": params, "batch_stats": statistics}
    return [(f"{group}/{name}", v[...]) for group, vs in both.items() for name, v in vs]


@cache
def haiku_parameters() -> tuple[Any, Any]:
    import haiku as hk
    import jax
    import jax.numpy as jnp

    def forward(x: Any) -> Any:
        x = hk.nets.MLP([3, 2])(x)
        return hk.BatchNorm(True, True, 0.9)(x, is_training=True)

    return hk.transform_with_state(forward).init(jax.random.key(0), jnp.ones((2, 2)))


@cache
def equinox_network() -> Any:
    import equinox as eqx
    import jax

    mlp = eqx.nn.MLP(2, 2, width_size=2, depth=2, key=jax.random.key(0))
    first, second, third = mlp.layers
    tied = eqx.tree_at(lambda layer: layer.weight, second, first.weight)
    return eqx.tree_at(lambda m: m.layers, mlp, (first, tied, third))


def equinox_entries(mlp: Any) -> list[tuple[str, Any]]:
    parts = [(f"layers/{i}", layer) for i, layer in enumerate(mlp.layers)]
    return [e for p, x in parts for e in ((f"{p}/weight", x.weight), (f"{p}/bias", x.bias))]


@cache
def adam_state() -> Any:
    import jax.numpy as jnp
    import optax

    v = na.Container(z=[jnp.ones(2), (jnp.zeros(3, "bfloat16"),)], a={"w": jnp.ones((2, 2))})
    return optax.adam(0.1).init(v)


def adam_entries(state: Any) -> list[tuple[str, Any]]:
    moments = {"mu": state[0].mu, "nu": state[0].nu}
    return [
        ("0/count", state[0].count),
        *((f"0/{m}/{path}", leaf) for m, c in moments.items() for path, leaf in c.flat_items()),
    ]


C = na.Container
PAIRS: dict[str, Pair] = {
    "dict": Pair(nest, C, lambda c, _: c.to_dict(), nest_entries, ("z/0", "z/1/1")),
    "flat dict": Pair(
        lambda: {"a.b": np.ones(2, "float32"), "a.0.c": np.arange(2), "x.w": np.zeros(())},
        lambda flat: C.from_flat_dict(flat, "."),
        lambda c, _: c.to_flat_dict("."),
        state_entries,
    ),
    "object": Pair(
        record, C.from_object, lambda c, like: c.to_object(like), record_entries,
        ("outer/weight", "inner/weight"),
    ),
    "pytree": Pair(
        nest, C.from_pytree, lambda c, like: c.to_pytree(like), nest_entries, ("z/0", "z/1/1")
    ),
    "optax": Pair(adam_state, C.from_pytree, lambda c, like: c.to_pytree(like), adam_entries),
    "torch state dict": Pair(
        lambda: torch_network().state_dict(),
        C.from_torch_state_dict, lambda c, _: c.to_torch_state_dict(), state_entries,
        ("embed/weight", "head/weight"),
    ),
    "torch state dict, loaded": Pair(
        lambda: torch_network().state_dict(),
        lambda state: C.from_torch_state_dict(state, lists=True), load_state, state_entries,
        ("embed/weight", "head/weight"),
    ),
    "torch module": Pair(
        torch_network,
        lambda net: C.from_torch_module(net, buffers=True),
        lambda c, _: c.load_into_torch_module(torch_network()),
        lambda net: state_entries(net.state_dict()), ("embed/weight", "head/weight"),
    ),
    "linen": Pair(linen_variables, C.from_flax, lambda c, like: c.to_flax(like), mapping_entries),
    "linen, no like": Pair(linen_variables, C.from_flax, lambda c, _: c.to_flax(), mapping_entries),
    "nnx": Pair(nnx_network, C.from_flax, lambda c, like: c.to_flax(like), nnx_entries),
    "haiku": Pair(
        lambda: haiku_parameters()[0], C.from_haiku, lambda c, _: c.to_haiku(), mapping_entries
    ),
    "haiku state, nested": Pair(
        lambda: haiku_parameters()[1], lambda p: C.from_haiku(p, nested=True),
        lambda c, _: c.to_haiku(nested=True), mapping_entries,
    ),
    "equinox": Pair(
        equinox_network, C.from_equinox, lambda c, like: c.to_equinox(like), equinox_entries,
        ("layers/0/weight", "layers/1/weight"),
    ),
}  # fmt: skip

WITH_LIKE = ["object", "pytree", "optax", "torch module", "linen", "nnx", "equinox"]
OF_NUMPY = ["dict", "flat dict", "object", "pytree"]


def bits(x: Any) -> Any:
    return dtype_of(x), tuple(x.shape), np.asarray(na.to_backend(x, "numpy")).tobytes()


def check_same(given: list[tuple[str, Any]], expected: list[tuple[str, Any]]) -> None:
    assert [name for name, _ in given] == [name for name, _ in expected]
    for (name, x), (_, y) in zip(given, expected, strict=True):
        assert bits(x) == bits(y), name


@pytest.mark.parametrize("name", PAIRS)
def test_a_container_has_the_names_the_order_and_the_bits(name: str) -> None:
    pair = PAIRS[name]
    source = pair.make()
    check_same(list(pair.take(source).flat_items()), pair.entries(source))


@pytest.mark.release("name")
@pytest.mark.parametrize("name", PAIRS)
def test_the_round_trip_is_the_identity(name: str) -> None:
    pair = PAIRS[name]
    source = pair.make()
    c = pair.take(source)
    back = pair.give(c, source)
    assert isinstance(source, type(back))  # an OrderedDict comes back as a dict
    check_same(pair.entries(back), pair.entries(source))
    again = pair.take(back)
    assert again.spec is c.spec
    check_same(list(again.flat_items()), list(c.flat_items()))


@pytest.mark.parametrize("name", [n for n in PAIRS if PAIRS[n].tied])
def test_tied_weights_stay_one_array(name: str) -> None:
    pair = PAIRS[name]
    first, second = pair.tied or ("", "")
    c = pair.take(pair.make())
    assert c[first] is c[second]
    again = pair.take(pair.give(c, pair.make()))
    assert again[first] is again[second]


@pytest.mark.parametrize("name", [n for n in PAIRS if n not in OF_NUMPY])
def test_through_numpy_and_back(name: str) -> None:
    """Every framework exports its arrays and imports another's."""
    pair = PAIRS[name]
    source = pair.make()
    c = pair.take(source)
    there = c.map(lambda x: na.to_backend(x, "numpy", copy=True))
    if name == "optax":  # a pytree takes whatever it is given
        there = there.to_backend("jax")
    check_same(pair.entries(pair.give(there, source)), pair.entries(source))


@pytest.mark.parametrize("name", WITH_LIKE)
def test_leaves_find_their_places_by_path(name: str) -> None:
    pair = PAIRS[name]
    source = pair.make()
    c = pair.take(source)
    flat = dict(reversed(c.to_flat_dict().items()))
    check_same(
        pair.entries(pair.give(na.Container.from_flat_dict(flat), source)), pair.entries(source)
    )


@pytest.mark.parametrize("name", WITH_LIKE)
def test_a_leaf_that_is_missing_or_too_many_is_named(name: str) -> None:
    pair = PAIRS[name]
    source = pair.make()
    c = pair.take(source)
    last = c.paths()[-1].replace("/", "." if name.startswith("torch") else "/")
    with pytest.raises(StructureError, match=f"no leaf for '{last}'"):
        pair.give(c.exclude(c.paths()[-1]), source)
    more = na.Container.from_flat_dict(c.to_flat_dict() | {"unknown": c.leaves()[0]})
    with pytest.raises(StructureError, match="no place for 'unknown'"):
        pair.give(more, source)


def test_the_table_has_every_constructor() -> None:
    constructors = {
        name
        for name, attribute in vars(na.Container).items()
        if getattr(attribute, "__module__", "").startswith("nestarray.interchange")
        and isinstance(attribute, staticmethod)
    }
    assert constructors == {
        "from_object", "from_pytree", "from_torch_state_dict", "from_torch_module", "from_flax",
        "from_haiku", "from_equinox",
        "from_keras",  # tested in test_keras.py: Keras runs on one framework a process
        "from_torch_cache",  # tested in tests/importers/torch/test_caches.py
    }  # fmt: skip
