"""What functions of bits and orders say about dtypes and numbers that they cannot take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError

CALLS: list[tuple[Callable[[Any, Any], Any], type[Exception], str]] = [
    (
        lambda x, i: na.polygamma(-1, x),
        ArgumentError,
        "polygamma: n: got -1, expected an integer of at least 0",
    ),
    (
        lambda x, i: na.polygamma(1.5, x),  # pyright: ignore[reportArgumentType]
        ArgumentError,
        "polygamma: n: got 1.5, expected an int",
    ),
    (
        lambda x, i: na.bitwise_count(x),
        DtypeError,
        "bitwise_count: x: got float32, expected an integer dtype; see astype",
    ),
    (
        lambda x, i: na.ldexp(i, i),
        DtypeError,
        "ldexp: x1: got int32, expected a floating dtype; see astype",
    ),
    (
        lambda x, i: na.ldexp(x, x),
        DtypeError,
        "ldexp: x2: got float32, expected an integer dtype; see astype",
    ),
    (
        lambda x, i: na.frexp(i),
        DtypeError,
        "frexp: x: got int32, expected a floating dtype; see astype",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), CALLS)
def test_error_on_every_backend(
    backend: str, call: Callable[[Any, Any], Any], error: type[Exception], message: str
) -> None:
    x, i = np.asarray([1.0, 2.0], "float32"), np.asarray([1, 2], "int32")
    from_numpy = backends.core(backend).from_numpy
    with pytest.raises(error) as raised:
        call(from_numpy(x), from_numpy(i))
    assert str(raised.value) == message
