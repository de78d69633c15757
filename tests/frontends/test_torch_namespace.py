"""The torch frontend as a namespace to program against: numbers, names that are missing, results."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from operator import attrgetter
from types import ModuleType
from typing import Any

import jax
import numpy as np
import pytest
import torch

import nestarray as na
import nestarray.frontends.torch as frontend
from nestarray.errors import ArgumentError
from tests.frontends.compare import assert_same, to_backend

#: Numbers that the dtype does not hold, in arithmetic: taken modulo 2 to the number of bits.
WRAPPED: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda t, x: t.add(x, 300),
    "alpha": lambda t, x: t.add(x, x, alpha=-1),
    "rsub": lambda t, x: t.rsub(x, 300),
    "mul": lambda t, x: t.mul(x, -1),
    "floor_divide": lambda t, x: t.floor_divide(x, -1),
    "remainder": lambda t, x: t.remainder(x, -1),
    "true division": lambda t, x: t.div(x, -1),
    "eq": lambda t, x: t.eq(x, -1),
    "lt": lambda t, x: t.lt(x, 300),
    "clamp": lambda t, x: t.clamp(x, min=-1),
    "where": lambda t, x: t.where(t.gt(x, 2), x, -1),
    "masked_fill": lambda t, x: t.masked_fill(x, t.gt(x, 2), -1),
    "full_like": lambda t, x: t.full_like(x, -1),
}

TOO_LARGE: dict[str, Callable[[Any, Any], Any]] = {
    "clamp": lambda t, x: t.clamp(x, -1, 300),
    "where": lambda t, x: t.where(t.gt(x, 2), x, 300),
    "masked_fill": lambda t, x: t.masked_fill(x, t.gt(x, 2), 300),
    "full": lambda t, x: t.full((2,), 300, dtype=t.uint8),
    "full_like": lambda t, x: t.full_like(x, 300),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_integers_wrap_as_upstream_wraps_them(name: str, backend: str) -> None:
    for dtype in (torch.uint8, torch.int8):
        x = torch.tensor([1, 3, 100], dtype=dtype)
        ours = WRAPPED[name](frontend, to_backend(x, backend))
        assert_same(ours, WRAPPED[name](torch, x), backend)


@pytest.mark.parametrize("name", TOO_LARGE)
def test_a_number_that_elements_cannot_hold_is_refused(name: str) -> None:
    x = torch.tensor([1, 3], dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="without overflow"):
        TOO_LARGE[name](torch, x)
    with pytest.raises(ArgumentError) as caught:
        TOO_LARGE[name](frontend, x.numpy())
    assert str(caught.value) == (
        f"{name}: got 300 for elements of uint8, expected a number from 0 to 255; "
        "cast the array to a wider dtype first"
    )


@pytest.mark.parametrize(
    "equation", ["ij->i", "ij,ik->ik", "ij,kl->ij", "ij,kj->ik", "ij->ji", "ij"]
)
def test_an_einsum_of_integers_is_int64_where_one_of_them_is_summed(
    equation: str, backend: str
) -> None:
    x = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    operands = [x] * (equation.count(",") + 1)
    with jax.enable_x64(True):
        ours = frontend.einsum(equation, *[to_backend(x, backend) for x in operands])
    assert_same(ours, torch.einsum(equation, *operands), backend)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_normalized_in_float32(dtype: torch.dtype, backend: str) -> None:
    for size in (1e-5, 1.0, 300.0):  # of the square of the first, and the last, half has none
        x = (torch.arange(1, 7, dtype=torch.float32).reshape(2, 3) * size).to(dtype)
        ours = frontend.nn.functional.rms_norm(to_backend(x, backend), (3,))
        assert_same(ours, torch.nn.functional.rms_norm(x, (3,)), backend)
        ours = frontend.linalg.vector_norm(to_backend(x, backend), 3.0)
        assert_same(ours, torch.linalg.vector_norm(x, 3.0), backend)


FACTORIZATIONS = {
    "linalg.svd": "U S Vh", "linalg.qr": "Q R", "linalg.eigh": "eigenvalues eigenvectors",
    "linalg.eig": "eigenvalues eigenvectors", "linalg.slogdet": "sign logabsdet",
    "linalg.lu": "P L U", "linalg.lu_factor": "LU pivots", "svd": "U S V",
    "slogdet": "sign logabsdet",
}  # fmt: skip


@pytest.mark.parametrize("name", FACTORIZATIONS)
def test_results_have_upstreams_names(name: str) -> None:
    x, ours, theirs = torch.eye(3, dtype=torch.float64) * 2, frontend, torch
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch deprecates some of these
        found, wanted = ours(x.numpy()), theirs(x)
    for i, field in enumerate(FACTORIZATIONS[name].split()):
        assert getattr(found, field) is found[i]
        assert getattr(wanted, field).shape == found[i].shape


def test_an_unknown_name_has_a_suggestion() -> None:
    missing = "nestarray.frontends.torch has no such name"
    immutable = "because arrays are immutable"
    for space, name, text in [
        (frontend, "no_grad", f"torch.no_grad: {missing}; use na.grad or na.execute_with_gradients"),
        (frontend.nn, "Linear",
         f"torch.nn.Linear: {missing}; use na.nn, which has layers, initializers and optimizers"),
        (frontend.nn.functional, "crossentropy",
         f"torch.nn.functional.crossentropy: {missing}; did you mean cross_entropy?"),
        (frontend.Tensor, "permute", f"torch.Tensor.permute: {missing}; use torch.permute(x, ...)"),
        (frontend.Tensor, "add_",
         f"torch.Tensor.add_: {missing}; use x = torch.add(x, ...), {immutable}"),
        (frontend, "one_hot", f"torch.one_hot: {missing}; use torch.nn.functional.one_hot(x, ...)"),
        (frontend.nn.functional, "relu_",
         f"torch.nn.functional.relu_: {missing}; use x = torch.relu(x, ...), {immutable}"),
        (frontend.linalg, "choleski", f"torch.linalg.choleski: {missing}; did you mean cholesky?"),
        (frontend.fft, "dct",
         f"torch.fft.dct: {missing}; docs/torch_coverage.md lists the functions"),
        (frontend, "quantize_per_tensor",
         f"torch.quantize_per_tensor: {missing}; docs/torch_coverage.md lists the functions"),
    ]:  # fmt: skip
        with pytest.raises(AttributeError) as caught:
            getattr(space, name)
        assert str(caught.value) == text


def test_a_program_of_torch_runs_on_arrays_of_jax() -> None:
    F = frontend.nn.functional

    def loss(t: Any, x: Any, w: Any, labels: Any) -> Any:
        f = t.nn.functional
        x = f.gelu(f.layer_norm(f.linear(x, w), (4,)))
        scores = t.einsum("nd,md->nm", x, x)
        mixed = f.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True)[0]
        spectrum = t.abs(t.fft.rfft(mixed, dim=-1))
        best = t.topk(t.linalg.norm(scores, dim=-1), 2).values
        picked = t.gather(mixed, 1, labels[:, None])
        return f.cross_entropy(mixed, labels) + t.mean(spectrum) + t.sum(best) + t.sum(picked)

    torch.manual_seed(0)
    x, w, labels = torch.randn(3, 5), torch.randn(4, 5, requires_grad=True), torch.tensor([0, 3, 1])
    wanted = loss(torch, x, w, labels)
    wanted.backward()
    on_jax = [to_backend(v, "jax") for v in (x, w, labels)]
    value, gradient = jax.jit(
        jax.value_and_grad(lambda w, x, labels: loss(frontend, x, w, labels))
    )(on_jax[1], on_jax[0], on_jax[2])
    np.testing.assert_allclose(value, wanted.detach().numpy(), rtol=1e-5)
    assert w.grad is not None
    np.testing.assert_allclose(gradient, w.grad.numpy(), rtol=1e-4, atol=1e-5)
    masks = [F.dropout(on_jax[0], 0.5, key=na.random.key(i, backend="jax")) for i in (0, 0)]
    np.testing.assert_array_equal(*masks)


NAMESPACES = [
    "", "fft", "linalg", "masked", "nn", "nn.functional", "ops", "ops.aten", "ops.transformers",
    "signal", "signal.windows", "special", "Tensor",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMESPACES)
def test_namespaces_list_public_names_only(name: str) -> None:
    space = attrgetter(name)(frontend) if name else frontend
    listed = dir(space)
    upstream = attrgetter(name)(torch) if name else torch
    assert listed
    assert {"Any", "Callable", "Array", "annotations", "dtypes", "na"}.isdisjoint(listed)
    for n in listed:  # a function of ours, or a dtype or number that upstream has too
        value = getattr(space, n)
        assert inspect.isfunction(value) or hasattr(upstream, n), n
        assert not inspect.isfunction(value) or value.__module__.startswith(frontend.__name__), n
    modules = {n for n in listed if isinstance(getattr(space, n), ModuleType)}
    assert modules <= {"Tensor", *(n.rpartition(".")[2] for n in NAMESPACES)}


def test_every_public_function_is_listed() -> None:
    """``__all__`` of a file leaves out no public function that upstream has."""
    for name in NAMESPACES:
        space = attrgetter(name)(frontend) if name else frontend
        upstream = attrgetter(name)(torch) if name else torch
        defined = {
            n for n, value in vars(space).items()
            if inspect.isfunction(value) and not n.startswith("_") and hasattr(upstream, n)
            and value.__module__.startswith(space.__name__)
        }  # fmt: skip
        assert defined <= set(dir(space)), name
