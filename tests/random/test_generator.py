"""`Generator`, the frameworks' own generators, and trees of keys."""

from __future__ import annotations

import inspect
from typing import Any

import jax
import numpy as np
import pytest
import scipy.stats

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError, StructureError, UnsupportedError
from tests.arrays import host

Generator = na.random.Generator


def test_it_has_all_functions_that_take_a_key() -> None:
    draws = set(na.random.__all__) - {"Generator", "key", "split", "fold_in"}
    own = {name for name in vars(Generator) if not name.startswith("_")}
    assert own == draws | {"key", "from_key", "next_key", "spawn"}
    for name in draws:
        function, method = getattr(na.random, name), getattr(Generator, name)
        assert next(iter(inspect.signature(function).parameters)) == "key"
        assert method.__doc__.startswith(function.__doc__.partition("\n")[0])


def test_a_sequence_of_draws(backend: str) -> None:
    rng = Generator(3, backend=backend)
    assert repr(rng) == f"<nestarray.random.Generator on {backend}>"
    key, used = na.random.split(na.random.key(3))
    np.testing.assert_array_equal(host(rng.uniform((4,))), na.random.uniform(used, (4,)))
    key, used = na.random.split(key)
    drawn = rng.randint((4,), 0, 50)
    assert na.backend_of(drawn) == backend
    np.testing.assert_array_equal(host(drawn), na.random.randint(used, (4,), 0, 50))
    np.testing.assert_array_equal(host(rng.key), key)
    again = Generator.from_key(rng.key)
    np.testing.assert_array_equal(host(again.normal((2,))), host(rng.normal((2,))))


def test_spawned_generators_differ() -> None:
    rngs = Generator(0).spawn(3)
    assert len({float(rng.uniform()) for rng in rngs}) == 3


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_it_refuses_to_be_traced(backend: str) -> None:
    rng = Generator(0, backend=backend)
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    x = na.to_backend(np.ones(2, np.float32), backend)
    with pytest.raises(UnsupportedError) as caught:
        na.jit(lambda x: x + rng.uniform((2,)), **options)(x)
    assert str(caught.value) == (
        "random.Generator: got a call in a function that is being compiled or mapped, where its "
        "state would be lost; give the function a key: rng.next_key()"
    )
    rng.uniform((2,))  # and goes on


LEVEL = 1e-6
NATIVE = {
    "uniform": (lambda k: na.random.uniform(k, (4000,)), scipy.stats.uniform()),
    "normal": (lambda k: na.random.normal(k, (4000,)), scipy.stats.norm()),
    "gamma": (lambda k: na.random.gamma(k, 2.5, (4000,)), scipy.stats.gamma(2.5)),
    "loggamma": (lambda k: na.random.loggamma(k, 0.2, (4000,)), scipy.stats.loggamma(0.2)),
    "gumbel": (lambda k: na.random.gumbel(k, (4000,)), scipy.stats.gumbel_r()),
}


@pytest.mark.parametrize("name", NATIVE)
def test_native_numbers(name: str, backend: str) -> None:
    draw, distribution = NATIVE[name]
    key = na.random.key(1, impl="native", backend=backend)
    assert tuple(key.shape) == (4,)
    x = draw(key)
    assert na.backend_of(x) == backend
    assert na.dtype_of(x) is na.float32
    assert scipy.stats.kstest(host(x), distribution.cdf).pvalue > LEVEL
    np.testing.assert_array_equal(host(draw(key)), host(x))  # a key is not a state
    other = draw(na.random.split(key)[1])
    assert np.mean(host(other) == host(x)) < 0.01
    assert abs(np.corrcoef(host(other), host(x))[0, 1]) < 6 / np.sqrt(4000)


def test_native_integers(backend: str) -> None:
    key = na.random.key(1, impl="native", backend=backend)
    for dtype in ("uint8", "uint16", "uint32"):
        words = host(na.random.bits(key, (3000,), dtype)).astype("f8") / 2.0 ** na.iinfo(dtype).bits
        spread = words + np.random.default_rng(0).random(3000) / 2.0 ** na.iinfo(dtype).bits
        assert scipy.stats.kstest(spread, "uniform").pvalue > LEVEL
    dice = host(na.random.randint(key, (3000,), 1, 7))
    assert scipy.stats.chisquare(np.bincount(dice, minlength=7)[1:]).pvalue > LEVEL
    counts = host(na.random.poisson(key, 4.0, (3000,)))
    assert counts.dtype == np.int32
    assert abs(counts.mean() - 4.0) < 6 * 2 / np.sqrt(3000)
    assert sorted(host(na.random.permutation(key, 9)).tolist()) == list(range(9))


