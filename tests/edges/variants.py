"""Edge inputs: variants of the arrays of a `Case`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Case, convert

Variant = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def _floating(change: Variant) -> Variant:
    """A variant of floating arrays; complex ones have it in both parts."""

    def variant(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if x.dtype.kind == "c":
            parts = change(x.real.copy(), rng), change(x.imag.copy(), rng)
            found = np.empty(parts[0].shape, x.dtype)
            found.real, found.imag = parts
            return found
        return change(x.copy(), rng) if x.dtype.kind == "f" else x

    return variant


def _with(*values: float) -> Variant:
    """Replace half of the elements by some of `values`."""

    def change(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        some = rng.choice(values, x.shape).astype(x.dtype)
        return np.where(rng.random(x.shape) < 0.5, some, x)

    return _floating(change)


def _empty(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x[:0] if x.ndim else x


def _scaled(size: Callable[[np.dtype], float]) -> Variant:
    return _floating(lambda x, rng: np.asarray(x * size(x.dtype), x.dtype))


def _extreme_integers(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if x.dtype.kind not in "iu":
        return x
    info = np.iinfo(x.dtype)
    some = rng.choice([info.min, info.max], x.shape).astype(x.dtype)
    return np.where(rng.random(x.shape) < 0.5, some, x)


VARIANTS: dict[str, Variant] = {
    "zeros": _with(0.0, -0.0),
    "infinite": _with(np.inf, -np.inf),
    "positive infinity": _with(np.inf),
    "negative infinity": _floating(lambda x, rng: np.full_like(x, -np.inf)),
    "NaN": _with(np.nan),
    "ties": _floating(lambda x, rng: np.asarray(np.round(x), x.dtype)),
    "equal": _floating(lambda x, rng: np.full_like(x, 0.5)),
    "small": _scaled(lambda dtype: float(np.finfo(dtype).smallest_normal) ** 0.49),
    "large": _scaled(lambda dtype: float(np.finfo(dtype).max) ** 0.49),
    "integers": _extreme_integers,
    "empty": _empty,
    "reversed": lambda x, rng: x[::-1] if x.ndim else x,
}


def arguments(case: Case, variant: str) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The arguments of a case with the variant of its arrays; None if none changes."""
    args, kwargs = case.draw("float64")
    rng = np.random.default_rng(len(variant))
    changed = convert(args, lambda x: VARIANTS[variant](x, rng))
    pairs: list[bool] = []
    arrays: list[np.ndarray] = []
    convert(args, lambda x: arrays.append(x))
    rest = iter(arrays)
    convert(changed, lambda x: pairs.append(_are_equal(x, next(rest))))
    return None if all(pairs) else (changed, kwargs)


def _are_equal(x: np.ndarray, y: np.ndarray) -> bool:
    return x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
