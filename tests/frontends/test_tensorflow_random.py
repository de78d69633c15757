"""The functions of `tf.random` against TensorFlow: bits, samples, distributions, derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from nestarray import backends
from tests.arrays import on

SEED = (3, -7)
FLOATS = ["float16", "bfloat16", "float32", "float64"]
SAMPLERS = ["stateless_uniform", "stateless_normal", "stateless_truncated_normal"]

pytestmark = pytest.mark.one_in(8)


def _values(x: Any) -> np.ndarray:
    return backends.core(na.backend_of(x)).to_numpy(x)


def _skip_wide(dtype: str, backend: str) -> None:
    if backend == "jax" and dtype in ("float64", "int64"):
        pytest.skip(
            "https://docs.jax.dev/en/latest/default_dtypes.html: 64 bits need jax_enable_x64"
        )


def _assert_agree(ours: Any, theirs: Any, rounding: float = 0.0) -> None:
    """Equal, but for `rounding` in units of the last place of the largest number."""
    found, wanted = _values(ours), theirs.numpy()
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    atol = 0.0
    if rounding:
        atol = rounding * float(na.finfo(str(theirs.dtype.name)).eps) * np.abs(wanted).max()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=atol)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", SAMPLERS)
def test_philox_numbers(name: str, dtype: str, backend: str) -> None:
    _skip_wide(dtype, backend)
    seed = on(backend, np.asarray(SEED, "int32"))
    ours = getattr(frontend.random, name)((3, 5, 7), seed, 1.0, 3.0, dtype)
    theirs = getattr(tf.random, name)((3, 5, 7), SEED, 1.0, 3.0, dtype)
    # JAX has no 64 bits for an angle up to 2π, whose rounding then is that of 32 bits
    rounding = 8 if backend == "jax" else 2
    _assert_agree(ours, theirs, 0 if "uniform" in name else rounding)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("limits", [(None, None), (-5, 1000)])
def test_philox_integers(dtype: str, limits: Any, backend: str) -> None:
    _skip_wide(dtype, backend)
    seed = on(backend, np.asarray(SEED, "int32"))
    ours = frontend.random.stateless_uniform((3, 5), seed, *limits, dtype)
    _assert_agree(ours, tf.random.stateless_uniform((3, 5), SEED, *limits, dtype))


@pytest.mark.one_in(16)
@pytest.mark.parametrize("shape", [(5,), (2, 3), (3, 3), ()])
@pytest.mark.parametrize("dtype", FLOATS)
def test_threefry_numbers(shape: Any, dtype: str, backend: str) -> None:
    """Against XLA, since TensorFlow's own kernels have no Threefry."""
    _skip_wide(dtype, backend)

    @tf.function(jit_compile=True)
    def upstream() -> list[Any]:
        return [
            getattr(tf.random, name)(shape, SEED, 1.0, 3.0, dtype, alg="threefry")
            for name in SAMPLERS
        ]

    seed = on(backend, np.asarray(SEED, "int32"))
    # 16 bits: XLA computes in 32 bits, and erf⁻¹ and products have other roundings
    roundings = (0, 4, 8)
    for name, theirs, rounding in zip(SAMPLERS, upstream(), roundings, strict=True):
        ours = getattr(frontend.random, name)(shape, seed, 1.0, 3.0, dtype, alg="threefry")
        _assert_agree(ours, theirs, rounding)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_threefry_integers(dtype: str, backend: str) -> None:
    _skip_wide(dtype, backend)

    @tf.function(jit_compile=True)
    def upstream() -> Any:
        return tf.random.stateless_uniform((3, 3), SEED, 2, 99, dtype, alg="threefry")

    seed = on(backend, np.asarray(SEED, "int32"))
    ours = frontend.random.stateless_uniform((3, 3), seed, 2, 99, dtype, alg="threefry")
    _assert_agree(ours, upstream())


