"""Gradients of the torch frontend's functions against torch's own, on torch's own test inputs.

The derivative is of one fixed projection of all results, with respect to every input
that the record says has a gradient. NumPy's derivatives are nestarray's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
import torch
from torch.utils import _pytree as pytree

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from tests.frontends.compare import to_backend
from tests.frontends.op_samples import expected, function_of, on_one_backend, records, samples
from tests.frontends.test_torch_functions import FACTORS, LEFT_OUT, _product

#: Records whose gradients no comparison fits, and why.
WITHOUT = LEFT_OUT | {
    "cov": "upstream sums the records' weights of float32 in that precision",
    "linalg.pinv-hermitian": "its record is not hermitian, of which upstream's gradient is none",
    "as_strided_scatter": "upstream's gradient of overwritten elements is not 0, unlike finite differences",
    "index_fill": "upstream counts an index that comes twice twice, in the gradient of the value",
}

#: Triangles are read, and upstream gives the other one a gradient too: one triangle is compared.
TRIANGLES = {"cholesky_inverse", "cholesky_solve"}

NAMES = sorted(
    name
    for name, info in records().items()
    if info.supports_autograd and info.supports_dtype(torch.float64, "cpu") and name not in WITHOUT
)


def _is_input(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.requires_grad


def _inputs(nest: Any) -> tuple[list[torch.Tensor], Any]:
    """The tensors that require gradients, as fresh leaves, and the nest with them in place."""
    found: list[torch.Tensor] = []

    def leaf(x: Any) -> Any:
        if not _is_input(x):
            return x
        found.append(x.detach().clone().requires_grad_())
        return found[-1]

    return found, pytree.tree_map(leaf, nest)


def _outputs(info: Any, result: Any, invariant: Any) -> Iterator[Any]:
    """The results that have gradients; of factors, their product and the values."""
    if info.name in FACTORS:
        values = [part for part in result if len(part.shape) < len(result[0].shape)]
        parts: Any = [invariant(info.name, tuple(result)), *values]
    else:
        parts = result if isinstance(result, (list, tuple)) else [result]
    for part in parts:
        if isinstance(part, (list, tuple)):
            yield from _outputs(info, part, invariant)
        elif hasattr(part, "dtype") and na.dtype_of(part).is_inexact:
            yield part


def _weights(number: int, shape: tuple[int, ...], is_complex: bool) -> np.ndarray:
    """The fixed projection of the result of this number."""
    rng = np.random.default_rng(number)
    weights = rng.normal(size=shape)
    return weights + 1j * rng.normal(size=shape) if is_complex else weights


def torch_gradients(info: Any, args: Any, kwargs: Any) -> list[torch.Tensor] | None:
    """torch's gradients; None where no result depends on an input."""
    leaves, (args, kwargs) = _inputs((args, kwargs))
    total = None
    for i, y in enumerate(_outputs(info, expected(info, args, kwargs), _product)):
        if not y.requires_grad:
            continue
        weights = torch.as_tensor(_weights(i, tuple(y.shape), y.is_complex())).to(y.dtype)
        part = (y * weights).sum()
        part = part.real if part.is_complex() else part
        total = part if total is None else total + part
    if total is None or not leaves:
        return None
    found = torch.autograd.grad(total, leaves, allow_unused=True)
    # some are tensors of zeros without elements, or conjugated in name only
    return [
        torch.zeros_like(x) if g is None else torch.zeros_like(x) + g.detach()
        for x, g in zip(leaves, found)
    ]


def own_gradients(info: Any, args: Any, kwargs: Any, backend: str) -> list[np.ndarray]:
    """The gradients of the frontend's function on `backend`."""
    function = function_of(info)
    assert function is not None
    leaves = [x for x in pytree.tree_leaves((args, kwargs)) if _is_input(x)]

    def loss(arrays: list[Any]) -> Any:
        given = iter(arrays)
        placed = pytree.tree_map(lambda x: next(given) if _is_input(x) else x, (args, kwargs))
        own_args, own_kwargs = (_converted(part, backend) for part in placed)
        total: Any = 0.0
        for i, y in enumerate(_outputs(info, function(*own_args, **own_kwargs), _product)):
            dtype = na.dtype_of(y)
            weights = _weights(i, tuple(y.shape), dtype.kind == "complex")
            part = na.sum(na.multiply(y, na.asarray(weights, dtype=dtype, like=y)))
            total = na.add(na.real(part) if dtype.kind == "complex" else part, total)
        return total

    found = na.grad(loss)([to_backend(x, backend) for x in leaves])
    return [backends.core(backend).to_numpy(g) for g in found]


def _converted(nest: Any, backend: str) -> Any:
    """`to_backend` of torch's tensors; arrays that are differentiated stay."""
    if isinstance(nest, (list, tuple)) and not isinstance(nest, torch.Size):
        return type(nest)([_converted(item, backend) for item in nest])
    if isinstance(nest, dict):
        return {k: _converted(v, backend) for k, v in nest.items()}
    if isinstance(nest, torch.Tensor) and (nest.requires_grad or type(nest) is not torch.Tensor):
        return nest
    if backend == "torch" and isinstance(nest, torch.Tensor):
        return nest
    return to_backend(nest, backend)


def _compare(name: str, backend: str, limit: int) -> int:
    info = records()[name]
    torch.manual_seed(0)
    count = 0
    with jax.enable_x64(True), na.use_backend(backend), np.errstate(all="ignore"):
        for args, kwargs in samples(info, torch.float64, limit, requires_grad=True):
            wanted = torch_gradients(info, args, kwargs)
            if wanted is None:
                continue
            actual = own_gradients(info, args, kwargs, backend)
            assert len(actual) == len(wanted)
            for ours, theirs in zip(actual, wanted):
                if info.name in TRIANGLES and ours.shape[-2:] == theirs.shape[-2:]:
                    part = np.triu if kwargs.get("upper") else np.tril
                    ours, theirs = part(ours), torch.as_tensor(part(theirs.numpy()))
                assert_close(ours, theirs.numpy())
            count += 1
    return count


def assert_close(ours: np.ndarray, theirs: np.ndarray) -> None:
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    finite = np.abs(np.where(np.isfinite(theirs), theirs, 0))
    # relative to the largest: where large terms cancel, the error follows their size
    atol = 1e-8 * float(finite.max(initial=1e-2))
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=atol)


ROWS = on_one_backend(NAMES, BACKENDS, 10)


@pytest.mark.one_in(12)
@pytest.mark.parametrize(("name", "backend"), ROWS)
def test_gradients(name: str, backend: str) -> None:
    _compare(name, backend, 2)


@pytest.mark.full
@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_all_inputs(name: str, backend: str) -> None:
    _compare(name, backend, 20)
