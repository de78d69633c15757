"""`Module`: variables by path, pure calls, readable errors; and the training loop."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import nestarray as na
from nestarray import errors, nn
from nestarray.testing import assert_close

DIFFERENTIABLE = ("numpy", "jax", "torch", "tensorflow")


class Block(nn.Module):
    """A layer with a child and a variable."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.fc = nn.Linear(size, size)

    def variables(self) -> dict[str, nn.Variable]:
        return {"scale": nn.Variable((self.size,), nn.initializers.ones)}

    def forward(self, x: Any) -> Any:
        return self.fc(x) * self.scale


class Net(nn.Module):
    """Linear, Conv2d, BatchNorm, LayerNorm, Dropout; lists and dicts of modules."""

    def __init__(self, depth: int = 2) -> None:
        self.conv = nn.Conv2d(1, 3, 3, padding=1)
        self.bn = nn.BatchNorm(3)
        self.blocks = [Block(8) for _ in range(depth)]
        self.heads = {"a": nn.Linear(8, 2), "b": nn.Linear(8, 2)}
        self.norm = nn.LayerNorm(8)
        self.embed = nn.Linear(48, 8)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: Any, head: str = "a") -> Any:
        x = na.relu(self.bn(self.conv(x)))
        x = self.norm(self.embed(na.reshape(x, (x.shape[0], -1))))
        for block in self.blocks:
            x = x + block(x)
        return self.heads[head](self.dropout(na.gelu(x)))


def images(backend: str) -> Any:
    x = np.random.default_rng(0).normal(size=(6, 1, 4, 4)).astype(np.float32)
    return na.to_backend(x, backend)


@pytest.fixture(scope="module")
def net() -> Net:
    """A model with variables, on NumPy."""
    return Net().init(na.random.key(0))


def test_paths_are_attribute_names(net: Net) -> None:
    assert net.v.paths() == (
        "conv/weight", "conv/bias", "bn/weight", "bn/bias",
        "blocks/0/scale", "blocks/0/fc/weight", "blocks/0/fc/bias",
        "blocks/1/scale", "blocks/1/fc/weight", "blocks/1/fc/bias",
        "heads/a/weight", "heads/a/bias", "heads/b/weight", "heads/b/bias",
        "norm/weight", "norm/bias", "embed/weight", "embed/bias",
    )  # fmt: skip
    assert net.s.paths() == ("bn/running_mean", "bn/running_var", "bn/num_batches_tracked")


def test_adding_a_layer_changes_no_other(net: Net) -> None:
    deeper = Net(3).init(na.random.key(0))
    assert set(deeper.v.paths()) > set(net.v.paths())
    for path, leaf in net.v.flat_items():
        np.testing.assert_array_equal(deeper.v[path], leaf)


def test_init_returns_a_copy() -> None:
    layer = nn.Linear(2, 3)
    first, second = layer.init(na.random.key(0)), layer.init(na.random.key(1))
    assert not np.array_equal(first.v.weight, second.v.weight)
    with pytest.raises(errors.StructureError):
        layer.v  # noqa: B018  # the property raises


def test_calls_with_other_variables(net: Net) -> None:
    x = images("numpy")
    zero = net.v.set("heads/a/weight", net.v["heads/a/weight"] * 0)
    expected = np.broadcast_to(net.v["heads/a/bias"], (6, 2))
    np.testing.assert_array_equal(net(x, v=zero), expected)
    np.testing.assert_array_equal(Net()(x, v=net.v, s=net.s), net(x))
    np.testing.assert_array_equal(net(x, v=net.v.to_dict()), net(x))
    assert not np.array_equal(net(x, "b"), net(x, head="a"))


def test_the_order_of_keys_does_not_matter(net: Net) -> None:
    turned = na.Container(dict(reversed(list(net.v.items()))))
    assert turned.spec is not net.v.spec
    np.testing.assert_array_equal(net(images("numpy"), v=turned), net(images("numpy")))


