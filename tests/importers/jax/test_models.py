"""Models of Flax, Haiku and Equinox, against themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch
from flax import nnx

import nestarray as na
from nestarray import errors
from tests.arrays import normal

KEY = jax.random.PRNGKey(0)
IMAGES, ROWS = normal(2, 14, 14, 1), normal(4, 3)
IDS = jnp.asarray([[1, 4, 0, 2]])


class ConvNet(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.conv = nnx.Conv(1, 8, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.head = nnx.Linear(8 * 7 * 7, 10, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = nnx.relu(self.norm(self.conv(x)))
        x = nnx.max_pool(nnx.avg_pool(x, (2, 2), (2, 2)), (2, 2), padding="SAME")
        return self.head(x.reshape(x.shape[0], -1))


class Block(nnx.Module):
    """A transformer block with embeddings."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(1)
        self.embed = nnx.Embed(5, 8, rngs=rngs)
        self.norm = nnx.LayerNorm(8, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs)
        self.up, self.down = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 8, rngs=rngs)
        self.rms = nnx.RMSNorm(8, rngs=rngs)

    def __call__(self, ids: Any) -> Any:
        x = self.embed(ids)
        mask = nnx.make_causal_mask(ids)
        x = x + self.attention(self.norm(x), mask=mask)
        x = x + self.down(nnx.gelu(self.up(self.rms(x))))
        return {"logits": self.embed.attend(x), "mean": x.mean()}


class Counter(nnx.Module):
    """State that every call writes."""

    def __init__(self) -> None:
        self.count = nnx.BatchStat(jnp.zeros(()))
        self.layer = nnx.Linear(3, 2, rngs=nnx.Rngs(0))

    def __call__(self, x: Any) -> Any:
        self.count[...] += x.sum()
        return self.layer(x) * self.count[...]


