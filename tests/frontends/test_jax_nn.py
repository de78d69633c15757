"""The functions of `jax.nn` and the initial values of `jax.nn.initializers` against JAX."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.jax as frontend
from nestarray import backends
from tests.arrays import on
from tests.frontends import jax_expressions as expressions

ACTIVATIONS = """celu elu gelu glu(v) hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu
log1mexp(p) log_sigmoid log_softmax logmeanexp logsumexp mish relu relu6 selu sigmoid silu soft_sign
softmax softplus sparse_plus sparse_sigmoid squareplus standardize swish tanh"""

ROWS = """celu(x, 0.5); elu(x, 2.0); gelu(x, False); leaky_relu(x, 0.3); squareplus(x, 2.0); glu(t, axis=2); log1mexp(p * 4)
softmax(x, 0); softmax(x, (0, 1)); softmax(x, axis=None); softmax(x, where=b); log_softmax(x, (0, 1)); log_softmax(x, where=b2); softmax(i)
logsumexp(x, 1); logsumexp(x, b=y, return_sign=True); logsumexp(x, 0, b=p, keepdims=True); logsumexp(x, 1, where=b2); logsumexp(x, return_sign=True)
logmeanexp(x, 1, keepdims=True); logmeanexp(x, 1, where=b2); standardize(x, 0); standardize(x, where=b2); standardize(x, algorithm='stable'); standardize(x, mean=0.5, variance=2.0)
one_hot(k, 4); one_hot(k, 3, axis=0, dtype='int32'); one_hot(i, 3, axis=1); gelu(h); relu(i); silu(h)
relu6(i); hard_tanh(i); leaky_relu(x - x); elu(x - x); celu(x - x); selu(x - x); relu(x - x); relu6(x - x + 6); hard_tanh(x - x + 1); hard_sigmoid(x - x + 3); hard_silu(x - x - 3); sparse_plus(x - x + 1)
dot_product_attention(d, d, d); dot_product_attention(d, g, g, scale=0.3); dot_product_attention(d, d, d, is_causal=True); dot_product_attention(d[0], d[1], d[0], return_residual=True)
dot_product_attention(d, d, d, r, r > 0); dot_product_attention(d, d, d, local_window_size=1); dot_product_attention(d, d, d, local_window_size=(1, 0))
dot_product_attention(d, d, d, query_seq_lengths=l, key_value_seq_lengths=l); dot_product_attention(d, d, d, mask=r > 9); dot_product_attention(d, d, d, implementation='xla'); scaled_dot_general(t, t, (((2,), (2,)), ((0,), (0,)))); scaled_dot_general(x, tall, (((1,), (0,)), ((), ())), 'float16')"""  # fmt: skip

EXPRESSIONS = [
    *[row if "(" in row else f"{row}(x)" for row in ACTIVATIONS.split()],
    *[row.strip() for row in ROWS.replace("\n", ";").split(";")],
]

#: Calls of initializers, each followed by (key, shape).
INITIALIZERS = [
    ("constant(2.5)", (2, 3)), ("zeros", (2,)), ("ones", (2, 1)), ("uniform(0.5)", (3, 2)), ("normal()", (5,)),
    ("truncated_normal(0.3)", (4, 3)), ("truncated_normal(1.0, lower=-1.0)", (4,)),
    ("variance_scaling(1.5, 'fan_out', 'normal')", (3, 4)),
    ("variance_scaling(1.5, 'fan_geo_avg', 'uniform', in_axis=(0, 1), out_axis=2)", (3, 4, 2)),
    ("variance_scaling(1.0, 'fan_avg', 'truncated_normal', batch_axis=0)", (3, 4, 2)),
    ("glorot_normal()", (3, 4)), ("glorot_uniform()", (3, 4)), ("he_normal()", (3, 3, 2, 4)), ("he_uniform()", (3, 4)),
    ("kaiming_normal(in_axis=0, out_axis=1)", (3, 4)), ("kaiming_uniform()", (3, 4)), ("lecun_normal()", (3, 4)),
    ("lecun_uniform()", (3, 4)), ("xavier_normal()", (3, 4)), ("xavier_uniform()", (3, 4)),
    ("orthogonal()", (4, 3)), ("orthogonal(2.0, 0)", (2, 3, 2)), ("delta_orthogonal()", (3, 3, 2, 4)),
]  # fmt: skip


@pytest.mark.one_in(12)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, jax.nn, frontend.nn, backend)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients(expression: str, backend: str) -> None:
    if expressions.is_differentiable(expression, jax.nn):
        expressions.assert_gradients(expression, jax.nn, frontend.nn, backend)


@pytest.mark.one_in(16)
@pytest.mark.parametrize(("call", "shape"), INITIALIZERS, ids=[call for call, _ in INITIALIZERS])
def test_initial_values(call: str, shape: tuple[int, ...], backend: str) -> None:
    theirs = eval(call, vars(jax.nn.initializers))(jax.random.PRNGKey(3), shape)
    key = on(backend, np.asarray([0, 3], "uint32"))
    ours = eval(call, vars(frontend.nn.initializers))(key, shape)
    assert na.backend_of(ours) == backend
    found = backends.core(backend).to_numpy(ours)
    np.testing.assert_allclose(found, np.asarray(theirs), rtol=2e-5, atol=2e-6)
    assert found.dtype == theirs.dtype


@pytest.mark.parametrize("space", ["nn", "nn.initializers"])
def test_every_function_has_an_expression(space: str) -> None:
    expressions.assert_every_function_is_used(
        space, [*EXPRESSIONS, *[call for call, _ in INITIALIZERS], "scaled_matmul(x)"]
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda nn, x: nn.glu(x), "glu: x: got 3 elements along axis -1, expected an even number"),
        (lambda nn, x: nn.initializers.he_normal()(x, (3,)), "shape: got .*, expected at least two"),
        (lambda nn, x: nn.initializers.orthogonal()(x, (3,)), "shape: got .*, expected at least two"),
        (lambda nn, x: nn.initializers.variance_scaling(1, "in", "")(x, (1, 1)), "mode: got 'in'"),
        (lambda nn, x: nn.initializers.variance_scaling(1, "fan_in", "t")(x, (1, 1)), "got 't'"),
        (lambda nn, x: nn.initializers.delta_orthogonal()(x, (3, 2)), "expected 3 to 5 axes"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(na.errors.ArgumentError, match=message):
        call(frontend.nn, np.asarray([0.0, 1.0, 2.0]))


def test_products_of_scaled_factors(backend: str) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 8)).astype("float32")
    scales = np.random.default_rng(1).uniform(1, 2, (2, 3, 2)).astype("float32")
    want = np.einsum("bmk,bnk->bmn", x * scales.repeat(4, -1), x * scales[::-1].repeat(4, -1))
    arrays = [on(backend, np.ascontiguousarray(a)) for a in (x, x, scales, scales[::-1])]
    found = backends.core(backend).to_numpy(frontend.nn.scaled_matmul(*arrays))
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)


def test_quantized_products_are_refused() -> None:
    with pytest.raises(na.errors.UnsupportedError, match="configs: got quantized dtypes"):
        frontend.nn.scaled_dot_general(
            np.ones(2), np.ones(2), (((0,), (0,)), ((), ())), configs=[1]
        )