def test_training_returns_the_state_and_keeps_the_old(net: Net) -> None:
    before = np.array(net.s.bn.running_mean)
    out, s = net(images("numpy"), train=True, key=na.random.key(1))
    again, _ = net(images("numpy"), v=net.v, s=net.s, train=True, key=na.random.key(1))
    np.testing.assert_array_equal(out, again)
    assert s.spec is net.s.spec
    assert not np.array_equal(s.bn.running_mean, before)
    np.testing.assert_array_equal(net.s.bn.running_mean, before)
    assert int(s.bn.num_batches_tracked) == 1


def test_a_state_that_is_applied_twice_runs_on() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            self.bn = nn.BatchNorm(2)

        def forward(self, x: Any) -> Any:
            return self.bn(self.bn(x))

    x = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    _, s = Twice().init(na.random.key(0))(x, train=True)
    assert int(s.bn.num_batches_tracked) == 2


def test_a_shared_module_shares_its_variables() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            self.first = nn.Linear(2, 2, bias=False)
            self.second = self.first

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    tied = Tied().init(na.random.key(0))
    assert tied.v.paths() == ("first/weight",)
    x = np.eye(2, dtype=np.float32)
    w = tied.v.first.weight
    assert_close(tied(x), x @ w.T @ w.T, rtol=1e-6)  # two products of float32, of two terms each


def test_a_model_inside_of_another_call_is_its_own_root(net: Net) -> None:
    teacher = nn.Linear(2, 2).init(na.random.key(5))

    class Student(nn.Module):
        def __init__(self) -> None:
            self.fc = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.fc(x) - teacher(x)

    x = np.ones((1, 2), np.float32)
    student = Student().init(na.random.key(6))
    assert student.v.paths() == ("fc/weight", "fc/bias")
    expected = na.linear(x, *student.v.fc.leaves()) - teacher(x)
    np.testing.assert_array_equal(student(x), expected)


class Inner(nn.Module):
    """A layer that gives its child to a transformation."""

    def __init__(self, transformed: Any) -> None:
        self.layer = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm(3), nn.Dropout(0.5))
        self.transformed = transformed

    def forward(self, x: Any) -> Any:
        return self.transformed(self.layer, x)


#: Transformations of JAX that keep traces by the hash of a function.
OF_JAX = {
    "jit": lambda layer, x: jax.jit(layer)(x),
    "checkpoint": lambda layer, x: jax.checkpoint(layer)(x),
    "cond": lambda layer, x: jax.lax.cond(x.sum() < jnp.inf, layer, jnp.sin, x),
    "switch": lambda layer, x: jax.lax.switch(jnp.asarray(0), [layer, jnp.sin], x),
    "while_loop": lambda layer, x: jax.lax.while_loop(lambda x: x.sum() < 0, layer, x),
}


@pytest.mark.parametrize("name", OF_JAX)
def test_jax_takes_functions_of_the_call(name: str) -> None:
    layer = Inner(OF_JAX[name]).init(na.random.key(0)).to_backend("jax")
    x = jnp.ones((2, 3))
    message = r"Sequential: a layer cannot be hashed.*lambda x: self.layer\(x\)"
    with pytest.raises(errors.ArgumentError, match=message):
        layer(x)
    assert hash(layer.layer) == object.__hash__(layer.layer)  # outside of calls

    def through_function(child: Any, x: Any) -> Any:
        return OF_JAX[name](lambda x: child(x), x)

    layer.transformed = through_function
    if name != "while_loop":  # which takes no step here
        found = [layer(x, v=layer.v * scale) for scale in (1.0, 2.0)]
        assert not np.allclose(*found)


