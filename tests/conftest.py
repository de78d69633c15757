"""The environment and the fixtures that all tests share."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # before anything imports TensorFlow
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

from nestarray.config import BACKENDS

# the same examples in every run, and no clock: frameworks compile at unexpected times
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("full", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend by name."""
    return request.param


@pytest.fixture
def x64() -> Iterator[None]:
    """JAX with 64-bit types, for the time of one test."""
    import jax

    with jax.enable_x64(True):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    """The same random numbers for every run of a test."""
    return np.random.default_rng(0)
