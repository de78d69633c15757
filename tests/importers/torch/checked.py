"""Functions that check values, whose asserts pytest does not rewrite."""

from __future__ import annotations

import warnings

import torch
from torch import nn


def padded(y):
    padded = nn.functional.pad(y, (1, 1))
    assert (padded[:, 1:-1] == y).all(), f"lost {y.sum().item()}"
    return padded


def each(y):
    assert all((row < 1e3).all() for row in y)
    assert y.min() > -1e3 and y.max() < 1e3 and not torch.isnan(y).any()  # noqa: PT018
    assert 0 <= (y > 0).sum() <= 100


def errors(y):
    if torch.isnan(y).any() or torch.isinf(y).any():
        raise ValueError("not finite")
    if not (y < 1e3).all():
        raise ValueError(f"too large: {y.max()}")
    elif (y > -1e3).all():
        y = y + 1
    else:
        raise ValueError("too small")
    return y


def messages(y):
    if y.sum() > 1e3:
        print("large")
    elif not torch.isfinite(y).all():
        warnings.warn("not finite", stacklevel=2)


def numbers(y):
    largest = y.max().item()
    assert largest < 1e3, largest
    if y.abs().max().item() > 1e3 or largest != largest:
        raise ValueError(f"{largest:.2f}")


def is_small(y):
    return not (y > 1e3).any()


def calls(y):
    assert is_small(y)
    if not is_small(y):
        raise ValueError
    torch._assert((y < 1e3).all(), "too large")
    torch.testing.assert_close(y, y)


def assigns(y):
    if (y > 0).any():
        y = y + 1
    return y


def returns(y):
    if (y > 0).any():
        return y + 1
    return y


def mode(y):
    return y + 1 if (y > 0).all() else y


def falls_back(y):
    try:
        assert (y > 0).all()
    except AssertionError:
        y = y + 1
    return y


def handled_outside(y):
    try:
        padded(y)
    except AssertionError:
        y = y + 1
    return y


def function_of_bool(y):
    assert int((y > 0).all() or False) + len(y) > 0
    if max((y > 0).all(), (y < 1).any()):
        raise ValueError


def loop(y):
    while (y < 1e3).any():
        y = y * 2
    return y