OWN = {
    "jit": lambda layer, x: na.jit(layer)(x),
    "cond": lambda layer, x: na.cond(na.sum(x) < np.inf, layer, na.sin, x),
    "map": lambda layer, x: na.map(layer, x[None])[0],
    "scan": lambda layer, x: na.scan(lambda x, _: (layer(x), None), x, length=1)[0],
    "vmap": lambda layer, x: na.vmap(layer)(x[None])[0],
}


@pytest.mark.parametrize("name", OWN)
def test_transformations_take_layers(name: str) -> None:
    layer = Inner(OWN[name]).init(na.random.key(0)).to_backend("jax")
    x = jnp.ones((2, 3))
    for scale in (1.0, 2.0):
        v = layer.v * scale
        assert_close(layer(x, v=v), layer.layer(x, v=v.layer, s=layer.s.layer))


class Counting(nn.Module):
    """Adds what it has seen; its weight too is new after each call."""

    def variables(self) -> Any:
        return {"weight": nn.Variable((3,), nn.initializers.ones)}

    def states(self) -> Any:
        return {"total": nn.Variable((3,), nn.initializers.zeros)}

    def forward(self, x: Any) -> Any:
        self.update_state(total=self.total + x[0], weight=self.weight * 0.5)
        return x * self.weight + self.total


class Stateful(nn.Module):
    """Gives layers with states to a transformation, and reads the states after it."""

    def __init__(self, transformed: Any) -> None:
        self.norm, self.count, self.transformed = nn.BatchNorm(3), Counting(), transformed

    def forward(self, x: Any) -> Any:
        return self.transformed(lambda x: self.count(self.norm(x)), x) + self.norm.running_mean


def rows(layer: Any, x: Any) -> Any:
    return na.stack([layer(x * i) for i in (1, 2, 3)])


#: Transformations of a layer with states, and the same as plain calls.
STATEFUL: dict[str, Any] = {
    "jit": (lambda f, x: na.jit(f)(x), lambda f, x: f(x)),
    "cond": (lambda f, x: na.cond(na.sum(x) < 99, f, na.sin, x), lambda f, x: f(x)),
    "switch": (lambda f, x: na.switch(na.argmax(x[0]) * 0 + 1, [na.sin, f], x), lambda f, x: f(x)),
    "fori_loop": (
        lambda f, x: na.fori_loop(0, 3, lambda i, c: f(c) + na.astype(i, "float32"), x),
        lambda f, x: f(f(f(x)) + 1) + 2,
    ),
    "while_loop": (
        lambda f, x: na.while_loop(lambda c: c[1] < 2, lambda c: (f(c[0]), c[1] + 1), (x, 0))[0],
        lambda f, x: f(f(x)),
    ),
    "scan": (
        lambda f, x: na.scan(lambda c, y: (f(c), c), x, x)[0],
        lambda f, x: f(f(f(f(x)))),
    ),
    "nested": (
        lambda f, x: na.scan(lambda c, y: (na.fori_loop(0, 2, lambda i, c: f(c), c), y), x, x[:2])[0],
        lambda f, x: f(f(f(f(x)))),
    ),
    "map": (lambda f, x: na.map(f, na.stack([x, x * 2, x * 3])), rows),
}  # fmt: skip


@pytest.mark.parametrize("name", STATEFUL)
def test_states_of_layers_in_transformations(name: str, backend: str) -> None:
    transformed, plain = STATEFUL[name]
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    reference = Stateful(plain).init(na.random.key(0))
    layer = Stateful(transformed).init(na.random.key(0)).to_backend(backend)
    expected = reference(x, train=True)
    x = na.to_backend(x, backend)
    step = lambda v, s, x: layer(x, v=v, s=s, train=True)  # noqa: E731
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    for found in (layer(x, train=True), na.jit(step, **options)(layer.v, layer.s, x)):
        found = na.tree.map(lambda x: na.to_backend(x, "numpy"), found)
        assert_close(found, expected, check_dtype=False)


