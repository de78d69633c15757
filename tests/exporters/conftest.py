"""A convolutional network as a module of nestarray, and images for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.exporters.rows import ROWS


@pytest.fixture(scope="module")
def model() -> Any:
    return ROWS["conv_net"]().model


@pytest.fixture
def images() -> np.ndarray:
    return ROWS["conv_net"]().args[0]
