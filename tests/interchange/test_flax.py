"""Variables of Flax in and out: Linen's dicts, NNX's states and modules."""

from __future__ import annotations

from functools import cache
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from flax.core import FrozenDict, freeze, meta

import nestarray as na
from nestarray.container import TupleContainer
from nestarray.errors import ArgumentError, DtypeError, StructureError
from tests.trees import is_same_pytree


class Net(nn.Module):
    """Batch statistics, a weight with sharding names, one in bfloat16, a sown value."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        names = nn.with_partitioning(nn.initializers.ones, (None, "model"))
        x = nn.Dense(3, kernel_init=names)(x)
        x = nn.BatchNorm(use_running_average=False)(x)
        self.sow("intermediates", "hidden", x)
        return nn.Dense(1, param_dtype=jnp.bfloat16, name="A_last")(x)


@cache
def variables() -> dict[str, Any]:
    _, state = Net().init_with_output(jax.random.key(0), jnp.ones((2, 2)), mutable=True)
    return state


class Model(nnx.Module):
    """Every kind of thing that a state can hold."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.blocks = nnx.List([nnx.Linear(3, 3, rngs=rngs, use_bias=False) for _ in range(2)])
        self.blocks[1].kernel = self.blocks[0].kernel
        self.lora = nnx.LoRAParam(jnp.ones((1,), "bfloat16"))
        self.cache = nnx.Cache({"k": jnp.ones(1), "v": (jnp.zeros(2),)})
        self.table = nnx.data(jnp.arange(3))

    def __call__(self, x: Any) -> Any:
        for block in (self.linear, self.norm, self.dropout, *self.blocks):
            x = block(x)
        return x


@cache
def model() -> Model:
    return Model(nnx.Rngs(0))


# -- Linen ------------------------------------------------------------------------------------------


def test_linen_variables_keep_their_names_and_lose_their_boxes() -> None:
    c = na.Container.from_flax(variables())
    assert list(c) == list(variables())
    assert set(c) == {"params", "batch_stats", "intermediates"}
    assert list(c.params) == list(variables()["params"])
    assert c["params/Dense_0/kernel"].shape == (2, 3)
    assert isinstance(variables()["params"]["Dense_0"]["kernel"], meta.Partitioned)
    assert type(c["intermediates/hidden"]) is TupleContainer
    assert na.Container.from_flax(variables()["params"]).spec is c["params"].spec


def test_linen_variables_come_back() -> None:
    c = na.Container.from_flax(variables())
    back = c.to_flax(variables())
    assert is_same_pytree(back, variables())
    assert list(back["params"]) == list(variables()["params"])
    assert back["params"]["Dense_0"]["kernel"].names == (None, "model")
    assert back["params"]["A_last"]["kernel"].dtype == jnp.bfloat16
    plain = c.to_flax()
    assert is_same_pytree(plain, meta.unbox(variables()))
    x = jnp.ones((2, 2))
    both = [Net().apply(v, x, mutable=["batch_stats", "intermediates"])[0] for v in (plain, back)]
    np.testing.assert_array_equal(*both)


def test_frozen_dicts_come_back_frozen() -> None:
    frozen = freeze(variables())
    c = na.Container.from_flax(frozen)
    assert c.spec is na.Container.from_flax(variables()).spec
    back = c.to_flax(frozen)
    assert type(back) is FrozenDict
    assert is_same_pytree(back, frozen)
    assert list(back["params"]) == list(frozen["params"])


def test_arrays_of_all_backends_are_handed_to_jax(backend: str) -> None:
    c = na.Container(params={"d": {"b": np.ones(2, "float32"), "a": 2}})
    x = na.Container.to_backend(c.exclude("**/a"), backend)["params/d/b"]
    back = na.to_flax(c.set("params/d/b", x).set("params/d/tied", x))
    assert isinstance(back["params"]["d"]["b"], jax.Array)
    assert back["params"]["d"]["b"] is back["params"]["d"]["tied"]
    assert back["params"]["d"]["a"] == 2
    assert list(back["params"]["d"]) == ["b", "a", "tied"]


def test_float64_is_not_narrowed_in_silence() -> None:
    tree = {"params": {"w": np.ones(2)}}
    c = na.Container.from_flax(tree)
    with pytest.raises(DtypeError, match="float64"):
        c.to_flax()
    assert c.to_flax(tree)["params"]["w"] is tree["params"]["w"]  # a place for NumPy's


def test_train_states_are_pytrees() -> None:
    from flax.training.train_state import TrainState

    v = na.Container.from_flax(variables()["params"])
    state = TrainState.create(apply_fn=Net().apply, params=v, tx=optax.adam(0.1))
    c = na.Container.from_pytree(state)
    assert list(c) == ["step", "params", "opt_state"]
    assert c["params"].spec is c["opt_state/0/mu"].spec is v.spec
    back = c.to_pytree(state)
    assert is_same_pytree(back, state)
    assert back.params.spec is v.spec


# -- NNX --------------------------------------------------------------------------------------------