@pytest.mark.parametrize(
    "seed", [np.asarray(SEED, "int32"), np.asarray(SEED, "int64"), np.asarray([2**40, -(2**50)])]
)
def test_seeds(seed: Any, backend: str) -> None:
    if backend == "jax" and seed.dtype == np.int64:
        pytest.skip(
            "https://docs.jax.dev/en/latest/default_dtypes.html: 64 bits need jax_enable_x64"
        )
    own = on(backend, seed)
    _assert_agree(frontend.random.split(own, 3), tf.random.split(seed, 3))
    _assert_agree(frontend.random.fold_in(own, 7), tf.random.fold_in(seed, 7))


def test_seeds_of_python_numbers(backend: str) -> None:
    with na.use_backend(backend):
        _assert_agree(
            frontend.random.stateless_uniform([4], (2**40, -3)),
            tf.random.stateless_uniform([4], (2**40, -3)),
        )


REJECTION: dict[str, tuple[Callable[[Any, Any], Any], Callable[[], Any]]] = {
    "gamma": (
        lambda seed, x: frontend.random.stateless_gamma((40, 5), seed, x, 2.0),
        lambda: tf.random.stateless_gamma((40, 5), SEED, PARAMETERS["gamma"], 2.0),
    ),
    "poisson": (
        lambda seed, x: frontend.random.stateless_poisson((40, 6), seed, x),
        lambda: tf.random.stateless_poisson((40, 6), SEED, PARAMETERS["poisson"]),
    ),
    "binomial": (
        lambda seed, x: frontend.random.stateless_binomial((40, 7), seed, x[0], x[1]),
        lambda: tf.random.stateless_binomial((40, 7), SEED, *PARAMETERS["binomial"]),
    ),
    "categorical": (
        lambda seed, x: frontend.random.stateless_categorical(x, 50, seed),
        lambda: tf.random.stateless_categorical(PARAMETERS["categorical"], 50, SEED),
    ),
}
PARAMETERS = {
    "gamma": np.asarray([0.1, 0.7, 1.0, 1.5, 30.0], "float32"),
    "poisson": np.asarray([0.0, 0.3, 3.0, 9.9, 10.0, 50.0], "float32"),
    "binomial": np.asarray(
        [[0, 10, 10, 100, 100, 1000, 50], [0.5, 0.3, 0.8, 0.02, 0.6, 0.99, 1.0]], "float32"
    ),
    "categorical": np.asarray([[0.3, -1.0, -np.inf, 2.0], [np.inf, 0.0, 1.0, 1.0]], "float32"),
}


@pytest.mark.parametrize("name", REJECTION)
def test_samplers(name: str, backend: str) -> None:
    ours, theirs = REJECTION[name]
    seed = on(backend, np.asarray(SEED, "int32"))
    found, wanted = ours(seed, on(backend, PARAMETERS[name])), theirs()
    if backend == "jax" and name == "categorical":
        wanted = tf.cast(wanted, "int32")
    _assert_agree(found, wanted, 4 if name == "gamma" else 0)


def test_derivatives_of_gamma_samples(backend: str) -> None:
    alpha, beta = np.asarray([[0.3, 1.0, 2.5], [0.6, 2.0, 1.1]], "float32")

    def ours(a: Any, b: Any) -> Any:
        return na.sum(frontend.random.stateless_gamma((4, 3), SEED, a, b))

    found = na.grad(ours, argnums=(0, 1))(on(backend, alpha), on(backend, beta))
    a, b = tf.constant(alpha), tf.constant(beta)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        total = tf.reduce_sum(tf.random.stateless_gamma((4, 3), SEED, a, b))
    for one, other in zip(found, tape.gradient(total, [a, b])):
        np.testing.assert_allclose(_values(one), other.numpy(), rtol=2e-4)


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_shuffles(size: int, backend: str) -> None:
    value = np.arange(2 * size, dtype="int32").reshape(size, 2)
    seed = on(backend, np.asarray(SEED, "int32"))
    ours = frontend.random.experimental.stateless_shuffle(on(backend, value), seed)
    _assert_agree(ours, tf.random.experimental.stateless_shuffle(value, SEED))


