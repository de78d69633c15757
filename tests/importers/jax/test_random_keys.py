"""Programs with random keys, typed and as words, against JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax, random

import nestarray as na


def carried(x: Any, key: Any) -> Any:
    def step(key: Any, y: Any) -> Any:
        key, used = random.split(key)
        return key, random.normal(used) * y

    return lax.scan(step, key, x)[1]


#: Functions of three numbers and a key.
PROGRAMS: dict[str, Any] = {
    "unpacked": lambda x, k: [random.normal(each, (2,)) * x[0] for each in random.split(k, 3)],
    "carried": carried,
    "scanned": lambda x, k: lax.scan(lambda c, k: (c, random.normal(k)), 0, random.split(k, 3))[1] * x,
    "mapped": lambda x, k: jax.vmap(lambda k, y: random.normal(k) * y)(random.split(k, 3), x),
    "mapped_numbers": lambda x, k: jax.vmap(lambda i: random.uniform(random.fold_in(k, i)))(
        jnp.arange(3)
    ) * x,
    "mapped_seeds": lambda x, k: jax.vmap(lambda i: random.uniform(random.key(i)))(jnp.arange(3)) * x,
    "mapped_splits": lambda x, k: jax.vmap(lambda k: random.normal(random.split(k)[1]))(
        random.split(k, 3)
    ) * x,
    "chosen": lambda x, k: random.normal(lax.cond(x[0] > 0, lambda: k, lambda: random.fold_in(k, 1))) * x,
    "platform": lambda x, k: random.orthogonal(k, 3) @ x,
}  # fmt: skip

#: Functions of typed keys alone: arrays of keys as other arrays.
TYPED: dict[str, Any] = {
    "squares": lambda x, k: jax.vmap(jax.vmap(random.normal))(random.split(k, (2, 3))) * x,
    "where": lambda x, k: random.normal(jnp.where(x[0] > 0, k, random.fold_in(k, 1))) * x,
    "stack": lambda x, k: jax.vmap(random.normal)(jnp.stack([k, random.fold_in(k, 1), k])) * x,
    "concatenate": lambda x, k: jax.vmap(random.normal)(jnp.concatenate([random.split(k), k[None]])) * x,
    "reshape": lambda x, k: jax.vmap(jax.vmap(random.normal))(random.split(k, 6).reshape(2, 3)) * x,
    "transpose": lambda x, k: jax.vmap(jax.vmap(random.normal))(random.split(k, (3, 2)).T) * x,
    "broadcast": lambda x, k: jax.vmap(random.normal)(jnp.broadcast_to(k, (3,))) * x,
    "reversed": lambda x, k: jax.vmap(random.normal)(random.split(k, 3)[::-1]) * x,
    "taken": lambda x, k: jax.vmap(random.normal)(random.split(k, 6)[jnp.asarray([1, 0, 4])]) * x,
    "indexed": lambda x, k: random.normal(random.split(k, 6)[x.sum().astype(int)]) * x,
    "set": lambda x, k: jax.vmap(random.normal)(random.split(k, 3).at[1].set(k)) * x,
    "returned": lambda x, k: (x, random.split(k, 3)),
}  # fmt: skip

CASES = [(f, k) for f in PROGRAMS.values() for k in (random.key, random.PRNGKey)]
CASES += [(f, random.key) for f in TYPED.values()]


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "backend",
    ["torch", pytest.param("tensorflow", marks=pytest.mark.full), "numpy"],
)
@pytest.mark.parametrize(("function", "key_of"), CASES)
def test_program(function: Any, key_of: Any, backend: str) -> None:
    graph = na.trace_graph(function, jnp.ones(3), key_of(3))
    assert graph.to_backend(backend).verify().ok
    words = random.key_data(key_of(5)) if key_of is random.key else key_of(5)
    want = jax.tree.leaves(function(jnp.ones(3), key_of(5)))
    got = jax.tree.leaves(
        graph.to_backend(backend)(*(na.to_backend(x, backend) for x in (jnp.ones(3), words)))
    )
    for x, y in zip(want, got, strict=True):
        x = random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x
        assert jnp.allclose(x, na.to_backend(y, "jax"), rtol=1e-4, atol=1e-5)


def test_proof_at_a_kink() -> None:
    """The derivative of a rounding error's relu is the source's at the graph's values."""

    def function(x: Any, key: Any) -> Any:
        rounding = x.sum(axis=1) - lax.stop_gradient(x[:, ::-1].sum(axis=1))
        return jax.nn.relu(rounding) + random.normal(key, (64,)) * x[:, 0]

    x = random.normal(random.key(1), (64, 99))
    report = na.trace_graph(function, x, random.key(0)).to_backend("numpy").verify()
    assert report.ok, report
    assert "at the graph's own values" in str(report)
