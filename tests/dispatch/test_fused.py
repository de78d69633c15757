"""Fused Containers equal ordinary ones, in one native call for each dtype."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import nestarray as na
from nestarray import backends, nn
from nestarray.container import FusedContainer
from nestarray.errors import ArgumentError, DtypeError
from nestarray.testing import assert_close
from nestarray.traits import Trait
from tests.cases import Case, on_backend, rows

TREE = {
    "a": {"w": np.arange(6.0, dtype="float32").reshape(2, 3), "b": np.ones(3, "float32")},
    "n": [np.arange(4, dtype="int32"), np.full((1, 2), 0.5, "float32")],
    "s": np.asarray(2.0, "float32"),
    "none": np.zeros((0, 3), "float32"),
}


def tree(backend: str) -> na.Container:
    return na.Container(TREE).map(backends.core(backend).from_numpy)


def assert_equal(fused: na.Container, plain: na.Container) -> None:
    assert fused.spec is plain.spec
    assert_close(fused.unfuse(), plain.unfuse())


# -- ops ----------------------------------------------------------------------------------


def is_fusible(case: Case) -> bool:
    """Whether the op is elementwise, and the case has arrays of one shape, not of broadcasting."""
    if Trait.ELEMENTWISE not in case.record.traits:
        return False
    args, kwargs = case.draw(case.dtypes[0])
    shapes = {a.shape for a in args if hasattr(a, "dtype")}
    return len(shapes) == 1 and not any(hasattr(x, "dtype") for x in kwargs.values())


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    ("case", "backend"),
    [
        *rows(("numpy",), is_fusible, one_an_op=True),
        *(
            pytest.param(*r.values, id=r.id, marks=pytest.mark.full)
            for r in rows(("jax", "torch", "tensorflow"), is_fusible)
        ),
    ],
)
def test_elementwise_ops(case: Case, backend: str) -> None:
    args, kwargs = on_backend(case.draw(case.dtypes[0]), backend)
    plain = [na.Container(x=a, y=[a[:1] if a.shape else a]) if is_array(a) else a for a in args]
    fused = [t.fuse() if isinstance(t, na.Container) else t for t in plain]
    actual, expected = (case.record.function(*trees, **kwargs) for trees in (fused, plain))
    if isinstance(expected, na.Container):
        actual, expected = (actual,), (expected,)
    for one, other in zip(actual, expected, strict=True):
        assert isinstance(one, FusedContainer)
        assert_equal(one, other)


def is_array(x: Any) -> bool:
    return hasattr(x, "dtype") and not isinstance(x, np.generic)


def test_operators_stay_fused(backend: str) -> None:
    c = tree(backend)
    fused = c.fuse()
    assert len(fused.buffers()) == 2
    for change in (
        lambda c: c * 2 + c,
        lambda c: 1 - c,
        lambda c: na.where(c > 1, c, 0),
        lambda c: c.astype(na.float32) / 3,
        lambda c: na.clip(c, 0, 2),
    ):
        assert isinstance(change(fused), FusedContainer)
        assert_equal(change(fused), change(c))


def test_other_ops_see_the_leaves(backend: str) -> None:
    c = tree(backend)["a"]
    fused = c.fuse()
    assert_close(na.sum(fused, axis=-1), na.sum(c, axis=-1))
    assert_close(na.matmul(fused["w"], fused["b"]), na.matmul(c["w"], c["b"]))
    assert_close(fused + c, c + c)
    row = backends.core(backend).from_numpy(np.arange(3, dtype="float32"))
    assert_close(fused * row, c * row)
    assert_close(fused.set("w", row), c.set("w", row))
    with pytest.raises(Exception, match="broadcast") as info:
        fused + fused.at["w"].apply(lambda x: x[:, :2])
    assert "at the Container path 'w'" in info.value.__notes__


def test_reductions(backend: str) -> None:
    c = tree(backend).select(dtype=na.float32)
    fused = c.fuse()
    for reduction in (na.tree_sum, na.tree_norm, na.tree_max, na.tree_min, na.tree_mean):
        assert_close(reduction(fused), reduction(c))
    assert_close(na.tree_dot(fused, fused), na.tree_dot(c, c))
    assert_close(na.tree_dot(fused, c), na.tree_dot(c, c))


class _Calls(TorchDispatchMode):
    """Counts the operations that reach torch's kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def adam_step(c: na.Container) -> Any:
    adam = nn.Adam(0.1)
    return adam.step(c, c * 0.5, adam.init(c))


