"""Containers go into the tree libraries of all frameworks and come back as Containers."""

from __future__ import annotations

import copy
import inspect
import io
import pickle
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

import nestarray as na
from nestarray.container import ListContainer, TupleContainer
from nestarray.errors import ArgumentError, StructureError
from tests.trees import plain_trees, roots, sample


def floats(tree: Any) -> na.Container:
    return na.Container(tree).map(lambda x: np.asarray(x, "float32"))


# -- JAX ----------------------------------------------------------------------------------


@given(roots())
def test_jax_flattens_to_the_leaves(tree: dict[str, Any]) -> None:

    c = na.Container(tree)
    leaves, treedef = jax.tree.flatten(c, is_leaf=lambda x: x is None)
    assert tuple(leaves) == c.leaves()
    assert jax.tree.unflatten(treedef, leaves).spec is c.spec


def test_jax_names_leaves_by_path() -> None:

    c = na.Container(sample())
    paths = [path for path, _ in jax.tree_util.tree_leaves_with_path(c)]
    assert [jax.tree_util.keystr(p) for p in paths] == [f"[{name!r}]" for name in c.paths()]
    assert jax.tree_util.keystr(paths[0], simple=True) == "encoder/weight"


def test_jax_exports_functions_of_trees() -> None:
    for c in (floats(sample()), floats(sample()).fuse(), floats(sample())["heads"]):
        exported = jax.export.export(jax.jit(lambda c: c * 2))(c)
        double = jax.export.deserialize(exported.serialize()).call(c)
        assert type(double) is type(c)
        assert double.paths() == c.paths()
        np.testing.assert_array_equal(double.leaves()[0], 2 * c.leaves()[0])


def test_jax_transformations() -> None:

    c = floats(sample())
    double = jax.jit(lambda c: c * 2)(c)
    assert double.spec is c.spec
    assert list(double) == ["encoder", "heads", "scale"]  # not sorted
    np.testing.assert_array_equal(double["heads", 1, 0], np.full(3, 4.0))

    grads = jax.grad(lambda c: (c["encoder/weight"] ** 2).sum() + c["heads/0"].sum())(c)
    assert grads.spec is c.spec
    np.testing.assert_array_equal(grads["encoder/weight"], 2 * c["encoder/weight"])
    np.testing.assert_array_equal(grads["heads/1/0"], np.zeros(3))

    batch = na.Container(a=np.ones((4, 2), "float32"), b=[np.ones((4, 3), "float32")])
    mapped = jax.vmap(lambda c: c * 3)(batch)
    assert mapped.spec is batch.spec
    assert mapped["b/0"].shape == (4, 3)
    sums = jax.lax.scan(lambda carry, c: (carry + c["a"], c), np.zeros(2, "float32"), batch)
    np.testing.assert_array_equal(sums[0], [4.0, 4.0])
    assert sums[1].spec is batch.spec


def test_jax_retraces_only_for_another_structure() -> None:

    traces: list[Any] = []

    @jax.jit
    def f(c: na.Container) -> na.Container:
        traces.append(c.spec)
        return c

    for tree in ({"a": 1.0, "b": 2.0}, {"a": 5.0, "b": 6.0}, {"b": 1.0, "a": 2.0}):
        assert f(na.Container(tree)).to_dict() == tree
    assert len(traces) == 2


def test_optax() -> None:
    import optax

    v = floats({"w": [1.0, 2.0], "b": {"x": 3.0}})
    v = v.map(jax.numpy.asarray)
    optimizer = optax.adam(0.1)
    state = optimizer.init(v)
    assert state[0].mu.spec is v.spec
    loss = lambda v: sum((x**2).sum() for x in v.leaves())  # noqa: E731
    before = loss(v)
    for _ in range(20):
        updates, state = optimizer.update(jax.grad(loss)(v), state, v)
        v = optax.apply_updates(v, updates)
    assert type(v) is na.Container
    assert type(v["w"]) is ListContainer
    assert loss(v) < before / 2
    masked = optax.masked(optax.sgd(1.0), v.mask("b"))
    updates, _ = masked.update(v * 0 + 1, masked.init(v), v)
    assert float(updates["b/x"]) == -1.0
    assert float(updates["w/0"]) == 1.0