def test_native_keys_of_jax_are_rbg() -> None:
    key = na.random.key(7, impl="native", backend="jax")
    theirs = jax.random.key(7, impl="rbg")
    np.testing.assert_array_equal(key, jax.random.key_data(theirs))
    np.testing.assert_array_equal(
        na.random.split(key, 3), jax.random.key_data(jax.random.split(theirs, 3))
    )
    np.testing.assert_array_equal(
        na.random.fold_in(key, 3), jax.random.key_data(jax.random.fold_in(theirs, 3))
    )
    np.testing.assert_array_equal(na.random.normal(key, (5,)), jax.random.normal(theirs, (5,)))


def test_native_numbers_in_jit_and_vmap(backend: str) -> None:
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    key = na.random.key(1, impl="native", backend=backend)

    def draw(key: Any) -> Any:
        return na.random.uniform(key, (3,)) + na.astype(na.random.poisson(key, 3.0), "float32")

    expected = host(draw(key))
    np.testing.assert_array_equal(host(na.jit(draw, **options)(key)), expected)
    keys = na.random.split(key, 2)
    found = host(na.vmap(draw)(keys))
    assert found.shape == (2, 3)
    assert len(np.unique(found)) == 6
    if backend != "jax":  # RBG of a batch of keys is another stream
        np.testing.assert_array_equal(found[1], host(draw(keys[1])))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_native_dtypes(dtype: str, backend: str) -> None:
    with jax.enable_x64(True):
        key = na.random.key(1, impl="native", backend=backend)
        for draw in (na.random.uniform, na.random.normal):
            x = draw(key, (500,), dtype)
            assert na.dtype_of(x) is na.as_dtype(dtype)
            wide = host(na.astype(x, "float64"))
            assert len(np.unique(wide)) > 50
        assert host(na.astype(na.random.uniform(key, (500,), dtype), "float64")).max() < 1.0


def test_a_generator_of_native_numbers(backend: str) -> None:
    one, other = (Generator(0, impl="native", backend=backend) for _ in range(2))
    np.testing.assert_array_equal(host(one.normal((5,))), host(other.normal((5,))))
    assert not np.array_equal(host(one.normal((5,))), host(one.normal((5,))))


def test_trees_of_keys(backend: str) -> None:
    keys = na.Container(
        a=na.random.key(0, backend=backend), b={"c": na.random.key(1, backend=backend)}
    )
    scale = na.Container(b={"c": 9.0}, a=2.0)
    drawn = na.random.gamma(keys, scale, (3,))
    assert isinstance(drawn, na.Container)
    np.testing.assert_array_equal(host(drawn["b/c"]), host(na.random.gamma(keys["b/c"], 9.0, (3,))))
    assert na.random.split(keys).a.shape == (2, 2)
    with pytest.raises(StructureError):
        na.random.gamma(keys, na.Container(a=1.0), (3,))
    with pytest.raises(ShapeError) as caught:
        na.random.normal(keys.set("a", keys.a[:1]), (3,))
    assert caught.value.__notes__ == ["at the Container path 'a'"]


def test_trees_of_numbers_with_parameters(backend: str) -> None:
    c = na.Container(w=np.zeros((2, 3), np.float32), b=[np.zeros(4, np.float32), None]).to_backend(
        backend
    )
    key = na.random.key(0, backend=backend)
    drawn = c.random_like(key, distribution=na.random.gamma, a=na.Container(b=2.0, w=50.0))
    expected = na.random.gamma(na.random.fold_in(key, "b/0"), 2.0, (4,))
    np.testing.assert_array_equal(host(drawn["b/0"]), host(expected))
    assert host(drawn.w).min() > 20
    assert drawn["b/1"] is None
    masks = c.random_like(key, distribution=na.random.dropout_mask, rate=0.5)
    assert set(host(masks.w).ravel().tolist()) <= {0.0, 2.0}


def test_kinds_of_keys_that_are_none() -> None:
    with pytest.raises(ArgumentError) as caught:
        na.random.key(0, impl="philox")
    assert (
        str(caught.value) == "random.key: impl: got 'philox', expected 'threefry2x32' or 'native'"
    )
    with pytest.raises(ArgumentError) as caught:
        Generator.from_key(3)
    assert str(caught.value) == (
        "random.Generator.from_key: key: got int, expected a key such as na.random.key(0)"
    )
