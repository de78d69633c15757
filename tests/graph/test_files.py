"""Graphs in files: the same graph comes back, wrong files are refused, and no code of a file runs."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import errors
from nestarray.graph import files
from nestarray.graph.node import Call
from tests.graph.networks import ConvNet, Nested
from tests.graph.test_record_control_flow import everything


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(2, 1, 8, 8)


@pytest.fixture(scope="module")
def graph(images: torch.Tensor) -> na.Graph:
    torch.manual_seed(0)
    return na.trace_graph(ConvNet(), images)


def saved(graph: na.Graph, folder: Path, name: str = "graph.safetensors") -> Path:
    graph.save(folder / name)
    return folder / name


@pytest.mark.release("suffix")
@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
@pytest.mark.parametrize("kind", ["traced", "lowered", "optimized"])
def test_a_graph_comes_back(
    graph: na.Graph, images: torch.Tensor, tmp_path: Path, kind: str, suffix: str
) -> None:
    before = {"traced": graph, "lowered": graph.lower(), "optimized": graph.optimize()}[kind]
    after = na.Graph.load(saved(before, tmp_path, f"g{suffix}"))
    assert str(after) == str(before)
    assert repr(after) == repr(before)
    assert (after.name, after.backend, after.train) == ("ConvNet", "torch", False)
    assert after.source_names == before.source_names
    assert [n.line for n in after.calls] == [n.line for n in before.calls]
    torch.testing.assert_close(after(images), before(images), rtol=0, atol=0)
    with pytest.raises(errors.ConversionError, match="has no source to compare with"):
        after.verify()


@pytest.mark.release("backend")
@pytest.mark.parametrize("backend", ["numpy", "jax", "tensorflow"])
def test_a_graph_is_loaded_for_another_framework(
    graph: na.Graph, images: torch.Tensor, tmp_path: Path, backend: str
) -> None:
    after = na.Graph.load(saved(graph, tmp_path), backend=backend)
    assert after.backend == backend
    got = na.to_backend(after(na.to_backend(images, backend)), "torch")
    torch.testing.assert_close(got, graph(images), rtol=1e-5, atol=1e-5)


def test_training_random_numbers_and_state(images: torch.Tensor, tmp_path: Path) -> None:
    before = na.trace_graph(ConvNet(), images, train=True)
    after = na.Graph.load(saved(before, tmp_path))
    key = na.random.key(3, backend="torch")
    (want, s), (got, t) = before(images, key=key), after(images, key=key)
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    assert torch.equal(s["norm/running_mean"], t["norm/running_mean"])


def test_nested_arguments_constants_and_numbers(tmp_path: Path) -> None:
    extra = {"a": torch.ones(4, 2), "b": [torch.ones(2)]}
    before = na.trace_graph(Nested(), torch.ones(4, 3), extra, scale=2.0)
    after = na.Graph.load(saved(before, tmp_path))
    out = after(torch.ones(4, 3), extra, scale=2.0)
    assert out["size"] == 3
    assert torch.equal(out["y"], before(torch.ones(4, 3), extra, scale=2.0)["y"])
    with pytest.raises(errors.ArgumentError, match=r"the graph was traced with 2\.0"):
        after(torch.ones(4, 3), extra, scale=3.0)


def test_loops_and_choices(tmp_path: Path) -> None:
    v, x = na.Container(w=np.array([0.5, 1.0], "float32")), np.ones((3, 2), "float32")
    before = na.trace_graph(everything, v, x)
    after = na.Graph.load(saved(before, tmp_path))
    assert str(after) == str(before)
    np.testing.assert_array_equal(after(v, x)[2], before(v, x)[2])


def test_open_sizes(tmp_path: Path) -> None:
    sizes = {"input": {0: "batch"}}
    before = na.trace_graph(torch.nn.Linear(3, 2), torch.ones(4, 3), dynamic=sizes)
    after = na.Graph.load(saved(before, tmp_path))
    assert after.sizes == before.sizes
    assert tuple(after(torch.ones(7, 3)).shape) == (7, 2)
    with pytest.raises(errors.ShapeError):
        after(torch.ones(7, 4))


def test_numbers_that_json_lacks(tmp_path: Path) -> None:
    def fn(x: Any) -> Any:
        y = na.where(x > 1, x, float("-inf"))
        return na.max(na.astype(y, na.float64))[None, ...], na.multiply(x, 1j), x[::2]

    x = np.arange(4, dtype="float32")
    before = na.trace_graph(fn, x)
    after = na.Graph.load(saved(before, tmp_path))
    for got, want in zip(after(x), before(x), strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


# -- invalid files -------------------------------------------------------------------------


def tampered(graph: na.Graph, folder: Path, change: Any) -> Path:
    """A file whose program `change` has changed in place."""
    path = saved(graph, folder)
    document = json.loads(na.storage.metadata(path)[files.ENTRY])
    change(document)
    arrays = na.Container(v=graph.v, s=graph.s, constants=graph.constants)
    arrays.save(path, metadata={files.ENTRY: json.dumps(document)})
    return path


def set_in_call(**changes: Any) -> Any:
    def change(document: dict[str, Any]) -> None:
        node = next(n for n in document["nodes"] if n["kind"] == "call")
        node.update(changes)

    return change


EVIL = "x = __import__('os').getpid()"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (set_in_call(target_name="os.system"), "there is no function 'os.system'"),
        (set_in_call(target_name="na.to_backend.__globals__"), "there is no function"),
        (set_in_call(target_name="na.Container.load"), "there is no function"),
        (set_in_call(target_name="na.random.hashlib.sha256"), "there is no function"),
        (set_in_call(target_name="na.graph.island"), "there is no function"),
        (set_in_call(target_name="torch.na.relu"), "there is no function"),
        (set_in_call(target_name="torch.Any"), "there is no function"),
        (set_in_call(target_name="torch.__builtins__.exec"), "there is no function"),
        (set_in_call(target_name="torch.nn.functional.na.Container.load"), "there is no"),
        (set_in_call(target_name="operator.attrgetter"), "there is no function"),
        (set_in_call(name=f"a\n    {EVIL}"), "is no line of text"),
        (set_in_call(name=f"a = 1; {EVIL}; b"), "is no name"),
        (set_in_call(name="torch"), "the name 'torch' is taken"),
        (set_in_call(module=f"fc\n    {EVIL}"), "is no line of text"),
        (set_in_call(kwargs={"mapping": [[f"a={EVIL}, b", 1]]}), "is no name"),
        (set_in_call(aval=[[f"n\n    {EVIL}"], "float32"]), "is no line of text"),
        (set_in_call(aval=[[1], "__name__"]), "there is no dtype"),
        (set_in_call(args={"node": 99}), "damaged"),
        (set_in_call(args={"object": "os"}), "damaged"),
        (set_in_call(kind="import"), "damaged"),
        (lambda d: d["nodes"][0].update(source="local"), "a node of source 'local'"),
        (lambda d: d.pop("output"), "the program in it is damaged"),
        (lambda d: d.update(version=3), "has the version 3, this nestarray reads 2; upgrade"),
        (lambda d: d["nodes"][1].update(path="else/where"), "which is not in the file"),
    ],
)  # fmt: skip
def test_programs_that_are_not_of_save_are_refused(
    graph: na.Graph, tmp_path: Path, change: Any, text: str
) -> None:
    path = tampered(graph, tmp_path, change)
    with pytest.raises(errors.StorageError, match=text):
        na.Graph.load(path)


def test_files_of_version_1_are_read(graph: na.Graph, tmp_path: Path) -> None:
    def as_version_1(document: dict[str, Any]) -> None:
        names = document.pop("source_names")
        document.update(version=1, torch_names=names["names"], torch_extra=names["extra"])

    loaded = na.Graph.load(tampered(graph, tmp_path, as_version_1))
    assert loaded.source_names == dataclasses.replace(graph.source_names, modules={})
    assert str(loaded) == str(graph)


def test_every_function_of_a_program_is_found_by_its_name(graph: na.Graph) -> None:
    for name in ("torch.Tensor.view", "torch.ops.aten.index", "torch.nn.functional.linear"):
        assert files.find_function(name).__name__ == name.rpartition(".")[2]
    for node in graph.calls:
        assert files.find_function(node.target_name) is node.target


def test_a_file_without_a_graph(tmp_path: Path) -> None:
    na.Container(w=np.ones(2)).save(tmp_path / "c.npz")
    with pytest.raises(errors.StorageError, match=r"holds no graph; read its arrays with"):
        na.Graph.load(tmp_path / "c.npz")


def test_errors_over_files_name_the_function_that_was_called(
    graph: na.Graph, tmp_path: Path
) -> None:
    with pytest.raises(
        errors.MissingFileError, match=r"^Graph\.load: '.*': there is no such file$"
    ):
        na.Graph.load(tmp_path / "none.npz")
    with pytest.raises(errors.MissingFileError, match=r"^Graph\.save: '.*': there is no directory"):
        graph.save(tmp_path / "none" / "graph.npz")
    with pytest.raises(
        errors.ArgumentError, match=r"^Graph\.save: path: got '.*\.odd', whose suffix"
    ):
        graph.save(tmp_path / "graph.odd")
    with pytest.raises(errors.ArgumentError, match=r"^Graph\.load: path: got 3, expected the name"):
        na.Graph.load(3)
    (tmp_path / "short.safetensors").write_bytes(b"123")
    with pytest.raises(errors.StorageError, match=r"^Graph\.load: '.*' cannot be read: "):
        na.Graph.load(tmp_path / "short.safetensors")


def test_what_cannot_be_saved_leaves_the_file_as_it_was(graph: na.Graph, tmp_path: Path) -> None:
    path = saved(graph, tmp_path)
    before = path.read_bytes()
    odd = graph.replace(nodes=list(graph.nodes))
    node = odd.calls[0]
    foreign = Call(name="odd", target=print, target_name="print", args=(node,))
    odd = odd.replace(nodes=[*odd.nodes, foreign], output=foreign)
    with pytest.raises(errors.ConversionError, match="'odd' calls 'print', which a file cannot"):
        odd.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["graph.safetensors"]
