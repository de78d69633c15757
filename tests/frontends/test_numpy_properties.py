"""Functions of the NumPy frontend against NumPy for random arguments: values, dtypes and errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nestarray as na
from nestarray.frontends import numpy as frontend
from tests.arrays import host
from tests.frontends import expressions

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of empty and zero arrays
    pytest.mark.filterwarnings(
        "ignore:var\\(\\).* degrees of freedom:UserWarning"
    ),  # PyTorch's for them
]
EXAMPLES = max(4, settings.default.max_examples // 8)

#: Small multiples of ½: their sums and products are exact in every order.
ELEMENTS = {"f": st.integers(-8, 8).map(lambda n: n / 2), "i": st.integers(-5, 5), "u": st.integers(0, 5),
            "b": st.booleans()}  # fmt: skip
DTYPES = st.sampled_from(["float64", "float32", "int64", "int32", "int8", "uint8", "bool"]).map(
    np.dtype
)


@st.composite
def arrays(draw: Any, shape: Any = None) -> np.ndarray:
    """An array of up to three axes, which may be empty."""
    dtype = draw(DTYPES)
    sizes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    return draw(hnp.arrays(dtype, sizes if shape is None else shape, elements=ELEMENTS[dtype.kind]))


@st.composite
def pairs(draw: Any) -> list[np.ndarray]:
    """Two arrays, most of which broadcast together."""
    shapes = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)
    ).input_shapes
    return [draw(arrays(shape)) for shape in shapes]


AXES = st.sampled_from([None, 0, 1, -1, 2])
REDUCTIONS = [
    "sum",
    "prod",
    "max",
    "min",
    "mean",
    "var",
    "any",
    "all",
    "argmax",
    "argmin",
    "count_nonzero",
]
ALONG_AXIS = [
    "sort",
    "cumsum",
    "cumprod",
    "flip",
    "squeeze",
    "expand_dims",
    "diff",
    "median",
    "nansum",
]
BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum", "less",
          "equal", "logical_and", "hypot", "arctan2", "copysign", "isclose", "broadcast_arrays", "matmul", "dot",
          "inner", "outer", "kron"]  # fmt: skip
UNARY = ["ravel", "transpose", "nonzero", "argwhere", "flatnonzero", "atleast_2d", "unique", "sign", "abs",
         "negative", "sqrt", "exp", "floor", "isnan", "real", "trim_zeros", "diag", "trace", "triu", "ptp"]  # fmt: skip

CALLS = {
    **{name: st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": AXES, "keepdims": st.booleans()}))
       for name in REDUCTIONS},
    **{name: st.tuples(st.tuples(arrays()), st.fixed_dictionaries({"axis": AXES})) for name in ALONG_AXIS},
    **{name: st.tuples(pairs(), st.just({})) for name in BINARY},
    **{name: st.tuples(st.tuples(arrays()), st.just({})) for name in UNARY},
    # empty medians, and arrays without axes in trim_zeros, are errors here
    "median": st.tuples(st.tuples(arrays().filter(np.size)), st.fixed_dictionaries({"axis": AXES})),
    "trim_zeros": st.tuples(st.tuples(arrays().filter(np.ndim)), st.just({})),
    "reshape": st.tuples(st.tuples(arrays(), hnp.array_shapes(max_side=4)), st.just({})),
    "roll": st.tuples(st.tuples(arrays(), st.integers(-4, 4)), st.fixed_dictionaries({"axis": AXES})),
    "take": st.tuples(st.tuples(arrays(), st.integers(-4, 4)), st.fixed_dictionaries({"axis": AXES})),
    "repeat": st.tuples(st.tuples(arrays(), st.integers(0, 3)), st.fixed_dictionaries({"axis": AXES})),
    "tile": st.tuples(st.tuples(arrays(), st.integers(0, 3)), st.just({})),
    "concatenate": st.tuples(st.tuples(pairs()), st.fixed_dictionaries({"axis": AXES})),
    "stack": st.tuples(st.tuples(pairs()), st.fixed_dictionaries({"axis": st.integers(-3, 2)})),
    "where": st.tuples(pairs().map(lambda p: (p[0] > 0, *p)), st.just({})),
}  # fmt: skip


def _on(backend: str, x: Any) -> Any:
    if isinstance(x, list):
        return [_on(backend, item) for item in x]
    return na.to_backend(x, backend) if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize("backend", ["numpy", pytest.param("torch", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", CALLS)
def test_values_dtypes_and_errors(name: str, backend: str) -> None:
    @settings(max_examples=EXAMPLES)
    @given(CALLS[name])
    def check(call: Any) -> None:
        args, kwargs = call
        own = [_on(backend, x) for x in args]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                expected = getattr(np, name)(*args, **kwargs)
        except (TypeError, ValueError, IndexError):
            with pytest.raises((TypeError, ValueError, IndexError)):
                getattr(frontend, name)(*own, **kwargs)
            return
        found = getattr(frontend, name)(*own, **kwargs)
        leaves = zip(expressions.leaves(found), expressions.leaves(expected), strict=True)
        for got, want in leaves:
            got = np.asarray(host(got))
            assert got.dtype == np.asarray(want).dtype
            tolerance = (
                1e-5 if got.dtype == np.float32 else 1e-3 if got.dtype == np.float16 else 1e-12
            )
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
            assert got.shape == np.shape(want)

    check()
