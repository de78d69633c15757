"""Sizes against Python's integers, over random expressions."""

import math
import os
import pickle
import random
import subprocess
import sys
from dataclasses import dataclass

import pytest

from nestarray.errors import ArgumentError
from nestarray.sizes import (
    Condition,
    Real,
    Relations,
    Size,
    larger,
    named,
    names_of,
    parse,
    parse_conditions,
    real,
    rounded,
    smaller,
    value_at,
)
from tests.cases import EXHAUSTIVE

_NAMES = ("a", "b", "n")
_POINTS = [
    {"a": a, "b": b, "n": n} for a in (1, 2, 3, 7) for b in (1, 2, 5) for n in (1, 2, 4, 9, 64)
]
_RANGES = dict.fromkeys(_NAMES, (1, None))
_COUNT = 100_000 if EXHAUSTIVE else 3_000


@dataclass
class _Random:
    """Random sizes, each with the values that Python computes for it."""

    seed: int

    def __post_init__(self):
        self.rng = random.Random(self.seed)

    def size(self, depth=3):
        kind = self.rng.randrange(9) if depth else self.rng.randrange(2)
        if kind == 0:
            number = self.rng.randint(-4, 6)
            return number, [number] * len(_POINTS)
        if kind <= 2:
            name = self.rng.choice(_NAMES)
            return named(name), [point[name] for point in _POINTS]
        x, xs = self.size(depth - 1)
        if kind == 3:
            divisor = self.rng.randint(1, 4)
            return x // divisor, [n // divisor for n in xs]
        if kind == 4:
            divisor = self.rng.randint(1, 4)
            return x % divisor, [n % divisor for n in xs]
        y, ys = self.size(depth - 1)
        if kind == 5:
            return x * y, [n * m for n, m in zip(xs, ys, strict=True)]
        if kind == 6:
            function, of_numbers = self.rng.choice([(larger, max), (smaller, min)])
            return function(x, y), [of_numbers(n, m) for n, m in zip(xs, ys, strict=True)]
        if kind == 7 and all(ys):
            return x // y, [n // m for n, m in zip(xs, ys, strict=True)]
        return x - y, [n - m for n, m in zip(xs, ys, strict=True)]


