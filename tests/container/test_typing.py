"""Container is generic in the type of its leaves; its methods and operators keep that type."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.container import typed
from tools import stubs

ROOT = Path(__file__).parent.parent.parent


def test_the_sample_runs() -> None:
    typed.everything()


def _complaints(file: Path, *, is_strict: bool = False) -> list[tuple[int, str]]:
    """(line, message) of each error that pyright reports."""
    stubs.write()
    pyright = [
        str(Path(sys.executable).with_name("pyright")),
        "--outputjson",
        "-p",
        str(file.parent),
    ]
    config = {
        "include": [str(file)],
        "venvPath": str(ROOT),
        "venv": ".venv",
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "strict" if is_strict else "standard",
    }
    (file.parent / "pyrightconfig.json").write_text(json.dumps(config))
    run = subprocess.run(pyright, capture_output=True, text=True, check=False, timeout=500)
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] == 1
    return [
        (found["range"]["start"]["line"], found["message"].split("\n")[0])
        for found in report["generalDiagnostics"]
    ]


@pytest.mark.full
def test_the_checker_agrees(tmp_path: Path) -> None:
    file = tmp_path / "sample.py"
    lines = Path(typed.__file__).read_text().splitlines()
    wrong = ["building().exp().leaves()[0].upper()", "building().map(len).leaves()[0].shape"]
    file.write_text("\n".join([*lines, *wrong]))
    (first, upper), (second, shape) = _complaints(file)
    assert (first, second) == (len(lines), len(lines) + 1)
    assert upper.startswith('Cannot access attribute "upper" for class "ndarray[')
    assert shape == 'Cannot access attribute "shape" for class "int"'


PROGRAM = """
import numpy as np

import nestarray as na


def train(c: na.Container[np.ndarray]) -> na.Container[np.ndarray]:
    v = na.Container({"a": np.ones(2)}, b={"w": np.ones(3)})
    half = (v * 0.5).select("**/w").exp()
    for path, x in v.flat_items():
        print(path, x)
    diff = v.diff(half)
    print(diff, v.match(half).apply(v), v.summary(), v.tree_norm())
    moved = na.exp(c).fuse().astype("float32")
    print(na.add(v, 1.0), na.random.normal(na.random.key(0), (2,)), na.LazyStack([v, v]) + 1)
    return c.merge(c, moved)
"""


@pytest.mark.full
def test_a_program_passes_the_strict_checker(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    assert _complaints(file, is_strict=True) == []
