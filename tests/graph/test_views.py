"""Views: the normal form is exact and unique, and has at most as many calls as the chain."""

from __future__ import annotations

import itertools
import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import nestarray as na
from nestarray.graph.node import Aval, Call, Input, Node
from nestarray.graph.passes.view_calls import Step, steps
from nestarray.graph.passes.views import View
from nestarray.sizes import named, value_at

BATCH, LENGTH = named("batch"), named("length")
Sizes = tuple[Any, ...]


def call(x: Node, op: str, *args: Any, shape: Sizes, **kwargs: Any) -> Node:
    aval = Aval(tuple(shape), na.float32)
    function = getattr(na, op)
    return Call(op, target=function, target_name=op, args=(x, *args), kwargs=kwargs, aval=aval)


def array(shape: Sizes) -> Node:
    return Input("x", source="x", aval=Aval(tuple(shape), na.float32))


def calls_of(node: Node) -> list[Node]:
    return [*calls_of(node.args[0]), node] if isinstance(node, Call) else []


def view_of(node: Node) -> View | None:
    calls = calls_of(node)
    view = View.of(calls[0])
    for each in calls[1:]:
        view = None if view is None else view.then(each)
    return view


def at(sizes: Sizes, values: dict[str, int]) -> tuple[int, ...]:
    return tuple(value_at(n, values) for n in sizes)


def run(calls: list[Step], x: Any, values: dict[str, int]) -> Any:
    for op, argument, shape in calls:
        argument = at(argument, values) if op in ("reshape", "broadcast_to") else argument
        x = na.flip(x, axis=argument) if op == "flip" else getattr(na, op)(x, argument)
        assert x.shape == at(shape, values)
    return x


def positions(shape: tuple[int, ...]) -> Any:
    return np.arange(math.prod(shape)).reshape(shape)


def expected(node: Node, values: dict[str, int]) -> Any:
    """The value of a chain, call by call."""
    if isinstance(node, Input):
        return positions(at(node.aval.shape, values))
    x, shape = expected(node.args[0], values), at(node.aval.shape, values)
    is_shaped = node.target_name in ("reshape", "broadcast_to")
    y = node.target(x, *((shape,) if is_shaped else node.args[1:]), **node.kwargs)
    assert y.shape == shape
    return y


@st.composite
def chains(draw: Any, sizes: Sizes, longest: int = 5, *, repeats: bool = True) -> Node:
    """A chain of calls; each axis is drawn as the list of sizes of which it is the product."""
    axes = [
        draw(st.lists(st.sampled_from(sizes), max_size=2)) for _ in range(draw(st.integers(1, 3)))
    ]
    x = array(tuple(map(math.prod, axes)))
    for _ in range(draw(st.integers(1, longest))):
        ops = ["reshape", "permute_dims", "getitem", "flip", *["broadcast_to"] * repeats]
        op, rank = draw(st.sampled_from(ops)), len(axes)
        args: tuple[Any, ...] = ()
        kwargs: dict[str, Any] = {}
        if op == "reshape":
            parts: list[list[Any]] = [[]]
            for part in [[n] for axis in axes for n in axis] + [[]] * draw(st.integers(0, 2)):
                (parts[-1].extend if draw(st.booleans()) else parts.append)(part)
            axes = parts
        elif op == "permute_dims":
            order = draw(st.permutations(range(rank)))
            axes, args = [axes[i] for i in order], (tuple(order),)
        elif op == "flip":
            kwargs = {"axis": tuple(i for i in range(rank) if draw(st.booleans()))}
        elif op == "broadcast_to":
            axes = [axis or [draw(st.sampled_from([1, *sizes]))] for axis in axes]
            axes = [[n for n in axis if n != 1] for axis in axes]
            axes = [*[[draw(st.sampled_from(sizes))]] * draw(st.integers(0, 1)), *axes]
        else:
            items, left = [], []
            has_new_axes = draw(st.booleans())  # of a single call
            for axis in axes:
                if has_new_axes and draw(st.booleans()):
                    items.append(None)
                    left.append([])
                size = math.prod(axis)
                kinds = ["whole"] if has_new_axes else ["whole", "first", "last", "part"]
                item = draw(st.sampled_from(kinds))
                if item == "part" and isinstance(size, int):
                    start, stop = draw(st.integers(0, size - 1)), draw(st.integers(1, size))
                    items.append(
                        slice(min(start, stop - 1), stop, draw(st.sampled_from([None, 2])))
                    )
                    left.append([len(range(size)[items[-1]])])
                elif item in ("first", "last"):
                    items.append(0 if item == "first" else -1)
                elif item == "part" and len(axis) == 1:
                    items.append(slice(1, None))
                    left.append([size - 1])
                else:
                    items.append(slice(None))
                    left.append(axis)
            axes, args = [[n for n in axis if n != 1] for axis in left], (tuple(items),)
        shape = tuple(map(math.prod, axes))
        args = (shape,) if op in ("reshape", "broadcast_to") else args
        x = call(x, op, *args, shape=shape, **kwargs)
    return x