@pytest.mark.parametrize("seed", range(_COUNT // 1000))
def test_values_are_those_of_integers(seed):
    draw = _Random(seed)
    for _ in range(1000):
        x, values = draw.size()
        assert [value_at(x, point) for point in _POINTS] == values, str(x)


@pytest.mark.parametrize("seed", range(_COUNT // 1000))
def test_text_is_the_size(seed):
    draw = _Random(seed)
    for _ in range(200):
        x, _ = draw.size()
        assert parse(str(x)) == x


@pytest.mark.parametrize("seed", range(_COUNT // 1000))
def test_decided_comparisons_hold_for_all_sizes(seed):
    draw, known = _Random(seed), Relations(_RANGES)
    for _ in range(300):
        (x, xs), (y, ys) = draw.size(), draw.size()
        for sign in ("==", "<", ">="):
            decided = known.decide(x, sign, y)
            if decided is not None:
                condition = Condition(x, sign, y)
                assert {condition.holds(point) for point in _POINTS} == {decided}, str(condition)
        if x == y:
            assert xs == ys


@pytest.mark.parametrize("seed", range(_COUNT // 1000))
def test_comparisons_follow_from_conditions(seed):
    draw = _Random(seed)
    for _ in range(100):
        (x, _), (y, _), (z, _) = draw.size(2), draw.size(2), draw.size(2)
        condition = Condition(x, draw.rng.choice(("==", ">=", "<")), y)
        points = [point for point in _POINTS if condition.holds(point)]
        known = Relations(_RANGES)
        known.assume(condition)
        decided = known.decide(z, ">=", y)
        if decided is not None:
            assert {Condition(z, ">=", y).holds(point) for point in points} <= {decided}


N, M = named("n"), named("m")
A = larger(N - 3, 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((N - 1) // 2 + 1, (N + 1) // 2),
        (0 - (-N // 2), (N + 1) // 2),
        (0 - (-N // 2 // 2), (N + 3) // 4),
        (0 - (-N // 3), (N + 2) // 3),
        ((N // 2) // 3, N // 6),
        (N * N // N, N),
        ((N * M + M) // M, N + 1),
        ((N * N - 1) // (N - 1), N + 1),
        ((4 * N + 6) // 4, N + 1),
        (N % 4 + N // 4 * 4, N),
        (larger(N, M) + smaller(N, M), N + M),
        (rounded("int", real("*", N, 0.5)), N // 2),
        (rounded("math.floor", real("/", N * M, 2)), N * M // 2),
        (rounded("math.ceil", real("/", N, 4)), (N + 3) // 4),
    ],
)
def test_one_normal_form(one, other):
    assert one == other


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        (Condition((N + 1) // 2, "<=", N), True),
        (Condition(N - N // 2, ">=", 1), True),
        (Condition(2 * N + 1, "==", 2 * M), False),
        (Condition(N * M, ">=", M), True),
        (Condition(N, ">", 1), None),
        (Condition(N - N // 2, "==", (N + 1) // 2), True),
        (Condition(N - 2 * N // 3, "==", (N + 2) // 3), True),
        (Condition(N - larger(N - 3, 0), ">=", 0), True),
        (Condition(rounded("int", real("*", N, 0.3)), ">=", 0), True),
        (Condition(A, ">=", larger(smaller(A // 2 + 1, A), 0)), True),
    ],
)
def test_decisions(condition, answer):
    known = Relations({"n": (1, None), "m": (1, None)})
    assert known.decide(condition.left, condition.sign, condition.right) is answer


def test_conditions_decide_what_follows():
    known = Relations({"n": (1, None)})
    known.assume(Condition(N % 2, "==", 0))
    known.assume(Condition(N, ">=", 3))
    assert known.decide(N // 2 * 2, "==", N)
    assert known.decide(N, ">", 2)
    assert known.decide(N - 1, "!=", 0)


def test_real_numbers_are_rounded_as_python_rounds_them():
    for factor in (0.3, 0.7, 1.1, 2.5):
        for name, function in (("int", int), ("math.floor", math.floor), ("round", round)):
            size = rounded(name, real("*", N, factor))
            assert [size.at({"n": n}) for n in range(200)] == [
                function(n * factor) for n in range(200)
            ]
            assert parse(str(size)) == size


def test_sizes_are_values():
    size = 2 * N * M + N // 3
    assert names_of(size) == {"n", "m"}
    assert N.name == "n"
    assert not (N + 1).name
    assert size.replaced({"n": 3 * M}) == 6 * M * M + M
    assert {size: 1}[M * N + N // 3 + N * M] == 1
    assert isinstance(size, Size)
    assert isinstance(real("*", N, 0.3), Real)


def test_sizes_of_another_process_are_equal():
    code = (
        "import pickle, sys; from nestarray.sizes import parse; "
        "sys.stdout.buffer.write(pickle.dumps(parse('max(n // 2 - m, 0) + int(n * 0.3)')))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    written = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True, timeout=120
    ).stdout
    size = pickle.loads(written)
    assert size == parse("max(n // 2 - m, 0) + int(n * 0.3)")
    assert hash(size) == hash(parse(str(size)))


@pytest.mark.parametrize(
    "text", ["open('x')", "a.real", "[a]", "'a'", "(lambda: a)()", "a / 2 // 3"]
)
def test_other_expressions_are_refused(text):
    with pytest.raises(ArgumentError, match="no arithmetic of sizes"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    ["n % 4 == 3 and n < 9", "not n == 7", "3 <= n < 7", "max(n, 3) - min(2, n) > 1",
     "math.ceil(n / 2) != 2", "n ** 2 >= n + 2", "-n // 3 <= -2"],
)  # fmt: skip
def test_conditions_of_files_are_those_of_python(text):
    conditions = parse_conditions(text, {"n": 3})
    for n in range(1, 20):
        values = {"n": n}
        assert all(c.holds(values) for c in conditions) == eval(text, {"n": n, "math": math})


def test_of_alternatives_the_one_of_the_example_is_required():
    for text, even in (
        ("n < 3 or n % 2 == 0", "n % 2 == 0"),
        ("not (n >= 3 and n % 2 == 1)", "n % 2 != 1"),
    ):
        assert [*map(str, parse_conditions(text, {"n": 4}))] == [even]
        assert [*map(str, parse_conditions(text, {"n": 1}))] == ["n < 3"]
    assert [*map(str, parse_conditions("(n == 1) == (m == 1)", {"n": 4, "m": 2}))] == [
        "n != 1",
        "m != 1",
    ]
    with pytest.raises(ArgumentError, match="'n' is no condition"):
        parse_conditions("n", {"n": 4})


@pytest.mark.parametrize(
    ("text", "simplified"),
    [
        ("6 * (n // 2) == 3 * n", "n % 2 == 0"),
        ("3 * ((n + 1) % 2) - 3 == 0", "n % 2 == 0"),
        ("(n + m) % 4 != 3", "(m + n) % 4 != 3"),
        ("n % 4 == m", "n % 4 == m"),
        ("n == 3", "n == 3"),
    ],
)
def test_conditions_on_remainders_are_equal(text, simplified):
    (condition,) = parse_conditions(text, {})
    other = condition.on_remainder or condition
    assert str(other) == simplified
    for n in range(1, 20):
        for m in range(4):
            values = {"n": n, "m": m}
            assert condition.holds(values) == other.holds(values)


def test_remainders_by_open_sizes_are_smaller_than_these():
    known = Relations({"n": (1, None), "m": (1, None)})
    assert known.decide(-2 % N, ">=", 0)
    assert known.decide(-2 % N, "<", N)
    assert known.decide(M % N, "<=", M)
    assert known.decide(M % N, "<", N - 1) is None
    known.assume(Condition(N % 2, "==", 0))
    assert known.decide((N + 1) // 2, "==", N // 2)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (larger(N, 4), "max(n, 4)"),
        (smaller(N, 4), "min(n, 4)"),
        (larger(N - 1, 0), "max(n - 1, 0)"),
        (N + larger(N - 1, 0), "n + max(n - 1, 0)"),
        (2 * larger(N, M), "2 * n + 2 * max(m - n, 0)"),
        (smaller(N - 1, 2), "min(n - 1, 2)"),
        (1 - N, "1 - n"),
    ],
)
def test_text_of_minima_and_maxima(size, text):
    assert str(size) == text
    assert parse(text) == size


def test_a_division_by_zero_fulfils_no_condition():
    assert not Condition(N // M, ">=", 0).holds({"n": 4, "m": 0})
