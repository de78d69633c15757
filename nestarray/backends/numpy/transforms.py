"""NumPy: `nestarray.transforms`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import tree


def _autodiff() -> Any:
    from nestarray.transforms import autodiff  # which is written in ops

    return autodiff


def value_and_grad(
    fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str
) -> tuple[Any, Any, list[Any]]:
    """The pullback of 1; see `nestarray.transforms.autodiff`."""
    kept: list[Any] = []  # aux is any nest

    def flat(*values: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        value, aux = fn(*values)
        found, structure = tree.flatten(aux)
        kept[:] = [structure]
        return (value,), tuple(found)

    (value,), aux, pull = vjp(flat, leaves, name)
    return value, tree.unflatten(kept[0], list(aux)), pull([np.ones((), value.dtype)])


def vjp(fn: Callable[..., Any], arrays: list[Any], name: str) -> tuple[Any, Any, Any]:
    """Reverse mode of `nestarray.transforms.autodiff`."""
    found, others, pull = _autodiff().vjp(fn, arrays, name)
    return found, others, lambda cotangents: _owned(pull(cotangents), cotangents)


def _owned(gradients: list[Any], cotangents: list[Any]) -> list[Any]:
    """Arrays that may be written to: no views, and no array twice."""
    seen = set(map(id, cotangents))
    found = []
    for g in gradients:
        if isinstance(g, (np.ndarray, np.generic)):
            if id(g) in seen or getattr(g, "base", None) is not None or not g.flags.writeable:
                g = np.array(g)
            seen.add(id(g))
        found.append(g)
    return found


def jvp(
    fn: Callable[..., Any], arrays: list[Any], tangents: list[Any], name: str
) -> tuple[Any, Any, Any]:
    """Forward mode of `nestarray.transforms.autodiff`."""
    return _autodiff().jvp(fn, arrays, tangents, name)


def linearize(fn: Callable[..., Any], arrays: list[Any]) -> tuple[Any, Any, Any]:
    """The transposed pullback of `nestarray.transforms.autodiff`."""
    return _autodiff().linearize(fn, arrays)


def custom_vjp(
    value: Callable[..., Any],
    with_residuals: Callable[..., Any],
    pull: Callable[..., Any],
    arrays: list[Any],
    push: Callable[..., Any] | None,
) -> Any:
    """A node of the tape of `nestarray.transforms.autodiff`."""
    return _autodiff().custom_vjp(value, with_residuals, pull, arrays, push)


def checkpoint(fn: Callable[..., Any], arrays: list[Any]) -> Any:
    """A node of the tape of `nestarray.transforms.autodiff`, which keeps the arguments only."""
    return _autodiff().checkpoint(fn, arrays)


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> list[Any]:
    """One call for each row. Of no rows the results are known by a row of zeros."""
    if not len(arrays[0]):
        one = fn(*(np.zeros(x.shape[1:], x.dtype) for x in arrays))
        return [np.zeros((0, *np.shape(x)), x.dtype) for x in one]
    return [np.stack(column) for column in zip(*(fn(*row) for row in zip(*arrays)))]
