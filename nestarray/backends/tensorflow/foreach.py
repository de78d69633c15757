"""TensorFlow: ops on the leaves of a whole tree in one compiled call.

The call goes directly to the kernel of a graph function: a ``tf.function`` processes each argument
in Python, which takes longer than the addition.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

from nestarray.backends.foreach import Columns, Run, parts, when_it_pays
from nestarray.typing import NUMBERS

_EAGER = tf.__internal__.EagerTensor  # type(tf.constant(…)) differs in graphs


def covers(t: type) -> bool:
    """Whether `t` is the type of eager tensors or of Python numbers."""
    return t is _EAGER or t in NUMBERS


def _as_written() -> bytes:
    """Settings that disable rewriting of graphs: x + 0.0 is not x for x = −0."""
    config = tf.compat.v1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config.SerializeToString()


_AS_WRITTEN = _as_written()


def of_op(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...] | None]:
    """`function` of one leaf of each argument, applied to all leaves."""

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
    """Whether neither a tape nor a graph records."""
    return tf.executing_eagerly() and not record.could_possibly_record()


class _Graph:
    def __init__(self, function: Any) -> None:
        self.function = function
        self.dtypes = [t.dtype for t in function.outputs]


def _graph(function: Callable[..., Any], part: Columns) -> _Graph:
    """The graph of `function` on columns like `part`, of these dtypes and any shapes."""

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
