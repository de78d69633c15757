"""The rules of NumPy's derivatives: forward against reverse mode, complex numbers, kinks, dtypes.

That reverse mode gives the derivatives is what ``tests/ops/test_gradients.py`` and
``tests/ops/test_second_order.py`` hold, over all cases and on all backends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.dispatch import OPS
from nestarray.testing import assert_close
from nestarray.transforms.autodiff.interpreter import RULES
from tests.cases import Case, rows
from tests.derivatives import problem, weighted

RNG = np.random.default_rng(0)
STEP = 1e-3


@pytest.mark.parametrize(
    ("case", "backend"), rows(("numpy",), lambda case: bool(case.differentiable), one_an_op=True)
)
def test_both_modes_agree(case: Case, backend: str) -> None:
    """⟨∇f, u⟩ = ∂f along u, computed forward, computed backward, and linearized."""
    inputs, function = problem(case)
    loss = weighted(function, backend)
    rng = np.random.default_rng(4)
    directions = [np.asarray(rng.uniform(-1, 1, x.shape)) for x in inputs]
    gradients = na.grad(loss, tuple(range(len(inputs))))(*inputs)
    terms = [g * u for g, u in zip(gradients, directions, strict=True)]
    expected = sum(float(t.sum()) for t in terms)
    scale = 1 + sum(float(np.abs(t).sum()) for t in terms)
    _, forward = na.jvp(loss, inputs, directions)
    assert abs(float(forward) - expected) <= 1e-10 * scale
    _, push = na.linearize(loss, *inputs)
    assert abs(float(push(*directions)) - expected) <= 1e-10 * scale


def test_every_op_without_a_default_body_has_a_rule() -> None:
    integers = {name for name in OPS if name.startswith("bitwise_")} | {"gcd"}
    assert {n for n, op in OPS.items() if op.is_primitive} - integers <= RULES.keys()


# -- complex numbers --------------------------------------------------------------------


def real(*shape: int) -> np.ndarray:
    return RNG.uniform(0.5, 1.5, shape) * RNG.choice([-1, 1], shape)


def cplx(*shape: int) -> np.ndarray:
    """Away from 0, from the branch cuts on the axes, and not large."""
    return RNG.uniform(0.4, 0.9, shape) + 1j * RNG.uniform(0.3, 0.8, shape)


def square(*shape: int) -> np.ndarray:
    return cplx(*shape) + 3 * np.eye(shape[-1])


def adjoint(x: Any) -> Any:
    return na.conj(na.matrix_transpose(x))


def of_svd(x: Any) -> Any:
    """What of the factors does not depend on the phases of the vectors."""
    U, S, Vh = na.svd(x, full_matrices=False)
    return S, na.matmul(U, Vh), na.matmul(na.multiply(U, na.expand_dims(S**2, -2)), adjoint(U))


def of_eigh(x: Any) -> Any:
    values, V = na.eigh(x + adjoint(x))
    return values, na.matmul(na.multiply(V, na.exp(values * 0.1)), adjoint(V))


def of_eig(x: Any) -> Any:
    values, V = na.eig(x)
    return na.sum(values**3), na.matmul(na.multiply(V, values**2), na.inv(V))


def positive(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: fn(na.matmul(x, adjoint(x)) + np.eye(x.shape[-1]))


def fft_rows() -> list[Any]:
    found = []
    for norm in ("backward", "ortho", "forward"):
        for n in (4, 7):  # one shorter, one longer than the axis
            for name in ("fft", "ifft", "irfft", "hfft", "rfft", "ihfft"):

                def fn(x: Any, name: str = name, n: int = n, norm: str = norm) -> Any:
                    return OPS[name].function(x, n=n, axis=0, norm=norm)

                x = real(5, 2) if name in ("rfft", "ihfft") else cplx(5, 2)
                found.append(pytest.param(fn, [x], id=f"{name}-{n}-{norm}"))
    return found


ELEMENTWISE = [
    "negative",
    "square",
    "reciprocal",
    "sign",
    "abs",
    "real",
    "imag",
    "conj",
    "angle",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sigmoid",
]
ALONG = [
    "sum",
    "mean",
    "prod",
    "cumulative_sum",
    "cumulative_prod",
    "fftshift",
    "flip",
    "fft",
    "ifft",
    "fftn",
    "ifftn",
    "std",
    "var",
]
PAIRS = ["add", "subtract", "multiply", "divide", "pow", "matmul", "tensordot", "vecdot", "kron"]
COMPLEX = [
    *(pytest.param(OPS[name].function, [cplx(3)], id=name) for name in ELEMENTWISE),
    *(pytest.param(OPS[name].function, [cplx(3, 2)], id=name) for name in ALONG if name not in ("cumulative_sum", "cumulative_prod")),
    *(pytest.param(lambda x, n=n: OPS[n].function(x, axis=0), [cplx(3, 2)], id=n) for n in ("cumulative_sum", "cumulative_prod")),
    *(pytest.param(OPS[name].function, [cplx(3, 3), cplx(3, 3)], id=name) for name in PAIRS),
    *fft_rows(),
    pytest.param(na.multiply, [real(3, 2), cplx(2)], id="multiply-real"),
    pytest.param(na.matmul, [real(3, 2), cplx(2)], id="matmul-real"),
    pytest.param(na.linear, [cplx(2, 3), cplx(4, 3), cplx(4)], id="linear"),
    pytest.param(na.linear, [cplx(2, 3), cplx(3)], id="linear-vector"),
    pytest.param(na.complex, [real(3), real(3)], id="complex"),
    pytest.param(na.rfftn, [real(4, 5)], id="rfftn"),
    pytest.param(na.irfftn, [cplx(4, 4)], id="irfftn"),
    pytest.param(lambda a, b: na.einsum("bij,bjk->ki", a, b), [cplx(2, 3, 2), cplx(2, 2, 3)], id="einsum"),
    pytest.param(lambda a: na.einsum("ii->i", a), [cplx(3, 3)], id="einsum-diagonal"),
    pytest.param(lambda a, b: na.einsum("iji,k", a, b), [cplx(3, 2, 3), cplx(2)], id="einsum-summed-alone"),
    pytest.param(lambda a, b: na.einsum("...i,ij->...j", a, b), [cplx(2, 3, 2), cplx(2, 2)], id="einsum-dots"),
    pytest.param(na.inv, [square(2, 3, 3)], id="inv"),
    pytest.param(na.solve, [square(3, 3), cplx(3, 2)], id="solve"),
    pytest.param(na.solve, [square(2, 3, 3), cplx(3)], id="solve-vector"),
    pytest.param(na.det, [cplx(3, 3)], id="det"),
    pytest.param(lambda x: tuple(na.slogdet(x)), [square(3, 3)], id="slogdet"),
    pytest.param(positive(na.cholesky), [cplx(3, 3)], id="cholesky"),
    pytest.param(positive(lambda x: na.cholesky(x, upper=True)), [cplx(3, 3)], id="cholesky-upper"),
    *(pytest.param(lambda x: tuple(na.qr(x)), [x], id=f"qr-{i}") for i, x in enumerate([cplx(4, 3), cplx(2, 3), real(4, 3)])),
    *(pytest.param(of_svd, [x], id=f"svd-{i}") for i, x in enumerate([square(3, 3), cplx(4, 2), cplx(2, 3, 4), real(4, 3)])),
    pytest.param(of_eigh, [cplx(3, 3)], id="eigh"),
    pytest.param(lambda x: na.eigvalsh(x + adjoint(x)), [cplx(3, 3)], id="eigvalsh"),
    *(pytest.param(of_eig, [x], id=f"eig-{x.dtype.kind}") for x in (square(3, 3) + np.diag([0, 1, 2]), np.diag([1.0, 2.0, 4.0]) + 0.3 * real(3, 3))),
    pytest.param(na.expm, [cplx(3, 3)], id="expm"),
    pytest.param(na.pinv, [cplx(4, 2)], id="pinv"),
]  # fmt: skip


@pytest.mark.parametrize(("fn", "args"), COMPLEX)
def test_complex_numbers(fn: Callable[..., Any], args: list[np.ndarray]) -> None:
    """Forward mode is what differences give; ⟨c, J t⟩ = ⟨Jᴴ c, t⟩ for reverse mode."""

    def flat(*values: Any) -> list[Any]:
        out = fn(*values)
        return list(out) if isinstance(out, tuple) else [out]

    rng = np.random.default_rng(5)

    def like(x: np.ndarray) -> np.ndarray:
        part = rng.standard_normal(x.shape)
        return part + 1j * rng.standard_normal(x.shape) if x.dtype.kind == "c" else part

    steps = [like(x) for x in args]
    at = {s: flat(*(x + s * STEP * t for x, t in zip(args, steps))) for s in (-2, -1, 1, 2)}
    values, tangents = na.jvp(flat, args, steps)
    for i, (value, tangent) in enumerate(zip(values, tangents, strict=True)):
        slope = (8 * (at[1][i] - at[-1][i]) - (at[2][i] - at[-2][i])) / (12 * STEP)
        assert (tangent.dtype, tangent.shape) == (value.dtype, value.shape)
        np.testing.assert_allclose(tangent, slope, rtol=1e-7, atol=1e-7 * np.abs(slope).max())
    _, pull = na.vjp(flat, *args)
    cotangents = [like(np.asarray(v)) for v in values]
    gradients = pull(cotangents)
    assert [(g.dtype, g.shape) for g in gradients] == [(x.dtype, x.shape) for x in args]
    left = sum(np.vdot(c, t).real for c, t in zip(cotangents, tangents, strict=True))
    right = sum(np.vdot(g, t).real for g, t in zip(gradients, steps, strict=True))
    assert abs(left - right) <= 1e-9 * (1 + abs(left))


# -- places that differences say nothing of ---------------------------------------------

KINKS = np.asarray([0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 0.5, -0.5])
AT_KINKS = [
    "relu",
    "relu6",
    "elu",
    "selu",
    "celu",
    "gelu",
    "silu",
    "softplus",
    "softsign",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
    "hard_shrink",
    "soft_shrink",
    "squareplus",
    "mish",
    "sign",
    "sqrt",
    "square",
    "rsqrt",
    "reciprocal",
    "log",
    "i1",
    "i1e",
    "round",
]
TIED = np.asarray([1.0, 2.0, 2.0, 0.0, 0.0, 2.0])
OF_TIED = [
    "max",
    "min",
    "sort",
    "softmax",
    "sparsemax",
    "logsumexp",
    "prod",
    "cumulative_prod",
    "vector_norm",
    "ptp",
]


@pytest.mark.parametrize("name", [*AT_KINKS, *OF_TIED])
@pytest.mark.usefixtures("x64")
def test_kinks_and_ties_are_those_of_jax(name: str) -> None:
    points = TIED if name in OF_TIED else KINKS
    settings = {"axis": 0} if name == "cumulative_prod" else {}

    def gradient(backend: str) -> Any:
        x = na.to_backend(points, backend)
        slope = na.grad(lambda x: na.sum(OPS[name].function(x, **settings)))(x)
        return na.to_backend(slope, "numpy")

    with np.errstate(all="ignore"):  # of the function itself
        found = gradient("numpy")
    np.testing.assert_allclose(found, gradient("jax"), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ["maximum", "minimum", "logaddexp", "pow", "atan2", "divide"])
@pytest.mark.usefixtures("x64")
def test_ties_of_two_are_those_of_jax(name: str) -> None:
    a = np.asarray([0.0, 1.0, 2.0, -1.0, np.inf, 3.0])
    b = np.asarray([1.0, 1.0, 2.0, -1.0, 1.0, -np.inf])
    if name not in ("maximum", "minimum"):
        a, b = a[:4], b[:4]

    def gradient(backend: str) -> Any:
        pair = [na.to_backend(x, backend) for x in (a, b)]
        both = na.grad(lambda a, b: na.sum(OPS[name].function(a, b)), (0, 1))(*pair)
        return [na.to_backend(g, "numpy") for g in both]

    with np.errstate(all="ignore"):
        found = gradient("numpy")
    for ours, theirs in zip(found, gradient("jax"), strict=True):
        keep = np.isfinite(theirs)  # (−1)⁻¹ has no derivative by the exponent
        np.testing.assert_allclose(ours[keep], theirs[keep], rtol=1e-12)


@pytest.mark.parametrize("mode", ["replace", "add", "mul", "min", "max"])
@pytest.mark.usefixtures("x64")
def test_writing_to_places_is_that_of_jax(mode: str) -> None:
    x = np.asarray([1.0, 2.0, 3.0, 0.0, 5.0])
    index = np.asarray([0, 3, 1] if mode == "replace" else [0, 3, 0, 1, 0])
    values = np.asarray([2.0, -1.0, 0.5, 4.0, 1.5])[: len(index)]
    weights = np.asarray([1.0, -2.0, 3.0, 0.5, 1.0])

    def gradient(backend: str) -> Any:
        a, b, w, i = (na.to_backend(t, backend) for t in (x, values, weights, index))
        loss = lambda a, b: na.sum(na.setitem(a, i, b, mode=mode) * w)  # noqa: E731
        both = na.grad(loss, (0, 1))(a, b)
        return [na.to_backend(g, "numpy") for g in both]

    for ours, theirs in zip(gradient("numpy"), gradient("jax"), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_a_singular_matrix_has_the_adjugate_for_its_determinants_gradient() -> None:
    x = np.asarray([[1.0, 2.0], [2.0, 4.0]])
    assert_close(na.grad(na.det)(x), np.asarray([[4.0, -2.0], [-2.0, 1.0]]), atol=1e-12,
                 reason="by the singular value decomposition")  # fmt: skip


def test_equal_singular_values_have_gradients_all_the_same() -> None:
    assert_close(na.grad(lambda x: na.sum(na.svdvals(x)))(np.eye(3)), np.eye(3))
    assert_close(na.grad(lambda x: na.sum(na.svd(x).S))(np.eye(3)), np.eye(3))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes_stay(dtype: str) -> None:
    x = na.astype(np.asarray([[0.5, 1.0], [2.0, -1.0]]), dtype)
    wide = np.asarray([2.0, 3.0])

    def loss(x: Any) -> Any:
        h = na.softmax(na.relu(x) * 2.0 + 1.0)
        return (
            na.sum(na.matmul(h, x)) + na.mean(x[0]) + na.max(x) + na.sum(na.astype(x * wide, dtype))
        )

    gradient = na.grad(loss)(x)
    assert na.dtype_of(gradient) is na.as_dtype(dtype)
    expected = na.grad(loss)(x.astype("float64"))
    rtol = 4 * na.finfo(dtype).eps  # a sum of four terms, each rounded
    np.testing.assert_allclose(gradient.astype("float64"), expected, rtol=rtol)
    value, tangent = na.jvp(loss, [x], [x])
    assert na.dtype_of(tangent) is na.dtype_of(value)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 0)])
def test_no_axes_and_no_elements(shape: tuple[int, ...]) -> None:
    x = np.ones(shape)
    gradient = na.grad(lambda x: na.sum(na.sin(x) * x) + na.sum(na.reshape(x, (-1,))))(x)
    assert_close(gradient, np.cos(x) * x + np.sin(x) + 1)
    moved = na.jvp(lambda x: na.concat([na.reshape(x, (-1,)), np.ones(2)]), [x], [x])[1]
    assert_close(moved, np.concatenate([x.reshape(-1), np.zeros(2)]))
