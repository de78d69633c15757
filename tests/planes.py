"""Rows of `tests.modes` for samplers, custom rules and control flow.

Each function takes x, a number near 1.3, and y, one near 0.7, and returns a number. The derivatives of
samples are those of the quantile function at the level of the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import special

import nestarray as na
from nestarray.config import BACKENDS
from nestarray.random import sources
from tests.modes import MODES, Row

Plane = Callable[[Any, Any], Any]

_KEY = 5

# -- samplers ------------------------------------------------------------------------------------

#: Name → (key, x, y) ↦ a sample whose derivatives are those of its values with a fixed key.
DRAWN: dict[str, Callable[..., Any]] = {
    "laplace": lambda key, x, y: x * na.random.laplace(key, (), "float64") + y,
    "lognormal": lambda key, x, y: na.random.lognormal(key, x, (), "float64") * y,
    "normal": lambda key, x, y: x * na.random.normal(key, (), "float64") + y,
    "pareto": lambda key, x, y: na.random.pareto(key, x, (), "float64") * y,
    "rayleigh": lambda key, x, y: na.random.rayleigh(key, x * y, (), "float64"),
    "triangular": lambda key, x, y: na.random.triangular(key, -x, y, x + y, (), "float64"),
    "truncated_normal": lambda key, x, y: na.random.truncated_normal(key, -x, y, (), "float64"),
    "uniform": lambda key, x, y: na.random.uniform(key, (), "float64", -x, y),
    "wald": lambda key, x, y: na.random.wald(key, x, (), "float64") * y,
    "weibull_min": lambda key, x, y: na.random.weibull_min(key, x, y, (), "float64"),
}

#: Name → ((key, x, y) ↦ a sample, the same by ``gamma(half, a)``, where half numbers a key).
BY_GAMMA: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "gamma": (
        lambda key, x, y: na.random.gamma(key, x * y, dtype="float64"),
        lambda gamma, x, y: gamma(None, x * y),
    ),
    "loggamma": (
        lambda key, x, y: na.random.loggamma(key, x * y, dtype="float64"),
        lambda gamma, x, y: np.log(gamma(None, x * y)),
    ),
    "chisquare": (
        lambda key, x, y: na.random.chisquare(key, x + y, dtype="float64"),
        lambda gamma, x, y: 2 * gamma(None, (x + y) / 2),
    ),
    "beta": (
        lambda key, x, y: na.random.beta(key, x, y, dtype="float64"),
        lambda gamma, x, y: 1 / (1 + gamma(1, y) / gamma(0, x)),
    ),
    "f": (
        lambda key, x, y: na.random.f(key, x, y, dtype="float64"),
        lambda gamma, x, y: (gamma(1, x / 2) / x) / (gamma(0, y / 2) / y),
    ),
    "generalized_normal": (
        lambda key, x, y: na.abs(na.random.generalized_normal(key, x * y, dtype="float64")),
        lambda gamma, x, y: gamma(0, 1 / (x * y)) ** (1 / (x * y)),
    ),
    "student_t": (
        lambda key, x, y: na.abs(na.random.student_t(key, x + y, dtype="float64")),
        lambda gamma, x, y: (
            abs(na.random.normal(_half(0), (), "float64"))
            * np.sqrt((x + y) / 2 / gamma(1, (x + y) / 2))
        ),
    ),
}


def _half(number: int | None) -> Any:
    key = na.random.key(_KEY, like=np.zeros(()))
    return key if number is None else sources.halves(key)[number]


def _sampled(draw: Callable[..., Any]) -> Callable[[str], Any]:
    def function(backend: str) -> Any:
        key = na.to_backend(na.random.key(_KEY, like=np.zeros(())), backend)
        return _of_pair(lambda x, y: draw(key, x, y))

    return function


def _quantiles(formula: Callable[..., Any]) -> Callable[[np.ndarray], Any]:
    """The formula with gamma's quantile function, at the levels that the samples have at a point."""

    def reference(point: np.ndarray) -> Any:
        levels: dict[int | None, float] = {}

        def drawn(number: int | None, a: float) -> float:
            x = na.random.gamma(_half(number), a, dtype="float64")
            levels[number] = special.gammainc(a, float(x))
            return float(x)

        _of_pair(lambda x, y: formula(drawn, x, y))(point)
        gamma = lambda number, a: special.gammaincinv(a, levels[number])  # noqa: E731
        return _of_pair(lambda x, y: formula(gamma, x, y))

    return reference


# -- custom rules --------------------------------------------------------------------------------


@na.custom_jvp
def _sine_of_product(x: Any, y: Any) -> Any:
    return na.sin(x * y)


