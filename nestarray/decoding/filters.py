"""Filters of logits: tokens that are not drawn get −∞."""

from __future__ import annotations

import math
from typing import Any

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.typing import Array


def top_k(logits: Array, k: int) -> Array:
    """The k largest logits, and −∞ for the others; logits equal to the k-th stay.

    Args:
        logits: `(*batch, tokens)`, floating.
        k: the number of tokens, at least 1; all stay if there are not more.

    Returns:
        logits of the same shape and dtype.

    Raises:
        ArgumentError: `k` is not a positive integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.decoding.top_k(np.asarray([0.1, 3.0, 2.0]), 2)
        array([-inf,   3.,   2.])

    References:
        Fan, Lewis and Dauphin, Hierarchical neural story generation, 2018.
        https://arxiv.org/abs/1805.04833
    """
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise ArgumentError(f"decoding: top_k: got {k!r}, expected a positive integer")
    largest = ops.top_k(logits, min(k, logits.shape[-1])).values
    return _without(logits, ops.less(logits, largest[..., -1:]))


def top_p(logits: Array, p: float) -> Array:
    """The fewest tokens whose probabilities sum to p or more, and −∞ for the others.

    Tokens enter in the order of their probabilities, so the likeliest always stays; tokens as likely
    as the last that enters stay too.

    Args:
        logits: `(*batch, tokens)`, floating.
        p: a probability, above 0 and at most 1.

    Returns:
        logits of the same shape and dtype.

    Raises:
        ArgumentError: `p` is out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.decoding.top_p(np.log(np.asarray([0.5, 0.2, 0.3])), 0.75).round(2)
        array([-0.69,  -inf, -1.2 ])

    References:
        Holtzman et al., The curious case of neural text degeneration, 2020.
        https://arxiv.org/abs/1904.09751
    """
    if not isinstance(p, (int, float)) or not 0 < p <= 1:
        raise ArgumentError(f"decoding: top_p: got {p!r}, expected a number above 0 and at most 1")
    ordered = ops.sort(logits, descending=True)
    probabilities = ops.softmax(ordered)
    before = ops.subtract(ops.cumulative_sum(probabilities, axis=-1), probabilities)
    entering = ops.where(ops.less(before, p), ordered, math.inf)
    return _without(logits, ops.less(logits, ops.min(entering, axis=-1, keepdims=True)))


def _without(logits: Any, is_dropped: Any) -> Any:
    return ops.where(is_dropped, -math.inf, logits)
