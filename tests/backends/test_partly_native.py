"""torch.compile traces ops whose native functions cover a part of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.testing import assert_close

SQUARE = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]], np.float32)
CALLS: dict[str, Callable[[Any], Any]] = {
    "a condition on dimensions": na.diag,
    "a condition with a function": na.rot90,
    "a condition on a setting": lambda x: na.cumulative_sum(x, axis=0),
    "the body": lambda x: na.cumulative_sum(x, axis=0, include_initial=True),
    "a named tuple": lambda x: na.qr(x).R,
    "values that are looked at": lambda x: na.floor_divide(x, x + 1.0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_torch_compile_traces_partly_native_functions(
    call: Callable[[Any], Any],
) -> None:
    x = torch.from_numpy(SQUARE)
    eager = call(x)  # and the tables are warm
    compiled = torch.compile(call, backend="eager", fullgraph=True)
    assert_close(compiled(x), eager)