class Drawing(nn.Module):
    """Dropout in loops and branches, and beside them; in a module that has states."""

    def __init__(self, function: Any) -> None:
        self.drop, self.function = nn.Dropout(0.5), function

    def states(self) -> Any:
        return {"offset": nn.Variable((), nn.initializers.zeros)}

    def forward(self, x: Any) -> Any:
        return self.drop(x) + self.function(self.drop, x) + self.drop(x) + self.offset


def drawn_in_loops(drop: Any, x: Any) -> Any:
    def step(c: Any, row: Any) -> Any:
        c = na.fori_loop(0, 2, lambda i, c: drop(c) + row, c)
        return na.cond(na.sum(c) > 0, lambda: drop(c), lambda: drop(drop(c))), row

    return na.scan(step, x, na.stack([x, -x]))[0]


def drawn_in_python(drop: Any, c: Any) -> Any:
    for row in (c, -c):
        for _ in range(2):
            c = drop(c) + row
        c = drop(c) if na.sum(c) > 0 else drop(drop(c))
    return c


def drawn_in_examples(drop: Any, x: Any) -> Any:
    rows = na.vmap(lambda row: drop(row))(na.stack([x, 2 * x]))
    return rows[0] * rows[1]


def drawn_once(drop: Any, x: Any) -> Any:
    row = drop(x)
    return row * 2 * row


def drawn_in_loops_of_examples(drop: Any, x: Any) -> Any:
    def run(row: Any) -> Any:
        return na.fori_loop(0, 2, lambda i, c: drop(c) + row, row)

    rows = na.vmap(run)(na.stack([x, 2 * x]))
    return rows[0] + rows[1]


def drawn_in_loops_of_checkpoints(drop: Any, x: Any) -> Any:
    return 3 * na.checkpoint(lambda x: na.fori_loop(0, 2, lambda i, c: drop(c) + x, x))(x)


def drawn_twice(drop: Any, x: Any) -> Any:
    return 3 * (drop(drop(x) + x) + x)


@pytest.mark.parametrize(
    ("function", "in_python"),
    [
        (drawn_in_loops, drawn_in_python),
        (drawn_in_examples, drawn_once),
        (drawn_in_loops_of_examples, drawn_twice),
        (drawn_in_loops_of_checkpoints, drawn_twice),
    ],
)
def test_keys_of_layers_in_transformations(function: Any, in_python: Any, backend: str) -> None:
    x, key = np.linspace(-1, 2, 12, dtype="float32"), na.random.key(1)
    expected, _ = Drawing(in_python).init(key)(x, train=True, key=key)
    layer = Drawing(function).init(key).to_backend(backend)
    x, key = na.to_backend(x, backend), na.to_backend(key, backend)
    found = [layer(x, train=True, key=key), na.trace_graph(layer, x, train=True)(x, key=key)]
    if backend == "jax":
        typed = jax.random.wrap_key_data(key)
        found.append(na.jit(lambda x, key: layer(x, train=True, key=key))(x, typed))
    for y, _ in found:
        assert_close(na.to_backend(y, "numpy"), expected, check_dtype=False)


@pytest.mark.parametrize(
    "linear",
    [lambda drop, x: drop(x), lambda drop, x: na.fori_loop(0, 2, lambda i, c: drop(c), x)],
)
def test_tangents_share_keys_of_layers(linear: Any, backend: str) -> None:
    x = na.to_backend(np.linspace(-1, 2, 12, dtype="float32"), backend)
    key = na.random.key(1, backend=backend)
    found, expected = (
        Drawing(fn).init(key)(x, train=True, key=key)[0]
        for fn in (
            lambda drop, x: na.sum(na.jacfwd(lambda x: linear(drop, x))(x), axis=1),
            lambda drop, x: linear(drop, na.ones_like(x)),
        )
    )
    assert_close(found, expected, backend=backend)


