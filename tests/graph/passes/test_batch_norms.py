"""Batch normalization after a layer."""

from __future__ import annotations

import pytest

from nestarray.errors import ConversionError
from nestarray.graph.passes.batch_norms import fold_batch_norms, freeze_batch_norms
from tests.graph.passes.programs import applied, called, parsed

HEAD = """
def graph(x):  # float32[2, 4, 4]
    # v['layer/w']: float32[4, 4, 1]
    # v['layer/bias']: float32[4]
    # v['scale']: float32[4]
    # s['mean']: float32[4]
    # s['variance']: float32[4]
"""


@pytest.mark.parametrize(
    ("layer", "axis"),
    [
        ("na.conv1d(x, v['layer/w'], v['layer/bias'])", 1),
        ("na.conv1d(x, v['layer/w'])", 1),
        ("na.conv_transpose1d(x, v['layer/w'], v['layer/bias'])", 1),
        ("na.linear(x, v['square'], v['layer/bias'])", 2),
    ],
)
def test_layers(layer: str, axis: int) -> None:
    text = f"""{HEAD}
    # v['square']: float32[4, 4]
    layer = {layer}
    y = na.batch_norm(layer, s['mean'], s['variance'], v['scale'], axis={axis})
    return y
"""
    graph = applied(fold_batch_norms, text)
    assert len(graph.calls) == 1
    assert "scale" not in graph.v
    assert not graph.s.paths()


def test_a_shared_kernel_is_folded_for_its_own_reader_only() -> None:
    text = f"""{HEAD}
    first = na.conv1d(x, v['layer/w'])
    norm = na.batch_norm(first, s['mean'], s['variance'])
    y = na.conv1d(norm, v['layer/w'])
    return y
"""
    graph = applied(fold_batch_norms, text)
    assert called(graph) == ["conv1d", "conv1d"]
    assert {*graph.v.paths()} >= {"layer/w", "layer/w_1"}


def test_a_kernel_with_channels_last() -> None:
    text = """
    def graph(x):  # float32[2, 5, 5, 3]
        # v['kernel']: float32[2, 2, 3, 4]
        # s['mean']: float32[4]
        # s['variance']: float32[4]
        layer = na.conv(x, v['kernel'], data_format='channels_last', weight_format='channels_last')
        y = na.batch_norm(layer, s['mean'], s['variance'], axis=3)
        return y
    """
    assert called(applied(fold_batch_norms, text)) == ["conv"]


def test_training_graphs_are_an_error() -> None:
    with pytest.raises(ConversionError, match="fold_batch_norms: graph writes into 'mean'"):
        fold_batch_norms(parsed(TRAINING))


@pytest.mark.parametrize(
    ("layer", "axis", "result"),
    [
        ("na.conv1d(x, v['layer/w'])", 1, "y, layer"),  # read twice
        ("na.conv1d(x, v['layer/w'])", 2, "y"),  # another axis
        ("na.relu(x)", 1, "y"),
        ("na.conv1d(x, w)", 1, "y"),  # the weight is computed
    ],
)
def test_normalizations_that_stay(layer: str, axis: int, result: str) -> None:
    text = f"""{HEAD}
    w = na.multiply(v['layer/w'], 2.0)
    layer = {layer}
    y = na.batch_norm(layer, s['mean'], s['variance'], axis={axis})
    return {result}
"""
    assert "batch_norm" in called(applied(fold_batch_norms, text))


TRAINING = """
def graph(x):  # float32[5, 4]
    # s['mean']: float32[4]
    # s['variance']: float32[4]
    norm = na.batch_norm_training(x)
    y = norm[0]
    mean = norm[1]
    s = s.set('mean', mean)
    return y, s
"""


@pytest.mark.parametrize("frozen", [(), ("mean",)])
def test_frozen_statistics_are_read_in_training(frozen: tuple[str, ...]) -> None:
    evaluation = parsed(
        TRAINING.split("    norm")[0]
        + "    y = na.batch_norm(x, s['mean'], s['variance'])\n    return y\n"
    )
    graph = freeze_batch_norms(parsed(TRAINING), evaluation, frozen)
    assert ("batch_norm" in called(graph)) == bool(frozen)
    assert [*graph.state_updates] == ([] if frozen else ["mean"])
