"""Each library trains, compiles, copies and saves its native modules with its own tools."""

from __future__ import annotations

import copy
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import keras
import numpy as np
import optax
import pytest
import tensorflow as tf
import torch
from flax import linen, nnx
from flax.training.train_state import TrainState

import nestarray as na
from nestarray import errors
from nestarray.graph.codegen import frontends_of
from nestarray.graph.graph import Graph
from tests.exporters.rows import ROWS
from tests.graph.networks import ConvNet, Tied

# -- PyTorch -----------------------------------------------------------------------------------


def test_torch_checkpoints_of_the_source_load(model: Any, images: np.ndarray) -> None:
    source = ConvNet().eval()
    native = model.to_torch_module()
    assert native.load_state_dict(source.state_dict()) == ([], [])
    assert source.load_state_dict(native.state_dict()) == ([], [])
    torch.testing.assert_close(native(torch.tensor(images)), source(torch.tensor(images)))


def test_torch_keeps_tied_weights() -> None:
    native = ROWS["tied"]().model.to_torch_module()
    assert native.embed.weight is native.head.weight
    assert len(list(native.parameters())) == 1
    assert native.load_state_dict(Tied().state_dict()) == ([], [])


def test_torch_modules_of_folded_parameters() -> None:
    source = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, bias=False), torch.nn.BatchNorm2d(2))
    x = torch.randn(2, 1, 4, 4)
    graph = na.trace_graph(source.eval(), x).optimize()
    native = graph.to_torch_module()
    assert {"0.weight", "0.bias"} == {name for name, _ in native.named_parameters()}
    torch.testing.assert_close(native(x), source(x))
    message = r"lacks '1/weight', '1/bias'.*folded into other parameters"
    with pytest.raises(errors.ConversionError, match=message):
        graph.to_torch_state_dict()


def test_torch_optimizers_precision_copies_and_devices(model: Any, images: np.ndarray) -> None:
    native, x = model.to_torch_module().train(), torch.tensor(images)
    optimizer = torch.optim.Adam(native.parameters(), 1e-2)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        torch.manual_seed(0)
        with torch.autocast("cpu", torch.bfloat16):
            loss = native(x).float().square().mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0]
    native.eval()
    twin = copy.deepcopy(native)
    torch.testing.assert_close(twin(x), native(x))
    assert twin.get_parameter("fc.weight") is not native.get_parameter("fc.weight")
    assert native.to("meta").get_parameter("fc.weight").is_meta


