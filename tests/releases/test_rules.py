"""The rules of the importer of JAX, each in one program on one other framework.

Tests of the other importers and of other parts have the mark ``release``.
"""

from __future__ import annotations

import pytest

import nestarray as na
from tests.importers.jax import harnesses
from tests.importers.jax.rows import FUNCTIONS
from tests.importers.jax.test_functions import example
from tests.releases.test_layers import skip_before, turn

pytestmark = [pytest.mark.full, pytest.mark.usefixtures("x64")]


@pytest.mark.release("group")
@pytest.mark.parametrize("group", harnesses.GROUPS)
def test_primitive(group: str) -> None:
    backend = turn(group, harnesses.BACKENDS)
    for record in harnesses.GROUPS[group]:
        if harnesses.reason_of(record, "values", backend):
            continue
        try:
            ref = harnesses.reference(record)
        except harnesses.RefusedByJaxError:
            continue
        harnesses.check_values(ref, backend)
        return
    pytest.skip("JAX runs no record of this group here")


@pytest.mark.release("name")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    if name == "gather_outside":
        skip_before(
            "jax",
            "0.10.2",
            "the derivative of x[7] of four rows is 0, and the value is the last row",
        )
    graph = na.trace_graph(FUNCTIONS[name], example())
    report = graph.to_backend(turn(name, harnesses.BACKENDS)).verify(nodes=False)
    assert report.ok, str(report)
    assert report.outputs
