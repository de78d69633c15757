"""Distances of many points: peak memory, and derivatives at equal points."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.spatial import distance

import nestarray as na
from nestarray.ops import distances
from nestarray.testing import assert_close
from tests.arrays import host, on
from tests.derivatives import AUTODIFF


def test_differences_are_never_all_in_memory() -> None:
    rng = np.random.default_rng(0)
    x1, x2 = (rng.standard_normal((500, 300)).astype(np.float32) for _ in range(2))
    tracemalloc.start()
    try:
        found = na.cdist(x1, x2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    all_of_them = 500 * 500 * 300 * 4
    assert peak < 0.6 * all_of_them
    assert_close(found, distance.cdist(x1, x2).astype(np.float32), rtol=1e-5, reason="sums of 300")


def test_blocks_make_one_result(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x1, x2 = (rng.standard_normal((2, n, 3)).astype(np.float32) for n in (7, 5))
    whole = host(na.cdist.op.body(on(backend, x1), on(backend, x2)))
    monkeypatch.setattr(distances, "_BLOCK", 2 * 2 * 5 * 3)  # two rows
    assert_close(host(na.cdist.op.body(on(backend, x1), on(backend, x2))), whole)


def test_sizes_that_tensorflow_does_not_know() -> None:
    import tensorflow as tf

    specs = [tf.TensorSpec((None, 3), tf.float32)] * 2
    found = tf.function(na.cdist, input_signature=specs, autograph=False)
    rng = np.random.default_rng(1)
    x1, x2 = (rng.standard_normal((n, 3)).astype(np.float32) for n in (7, 5))
    assert_close(host(found(x1, x2)), host(na.cdist(x1, x2)))


@pytest.mark.parametrize("backend", AUTODIFF)
def test_derivatives_of_equal_points_are_0(backend: str) -> None:
    x = np.asarray([[1.0, 2.0], [1.0, 2.0], [4.0, 6.0]], np.float32)
    for function in (lambda x: na.sum(na.cdist(x, x[:1])), lambda x: na.sum(na.pdist(x))):
        slope = host(na.grad(function)(on(backend, x)))
        assert np.isfinite(slope).all()
    slope = host(na.grad(lambda x: na.sum(na.cdist(x, on(backend, x0))))(on(backend, x)))
    assert_close(slope, np.asarray([[0.0, 0.0], [0.0, 0.0], [0.6, 0.8]], np.float32))


x0 = np.asarray([[1.0, 2.0]], np.float32)


@pytest.mark.parametrize("backend", AUTODIFF)
def test_derivatives_keep_their_digits_far_from_the_origin(backend: str) -> None:
    x1 = np.asarray([[4003.0, 4000.0], [4000.0, 4001.0]], np.float32)
    x2 = np.asarray([[4000.0, 4004.0], [4001.0, 4000.0]], np.float32)
    slope = host(na.grad(lambda x: na.sum(na.cdist(x, on(backend, x2))))(on(backend, x1)))
    difference = x1[:, None].astype(float) - x2
    unit = difference / np.linalg.norm(difference, axis=-1, keepdims=True)
    assert_close(slope, unit.sum(1).astype(np.float32))


def test_infinite_points(backend: str) -> None:
    x1, x2 = np.asarray([[np.inf, 0.0]], np.float32), np.asarray([[1.0, 0.0]], np.float32)
    assert host(na.cdist(on(backend, x1), on(backend, x2))).item() == np.inf