@settings(max_examples=150, deadline=None)
@given(chain=chains((2, 3, 4)))
def test_steps_compute_the_view(chain: Node) -> None:
    view = view_of(chain)
    if view is not None:
        assert view.shape == chain.aval.shape
        calls = steps(view)
        assert calls is not None
        x = expected(array(view.base), {})
        np.testing.assert_array_equal(run(calls, x, {}), expected(chain, {}))


@settings(max_examples=150, deadline=None)
@given(chain=chains((2, 3, BATCH, LENGTH)))
def test_steps_compute_the_view_at_open_sizes(chain: Node) -> None:
    view = view_of(chain)
    if view is None or (calls := steps(view)) is None:
        return
    for values in ({"batch": 5, "length": 7}, {"batch": 1, "length": 2}, {"batch": 8, "length": 8}):
        if all(min([*at(each.aval.shape, values), 1]) == 1 for each in calls_of(chain)):
            y = expected(chain, values)
            np.testing.assert_array_equal(run(calls, expected(array(view.base), values), values), y)


@settings(max_examples=150, deadline=None)
@given(chain=chains((2, 3, 4), repeats=False))
def test_steps_are_as_few_as_the_calls(chain: Node) -> None:
    view = view_of(chain)
    if view is not None:
        assert len(steps(view) or ()) <= len(calls_of(chain))


@pytest.mark.parametrize("base", [(4,), (2, 3), (2, 1, 2)])
def test_views_are_equal_if_they_select_the_same_elements(base: Sizes) -> None:
    """All chains of two or three calls of a small array, by the elements that they select."""

    def calls(x: Node) -> list[Node]:
        shape = x.aval.shape
        rank, count = len(shape), math.prod(shape)
        shapes = {(count,), (2, count // 2), (count // 2, 2), (1, *shape), (*shape, 1)}
        new = [call(x, "reshape", s, shape=s) for s in shapes if math.prod(s) == count]
        for order in itertools.permutations(range(rank)):
            new.append(call(x, "permute_dims", order, shape=tuple(shape[i] for i in order)))
        for axis, size in enumerate(shape):
            for item in (
                0,
                -1,
                slice(0, 2),
                slice(1, None),
                slice(None, None, 2),
                slice(None, None, -1),
            ):
                left = [len(range(size)[item])] if isinstance(item, slice) else []
                index = (slice(None),) * axis + (item,)
                new.append(
                    call(x, "getitem", index, shape=(*shape[:axis], *left, *shape[axis + 1 :]))
                )
        wide = tuple(2 if n == 1 else n for n in shape)
        new += [call(x, "broadcast_to", s, shape=s) for s in (wide, (2, *shape))]
        return [each for each in new if 0 not in each.aval.shape]

    selected: dict[Any, View] = {}
    level = [array(base)]
    for _ in range(3 if len(base) == 1 else 2):
        level = [each for x in level for each in calls(x)]
        for chain in level:
            view = view_of(chain)
            y = expected(chain, {})
            if view is not None:
                assert selected.setdefault((y.shape, y.tobytes()), view) == view
    assert len(selected) == len(set(selected.values())) > 100
