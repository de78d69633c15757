"""JAX's own records of its primitives, through the importer."""

from __future__ import annotations

import pytest

from tests.importers.jax.harnesses import (
    GROUPS,
    RefusedByJaxError,
    check_gradients,
    check_values,
    failures,
    reason_of,
    reference,
)


@pytest.mark.one_in(24)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("group", GROUPS)
def test_first_records(group: str) -> None:
    for record in GROUPS[group][:2]:
        try:
            ref = reference(record)
        except RefusedByJaxError:
            continue
        if not reason_of(record, "values", "numpy"):
            check_values(ref, "numpy")
        if ref.gradients is not None and not reason_of(record, "gradients", "numpy"):
            check_gradients(ref, "numpy")


@pytest.mark.full
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("group", GROUPS)
def test_all_records(group: str) -> None:
    failed = {}
    for record in GROUPS[group]:
        try:
            ref = reference(record)
        except RefusedByJaxError:
            continue
        for backend, kind, error in failures(ref):
            if not reason_of(record, kind, backend):
                failed[record.name, backend, kind] = error[:200]
    assert not failed