# -- PyTorch ------------------------------------------------------------------------------


def test_torch_pytree() -> None:
    from torch.utils import _pytree

    c = na.Container(sample())
    leaves, spec = _pytree.tree_flatten(c)
    assert all(a is b for a, b in zip(leaves, c.leaves(), strict=True))
    assert _pytree.tree_unflatten(leaves, spec).spec is c.spec
    keys = [path for path, _ in _pytree.tree_flatten_with_path(c)[0]]
    assert [_pytree.keystr(k) for k in keys] == [f"[{name!r}]" for name in c.paths()]
    again = _pytree.treespec_loads(_pytree.treespec_dumps(spec))
    assert _pytree.tree_unflatten(leaves, again).spec is c.spec


def test_torch_load_reads_what_torch_save_wrote() -> None:
    import torch

    c = na.Container(a=torch.ones(2), l=[torch.zeros(1, dtype=torch.bfloat16), None], t=(1, "x"))
    for saved in (c, c.select("l/1"), c.select("a", "l/0").fuse(), na.Container()):
        file = io.BytesIO()
        torch.save({"model": saved, "step": 3}, file)
        file.seek(0)
        loaded = torch.load(file, weights_only=True)["model"]
        assert type(loaded) is type(saved)
        assert loaded.spec is saved.spec
        assert str(loaded.diff(saved)) == str(saved.diff(saved))


def test_torch_func() -> None:
    import torch

    c = floats(sample()).map(torch.as_tensor)
    grads = torch.func.grad(lambda c: (c["encoder/weight"] ** 2).sum() + c["scale"])(c)
    assert grads.spec is c.spec
    assert grads["encoder/weight"].equal(2 * c["encoder/weight"])
    batch = na.Container(a=torch.ones(4, 2), b=[torch.ones(4)])
    mapped = torch.func.vmap(lambda c: c * c + 1.0)(batch)
    assert mapped.spec is batch.spec
    assert mapped["b/0"].equal(torch.full((4,), 2.0))
    value, tangent = torch.func.jvp(lambda c: c * c, (c,), (c,))
    assert tangent.spec is value.spec is c.spec
    assert tangent["scale"] == 32.0


def test_torch_func_calls_modules_with_containers() -> None:
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    v = na.Container.from_torch_module(net)
    x = torch.randn(5, 3)
    out = torch.func.functional_call(net, v.to_torch_state_dict(), (x,))
    assert out.equal(net(x))


def test_torch_compile_reads_operations_on_containers() -> None:
    import torch

    def step(v: na.Container, g: na.Container) -> na.Container:
        return na.exp((v + g) * 0.5 - 0.1 * g).map(torch.relu)

    v = na.Container(b=torch.ones(3), a=[torch.arange(4.0), (torch.zeros(2),)])
    expected = step(v, v * 2)
    torch._dynamo.reset()
    # one graph without breaks; the backend that needs no C++ compiler
    compiled = torch.compile(step, backend="eager", fullgraph=True)
    result = compiled(v, v * 2)
    assert result.spec is v.spec
    for path, leaf in result.flat_items():
        torch.testing.assert_close(leaf, expected[path])


# -- TensorFlow, dm-tree, optree ------------------------------------------------------------


@given(plain_trees())
def test_dm_tree(tree: dict[str, Any]) -> None:
    import tree as dm_tree

    c = na.Container(tree)
    mapped = dm_tree.map_structure(lambda x: (x,), c)
    assert type(mapped) is na.Container
    assert list(mapped) == list(c)
    same = dm_tree.unflatten_as(c, dm_tree.flatten(c))
    assert same.to_dict() == tree
    dm_tree.assert_same_structure(c, same)


def test_dm_tree_keeps_kinds() -> None:
    import tree as dm_tree

    mapped = dm_tree.map_structure(lambda x: x * 2, na.Container(sample()))
    assert mapped.spec is na.Container(sample()).spec
    assert type(mapped["heads"]) is ListContainer
    assert type(mapped["heads/1"]) is TupleContainer
    assert [path for path, _ in dm_tree.flatten_with_path(na.Container(a=[1]))] == [("a", 0)]


