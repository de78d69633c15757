"""Random programs compute on every target, in every form, what their framework computes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf

import nestarray as na
from nestarray.errors import NestarrayError
from nestarray.proof.comparison import Pair, compare, leaves
from tests.graph import random_programs
from tests.graph.random_programs import EXAMPLE, SOURCES, Program

#: Programs in a test of the exhaustive run, and its tests for each source.
BLOCK, BLOCKS = 50, 50
SIZES = (1, 2, 3, 9)
FILES = {"torch": "net.pt2", "jax": "net.stablehlo", "tensorflow": "net", "numpy": "net.onnx"}


def _traced(program: Program, **settings: Any) -> Any:
    function = program.function()
    if program.source == "tensorflow":
        function = tf.function(function, autograph=False)
    return na.trace_graph(function, *program.arrays(EXAMPLE), **settings)


def _values(graph: Any, target: str, _: Path) -> None:
    graph.to_backend(target).verify().raise_if_failed()


def _optimized(graph: Any, target: str, _: Path) -> None:
    graph.optimize().to_backend(target).verify().raise_if_failed()


def _source(graph: Any, target: str, folder: Path) -> None:
    graph.eject(folder / "source", target)  # it compares the source with the graph


def _file(graph: Any, target: str, folder: Path) -> None:
    graph.export(folder / FILES[target])  # it compares the file with the graph


#: The forms of a graph; a program is tested in one of them, on one target.
FORMS: tuple[Callable[[Any, str, Path], None], ...] = (_values, _optimized, _source, _file)


def _check(program: Program, folder: Path) -> None:
    """One form on one target computes what the program does."""
    rng = random.Random(program.seed)
    target, form = rng.choice(SOURCES), rng.choice(FORMS)
    form(_traced(program), target, folder)


def _check_native_module(program: Program, _: Path) -> None:
    """A module of Flax, PyTorch or TensorFlow computes what the program does."""
    graph = _traced(program)
    makers = {
        "torch": graph.to_torch_module,
        "jax": graph.to_flax_module,
        "tensorflow": graph.to_tf_module,
    }
    target = random.Random(program.seed).choice(list(makers))
    arrays = program.arrays(EXAMPLE)
    results = makers[target]()(*[na.to_backend(x, target) for x in arrays])
    pairs = zip(leaves(results), leaves(program.function()(*arrays)), strict=True)
    for (_, got), (name, expected) in pairs:
        row = compare(Pair(name, expected, got, None), 1e-4)
        assert row.ok, str(row)


def _check_sizes(program: Program, _: Path) -> None:
    """At other sizes, the graph computes the program's values, or names the size that it refuses.

    So do its lowered and its optimized form.
    """
    try:
        graph = _traced(program, dynamic={"x": {0: "n"}})
    except NestarrayError:
        return
    forms = (lambda: graph, graph.lower, graph.optimize)
    graph = random.Random(program.seed).choice(forms)()
    for size in SIZES:
        if random_programs.runs(program, size):
            try:
                graph.verify(*program.arrays(size)).raise_if_failed()
            except na.errors.ShapeError:
                continue


CHECKS = (_check, _check_native_module, _check_sizes)


def _test(check: Callable[[Program, Path], None], program: Program, folder: Path) -> None:
    def error_of(program: Program) -> str:
        try:
            check(program, folder)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    error = error_of(program)
    if error:
        kind = error.partition(":")[0]
        shortest = random_programs.shrunk(
            program, lambda shorter: error_of(shorter).startswith(kind)
        )
        pytest.fail(f"{program.source} {program.seed}: {error_of(shortest)}\n\n{shortest}")


@pytest.mark.one_in(5)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("source", SOURCES)
def test_program(source: str, seed: int, check: Any, tmp_path: Path) -> None:
    _test(check, random_programs.draw(source, seed), tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("block", range(1, BLOCKS + 1))
@pytest.mark.parametrize("source", SOURCES)
def test_many_programs(source: str, block: int, check: Any, tmp_path: Path) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        _test(check, random_programs.draw(source, seed), tmp_path / str(seed))
