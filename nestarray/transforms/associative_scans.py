"""Prefix scans of an associative operation over nests, in logarithmic depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.arguments import describe, name_of
from nestarray.transforms.carries import Expected, avals_of, take_apart
from nestarray.transforms.control_flow import find, place
from nestarray.transforms.enclosing import without_states
from nestarray.transforms.loop_arguments import axes_of
from nestarray.typing import Array, Nest


@signature_errors(callables=("fn",))
def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Nest, *, axis: int = 0, reverse: bool = False
) -> Nest:
    """All prefixes of x₀ ∘ x₁ ∘ x₂ …, for an associative operation ∘, in logarithmic depth.

    Args:
        fn: the operation: a function of two nests like `elems`, of equal lengths along `axis`,
            that combines them elementwise along `axis` and returns such a nest.
        elems: nest of arrays with equal sizes along `axis`.
        axis: the axis to scan.
        reverse: combine suffixes, from the end.

    Returns:
        nest like `elems`; element i along `axis` is x₀ ∘ … ∘ xᵢ.

    Raises:
        ArgumentError: `elems` contains no arrays; or, in a call of a `Module`, a layer in `fn`
            updates its state or draws random numbers in a loop.
        ShapeError: the arrays differ in size along `axis`, or lack the axis.
        StructureError, ShapeError, DtypeError: `fn` returned a nest unlike `elems`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.associative_scan(na.add, np.asarray([1, 2, 3, 4])).tolist()
        [1, 3, 6, 10]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.associative_scan.html
    """
    arrays, form = take_apart(elems, unfused=True)
    if not arrays:
        raise ArgumentError(
            f"associative_scan: elems: got {describe(elems)}, expected a nest that has an array"
        )
    backend, _ = place("associative_scan", arrays)
    places = axes_of(arrays, form, axis)
    apart = len(set(places)) > 1  # leaves of different ranks, counted from the end
    if apart:
        arrays = tuple([ops.moveaxis(x, axis, 0) for x in arrays])

    def put_back(found: Sequence[Any]) -> list[Any]:
        return [ops.moveaxis(x, 0, axis) for x in found] if apart else list(found)

    def combine(
        fn: Callable[..., Any], first: tuple[Any, ...], second: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        others = put_back(second)
        avals = avals_of(others, backend)
        wanted = Expected("associative_scan", "result", "elems", backend, form, avals, unfused=True)
        found = wanted.arrays(fn(form.nest(put_back(first)), form.nest(others)), fn, second[0])
        return tuple([ops.moveaxis(x, axis, 0) for x in found]) if apart else found

    run = find(backend, "associative_scan", arrays)
    remedy = "the order of the calls is open; use scan"

    def scan(each: Callable[..., Any]) -> tuple[Any, dict[str, Array]]:
        @wraps(fn)
        def operation(first: Nest, second: Nest) -> Nest:
            result, drawn = each(first, second)
            if drawn:
                raise ArgumentError(
                    f"associative_scan: fn: {name_of(fn)} draws random numbers in a loop; {remedy}"
                )
            return result

        place = 0 if apart else places[0]
        return run(partial(combine, operation), arrays, place, reverse), {}

    return form.nest(put_back(without_states("associative_scan", fn, scan, remedy)))