def test_a_bare_array_is_not_lost_in_silence() -> None:
    import tree as dm_tree

    with pytest.raises(ArgumentError, match="a bare array has no keys"):
        dm_tree.flatten(na.Container(np.ones(2)))


def test_tensorflow_nest() -> None:
    import tensorflow as tf

    c = na.Container(sample())
    mapped = tf.nest.map_structure(lambda x: x * 2, c)
    assert mapped.spec is c.spec
    np.testing.assert_array_equal(mapped["heads/1/0"], np.full(3, 4.0))
    assert tf.nest.pack_sequence_as(c, tf.nest.flatten(c)).spec is c.spec


def test_tensorflow_functions_take_and_return_containers() -> None:
    import tensorflow as tf

    traces: list[Any] = []

    @tf.function
    def f(c: na.Container, scale: Any) -> Any:
        traces.append(c.spec)
        return c.map(lambda x: x * scale), {"first": c["z"]}

    # keys in an order that sorting would change: TensorFlow sorts, Containers do not
    tree = {
        "z": [np.ones(2), (np.full(3, 2.0),)],
        "a": {"w": np.full((2, 2), 3.0)},
        "A": np.ones(1),
    }
    c = na.Container(tree).map(tf.constant)
    for _ in range(2):
        result, part = f(c, tf.constant(2.0, tf.float64))
    assert len(traces) == 1
    assert result.spec is c.spec
    assert type(part["first"]) is ListContainer
    for path, leaf in result.flat_items():
        np.testing.assert_array_equal(leaf, 2 * c[path])
    np.testing.assert_array_equal(part["first"][1, 0], np.full(3, 2.0))

    other = na.Container(A=tf.ones(1), z=tf.zeros(2))
    f(other, tf.constant(2.0))[0]["z"]
    assert len(traces) == 2
    concrete = f.get_concrete_function(c, tf.TensorSpec((), tf.float64))
    assert concrete.structured_outputs[0].spec is c.spec


def test_tensorflow_functions_widen_shapes_leaf_by_leaf() -> None:
    import tensorflow as tf

    traces: list[Any] = []

    @tf.function(reduce_retracing=True)
    def f(c: na.Container) -> na.Container:
        traces.append(c["x"].shape)
        return c * 2

    for n in (2, 3, 4, 5):
        assert f(na.Container(x=tf.ones(n)))["x"].shape == (n,)
    assert len(traces) == 2


def test_tensorflow_variables_and_gradients() -> None:
    import tensorflow as tf

    v = na.Container(b=tf.ones(2), a=[tf.ones(3)]).map(tf.Variable)

    @tf.function
    def grow(v: na.Container) -> None:
        for x in v.leaves():
            x.assign_add(tf.ones_like(x))

    grow(v)
    np.testing.assert_array_equal(v["a/0"], np.full(3, 2.0))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v["b"] ** 2) + tf.reduce_sum(v["a/0"])
    grads = tape.gradient(loss, v)
    assert grads.spec is v.spec
    np.testing.assert_array_equal(grads["b"], np.full(2, 4.0))


def test_tensorflow_data_sets_of_containers() -> None:
    import tensorflow as tf

    c = na.Container(x=tf.reshape(tf.range(8.0), (4, 2)), l=[tf.range(4), {"w": np.arange(4)}])
    data = tf.data.Dataset.from_tensor_slices(c)
    assert data.element_spec.spec is c.spec
    assert data.element_spec["l/0"] == tf.TensorSpec((), tf.int32)
    whole = next(iter(data.map(lambda c: c * 2).batch(4)))
    assert whole.spec is c.spec
    for found, x in zip(whole.leaves(), c.leaves(), strict=True):
        assert found.numpy().tolist() == (2 * np.asarray(x)).tolist()
    pairs = tf.data.Dataset.zip((data, tf.data.Dataset.range(4))).filter(lambda c, i: i > 2)
    ((last, number),) = list(pairs)
    assert (last.x.numpy().tolist(), number.numpy()) == ([6.0, 7.0], 3)
    total = data.reduce(na.Container(x=tf.zeros(2)), lambda t, c: na.Container(x=t.x + c.x))
    assert total.x.numpy().tolist() == [12.0, 16.0]
    fused = tf.data.Dataset.from_tensor_slices(c.map(lambda x: tf.cast(x, "float32")).fuse())
    assert next(iter(fused)).x.numpy().tolist() == [0.0, 1.0]


