"""Every op equals its reference on every backend, by its native function and its default body."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import pytest

from nestarray import backends, dtypes
from nestarray.config import use_backend
from nestarray.dispatch import Op
from nestarray.testing import assert_close
from tests.cases import ARRAYS, EXHAUSTIVE, Case, all_cases, convert, on_backend, rows


@pytest.mark.one_in(12)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("case", "backend"), rows())
def test_values(case: Case, backend: str) -> None:
    for dtype in case.dtypes:
        for kind, function in implementations(case.record, backend).items():
            if _is_left(case, backend, dtype, kind):
                continue
            try:
                check(case, backend, dtype, function)
            except Exception as error:
                error.add_note(f"in {dtype}, by the {kind} of {case.op} on {backend}")
                raise


def _is_left(case: Case, backend: str, dtype: str, kind: str) -> bool:
    """Whether a computation is left to ``make test-full``, which does all in every dtype.

    Default bodies are computed in the last dtype of the case. JAX compiles each program first:
    it computes the first case of each op so, and of the other cases the public function in the
    first dtype; their bodies are computed by the other backends.
    """
    if EXHAUSTIVE:
        return kind == "default body" and backend not in case.bodies
    if kind == "default body":
        is_left_by_jax = backend == "jax" and case not in _first_cases()
        return backend not in case.bodies or dtype != case.dtypes[-1] or is_left_by_jax
    has_body = "default body" in implementations(case.record, backend)
    is_enough = case not in _first_cases() or (has_body and backend in case.bodies)
    return backend == "jax" and is_enough and dtype != case.dtypes[0]


@cache
def _first_cases() -> frozenset[Case]:
    """The first case of each op."""
    return frozenset({case.op: case for case in reversed(all_cases())}.values())


def implementations(record: Op, backend: str) -> dict[str, Any]:
    """The public function, and the default body if the backend overrides it."""
    found = {"public function": record.function}
    native = getattr(backends.chapter(backend, record.chapter), record.name, None)
    if native is not None and not record.is_primitive:
        found["default body"] = record.body
    return found


def check(case: Case, backend: str, dtype: str, function: Any) -> None:
    """`function` on `backend` gives the case's expected values, dtype and shapes."""
    args, kwargs = on_backend(case.draw(dtype), backend)
    if backend == "jax" and case.jit and not EXHAUSTIVE:
        function = _compiled(function)
    with use_backend(backend):
        actual = function(*args, **kwargs)
    expected = convert(case.expected(dtype), lambda x: as_result(case, dtype, x), of=ARRAYS)
    assert_close(
        actual,
        expected,
        rtol=case.tolerance,
        atol=case.tolerance,
        reason=case.reason,
        backend=backend if _has_array(expected) else None,
    )


def _compiled(function: Any) -> Any:
    """`function` as one program of JAX: a third of the time of compiling each of its operations.

    ``make test-full`` calls it plainly too.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        inputs: list[Any] = []
        convert((args, kwargs), inputs.append, of=jax.Array)

        def flat(*values: Any) -> Any:
            rest = iter(values)
            filled, settings = convert((args, kwargs), lambda _: next(rest), of=jax.Array)
            return function(*filled, **settings)

        return jax.jit(flat)(*inputs)

    return call


def as_result(case: Case, dtype: str, x: Any) -> Any:
    """A float64 reference's array in the dtype that the op's result must have."""
    if case.dtype is not None:
        return x.astype(backends.core("numpy").native_dtype(case.dtype))
    args, _ = case.draw(dtype)
    floating = [a.dtype for a in flat_arrays(args) if dtypes.dtype_of(a).is_inexact]
    wide = dtype == "float64" and bool(floating)
    if x.dtype.kind == "f" or x.dtype.name == "bfloat16":
        narrow = dtype if floating else "float32"
        return x.astype(backends.core("numpy").native_dtype(narrow))
    if x.dtype.kind == "c":
        return x.astype("complex128" if wide else "complex64")
    return x


def flat_arrays(value: Any) -> list[Any]:
    """The NumPy arrays in nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return [a for item in value for a in flat_arrays(item)]
    return [value] if isinstance(value, ARRAYS) else []


def _has_array(value: Any) -> bool:
    return bool(flat_arrays(value))
