"""Dimensions of JAX as sizes, and their comparisons in one trace."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na
from nestarray.importers.jax.dimensions import DECISIONS, native_scope, shape_of, size_of, text_of
from nestarray.sizes import named, value_at
from nestarray.transforms.abstract import Scope
from tests.arrays import normal as draw

NAMES = "n", "m"
POINTS = [{"n": n, "m": m} for n in (1, 2, 7, 16) for m in (1, 3, 4)]


def scope_of(**example: int) -> Scope:
    return Scope(dict.fromkeys(NAMES, (1, None)), (), example, lambda: "line")


def dimensions(scope: Scope) -> tuple[Any, ...]:
    return shape_of(map(named, NAMES), native_scope(scope))


def expression(rng: random.Random, leaves: tuple[Any, ...], depth: int) -> Callable[..., Any]:
    """A random function of n and m, of dimensions and of numbers."""
    if not depth:
        i, number = rng.randrange(3), rng.randint(1, 5)
        return lambda *names: (*names, number)[i]
    x, y = expression(rng, leaves, depth - 1), expression(rng, leaves, depth - 1)
    divisor = rng.randint(1, 5)
    return rng.choice(
        [
            lambda *names: x(*names) + y(*names),
            lambda *names: x(*names) - y(*names),
            lambda *names: x(*names) * y(*names),
            lambda *names: x(*names) // divisor,
            lambda *names: x(*names) % divisor,
            lambda *names: jax.core.max_dim(x(*names), y(*names)),
            lambda *names: jax.core.min_dim(x(*names), y(*names)),
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_random_dimensions_have_the_numbers_of_python(seed: int) -> None:
    rng = random.Random(seed)
    scope = scope_of(n=4, m=4)
    with DECISIONS.applied(None):
        native = native_scope(scope)
        leaves = shape_of(map(named, NAMES), native)
        for _ in range(60):
            function = expression(rng, leaves, 3)
            dimension = function(*leaves)
            size = size_of(dimension)
            for values in POINTS:
                assert value_at(size, values) == function(*values.values()), str(dimension)
            (again,) = shape_of([size], native)
            assert size_of(again) == size, text_of(size)
    assert not scope.conditions


def test_two_forms_of_a_size_are_one_dimension() -> None:
    scope = scope_of(n=8, m=4)
    with DECISIONS.applied(None):
        n, m = dimensions(scope)
        assert (n - 4) // 4 + 1 == n // 4
        assert len({(n - 4) // 4 + 1, n // 4}) == 1
        assert n - n % 4 == n // 4 * 4
        assert n // 4 != n // 4 + 1
        assert n + m > 1
    assert not scope.conditions


def test_undecided_comparisons_have_the_answer_of_the_example() -> None:
    scope = scope_of(n=8, m=4)
    with DECISIONS.applied(None):
        n, m = dimensions(scope)
        assert n > m
        assert not n < 3
        assert m != 1
        assert n % 2 == 0
        assert n // 2 * 2 == n  # follows
        assert m < n
    assert [*map(str, scope.conditions)] == ["m < n", "n >= 3", "m != 1", "n % 2 == 0"]
    assert {condition.line for condition in scope.conditions} == {"line"}


def test_dimensions_of_other_programs_are_those_of_jax() -> None:
    (n,) = jax.export.symbolic_shape("n")
    with DECISIONS.applied(None):
        assert n != 1
        assert n >= 1
        with pytest.raises(Exception, match="inconclusive"):
            _ = n >= 2


def raises_on_comparisons() -> None:
    (n,) = jax.export.symbolic_shape("n")
    assert isinstance(n >= 2, bool)


def has_unequal_forms() -> None:
    (n,) = jax.export.symbolic_shape("n")
    assert (n - 4) // 4 + 1 == n // 4


@pytest.mark.parametrize("reproducer", [raises_on_comparisons, has_unequal_forms])
def test_the_reason_of_the_workaround_still_holds(reproducer: Callable[[], None]) -> None:
    assert not DECISIONS.missing()
    with pytest.raises(Exception):  # noqa: B017, PT011  each reproducer fails in its own way
        reproducer()


def branches(x: Any) -> Any:
    return jnp.sin(x) if x.shape[0] == 1 else x.sum(0)


#: Program → its conditions, and an input of another size that fulfils them.
PROGRAMS: dict[str, Any] = {
    "reflect": (lambda x: jnp.pad(x, ((2, 2), (0, 0)), "reflect"), ["n > 1", "n >= 3"], (5, 3)),
    "symmetric": (lambda x: jnp.pad(x, ((2, 1), (0, 0)), "symmetric"), ["n > 1"], (5, 3)),
    "pairs": (lambda x: jnp.sin(x).reshape(-1, 2, 3), ["n % 2 == 0"], (4, 3)),
    "halves": (lambda x: jnp.split(x, 2)[1], ["n % 2 == 0"], (10, 3)),
    "even": (lambda x: x + jnp.ones((x.shape[0] // 2 * 2, 3)), ["n % 2 == 0"], (4, 3)),
    "branches": (branches, ["n != 1"], (4, 3)),
    "roll": (lambda x: jnp.roll(x, 2, 0), [], (3, 3)),
    "resize": (lambda x: jax.image.resize(x, (x.shape[0] * 2, 3), "linear"), [], (5, 3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_conditions_of_programs(name: str) -> None:
    function, conditions, shape = PROGRAMS[name]
    graph = na.trace_graph(function, jnp.asarray(draw(6, 3)), dynamic={"x": {0: "n"}})
    assert [*map(str, graph.sizes.conditions)] == conditions
    assert all(each.line.startswith("test_dimensions.py:") for each in graph.sizes.conditions)
    x = np.asarray(draw(*shape))
    expected = np.asarray(function(jnp.asarray(x)))
    np.testing.assert_allclose(graph.to_backend("numpy")(x), expected, rtol=1e-5, atol=1e-6)


def test_a_float_of_a_size_is_an_array_in_jax() -> None:
    with pytest.raises(na.errors.ConversionError, match=r"for int\(n \* 0.5\) write n // 2"):
        na.trace_graph(
            lambda x: jnp.sin(x[: int(x.shape[0] * 0.5)]), draw(6, 3), dynamic={"x": {0: "n"}}
        )
