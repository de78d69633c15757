"""Whether two Containers are the same, and the trees that the tests store."""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

import nestarray as na
from nestarray.storage.elements import BITS, NATIVE, to_elements

#: A suffix for each format that is written.
SUFFIXES = ("safetensors", "npz", "json", "h5", "zarr")


def assert_same(found: na.Container, expected: na.Container) -> None:
    """Same structure, same leaves to the bit, and the same sharing of arrays."""
    assert found.spec is expected.spec
    for path, x, y in zip(expected.paths(), found.leaves(), expected.leaves(), strict=True):
        if hasattr(y, "dtype"):
            assert _name(x) == _name(y), path
            assert tuple(x.shape) == tuple(y.shape), path
            assert to_elements(x).tobytes() == to_elements(y).tobytes(), path
        else:
            assert type(x) is type(y), path
            assert _bits(x) == _bits(y), path
    assert _sharing(found) == _sharing(expected)


def _name(x: Any) -> str:
    return str(getattr(x.dtype, "name", x.dtype)).rpartition(".")[2]


def _bits(x: Any) -> Any:
    """A value that compares NaN by its bits, and 0.0 apart from -0.0."""
    if isinstance(x, complex):
        return _bits(x.real), _bits(x.imag)
    return struct.pack("d", x) if isinstance(x, float) else x


def _sharing(c: na.Container) -> list[int]:
    first: dict[int, int] = {}
    arrays = [leaf for leaf in c.leaves() if hasattr(leaf, "dtype")]
    return [first.setdefault(id(leaf), i) for i, leaf in enumerate(arrays)]


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Arrays of every dtype that can be stored, of few elements, of any bits."""
    name = draw(st.sampled_from(sorted(NATIVE | set(BITS))))
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    data = bytearray(draw(st.binary(min_size=size, max_size=size)))
    if name == "bool":
        data = bytearray(byte % 2 for byte in data)
    return np.frombuffer(data, dtype).reshape(shape)


def sample() -> na.Container:
    """One Container with everything in it that is hard to store."""
    w = np.arange(6.0).reshape(2, 3)
    return na.Container(
        {
            "encoder": {"w": w, "b": np.ones(3, ml_dtypes.bfloat16)},
            "linear/~/w": np.arange(6)[::2],
            "a.b": {0: w, "1": {"x": np.zeros((0, 3), "int8")}, 7: np.float32(3.5)},
            "list": [w.T, (np.array(True), None), []],
            "tuple": (),
            "empty": {},
            "plain": ("relu", 1, -0.0, float("nan"), 1 - 2j, False, 10**30, ""),
            "f8": np.arange(4).astype(ml_dtypes.float8_e4m3fn),
            "c128": np.array([[1 + 2j, complex("nan-infj")]]),
            "..": np.ones(1),
            "": {"zarr.json": np.ones(1), "nestarray": np.ones(2), "__x": np.ones(3)},
            "nestarray": {"x": np.ones(2)},
            "\ud800": np.ones(1),  # half of a pair: no text, but a key
        }
    )