@pytest.mark.parametrize("largest", [1, 9, 255, 70000])
def test_index_shuffle(largest: int, backend: str) -> None:
    index = np.arange(min(largest + 1, 100), dtype="int32")
    ours = frontend.random.experimental.index_shuffle(on(backend, index), SEED, largest)
    _assert_agree(ours, tf.random.experimental.index_shuffle(index, SEED, largest))


def test_parameterized_truncated_normal_has_the_distribution() -> None:
    means, low, high = [0.0, 1.0, 0.0], [-2.0, 3.0, -np.inf], [1.0, 4.0, -5.0]
    found = frontend.random.stateless_parameterized_truncated_normal(
        (20000, 3), SEED, means, 1.0, low, high
    )
    for i in range(3):
        law = scipy.stats.truncnorm(low[i] - means[i], high[i] - means[i], loc=means[i])
        assert scipy.stats.kstest(found[:, i], law.cdf).pvalue > 1e-3


def _uniform(x: Any) -> Any:
    return scipy.stats.kstest(x, "uniform", (1, 2)).pvalue


STATEFUL: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], float]]] = {
    "uniform": (lambda r, key: r.uniform((4000,), 1.0, 3.0, key=key), _uniform),
    "normal": (
        lambda r, key: r.normal((4000,), 1.0, 2.0, key=key),
        lambda x: scipy.stats.kstest(x, "norm", (1, 2)).pvalue,
    ),
    "truncated_normal": (
        lambda r, key: r.truncated_normal((4000,), 1.0, 0.5, key=key),
        lambda x: scipy.stats.kstest(x, "truncnorm", (-2, 2, 1, 0.5)).pvalue,
    ),
    "gamma": (
        lambda r, key: r.gamma((4000,), 1.5, 2.0, key=key),
        lambda x: scipy.stats.kstest(x, "gamma", (1.5, 0, 0.5)).pvalue,
    ),
    "poisson": (
        lambda r, key: r.poisson((4000,), 0.7, key=key),
        lambda x: scipy.stats.binomtest(int(np.sum(x == 0)), 4000, np.exp(-0.7)).pvalue,
    ),
    "categorical": (
        lambda r, key: r.categorical([[0.0, 1.0]], 4000, key=key),
        lambda x: scipy.stats.binomtest(int(np.sum(x)), 4000, 1 / (1 + np.exp(-1))).pvalue,
    ),
    "shuffle": (
        lambda r, key: r.shuffle(np.arange(4000.0), key=key),
        lambda x: scipy.stats.spearmanr(x, np.arange(4000)).pvalue,
    ),
}


@pytest.mark.parametrize("name", STATEFUL)
def test_functions_of_a_key(name: str) -> None:
    draw, pvalue = STATEFUL[name]
    found = draw(frontend.random, na.random.key(1))
    assert pvalue(found) > 1e-3
    np.testing.assert_array_equal(found, draw(frontend.random, na.random.key(1)))
    with pytest.raises(na.errors.ArgumentError, match=f"{name}: key: got None, expected a key"):
        draw(frontend.random, None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.stateless_uniform((2,), (1, 2, 3)), r"seed: got the shape \(3,\), expected"),
        (lambda r: r.stateless_uniform((2,), SEED, alg="mersenne"), "alg: got 'mersenne'"),
        (lambda r: r.stateless_uniform((2,), SEED, 0, None, "int32"), "minval, maxval: got 0 and"),
        (lambda r: r.stateless_uniform((2,), SEED, dtype="int8"), "dtype: got int8, expected"),
        (lambda r: r.stateless_gamma((2, 3), SEED, [1.0, 2.0]), r"shape: got \(2, 3\), expected"),
        (lambda r: r.uniform((2,), dtype="int32", key=na.random.key(0)), "maxval: got None"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(na.errors.NestarrayError, match=message):
        call(frontend.random)