WORK: dict[str, Any] = {
    "ops": lambda c: na.exp(c * 2 - c),
    "norm": lambda c: c.tree_norm(),
    "clip": lambda c: c.global_clip(1.0),
    "ema": lambda c: c.ema(c * 2, 0.9, step=3),
    "optimizer": adam_step,
}


@pytest.mark.parametrize("work", WORK)
def test_native_calls_do_not_grow_with_the_tree(work: str) -> None:
    """One for each op and dtype: as many for 40 leaves as for 2."""

    def calls(count: int) -> tuple[int, int]:
        leaves = [np.full((2, i % 3 + 1), 1.0 + i, "float32") for i in range(count)]
        of_torch = na.Container(leaves).map(torch.from_numpy).fuse()
        with _Calls() as seen:
            WORK[work](of_torch)
        of_jax = na.Container(leaves).map(jnp.asarray).fuse()
        return seen.count, len(jax.make_jaxpr(WORK[work])(of_jax).eqns)

    few = calls(2)
    assert calls(40) == few
    if work == "ops":
        assert few == (3, 3)


# -- structure ----------------------------------------------------------------------------


def test_parts(backend: str) -> None:
    c, fused = tree(backend), tree(backend).fuse()
    assert_equal(fused, c)
    assert fused.fuse() is fused
    assert type(fused.unfuse()) is na.Container
    for part in ("a", "n"):
        assert isinstance(fused[part], FusedContainer)
        assert_close(
            fused[part].unfuse(), na.Container(dict(c[part].items())) if part == "a" else c[part]
        )
    assert_close(fused["a/b"], c["a/b"])
    assert_close(fused.n[1], c["n/1"])
    assert_close(fused["s"], c["s"])
    assert_close(fused.select("a").update(s=c["s"]), c.select("a", "s"))


def test_a_tree_of_fused_trees_stays_fused(backend: str) -> None:
    c = tree(backend)["a"]
    fused = c.fuse()
    count = backends.core(backend).from_numpy(np.asarray(3, "int32"))
    state = na.Container(count=count, mu=fused, nu=fused * 2)
    assert isinstance(state, FusedContainer)
    assert state["count"] is count
    assert state["mu"].buffers()[0] is fused.buffers()[0]
    assert isinstance(state["mu"] + fused, FusedContainer)
    assert_equal(state, na.Container(count=count, mu=c, nu=c * 2))


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_leaves_are_views(backend: str) -> None:
    fused = tree(backend).fuse()
    pointer = (lambda x: x.data_ptr()) if backend == "torch" else (lambda x: x.ctypes.data)
    assert pointer(fused["a/w"]) == pointer(fused.buffers()[0])
    assert pointer(fused["a/b"]) == pointer(fused.buffers()[0]) + 4 * 6


def test_all_leaves_are_cut_by_one_call() -> None:
    c = na.Container(a=jnp.ones((2, 3)), b=[jnp.zeros(4), jnp.ones(()), jnp.ones((0, 2))]).fuse()
    calls = [e.primitive.name for e in jax.make_jaxpr(lambda c: c.leaves())(c).eqns]
    assert calls.count("split") == 1
    assert set(calls) <= {"split", "reshape"}
    batch = c.buffers()[0] * jnp.ones((5, 1))  # as a transformation puts an axis in front
    leaves = c._layout.build([batch]).leaves()
    assert [x.shape for x in leaves] == [(5, 2, 3), (5, 4), (5,), (5, 0, 2)]


def test_copies_and_processes() -> None:
    fused = tree("numpy").fuse()
    back = pickle.loads(pickle.dumps(fused))
    assert isinstance(back, FusedContainer)
    assert isinstance(back + fused, FusedContainer)
    assert_equal(back, fused.unfuse())
    assert_equal(copy.deepcopy(fused), fused.unfuse())


def test_text() -> None:
    assert repr(tree("numpy")["a"].fuse()).startswith("FusedContainer(2 leaves, 9 elements")


def test_leaves_that_are_no_arrays() -> None:
    with pytest.raises(ArgumentError) as info:
        na.Container(a=np.ones(2), b={"name": "x"}).fuse()
    assert str(info.value) == (
        "Container.fuse: 'b/name' is a str, expected an array; leave it out with c.partition(...)"
    )
    assert na.Container().fuse().buffers() == ()


