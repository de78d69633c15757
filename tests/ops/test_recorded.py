"""Every op, recorded as a graph, printed and executed from the print, equals the plain call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.config import use_backend
from nestarray.testing import assert_close
from tests.cases import Case, convert, on_backend, rows

#: Ops that compute nothing on their arrays, and so need not be among the calls of the graph.
WITHOUT_CALL = {"shape", "asarray", "from_dlpack"}


@pytest.mark.one_in(16)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("case", "backend"), rows(one_an_op=True))
def test_record_print_replay_is_the_call(case: Case, backend: str) -> None:
    args, kwargs = on_backend(case.draw(case.dtypes[0]), backend)
    inputs: list[Any] = []
    convert((args, kwargs), inputs.append, of=type_of_arrays(backend))

    def function(unused: Any, *values: Any) -> Any:
        rest = iter(values)
        found = convert((args, kwargs), lambda _: next(rest), of=type_of_arrays(backend))
        return case.record.function(*found[0], **found[1])

    with use_backend(backend):
        unused = on_backend(np.zeros(()), backend)
        graph = na.trace_graph(function, unused, *inputs)
        names = {node.target_name for node in graph.calls} - {"getitem"}
        if case.op not in WITHOUT_CALL:
            assert names == ({f"na.{case.op}"} if inputs else set())
        namespace: dict[str, Any] = {}
        exec(str(graph), namespace)  # our own print
        replayed = namespace["graph"](
            unused, *inputs, v=graph.v, s=graph.s, constants=graph.constants
        )
        assert_close(as_list(replayed), as_list(function(unused, *inputs)))


def type_of_arrays(backend: str) -> Any:
    """What `isinstance` finds the arrays of a backend by."""
    if backend == "numpy":
        return np.ndarray
    if backend == "jax":
        import jax

        return jax.Array
    if backend == "torch":
        import torch

        return torch.Tensor
    import tensorflow as tf

    return tf.Tensor


def as_list(result: Any) -> Any:
    """Results as a list, where they are several; a graph gives named ones by name."""
    if isinstance(result, na.Container):
        result = tuple(result.values())
    return list(result) if isinstance(result, (list, tuple)) else result
