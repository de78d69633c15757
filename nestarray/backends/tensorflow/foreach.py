"""TensorFlow: ops on the leaves of a whole tree in one compiled call.

What is called is the kernel that runs a function of a graph: a ``tf.function`` looks at
each of its arguments in Python, which takes longer than adding them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

from nestarray.backends.foreach import Columns, Run, parts, when_it_pays
from nestarray.typing import NUMBERS

_EAGER = tf.__internal__.EagerTensor  # type(tf.constant(…)) is another while a graph is made


def covers(t: type) -> bool:
    """Whether arguments of type `t` are tensors that are there, or numbers."""
    return t is _EAGER or t in NUMBERS


def _as_written() -> bytes:
    """Settings that keep TensorFlow from rewriting: x + 0.0, for one, is not x where x is −0."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config.SerializeToString()


_AS_WRITTEN = _as_written()


def of_op(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...] | None]:
    """`function`, which takes a leaf of each argument, on all leaves."""

    def prepare(columns: Columns) -> Run:
        numbers = [c for c in columns if c.__class__ in NUMBERS]
        functions = [_graph(function, part) for part in parts(columns)]

        def run(*columns: Any) -> tuple[Any, ...]:
            given = [c for c in columns if c.__class__ in NUMBERS]
            if [repr(c) for c in given] != [repr(c) for c in numbers]:
                raise LookupError("other numbers than were compiled")
            results: list[Any] = []
            for graph, part in zip(functions, parts(columns), strict=True):
                found = tf.raw_ops.PartitionedCall(
                    args=_tensors(part), Tout=graph.dtypes, f=graph.function,
                    config_proto=_AS_WRITTEN,
                )  # fmt: skip
                results += found
            return tuple(results)

        return run

    return when_it_pays(prepare, _is_unobserved)


def _is_unobserved() -> bool:
    """Whether no tape records and no graph is being made."""
    return tf.executing_eagerly() and not record.could_possibly_record()


class _Graph:
    def __init__(self, function: Any) -> None:
        self.function = function
        self.dtypes = [t.dtype for t in function.outputs]


def _graph(function: Callable[..., Any], part: Columns) -> _Graph:
    """The graph of `function` on columns like `part`, of any shapes and of these dtypes."""

    def leafwise(*tensors: Any) -> tuple[Any, ...]:
        rest = iter(tensors)
        rows: list[Any] = []
        for c in part:
            if c.__class__ is tuple:
                rows.append([next(rest) for _ in c])
            else:
                rows.append(repeat(c if c.__class__ in NUMBERS else next(rest)))
        return tuple(map(function, *rows))

    specs = [tf.TensorSpec(None, t.dtype) for t in _tensors(part)]
    return _Graph(tf.function(leafwise, autograph=False).get_concrete_function(*specs))


def _tensors(part: Columns) -> list[Any]:
    found: list[Any] = []
    for c in part:
        if c.__class__ is tuple:
            found += c
        elif c.__class__ not in NUMBERS:
            found.append(c)
    return found
