"""JAX's own records of its primitives, through the importer."""

from __future__ import annotations

import warnings
from collections import defaultdict
from typing import Any

import jax
import numpy as np
import pytest
from jax._src.internal_test_util import test_harnesses

import nestarray as na
from nestarray import errors

GROUPS: dict[str, list[Any]] = defaultdict(list)
for _record in test_harnesses.all_harnesses:
    GROUPS[_record.group_name].append(_record)

#: Groups whose primitive has no function: its bits depend on the device.
MISSING = frozenset(["rng_bit_generator"])
#: Error of the result relative to its largest number, by bytes of the (real) dtype.
RTOL = {2: 2e-2, 4: 1e-4, 8: 1e-9}


def _run(record: Any, backend: str) -> str:
    """``"same"``, or why the record was not compared."""
    rng = np.random.RandomState(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            args = [
                jax.numpy.asarray(a) if hasattr(a, "dtype") else a
                for a in record.dyn_args_maker(rng)
            ]
            want = jax.tree.leaves(record.dyn_fun(*args))
        except Exception as error:  # JAX itself refuses it on this machine
            return f"JAX: {type(error).__name__}"
        try:
            graph = na.trace_graph(jax.jit(record.dyn_fun), *args).to_backend(backend)
        except errors.MissingOpError as error:
            return f"missing: {error}"
        moved = [na.to_backend(a, backend) if hasattr(a, "dtype") else a for a in args]
        got = [na.to_backend(x, "numpy") for x in na.tree.flatten(graph(*moved))[0]]
    if record.group_name == "sort" and not record.params["is_stable"]:
        count = record.params["num_keys"]  # other arrays follow in any order of equal keys
        want, got = want[:count], got[:count]
    if record.group_name == "eigh":
        _assert_eigh(np.asarray(args[0]), list(map(np.asarray, want)), got)
        return "same"
    if record.group_name == "svd" and len(got) == 3:
        _assert_svd(np.asarray(args[0]), list(map(np.asarray, want)), got)
        return "same"
    if record.group_name == "eig":
        _assert_eigenvectors(record, np.asarray(args[0]), list(map(np.asarray, want)), got)
        return "same"
    for x, y in zip(map(np.asarray, want), got, strict=True):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        if record.group_name == "approx_top_k" and x.dtype == np.int32:
            continue  # positions of equal numbers
        if record.group_name == "cholesky":  # the primitive leaves the upper triangle undefined
            x, y = np.tril(x), np.tril(y)
        if record.group_name == "conv_general_dilated" and x.dtype == np.complex128:
            x, y = x.astype(np.complex64), y.astype(np.complex64)  # JAX's inner precision
        _assert_same(x, y)
    return "same"


def _assert_eigh(a: np.ndarray, want: list[np.ndarray], got: list[np.ndarray]) -> None:
    """The eigenvalues, and unit eigenvectors with any phase."""
    assert [(x.shape, x.dtype) for x in want] == [(y.shape, y.dtype) for y in got]
    vectors, values = got
    _assert_same(want[1], values)
    rtol = RTOL[values.dtype.itemsize]
    scale = np.abs(values).max(initial=0)
    whole = np.tril(a) + np.conj(np.swapaxes(np.tril(a, -1), -1, -2))
    np.testing.assert_allclose(whole @ vectors, vectors * values[..., None, :], atol=rtol * scale)
    products = np.conj(np.swapaxes(vectors, -1, -2)) @ vectors
    np.testing.assert_allclose(products - np.eye(products.shape[-1]), 0, atol=rtol)


def _assert_svd(a: np.ndarray, want: list[np.ndarray], got: list[np.ndarray]) -> None:
    """The singular values, and orthonormal vectors with any phase."""
    assert [(x.shape, x.dtype) for x in want] == [(y.shape, y.dtype) for y in got]
    values = next(y for y in got if y.ndim == a.ndim - 1)
    _assert_same(next(x for x in want if x.ndim == a.ndim - 1), values)
    u, vh = [y for y in got if y.ndim == a.ndim]
    k, rtol = values.shape[-1], RTOL[values.dtype.itemsize]
    again = (u[..., :k] * values[..., None, :]) @ vh[..., :k, :]
    np.testing.assert_allclose(again, a, atol=rtol * np.abs(a).max(initial=0) * 10)
    for y in (np.swapaxes(u, -1, -2), vh):
        products = y @ np.conj(np.swapaxes(y, -1, -2))
        np.testing.assert_allclose(products - np.eye(products.shape[-1]), 0, atol=rtol)


def _assert_eigenvectors(
    record: Any, a: np.ndarray, want: list[np.ndarray], got: list[np.ndarray]
) -> None:
    """The eigenvalues in any order, and unit eigenvectors with any phase."""
    assert [(x.shape, x.dtype) for x in want] == [(y.shape, y.dtype) for y in got]
    rtol = 1e-3 if want[0].dtype == np.complex64 else 1e-9
    values = got[0]
    gaps = np.abs(want[0][..., :, None] - values[..., None, :])
    for axis in (-1, -2):  # each has a partner
        assert np.all(gaps.min(axis) <= rtol * np.abs(values).max()) if gaps.size else True
    names = ("compute_left_eigenvectors", "compute_right_eigenvectors")
    sides = [name for name in names if record.params[name]]
    for side, vectors in zip(sides, got[1:], strict=True):
        matrix = a if "right" in side else np.conj(np.swapaxes(a, -1, -2))
        factors = values if "right" in side else np.conj(values)
        error = matrix @ vectors - vectors * factors[..., None, :]
        assert np.abs(error).max(initial=0) <= rtol * np.abs(a).max(initial=0) * a.shape[-1]
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), 1, rtol=rtol)


def _assert_same(x: np.ndarray, y: np.ndarray) -> None:
    if x.dtype.name == "bfloat16":
        x, y, rtol = x.astype("float32"), y.astype("float32"), 5e-2
    elif x.dtype.kind in "fc":
        rtol = RTOL[x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1)]
    else:
        np.testing.assert_array_equal(y, x)
        return
    finite = np.abs(x[np.isfinite(x)])
    np.testing.assert_allclose(y, x, rtol=rtol, atol=rtol * finite.max(initial=0))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("group", [g for g in GROUPS if g not in MISSING])
def test_first_records(group: str) -> None:
    results = [_run(record, "numpy") for record in GROUPS[group][:2]]
    assert not [r for r in results if r.startswith("missing")]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("group", sorted(MISSING))
def test_missing_functions_are_reported(group: str) -> None:
    results = {_run(record, "numpy") for record in GROUPS[group][:2]}
    assert all("there is no function of that name" in r or r.startswith("JAX") for r in results)


@pytest.mark.full
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
@pytest.mark.parametrize("group", [g for g in GROUPS if g not in MISSING])
def test_all_records(group: str, backend: str) -> None:
    failed = {}
    for record in GROUPS[group]:
        try:
            _run(record, backend)
        except (AssertionError, errors.NestarrayError) as error:
            failed[record.name] = str(error).strip()[:200]
    assert not failed
