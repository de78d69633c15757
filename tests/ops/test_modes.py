"""Every differentiable op has the derivatives of differences of its values, in every mode."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nestarray.config import BACKENDS
from tests.cases import Case, all_cases
from tests.modes import check, first_cases, modes_of

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def _sample() -> list[Any]:
    """One mode on one backend for the first case of each op, which its name chooses."""
    rows = []
    for case in first_cases():
        chooser = random.Random(case.name)
        backend = chooser.choice([b for b in BACKENDS if b in case.backends])
        name = chooser.choice(modes_of(case))
        rows.append(pytest.param(case, name, backend, id=f"{case.name}-{name}-{backend}"))
    return rows


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("case", "name", "backend"), _sample())
def test_a_mode(case: Case, name: str, backend: str) -> None:
    check(case, name, backend)


@pytest.mark.full
@pytest.mark.parametrize(
    ("case", "backend"),
    [
        pytest.param(case, backend, id=case.on(backend))
        for case in all_cases()
        if case.differentiable
        for backend in case.backends
    ],
)
def test_all_modes(case: Case, backend: str) -> None:
    failures = []
    for name in modes_of(case):
        try:
            check(case, name, backend)
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)