class LinenNet(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = nn.Dense(8)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.GroupNorm(2)(nn.swish(x))
        return nn.Dense(2)(x)


class LinenRNN(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        return nn.RNN(nn.GRUCell(5))(x[None])


def haiku_network(x: Any) -> Any:
    h = hk.nets.MLP([8, 4])(x)
    return hk.LayerNorm(-1, create_scale=True, create_offset=True)(h)


def haiku_with_state(x: Any) -> Any:
    return hk.BatchNorm(True, True, 0.9)(hk.Linear(4)(x), is_training=True)


def linen(module: nn.Module) -> Any:
    return module, (ROWS,), {"variables": module.init(KEY, ROWS)}


def haiku() -> Any:
    pair = hk.transform(haiku_network)
    return pair, (ROWS,), {"params": pair.init(KEY, ROWS)}


def stateful_haiku() -> Any:
    pair = hk.transform_with_state(haiku_with_state)
    params, state = pair.init(KEY, ROWS)
    return pair, (ROWS,), {"params": params, "state": state}


def equinox_conv() -> Any:
    conv = eqx.nn.Conv2d(1, 4, 3, key=KEY)
    net = eqx.nn.Sequential([conv, eqx.nn.Lambda(jax.nn.silu)])
    return net, (IMAGES[0].transpose(2, 0, 1),), {}


#: name → returns (source, arguments, keyword arguments).
MODELS: dict[str, Callable[[], Any]] = {
    "nnx-conv": lambda: (ConvNet(), (IMAGES,), {}),
    "nnx-transformer": lambda: (Block(), (IDS,), {}),
    "nnx-counter": lambda: (Counter(), (ROWS,), {}),
    "linen": lambda: linen(LinenNet()),
    "linen-rnn": lambda: linen(LinenRNN()),
    "haiku": haiku,
    "haiku-state": stateful_haiku,
    "equinox-mlp": lambda: (eqx.nn.MLP(3, 2, 8, 2, key=KEY), (ROWS[0],), {}),
    "equinox-conv": equinox_conv,
    "equinox-gru": lambda: (eqx.nn.GRUCell(3, 5, key=KEY), (ROWS[0], jnp.ones(5)), {}),
}


@pytest.mark.one_in(24)
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy"])
@pytest.mark.parametrize("name", MODELS)
def test_model(name: str, backend: str, train: bool) -> None:
    source, args, kwargs = MODELS[name]()
    graph = na.trace_graph(source, *args, train=train, **kwargs)
    report = graph.to_backend(backend).verify()
    assert report.ok, str(report)
    assert report.gradients
    written = {"nnx-conv": 2, "linen": 2, "haiku-state": 6}.get(name, 0) if train else 0
    assert len(report.state) == (1 if name == "nnx-counter" else written)


def test_paths_are_those_of_the_library() -> None:
    net = ConvNet()
    graph = na.trace_graph(net, IMAGES)
    c = na.Container.from_flax(net)
    assert {*graph.v.paths(), *graph.s.paths()} == {*c.paths()}
    returned = na.to_flax(c.update(graph.to_backend("torch").v), net)
    np.testing.assert_allclose(returned(IMAGES), net(IMAGES), rtol=1e-5, atol=1e-6)


@pytest.mark.full
@pytest.mark.release
def test_training_in_torch_equals_training_in_jax() -> None:
    net, rate = Block(), 0.1
    loss_of = lambda out: out["logits"]  # noqa: E731

    graph = na.trace_graph(net, IDS).to_backend("torch")
    ids, v = torch.from_numpy(np.array(IDS)), graph.v
    for _ in range(3):
        _, grads = na.execute_with_gradients(
            lambda v: na.mean(na.square(loss_of(graph(ids, v=v)))), v
        )
        v = v - rate * grads

    optimizer = nnx.Optimizer(net, optax.sgd(rate), wrt=nnx.Param)
    for _ in range(3):
        grads = nnx.grad(lambda m: jnp.mean(jnp.square(loss_of(m(IDS)))))(net)
        optimizer.update(net, grads)
    want = na.Container.from_flax(net)
    for path, x in v.flat_items():
        np.testing.assert_allclose(np.asarray(x), want[path], rtol=1e-4, atol=1e-5, err_msg=path)


def test_model_as_a_layer_of_torch() -> None:
    net = ConvNet()
    layer = na.to_module(net, IMAGES).to_backend("torch")
    x = torch.from_numpy(np.array(IMAGES))
    net.eval()
    np.testing.assert_allclose(layer(x).detach(), net(IMAGES), rtol=1e-4, atol=1e-5)
    _, state = layer(x, train=True)
    assert not np.allclose(state["batch_stats/norm/mean"], layer.s["batch_stats/norm/mean"])


def test_missing_variables() -> None:
    with pytest.raises(errors.ArgumentError, match=r"variables=module\.init\(key, x\)"):
        na.trace_graph(LinenNet(), ROWS)
    source, args, kwargs = stateful_haiku()
    with pytest.raises(errors.ArgumentError, match="params=params, state=state"):
        na.trace_graph(source, *args, params=kwargs["params"])


class Dropped(nnx.Module):
    def __init__(self) -> None:
        self.layer = nnx.Linear(3, 4, rngs=nnx.Rngs(0))
        self.dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(1))

    def __call__(self, x: Any) -> Any:
        return self.dropout(self.layer(x))


def test_dropout_of_nnx_draws_the_masks_of_jax() -> None:
    net = Dropped()
    graph = na.trace_graph(net, ROWS, train=True).to_backend("torch")
    x, state = torch.from_numpy(np.array(ROWS)), graph.s
    net.train()
    for _ in range(2):
        output, state = graph(x, s=state)
        np.testing.assert_allclose(output, net(ROWS), rtol=1e-5, atol=1e-6)
    assert graph.verify().ok


class EquinoxDropout(eqx.Module):
    dropout: eqx.nn.Dropout = eqx.nn.Dropout(0.5)

    def __call__(self, x: Any, key: Any = None) -> Any:
        return self.dropout(x, key=key)


@pytest.mark.parametrize("key_of", [jax.random.key, jax.random.PRNGKey])
def test_keys_as_arguments(key_of: Any) -> None:
    graph = na.trace_graph(EquinoxDropout(), ROWS, key=key_of(3), train=True)
    want = EquinoxDropout()(ROWS, key=key_of(5))
    np.testing.assert_array_equal(graph(ROWS, key_=key_of(5))[0], want)
    moved = graph.to_backend("torch")
    words = na.to_backend(jax.random.PRNGKey(5), "torch")
    x = torch.from_numpy(np.array(ROWS))
    np.testing.assert_array_equal(moved(x, key_=words)[0], want)
    assert na.trace_graph(EquinoxDropout(), ROWS).calls == []  # the evaluation behaviour


class LinenDropout(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        return nn.Dropout(0.5, deterministic=not train)(nn.Dense(4)(x))


def haiku_dropout(x: Any, is_training: bool = False) -> Any:
    x = hk.Linear(4)(x)
    return hk.dropout(hk.next_rng_key(), 0.5, x) if is_training else x


def _linen_draws() -> tuple[Any, Any]:
    net = LinenDropout()
    variables = net.init(KEY, ROWS)
    module = na.to_module(net, ROWS, variables=variables)
    return module, lambda key: net.apply(variables, ROWS, train=True, rngs=key)


def _haiku_draws() -> tuple[Any, Any]:
    net = hk.transform(haiku_dropout)
    params = net.init(KEY, ROWS)
    module = na.to_module(net, ROWS, params=params)
    return module, lambda key: net.apply(params, key, ROWS, is_training=True)


def _equinox_draws() -> tuple[Any, Any]:
    net = EquinoxDropout()
    return na.to_module(net, ROWS), lambda key: net(ROWS, key=key)


@pytest.mark.parametrize("draws", [_linen_draws, _haiku_draws, _equinox_draws])
def test_training_draws_from_the_key_of_the_call(draws: Any) -> None:
    module, source = draws()
    assert not module.graph.needs_key
    graph, x = module.training_graph.to_backend("torch"), torch.from_numpy(np.array(ROWS))
    assert graph.verify().ok
    for seed in (5, 6):
        got, _ = graph(x, key=na.random.key(seed, backend="torch"))
        want = source(jax.random.key(seed))
        np.testing.assert_allclose(got.detach(), want, rtol=1e-5, atol=1e-6)


def test_training_without_random_numbers_needs_no_key() -> None:
    net = nn.Dense(2)
    module = na.to_module(net, ROWS, variables=net.init(KEY, ROWS))
    assert not module.training_graph.needs_key
    assert module.verify(train=True).ok


NET = eqx.nn.MLP(3, 2, 8, 1, key=KEY)


@pytest.mark.parametrize("transform", [jax.vmap, lambda f: jax.jit(jax.vmap(f))])
def test_transformed_modules_keep_their_variables(transform: Any) -> None:
    graph = na.trace_graph(transform(NET), ROWS)
    assert graph.v.paths() == na.Container.from_equinox(NET).paths()
    report = graph.to_backend("torch").verify()
    assert report.ok
    assert len(report.gradients) == 4


def test_modules_that_a_function_names_are_variables() -> None:
    def loss(x: Any) -> Any:
        return jnp.mean(jax.vmap(NET)(x) ** 2)

    graph = na.trace_graph(loss, ROWS).to_backend("torch")
    assert graph.v.paths()[0] == "NET/layers/0/weight"
    report = graph.verify()
    assert report.ok
    assert len(report.gradients) == 4


def test_state_of_equinox_is_state_of_the_graph() -> None:
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name="batch", mode="batch")
    function = jax.vmap(norm, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    graph = na.trace_graph(function, ROWS, state, train=True).to_backend("torch")
    assert graph.verify().ok
    x, s = torch.from_numpy(np.array(ROWS)), graph.s
    for _ in range(2):
        want, state = function(ROWS, state)
        got, s = graph(x, s=s)
        np.testing.assert_allclose(got.detach(), want, rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(s.leaves(), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def affine(params: Any, x: Any) -> Any:
    return jnp.tanh(x @ params["w"]) * params["scale"] * params["count"]


AFFINE = {"w": jnp.ones((3, 2)), "scale": jnp.asarray(2.0), "count": jnp.asarray(3)}


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((AFFINE, ROWS), {}), ((AFFINE,), {"x": ROWS}), ((), {"params": AFFINE, "x": ROWS})],
)
def test_an_argument_with_the_variables(args: Any, kwargs: Any) -> None:
    graph = na.trace_graph(affine, *args, v="params", **kwargs).to_backend("torch")
    assert (graph.v.paths(), graph.s.paths()) == (("w", "scale"), ("count",))
    assert graph.verify().ok
    got = graph(x=torch.from_numpy(np.array(ROWS)), v=graph.v)
    np.testing.assert_allclose(got, affine(AFFINE, ROWS), rtol=1e-5)


def test_an_unknown_argument_with_the_variables() -> None:
    with pytest.raises(errors.ArgumentError, match=r"got 'weights', expected .* affine: params, x"):
        na.trace_graph(affine, AFFINE, ROWS, v="weights")


def test_a_module_under_vmap_evaluates_without_dropout() -> None:
    net = eqx.nn.Sequential([eqx.nn.Linear(3, 3, key=jax.random.key(0)), eqx.nn.Dropout(0.5)])
    graph = na.trace_graph(jax.vmap(net), jnp.ones((4, 3)))
    want = jax.vmap(eqx.nn.inference_mode(net))(jnp.ones((4, 3)))
    np.testing.assert_allclose(graph(jnp.ones((4, 3))), want, rtol=1e-6)
    assert net.layers[1].inference is False


def test_an_argument_with_the_name_of_a_setting() -> None:
    def velocity(params, x, v):
        return jnp.dot(x, params) + v

    graph = na.trace_graph(velocity, jnp.ones(3), jnp.ones(3), jnp.ones(()), v="params")
    assert graph.v.paths() == ("params",)
    assert graph(jnp.ones(3), jnp.ones(())) == 4
