"""Random numbers: the streams that all backends share, against each framework's own generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable

NUMBER = 100_000
FEW = 10_000  # for rejection sampling

Draw = Callable[[Any], Any]

#: Of `na.random`, for either kind of key.
OURS: dict[str, Draw] = {
    "bits": lambda key: na.random.bits(key, (NUMBER,)),
    "uniform": lambda key: na.random.uniform(key, (NUMBER,)),
    "normal": lambda key: na.random.normal(key, (NUMBER,)),
    "randint": lambda key: na.random.randint(key, (NUMBER,), 0, 1000),
    "permutation": lambda key: na.random.permutation(key, NUMBER),
    "gamma": lambda key: na.random.gamma(key, 2.0, (FEW,)),
    "poisson": lambda key: na.random.poisson(key, 20.0, (FEW,)),
}


def tables() -> list[Table]:
    """Against jax.random, compiled; and against the generators of NumPy and PyTorch."""
    return [_bits(), _compiled(), _native("numpy", _numpy()), _native("torch", _torch())]


def _bits() -> Table:
    """The speed of the shared streams on each backend."""
    philox = np.random.Generator(np.random.Philox(0))
    table = Table(
        "Random bits a second",
        ["generator", "dtype", "time", "million bits a second", "of Philox"],
        f"{NUMBER} uniform numbers from Threefry, one core.",
    )
    for dtype, kind, bits in (("float32", np.float32, 32), ("float64", np.float64, 64)):
        calls: dict[str, Callable[[], Any]] = {
            "numpy.random.Philox": lambda kind=kind: philox.random(NUMBER, kind)
        }
        for backend in ("numpy", "torch", "tensorflow", "jax"):
            if backend == "jax" and dtype == "float64":
                continue  # off, unless JAX is told otherwise
            key = na.random.key(0, backend=backend)
            calls[f"na.random.uniform, {backend}"] = lambda key=key, dtype=dtype: np.asarray(
                na.random.uniform(key, (NUMBER,), dtype)
            )
        time = compare(calls)
        for name, seconds in time.items():
            rate = 1e-6 * bits * NUMBER / seconds
            share = time["numpy.random.Philox"] / seconds
            table.add(name, dtype, readable(seconds), f"{rate:.0f}", f"{share:.2f}×")
    return table


def _compiled() -> Table:
    import jax

    own = jax.random
    theirs: dict[str, Draw] = {
        "bits": lambda key: own.bits(key, (NUMBER,)),
        "uniform": lambda key: own.uniform(key, (NUMBER,)),
        "normal": lambda key: own.normal(key, (NUMBER,)),
        "randint": lambda key: own.randint(key, (NUMBER,), 0, 1000),
        "permutation": lambda key: own.permutation(key, NUMBER),
        "gamma": lambda key: own.gamma(key, 2.0, (FEW,)),
        "poisson": lambda key: own.poisson(key, 20.0, (FEW,)),
    }
    table = Table(
        "Random numbers on JAX, compiled",
        ["numbers", "jax.random", "nestarray", "ratio"],
        f"{NUMBER} numbers, {FEW} for gamma and poisson; the same numbers from the same key.",
    )
    key = na.random.key(0, backend="jax")
    for name, ours in OURS.items():
        functions = {"theirs": jax.jit(theirs[name]), "ours": na.jit(ours)}
        calls = {k: lambda fn=fn: jax.block_until_ready(fn(key)) for k, fn in functions.items()}
        time = compare(calls)
        table.add(
            name,
            readable(time["theirs"]),
            readable(time["ours"]),
            ratio(time["ours"], time["theirs"]),
        )
    return table


def _native(backend: str, theirs: Mapping[str, Callable[[], Any]]) -> Table:
    table = Table(
        f"Random numbers on {backend}",
        ["numbers", "its generator", "nestarray", "ratio", "impl='native'", "ratio"],
        "The streams that all backends share are computed by the framework's integer arithmetic.",
    )
    shared = na.random.key(0, backend=backend)
    native = na.random.key(0, impl="native", backend=backend)
    for name, ours in OURS.items():
        calls = {
            "theirs": theirs[name],
            "ours": lambda ours=ours: ours(shared),
            "native": lambda ours=ours: ours(native),
        }
        time = compare(calls)
        table.add(
            name,
            readable(time["theirs"]),
            readable(time["ours"]),
            ratio(time["ours"], time["theirs"]),
            readable(time["native"]),
            ratio(time["native"], time["theirs"]),
        )
    return table


def _numpy() -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    return {
        "bits": lambda: rng.integers(0, 2**32, NUMBER, np.uint32),
        "uniform": lambda: rng.random(NUMBER, np.float32),
        "normal": lambda: rng.standard_normal(NUMBER, np.float32),
        "randint": lambda: rng.integers(0, 1000, NUMBER, np.int32),
        "permutation": lambda: rng.permutation(NUMBER),
        "gamma": lambda: rng.standard_gamma(2.0, FEW, np.float32),
        "poisson": lambda: rng.poisson(20.0, FEW),
    }


def _torch() -> dict[str, Callable[[], Any]]:
    import torch

    made = torch.Generator().manual_seed(0)
    gamma = torch.ops.aten._standard_gamma
    shape, rate = torch.full((FEW,), 2.0), torch.full((FEW,), 20.0)
    return {
        "bits": lambda: torch.empty(NUMBER, dtype=torch.int64).random_(generator=made),
        "uniform": lambda: torch.rand(NUMBER, generator=made),
        "normal": lambda: torch.randn(NUMBER, generator=made),
        "randint": lambda: torch.randint(1000, (NUMBER,), dtype=torch.int32, generator=made),
        "permutation": lambda: torch.randperm(NUMBER, generator=made),
        "gamma": lambda: gamma(shape, made),
        "poisson": lambda: torch.poisson(rate, generator=made),
    }
