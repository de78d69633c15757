"""Modes: values and derivatives of a function of a plane, under every transformation.

A `Row` is a function h of a plane: an op is restricted to one, h(t) = ⟨w, f(x + t₀ u₀ + t₁ u₁)⟩ with
random directions u and weights w; `tests.planes` has the rows of other functions. A mode makes another
function of h. Its value follows from h, ∇h and ∇²h at two points, which differences of NumPy's float64
values give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import nestarray as na
from tests.arrays import placed
from tests.cases import Case, all_cases
from tests.derivatives import problem, weighted

Function = Callable[[Any], Any]

#: The points of the plane; the modes of `vmap` take both, the others the first.
POINTS = np.asarray([[0.0, 0.0], [0.03, -0.02]])
DIRECTION = np.asarray([0.6, -0.8])
STEP = 1e-3

#: Central differences of order 8: offset → weight.
_FIRST = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
_SECOND = {1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}


@dataclass(frozen=True)
class Jet:
    """h, ∇h and ∇²h at one point."""

    value: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray


@dataclass(frozen=True, eq=False)  # by identity, so that jets can be cached
class Row:
    """A function of the plane.

    Args:
        name: of the op, sampler, rule or control-flow function that h calls.
        function: backend → h.
        reference: a point → the NumPy function with the same value and derivatives there.
        backends: where the row holds.
        modes: those that apply.
    """

    name: str
    function: Callable[[str], Function]
    reference: Callable[[np.ndarray], Function]
    backends: tuple[str, ...]
    modes: tuple[str, ...]


def row_of(case: Case) -> Row:
    """The row of an op: h(t) = ⟨w, f(x + t₀ u₀ + t₁ u₁)⟩."""

    @cache
    def seed() -> int:
        """The first seed whose plane has no kink at the points: two steps give equal differences."""
        for seed in range(40):
            h = _plane(case, "numpy", seed)
            pairs = [(_jet(h, point, STEP), _jet(h, point, STEP / 2)) for point in POINTS]
            if all(_are_close(a.gradient, b.gradient) for a, b in pairs):
                return seed
        raise ValueError(f"{case.name} has a kink at its inputs")

    # modes that trace are left out if the shapes depend on values
    modes = MODES if case.jit else [name for name in DERIVATIVES if "vmap" not in name]
    function = lambda backend: _plane(case, backend, seed())  # noqa: E731
    return Row(case.name, function, lambda _: function("numpy"), case.backends, tuple(modes))


def _plane(case: Case, backend: str, seed: int) -> Function:
    inputs, function = problem(case)
    loss = weighted(function, backend)
    rng = np.random.default_rng(seed)
    pairs = [[rng.uniform(-1, 1, x.shape) for _ in range(2)] for x in inputs]
    starts = [placed(backend, x) for x in inputs]
    steps = [[placed(backend, u) for u in pair] for pair in pairs]

    def h(t: Any) -> Any:
        return loss(*[x + t[0] * u + t[1] * v for x, (u, v) in zip(starts, steps, strict=True)])

    return h


@cache
def jets(row: Row) -> tuple[Jet, Jet]:
    """h, ∇h and ∇²h at the points."""
    first, second = (_jet(row.reference(point), point, STEP) for point in POINTS)
    return first, second


def _are_close(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.abs(a - b).max() <= 1e-9 * (1 + np.abs(a).max()))


def _jet(h: Function, point: np.ndarray, step: float) -> Jet:
    """Differences of order step⁸."""
    value = float(h(point))

    def along(*direction: int) -> tuple[float, float]:
        u = step * np.asarray(direction)
        ends = {i: (float(h(point + i * u)), float(h(point - i * u))) for i in _FIRST}
        first = sum(_FIRST[i] * (a - b) for i, (a, b) in ends.items())
        second = sum(_SECOND[i] * (a - 2 * value + b) for i, (a, b) in ends.items())
        return first / step, second / step**2

    (dx, dxx), (dy, dyy), (_, both) = along(1, 0), along(0, 1), along(1, 1)
    dxy = (both - dxx - dyy) / 2
    return Jet(np.asarray(value), np.asarray([dx, dy]), np.asarray([[dxx, dxy], [dxy, dyy]]))


@dataclass(frozen=True)
class Mode:
    """A transformation of h.

    Args:
        order: the order of the highest derivative.
        make: h → the function of t.
        expected: its value at a point.
        is_mapped: the function takes the rows of `POINTS`.
    """

    order: int
    make: Callable[[Function], Function]
    expected: Callable[[Jet], np.ndarray]
    is_mapped: bool = False

    def result(self, row: Row) -> np.ndarray:
        """The value that the mode has."""
        first, second = jets(row)
        if self.is_mapped:
            return np.stack([self.expected(first), self.expected(second)])
        return self.expected(first)


def _value(jet: Jet) -> np.ndarray:
    return jet.value


def _gradient(jet: Jet) -> np.ndarray:
    return jet.gradient


def _slope(jet: Jet) -> np.ndarray:
    return np.asarray(jet.gradient @ DIRECTION)


def _hessian(jet: Jet) -> np.ndarray:
    return jet.hessian


def _bend(jet: Jet) -> np.ndarray:
    return jet.hessian @ DIRECTION


def _like(x: np.ndarray, t: Any) -> Any:
    return placed(na.backend_of(t), x)


def pushed(h: Function) -> Function:
    """The derivative of h along `DIRECTION`, in forward mode."""
    return lambda t: na.jvp(h, [t], [_like(DIRECTION, t) + 0 * t])[1]


def pulled(h: Function) -> Function:
    """The gradient of h, by a pullback."""

    def gradient(t: Any) -> Any:
        value, pull = na.vjp(h, t)
        return pull(na.ones_like(value))[0]

    return gradient


DERIVATIVES: dict[str, Mode] = {
    "value": Mode(0, lambda h: h, _value),
    "grad": Mode(1, na.grad, _gradient),
    "vjp": Mode(1, pulled, _gradient),
    "jvp": Mode(1, pushed, _slope),
    "jacrev": Mode(1, na.jacrev, _gradient),
    "jacfwd": Mode(1, na.jacfwd, _gradient),
    "hessian": Mode(2, na.hessian, _hessian),
    "jacfwd of grad": Mode(2, lambda h: na.jacfwd(na.grad(h)), _hessian),
    "jacrev of grad": Mode(2, lambda h: na.jacrev(na.grad(h)), _hessian),
    "jacrev of jacfwd": Mode(2, lambda h: na.jacrev(na.jacfwd(h)), _hessian),
    "jacfwd of jacfwd": Mode(2, lambda h: na.jacfwd(na.jacfwd(h)), _hessian),
    "grad of jvp": Mode(2, lambda h: na.grad(pushed(h)), _bend),
    "jvp of grad": Mode(2, lambda h: pushed(na.grad(h)), _bend),
    "vmap": Mode(0, na.vmap, _value, is_mapped=True),
    "vmap of grad": Mode(1, lambda h: na.vmap(na.grad(h)), _gradient, is_mapped=True),
    "vmap of jvp": Mode(1, lambda h: na.vmap(pushed(h)), _slope, is_mapped=True),
}


def in_scan(h: Function) -> Function:
    """h as the step of a scan over two equal rows, whose results are averaged."""

    def function(t: Any) -> Any:
        rows = na.stack([t, t])
        return na.mean(na.scan(lambda carry, row: (carry, h(row)), t, rows)[1], axis=0)

    return function


def in_cond(h: Function) -> Function:
    """h in the branch that is taken."""
    return lambda t: na.cond(na.sum(t) < 1e3, h, lambda t: 2.0 * h(t), t)


def in_while_loop(h: Function) -> Function:
    """h in the second of two steps; the first begins from another value."""

    def function(t: Any) -> Any:
        state = (na.zeros_like(t)[0], h(t) * 0.5)
        step = lambda state: (state[0] + 1, h(t) + 0.0 * state[1])  # noqa: E731
        return na.while_loop(lambda state: state[0] < 2, step, state, max_steps=3)[1]

    return function


INSIDE: dict[str, Callable[[Function], Function]] = {
    "scan": in_scan,
    "cond": in_cond,
    "while_loop": in_while_loop,
    "checkpoint": na.checkpoint,
}


def _combined() -> Iterator[tuple[str, Mode]]:
    for name, mode in DERIVATIVES.items():
        yield name, mode
    for name, mode in DERIVATIVES.items():
        make = lambda h, mode=mode: jitted(mode.make(h))  # noqa: E731
        yield f"jit of {name}", Mode(mode.order, make, mode.expected, mode.is_mapped)
    for (name, inside), of in product(
        INSIDE.items(), ("grad", "jacfwd", "hessian", "vmap of grad")
    ):
        mode = DERIVATIVES[of]
        make = lambda h, mode=mode, inside=inside: mode.make(inside(h))  # noqa: E731
        yield f"{of} of {name}", Mode(mode.order, make, mode.expected, mode.is_mapped)
    for (name, inside), of in product(INSIDE.items(), ("grad", "jacfwd")):
        mode = DERIVATIVES[of]
        make = lambda h, mode=mode, inside=inside: inside(mode.make(h))  # noqa: E731
        yield f"{name} of {of}", Mode(mode.order, make, mode.expected)


def jitted(function: Function) -> Function:
    """A compiled function; PyTorch runs what it traced, since its compiler takes seconds."""

    def call(t: Any) -> Any:
        options = {"backend": "eager"} if na.backend_of(t) == "torch" else {}
        return na.jit(function, **options)(t)

    return call


#: Name → mode.
MODES = dict(_combined())


def check(row: Row, name: str, backend: str) -> None:
    """Compare a mode with differences.

    Raises:
        AssertionError: the numbers differ.
    """
    mode = MODES[name]
    t = placed(backend, POINTS if mode.is_mapped else POINTS[0])
    result = np.asarray(na.to_backend(mode.make(row.function(backend))(t), "numpy"))
    expected = mode.result(row)
    first = jets(row)[0]
    scale = 1 + max(np.abs(part).max() for part in (first.value, first.gradient, expected))
    error = np.abs(result - expected).max() if result.shape == expected.shape else np.inf
    tolerance = (1e-12, 1e-9, 1e-6)[mode.order]
    assert error <= tolerance * scale, (
        f"{name} of {row.name} on {backend}: got {result.tolist()}, expected {expected.tolist()}"
    )


def op_rows() -> dict[str, Row]:
    """Op → the row of its first differentiable case."""
    rows: dict[str, Row] = {}
    for case in all_cases():
        if case.differentiable and case.op not in rows:
            rows[case.op] = row_of(case)
    return rows
