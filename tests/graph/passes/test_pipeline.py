"""The passes of a target, by name."""

from __future__ import annotations

import pytest

from nestarray.graph import passes
from tests.graph.passes.programs import called, parsed

TEXT = """
def graph(x):  # float32[2, 3]
    # v['w']: float32[3, 3]
    product = {}.matmul(x, v['w'])
    y = {}.add(product, 1.0)
    return y
"""


@pytest.mark.parametrize(
    ("backend", "names"),
    [
        ("numpy", {"fold_parameters"}),
        ("torch", {"fuse_products", "hoist_from_scans"}),
        ("tensorflow", {"channels_last"}),
    ],
)
def test_passes_of_a_backend(backend: str, names: set[str]) -> None:
    graph = parsed(TEXT.format("na", "na")).to_backend(backend)
    training = {each.__name__ for each in passes.TRAINING}
    assert training | names <= {*graph.passes}
    assert "recognize_idioms" not in graph.passes
    assert "fold_parameters" not in graph.replace(train=True).passes


def test_a_graph_of_frontend_functions_is_lowered_first() -> None:
    graph = parsed(TEXT.format("torch", "torch"))
    assert graph.passes[: len(passes.LOWERING)] == tuple(p.__name__ for p in passes.LOWERING)
    assert graph.passes[len(passes.LOWERING) :] == graph.lower().passes
    assert called(graph.optimize()) == ["matmul", "add"]


def test_each_pass_is_public() -> None:
    assert {each.__name__ for each in passes.LOWERING} <= {*passes.__all__}