@pytest.mark.parametrize("keys", [("a", 3, 20), (20, "a", 3)])
def test_integers_beside_strings(keys: tuple[Any, ...]) -> None:
    import tensorflow as tf
    import tree as dm_tree

    c = na.Container(n={key: tf.fill([1], float(i)) for i, key in enumerate(keys)})
    doubled = c * 2
    for mapped in (
        tf.nest.map_structure(lambda x: x * 2, c),
        tf.function(lambda c: c * 2)(c),
        dm_tree.map_structure(lambda x: x * 2, c),
    ):
        assert mapped.spec is c.spec
        assert mapped.leaves() == doubled.leaves()
    assert [path for path, _ in dm_tree.flatten_with_path(c)] == [("n", 3), ("n", 20), ("n", "a")]


def test_optree() -> None:
    import optree

    c = na.Container(sample())
    leaves, spec = optree.tree_flatten(c)
    assert all(a is b for a, b in zip(leaves, c.leaves(), strict=True))
    assert optree.tree_unflatten(spec, leaves).spec is c.spec
    assert optree.tree_map(lambda x: x, c).spec is c.spec
    assert optree.tree_paths(c) == [(name,) for name in c.paths()]


# -- checkpoints, processes -------------------------------------------------------------------


@pytest.fixture
def mixed() -> na.Container:
    tree = {"b": [{"w": jnp.ones((2, 3)), 0: jnp.zeros(3)}], "a": (jnp.arange(2),)}
    return na.Container(tree)


def test_flax_serialization(mixed: na.Container) -> None:
    from flax import serialization

    data = serialization.to_bytes(mixed)
    back = serialization.from_bytes(mixed * 0, data)
    assert back.spec is mixed.spec
    assert float((back - mixed.map(np.asarray)).tree_norm()) == 0  # Flax restores NumPy arrays
    with pytest.raises(StructureError, match=r"with the keys \['w'\] cannot take a state with the"):
        serialization.from_state_dict(na.Container(w=1), {"b": 2})


def test_orbax(mixed: na.Container, tmp_path: Any) -> None:
    import orbax.checkpoint as ocp

    c = mixed["a"].combine(na.Container({"w": jnp.ones(3)}))
    checkpointer = ocp.StandardCheckpointer()
    checkpointer.save(tmp_path / "x", c)
    checkpointer.wait_until_finished()
    back = checkpointer.restore(tmp_path / "x", c * 0)
    assert back.spec is c.spec
    assert float((back - c).tree_norm()) == 0


def test_optax_masks_and_labels(mixed: na.Container) -> None:
    import optax

    v = mixed.select(dtype="real floating")
    masked = optax.masked(optax.sgd(0.5), v.mask("**/w"))
    updates, _ = masked.update(v, masked.init(v), v)
    np.testing.assert_array_equal(updates["b/0/w"], np.full((2, 3), -0.5))
    labels = v.map(lambda path, _: "w" if path.endswith("w") else "rest", with_path=True)
    several = optax.multi_transform({"w": optax.sgd(2.0), "rest": optax.set_to_zero()}, labels)
    updates, _ = several.update(v + 1, several.init(v), v)
    assert updates.spec is v.spec
    np.testing.assert_array_equal(updates["b/0/w"], np.full((2, 3), -4.0))
    np.testing.assert_array_equal(updates["b/0/0"], np.zeros(3))


def test_jax_carries_donates_and_shards(mixed: na.Container) -> None:
    last, sums = jax.lax.scan(lambda c, x: (c + x, c.tree_sum()), mixed * 1.0, jnp.arange(3.0))
    assert last.spec is mixed.spec
    np.testing.assert_allclose(sums, [7.0, 7.0, 18.0])
    given = mixed.map(jnp.copy)
    doubled = jax.jit(lambda c: c * 2, donate_argnums=0)(given)
    assert doubled.spec is mixed.spec
    assert all(leaf.is_deleted() for leaf in given.leaves())
    mesh = jax.sharding.Mesh(np.asarray(jax.devices()[:1]), ("x",))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())
    placed = jax.jit(lambda c: c + 1, out_shardings=mixed.map(lambda _: everywhere))(mixed)
    assert all(leaf.sharding == everywhere for leaf in placed.leaves())


