"""Names and layouts by library, without a counterpart; `tests/cli` compares outputs of models."""

from __future__ import annotations

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, StructureError
from nestarray.interchange.naming.conventions import (
    CONVENTIONS,
    convention_map,
    convention_of,
)

TORCH = na.Container(
    conv={"weight": np.arange(24.0).reshape(2, 3, 2, 2), "bias": np.ones(2)},
    norm={"weight": np.full(2, 2.0), "bias": np.ones(2), "running_mean": np.zeros(2),
          "running_var": np.full(2, 3.0), "num_batches_tracked": np.asarray(1)},
    scale={"weight": np.ones(2), "bias": np.zeros(2)},
    token_embedding={"weight": np.ones((5, 2))},
    head={"weight": np.arange(6.0).reshape(3, 2)},
    class_token=np.zeros((1, 1, 2)),
)  # fmt: skip


@pytest.mark.parametrize("library", [name for name in CONVENTIONS if name != "torch"])
def test_round_trips(library: str) -> None:
    there = convention_map(TORCH, library).apply(TORCH)
    assert convention_of(there) == library
    back = convention_map(there, "torch").apply(there)
    assert not TORCH.exclude("**/num_batches_tracked").diff(back, check_order=False)


@pytest.mark.parametrize("source", CONVENTIONS)
@pytest.mark.parametrize("target", CONVENTIONS)
def test_all_pairs(source: str, target: str) -> None:
    """The way over PyTorch gives the same tree."""
    if "torch" in (source, target) or source == target:
        return
    tree = convention_map(TORCH.exclude("norm/running_*"), source).apply(TORCH, strict=False)
    expected = convention_map(TORCH.exclude("norm/running_*"), target).apply(TORCH, strict=False)
    assert not expected.diff(convention_map(tree, target).apply(tree), check_order=False)


def test_flax_names() -> None:
    c = convention_map(TORCH, "flax").apply(TORCH)
    assert c.params.conv.kernel.shape == (2, 2, 3, 2)
    assert (c.params.conv.kernel == TORCH.conv.weight.transpose(2, 3, 1, 0)).all()
    assert (c.params.head.kernel == TORCH.head.weight.T).all()
    assert c["params/token_embedding/embedding"].shape == (5, 2)
    assert set(c.batch_stats.norm) == {"mean", "var"}
    assert "params/class_token" in c


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="names of no library"):
        convention_map(na.Container(x=np.ones(2)), "flax")
    with pytest.raises(ArgumentError, match="target: got 'flux', expected one of torch, flax"):
        convention_map(TORCH, "flux")
    with pytest.raises(ArgumentError, match="have already"):
        convention_map(TORCH, "torch")
    both = na.Container(params={"fc": {"bias": np.ones(2)}}, fc={"bias": np.ones(2)})
    with pytest.raises(
        StructureError, match=r"'params/fc/bias' and 'fc/bias' both become 'fc/bias'"
    ):
        convention_map(both, "torch", source="flax")
