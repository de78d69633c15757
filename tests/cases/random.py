"""Cases of `nestarray.ops.random`; the oracle is jax.random with raw keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.extend
import numpy as np
import scipy.special
import scipy.stats

from tests.cases import Case

INTEGERS = ("float32",)  # no argument is floating: one run is enough
BODIES: dict[str, Any] = {
    "bodies": ("numpy", "jax", "tensorflow"),
    "reason": "torch has no arithmetic on unsigned integers: "
    "https://docs.pytorch.org/docs/stable/tensors.html#data-types",
}


def key(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.integers(0, 2**32, 2, dtype=np.uint32),)


def counters(rng: np.random.Generator) -> tuple[Any, ...]:
    return tuple(rng.integers(0, 2**32, n, dtype=np.uint32) for n in (2, 7, 7))


def in_jax(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` of jax.random, with the 64-bit types of the reference."""

    def reference(*args: Any, **kwargs: Any) -> Any:
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, fn(*map(jax.numpy.asarray, args), **kwargs))

    return reference


def hashed(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    both = jax.extend.random.threefry_2x32(key, jax.numpy.concatenate([x0, x1]))
    return tuple(jax.numpy.split(both, 2))


def blocks(rng: np.random.Generator) -> tuple[Any, ...]:
    return tuple(rng.integers(0, 2**32, n, dtype=np.uint32) for n in (2, 7, 7, 7, 7))


def philox(key: Any, *counters: Any) -> tuple[Any, ...]:
    """Ten rounds on integers of Python, counter by counter."""
    found = []
    for x0, x1, x2, x3 in zip(*[x.tolist() for x in counters], strict=True):
        k0, k1 = key.tolist()
        for _ in range(10):
            p0, p1 = x0 * 0xD2511F53, x2 * 0xCD9E8D57
            x0, x1, x2, x3 = (
                p1 >> 32 ^ x1 ^ k0, p1 % 2**32, p0 >> 32 ^ x3 ^ k1, p0 % 2**32
            )  # fmt: skip
            k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
        found.append((x0, x1, x2, x3))
    return tuple(np.asarray(found, np.uint32).T)


def case(op: str, fn: Callable[..., Any], id: str = "", **kwargs: Any) -> Case:
    dtype = kwargs.get("dtype") or {"random_uniform": "float32", "random_integers": "int32"}.get(op)
    return Case(
        op,
        key,
        kwargs,
        in_jax(fn),
        differentiable=False,
        dtypes=INTEGERS,
        dtype=dtype,
        id=id,
        **BODIES,
    )


def bits(key: Any, *, shape: Any, dtype: str = "uint32") -> Any:
    return jax.random.bits(key, shape, dtype)


def uniform(key: Any, *, shape: Any, dtype: str = "float32") -> Any:
    return jax.random.uniform(key, shape, dtype)


def integers(key: Any, *, low: int, high: int, shape: Any, dtype: str = "int32") -> Any:
    return jax.random.randint(key, shape, low, high, dtype)


def split(key: Any, *, num: int = 2) -> Any:
    return jax.random.split(key, num)


def quantile(u: np.ndarray) -> np.ndarray:
    return np.sqrt(2) * scipy.special.erfinv(u)


def quantiles_of(distribution: str, *, symmetric: bool = False) -> Case:
    """Of uniform numbers inside of their interval; SciPy has the inverse functions."""
    inverse = {
        "exponential": scipy.stats.expon.ppf,
        "gumbel": scipy.stats.gumbel_r.ppf,
        "gumbel_upper": scipy.stats.gumbel_r.isf,
        "laplace": lambda u: scipy.stats.laplace.isf((1 + u) / 2),
        "logistic": scipy.stats.logistic.ppf,
        "cauchy": scipy.stats.cauchy.ppf,
    }[distribution]
    return Case(
        "random_quantile",
        lambda rng: (rng.uniform(-0.95 if symmetric else 0.05, 0.95, (4, 5)),),
        {"distribution": distribution},
        reference=lambda u, distribution: inverse(u),
        id=distribution,
        differentiable=not symmetric,
    )


CASES = [
    Case(
        "random_between",
        lambda rng: (
            rng.uniform(0.0, 1.0, (4, 5)),
            np.asarray(-3.0),
            np.asarray([0.7, 1, 2, 3, 4]),
        ),
        reference=lambda u, low, high: u * (high - low) + low,
    ),
    quantiles_of("exponential"),
    quantiles_of("gumbel"),
    quantiles_of("gumbel_upper"),
    quantiles_of("laplace", symmetric=True),
    quantiles_of("logistic"),
    quantiles_of("cauchy"),
    Case(
        "threefry2x32",
        counters,
        reference=in_jax(hashed),
        differentiable=False,
        dtypes=INTEGERS,
        dtype="uint32",
        **BODIES,
    ),
    Case(
        "philox4x32",
        blocks,
        reference=philox,
        differentiable=False,
        dtypes=INTEGERS,
        dtype="uint32",
        **BODIES,
    ),
    case("random_split", split),
    case("random_split", split, "seven", num=7),
    case("random_bits", bits, shape=(3, 5)),
    case("random_bits", bits, "scalar", shape=()),
    case("random_bits", bits, "empty", shape=(0, 3)),
    case("random_bits", bits, "bytes", shape=(4,), dtype="uint8"),
    case("random_bits", bits, "double", shape=(4,), dtype="uint64"),
    case("random_uniform", uniform, shape=(3, 5)),
    case("random_uniform", uniform, "scalar", shape=()),
    case("random_uniform", uniform, "half", shape=(6,), dtype="float16"),
    case("random_uniform", uniform, "double", shape=(6,), dtype="float64"),
    case("random_integers", integers, low=0, high=10, shape=(20,)),
    case("random_integers", integers, "negative", low=-7, high=-2, shape=(2, 3)),
    case("random_integers", integers, "scalar", low=0, high=100, shape=()),
    case("random_integers", integers, "none", low=5, high=5, shape=(3,)),
    case("random_integers", integers, "bytes", low=3, high=200, shape=(20,), dtype="uint8"),
    case(
        "random_integers",
        integers,
        "nearly all",
        low=-(2**31),
        high=2**31 - 1,
        shape=(20,),
    ),
    case(
        "random_integers",
        integers,
        "wide",
        low=-(2**62),
        high=2**62 + 12345,
        shape=(20,),
        dtype="int64",
    ),
    Case(
        "normal_quantile",
        lambda rng: (rng.uniform(-0.999, 0.999, (4, 5)),),
        reference=quantile,
        differentiable=False,
    ),
]