class Masked(torch.nn.Module):
    """Attention whose mask has the limit of the dtype, with a table of positions."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        table = torch.linspace(0.0, 1.0, 4, dtype=x.dtype)
        x = self.inner(x + table)
        scores = x @ x.mT
        hidden = torch.ones(3, 3, dtype=torch.bool).triu(1)
        return scores.masked_fill(hidden, torch.finfo(x.dtype).min).softmax(-1) @ x


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float64, 1e-12), (torch.bfloat16, 2e-2), (torch.float16, 2e-3)],
)
def test_torch_modules_compute_in_the_dtype_of_the_parameters(
    model: Any, images: np.ndarray, dtype: torch.dtype, tolerance: float
) -> None:
    x = torch.randn(2, 3, 4)
    pairs = [
        (ConvNet().eval(), model.to_torch_module(), torch.tensor(images).to(dtype)),
        (Masked(), na.to_module(Masked(), x).to_torch_module(), x.to(dtype)),
    ]
    for source, native, given in pairs:
        native.load_state_dict(source.state_dict())
        source, native = source.to(dtype), native.to(dtype)
        assert {p.dtype for p in native.parameters()} == {dtype}
        want = source(given)
        torch.testing.assert_close(native(given), want, rtol=tolerance, atol=tolerance)
        single = copy.deepcopy(native).float()
        near = max(tolerance, 1e-5)
        torch.testing.assert_close(single(given.float()), want.float(), rtol=near, atol=near)
        with pytest.raises(errors.DtypeError, match="the graph was traced with float32"):
            single(given)
        native.train()(given).square().mean().backward()
        assert all(p.grad.dtype is dtype for p in native.parameters())


def test_torch_modules_call_no_code_of_frontends(model: Any) -> None:
    program = model.to_torch_module().half()._program
    assert not any(frontends_of(graph) for graph in program.graphs.values())


def test_torch_modules_without_parameters_compute_in_other_dtypes() -> None:
    native = na.trace_graph(lambda x: x * 1.5, torch.ones(3)).to_torch_module().half()
    assert native(torch.ones(3, dtype=torch.float16)).dtype is torch.float16


def test_torch_modules_write_state_that_their_derivative_reads() -> None:
    class Centred(nnx.Module):
        def __init__(self) -> None:
            self.mean, self.weight = nnx.BatchStat(jnp.zeros(())), nnx.Param(jnp.ones(3))

        def __call__(self, x: jax.Array) -> jax.Array:
            mean = self.mean.get_value()
            self.mean.set_value(0.5 * mean + 0.5 * x.mean())
            return jnp.sin(self.weight * (x - mean)) * mean

    native = na.to_module(Centred(), jnp.ones(3)).to_torch_module().train()
    for _ in range(2):
        native(torch.arange(3.0)).sum().backward()
    # mean is 0, then 0.5: ∂ sin(w (x - m)) m / ∂w
    y = torch.arange(3.0) - 0.5
    torch.testing.assert_close(native.params.weight.grad, 0.5 * y * y.cos())


def test_names_of_methods_are_parameters() -> None:
    def scaled(params: Any, x: jax.Array) -> jax.Array:
        return jnp.sin(x) * params["train"]["type"] + params["program"]

    params = {"train": {"type": jnp.ones(3)}, "program": jnp.ones(3)}
    graph = na.trace_graph(scaled, params, jnp.ones(3), v="params")
    native, flax = graph.to_torch_module(), graph.to_flax_module()
    assert {*native.state_dict()} == {"train_.type_", "program"}
    assert {*nnx.state(flax)} == {"train_", "program_"}
    torch.testing.assert_close(native(torch.zeros(3)), torch.ones(3))
    np.testing.assert_array_equal(flax(jnp.zeros(3)), np.ones(3))


def test_torch_parameters_of_integers_have_no_gradient() -> None:
    class Quantized(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            weight = torch.arange(3, dtype=torch.int8)
            self.weight = torch.nn.Parameter(weight, requires_grad=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight

    native = na.to_module(Quantized(), torch.ones(3)).to_torch_module()
    assert native.load_state_dict(Quantized().state_dict()) == ([], [])
    assert not native.weight.requires_grad
    torch.testing.assert_close(native(torch.ones(3)), torch.arange(3.0))


def test_torch_seeds_determine_dropout(model: Any, images: np.ndarray) -> None:
    native, x = model.to_torch_module().train(), torch.tensor(images)
    outputs = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        outputs.append(native(x))
    torch.testing.assert_close(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])


def test_torch_export_and_compile_read_the_module(model: Any, images: np.ndarray) -> None:
    native, x = model.to_torch_module(), torch.tensor(images)
    program = torch.export.export(native, (x,))
    torch.testing.assert_close(program.module()(x), native(x))
    compiled = torch.compile(native, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), native(x))
    for copied in (model.to_torch_module(), copy.deepcopy(native)):
        compiled = torch.compile(copied.train(), backend="eager", fullgraph=True)
        assert compiled(x).shape == native(x).shape  # the first call of the module


def test_dynamic_sizes_stay_dynamic() -> None:
    x = torch.randn(4, 3)
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    graph = na.trace_graph(net, x, dynamic={"input": {0: "batch"}})
    assert graph.to_torch_module()(torch.randn(7, 3)).shape == (7, 2)
    assert graph.to_flax_module()(jnp.ones((7, 3))).shape == (7, 2)
    assert graph.to_tf_module()(tf.ones((7, 3))).shape == (7, 2)


# -- Flax --------------------------------------------------------------------------------------


def test_nnx_optimizer_jit_split_and_merge(model: Any, images: np.ndarray) -> None:
    native = model.to_flax_module(rngs=nnx.Rngs(0))
    native.train()
    optimizer = nnx.Optimizer(native, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(native: Any, optimizer: Any, x: jax.Array) -> jax.Array:
        loss, grads = nnx.value_and_grad(lambda net: jnp.mean(net(x) ** 2))(native)
        optimizer.update(native, grads)
        return loss

    losses = [float(step(native, optimizer, images)) for _ in range(12)]
    assert losses[-1] < losses[0]
    assert int(native.norm.num_batches_tracked.get_value()) == 12
    graph, state = nnx.split(native)
    merged = nnx.merge(graph, state)
    merged.eval()
    native.eval()
    np.testing.assert_array_equal(merged(images), native(images))


def test_nnx_makes_an_ensemble_of_modules(model: Any, images: np.ndarray) -> None:
    def made(seed: jax.Array) -> nnx.Module:
        return model.to_flax_module(rngs=nnx.Rngs(jax.random.key(seed)))

    seeds = jnp.arange(2)
    ensemble = nnx.vmap(made)(seeds)
    outputs = nnx.vmap(lambda net, x: net(x), in_axes=(0, None))(ensemble, images)
    want = nnx.jit(made)(seeds[0])(images)
    for output in outputs:
        np.testing.assert_allclose(output, want, rtol=1e-5, atol=1e-6)


def test_orbax_restores_the_state_of_an_nnx_module(
    model: Any, images: np.ndarray, tmp_path: Path
) -> None:
    import orbax.checkpoint as ocp

    native = model.to_flax_module()
    graph, state = nnx.split(native)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Orbax's own
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(tmp_path / "state", nnx.to_pure_dict(state))
        with ocp.StandardCheckpointer() as checkpointer:
            restored = checkpointer.restore(tmp_path / "state", nnx.to_pure_dict(state))
    nnx.replace_by_pure_dict(state, restored)
    np.testing.assert_array_equal(nnx.merge(graph, state)(images), native(images))


def test_linen_train_state_and_tabulate(model: Any, images: np.ndarray) -> None:
    native = model.to_linen_module()
    assert isinstance(native, linen.Module)
    variables = native.init(jax.random.key(0), images)
    state = TrainState.create(
        apply_fn=native.apply, params=variables["params"], tx=optax.adam(1e-2)
    )
    statistics, losses = variables["batch_stats"], []
    for _ in range(8):

        def loss(params: Any, statistics: Any = statistics) -> Any:
            output, new = native.apply(
                {"params": params, "batch_stats": statistics}, images, train=True,
                mutable=["batch_stats"], rngs={"dropout": jax.random.key(1)},
            )  # fmt: skip
            return jnp.mean(output**2), new["batch_stats"]

        (value, statistics), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
        state = state.apply_gradients(grads=grads)
        losses.append(float(value))
    assert losses[-1] < losses[0]
    assert "params" in native.tabulate(jax.random.key(0), images)


def test_linen_evaluates_with_counters_of_random_numbers() -> None:
    keras.utils.clear_session()
    source = keras.Sequential(
        [keras.Input((6, 3)), keras.layers.LSTM(4, dropout=0.1), keras.layers.Dense(2)]
    )
    x = np.ones((4, 6, 3), np.float32)
    net = na.to_module(source, x).to_linen_module()
    variables = net.init(jax.random.key(0), x)
    output = net.apply(variables, x)  # which counts its calls, in a collection that is not mutable
    np.testing.assert_allclose(output, np.asarray(source(x)), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", ["flax", "linen", "haiku", "equinox"])
def test_steps_that_donate_their_arrays_leave_those_of_the_model(form: str) -> None:
    graph = ROWS["nnx_net"]().model.to_backend("jax").graph
    x = jnp.asarray(ROWS["nnx_net"]().args[0])
    net = hk.transform_with_state(lambda x: graph.to_haiku_module()(x))
    make = {
        "flax": lambda: nnx.state(graph.to_flax_module()),
        "linen": lambda: graph.to_linen_module().init(jax.random.key(0), x),
        "haiku": lambda: net.init(None, x),
        "equinox": lambda: eqx.filter(graph.to_equinox_module(), eqx.is_array),
    }[form]
    arrays = make()
    jax.jit(lambda tree: jax.tree.map(lambda y: y + 1, tree), donate_argnums=0)(arrays)
    assert all(y.is_deleted() for y in jax.tree.leaves(arrays))
    assert not any(y.is_deleted() for y in jax.tree.leaves(make()))


# -- Haiku, Equinox ----------------------------------------------------------------------------


def test_haiku_trains_with_jax_grad_alone() -> None:
    x, y = jnp.asarray(ROWS["linen_graph"]().args[0]), jnp.ones((5, 2))
    net = na.to_module(torch.nn.Linear(3, 2), torch.ones(5, 3)).to_backend("jax")
    loss = hk.without_apply_rng(hk.transform(lambda: jnp.mean((net.to_haiku_module()(x) - y) ** 2)))
    params = loss.init(None)
    first = loss.apply(params)
    for _ in range(20):
        params = jax.tree.map(lambda p, g: p - 0.05 * g, params, jax.grad(loss.apply)(params))
    assert loss.apply(params) < first / 2


def test_haiku_converts_a_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Haiku makes its modules again at each call; the weights are the present ones."""
    optimized, count = Graph.optimize, Counter[str]()

    def counted(graph: Graph, *args: Any, **kwargs: Any) -> Graph:
        count[graph.name] += 1
        return optimized(graph, *args, **kwargs)

    monkeypatch.setattr(Graph, "optimize", counted)
    graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
    net, x = hk.transform(lambda x: graph.to_haiku_module()(x)), jnp.ones((4, 2))
    for _ in range(3):
        net.apply(net.init(None, x), None, x)
    assert count == {"Linear": 1}
    graph.v["weight"].zero_()
    assert not np.any(net.init(None, x)["linear"]["weight"])


