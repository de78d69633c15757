"""Losses of PyTorch are ops of the same name, with the same reductions."""

from __future__ import annotations

import inspect

import pytest
import torch.nn.functional as F

import nestarray as na

#: The first takes a function, where `triplet_margin_loss` has a norm; the second is
#: ``na.cross_entropy(na.linear(x, weight), target)``.
_ABSENT = {"triplet_margin_with_distance_loss", "linear_cross_entropy"}
#: A weight of each element is a factor of the loss with ``reduction="none"``.
_UNWEIGHTED = {"huber_loss", "l1_loss", "mse_loss"}
_SETTINGS = {
    "weight", "label_smoothing", "ignore_index", "blank", "zero_infinity", "margin", "beta", "delta",
    "p", "eps", "full", "log_input", "log_target",
}  # fmt: skip
_NAMES = sorted(
    name
    for name in dir(F)
    if name.endswith(("_loss", "cross_entropy", "_with_logits", "kl_div")) and name[0] != "_"
)


@pytest.mark.one_in(1)
@pytest.mark.parametrize("name", sorted({*_NAMES} - _ABSENT))
def test_the_losses_of_torch(name: str) -> None:
    settings = inspect.signature(getattr(na, name)).parameters
    assert settings["reduction"].default == "mean"
    theirs = inspect.signature(inspect.unwrap(getattr(F, name))).parameters
    shared = _SETTINGS - ({"weight"} if name in _UNWEIGHTED else set())
    assert shared & set(theirs) <= set(settings)