@pytest.mark.parametrize(
    "function",
    [
        lambda f, x: na.vmap(f)(x[None])[0],
        lambda f, x: na.vmap(lambda x: na.fori_loop(0, 2, lambda i, x: f(x), x))(x[None])[0],
    ],
)
def test_states_of_layers_under_vmap(function: Any, backend: str) -> None:
    layer = Stateful(function).init(na.random.key(0)).to_backend(backend)
    x = na.ones((2, 3), like=layer.v.norm.weight)
    message = (
        r"^vmap: BatchNorm \(norm\) updates its state inside; .* call the layer on all examples"
    )
    with pytest.raises(errors.ArgumentError, match=message):
        layer(x, train=True)


def test_an_associative_operation_draws_in_no_loop() -> None:
    def prefixes(drop: Any, x: Any) -> Any:
        return na.associative_scan(
            lambda a, b: na.fori_loop(0, 2, lambda i, c: drop(c), a + b), x[:, None]
        )

    key = na.random.key(0)
    with pytest.raises(errors.ArgumentError, match=r"draws random numbers in a loop; .* use scan$"):
        Drawing(prefixes).init(key)(np.ones(4, "float32"), train=True, key=key)


@pytest.mark.parametrize("backend", DIFFERENTIABLE)
@pytest.mark.parametrize("is_bare", [True, False])
def test_a_checkpoint_in_a_module(backend: str, is_bare: bool) -> None:
    """Gradients of the variables, states and masks are the ones without it."""
    results = []
    for again in (lambda fn: fn, na.checkpoint):
        layer = Inner(
            lambda child, x, again=again: again(child if is_bare else lambda x: child(x))(x) * x
        )
        layer = layer.init(na.random.key(0)).to_backend(backend)
        key = na.random.key(1, backend=backend)
        x = na.random.normal(key, (4, 3))

        def loss(v: Any, layer: Any = layer, x: Any = x, key: Any = key) -> Any:
            y, s = layer(x, v=v, train=True, key=key)
            return na.sum(y * y), s

        results.append(na.grad(loss, has_aux=True)(layer.v))
        assert_close(na.trace_graph(layer, x)(x), layer(x))
    (gradients, states), (expected, expected_states) = results
    assert float(na.sum(na.abs(expected.layer["0"].weight))) > 0
    assert_close(gradients, expected)
    assert_close(states, expected_states)


def test_to_backend(net: Net, backend: str) -> None:
    moved = net.to_backend(backend)
    assert na.backend_of(moved.v) == backend
    assert na.backend_of(net.v) == "numpy"
    found = na.to_backend(moved(images(backend)), "numpy")
    assert_close(found, net(images("numpy")))


def test_copies_and_pickles(net: Net) -> None:
    x = images("numpy")
    net(x)
    for twin in (copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(nn_only()))):
        if isinstance(twin, Net):
            np.testing.assert_array_equal(twin(x), net(x))
        else:
            np.testing.assert_array_equal(twin.v.weight, nn_only().v.weight)


def nn_only() -> nn.Module:
    return nn.LayerNorm(3).init(na.random.key(0))


def test_threads_do_not_see_each_other(net: Net) -> None:
    x = images("numpy")
    variables = [net.v * float(i) for i in range(4)]
    expected = [net(x, v=v) for v in variables]
    found: dict[int, list[bool]] = {i: [] for i in range(4)}

    def run(i: int) -> None:
        for _ in range(20):
            found[i].append(np.array_equal(net(x, v=variables[i]), expected[i]))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(hits) == 20 and all(hits) for hits in found.values())


def test_display(net: Net) -> None:
    text = repr(net)
    assert "blocks/1: Block(size=8" in text
    assert "    fc: Linear(in_features=8, out_features=8, has_bias=True)" in text
    assert repr(nn.Sequential(nn.Linear(1, 2), na.relu)) == (
        "Sequential(\n  0: Linear(in_features=1, out_features=2, has_bias=True)\n  1: relu\n)"
    )
    summary = net.summary()
    assert list(summary.columns) == ["path", "layer", "variables", "elements"]
    assert summary.total.elements == sum(summary["elements"]) == net.v.size
    assert str(summary).splitlines()[-1].split() == ["total", str(net.v.size)]