def test_haiku_modules_of_code_outside_of_transforms() -> None:
    x, y = torch.ones(4, 2), jnp.ones((4, 2))
    first, second = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
    net = na.to_module(first, x).to_backend("jax").to_haiku_module()
    other = na.to_module(second, x).to_backend("jax").to_haiku_module()

    class Outer(hk.Module):
        def __call__(self, x: Any) -> Any:
            return net(x) + other(x) + hk.vmap(net, split_rng=False)(x[None])[0] + self.cell(x)

        def cell(self, x: Any) -> Any:
            return net(x)

    with torch.no_grad():
        want = 4 * first(x).numpy(), (4 * first(x) + second(x)).numpy()
    for call, names, value in (
        (lambda y: 4 * net(y), ["linear"], want[0]),
        (net, ["linear"], want[0] / 4),
        (lambda y: net(y) + Outer()(y), ["linear", "outer/linear"], want[1]),
        (lambda y: net(y) * 4 + other(y), ["linear", "linear_1"], want[1]),
    ):
        function = hk.transform(call)
        with jax.checking_leaks():
            params = jax.jit(function.init)(None, y)
        assert sorted(params) == names
        np.testing.assert_allclose(function.apply(params, None, y), value, rtol=1e-5)
    assert not net._modules  # those of runs that ended
    with pytest.raises(ValueError, match=r"inside an `hk\.transform`"):
        net(y)


