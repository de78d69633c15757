"""Expressions of torch's symbols as sizes, against sympy's own numbers."""

from __future__ import annotations

import random
from typing import Any

import pytest
import sympy
from torch.utils._sympy import functions as torch_functions

from nestarray.errors import ArgumentError
from nestarray.importers.torch.symbols import converted
from nestarray.sizes import Size, named, value_at

N, M = sympy.symbols("n m", integer=True, positive=True)
POINTS = [{"n": n, "m": m} for n in (2, 3, 7, 16) for m in (1, 4, 5)]


def expression(rng: random.Random, depth: int) -> Any:
    """A random integer expression."""
    if not depth:
        return rng.choice([N, M, sympy.Integer(rng.randint(1, 6))])
    x, y = expression(rng, depth - 1), expression(rng, depth - 1)
    divisor = sympy.Integer(rng.randint(1, 5))
    functions = torch_functions
    return rng.choice(
        [
            x + y,
            x - y,
            x * y,
            functions.FloorDiv(x, divisor),
            functions.PythonMod(x, divisor),
            functions.Max(x * N, y),
            functions.Min(x * N, y),
            functions.FloorToInt(functions.IntTrueDiv(x, divisor)),
            functions.CeilToInt(functions.IntTrueDiv(x, divisor)),
            functions.TruncToInt(functions.FloatTrueDiv(functions.ToFloat(x), sympy.Float(4.0))),
        ]
    )


def numbers(x: Any, values: dict[str, int]) -> Any:
    return x.subs({N: values["n"], M: values["m"]})


def of(x: Any, example: dict[str, int] | None = None) -> Any:
    return converted(x, lambda symbol: named(symbol.name), example)


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions_have_the_numbers_of_sympy(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        x = expression(rng, 3)
        size = of(x)
        for values in POINTS:
            assert value_at(size, values) == numbers(x, values), f"{x} as {size}"


@pytest.mark.parametrize(
    ("relation", "conditions"),
    [
        (sympy.Eq(torch_functions.Mod(N, 2), 0), ["n % 2 == 0"]),
        (sympy.And(N > M, sympy.Ne(N, 7)), ["n > m", "n != 7"]),
        (sympy.Or(N < 3, sympy.Ge(M, 2)), ["m >= 2"]),  # the part that the example fulfils
        (sympy.Eq(N > 1, M > 1), ["n > 1", "m > 1"]),
        (sympy.Ne(N > 1, M > 9), ["n > 1", "m <= 9"]),
        (sympy.true, []),
    ],
)
def test_conditions_are_comparisons_of_sizes(relation: Any, conditions: list[str]) -> None:
    found = of(relation, {"n": 8, "m": 4})
    assert sorted(map(str, found)) == sorted(conditions)
    assert all(isinstance(each.left, Size) for each in found)


def test_equal_sizes_of_torch_are_one_size() -> None:
    half = torch_functions.FloorDiv(N - 4, 4) + 1
    assert of(half) == of(torch_functions.FloorDiv(N, 4)) == named("n") // 4


def test_other_functions_are_refused() -> None:
    with pytest.raises(ArgumentError, match="no arithmetic of sizes"):
        of(sympy.gamma(N))
