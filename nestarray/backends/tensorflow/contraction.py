"""TensorFlow: `nestarray.ops.contraction`."""

from __future__ import annotations

import string
from typing import Any

import tensorflow as tf

from nestarray.backends import xp
from nestarray.backends.base import supports
from nestarray.backends.checks.shapes import check_tensordot
from nestarray.backends.tensorflow.promotion import promoted, promoting
from nestarray.numerics.axes import check_contracted, many_axes

# Integer dtype → a dtype for which TensorFlow has a matmul kernel.
_WIDER = {
    tf.int8: tf.int32, tf.int16: tf.int32, tf.uint8: tf.int32,
    tf.uint16: tf.int32, tf.uint32: tf.int64, tf.uint64: tf.int64,
}  # fmt: skip


def _matmul(x1: Any, x2: Any, /) -> Any:
    wider = _WIDER.get(x1.dtype)
    if wider is not None:
        return tf.cast(_matmul(tf.cast(x1, wider), tf.cast(x2, wider)), x1.dtype)
    rank1, rank2 = len(x1.shape), len(x2.shape)
    if rank1 > 1 and rank2 > 1:
        return tf.matmul(x1, x2)
    if rank1 == 1 and rank2 == 1:
        return tf.squeeze(tf.matmul(x1[None, :], x2[:, None]), (-2, -1))
    if rank1 == 1:
        return tf.squeeze(tf.matmul(x1[None, :], x2), -2)
    return tf.squeeze(tf.matmul(x1, x2[:, None]), -1)


matmul = promoting(_matmul)


def _is_one_product(x: Any, weight: Any, bias: Any = None) -> bool:
    if x.dtype != weight.dtype or x.dtype in _WIDER or x.dtype.is_bool:
        return False
    sizes = x.shape.as_list()
    is_one = len(sizes) >= 2 and len(weight.shape) == 2 and None not in sizes[1:]
    return is_one and (bias is None or bias.shape == weight.shape[:1])


@supports(_is_one_product)
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/matmul with a transposed weight.

    One matrix product; with batch axes TensorFlow would multiply each example separately.
    """
    sizes = x.shape.as_list()
    flat = x if len(sizes) == 2 else tf.reshape(x, (-1, sizes[-1]))
    out = tf.matmul(flat, weight, transpose_b=True)
    if len(sizes) > 2:
        out = tf.reshape(out, (-1 if sizes[0] is None else sizes[0], *sizes[1:-1], out.shape[-1]))
    return out if bias is None else xp.add(out, bias)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/tensordot"""
    check_contracted(axes, "tensordot")
    x1, x2 = promoted((x1, x2))
    if x1.shape.is_fully_defined() and x2.shape.is_fully_defined():
        # TensorFlow flattens the axes without a check of each length
        check_tensordot("tensordot", {"x1": x1, "x2": x2, "axes": axes})
    if isinstance(axes, (tuple, list)):
        axes = tuple(
            list(many_axes(a, len(x.shape), "tensordot", "axes")) for a, x in zip(axes, (x1, x2))
        )
    wider = _WIDER.get(x1.dtype)
    if wider is not None:
        product = tf.tensordot(tf.cast(x1, wider), tf.cast(x2, wider), axes)
        return tf.cast(product, x1.dtype)
    return tf.tensordot(x1, x2, axes)


