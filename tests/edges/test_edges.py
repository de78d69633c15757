"""Ops give NumPy's results at edges on every backend, or differ for a reason."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.cases import Case, all_cases
from tests.edges.accepted import unaccepted
from tests.edges.differences import differences
from tests.edges.variants import VARIANTS

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning"),
]


def _first_cases() -> list[Case]:
    """The first case of each op."""
    cases: dict[str, Case] = {}
    for case in all_cases():
        cases.setdefault(case.op, case)
    return [*cases.values()]


def _check(case: Case, variant: str) -> None:
    with np.errstate(all="ignore"):
        found = differences(case, variant)
    failures = [*unaccepted(case.op, variant, found)]
    assert not failures, "\n".join(failures)


def _sample() -> list[Any]:
    """One variant of each op, which its name chooses."""
    rows = []
    for case in _first_cases():
        variant = random.Random(case.name).choice([*VARIANTS])
        rows.append(pytest.param(case, variant, id=f"{case.name}-{variant}"))
    return rows


@pytest.mark.one_in(16)
@pytest.mark.parametrize(("case", "variant"), _sample())
def test_a_variant(case: Case, variant: str) -> None:
    _check(case, variant)


@pytest.mark.full
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in _first_cases()])
def test_all_variants(case: Case) -> None:
    for variant in VARIANTS:
        _check(case, variant)