def test_other_processes() -> None:
    code = (
        "import pickle, sys, numpy as np, nestarray as na\n"
        "c = pickle.loads(sys.stdin.buffer.read())\n"
        "sys.stdout.buffer.write(pickle.dumps(c * 2))"
    )
    c = na.Container(sample())
    run = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(c), capture_output=True)
    back = pickle.loads(run.stdout)
    assert back.spec is c.spec
    np.testing.assert_array_equal(back["encoder/weight"], c["encoder/weight"] * 2)


def test_containers_are_compared_leaf_by_leaf_and_have_no_hash() -> None:
    a, b = na.Container(x=np.arange(3)), na.Container(x=np.asarray([0, 5, 2]))
    np.testing.assert_array_equal((a == b)["x"], [True, False, True])
    with pytest.raises(TypeError, match="unhashable type: 'Container'"):
        hash(a)
    assert hash(a.spec) == hash(b.spec)


# -- nestarray.tree: Containers inside other nests --------------------------------------------


def test_nests_of_containers() -> None:
    nest = {"c": na.Container(x=1, y=[2]), "l": [3, (4, na.Container(z=5))]}
    leaves, structure = na.tree.flatten(nest)
    assert leaves == (1, 2, 3, 4, 5)
    back = na.tree.unflatten(structure, [10 * x for x in leaves])
    assert back["c"].to_dict() == {"x": 10, "y": [20]}
    assert back["l"][1][1].to_dict() == {"z": 50}
    assert structure.key == na.tree.flatten(nest)[1].key
    assert hash(structure.key) != hash(na.tree.flatten({"c": nest["c"]})[1].key)


