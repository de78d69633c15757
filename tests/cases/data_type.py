"""Cases of `nestarray.ops.data_type`; more tests are in tests/backends/test_transfer.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.config import BACKENDS
from tests.cases import Case


def real(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.uniform(-3, 3, (2, 3)),)


CASES = [
    Case("astype", lambda rng: (*real(rng), "float64"), reference=lambda x, _: x, dtype="float64"),
    Case(
        "astype",
        lambda rng: (*real(rng), "int32"),
        reference=lambda x, _: np.trunc(x),
        differentiable=False,
        dtype="int32",
        id="int",
    ),
    Case(
        "astype",
        lambda rng: (*real(rng), "bool"),
        reference=lambda x, _: x != 0,
        differentiable=False,
        id="bool",
    ),
    Case(
        "astype",
        lambda rng: (*real(rng), "float32"),
        {"copy": False},
        reference=lambda x, _, copy: x,
        dtypes=("float32",),
        differentiable=False,
        id="same",
    ),
    Case("to_device", lambda rng: (*real(rng), "cpu"), reference=lambda x, _: x),
    *(
        Case(
            "bitcast",
            lambda rng, source=source, dtype=dtype, number=number: (
                rng.standard_normal((2, 4)).astype(number).view(source),
                dtype,
            ),
            reference=lambda x, dtype, source=source: x.astype(source).view(dtype),
            dtypes=(source if source.startswith("float") else "float32",),
            dtype=dtype,
            differentiable=False,
            id=f"{source}-{dtype}",
        )
        for source, dtype, number in (
            ("float32", "int32", "float32"),
            ("int32", "float32", "float32"),
            ("float32", "uint8", "float32"),
            ("uint8", "int32", "float32"),
            ("float64", "int64", "float64"),
            ("int16", "float16", "float16"),
            ("float32", "float32", "float32"),
            ("float32", "complex64", "float32"),
        )
    ),
    Case("stop_gradient", real, reference=lambda x: x, differentiable=False),
    *(
        Case(
            "to_backend",
            lambda rng, name=name: (*real(rng), name),
            reference=lambda x, _: x,
            differentiable=False,
            backends=(name,),
            reason="the result is of the backend that the argument names",
            id=name,
        )
        for name in BACKENDS
    ),
    *(
        Case(
            "saturate_cast",
            lambda rng, dtype=dtype: (
                np.asarray([-3e9, -300.0, -1.5, 0.0, 2.5, 300.0, 3e9]),
                dtype,
            ),
            reference=lambda x, dtype: np.clip(
                np.trunc(x), np.iinfo(dtype).min, np.iinfo(dtype).max
            ),
            differentiable=False,
            dtype=dtype,
            id=dtype,
        )
        for dtype in ("uint8", "int8", "int32", "int64")
    ),
    Case(
        "saturate_cast",
        lambda rng: (np.asarray([-5, 5, 300]), "uint8"),
        reference=lambda x, dtype: np.clip(x, 0, 255),
        differentiable=False,
        dtype="uint8",
        id="of-integers",
    ),
    Case(
        "saturate_cast",
        lambda rng: (*real(rng), "float64"),
        reference=lambda x, _: x,
        dtype="float64",
        id="floating",
    ),
]
