"""``jax.vmap``, ``torch.func.vmap`` and ``tf.vectorized_map`` of every op equal single calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
import torch

from nestarray import backends
from nestarray.testing import assert_close
from tests.cases import Case, convert, on_backend, rows

#: Ops that return a tuple of numbers instead of an array.
WITHOUT = {"shape"}


def arrays(value: Any) -> list[np.ndarray]:
    """The arrays in positional arguments, in order."""
    found: list[np.ndarray] = []
    convert(value, found.append)
    return found


def is_mapped(case: Case) -> bool:
    """Whether there is something to map over, and results to stack."""
    return case.jit and case.op not in WITHOUT and bool(arrays(case.draw(case.dtypes[0])[0]))


def _vmap_tensorflow(function: Callable[..., Any]) -> Callable[..., Any]:
    import tensorflow as tf

    return lambda *batches: tf.vectorized_map(lambda row: function(*row), batches)


VMAP = {
    "jax": lambda function: jax.jit(jax.vmap(function)),
    "torch": torch.func.vmap,
    "tensorflow": _vmap_tensorflow,
}


@pytest.mark.one_in(16)
@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")  # a loop, on torch
@pytest.mark.filterwarnings("ignore:torch.searchsorted:UserWarning")  # it copies batched arguments
@pytest.mark.parametrize(("case", "backend"), rows(tuple(VMAP), is_mapped, one_an_op=True))
def test_batched_is_one_by_one(case: Case, backend: str) -> None:
    (args, kwargs), (others, _) = (case.draw(case.dtypes[0], sample) for sample in (0, 1))
    settings = on_backend(kwargs, backend)

    def function(*values: Any) -> list[Any]:
        rest = iter(values)
        result = case.record.function(*convert(args, lambda _: next(rest)), **settings)
        results = result if isinstance(result, (list, tuple)) else [result]
        return [r for r in results if backends.backend_of_type(type(r)) == backend]

    batch = [np.stack(pair) for pair in zip(arrays(args), arrays(others), strict=True)]
    vmap = VMAP[backend](function)
    found = vmap(*on_backend(batch, backend))
    one = jax.jit(function) if backend == "jax" else function
    ones = [one(*on_backend([np.asarray(x[i]) for x in batch], backend)) for i in (0, 1)]
    to_numpy = backends.core(backend).to_numpy
    expected = [np.stack([to_numpy(r) for r in pair]) for pair in zip(*ones, strict=True)]
    assert expected, f"{case.name} gives no arrays"
    assert_close([to_numpy(r) for r in found], expected)