@given(roots())
def test_tree_map(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    assert na.tree.map(lambda x: x, c).to_dict() == tree
    assert na.tree.map(lambda x: x, {"inner": c})["inner"].spec is c.spec


# -- what other libraries do with trees, against plain dicts and their own modules -----------------

SHARDED = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import numpy as np, jax, jax.numpy as jnp, nestarray as na
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

rows = NamedSharding(Mesh(np.asarray(jax.devices()), ("x",)), P("x"))
everywhere = NamedSharding(rows.mesh, P())
c = na.Container(w=jnp.arange(16.0).reshape(8, 2), b=[jnp.arange(8.0)])
shardings = na.Container(w=rows, b=[everywhere])

def has(c, expected):
    return [x.sharding for x in c.leaves()] == expected

placed = jax.device_put(c, shardings)
assert placed.spec is c.spec and has(placed, [rows, everywhere])
assert has(jax.device_put(c, rows), [rows, rows])  # one for the whole tree
prefix = na.Container(b=rows, w=everywhere)
assert has(jax.device_put(c, na.tree.broadcast(prefix, c)), [everywhere, rows])
state = {"step": jnp.zeros(()), "v": c}  # a prefix for each argument, in any nest
given = na.tree.broadcast(({"step": everywhere, "v": prefix}, rows), (state, c))
step = jax.jit(lambda state, c: (state["v"] + c, state["step"] + 1), in_shardings=given, out_shardings=(given[1], None))
moved, count = step(state, c)
assert has(moved, [rows, rows]) and float(count) == 1.0
np.testing.assert_array_equal(moved["b/0"], 2 * c["b/0"])
assert has(jax.device_put(state, given[0])["v"], [everywhere, rows])
grads = jax.jit(jax.grad(lambda c: (c * c).tree_sum()), in_shardings=(na.tree.broadcast(prefix, c),))(c)
np.testing.assert_array_equal(grads["w"], 2 * c["w"])
double = jax.jit(lambda c: c * 2, in_shardings=(shardings,), out_shardings=shardings)
assert has(double(c), [rows, everywhere])
np.testing.assert_array_equal(double(c)["w"], 2 * c["w"])
assert has(placed + placed, [rows, everywhere])
given = jax.tree.map(jnp.copy, placed)
jax.block_until_ready(jax.jit(lambda c: c + 1, donate_argnums=0)(given))
assert all(x.is_deleted() for x in given.leaves())
by_device = jax.shard_map(lambda c: c * 2, mesh=rows.mesh, in_specs=P("x"), out_specs=P("x"))
np.testing.assert_array_equal(by_device(c)["b/0"], 2 * c["b/0"])
fused = jax.device_put(c, rows).fuse()
np.testing.assert_array_equal((fused + fused)["w"], 2 * c["w"])
"""


def test_jax_shards_over_several_devices() -> None:
    run = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "name",
    [
        "chain",
        *(pytest.param(n, marks=pytest.mark.full) for n in ("ema", "hyperparameters", "steps")),
    ],
)
def test_optax_transformations_give_what_they_give_for_dicts(name: str) -> None:
    import optax

    optimizer: Any = {
        "chain": lambda: optax.chain(
            optax.clip_by_global_norm(0.1), optax.scale_by_adam(), optax.add_decayed_weights(0.01)
        ),
        "ema": lambda: optax.ema(0.9),
        "hyperparameters": lambda: optax.inject_hyperparams(optax.adamw)(
            learning_rate=optax.linear_schedule(0.1, 0.0, 10)
        ),
        "steps": lambda: optax.MultiSteps(optax.sgd(0.1, momentum=0.9), 2),
    }[name]()
    plain: Any = {"w": jnp.arange(6.0).reshape(2, 3), "b": [jnp.ones(3)]}
    v, slopes = na.Container(plain), na.Container(plain) * 0.5 + 1.0
    state, expected_state = optimizer.init(v), optimizer.init(plain)
    for _ in range(2):
        updates, state = optimizer.update(slopes, state, v)
        expected, expected_state = optimizer.update(slopes.to_dict(), expected_state, plain)
    assert updates.spec is v.spec
    np.testing.assert_array_equal(updates["w"], expected["w"])
    np.testing.assert_array_equal(updates["b/0"], expected["b"][0])


def test_torch_calls_a_module_with_any_parameters() -> None:
    import torch

    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    v = na.Container.from_torch_module(net).map(torch.detach)
    x = torch.linspace(-1.0, 1.0, 15).reshape(5, 3)

    def output(v: na.Container) -> Any:
        return torch.func.functional_call(net, v.to_flat_dict("."), (x,))

    net(x).sum().backward()
    slopes = torch.func.grad(lambda v: output(v).sum())(v)
    assert slopes.spec is v.spec
    for name, parameter in net.named_parameters():
        torch.testing.assert_close(slopes[name.replace(".", "/")], parameter.grad)
    models = v.map(lambda p: torch.stack([p, 2 * p]))
    both = torch.func.vmap(output)(models)
    torch.testing.assert_close(both, torch.stack([output(v), output(v * 2)]))
    torch._dynamo.reset()
    compiled = torch.compile(output, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(v), output(v))


PROCESSES = """
import multiprocessing
import numpy as np, nestarray as na

def double(c):
    return c * 2

if __name__ == "__main__":
    c = na.Container(a={"w": np.arange(6.0).reshape(2, 3)}, b=[np.ones(2), (np.zeros(1),)])
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            plain, fused = pool.map(double, [c, c.fuse()])
        assert plain.spec is fused.spec is c.spec
        assert fused.fuse() is fused
        for path, x in c.flat_items():
            np.testing.assert_array_equal(plain[path], 2 * x)
            np.testing.assert_array_equal(fused[path], 2 * x)
"""


def test_multiprocessing(tmp_path: Any) -> None:
    file = tmp_path / "pool.py"
    file.write_text(PROCESSES)
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_copies_share_or_do_not_share_memory() -> None:
    x = np.ones(3)
    c = na.Container(a=x, b=[x])
    assert copy.copy(c) is c
    deep = copy.deepcopy(c)
    assert deep.spec is c.spec
    assert deep["a"] is deep["b/0"]
    assert not np.shares_memory(deep["a"], x)


def test_tf_function_runs_our_code_as_it_is() -> None:
    import tensorflow as tf

    files = set()

    def look(x: Any) -> Any:
        files.update(frame.filename for frame in inspect.stack(0))
        return x

    c = na.Container(a=tf.ones(2))
    assert tf.function(lambda c: c.map(look))(c).spec is c.spec
    assert inspect.getfile(na.Container.map) in files  # and not the file of its wrapper
