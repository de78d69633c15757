"""`check_grads` passes right derivatives and catches wrong ones, in both modes and orders."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.testing import check_grads
from tests.arrays import on

BACKENDS = ("numpy", "jax", "torch", "tensorflow")


@pytest.mark.parametrize("backend", BACKENDS)
def test_right_derivatives(backend: str, x64: Any) -> None:
    c = na.Container(w=on(backend, [[0.3, -0.7], [1.1, 0.2]]), n=on(backend, np.arange(2)), s="x")
    check_grads(lambda c: {"y": na.tanh(c["w"]), "n": c["n"]}, [c])
    check_grads(lambda x: na.sum(na.sin(x)), [on(backend, np.float32([0.3, 1.0]))], order=1)


@pytest.mark.full
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_third_order(backend: str, x64: Any) -> None:
    check_grads(lambda x: na.exp(na.sin(x)), [on(backend, [0.3, 1.0])], order=3)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("modes", list(product("FR", repeat=3)), ids="".join)
def test_modes_nest_in_any_order(modes: tuple[str, ...], backend: str) -> None:
    def forward(f: Any) -> Any:
        return lambda x: na.sum(na.jvp(f, [x], [na.ones_like(x)])[1])

    def reverse(f: Any) -> Any:
        return lambda x: na.sum(na.grad(f)(x))

    f = lambda x: na.sum(x**4)  # noqa: E731
    for mode in modes:
        f = forward(f) if mode == "F" else reverse(f)
    assert float(f(on(backend, np.float32([1.0, 2.0])))) == pytest.approx(72.0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_wrong_derivatives(backend: str, mode: str, x64: Any) -> None:
    @na.custom_jvp
    def cube(x: Any) -> Any:
        return x**3

    x = on(backend, [0.5, 2.0])
    cube.defjvp(lambda p, t: (cube(*p), 2.9 * p[0] ** 2 * t[0]))
    with pytest.raises(AssertionError, match=rf"^check_grads: {mode} mode, order 1: got "):
        check_grads(cube, [x], modes=[mode])

    @na.custom_jvp
    def slope(x: Any) -> Any:  # right itself; its own derivative is wrong
        return 3 * x**2

    slope.defjvp(lambda p, t: (slope(*p), p[0] * t[0]))
    cube.defjvp(lambda p, t: (cube(*p), slope(p[0]) * t[0]))
    check_grads(cube, [x], modes=[mode], order=1)
    with pytest.raises(AssertionError, match=rf"^check_grads: {mode} mode, order 2: got "):
        check_grads(cube, [x], modes=[mode], order=2)


def test_bad_input() -> None:
    with pytest.raises(ArgumentError, match=r"modes: got 'fwd', expected 'forward' or 'reverse'"):
        check_grads(na.sin, [on("jax", np.float32([1.0]))], modes=["fwd"])
    with pytest.raises(ArgumentError, match=r"there is no floating array to differentiate by"):
        check_grads(na.sin, [on("jax", np.int32([1]))])
