"""Functions generated to stand before others: parameters, conditions, what compilers see."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.backends.parameters import parameters_of
from nestarray.backends.templates import choosing
from nestarray.testing import assert_close


def native(x: Any, /, *, k: int = 2) -> tuple[str, int]:
    return "native", k


def otherwise(x: Any, /, *, k: int = 2) -> tuple[str, int]:
    return "otherwise", k


def test_a_choice_has_the_parameters_of_what_it_chooses() -> None:
    choice = choosing(parameters_of(native), "x in _known", native, otherwise, _known={1})
    assert inspect.signature(choice) == inspect.signature(native)
    assert choice(1) == ("native", 2)
    assert choice(3, k=5) == ("otherwise", 5)
    with pytest.raises(TypeError, match="positional-only"):
        choice(x=1)


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
def test_torch_compile_reads_what_stands_before_native_functions(
    call: Callable[[Any], Any],
) -> None:
    x = torch.from_numpy(SQUARE)
    eager = call(x)  # and the tables are warm
    compiled = torch.compile(call, backend="eager", fullgraph=True)
    assert_close(compiled(x), eager)
