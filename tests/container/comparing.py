"""When two trees are the same."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

import nestarray as na


def assert_same(a: na.Container, b: na.Container) -> None:
    """One structure, equal arrays of one backend and dtype, and the same objects else."""
    assert a.spec is b.spec
    for x, y in zip(a.leaves(), b.leaves(), strict=True):
        if hasattr(y, "dtype"):
            assert na.backend_of(x) == na.backend_of(y)
            assert na.dtype_of(x) is na.dtype_of(y)
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
        else:
            assert x is y


def identical(a: Any, b: Any) -> bool:
    """One structure to JAX, and the same objects as leaves."""
    leaves, structure = jax.tree.flatten(a)
    others, other = jax.tree.flatten(b)
    return structure == other and all(x is y for x, y in zip(leaves, others, strict=True))
