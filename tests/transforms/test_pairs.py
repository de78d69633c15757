"""Every transformation of every other: JAX's numbers on all backends.

Each row makes of a function of vectors another one; a pair is one of a function that the other
made. What a backend refuses is listed here, with its text.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import product
from typing import Any

import jax
import numpy as np
import pytest

import nestarray as na
from nestarray.errors import UnsupportedError

Function = Callable[[Any], Any]
X = np.asarray([0.3, 0.9, 1.4])


def base(x: Any) -> Any:
    return na.sin(x) * x + na.mean(x) * x


def pulled_back(fn: Function) -> Function:
    return lambda x: na.vjp(fn, x)[1](x * 0 + 0.7)[0]


def with_a_pullback(fn: Function) -> Function:
    made = na.custom_vjp(lambda x: fn(x))
    made.defvjp(lambda x: (fn(x), x), lambda x, cotangent: (cotangent * na.cos(x),))
    return made


def with_a_push(fn: Function) -> Function:
    made = na.custom_jvp(lambda x: fn(x))
    made.defjvp(lambda xs, ts: (fn(*xs), ts[0] * na.cos(xs[0])))
    return made


def mapped(over: Callable[..., Any]) -> Callable[[Function], Function]:
    return lambda fn: lambda x: na.sum(over(fn, na.stack([x, x * 2.0])), axis=0)


def scanned(fn: Function) -> Function:
    def step(carry: Any, row: Any) -> Any:
        return fn(carry) * 0.5 + row, na.sum(carry)

    return lambda x: na.scan(step, x, na.stack([x, x * 0.5]))[0]


def while_below_two(fn: Function) -> Function:
    return lambda x: na.while_loop(
        lambda c: na.sum(c[0]) < 2,
        lambda c: (c[0] + 1, fn(c[1]) * 0.5 + x),
        (na.zeros_like(x)[0], x),
        max_steps=3,
    )[1]


TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "grad": lambda fn: na.grad(lambda x: na.sum(fn(x) * na.sin(x))),
    "jvp": lambda fn: lambda x: na.jvp(fn, [x], [x * 0 + 0.5])[1],
    "vjp": pulled_back,
    "vmap": mapped(lambda fn, rows: na.vmap(fn)(rows)),
    "jit": na.jit,
    "checkpoint": na.checkpoint,
    "custom_vjp": with_a_pullback,
    "custom_jvp": with_a_push,
    "cond": lambda fn: lambda x: na.cond(na.sum(x) > 0, fn, lambda x: fn(x) * 2.0, x),
    "scan": scanned,
    "while_loop": while_below_two,
    "fori_loop": lambda fn: lambda x: na.fori_loop(0, 2, lambda i, c: fn(c) * 0.5, x),
    "map": mapped(na.map),
}

#: What there is not, by the outer and the inner one.
REFUSED = {
    ("jax", "jvp", "custom_vjp"): "jvp: a function with custom_vjp has no derivative in forward",
}

_expected: dict[tuple[str, ...], np.ndarray] = {}


def composed(names: tuple[str, ...], backend: str) -> np.ndarray:
    fn: Function = base
    for name in reversed(names):
        fn = TRANSFORMS[name](fn)
    x = na.to_backend(X, backend)
    return np.asarray(na.to_backend(fn(x), "numpy"))


def of(names: tuple[str, ...], backend: str) -> np.ndarray:
    """In 64 bits; what JAX finds is kept for the other backends."""
    with jax.enable_x64(True) if backend == "jax" else nullcontext():
        if backend != "jax":
            return composed(names, backend)
        if names not in _expected:
            _expected[names] = composed(names, backend)
        return _expected[names]


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


QUICK = [("jvp", "custom_vjp"), ("vmap", "grad"), ("grad", "scan")]
PAIRS = [
    pair if pair in QUICK else pytest.param(pair, marks=pytest.mark.full)
    for pair in product(TRANSFORMS, repeat=2)
]


@pytest.mark.parametrize("names", PAIRS, ids="/".join)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_pairs(names: tuple[str, ...], backend: str) -> None:
    text = REFUSED.get((backend, *names))  # type: ignore[call-overload]
    if text is not None:
        with pytest.raises(UnsupportedError, match=f"^{text}"):
            of(names, backend)
        return
    oracle = "numpy" if ("jax", *names) in REFUSED else "jax"
    assert_same(of(names, backend), of(names, oracle))
