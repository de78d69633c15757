"""The whole messages for wrong arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import jax
import numpy as np
import pytest

import nestarray as na
from nestarray import errors

KEY = na.random.key(0)
OF_GENERATOR = (
    "random: key: got the shape (4,), the words of a framework's own generator; na.random's "
    "functions, such as na.random.uniform, take these too; expected (2,), as na.random.key(0) "
    "makes it"
)
OF_OPS: list[Callable[[Any], Any]] = [
    lambda key: na.random_bits(key, shape=(2,)),
    lambda key: na.random_uniform(key, shape=(2,)),
    lambda key: na.random_integers(key, low=0, high=5, shape=(2,)),
    lambda key: na.random_split(key),
    lambda key: na.random_gamma(key, na.ones(2, like=key)),
    lambda key: na.random_poisson(key, na.ones(2, like=key)),
    lambda key: na.threefry2x32(key, key, key),
]
R = na.random
ONE, TWO = np.ones(1, np.float32), np.ones(2, np.float32)

CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: R.normal(7), errors.ArgumentError,
     "random.normal: key: got int, expected a key such as na.random.key(0)"),
    (lambda: R.normal(jax.random.split(jax.random.key(0), 3)), errors.ShapeError,
     "random.normal: key: got shape (3,), expected one key of shape (2,); na.vmap maps a sampler "
     "over many keys"),
    (lambda: R.normal(R.split(KEY, 3)), errors.ShapeError,
     "random.normal: key: got shape (3, 2), expected one key of shape (2,); na.vmap maps a sampler "
     "over many keys"),
    (lambda: R.normal(np.zeros(3, np.uint32)), errors.ShapeError,
     "random.normal: key: got shape (3,), expected one key of shape (2,)"),
    (lambda: R.gamma(np.zeros(2, np.int32), 1.0), errors.DtypeError,
     "random: key: got int32, expected uint32, as na.random.key makes it"),
    (lambda: R.uniform(np.zeros(4, np.int32), (2,)), errors.DtypeError,
     "random: key: got int32, expected uint32, as na.random.key makes it"),
    (lambda: R.uniform(KEY, cast(Any, 3)), errors.ArgumentError,
     "random.uniform: shape: got int, expected a tuple of sizes; write (3,)"),
    (lambda: R.normal(KEY, (2, -1)), errors.ShapeError,
     "random.normal: shape: got (2, -1), expected sizes of 0 and above"),
    (lambda: R.uniform(KEY, (3,), "float32", TWO), errors.ShapeError,
     "random.uniform: got minval of shape (2,), maxval of shape () and the shape (3,), expected "
     "shapes that broadcast to it"),
    (lambda: R.beta(KEY, TWO, np.ones(3, np.float32)), errors.ShapeError,
     "random.beta: got a of shape (2,), b of shape (3,), expected shapes that broadcast together"),
    (lambda: R.gamma(KEY, TWO, ()), errors.ShapeError,
     "random.gamma: got a of shape (2,) and the shape (), expected shapes that broadcast to it"),
    (lambda: R.gamma(KEY, -1.0), errors.ArgumentError,
     "random.gamma: a: got -1.0, expected a number above 0"),
    (lambda: R.beta(KEY, 1.0, 0), errors.ArgumentError,
     "random.beta: b: got 0, expected a number above 0"),
    (lambda: R.student_t(KEY, float("nan")), errors.ArgumentError,
     "random.student_t: df: got nan, expected a number above 0"),
    (lambda: R.chisquare(KEY, 0.0), errors.ArgumentError,
     "random.chisquare: df: got 0.0, expected a number above 0"),
    (lambda: R.ball(KEY, 3, 0.0), errors.ArgumentError,
     "random.ball: p: got 0.0, expected a number above 0"),
    (lambda: R.ball(KEY, cast(Any, 1.5)), errors.ArgumentError,
     "random.ball: d: got 1.5, expected an integer of 0 and above"),
    (lambda: R.orthogonal(KEY, -2), errors.ArgumentError,
     "random.orthogonal: n: got -2, expected an integer of 0 and above"),
    (lambda: R.poisson(KEY, -1.0), errors.ArgumentError,
     "random.poisson: lam: got -1.0, expected a number of 0 and above"),
    (lambda: R.poisson(KEY, 1.0, (), "float32"), errors.DtypeError,
     "random.poisson: dtype: got float32, expected an integer type"),
    (lambda: na.random_poisson(KEY, np.ones(2)), errors.DtypeError,
     "random_poisson: lam: got float64, expected float32"),
    (lambda: na.random_gamma(KEY, np.ones(2, np.int64)), errors.DtypeError,
     "random_gamma: dtype: got int64, expected a floating type"),
    (lambda: R.exponential(KEY, (2,), "int32"), errors.DtypeError,
     "random.exponential: dtype: got int32, expected a floating type"),
    (lambda: R.rademacher(KEY, (2,), "uint8"), errors.DtypeError,
     "random.rademacher: dtype: got uint8, expected a floating or a signed integer type"),
    (lambda: R.bernoulli(KEY, 1.5), errors.ArgumentError,
     "random.bernoulli: p: got 1.5, expected a probability from 0 to 1"),
    (lambda: R.bernoulli(KEY, 0.5, (), "middle"), errors.ArgumentError,
     "random.bernoulli: mode: got 'middle', expected 'low' or 'high'"),
    (lambda: R.gumbel(KEY, (), "float32", "highest"), errors.ArgumentError,
     "random.gumbel: mode: got 'highest', expected 'low' or 'high'"),
    (lambda: R.dropout_mask(KEY, 1.0, (2,)), errors.ArgumentError,
     "random.dropout_mask: rate: got 1.0, expected a number from 0 to below 1"),
    (lambda: R.truncated_normal(KEY, 2.0, 1.0), errors.ArgumentError,
     "random.truncated_normal: lower: got 2.0, expected a number below upper = 1.0"),
    (lambda: R.randint(KEY, (2,), 0.5, 3), errors.ArgumentError,
     "random.randint: minval: got float, expected an integer or an array of integers"),
    (lambda: R.randint(KEY, (2,), 0, TWO), errors.DtypeError,
     "random.randint: maxval: got an array of float32, expected integers"),
    (lambda: R.permutation(KEY, -3), errors.ArgumentError,
     "random.permutation: x: got -3, expected an array or an integer of 0 and above"),
    (lambda: R.permutation(KEY, TWO, 1), errors.IndexingError,
     "random.permutation: axis: got 1 for an array of shape (2,)"),
    (lambda: R.choice(KEY, 0, (2,)), errors.ArgumentError,
     "random.choice: a: got nothing to draw 2 from"),
    (lambda: R.choice(KEY, 3, (2, 2), replace=False), errors.ArgumentError,
     "random.choice: shape: got 4 draws of 3 without replacement; draw fewer, or replace=True"),
    (lambda: R.choice(KEY, 3, (2,), p=TWO), errors.ShapeError,
     "random.choice: p: got shape (2,), expected an array of shape (3,)"),
    (lambda: R.choice(KEY, 2, (2,), p=[0.5, 0.5]), errors.ShapeError,
     "random.choice: p: got list, expected an array of shape (2,)"),
    (lambda: R.choice(KEY, 2, (2,), p=np.ones(2, np.int32)), errors.DtypeError,
     "random.choice: p: got int32, expected a floating dtype"),
    (lambda: R.choice(KEY, np.float32(3.0)), errors.ArgumentError,
     "random.choice: a: got np.float32(3.0), expected an array or an integer of 0 and above"),
    (lambda: R.categorical(KEY, np.ones(3, np.int32)), errors.DtypeError,
     "random.categorical: logits: got int32, expected a floating dtype"),
    (lambda: R.categorical(KEY, TWO, shape=(3,), replace=False), errors.ArgumentError,
     "random.categorical: shape: got 3 draws of 2 categories without replacement; draw fewer, or "
     "replace=True"),
    (lambda: R.dirichlet(KEY, 1.0), errors.ShapeError,
     "random.dirichlet: alpha: got no axis, expected an array (..., n)"),
    (lambda: R.multivariate_normal(KEY, TWO, ONE), errors.ShapeError,
     "random.multivariate_normal: cov: got shape (1,) for a mean of shape (2,), expected (..., n) "
     "and (..., n, n)"),
    (lambda: R.multivariate_normal(KEY, [0.0], np.eye(1)), errors.DtypeError,
     "random.multivariate_normal: mean: got list, expected a floating array"),
    (lambda: R.multivariate_normal(KEY, TWO, np.eye(2), method="qr"), errors.ArgumentError,
     "random.multivariate_normal: method: got 'qr', expected 'cholesky', 'svd' or 'eigh'"),
    (lambda: R.fold_in(KEY, 1.5), errors.ArgumentError,
     "random.fold_in: data: got float, expected an integer or a string"),
    (lambda: R.split(KEY, -1), errors.ArgumentError,
     "random.split: num: got -1, expected 0 or more"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "message"), CASES, ids=[m for _, _, m in CASES])
def test_messages(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("call", OF_OPS)
def test_ops_take_no_key_of_a_generator(call: Callable[[Any], Any], backend: str) -> None:
    with pytest.raises(errors.ArgumentError) as info:
        call(na.to_backend(np.arange(4, dtype=np.uint32), backend))
    assert str(info.value) == OF_GENERATOR


def test_ops_take_no_scalar_as_a_key(backend: str) -> None:
    with pytest.raises(errors.ArgumentError, match=r"random: key: got the shape \(\); expected"):
        na.random_uniform(na.to_backend(np.asarray(3, np.uint32), backend), shape=(2,))