def einsum(subscripts: str, /, *operands: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/einsum"""
    operands = promoted(operands)
    subscripts = subscripts.replace(" ", "")
    terms, arrow, result = subscripts.partition("->")
    if not arrow and "..." in terms:
        subscripts = f"{terms}->{_implicit_result(terms)}"
    elif "..." in terms and "..." not in result:
        subscripts, operands = _named(subscripts, operands)
    dtype = operands[0].dtype
    wider = _WIDER.get(dtype)
    factors = subscripts.partition("->")[0].split(",")
    is_product_of_matrices = len(factors) == 2 and _has_own_axes(factors, subscripts)
    if dtype.is_floating and dtype.size == 2 and not is_product_of_matrices:
        wider = tf.float32  # other sums are rounded at each step
    if wider is None:
        return _einsum(subscripts, operands)
    return tf.cast(_einsum(subscripts, [tf.cast(x, wider) for x in operands]), dtype)


def _has_own_axes(factors: list[str], subscripts: str) -> bool:
    """Whether each of two factors has an axis of the result that the other lacks."""
    result = set(subscripts.partition("->")[2])
    first, second = map(set, factors)
    return bool((first - second) & result and (second - first) & result)


def _einsum(subscripts: str, operands: Any) -> Any:
    try:
        return tf.einsum(subscripts, *operands)
    except (ValueError, tf.errors.InvalidArgumentError):
        without_ones = _without_ones(subscripts, operands)
        if without_ones is None:
            raise
    subscripts, operands = without_ones
    return tf.einsum(subscripts, *operands)


def _without_ones(subscripts: str, operands: Any) -> tuple[str, list[Any]] | None:
    """The equation without axes of length 1 whose letters have other lengths elsewhere.

    The other frameworks broadcast these. None if no axis needs it.
    """
    terms, arrow, result = subscripts.partition("->")
    if len(terms.split(",")) != len(operands):
        return None
    if not arrow:
        result = _implicit_result(terms)
    if "..." in terms:
        terms, dots = _with_letters(terms, operands)
        result = result.replace("...", dots)
    if any(len(term) != len(x.shape) for term, x in zip(terms.split(","), operands)):
        return None
    letters = [list(zip(term, x.shape)) for term, x in zip(terms.split(","), operands)]
    longer = {c for axes in letters for c, length in axes if length != 1}
    kept, arrays = [], []
    for axes, x in zip(letters, operands):
        if len(dict(axes)) != len(axes):  # a diagonal
            return None
        single = [i for i, (c, length) in enumerate(axes) if length == 1 and c in longer]
        kept.append("".join(c for i, (c, _) in enumerate(axes) if i not in single))
        arrays.append(tf.squeeze(x, single) if single else x)
    if ",".join(kept) == terms:
        return None
    return f"{','.join(kept)}->{result}", arrays


def _implicit_result(terms: str) -> str:
    """The letters that occur once, in order, after the axes of ``...``."""
    letters = sorted(c for c in set(terms) - {*",."} if terms.count(c) == 1)
    return "".join(["..." if "..." in terms else "", *letters])


def _with_letters(terms: str, operands: Any) -> tuple[str, str]:
    """The terms with letters for the axes of ``...``, and these letters."""
    free = "".join(c for c in string.ascii_letters if c not in terms)
    named, most = [], 0
    for term, x in zip(terms.split(","), operands):
        if "..." in term:
            count = len(x.shape) - len(term) + 3
            term = term.replace("...", free[:count][::-1])  # from the last axis on
            most = max(most, count)
        named.append(term)
    return ",".join(named), free[:most][::-1]


def _named(subscripts: str, operands: Any) -> tuple[str, list[Any]]:
    """An equation with letters for the axes of ``...``, which it sums.

    TensorFlow requires axes of ``...`` in the result. Axes of length 1 broadcast and get no
    letter.
    """
    terms, result = subscripts.split("->")
    free = [x for x in string.ascii_letters if x not in subscripts]
    named, arrays = [], []
    for term, x in zip(terms.split(","), operands, strict=True):
        before, dots, after = term.partition("...")
        start, count = len(before), (len(x.shape) - len(before) - len(after)) if dots else 0
        letters = free[:count][::-1]  # from the last axis on, as shapes broadcast
        single = [i for i in range(start, start + count) if x.shape[i] == 1]
        kept = [c for i, c in enumerate(letters, start) if i not in single]
        named.append(before + "".join(kept) + after)
        arrays.append(tf.squeeze(x, single) if single else x)
    return f"{','.join(named)}->{result}", arrays
