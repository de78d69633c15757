"""Functions of JAX, NumPy and TensorFlow in upstream's style, on all other targets."""

from __future__ import annotations

import pytest
import tensorflow as tf

import nestarray as na
from nestarray.config import BACKENDS
from tests.trials import jax_programs, numpy_programs, tensorflow_programs

PROGRAMS = {
    "jax": jax_programs.TRIALS,
    "numpy": numpy_programs.TRIALS,
    "tensorflow": tensorflow_programs.TRIALS,
}
ROWS = [
    (source, name, target)
    for source, trials in PROGRAMS.items()
    for name in trials
    for target in BACKENDS
    if target != source
]


@pytest.mark.one_in(24)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("source", "name", "target"), ROWS)
def test_function(source: str, name: str, target: str) -> None:
    function, arrays = PROGRAMS[source][name]
    inputs = [x.copy() if source == "numpy" else na.to_backend(x, source) for x in arrays]
    program = tf.function(function) if source == "tensorflow" else function
    na.trace_graph(program, *inputs).to_backend(target).verify().raise_if_failed()
