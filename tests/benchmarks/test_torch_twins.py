"""The peers of converted Keras models in the benchmarks have the same numbers of parameters."""

from __future__ import annotations

import math

import keras
import pytest
import torch

from benchmarks.torch_twins import TWINS


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_has_as_many_parameters_and_classes(name: str) -> None:
    model = getattr(keras.applications, name)(weights=None)
    theirs = sum(math.prod(x.shape) for x in model.trainable_variables)
    with torch.device("meta"):
        twin = TWINS[name]()
        assert sum(p.numel() for p in twin.parameters()) == theirs
        assert twin(torch.ones(2, 3, 224, 224)).shape == (2, 1000)
