"""`einsum` of three operands never makes an intermediate result larger than it must."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends
from nestarray.testing import assert_close

N = 20
#: The first two operands share no index: multiplied first, they make N⁴ elements.
SUBSCRIPTS = "ab,cd,bc->ad"
MATRICES = [np.random.default_rng(i).standard_normal((N, N)) for i in range(3)]


def product(a: Any, c: Any, b: Any) -> Any:
    return na.einsum(SUBSCRIPTS, a, c, b)


def test_values(backend: str) -> None:
    a, c, b = (backends.core(backend).from_numpy(x.astype("float32")) for x in MATRICES)
    expected = (MATRICES[0] @ MATRICES[2] @ MATRICES[1]).astype("float32")
    found = backends.core(backend).to_numpy(product(a, c, b))
    reason = "sums of 400 products of both signs in single precision"
    assert_close(found, expected, rtol=1e-4, atol=1e-4, reason=reason)


def test_numpy() -> None:
    tracemalloc.start()
    product(*MATRICES)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * N**4


def test_jax() -> None:
    import jax

    text = jax.jit(product).lower(*(x.astype("float32") for x in MATRICES)).as_text()
    assert f"tensor<{N}x{N}xf32>" in text
    assert f"{N}x{N}x{N}x{N}x" not in text


def test_torch() -> None:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    sizes: list[int] = []

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            result = func(*args, **(kwargs or {}))
            sizes.append(result.numel())
            return result

    matrices = [torch.from_numpy(x) for x in MATRICES]
    with Sizes():
        product(*matrices)
    assert sizes
    assert max(sizes) < N**4


def test_tensorflow() -> None:
    import tensorflow as tf

    specs = [tf.TensorSpec((N, N), tf.float64)] * 3
    graph = tf.function(product, autograph=False).get_concrete_function(*specs).graph
    sizes = [t.shape.num_elements() for o in graph.get_operations() for t in o.outputs]
    assert N * N in sizes
    assert max(size for size in sizes if size is not None) < N**4
