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

    (value,), aux, pull = vjp(flat, leaves, name, once=True)
    return value, tree.unflatten(kept[0], list(aux)), pull([np.ones((), value.dtype)])


def vjp(
    fn: Callable[..., Any], arrays: list[Any], name: str, *, once: bool = False
) -> tuple[Any, Any, Any]:
    """Reverse mode of `nestarray.transforms.autodiff`."""
    found, others, pull = _autodiff().vjp(fn, arrays, name, once=once)
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


def checkpoint(fn: Callable[..., Any], arrays: list[Any], policy: Any) -> Any:
    """A node of the tape of `nestarray.transforms.autodiff`, which keeps the arguments only."""
    return _autodiff().checkpoint(fn, arrays)


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> list[Any]:
    """One call for each row. Of no rows the results are known by a row of zeros."""
    if not len(arrays[0]):
        one = fn(*(np.zeros(x.shape[1:], x.dtype) for x in arrays))
        return [np.zeros((0, *np.shape(x)), x.dtype) for x in one]
    return [np.stack(column) for column in zip(*(fn(*row) for row in zip(*arrays)))]


def vmap_with_common(
    fn: Callable[..., tuple[Any, Any]], arrays: list[Any]
) -> tuple[Any, Any, list[int]]:
    """The rows and what all have in common, and which of that is not: its bits differ."""
    first: tuple[Any, ...] = ()
    differing: dict[int, None] = {}

    def rows_of(*row: Any) -> tuple[Any, ...]:
        nonlocal first
        stacked, common = fn(*row)
        first = first or common
        for i, (x, y) in enumerate(zip(first, common, strict=True)):
            if _bits(x) != _bits(y) or _has_derivative_by(y, row):
                differing[i] = None
        return stacked

    stacked = vmap(rows_of, arrays)
    return stacked, first, list(differing)


def _bits(x: Any) -> tuple[Any, ...]:
    """What is equal for equal arrays; of those with a derivative, for the values behind."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.shape, x.dtype, x.tobytes()
    return *_bits(x.value), *_bits(getattr(x, "tangent", _NO_TANGENT))


_NO_TANGENT = np.zeros(())


def _has_derivative_by(x: Any, arrays: tuple[Any, ...]) -> bool:
    """Whether reverse mode would find a derivative of `x` by one of `arrays`, equal or not."""
    sources = {node for y in arrays for node in _nodes(y)}
    seen, ahead = set(), _nodes(x) if sources else []
    while ahead:
        node = ahead.pop()
        if node in sources:
            return True
        if node not in seen:
            seen.add(node)
            ahead.extend([parent for parent, _ in node.parents])
    return False


def _nodes(x: Any) -> list[Any]:
    """Where an array stands on the tapes of the derivatives that are taken of it."""
    found = []
    while not isinstance(x, (np.ndarray, np.generic)):
        found += [x.node] if hasattr(type(x), "node") else []
        x = x.value
    return found
