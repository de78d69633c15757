"""Programs of JAX with open sizes."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import nestarray as na
from nestarray import errors
from tests.arrays import normal as draw

KEY = jax.random.PRNGKey(0)


def reshapes(x: Any) -> Any:
    rows = x.reshape(x.shape[0] * x.shape[1], -1)
    half = x[:, : x.shape[1] // 2].sum(1)
    return jnp.concatenate([rows, rows]) + x.shape[0], x.mean((0, 1)), half, x[:, ::2]


def creates(x: Any) -> Any:
    batch, length = x.shape[:2]
    mask = jnp.tril(jnp.ones((length, length)))
    return jax.nn.softmax(jnp.where(mask > 0, x @ x.mT, -1e9), -1), jnp.arange(batch % 3 + 1)


def scans(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        carry = jnp.tanh(row + carry) * carry.shape[0]
        return carry, carry

    return jax.lax.scan(step, jnp.zeros(x.shape[1:]), x)


def limits(x: Any) -> Any:
    least, most = jax.core.min_dim(x.shape[0], 4), jax.core.max_dim(x.shape[0], 2)
    return jax.nn.relu(x[:least]), x[most - 2 :]


@jax.custom_vjp
def straight_through(x: Any) -> Any:
    return jnp.round(x), jnp.argmax(x)


straight_through.defvjp(
    lambda x: (straight_through(x), jnp.cos(x)), lambda residual, g: (g[0] * residual,)
)


@jax.custom_jvp
def clipped(x: Any) -> Any:
    return jnp.clip(x, -1, 1)


@clipped.defjvp
def _(primals: Any, tangents: Any) -> Any:
    return clipped(*primals), tangents[0] * 3


def has_rules(x: Any) -> Any:
    return straight_through(x * x.shape[0])[0] + clipped(x)


def halves_twice(x: Any) -> Any:
    return x[:, ::2][:, ::2] + x[:, ::4]  # sizes that are equal, which JAX does not know


def slices(x: Any) -> Any:
    ends = x[:, -1] + x[:, 0, None, 1], x[:, 1:] - x[:, :-1], x[:, 1:-1:2], x[:, :0]
    return *ends, x[:, ::-1], x[:, -3:], x[:, x.shape[1] :], x[1:, 1:], x[:, ::-2]


class Net(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.conv, self.norm = nnx.Conv(1, 4, (3, 3), rngs=rngs), nnx.BatchNorm(4, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 4, decode=False, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = nnx.max_pool(nnx.relu(self.norm(self.conv(x))), (2, 2), (2, 2))
        return self.attention(x.reshape(x.shape[0], -1, 4)).mean(1)


#: name → (source, example, open sizes, an input with other sizes).
ROWS: dict[str, Any] = {
    "reshapes": (reshapes, draw(3, 4, 5), {"x": {0: "batch", 1: "length"}}, draw(2, 7, 5)),
    "creates": (creates, draw(3, 4, 5), {"x": {0: "batch", 1: "length"}}, draw(5, 2, 5)),
    "scans": (scans, draw(4, 2, 3), {"x": {0: "length", 1: "batch"}}, draw(6, 5, 3)),
    "rules": (has_rules, draw(4, 3), {"x": {0: "batch"}}, draw(2, 3)),
    "limits": (limits, draw(4, 3), {"x": {-2: "batch"}}, draw(1, 3)),
    "equal": (halves_twice, draw(3, 9), {"x": {1: "length"}}, draw(3, 6)),
    "slices": (slices, draw(3, 5, 2), {"x": {1: "length"}}, draw(3, 4, 2)),
    "model": (Net(), draw(2, 8, 8, 1), {"x": {0: "batch"}}, draw(5, 8, 8, 1)),
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy", "jax"])
@pytest.mark.parametrize("name", ROWS)
def test_other_sizes_agree_with_jax(name: str, backend: str) -> None:
    source, example, dynamic, other = ROWS[name]
    graph = na.trace_graph(source, example, dynamic=dynamic).to_backend(backend)
    for args in ((), (other,)):
        report = graph.verify(*args)
        assert report.ok, str(report)
        assert report.input_gradients


def test_slices_of_open_sizes_are_slices() -> None:
    graph = na.trace_graph(slices, draw(3, 5, 2), dynamic={"x": {1: "length"}})
    assert not re.search("gather|dynamic_slice|select_n|iota", graph.to_source())

    def moved(x: Any) -> Any:  # it starts at 1 for two rows: JAX moves it to be within
        return jax.lax.dynamic_slice(x, (jnp.int32(2), 0), (x.shape[0] - 1, 3))

    graph = na.trace_graph(moved, draw(4, 3), dynamic={"x": {0: "n"}})
    np.testing.assert_array_equal(graph(x := draw(6, 3)), moved(x))


def test_names_of_nested_arguments() -> None:
    def function(rows: Any) -> Any:
        return jnp.concatenate([rows["a"], rows["b"][0]])

    rows = {"a": draw(2, 3), "b": [draw(4, 3)]}
    dynamic = {"rows": {"a": {0: "n"}, "b": [{0: "m"}]}}
    graph = na.trace_graph(function, rows, dynamic=dynamic).to_backend("numpy")
    assert dict(graph.sizes.example) == {"n": 2, "m": 4}
    other = {"a": np.ones((5, 3), "float32"), "b": [np.ones((1, 3), "float32")]}
    assert graph(other).shape == (6, 3)


def test_equal_names_are_equal_sizes() -> None:
    graph = na.trace_graph(
        lambda x, y: jnp.sin(x) + y, draw(3), draw(3), dynamic={"x": {0: "n"}, "y": {0: "n"}}
    ).to_backend("numpy")
    with pytest.raises(errors.ShapeError, match=r"n .* is 5, but 4"):
        graph(np.ones(4, "float32"), np.ones(5, "float32"))


def test_a_program_that_depends_on_a_size() -> None:
    with pytest.raises(errors.ConversionError, match=r"depends on an open size: .*integer"):
        na.trace_graph(
            lambda x: sum(x[i] for i in range(x.shape[0])), draw(4), dynamic={"x": {0: "n"}}
        )


def test_comparisons_of_sizes_are_conditions() -> None:
    def halves(x: Any) -> Any:
        if x.shape[0] > 4 * x.shape[1] // 3:
            x = jnp.sin(x)
        return jax.lax.top_k(x.reshape(-1), 5)

    graph = na.trace_graph(halves, draw(6, 3), dynamic={"x": {0: "n", 1: "m"}})
    assert [*map(str, graph.sizes.conditions)] == ["n > m + m // 3", "m * n >= 5"]
    assert graph.verify(draw(4, 2)).ok
    with pytest.raises(errors.ShapeError, match=r"m = 3, n = 4.* sizes with n > m \+ m // 3"):
        graph(jnp.asarray(draw(4, 3)))


def test_all_sizes_need_names() -> None:
    with pytest.raises(errors.ConversionError, match="sin declares no open sizes"):
        na.trace_graph(jnp.sin, draw(4), dynamic=True)


def test_open_sizes_of_keyword_arguments_in_any_order() -> None:
    def total(x: Any, *, b: Any, a: Any) -> Any:
        return x + b.sum() + a.sum()

    x, a = draw(4, 2), draw(3)
    sizes = {"x": {0: "batch"}, "b": {0: "batch"}}
    graph = na.trace_graph(total, jnp.asarray(x), b=jnp.asarray(x), a=jnp.asarray(a), dynamic=sizes)
    y = jnp.asarray(draw(6, 2))
    np.testing.assert_allclose(graph(y, b=y, a=jnp.asarray(a)), total(y, b=y, a=a), rtol=1e-5)
