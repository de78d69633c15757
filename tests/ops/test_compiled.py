"""Every op gives equal results under ``jax.jit``, `na.jit` on PyTorch and ``tf.function``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nestarray.config import use_backend
from nestarray.testing import assert_close
from tests.cases import EXHAUSTIVE, Case, convert, on_backend, rows


def _jit_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    return jax.jit(function)


def _jit_tensorflow(function: Callable[..., Any]) -> Callable[..., Any]:
    import tensorflow as tf

    return tf.function(function, autograph=False)


def _jit_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    import nestarray as na

    return na.jit(function, backend="aot_eager")  # Inductor would call a C++ compiler each time


COMPILE = {"jax": _jit_jax, "torch": _jit_torch, "tensorflow": _jit_tensorflow}


#: JAX in ``make test-full`` only: the values of ops are tested compiled there.
BACKENDS = tuple(COMPILE) if EXHAUSTIVE else ("torch", "tensorflow")


@pytest.mark.one_in(32)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("case", "backend"), rows(BACKENDS, lambda case: case.jit, one_an_op=True))
def test_compiled_is_plain(case: Case, backend: str) -> None:
    args, kwargs = case.draw(case.dtypes[0])
    inputs: list[np.ndarray] = []
    convert(args, inputs.append)

    def function(*values: Any) -> Any:
        rest = iter(values)
        filled = convert(args, lambda _: next(rest))
        return case.record.function(*filled, **on_backend(kwargs, backend))

    with use_backend(backend):
        values = on_backend(inputs, backend)
        compiled = COMPILE[backend](function)(*values)
        assert_close(_as_list(compiled), _as_list(function(*values)))


def _as_list(result: Any) -> Any:
    return list(result) if isinstance(result, (list, tuple)) else result