def test_a_module_without_variables_needs_no_init(backend: str) -> None:
    x = images(backend) - 0.5
    net = nn.Sequential(nn.ReLU(), nn.Flatten(), nn.Dropout(0.5))
    expected = na.reshape(na.relu(x), (6, 16))
    assert_close(net(x), expected)
    assert net.v.paths() == net.s.paths() == ()
    assert_close(net.to_backend(backend)(x), expected)
    options = {"backend": "aot_eager"} if backend == "torch" else {}
    assert_close(na.jit(net, **options)(x), expected)
    out, s = net(x, train=True, key=na.random.key(0, backend=backend))
    assert tuple(out.shape) == (6, 16)
    assert s.paths() == ()


class TestErrors:
    def test_no_variables_yet(self) -> None:
        message = r"^Net: has no variables yet\. Call model = model\.init\(na\.random\.key\(0\)\)"
        with pytest.raises(errors.StructureError, match=message):
            Net()(images("numpy"))

    def test_missing_and_unknown_variables(self, net: Net) -> None:
        wrong = net.v.delete("conv/bias").set("conv/bais", net.v.conv.bias)
        message = (
            r"^Net: v: lacks 'conv/bias' and has 'conv/bais', which the model does not declare$"
        )
        with pytest.raises(errors.StructureError, match=message):
            net(images("numpy"), v=wrong)

    def test_a_wrong_shape(self, net: Net) -> None:
        wrong = net.v.set("conv/bias", np.zeros(4, np.float32))
        message = r"^Net\.with_variables: 'conv/bias': got the shape \(4,\), expected \(3,\)"
        with pytest.raises(errors.ShapeError, match=message):
            net.with_variables(wrong)

    def test_no_state(self, net: Net) -> None:
        with pytest.raises(errors.StructureError, match="has no variables yet"):
            Net()(images("numpy"), v=net.v)

    def test_no_key(self, net: Net) -> None:
        message = r"^Net: key: got None, but Dropout \(dropout\) needs one for dropping; pass"
        with pytest.raises(errors.ArgumentError, match=message):
            net(images("numpy"), train=True)

    @pytest.mark.parametrize("backend", DIFFERENTIABLE)
    def test_errors_name_the_innermost_module(self, net: Net, backend: str) -> None:
        x = na.concat([images(backend)] * 2, axis=3)
        with pytest.raises(errors.ShapeError, match=r"^linear: got x of shape \(6, 96\)") as caught:
            na.jit(net.to_backend(backend))(x)
        where = (
            "in the module 'embed' of Net: Linear(in_features=48, out_features=8, has_bias=True)"
        )
        assert caught.value.__notes__[0] == where  # JAX adds one on its traceback
        assert sum("in the module" in note for note in caught.value.__notes__) == 1

    def test_errors_of_the_root_need_no_name(self, net: Net) -> None:
        with pytest.raises(KeyError) as caught:
            net(images("numpy"), head="c")
        assert not hasattr(caught.value, "__notes__")

    def test_a_layer_outside_of_its_model(self, net: Net) -> None:
        message = r"Linear: 'weight' is a variable; a layer has variables only during a call"
        with pytest.raises(AttributeError, match=message):
            net.embed.weight  # noqa: B018  # the attribute raises
        with pytest.raises(AttributeError, match=r"^Net has no attribute 'wieght'$"):
            net.wieght  # noqa: B018  # the attribute raises

    def test_an_undeclared_state(self) -> None:
        class Wrong(nn.Module):
            def forward(self, x: Any) -> Any:
                self.update_state(count=x)
                return x

        with pytest.raises(errors.PathError, match=r"^Wrong: declares no state 'count'$"):
            Wrong().init(na.random.key(0))(1.0, train=True)

    def test_no_forward(self) -> None:
        with pytest.raises(errors.ArgumentError, match=r"^Module: has no forward"):
            nn.Module().init(na.random.key(0))(1.0)


