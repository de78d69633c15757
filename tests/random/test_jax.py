"""The numbers of jax.random from the same keys: over distributions, shapes, dtypes and seeds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na
from tests.random.distributions import EXACT, FLOATS, INTEGERS, PARAMETRIC, REJECTED, ROOT, Row

pytestmark = pytest.mark.usefixtures("jax_as_by_default")

WIDE_SHAPES = [(), (1,), (0, 3), (7,), (2, 3, 4), (300,)]
HALVES = ("float16", "bfloat16")
INTEGER_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


_expected: dict[Any, np.ndarray] = {}  # of one reference for all backends


def in_numpy(x: Any, dtype: str) -> np.ndarray:
    return np.asarray(na.to_backend(na.astype(x, "float32" if dtype in HALVES else dtype), "numpy"))


def pair(row: Row, backend: str, seed: int, shape: Any, dtype: str) -> tuple[Any, Any]:
    with jax.enable_x64(True) if "64" in dtype else nullcontext():
        found = row.ours(na.random.key(seed, backend=backend), shape, dtype)
        assert na.backend_of(found) == backend
        assert na.dtype_of(found) is na.as_dtype(dtype)
        case = (repr(row), seed, shape, dtype)
        if case not in _expected:
            # compiled code rounds float16 once for several operations
            with jax.disable_jit(dtype == "float16"):
                reference = row.reference(jax.random.PRNGKey(seed), shape, dtype)
            _expected[case] = in_numpy(reference, dtype)
        return in_numpy(found, dtype), _expected[case]


def check(row: Row, backend: str, seed: int, shape: Any, dtype: str) -> None:
    found, expected = pair(row, backend, seed, shape, dtype)
    assert found.shape == expected.shape
    if "int" in dtype:
        np.testing.assert_array_equal(found, expected)
        return
    error = units(found, expected, dtype)
    special = row.wide_ulps if dtype == "float64" else row.narrow_ulps if dtype in HALVES else 0.0
    ulps = special or row.ulps
    wrong = np.count_nonzero(~(error <= ulps))
    assert wrong <= row.rare * error.size, f"{np.max(error)} ulp"


def units(found: np.ndarray, expected: np.ndarray, dtype: str) -> np.ndarray:
    """How far numbers are away, in units in the last place of the expected number, or of 1."""
    scale = np.maximum(np.abs(expected.astype("f8")), 1.0)
    return np.abs(found.astype("f8") - expected.astype("f8")) / scale / na.finfo(dtype).eps


def ids(value: Any) -> str:
    return f"{value.name}{value.kwargs or ''}" if isinstance(value, Row) else str(value)


QUICK = {"gamma", "dirichlet", "binomial", "rayleigh"}
ROWS = FLOATS + [
    row if row.name in QUICK else pytest.param(row, marks=pytest.mark.full)
    for row in PARAMETRIC + REJECTED
]


@pytest.mark.one_in(16)
@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_numbers(row: Row, backend: str) -> None:
    check(row, backend, 11, (500,), "float32")


@pytest.mark.one_in(8)
@pytest.mark.parametrize("row", INTEGERS, ids=ids)
def test_integers(row: Row, backend: str) -> None:
    check(row, backend, 11, (100,), "int32")


QUICK_SELECTIONS = {
    "randint bounds",
    "permutation independent",
    "choice by p",
    "choice once by p",
    "multinomial",
}
SELECTIONS = [
    name if name in QUICK_SELECTIONS else pytest.param(name, marks=pytest.mark.full)
    for name in EXACT
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", SELECTIONS)
def test_selections(name: str, backend: str) -> None:
    ours, theirs = EXACT[name]
    seed = 2**31 + 5
    if name not in _expected:
        _expected[name] = np.asarray(theirs(jax.random.PRNGKey(seed)))
    found = np.asarray(na.to_backend(ours(na.random.key(seed, backend=backend)), "numpy"))
    assert found.dtype == _expected[name].dtype
    np.testing.assert_array_equal(found, _expected[name])


@pytest.mark.full
def test_fishers_numbers(backend: str) -> None:
    """The functions of jax.random take parameters of the shape of the result only."""
    above, below = np.linspace(0.5, 30.0, 12, dtype="f4").reshape(3, 4), np.full((3, 4), 6.0, "f4")
    key = na.random.key(4, backend=backend)
    found = na.random.f(key, na.to_backend(above, backend), 6.0)
    expected = jax.random.f(jax.random.PRNGKey(4), above, below)
    np.testing.assert_allclose(np.asarray(na.to_backend(found, "numpy")), expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", HALVES)
def test_half_precision_in_a_range_is_alike_everywhere(dtype: str, backend: str) -> None:
    """Product and sum are rounded by themselves, also where the processor can do with one."""
    key = na.random.key(3, backend=backend)
    u = in_numpy(na.random.uniform(key, (500,), dtype), dtype)
    found = in_numpy(na.random.uniform(key, (500,), dtype, -3.0, 0.75), dtype)

    def rounded(x: np.ndarray) -> np.ndarray:
        return in_numpy(na.astype(x, dtype), dtype)

    np.testing.assert_array_equal(found, rounded(rounded(u * np.float32(3.75)) - np.float32(3.0)))


@pytest.mark.full
@pytest.mark.parametrize(
    "row", [row for row in REJECTED if row.reason == ROOT and row.ulps > 2.0], ids=ids
)
def test_gamma_numbers_are_as_near_as_jax_is_to_itself(row: Row, backend: str) -> None:
    """XLA writes the root of compiled code anew; run op by op, JAX gives other numbers."""
    found, expected = pair(row, backend, 12, (200,), "float32")
    case = (repr(row), "op by op")
    if case not in _expected:
        with jax.disable_jit():
            _expected[case] = np.asarray(row.reference(jax.random.PRNGKey(12), (200,), "float32"))
    own = units(_expected[case], expected, "float32").max()
    assert units(found, expected, "float32").max() <= own + 2.0


def test_orthogonal_matrices_are_those_of_jax(backend: str) -> None:
    """To the conditioning of the normal numbers that are factorized."""
    found = in_numpy(
        na.random.orthogonal(na.random.key(11, backend=backend), 3, (500,), m=4), "float32"
    )
    expected = np.asarray(jax.random.orthogonal(jax.random.PRNGKey(11), 3, (500,), m=4))
    condition = np.linalg.cond(jax.random.normal(jax.random.PRNGKey(11), (500, 4, 3)))
    error = np.abs(found - expected).max((-2, -1)) / np.finfo("f4").eps
    assert error.shape == (500,)
    assert (error <= 2.0 * condition).all()


def test_walds_numbers_are_exact(backend: str) -> None:
    """By the formula of jax.random, in 64 bits, where its difference has digits to lose."""
    key = na.random.key(8, backend=backend)
    keys = na.random.split(key)
    v, u = (
        np.asarray(na.to_backend(draw(keys[i], (2000,)), "numpy"), "f8")
        for i, draw in enumerate((na.random.normal, na.random.uniform))
    )
    mean, y = 2.0, v**2
    x = mean + mean**2 * y / 2 - mean / 2 * np.sqrt(4 * mean * y + mean**2 * y**2)
    expected = np.where(u <= mean / (mean + x), x, mean**2 / x)
    found = np.asarray(na.to_backend(na.random.wald(key, mean, (2000,)), "numpy"))
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo("f4").eps)


@pytest.mark.parametrize("dtype", ["int8", pytest.param("int64", marks=pytest.mark.full)])
def test_signs_and_waiting_times_of_all_widths(dtype: str, backend: str) -> None:
    check(Row("rademacher"), backend, 3, (60,), dtype)
    check(Row("geometric", (np.asarray([0.01, 0.3, 1.0]),), (3,)), backend, 3, (40,), dtype)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_counts_that_do_not_fit(dtype: str, backend: str) -> None:
    rates = np.asarray([0, 3, 50, 130, 260, 3e4, 7e4, 3e9, 1e12, -1, np.nan], "f4")
    check(Row("poisson", (rates,)), backend, 7, rates.shape, dtype)
    key = na.random.key(7, backend=backend, impl="native")
    found = na.random.poisson(key, na.to_backend(rates[5:8], backend), dtype=dtype)
    found = np.asarray(na.to_backend(found, "numpy"))
    most = na.iinfo(dtype).max
    assert found[2] == most or most > 2**31
    error = np.abs(found[:2] - np.minimum(rates[5:7], float(most)))
    assert np.all(error <= 5 * np.sqrt(rates[5:7])), "five standard deviations"


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_integers_of_all_widths(dtype: str, backend: str) -> None:
    limits = na.iinfo(dtype)
    for low, high in ((0, 100), (limits.min, limits.max), (limits.min, limits.max + 1), (5, 5)):
        if high > 2**63 - 1:
            continue  # jax.random reads bounds as int64
        bounds = {"minval": low, "maxval": high}
        check(Row("randint", kwargs=bounds), backend, 3, (60,), dtype)


def test_bounds_of_64_bits(backend: str) -> None:
    low, high = np.asarray([-(2**63), -5, 0]), np.asarray([2**63 - 1, 2**62, -1])
    with jax.enable_x64(True):
        expected = np.asarray(
            jax.random.randint(jax.random.PRNGKey(1), (40, 3), low, high, "int64")
        )
        bounds = [na.to_backend(x, backend) for x in (low, high)]
        found = na.random.randint(
            na.random.key(1, backend=backend), (40, 3), bounds[0], bounds[1], "int64"
        )
        np.testing.assert_array_equal(np.asarray(na.to_backend(found, "numpy")), expected)


def test_double_precision(backend: str) -> None:
    for row in (FLOATS[1], FLOATS[5], REJECTED[0]):
        check(row, backend, 2, (50,), "float64")


@pytest.mark.parametrize("dtype", HALVES)
def test_narrow_numbers(dtype: str, backend: str) -> None:
    """Elementary functions are computed in the narrow type by some, and rounded to it by others."""
    for row in (FLOATS[0], FLOATS[2], FLOATS[4]):
        check(row, backend, 2, (50,), dtype)


@pytest.mark.parametrize("shape", [(), (0, 3)])
def test_shapes(shape: tuple[int, ...], backend: str) -> None:
    for row in (FLOATS[1], REJECTED[0]):
        check(row, backend, 5, shape, "int32" if row in INTEGERS else "float32")


def test_more_numbers_than_a_block_of_the_cache(backend: str) -> None:
    for row, dtype in product(FLOATS[:2], ("float32", "float64")):
        check(row, backend, 7, (300_001,), dtype)


@pytest.mark.full
@pytest.mark.parametrize("row", FLOATS + PARAMETRIC + REJECTED, ids=ids)
def test_grid_of_numbers(row: Row, backend: str) -> None:
    dtypes = ["float32", "float64"]
    if row in FLOATS and row.name != "truncated_normal":
        dtypes += HALVES
    for dtype, shape, seed in product(dtypes, WIDE_SHAPES, (0, 2**31 + 5)):
        check(row, backend, seed, shape, dtype)
    check(row, backend, 9, (20_000,), "float32")


@pytest.mark.full
@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_grid_of_integers(dtype: str, backend: str) -> None:
    limits = na.iinfo(dtype)
    spans = [(0, 1), (0, 100), (limits.min, limits.max), (limits.max - 3, limits.max), (9, 3)]
    for (low, high), shape, seed in product(spans, WIDE_SHAPES, (0, 2**31 + 5)):
        if high < 2**63 and (high < 2**31 or "64" in dtype):  # as jax.random reads numbers
            row = Row("randint", kwargs={"minval": low, "maxval": high})
            check(row, backend, seed, shape, dtype)


TYPED = jax.random.key(7)

DRAWS_OF_TYPED: dict[str, Callable[[Any], Any]] = {
    "normal": lambda key: na.random.normal(key, (3,)),
    "gamma": lambda key: na.random.gamma(key, 2.0, (3,)),
    "permutation": lambda key: na.random.permutation(key, 5),
    "dropout_mask": lambda key: na.random.dropout_mask(key, 0.5, (7,)),
    "ops": lambda key: na.random_bits(key, shape=(3,)),
    "rejection": lambda key: na.random_poisson(key, jnp.ones(3)),
    "arguments": lambda key: na.gumbel_softmax(jnp.ones(4), key),
    "jit": jax.jit(lambda key: na.random.uniform(key, (3,))),
    "tree": lambda key: na.random.normal(na.Container(a=key, b=key), (2,))["b"],
}


@pytest.mark.release
@pytest.mark.parametrize("draw", DRAWS_OF_TYPED)
def test_typed_keys_draw_what_their_words_draw(draw: str) -> None:
    drawn = DRAWS_OF_TYPED[draw]
    np.testing.assert_array_equal(drawn(TYPED), drawn(jax.random.key_data(TYPED)))


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_typed_keys_make_typed_keys(impl: str) -> None:
    key = jax.random.key(7, impl=impl)
    for ours, theirs in [
        (na.random.split(key), jax.random.split(key)),
        (na.random.split(key, (2, 3)), jax.random.split(key, (2, 3))),
        (na.random.fold_in(key, 5), jax.random.fold_in(key, 5)),
    ]:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(jax.random.key_data(ours), jax.random.key_data(theirs))


def test_typed_keys_go_through_transformations() -> None:
    keys = jax.random.split(TYPED, 3)
    each = [na.random.normal(key) for key in keys]
    np.testing.assert_array_equal(na.vmap(na.random.normal)(keys), each)

    def step(key: Any, _: Any) -> Any:
        key, own = na.random.split(key)
        return key, na.random.normal(own)

    last, drawn = na.scan(step, TYPED, jnp.arange(3))
    wanted_last, wanted = jax.lax.scan(step, TYPED, jnp.arange(3))
    assert last == wanted_last
    np.testing.assert_array_equal(drawn, wanted)
