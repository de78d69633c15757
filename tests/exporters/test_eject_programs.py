"""The programs of the importers' tests as source code of each framework."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

import nestarray as na
from nestarray.errors import NestarrayError
from tests.importers.jax.programs import functions, repositories
from tests.importers.numpy.exercises import EXERCISES
from tests.importers.numpy.idioms import IDIOMS
from tests.importers.numpy.programs import PROGRAMS as NUMPY_PROGRAMS
from tests.importers.tensorflow.programs import PROGRAMS as TENSORFLOW_PROGRAMS

TARGETS = ["torch", "jax", "tensorflow", "numpy"]
IN_NUMPY = NUMPY_PROGRAMS | EXERCISES | IDIOMS
IN_JAX = functions.PROGRAMS | repositories.PROGRAMS

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # NumPy

#: Programs without a source: (name, framework, "" for all) → a part of the error.
REFUSED = {
    **dict.fromkeys(
        [(name, "numpy") for name in ("langevin", "sampled", "gpt-generation", "ppo-training")],
        "uses a random key",
    ),
    # a derivative of an operation, as an operation
    ("text_reader", "jax"): "values decide a size",
    ("text_reader", ""): "derivatives cannot be recorded",
    ("penalty_step", "torch"): "torch.uint32",
    ("penalty_step", "jax"): "reshape",
    ("penalty_step", "tensorflow"): "derivatives cannot be recorded",
    ("penalty_step", "numpy"): "derivatives cannot be recorded",
    ("diffusion", "jax"): "need float64",
    # PyTorch computes few functions of unsigned integers
    ("diffusion", "torch"): "torch.uint32",
    ("contrastive_step", "torch"): "bitwise_and_cpu",
    # keys that are arguments give other numbers outside of JAX
    ("ppo-training", "torch"): "the source differs",
}


def _check(graph: na.Graph, name: str, target: str, folder: Path) -> None:
    """The source computes what the graph computes, which `eject` compares."""
    message = REFUSED.get((name, target), REFUSED.get((name, "")))
    if message is None:
        assert graph.eject(folder / name, target).error < 1e-3
    else:
        with pytest.raises(NestarrayError, match=message):
            graph.eject(folder / name, target)
        assert not (folder / name).exists()


@pytest.mark.one_in(192)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", IN_NUMPY)
def test_programs_of_numpy(name: str, target: str, tmp_path: Path) -> None:
    program, args = IN_NUMPY[name]
    graph = na.trace_graph(program, *[np.array(x) for x in args])
    _check(graph, name, target, tmp_path)


@pytest.mark.one_in(192)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", IN_JAX)
def test_programs_of_jax(name: str, target: str, tmp_path: Path) -> None:
    program, *args = IN_JAX[name]
    _check(na.trace_graph(program, *args, v="params"), name, target, tmp_path)


@pytest.mark.one_in(192)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", TENSORFLOW_PROGRAMS)
def test_programs_of_tensorflow(name: str, target: str, tmp_path: Path) -> None:
    keras.utils.clear_session()
    keras.utils.set_random_seed(0)
    program, inputs = TENSORFLOW_PROGRAMS[name]()
    _check(na.trace_graph(program, *inputs), name, target, tmp_path)


def test_fixed_places_may_count_from_the_end(tmp_path: Path) -> None:
    graph = na.trace_graph(lambda x: x[:, np.array([-2, 0])], np.arange(12.0).reshape(3, 4))
    assert graph.eject(tmp_path / "net", "tensorflow").error < 1e-6
    assert "tf.gather(" in (tmp_path / "net" / "model.py").read_text()
