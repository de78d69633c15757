"""Derivatives of loops over functions with custom rules, and of mapped loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.testing import assert_close
from tests.arrays import host, on
from tests.transforms.test_control_flow import OPTIONS, ORDER, jit


@pytest.mark.parametrize("power", [na.multiply, na.pow], ids=["plain", "custom rule"])
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: na.vmap(na.grad(f)),
        lambda f: na.grad(lambda xs: na.sum(na.vmap(f)(xs))),
        lambda f: na.vmap(lambda x: na.jvp(f, (x,), (na.ones_like(x),))[1]),
    ],
    ids=["vmap of grad", "grad of vmap", "vmap of jvp"],
)
def test_derivatives_of_mapped_loops_that_end_at_different_steps(
    transform: Any, power: Any, backend: str
) -> None:
    def loop(x: Any) -> Any:
        def body(c: Any) -> Any:
            return c[0] * power(x, 1.0), c[1] + x

        return na.while_loop(lambda c: c[1] < 5.0, body, (x, x), max_steps=9)[0]

    xs = on(backend, np.asarray([1.0, 2.0, 0.7], np.float32))
    steps = np.asarray([5, 3, 8])
    expected = (steps * np.asarray([1.0, 2.0, 0.7]) ** (steps - 1)).astype("float32")
    derivative = transform(loop)
    assert_close(host(derivative(xs)), expected, **ORDER)
    assert_close(host(jit(derivative, backend)(xs)), expected, **ORDER)


def test_second_derivatives_of_rules_in_a_loop_of_tensorflow() -> None:
    x = on("tensorflow", np.asarray([1.5, 2.0, 3.0]))

    def loss(x: Any) -> Any:
        step = lambda c, row: (c + na.sum(na.cumulative_prod(x * row)), None)  # noqa: E731
        return na.scan(step, 0 * x[0], x[:2])[0]

    pushed = lambda x: na.jvp(loss, [x], [na.ones_like(x)])[1]  # noqa: E731
    assert_close(jit(pushed, "tensorflow")(x), na.sum(na.grad(loss)(x)))


def _mapped_in_a_step(x: Any) -> Any:
    def step(carry: Any, _: Any) -> Any:
        rows = na.vmap(lambda row: row * na.pow(carry[0] * 2.0, 1.3))(carry)
        return rows * 0.7, na.sum(rows)

    return na.sum(na.scan(step, x, length=3)[1])


def _powers_of_a_captured_array(x: Any) -> Any:
    last, ys = na.scan(lambda c, _: (na.pow(c, 1.2) * x[0] + x, na.sum(c * x)), x + 1.0, length=3)
    return na.sum(last) + na.sum(ys)


def _mapped_until_a_test_fails(x: Any) -> Any:
    def body(state: Any) -> Any:
        steps, carry = state
        rows = na.vmap(lambda row: row * na.pow(carry[0] * 2.0, 1.3))(carry)
        return steps + 1, rows * 0.7

    start = na.asarray(0, dtype="int32", like=x), x
    return na.sum(na.while_loop(lambda state: state[0] < 3, body, start, max_steps=5)[1])


def _maxima_with_a_count(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        count, y = carry
        return (count + 1, na.maximum(y * row, na.asarray(0.1, like=y))), count

    (count, last), _ = na.scan(step, (na.astype(na.sum(x) * 0.0, "int32"), x), x, reverse=True)
    return na.sum(last) * na.astype(count, last.dtype)


@pytest.mark.parametrize(
    "program",
    [
        _mapped_in_a_step,
        _powers_of_a_captured_array,
        _maxima_with_a_count,
        _mapped_until_a_test_fails,
    ],
)
@pytest.mark.parametrize(
    "transform",
    [
        na.grad,
        lambda f: lambda x: na.jvp(f, (x,), (x,))[1],
        pytest.param(na.hessian, marks=pytest.mark.full),
    ],
    ids=["grad", "jvp", "hessian"],
)
def test_custom_derivatives_in_compiled_steps(program: Any, transform: Any, backend: str) -> None:
    x = on(backend, [0.5, 1.5, 2.0], "float32")
    derivative, options = transform(program), OPTIONS.get(backend, {})
    expected = host(derivative(x))
    assert_close(host(na.jit(derivative, **options)(x)), expected, **ORDER)
    if transform is na.grad:  # of a function that was compiled before
        assert_close(host(na.grad(na.jit(program, **options))(x)), expected, **ORDER)