def losses(net: Net, backend: str, steps: int = 100) -> list[float]:
    """The training loop as a user writes it."""
    model, x = net.to_backend(backend), images(backend)
    target = na.to_backend(np.eye(6, 2, dtype=np.float32), backend)
    optimizer = nn.Adam(1e-4)

    def loss_fn(v: Any) -> Any:
        return na.mean((model(x, v=v) - target) ** 2)

    v, state = model.v, optimizer.init(model.v)
    found = []
    for _ in range(steps):
        loss, grads = na.execute_with_gradients(loss_fn, v)
        v, state = optimizer.step(v, grads, state)
        found.append(float(loss))
    return found


def test_one_training_loop_on_all_frameworks(net: Net) -> None:
    found = {backend: losses(net, backend) for backend in DIFFERENTIABLE}
    assert found["jax"][-1] < 0.6 * found["jax"][0]
    for backend in DIFFERENTIABLE:  # a hundred steps of float32, each of which rounds differently
        np.testing.assert_allclose(found[backend], found["jax"], rtol=2e-6)


@pytest.mark.full
def test_optax_takes_the_variables_as_they_are(net: Net) -> None:
    model, x = net.to_backend("jax"), images("jax")
    target = na.to_backend(np.eye(6, 2, dtype=np.float32), "jax")
    optimizer = optax.adam(1e-4)

    @jax.jit
    def step(v: Any, state: Any) -> Any:
        loss, grads = na.execute_with_gradients(lambda v: na.mean((model(x, v=v) - target) ** 2), v)
        updates, state = optimizer.update(grads, state, v)
        return optax.apply_updates(v, updates), state, loss

    v, state = model.v, optimizer.init(model.v)
    found = []
    for _ in range(100):
        v, state, loss = step(v, state)
        found.append(float(loss))
    assert isinstance(v, na.Container)
    # optax takes 1 − βᵗ in float32, where the difference cancels to four digits
    np.testing.assert_allclose(found, losses(net, "jax"), rtol=2e-5)


@pytest.mark.parametrize("backend", DIFFERENTIABLE)
def test_a_compiled_training_step(net: Net, backend: str) -> None:
    model, x = net.to_backend(backend), images(backend)
    optimizer = nn.SGD(0.1, momentum=0.9)
    key = na.random.key(4, backend=backend)

    def step(v: Any, s: Any, state: Any, key: Any) -> Any:
        def loss_fn(v: Any) -> Any:
            out, new = model(x, v=v, s=s, train=True, key=key)
            return na.mean(out * out), new

        (loss, s), grads = na.execute_with_gradients(loss_fn, v, has_aux=True)
        v, state = optimizer.step(v, grads, state)
        return v, s, state, loss

    options = {"backend": "aot_eager"} if backend == "torch" else {}
    compiled = na.jit(step, **options)
    plain = fast = (model.v, model.s, optimizer.init(model.v))
    for i in range(3):
        *plain, expected = step(*plain, na.random.fold_in(key, i))
        *fast, found = compiled(*fast, na.random.fold_in(key, i))
        assert_close(found, expected)
    assert_close(fast[0], plain[0], rtol=1e-4, atol=1e-5, reason="three steps of rounding")
    assert_close(fast[1], plain[1])


def test_states_of_layers_in_jacobians(backend: str) -> None:
    layer = Stateful(lambda f, x: na.jacfwd(f)(x)).init(na.random.key(0)).to_backend(backend)
    x = na.ones((2, 3), like=layer.v.norm.weight)
    message = r"^jacfwd: BatchNorm \(norm\) updates its state inside; .* \(train=False\), or"
    with pytest.raises(errors.ArgumentError, match=message):
        layer(x, train=True)