# -- transformations ----------------------------------------------------------------------


def loss(c: na.Container) -> Any:
    return na.sum(na.matmul(c["a/w"], c["a/b"]) ** 2) + c["s"] ** 3


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_gradients_and_jit(backend: str) -> None:
    c = tree(backend).select("a", "s")
    fused = c.fuse()
    value, grads = na.execute_with_gradients(loss, fused)
    expected, slopes = na.execute_with_gradients(loss, c)
    assert isinstance(grads, FusedContainer)
    assert_close(value, expected)
    assert_equal(grads, slopes)
    options = {"backend": "aot_eager"} if backend == "torch" else {}
    compiled = na.jit(lambda c: c * 2 + 1, **options)(fused)
    assert isinstance(compiled, FusedContainer)
    assert_equal(compiled, c * 2 + 1)


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
@pytest.mark.parametrize(
    "optimizer",
    [nn.SGD(0.1, momentum=0.9), nn.Adam(0.1), nn.AdamW(0.1, decay="**/w"), nn.AdamW(0.1)],
    ids=["sgd", "adam", "adamw-w", "adamw"],
)
def test_optimizers(backend: str, optimizer: nn.Optimizer) -> None:
    c = tree(backend).select("a", "s")
    results = []
    for v in (c, c.fuse()):
        state = optimizer.init(v)
        for _ in range(3):
            _, grads = na.execute_with_gradients(loss, v)
            v, state = optimizer.step(v, grads, state)
        results.append((v, state))
    (plain, plain_state), (fused, fused_state) = results
    assert isinstance(fused, FusedContainer)
    assert isinstance(fused_state, FusedContainer)
    assert_equal(fused, plain)
    assert_equal(fused_state, plain_state)


def test_jax() -> None:
    import optax

    c = tree("jax").select("a", "s")
    fused = c.fuse()
    assert len(jax.tree.leaves(fused)) == 1
    assert isinstance(jax.jit(lambda c: c + c)(fused), FusedContainer)
    rows = jax.tree.map(lambda x: jnp.stack([x, 2 * x]), fused)
    assert_close(jax.vmap(lambda c: c["a/w"] @ c["a/b"])(rows)[1], 4 * (c["a/w"] @ c["a/b"]))
    assert rows["a/w"].shape == (2, 2, 3)
    adam = optax.adam(0.1)
    updates, _ = adam.update(fused, adam.init(fused), fused)
    expected, _ = adam.update(c, adam.init(c), c)
    assert_equal(updates, expected)
    assert jax.tree.map(lambda _: "label", fused)["a/w"] == "label"


def test_torch() -> None:
    c = tree("torch").select("a", "s")
    grads = torch.func.grad(loss)(c.fuse())
    assert isinstance(grads, FusedContainer)
    assert_equal(grads, torch.func.grad(loss)(c))
    flat, spec = torch.utils._pytree.tree_flatten(c.fuse())
    text = torch.utils._pytree.treespec_dumps(spec)
    back = torch.utils._pytree.tree_unflatten(flat, torch.utils._pytree.treespec_loads(text))
    assert_equal(back, c)


def test_tensorflow_functions() -> None:
    import tensorflow as tf

    fused = tree("tensorflow").fuse()
    doubled = tf.function(lambda c: c * 2)(fused)
    assert_close(doubled, fused.unfuse() * 2)


def test_one_buffer_is_one_call(backend: str) -> None:
    core = backends.core(backend)
    c = na.Container(
        a=core.from_numpy(np.asarray([1.5, -2.0], "float32")),
        b=[core.from_numpy(np.ones((2, 2), "float32"))],
    )
    fused = c.fuse()
    assert len(fused.buffers()) == 1
    for _ in range(2):  # as resolved by the first call, and as kept
        for change in (
            lambda t: t * t,
            lambda t: 2.0 - t,
            lambda t: t / 2,
            lambda t: -t,
            lambda t: na.exp(t) + t,
        ):
            assert isinstance(change(fused), FusedContainer)
            assert_equal(change(fused), change(c))
    with pytest.raises(ArgumentError) as info:
        fused + "2"
    assert str(info.value).startswith("add: array argument (x1, x2): got str")
    with pytest.raises(DtypeError) as dtype:
        fused & fused
    assert "at the Container path 'a'" in dtype.value.__notes__
