"""Whole programs in the styles of TensorFlow become graphs that compute and train the same."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import nestarray as na
from nestarray import errors
from tests.importers.tensorflow.keras_programs import GraphNetwork
from tests.importers.tensorflow.layers import verify
from tests.importers.tensorflow.programs import PROGRAMS, ROWS, TRAINED

TARGETS = ("numpy", "torch", pytest.param("jax", marks=pytest.mark.full))  # JAX compiles each
BEHAVIOURS = [*[(name, False) for name in PROGRAMS], *[(name, True) for name in TRAINED]]


@pytest.mark.release("target")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "train"), BEHAVIOURS)
@pytest.mark.one_in(32)
def test_programs_compute_and_train_the_same(name: str, train: bool, target: str) -> None:
    keras.utils.set_random_seed(0)
    source, inputs = PROGRAMS[name]()
    verify(source, inputs, target, train=train)


def test_a_choice_of_behaviour_is_no_input():
    source, inputs = PROGRAMS["residual"]()  # is_training has no default
    graph = na.trace_graph(source, *inputs)
    assert [node.path for node in graph.inputs] == ["x"]
    assert not graph.returns_state
    assert na.trace_graph(source, *inputs, True).returns_state
    assert na.trace_graph(source, *inputs, is_training=True).returns_state


@pytest.mark.full
def test_sizes_that_values_decide_are_not_compiled():
    model = GraphNetwork()
    edges = np.asarray([[0, 1], [0, 2], [1, 0], [2, 3], [3, 0]])
    model([ROWS, edges])
    graph = na.trace_graph(model, [ROWS, edges]).to_backend("jax")
    node = graph.sized_by_values
    assert node is not None
    assert node.origin == "UnsortedSegmentSum"
    x = [na.to_backend(each, "jax") for each in (ROWS, edges)]
    assert graph(x).shape == (4, 3)
    lowered = graph.lower()
    lowered.verify().raise_if_failed()
    kept = {node.target_name for node in lowered.calls if not node.target_name.startswith("na.")}
    assert "tf.raw_ops.UnsortedSegmentSum" in kept
    with pytest.raises(errors.UnsupportedError, match="values decide the size of 'unsorted_seg"):
        graph.compile()(x)
    with pytest.raises(Exception, match="The problem arose with the `int` function"):
        na.jit(graph)(x)
