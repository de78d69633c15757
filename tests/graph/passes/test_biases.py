"""Biases of convolutions and products."""

from __future__ import annotations

import pytest

from nestarray.graph.passes.biases import fuse_biases, fuse_products
from tests.graph.passes.programs import applied, called

CONVOLUTION = """
def graph(x, w, b):  # float32[1, 7, 5, 3], float32[2, 2, 3, 4], float32[4]
    conv = na.conv(x, w, data_format='channels_last', weight_format='channels_last')
    row = na.reshape(b, (1, 1, 1, -1))
    y = na.add(conv, row)
    return y
"""


def test_a_convolution_with_channels_last_takes_a_row() -> None:
    assert called(applied(fuse_biases, CONVOLUTION)) == ["conv"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(1, 1, 1, -1)", "(1, 1, 4, 1)"),  # along the width
        ("return y", "return y, conv"),  # read twice
        ("row = na.reshape(b, (1, 1, 1, -1))", "row = na.broadcast_to(b, (1, 6, 4, 4))"),
        ("conv(x, w, ", "conv(x, w, b, "),  # which has one
        ("na.add", "na.multiply"),
    ],
)
def test_other_sums_stay(old: str, new: str) -> None:
    calls = called(applied(fuse_biases, CONVOLUTION.replace(old, new)))
    assert "conv" in calls
    assert {"add", "multiply"} & {*calls}


PRODUCT = """
def graph(x, w, b):  # float32[2, 5, 3], float32[4, 3], float32[4]
    kernel = na.permute_dims(w, (1, 0))
    product = na.matmul(x, kernel)
    row = na.reshape(b, (1, 1, -1))
    y = na.add(row, product)
    return y
"""


def test_the_weight_is_not_transposed_twice() -> None:
    assert called(applied(fuse_products, PRODUCT)) == ["linear"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return y", "return y, product"),
        ("float32[4]", "float32[1]"),  # the same number for all
        ("float32[4]", "float64[4]"),
        ("float32", "int32"),
    ],
)
def test_other_products_stay(old: str, new: str) -> None:
    assert "matmul" in called(applied(fuse_products, PRODUCT.replace(old, new)))


def test_products_in_the_steps_of_a_loop() -> None:
    text = """
    def graph(x, w, b):  # float32[2, 3], float32[3, 3], float32[3]
        def step(i, carry):  # int64[], ...
            (h,) = carry  # float32[2, 3]
            product = na.matmul(h, w)
            total = na.add(product, b)
            return (total,)
        loop = na.fori_loop(0, 2, step, (x,))
        y = loop[0]
        return y
    """
    assert "linear" in called(applied(fuse_products, text))
