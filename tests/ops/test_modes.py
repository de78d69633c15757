"""Ops, samplers, custom rules and control flow have the derivatives of their values, in every mode."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nestarray.errors import UnsupportedError
from tests.cases import all_cases
from tests.modes import Row, check, op_rows, row_of
from tests.planes import REFUSED, function_rows

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

FUNCTION_ROWS = function_rows()


def _sample() -> list[Any]:
    """One mode on one backend for each row, which its name chooses."""
    params = []
    for row in (*op_rows().values(), *FUNCTION_ROWS.values()):
        chooser = random.Random(row.name)
        backend = chooser.choice(row.backends)
        name = chooser.choice(row.modes)
        params.append(pytest.param(row, name, backend, id=f"{row.name}-{name}-{backend}"))
    return params


def _check(row: Row, name: str, backend: str) -> None:
    """Compare, but for the modes that nestarray refuses."""
    try:
        check(row, name, backend)
    except UnsupportedError:
        if (row.name, backend) not in REFUSED:
            raise


@pytest.mark.one_in(48)
@pytest.mark.parametrize(("row", "name", "backend"), _sample())
def test_a_mode(row: Row, name: str, backend: str) -> None:
    _check(row, name, backend)


def _rows() -> list[Row]:
    cases = [case for case in all_cases() if case.differentiable]
    return [*map(row_of, cases), *FUNCTION_ROWS.values()]


@pytest.mark.full
@pytest.mark.parametrize(
    ("row", "backend"),
    [
        pytest.param(row, backend, id=f"{row.name}-{backend}")
        for row in _rows()
        for backend in row.backends
    ],
)
def test_all_modes(row: Row, backend: str) -> None:
    failures = []
    for name in row.modes:
        try:
            _check(row, name, backend)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)
