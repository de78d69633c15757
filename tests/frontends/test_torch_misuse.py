"""Wrong calls that a person makes: torch refuses them, and so does the frontend, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
import nestarray.frontends.torch as frontend
from nestarray.errors import NestarrayError

X = np.arange(12, dtype="float32").reshape(3, 4) / 7

#: (the call with torch or the frontend and an array (3, 4), the frontend's message)
CALLS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "sum": (lambda t, x: t.sum(x, dim=5), "sum: dim: got 5 for an array of 2 dimensions"),
    "softmax": (lambda t, x: t.softmax(x, dim=7), "softmax: dim: got 7 for an array of 2"),
    "cat": (lambda t, x: t.cat([]), "cat: tensors: got no arrays, expected at least one"),
    "stack": (lambda t, x: t.stack([]), "stack: tensors: got no arrays, expected at least one"),
    "where": (lambda t, x: t.where(x, x, x), "where: condition: got float32, expected bool"),
    "masked_fill": (lambda t, x: t.masked_fill(x, x, 0.0), "masked_fill: mask: got float32, "),
    "masked_select": (lambda t, x: t.masked_select(x, x), "masked_select: mask: got float32, "),
    "topk": (lambda t, x: t.topk(x, 9), "topk: k: got 9, expected 0 to 4, the size of dim -1"),
    "chunk": (lambda t, x: t.chunk(x, 0), "chunk: chunks: got 0, expected at least 1"),
    "flatten": (lambda t, x: t.flatten(x, 1, 0), "flatten: start_dim: got 1, which comes after"),
    "searchsorted": (
        lambda t, x: t.searchsorted(x, x[0]),
        "searchsorted: input: got shape (4,) beside sequences of shape (3, 4)",
    ),
    "one_hot": (
        lambda t, x: t.nn.functional.one_hot(x, 3),
        "one_hot: tensor: got float32, expected integers",
    ),
    "add": (lambda t, x: t.add(x, x[:2]), "add: got arrays of shapes (3, 4) and (2, 4)"),
    "linear": (lambda t, x: t.nn.functional.linear(x, x[:, :2]), "linear: got x of shape (3, 4)"),
    "gelu": (
        lambda t, x: t.nn.functional.gelu(x, approximate="tan"),
        "gelu: approximate: got 'tan', expected 'none' or 'tanh'",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_calls_are_refused_by_name(name: str, backend: str) -> None:
    call, expected = CALLS[name]
    with pytest.raises((RuntimeError, ValueError, IndexError, TypeError)):
        call(torch, torch.from_numpy(X))
    with pytest.raises(NestarrayError) as caught:
        call(frontend, na.to_backend(X, backend))
    assert str(caught.value).startswith(expected)