def test_haiku_converts_a_model_for_each_width_of_jax() -> None:
    graph = na.trace_graph(lambda x: x + torch.arange(3), torch.ones(3, dtype=torch.int32))
    net = hk.transform(lambda x: graph.to_haiku_module()(x))
    for is_wide in (False, True, False):
        with jax.enable_x64(is_wide):
            x = jnp.ones(3, "int32")
            want = (x + jnp.arange(3)).dtype
            assert net.apply(net.init(None, x), None, x).dtype == want


def test_haiku_trains_with_statistics_and_dropout(model: Any, images: np.ndarray) -> None:
    def network(x: Any) -> Any:
        return jnp.mean(model.to_haiku_module()(x, is_training=True) ** 2)

    net = hk.transform_with_state(network)
    params, state = net.init(jax.random.key(0), images)
    step = jax.jit(jax.value_and_grad(lambda *a: net.apply(*a), has_aux=True))
    losses = []
    for _ in range(12):
        (loss, state), grads = step(params, state, jax.random.key(1), images)
        params = jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)
        losses.append(float(loss))
    assert losses[-1] < losses[0]
    (statistics,) = state.values()
    assert int(statistics["norm/num_batches_tracked"]) == 12


def test_equinox_trains_with_its_state(model: Any, images: np.ndarray, tmp_path: Path) -> None:
    net, state = model.to_equinox_module()
    net, optimizer = eqx.nn.inference_mode(net, False), optax.adam(1e-2)
    moments = optimizer.init(eqx.filter(net, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(net: Any, state: Any, moments: Any, key: jax.Array) -> Any:
        def loss(net: Any) -> Any:
            output, new = net(images, state, key=key)
            return jnp.mean(output**2), new

        (value, new), grads = eqx.filter_value_and_grad(loss, has_aux=True)(net)
        updates, moments = optimizer.update(grads, moments)
        return eqx.apply_updates(net, updates), new, moments, value

    losses = []
    for _ in range(12):
        net, state, moments, loss = step(net, state, moments, jax.random.key(1))
        losses.append(float(loss))
    assert losses[-1] < losses[0]
    assert int(state.get(net.state)["norm/num_batches_tracked"]) == 12
    eqx.tree_serialise_leaves(tmp_path / "net.eqx", (net, state))
    fresh = model.to_equinox_module()
    restored, held = eqx.tree_deserialise_leaves(tmp_path / "net.eqx", fresh)
    trained = eqx.nn.inference_mode(net)(images, state)[0]
    evaluated = eqx.nn.inference_mode(restored)(images, held)[0]
    np.testing.assert_array_equal(evaluated, trained)


def test_equinox_edits_and_serialises_leaves(tmp_path: Path) -> None:
    row = ROWS["linen_graph"]()
    native, x = row.model.to_equinox_module(), jnp.asarray(row.args[0])
    edited = eqx.tree_at(lambda net: net.v["params"]["Dense_0"]["bias"], native, jnp.ones(2))
    np.testing.assert_allclose(edited(x), native(x) + 1, rtol=1e-5)
    eqx.tree_serialise_leaves(tmp_path / "net.eqx", edited)
    restored = eqx.tree_deserialise_leaves(tmp_path / "net.eqx", native)
    np.testing.assert_array_equal(restored(x), edited(x))
    grads = eqx.filter_jit(eqx.filter_grad(lambda net: jnp.sum(net(x) ** 2)))(native)
    assert jax.tree.structure(grads.v) == jax.tree.structure(native.v)


def test_equinox_prints_the_arrays_and_not_the_program(model: Any) -> None:
    net, _ = model.to_equinox_module()
    assert "fc" in str(net)
    assert len(str(net).splitlines()) < 60


def test_equinox_modules_with_state_are_layers(model: Any, images: np.ndarray) -> None:
    class Larger(eqx.Module):
        net: Any
        scale: jax.Array

        def __init__(self) -> None:
            self.net, self.scale = model.to_equinox_module(with_state=False), jnp.ones(())

        def __call__(self, x: jax.Array, state: Any) -> Any:
            y, state = self.net(x, state)
            return y * self.scale, state

    larger, state = eqx.nn.make_with_state(Larger)()
    net, own = model.to_equinox_module()
    wide = images.astype("float64")  # an array of NumPy, which JAX holds in 32 bits
    np.testing.assert_allclose(larger(wide, state)[0], net(images, own)[0], rtol=1e-6)


class LinenStatistics(linen.Module):
    """Batch statistics and dropout of Linen."""

    @linen.compact
    def __call__(self, x: jax.Array, train: bool = False) -> jax.Array:
        x = linen.BatchNorm(use_running_average=not train, momentum=0.5)(linen.Dense(4)(x))
        return linen.Dropout(0.5, deterministic=not train)(x)


@pytest.fixture(scope="module")
def linen_model() -> Any:
    net, x = LinenStatistics(), jnp.asarray(ROWS["linen_graph"]().args[0])
    variables = net.init(jax.random.key(0), x)
    return na.to_module(net, x, variables=variables, dynamic={"x": {0: "batch"}})


def test_models_of_jax_with_open_sizes_train_in_other_libraries_of_jax(linen_model: Any) -> None:
    x = jnp.asarray(ROWS["linen_graph"]().args[0])[:3]
    net, state = linen_model.to_equinox_module()
    output, state = eqx.nn.inference_mode(net, False)(x, state, key=jax.random.key(0))
    assert np.any(np.asarray(output) == 0)
    assert not np.allclose(state.get(net.state)["batch_stats/BatchNorm_0/mean"], 0)
    haiku = hk.transform_with_state(
        lambda x: linen_model.to_haiku_module(name="net")(x, is_training=True)
    )
    params, state = jax.jit(haiku.init)(jax.random.key(0), x)
    output, state = jax.jit(haiku.apply)(params, state, jax.random.key(0), x)
    assert not np.allclose(state["net"]["batch_stats/BatchNorm_0/mean"], 0)


def test_noise_and_quotients_of_tensorflow_in_other_dtypes() -> None:
    """No argument decides their dtype."""

    def noisy(x: Any) -> Any:
        steps = tf.range(3) / 4
        return x * tf.cast(steps, x.dtype) + tf.random.stateless_normal([3], [1, 2])

    native = na.trace_graph(noisy, tf.ones(3)).to_torch_module()
    x = torch.ones(3)
    expected = native(x)
    half = native.to(torch.bfloat16)(x.bfloat16())
    assert half.dtype is torch.bfloat16
    # bfloat16 has 8 bits: a relative rounding of 4e-3 in each of two calls
    torch.testing.assert_close(half.float(), expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_dropout_of_jax_in_other_dtypes(linen_model: Any, dtype: torch.dtype) -> None:
    native = linen_model.to_torch_module().to(dtype).train()
    output = native(torch.ones(64, 3, dtype=dtype).cumsum(0))
    assert output.dtype is dtype
    assert 0.3 < (output == 0).float().mean() < 0.7
    output.sum().backward()
    assert all(p.grad.dtype is dtype for p in native.parameters())


def test_models_of_jax_draw_from_the_generator_of_torch(linen_model: Any) -> None:
    native = linen_model.to_torch_module().train()
    x, outputs = torch.tensor(ROWS["linen_graph"]().args[0]), []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        outputs.append(native(x))
    torch.testing.assert_close(outputs[0], outputs[1])
    assert not torch.equal(outputs[0], outputs[2])


def test_equinox_keeps_counters_of_jax_as_state() -> None:
    class Counter(nnx.Module):
        def __init__(self) -> None:
            self.count = nnx.BatchStat(jnp.asarray(0))  # weakly typed
            self.linear = nnx.Linear(3, 2, rngs=nnx.Rngs(0))

        def __call__(self, x: jax.Array) -> jax.Array:
            self.count[...] += 1
            return self.linear(x)

    x = jnp.asarray(ROWS["linen_graph"]().args[0])
    net, state = na.to_module(Counter(), x).to_equinox_module()
    for _ in range(2):
        _, state = eqx.filter_jit(eqx.nn.inference_mode(net, False))(x, state)
    assert int(state.get(net.state)["batch_stats/count"]) == 2


# -- TensorFlow, Keras -------------------------------------------------------------------------


def test_a_saved_model_of_a_tf_module(model: Any, images: np.ndarray, tmp_path: Path) -> None:
    native = model.to_tf_module()
    want = native(tf.constant(images))
    tf.saved_model.save(native, str(tmp_path / "net"))
    loaded = tf.saved_model.load(str(tmp_path / "net"))
    np.testing.assert_array_equal(loaded(tf.constant(images)), want)


def test_tensorflow_trains_with_a_tape_and_saves(
    model: Any, images: np.ndarray, tmp_path: Path
) -> None:
    native, x = model.to_tf_module(), tf.constant(images)
    optimizer = keras.optimizers.Adam(1e-2)
    before = native(x)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(native(x, training=True) ** 2)
        variables = native.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    losses = [float(step()) for _ in range(12)]
    assert losses[-1] < losses[0]
    after = native(x)
    assert not np.allclose(before, after)
    tf.saved_model.save(native, str(tmp_path / "net"))
    loaded = tf.saved_model.load(str(tmp_path / "net"))
    np.testing.assert_array_equal(loaded(x), after)


# -- errors ------------------------------------------------------------------------------------


def test_an_evaluation_graph_serves_both_modes(images: np.ndarray) -> None:
    graph = ROWS["conv_net"]().model.graph
    native, x = graph.to_torch_module(), torch.tensor(images)
    torch.testing.assert_close(native.train()(x), native.eval()(x))
    both = graph.to_torch_module(training=ROWS["conv_net"]().model.training_graph)
    assert not torch.equal(both.train()(x), both.eval()(x))


def test_functions_have_one_behaviour() -> None:
    def scaled(x: Any, key: Any) -> Any:
        return tf.nn.relu(x) * key

    x, key = np.ones((2, 3), np.float32), np.full(3, 2.0, np.float32)
    module = na.to_module(scaled, tf.constant(x), key_=tf.constant(key))
    native = module.to_torch_module().train()
    output = native(torch.tensor(x), key=torch.tensor(key))  # the source's own names
    np.testing.assert_array_equal(output, x * key)
    output, state = module(tf.constant(x), key_=tf.constant(key), train=True)
    np.testing.assert_array_equal(output, x * key)
    assert len(state) == 0


def test_errors_of_the_arguments(model: Any) -> None:
    own = ROWS["own_module"]().model
    with pytest.raises(errors.ArgumentError, match=r"an nn\.Module has its own training behaviour"):
        own.to_torch_module(training=model.training_graph)
    with pytest.raises(errors.ArgumentError, match="expected train=True for one with train=False"):
        model.graph.to_torch_module(training=model.graph)
    with pytest.raises(errors.ArgumentError, match="is a parameter of one graph only"):
        ROWS["tied"]().model.graph.to_torch_module(training=model.training_graph)
    with torch.device("meta"):
        abstract = torch.nn.Linear(2, 2)
    with pytest.raises(errors.ConversionError, match="its variables have shapes only"):
        na.trace_graph(abstract, torch.ones(1, 2, device="meta")).to_torch_module()
    with pytest.raises(errors.StructureError, match="has no variables yet"):
        na.nn.Linear(2, 3).to_torch_module()
    with pytest.raises(errors.ConversionError, match=r"Keras saves graphs, not an nn\.Module"):
        own.to_keras_model().get_config()
    stateful, state = model.to_equinox_module()
    for args in ((), (jnp.ones(2),), (state, jnp.ones(2))):
        with pytest.raises(
            errors.ArgumentError, match=r"expected the eqx\.nn\.State of the module"
        ):
            stateful(*args)


class Wide(torch.nn.Module):
    """A part in float64, which JAX computes in 32 bits."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.double().exp().float()


def test_everything_that_the_target_lacks_is_reported_before_a_module_is_made() -> None:
    graph = na.trace_graph(Wide(), torch.ones(2))
    assert graph.to_tf_module()(tf.ones(2)).dtype is tf.float32
    for method in ("to_flax_module", "to_haiku_module"):
        with pytest.raises(errors.ConversionError) as caught:
            getattr(graph, method)()
        first, *rest = str(caught.value).splitlines()
        assert first == "Wide (eval): jax lacks what this graph needs:"
        assert "to = torch.Tensor.to(…) (test_libraries.py:" in rest[0]
        assert "2 calls of this graph need float64" in rest[0]
        assert 'to_backend("jax", float64="float32")' in rest[0]
    graph = na.trace_graph(torch.nn.ReLU(), torch.ones(2, dtype=torch.float64))
    with pytest.raises(errors.ConversionError, match=r"dtype float64 \(input 'input'\): jax"):
        graph.to_equinox_module()


def test_sizes_that_values_decide_do_not_prevent_a_module() -> None:
    graph = na.trace_graph(lambda x: x[x > 0], torch.ones(2))
    x = np.asarray([1.0, -1.0], "float32")
    assert graph.to_torch_module()(torch.tensor(x)).shape == (1,)
    assert graph.to_equinox_module()(jnp.asarray(x)).shape == (1,)


def test_a_training_mode_that_cannot_be_traced() -> None:
    class Odd(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.training:
                return x if x.sum() > 0 else -x  # torch.export cannot read this
            return x

    class Failing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x / len(x) if not self.training else x / undefined  # noqa: F821

    for source in (Odd(), Failing()):
        native = na.to_module(source.eval(), torch.ones(2)).to_torch_module()
        assert native(torch.ones(2)).sum() > 0
        with pytest.raises(errors.ConversionError, match=": its training mode is not available"):
            native.train()(torch.ones(2))


@pytest.mark.parametrize(
    ("form", "library", "extra"),
    [
        ("torch_module", "torch", "torch"),
        ("flax_module", "flax.nnx", "flax"),
        ("linen_module", "flax.linen", "flax"),
        ("haiku_module", "haiku", "haiku"),
        ("equinox_module", "equinox", "equinox"),
        ("tf_module", "tensorflow", "tensorflow"),
        ("keras_model", "keras", "keras"),
    ],
)
def test_a_missing_library_names_its_extra(
    model: Any, form: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(errors.MissingFrameworkError, match=rf"pip install 'nestarray\[{extra}\]'"):
        getattr(model, f"to_{form}")()


@pytest.mark.parametrize(
    ("style", "library", "extra"), [("nnx", "flax.nnx", "flax"), ("equinox", "equinox", "equinox")]
)
def test_a_missing_library_of_a_style_names_its_extra(
    style: str, library: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = na.trace_graph(torch.tanh, torch.ones(2))
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(errors.MissingFrameworkError, match=rf"pip install 'nestarray\[{extra}\]'"):
        graph.eject(tmp_path / "net", "jax", style=style)
    assert not [*tmp_path.iterdir()]