@_sine_of_product.defjvp
def _(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return _sine_of_product(x, y), na.cos(x * y) * (dx * y + x * dy)


@na.custom_vjp
def _power(x: Any, y: Any) -> Any:
    return x**y


_power.defvjp(
    lambda x, y: (_power(x, y), (x, y)),
    lambda res, ct: (
        ct * res[1] * _power(res[0], res[1] - 1.0),
        ct * _power(res[0], res[1]) * na.log(res[0]),
    ),
)


def _called_with_jvp(x: Any, y: Any) -> Any:
    return na.call_with_jvp(
        lambda args: (na.exp(args[0]) * args[1],),
        lambda args, moved: (na.exp(args[0]) * (moved[0] * args[1] + moved[1]),),
        (x, y),
    )[0]


# -- control flow --------------------------------------------------------------------------------


def _cond(x: Any, y: Any) -> Any:
    """The other branch has no finite derivative here."""
    return na.cond(x > y, lambda x, y: na.sqrt(x - y), lambda x, y: na.sqrt(y - x) + y, x, y)


def _switch(x: Any, y: Any) -> Any:
    branches = [lambda x, y: na.log(-x) * y, lambda x, y: x * y**2, lambda x, y: na.sqrt(-y) + x]
    return na.switch(na.astype(na.floor(x), "int32"), branches, x, y)


def _while_loop(x: Any, y: Any) -> Any:
    """The number of steps depends on x."""
    step = lambda state: (state[0] * 1.7, state[1] * y + na.sin(state[0]))  # noqa: E731
    return na.while_loop(lambda state: state[0] < 5.0, step, (x, x * 0 + 1.0), max_steps=6)[1]


def _while_loop_in_numpy(x: Any, y: Any) -> Any:
    total = 1.0
    while x < 5.0:
        x, total = x * 1.7, total * y + np.sin(x)
    return total


def _fori_loop(x: Any, y: Any) -> Any:
    return na.fori_loop(0, 3, lambda i, z: na.sin(z * y) + x * na.astype(i, "float64"), x * y)


def _fori_loop_in_numpy(x: Any, y: Any) -> Any:
    z = x * y
    for i in range(3):
        z = np.sin(z * y) + x * i
    return z


def _scan(x: Any, y: Any) -> Any:
    rows = na.stack([x, y, x * y])
    carry, ys = na.scan(lambda c, row: (na.sin(c * row) + y, c**2), x, rows, reverse=True)
    return carry + na.sum(ys)


def _scan_in_numpy(x: Any, y: Any) -> Any:
    carry, total = x, 0.0
    for row in (x * y, y, x):
        carry, total = np.sin(carry * row) + y, total + carry**2
    return carry + total


def _associative_scan(x: Any, y: Any) -> Any:
    """Affine maps z ↦ a z + b, one after the other."""
    factors, summands = na.stack([x, y, x * y]), na.stack([y, x, x + y])
    combine = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])  # noqa: E731
    factors, summands = na.associative_scan(combine, (factors, summands))
    return na.sum(factors * summands)


def _associative_scan_in_numpy(x: Any, y: Any) -> Any:
    a, b, total = 1.0, 0.0, 0.0
    for factor, summand in ((x, y), (y, x), (x * y, x + y)):
        a, b = a * factor, b * factor + summand
        total = total + a * b
    return total


def _map(x: Any, y: Any) -> Any:
    return na.sum(na.map(lambda row: na.exp(row * y), na.stack([x, x * y, y]), batch_size=2))


def _vmap(x: Any, y: Any) -> Any:
    return na.sum(na.vmap(lambda row, z: row**3 * z, in_axes=(0, None))(na.stack([x, y]), x))


def _nested(x: Any, y: Any) -> Any:
    """A branch in a loop, under a checkpoint."""

    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        new = na.cond(carry > 1.0, lambda z: na.log(z) * row, lambda z: z**2 + row, carry)
        return new, new

    run = na.checkpoint(lambda x, rows: na.scan(step, x, rows))
    return na.sum(run(x, na.stack([x, y, x + y]))[1])


def _nested_in_numpy(x: Any, y: Any) -> Any:
    carry, total = x, 0.0
    for row in (x, y, x + y):
        carry = np.log(carry) * row if carry > 1.0 else carry**2 + row
        total = total + carry
    return total


#: Name → (the function, the same in NumPy).
FUNCTIONS: dict[str, tuple[Plane, Plane]] = {
    "custom_jvp": (_sine_of_product, lambda x, y: np.sin(x * y)),
    "custom_vjp": (_power, lambda x, y: x**y),
    "call_with_jvp": (_called_with_jvp, lambda x, y: np.exp(x) * y),
    "cond": (_cond, lambda x, y: np.sqrt(x - y)),
    "switch": (_switch, lambda x, y: x * y**2),
    "while_loop": (_while_loop, _while_loop_in_numpy),
    "fori_loop": (_fori_loop, _fori_loop_in_numpy),
    "scan": (_scan, _scan_in_numpy),
    "associative_scan": (_associative_scan, _associative_scan_in_numpy),
    "map": (_map, lambda x, y: np.exp(x * y) + np.exp(x * y**2) + np.exp(y**2)),
    "vmap": (_vmap, lambda x, y: (x**3 + y**3) * x),
    "nested": (_nested, _nested_in_numpy),
}


#: (Function, backend) that refuse some modes: forward mode of a pullback; docs/derivatives.md lists
#: them.
REFUSED = {("custom_vjp", "jax")}


def _of_pair(function: Plane) -> Callable[[Any], Any]:
    return lambda t: function(t[0] + 1.3, t[1] + 0.7)


def function_rows() -> dict[str, Row]:
    """Name → row, for the functions of this file."""
    return {row.name: row for row in _rows()}


def _rows() -> Iterator[Row]:
    modes = tuple(MODES)
    for name, draw in DRAWN.items():
        function = _sampled(draw)
        reference = lambda _, function=function: function("numpy")  # noqa: E731
        yield Row(f"random.{name}", function, reference, BACKENDS, modes)
    for name, (draw, formula) in BY_GAMMA.items():
        yield Row(f"random.{name}", _sampled(draw), _quantiles(formula), BACKENDS, modes)
    for name, (plane, in_numpy) in FUNCTIONS.items():
        function = lambda _, plane=plane: _of_pair(plane)  # noqa: E731
        reference = lambda _, in_numpy=in_numpy: _of_pair(in_numpy)  # noqa: E731
        yield Row(name, function, reference, BACKENDS, modes)
