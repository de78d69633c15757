"""`remove_dead_code` in loops: carries that only feed themselves, and results that nothing reads."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.graph import passes
from nestarray.graph.node import Node, all_calls

_LOOPS = ("scan", "while_loop", "fori_loop")


def _loops(graph: na.Graph) -> list[Node]:
    names = {f"na.{name}" for name in _LOOPS}
    return [node for node in all_calls(graph.calls) if node.target_name in names]


def _num_carries(node: Node) -> int:
    return len(node.args[{"na.scan": 1, "na.while_loop": 2, "na.fori_loop": 3}[node.target_name]])


def _looped(kind: str, step: Any, carry: Any) -> Any:
    """The carry after three steps."""
    if kind == "scan":
        return na.scan(lambda c, _: (step(c), None), carry, length=3)[0]
    if kind == "fori_loop":
        return na.fori_loop(0, 3, lambda i, c: step(c), carry)
    count = na.zeros((), dtype=na.int32, like=carry[0])
    return na.while_loop(
        lambda c: na.less(c[0], 3), lambda c: (na.add(c[0], 1), step(c[1])), (count, carry)
    )[1]


@settings(max_examples=15)
@given(
    kind=st.sampled_from(_LOOPS),
    edges=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=4, max_size=4),
    read=st.sets(st.integers(0, 3), min_size=1),
    is_nested=st.booleans(),
)
def test_the_carries_that_stay_are_those_that_results_depend_on(
    kind: str, edges: list[list[bool]], read: set[int], is_nested: bool
) -> None:
    def step(carry: Any) -> Any:
        given = [[x for x, edge in zip(carry, row, strict=True) if edge] for row in edges]
        return tuple([sum(xs, 1.0 * xs[0]) if xs else x * 0.5 for xs, x in zip(given, carry)])

    def program(*arrays: Any) -> Any:
        outer = (lambda c: _looped("scan", step, c)) if is_nested else step
        last = _looped(kind, outer, arrays)
        return [last[i] for i in sorted(read)]

    arrays = [np.full(2, float(i)) for i in range(4)]
    graph = na.trace_graph(program, *arrays)
    short = passes.remove_dead_code(graph)
    depends = np.array(edges) | np.eye(4, dtype=bool)
    for row, own in zip(depends, edges, strict=True):
        row[:] = own if any(own) else row
    reach = np.isin(np.arange(4), sorted(read))
    for _ in range(4):
        reach = reach | (reach @ depends)
    counter = kind == "while_loop"
    assert _num_carries(_loops(short)[-1]) == reach.sum() + counter
    for got, want in zip(short(*arrays), program(*arrays), strict=True):
        np.testing.assert_array_equal(got, want)


def test_results_and_rows_that_nothing_reads_go() -> None:
    def program(xs: Any, ys: Any, zs: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            x, y, z = row
            return (c[0] + x, c[1] + 1.0), (c[0], y, c[1] * z)

        (total, _), (_, seen, _) = na.scan(step, (xs[0], ys[0]), (xs, ys, zs))
        return total, seen

    arrays = [np.arange(6.0).reshape(3, 2) + i for i in range(3)]
    (loop,) = _loops(passes.remove_dead_code(na.trace_graph(program, *arrays)))
    (total, seen), (carried, stacked) = program(*arrays), loop.args[0].output
    assert [len(x) for x in (*loop.args[1:], carried, stacked)] == [1, 2, 1, 1]
    short = passes.remove_dead_code(na.trace_graph(program, *arrays))
    np.testing.assert_array_equal(short(*arrays)[0], total)
    np.testing.assert_array_equal(short(*arrays)[1], seen)


def test_a_scan_keeps_the_number_and_the_framework_of_its_steps() -> None:
    def of_rows(x: Any) -> Any:
        return na.scan(lambda c, row: (c + 1.0, x[0] * 2.0), x[0], x)[1]

    def of_numbers(x: Any) -> Any:
        return na.scan(lambda c, _: (c + 1.0, x * 2.0), x, length=3)[1]

    x = torch.arange(6.0).reshape(3, 2)
    for program in (of_rows, of_numbers):
        short = passes.remove_dead_code(na.trace_graph(program, x))
        torch.testing.assert_close(short(x), program(x))


def _counted(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        i, h = carry
        return (i + 1, jnp.tanh(h + row)), h

    return jax.lax.scan(step, (0, x[0]), x)


def test_lowered_loops_of_jax_have_no_unused_counter() -> None:
    x = jnp.ones((5, 3))
    graph = na.trace_graph(lambda x: _counted(x)[1], x)
    lowered = graph.lower()
    assert [_num_carries(node) for node in _loops(lowered)] == [1]
    assert [_num_carries(node) for node in _loops(na.trace_graph(_counted, x).lower())] == [2]
    lowered.verify().raise_if_failed()


def test_lowered_recurrent_networks_of_keras_have_no_counters() -> None:
    keras.utils.clear_session()
    inputs = keras.Input((5, 3))
    net = keras.Model(inputs, keras.layers.LSTM(4, return_sequences=True)(inputs))
    lowered = na.trace_graph(net, np.ones((2, 5, 3), "float32")).lower()
    assert [_num_carries(node) for node in _loops(lowered)] == [2]
    assert not any(node.aval and node.aval.dtype == na.int32 for node in lowered.nodes)
    lowered.verify().raise_if_failed()
