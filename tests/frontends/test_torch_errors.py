"""What torch refuses, the frontend refuses: the inputs that torch's records say are errors."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.config import BACKENDS
from nestarray.errors import NestarrayError
from tests.frontends.compare import to_backend
from tests.frontends.op_samples import REORDERED, STORAGE, function_of, on_one_backend, records

#: Types that a caller may catch: this library's errors and upstream's.
ERRORS = (NestarrayError, TypeError, ValueError, IndexError, RuntimeError, ArithmeticError)

#: Record → parts of upstream's errors for calls that are computed here.
ACCEPTED: dict[str, tuple[str, ...]] = {
    # values are not read
    "cov": ("cannot be negative",),
    # numbers are cast as any number is
    "masked_fill": ("without overflow",),
    # sources are cast to the dtype that they are put in
    # and compiled programs on JAX do not stop at an index outside
    "gather": ("out of bounds",),
    "scatter": ("dtype to be equal", "out of bounds"),
    "scatter_add": ("dtype to be equal", "out of bounds"),
}

NAMES = sorted(name for name, info in records().items() if info.error_inputs_func)


def _is_none_here(name: str, error: Any) -> bool:
    """Whether an input is an error for reasons that there are none of here."""
    sample = error.sample_input
    if STORAGE & set(sample.kwargs):
        return True
    if any(part in error.error_regex for part in ACCEPTED.get(name, ())):
        return True
    # With one array, the other arguments may be numbers.
    numbers = [isinstance(x, (int, float, complex)) for x in (sample.input, *sample.args)]
    return error.error_regex == "" and any(numbers) and not all(numbers)


def accepted(name: str, backend: str) -> list[str]:
    """The upstream errors of inputs that the function computes something for."""
    info = records()[name]
    function = function_of(info)
    assert function is not None
    found = []
    torch.manual_seed(0)
    with (
        jax.enable_x64(True),
        na.use_backend(backend),
        np.errstate(all="ignore"),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for error in info.error_inputs("cpu"):
            if _is_none_here(name, error):
                continue
            sample = error.sample_input
            args = REORDERED.get(info.name, lambda *a: a)(sample.input, *sample.args)
            try:
                function(*to_backend(args, backend), **to_backend(sample.kwargs, backend))
            except ERRORS:
                continue
            found.append(str(error.error_regex))
    return found


ROWS = on_one_backend(NAMES, BACKENDS)


@pytest.mark.parametrize(("name", "backend"), ROWS)
def test_what_upstream_refuses_is_refused(name: str, backend: str) -> None:
    assert accepted(name, backend) == []
