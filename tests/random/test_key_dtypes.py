"""A key is two words of uint32; anything else is refused before it makes other numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import DtypeError

DRAWS: dict[str, Callable[[Any], Any]] = {
    "split": na.random_split,
    "bits": lambda key: na.random_bits(key, shape=(2,)),
    "uniform": lambda key: na.random_uniform(key, shape=(2,)),
    "integers": lambda key: na.random_integers(key, low=0, high=9, shape=(2,)),
}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32"])
def test_keys_of_other_dtypes_are_refused(draw: str, dtype: str, backend: str) -> None:
    key = backends.core(backend).from_numpy(np.zeros(2, dtype))
    with pytest.raises(DtypeError) as caught:
        DRAWS[draw](key)
    expected = f"random: key: got {dtype}, expected uint32, as na.random.key makes it"
    assert str(caught.value) == expected


def test_counters_of_other_dtypes_are_refused(backend: str) -> None:
    from_numpy = backends.core(backend).from_numpy
    key, counter = from_numpy(np.zeros(2, "uint32")), from_numpy(np.zeros(3, "int32"))
    with pytest.raises(DtypeError) as caught:
        na.threefry2x32(key, counter, counter)
    assert str(caught.value) == "random: x0: got int32, expected uint32"
