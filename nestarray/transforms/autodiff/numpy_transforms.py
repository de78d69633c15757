"""The interface `nestarray.backends.protocol.Transforms` for NumPy, which has no derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import tree
from nestarray.transforms import autodiff


def value_and_grad(
    fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str
) -> tuple[Any, Any, list[Any]]:
    """The pullback of 1."""
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
    """Reverse mode."""
    found, others, pull = autodiff.vjp(fn, arrays, name, once=once)
    return found, others, lambda cotangents: _owned(pull(cotangents), cotangents)


def _owned(gradients: list[Any], cotangents: list[Any]) -> list[Any]:
    """Writable arrays without views or duplicates."""
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
    """Forward mode."""
    return autodiff.jvp(fn, arrays, tangents, name)


def linearize(fn: Callable[..., Any], arrays: list[Any]) -> tuple[Any, Any, Any]:
    """The transposed pullback."""
    return autodiff.linearize(fn, arrays)


def custom_vjp(
    value: Callable[..., Any],
    with_residuals: Callable[..., Any],
    pull: Callable[..., Any],
    arrays: list[Any],
    push: Callable[..., Any] | None,
) -> Any:
    """A node of the tape."""
    return autodiff.custom_vjp(value, with_residuals, pull, arrays, push)


def without_gradient(x: Any) -> Any:
    """Gradients that are None end here."""
    return x


def checkpoint(fn: Callable[..., Any], arrays: list[Any], policy: Any) -> Any:
    """A node of the tape that stores the arguments only."""
    return autodiff.checkpoint(fn, arrays)


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> list[Any]:
    """Call `fn` on each row and stack; without rows, a row of zeros gives shapes and dtypes."""
    if not len(arrays[0]):
        one = fn(*(np.zeros(x.shape[1:], x.dtype) for x in arrays))
        return [np.zeros((0, *np.shape(x)), x.dtype) for x in one]
    return [np.stack(column) for column in zip(*(fn(*row) for row in zip(*arrays)))]


def vmap_with_common(
    fn: Callable[..., tuple[Any, Any]], arrays: list[Any]
) -> tuple[Any, Any, list[int]]:
    """Return batched outputs, unbatched outputs, and the indices that should have been batched."""
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
    """A key that is equal for bitwise equal arrays, tangents included."""
    if isinstance(x, (np.ndarray, np.generic)):
        return x.shape, x.dtype, x.tobytes()
    return *_bits(x.value), *_bits(getattr(x, "tangent", _NO_TANGENT))


_NO_TANGENT = np.zeros(())


def _has_derivative_by(x: Any, arrays: tuple[Any, ...]) -> bool:
    """Whether `x` depends on one of `arrays` on a tape."""
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
    """The nodes of an array on the tapes of the derivatives being taken."""
    found = []
    while not isinstance(x, (np.ndarray, np.generic)):
        found += [x.node] if hasattr(type(x), "node") else []
        x = x.value
    return found
