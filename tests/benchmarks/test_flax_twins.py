"""The peers of converted networks in the benchmarks have the same numbers of parameters."""

from __future__ import annotations

import math

import jax
import pytest
import torch

from benchmarks.flax_twins import TWINS
from benchmarks.torch_in import MODELS


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_has_as_many_parameters(name: str) -> None:
    with torch.device("meta"):
        net, inputs = MODELS[name]()
    (example,) = inputs.values()
    dtype = "int32" if not example.is_floating_point() else "float32"
    shape = jax.ShapeDtypeStruct(tuple(example.shape), dtype)
    variables = jax.eval_shape(lambda x: TWINS[name](net.config, x)[1], shape)
    theirs = sum(math.prod(x.shape) for x in jax.tree.leaves(variables["params"]))
    assert theirs == sum(p.numel() for p in net.parameters())
