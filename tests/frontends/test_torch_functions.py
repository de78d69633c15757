"""Each function of the torch frontend against torch, on torch's own test inputs."""

from __future__ import annotations

import zlib
from itertools import combinations
from typing import Any

import jax
import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.proof import comparison
from tests.frontends.compare import assert_same, to_backend
from tests.frontends.op_samples import expected, function_of, records, samples

pytestmark = pytest.mark.one_in(8)

#: Records that no comparison of values fits, and why.
LEFT_OUT = {
    "to": "its record passes devices and memory formats by position",
    "max_pool2d_with_indices_backward": "its record calls a private function",
    "as_strided-partial_views": "its record reads memory before and behind the array",
    "_native_batch_norm_legit": "writes its statistics: _functional is what graphs have",
    "linalg.pinv-singular": "its record computes the inverse of a product that it builds itself",
}

#: Elements that nobody should read: shape and dtype alone are compared.
UNDEFINED = {
    "empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted",
}  # fmt: skip

#: The order of equal elements is not defined: indices are compared by the elements at them.
TIES = {"topk", "kthvalue", "sort", "argsort", "median", "msort", "mode"}

#: Vectors are defined up to a sign: their products are compared.
FACTORS = {"linalg.qr", "qr", "linalg.svd", "svd", "linalg.eigh", "linalg.eig"}

#: Bytes between bytes: upstream's weights have 15 bits, so that one in fifty is rounded elsewhere,
#: once along each dimension.
WEIGHTS_OF_15_BITS = {
    "_upsample_bilinear2d_aa", "nn.functional.interpolate", "nn.functional.upsample_bilinear",
}  # fmt: skip

#: Coordinates of 8 bits decide which elements are read. NumPy computes them in float32, and is
#: compared with what upstream reads there.
READ_AT_COORDINATES = {"grid_sampler_2d", "grid_sampler_3d", "nn.functional.grid_sample"}

#: Which complex row is the pivot: LAPACK takes the largest |re| + |im|, TensorFlow the largest
#: modulus. The factors are not compared there.
PIVOTS = {"lu", "linalg.lu", "linalg.lu_factor", "linalg.lu_factor_ex"}

#: (record, dtype) → why it is not compared.
DTYPES = {
    ("complex", torch.float16): "complex32 is not supported",
    ("view_as_complex", torch.float16): "complex32 is not supported",
    ("nn.functional.local_response_norm", torch.int64): "upstream rounds its mean to an integer",
    ("cov", torch.float64): "upstream sums the records' weights of float32 in that precision",
    ("cov", torch.complex128): "upstream sums the records' weights of float32 in that precision",
}


NAMES = sorted(name for name in records() if name not in LEFT_OUT)
#: The dtypes in which ``make test`` compares each function; one narrow dtype is added.
WIDE = (torch.float32, torch.int64)
HIGH = (torch.float64, torch.complex64, torch.complex128)
NARROW = (
    torch.float16, torch.bfloat16, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32,
)  # fmt: skip
ALL = (*WIDE, *HIGH, *NARROW)
HALF = (torch.float16, torch.bfloat16)


def _compare(name: str, dtype: torch.dtype, backend: str, limit: int | None) -> int:
    info = records()[name]
    if not info.supports_dtype(dtype, "cpu") or (info.name, dtype) in DTYPES:
        return 0
    if info.name in PIVOTS and backend == "tensorflow" and dtype.is_complex:
        return 0
    function = function_of(info)
    assert function is not None
    torch.manual_seed(0)
    count = 0
    with jax.enable_x64(True), na.use_backend(backend), np.errstate(all="ignore"):
        for args, kwargs in samples(info, dtype, limit):
            actual = function(*to_backend(args, backend), **to_backend(kwargs, backend))
            if dtype is torch.bfloat16 and backend == "numpy" and name in READ_AT_COORDINATES:
                single = [x.float() if isinstance(x, torch.Tensor) else x for x in args]
                wanted = expected(info, tuple(single), kwargs).to(dtype)
            else:
                wanted = expected(info, args, kwargs)
            try:
                _assert_equivalent(info.name, args, kwargs, actual, wanted, backend)
            except AssertionError:
                if dtype not in HALF or not _is_nearer(info, dtype, args, kwargs, actual, wanted):
                    raise
            count += 1
    return count


def _is_nearer(
    info: Any, dtype: torch.dtype, args: Any, kwargs: Any, actual: Any, wanted: Any
) -> bool:
    """Whether a result in half precision is as near to the exact one as torch's, or to a unit.

    Where large numbers cancel, the result of torch itself is rounding.
    """
    exact = expected(info, *_doubled((args, kwargs)))
    ours, theirs, right = (
        [comparison.host(x) for x in na.tree.flatten(nest)[0]] for nest in (actual, wanted, exact)
    )
    return all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and comparison.difference(c, a)
        <= max(comparison.difference(c, b), na.finfo(dtype).eps * np.abs(c).max(initial=0))
        for a, b, c in zip(ours, theirs, right, strict=True)
    )


