"""Custom pullbacks and rematerialized functions as nodes of the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray import ops
from nestarray.errors import UnsupportedError
from nestarray.transforms.autodiff.reverse import vjp
from nestarray.transforms.autodiff.values import Dual, Node, StandIn, Taped, is_inexact, stripped


def custom_vjp(
    value: Callable[..., tuple[Any, ...]],
    with_residuals: Callable[..., tuple[tuple[Any, ...], Any]],
    pull: Callable[[Any, Sequence[Any]], Sequence[Any]],
    arrays: list[Any],
    push: Callable[..., tuple[Any, Sequence[Any]]] | None,
) -> tuple[Any, ...]:
    """The backend interface of ``transforms.py``: the results of `value`, inexact ones first.

    Forward mode without `push` is the transpose of `pull`, which is linear.
    """
    level = _innermost(arrays)
    if not level:
        return value(*arrays)
    inner = [stripped(x, level) for x in arrays]
    moving = [i for i, x in enumerate(arrays) if x is not inner[i]]
    if isinstance(arrays[moving[0]], Dual):
        tangents = [x.tangent if i in moving else ops.zeros_like(x) for i, x in enumerate(arrays)]
        if push is not None:
            found, moved = push(inner, tangents)
        else:
            found, residuals = with_residuals(*inner)
            zeros = [ops.zeros_like(y) for y in found if is_inexact(y)]
            linear = lambda *cts: (tuple(_filled(pull(residuals, cts), inner)), ())  # noqa: E731
            moved = vjp(linear, zeros, "custom_vjp", once=True)[2](tangents)
        _refuse_captured(found, level)
        pairs = zip(found, moved)
        return (*(Dual(y, level, t) for y, t in pairs), *found[len(moved) :])
    found, residuals = with_residuals(*inner)
    if push is not None and _innermost(inner):  # outer derivatives of the value use the rule
        found = custom_vjp(value, with_residuals, pull, inner, push)
    _refuse_captured(found, level)

    def back(cotangents: list[Any]) -> list[Any]:
        given = _filled(cotangents, found)
        gradients = pull(residuals, given)
        return [gradients[i] for i in moving]

    return _on_tape(found, level, [arrays[i] for i in moving], back)


def checkpoint(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    """The backend interface of ``transforms.py``: the tape keeps only the arguments.

    A function that closes over differentiated values runs without rematerialization.
    """
    level = _innermost(arrays)
    inner = [stripped(x, level) for x in arrays]
    moving = [i for i, x in enumerate(arrays) if x is not inner[i]]
    if not level or isinstance(arrays[moving[0]], Dual):
        return fn(*arrays)
    found = fn(*inner)
    if _innermost(found) >= level:
        return fn(*arrays)

    def inexact_results(*values: Any) -> tuple[tuple[Any, ...], tuple[()]]:
        filled = list(inner)
        for i, x in zip(moving, values, strict=True):
            filled[i] = x
        return tuple([y for y in fn(*filled) if is_inexact(y)]), ()

    def back(cotangents: list[Any]) -> list[Any]:
        given = _filled(cotangents, found)
        values = [inner[i] for i in moving]
        return vjp(inexact_results, values, "checkpoint", once=True)[2](given)

    return _on_tape(found, level, [arrays[i] for i in moving], back)


def _filled(cotangents: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """A cotangent for each inexact result, or argument; zeros where there is none."""
    return [
        ops.zeros_like(y) if ct is None else ct
        for ct, y in zip(cotangents, results, strict=True)
        if is_inexact(y)
    ]


def _on_tape(
    found: Sequence[Any], level: int, parents: list[Taped], back: Callable[..., list[Any]]
) -> tuple[Any, ...]:
    node = Node([(x.node, x.place) for x in parents], back, found)
    return tuple([Taped(y, level, node, i) if is_inexact(y) else y for i, y in enumerate(found)])


def _innermost(arrays: Sequence[Any]) -> int:
    return max([x.level for x in arrays if isinstance(x, StandIn)], default=0)


def _refuse_captured(found: Sequence[Any], level: int) -> None:
    if _innermost(found) >= level:
        raise UnsupportedError(
            "custom_vjp: the function closes over an array of which a derivative is being taken, "
            "and its own derivative knows nothing of that; make it an argument"
        )
