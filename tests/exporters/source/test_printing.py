"""Calls as a user of each framework writes them."""

from __future__ import annotations

import numpy as np
import pytest

from nestarray.exporters.source.printing.constants import calls_of, is_causal, shortest
from nestarray.exporters.source.printing.expressions import Expression, operator_expression
from tests.exporters.source.programs import body


@pytest.mark.parametrize(
    ("operator", "operands", "text"),
    [
        ("mul", ("a + b", "c"), "(a + b) * c"),
        ("add", ("a + b", "c"), "a + b + c"),
        ("sub", ("a", "b + c"), "a - (b + c)"),
        ("pow", ("a + b", "c"), "(a + b)**c"),
        ("neg", ("a + b",), "-(a + b)"),
        ("lt", ("a + b", "c"), "a + b < c"),
        ("and_", ("a < b", "b < c"), "(a < b) & (b < c)"),
    ],
)
def test_parentheses_only_where_python_needs_them(
    operator: str, operands: tuple[str, ...], text: str
) -> None:
    ranks = {"+": 4, "<": 9}
    parts = [
        Expression(x, next((r for sign, r in ranks.items() if sign in x), 0)) for x in operands
    ]
    assert operator_expression(operator, parts).text == text


@pytest.mark.parametrize(
    ("array", "calls"),
    [
        (np.arange(3), [("arange", (3,))]),
        (np.arange(2, 5), [("arange", (2, 5))]),
        (np.arange(3)[:, None], [("arange", (3,)), ("reshape", (3, 1))]),
        (
            np.tile(np.arange(3), (2, 1)),
            [("arange", (3,)), ("reshape", (1, 3)), ("expand", (2, 3))],
        ),
        (np.tri(3, dtype=bool), [("tril", (3,))]),
        (np.zeros((2, 3), "float32"), [("zeros", (2, 3))]),
        (np.ones(2), [("ones", (2,))]),
        (np.full(2, 0.5), [("full", (2,))]),
        (np.float32(3), [("scalar", ())]),
        (np.asarray([3, 1, 2]), []),
        (np.asarray([0.0, 1.0]), []),
    ],
)
def test_constants_that_a_short_expression_computes(
    array: np.ndarray, calls: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert calls_of(np.asarray(array)) == calls


def test_a_causal_mask_admits_earlier_columns() -> None:
    assert is_causal(np.tri(4, dtype=bool)[None])
    assert not is_causal(np.tri(4, k=1, dtype=bool))


def test_numbers_of_32_bits_are_short() -> None:
    assert shortest(float(np.float32(0.1))) == 0.1
    assert shortest(0.1 + 1e-12) == 0.1 + 1e-12
    assert shortest(3) == 3


OPERATORS = """
def graph(x, y):  # float32[3], float32[3]
    a = na.add(x, y)
    b = na.multiply(a, y)
    c = na.subtract(x, b)
    d = na.subtract(c, a)
    e = na.negative(d)
    f = na.pow(e, 2.0)
    return f
"""
CHOICE = """
def graph(x, y):  # float32[3], float32[3]
    a = na.less(x, y)
    b = na.greater_equal(x, 0.0)
    c = na.logical_and(a, b)
    d = na.logical_not(c)
    e = na.where(d, x, y)
    return e
"""
INDICES = """
def graph(x):  # float32[3, 4, 5]
    a = na.getitem(x, (slice(None, None, None), slice(None, None, None), 2))
    b = na.getitem(x, (1, slice(None, None, None), slice(None, None, None)))
    c = na.getitem(a, (None, slice(1, None, None)))
    return a, b, c
"""
REDUCTIONS = """
def graph(x):  # float32[3, 4]
    a = na.sum(x, axis=1)
    b = na.mean(x, axis=0, keepdims=True)
    c = na.max(x)
    return a, b, c
"""
SHAPES = """
def graph(x):  # float32[3, 4]
    a = na.reshape(x, (2, 6))
    b = na.permute_dims(a, (1, 0))
    c = na.expand_dims(b, 0)
    d = na.broadcast_to(c, (5, 6, 2))
    e = na.concat([d, d], axis=-1)
    f = na.tile(e, (2,))
    return f
"""


@pytest.mark.parametrize(
    ("program", "texts"),
    [
        (
            OPERATORS,
            dict.fromkeys(("torch", "jax"), "h = x + y\nreturn (-(x - h * y - h)) ** 2.0"),
        ),
        (
            CHOICE,
            {
                "torch": "return torch.where(~((x < y) & (x >= 0.0)), x, y)",
                "jax": "return jnp.where(~((x < y) & (x >= 0.0)), x, y)",
                "tensorflow": "return tf.where(~((x < y) & (x >= 0.0)), x, y)",
            },
        ),
        (
            INDICES,
            dict.fromkeys(("torch", "jax", "numpy"), "h = x[..., 2]\nreturn h, x[1], h[None, 1:]"),
        ),
        (
            REDUCTIONS,
            {
                "torch": "return x.sum(1), x.mean(0, keepdim=True), x.amax()",
                "jax": "return jnp.sum(x, axis=1), jnp.mean(x, axis=0, keepdims=True), jnp.max(x)",
                "numpy": "return x.sum(axis=1), x.mean(axis=0, keepdims=True), x.max()",
            },
        ),
        (
            SHAPES,
            {
                "torch": """\
x = x.reshape(2, 6).T.expand(5, 6, 2)
return torch.cat([x, x], -1).repeat(1, 1, 2)""",
                "jax": """\
x = jnp.broadcast_to(x.reshape(2, 6).T, (5, 6, 2))
return jnp.tile(jnp.concatenate([x, x], axis=-1), (2,))""",
                "tensorflow": """\
x = tf.transpose(tf.reshape(x, (2, 6)), perm=(1, 0))
x = tf.broadcast_to(x, (5, 6, 2))
return tf.tile(tf.concat([x, x], axis=-1), (1, 1, 2))""",
            },
        ),
    ],
    ids=["operators", "choice", "indices", "reductions", "shapes"],
)
def test_calls(program: str, texts: dict[str, str]) -> None:
    assert {style: body(program, style) for style in texts} == texts


COND = """
def graph(x):  # float32[5, 3]
    a = na.sum(x)
    p = na.greater(a, 0.0)

    def f():
        b = na.exp(x)
        return b

    def g():
        c = na.negative(x)
        return c

    d = na.cond(p, f, g)
    return d
"""
WHILE = """
def graph(x):  # float32[3]

    def go_on(y):  # float32[3]
        a = na.max(y)
        b = na.less(a, 10.0)
        return b

    def step(z):  # float32[3]
        c = na.multiply(z, 2.0)
        return c

    d = na.while_loop(go_on, step, x)
    return d
"""


@pytest.mark.parametrize(
    ("program", "texts"),
    [
        (
            COND,
            {
                "torch": """\
mask = x.sum() > 0.0
if mask:
    h = torch.exp(x)
else:
    h = -x
return h""",
                "jax": """\
def if_true():
    return jnp.exp(x)

def if_false():
    return -x

return lax.cond(jnp.sum(x) > 0.0, if_true, if_false)""",
                "tensorflow": """\
def if_true():
    return tf.math.exp(x)

def if_false():
    return -x

return tf.cond(tf.reduce_sum(x) > 0.0, if_true, if_false)""",
            },
        ),
        (
            WHILE,
            {
                "torch": "while x.amax() < 10.0:\n    x = x * 2.0\nreturn x",
                "numpy": "while x.max() < 10.0:\n    x = x * 2.0\nreturn x",
            },
        ),
    ],
    ids=["cond", "while"],
)
def test_control_flow(program: str, texts: dict[str, str]) -> None:
    assert {style: body(program, style) for style in texts} == texts