def _doubled(nest: Any) -> Any:
    return na.tree.map(
        lambda x: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x, nest
    )


def _assert_equivalent(
    name: str, args: Any, kwargs: Any, actual: Any, wanted: Any, backend: str
) -> None:
    if name in FACTORS:
        assert_same(actual, wanted, backend, values=False)
        assert_same(_product(name, actual), _torch_product(name, wanted), backend)
    elif name in TIES and isinstance(wanted, tuple):
        assert_same(actual[0], wanted[0], backend)
        assert_same(actual[1], wanted[1], backend, values=False)
        _assert_names_values(args[0], _dim(name, args, kwargs), actual, backend)
    elif name == "linalg.lstsq":  # its second record compares the first two results
        assert_same(tuple(actual)[: len(wanted)], tuple(wanted), backend)
    elif name == "linalg.eigvals":
        assert_same(actual, wanted, backend, values=False)
        assert_same(_nearest(actual, wanted, backend), wanted, "torch")
    elif name == "argsort":
        assert_same(actual, wanted, backend, values=False)
        ordered = torch.gather(args[0], _dim(name, args, kwargs), _tensor(actual, backend))
        theirs = torch.gather(args[0], _dim(name, args, kwargs), wanted)
        assert torch.equal(ordered, theirs)
    else:
        off_by = 2 if name in WEIGHTS_OF_15_BITS else 0
        assert_same(actual, wanted, backend, values=name not in UNDEFINED, off_by=off_by)


def _nearest(values: Any, wanted: torch.Tensor, backend: str) -> torch.Tensor:
    """The eigenvalues in the order of torch's, each taken once; they come in no order."""
    ours, theirs = _tensor(values, backend), wanted.clone()
    rows = zip(ours.flatten(0, -2), theirs.flatten(0, -2)) if ours.ndim > 1 else [(ours, theirs)]
    for row, other in rows:
        left = row.tolist()
        for i, number in enumerate(other.tolist()):
            found = min(left, key=lambda z, number=number: abs(z - number))
            left.remove(found)
            other[i] = found
    return theirs


def _dim(name: str, args: Any, kwargs: Any) -> int:
    place = 2 if name in ("topk", "kthvalue") else 1
    given = args[place] if len(args) > place else kwargs.get("dim", -1)
    return given


def _tensor(x: Any, backend: str) -> torch.Tensor:
    return backends.core("torch").from_numpy(backends.core(backend).to_numpy(x).copy())


def _assert_names_values(x: torch.Tensor, dim: int, result: Any, backend: str) -> None:
    values, indices = (_tensor(part, backend) for part in result)
    if x.ndim == 0:
        assert indices == 0
        return
    if values.ndim < x.ndim:
        values, indices = values.unsqueeze(dim), indices.unsqueeze(dim)
    found = torch.gather(x, dim, indices)
    torch.testing.assert_close(found, values, rtol=0, atol=0, equal_nan=True)


def _product(name: str, parts: Any) -> Any:
    if name.endswith("qr"):
        return na.matmul(*parts) if parts[0].shape[-1] else parts[1]
    if name.endswith("svd"):
        u, s, vh = parts
        vh = na.swapaxes(na.conj(vh), -1, -2) if name == "svd" else vh  # torch.svd gives V
        count = s.shape[-1]
        u, vh = u[..., :, :count], vh[..., :count, :]
        return na.matmul(na.multiply(u, na.expand_dims(s, axis=-2)), vh)
    values, vectors = parts
    scaled = na.multiply(vectors, na.expand_dims(values, axis=-2))
    back = na.inv(vectors) if name == "linalg.eig" else na.conj(na.swapaxes(vectors, -1, -2))
    return na.matmul(scaled, back)


def _torch_product(name: str, parts: Any) -> Any:
    return _product(name, tuple(parts))


def _on_two_backends() -> list[Any]:
    """Each function on two backends, which its name chooses; ``make test-full`` takes all four."""
    pairs = list(combinations(BACKENDS, 2))
    found = []
    for name in NAMES:
        pair = pairs[zlib.crc32(name.encode()) % len(pairs)]
        for backend in BACKENDS:
            marks = [] if backend in pair else [pytest.mark.full]
            found.append(pytest.param(name, backend, id=f"{backend}-{name}", marks=marks))
    return found


ROWS = _on_two_backends()


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "backend"), ROWS)
def test_function(name: str, backend: str) -> None:
    if backend == "jax":  # which compiles each new shape
        _compare(name, torch.float32, backend, 1)
        return
    for dtype in WIDE:
        _compare(name, dtype, backend, 3)
    supported = [d for d in NARROW if records()[name].supports_dtype(d, "cpu")]
    if supported:
        _compare(name, supported[zlib.crc32(name.encode()) % len(supported)], backend, 1)


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_function_on_all_inputs(name: str, backend: str) -> None:
    for dtype in ALL:
        limit = 60 if backend != "jax" else 2 if dtype in NARROW else 8
        _compare(name, dtype, backend, limit)


def test_records_are_many() -> None:
    assert len(NAMES) > 400
    assert set(LEFT_OUT) <= set(records())