def test_random_streams_that_are_missing_are_those_of_the_module() -> None:
    variables = na.Container.from_flax(model())
    rest = variables.exclude("RngKey/**", "RngCount/**")
    assert len(rest.leaves()) < len(variables.leaves())
    moved = na.to_flax(rest * 2, like=nnx.state(model()))
    np.testing.assert_array_equal(moved["linear"]["kernel"][...], 2 * model().linear.kernel[...])
    found = dict(nnx.to_flat_state(moved))
    streams = nnx.to_flat_state(nnx.state(model(), nnx.RngState))
    assert all(found[path].get_value() is x.get_value() for path, x in streams)
    assert len([*streams]) == 2
    with pytest.raises(StructureError, match="no leaf for"):
        na.to_flax(rest.exclude("params/linear/**"), like=nnx.state(model()))


def test_nnx_variables_are_sorted_by_type() -> None:
    c = na.Container.from_flax(model())
    assert set(c) == {
        "params", "batch_stats", "LoRAParam", "cache", "RngKey", "RngCount", "arrays",
    }  # fmt: skip
    assert c["params"].paths() == (
        "blocks/0/kernel", "linear/bias", "linear/kernel", "norm/bias", "norm/scale",
    )  # fmt: skip
    assert c["batch_stats"].paths() == ("norm/mean", "norm/var")
    assert c["cache"].paths() == ("cache/k", "cache/v/0")
    assert c["arrays/table"] is model().table
    assert c["params/linear/kernel"] is model().linear.kernel.get_value()


def test_nnx_states_come_back() -> None:
    state = nnx.state(model())
    c = na.Container.from_flax(state)
    back = c.to_flax(state)
    assert type(back) is nnx.State
    assert is_same_pytree(back, state)
    assert na.Container.from_flax(back).spec is c.spec
    only = nnx.state(model(), nnx.BatchStat)
    assert list(na.Container.from_flax(only)) == ["batch_stats"]
    assert is_same_pytree(na.Container.from_flax(only).to_flax(only), only)


def test_nnx_modules_come_back_with_other_values() -> None:
    source = model()
    c = na.Container.from_flax(source)
    params = c["params"] * 2
    other = c.set("params", params).to_flax(source)
    assert type(other) is Model
    assert other is not source
    np.testing.assert_array_equal(other.linear.kernel[...], source.linear.kernel[...] * 2)
    assert other.blocks[1].kernel is other.blocks[0].kernel  # shared, as in the source
    assert na.Container.from_flax(other).spec is c.spec
    assert na.Container.from_flax(source)["params/linear/kernel"] is c["params/linear/kernel"]
    same = c.to_flax(source)
    x = jnp.ones((4, 2))
    np.testing.assert_array_equal(same(x), nnx.clone(source)(x))


def test_nnx_optimizers_come_back() -> None:
    linear = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(linear, optax.adam(0.1), wrt=nnx.Param)
    c = na.Container.from_flax(optimizer)
    assert {p.partition("/")[2] for p in c.paths()} >= {
        "opt_state/0/count", "opt_state/0/mu/kernel", "opt_state/0/nu/bias", "step",
    }  # fmt: skip
    back = c.to_flax(optimizer)
    assert is_same_pytree(nnx.state(back), nnx.state(optimizer))


def test_a_type_without_a_name_is_its_own_name() -> None:
    class Momentum(nnx.Variable):
        pass

    state = nnx.State({"a": Momentum(jnp.ones(1)), "b": nnx.Param(jnp.ones(2))})
    c = na.Container.from_flax(state)
    assert set(c.paths()) == {"Momentum/a", "params/b"}
    assert is_same_pytree(c.to_flax(state), state)
    with pytest.raises(ValueError, match="not registered"):  # and Flax's registry is restored
        nnx.variable_name_from_type(Momentum)


# -- messages ---------------------------------------------------------------------------------------


def test_messages_of_leaves_that_do_not_fit() -> None:
    c = na.Container.from_flax(variables())
    with pytest.raises(StructureError) as info:
        c.rename({"params/Dense_0": "Dense_9"}).to_flax(variables())
    assert str(info.value) == (
        "to_flax: the Container does not fit `like`: no leaf for 'params/Dense_0/kernel', "
        "'params/Dense_0/bias'; no place for 'params/Dense_9/kernel', 'params/Dense_9/bias' (the "
        "nearest is 'params/Dense_0/kernel'). Rename, exclude or set leaves so that the paths are "
        "those of `like`"
    )
    with pytest.raises(StructureError, match=r"no leaf for 'params/linear/bias'\. Rename"):
        na.Container.from_flax(model()).delete("params/linear/bias").to_flax(model())


def test_messages_of_wrong_arguments() -> None:
    with pytest.raises(ArgumentError) as info:
        na.Container.from_flax([1])
    assert str(info.value) == (
        "Container.from_flax: variables: got list, expected a dict or FrozenDict of variables, an "
        "nnx.State or an nnx.Module; for other trees use Container.from_pytree"
    )
    with pytest.raises(ArgumentError) as info:
        na.Container(a=1).to_flax([1])
    assert str(info.value) == (
        "to_flax: like: got list, expected None, a dict or FrozenDict of variables, an nnx.State or "
        "an nnx.Module; for other trees use c.to_pytree(like)"
    )
    with pytest.raises(StructureError, match="from_flax: got the key None at 'params'"):
        na.Container.from_flax({"params": {None: 1}})
