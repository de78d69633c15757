"""Frontends give upstream's results at edges, or differ for a reason."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.edges.frontends import Call, calls, unaccepted
from tests.edges.samples import Sample
from tests.edges.variants import VARIANTS

FRAMEWORKS = ["numpy", "jax", "torch", "tensorflow", "keras"]


def _check(chosen: Sequence[Call | Sample]) -> None:
    found = [unaccepted(call, variant, "numpy") for call in chosen for variant in VARIANTS]
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.one_in(8)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_some_calls(framework: str) -> None:
    _check(calls(framework, 20))


@pytest.mark.full
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_all_calls(framework: str) -> None:
    _check(calls(framework))
