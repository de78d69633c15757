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


def complaints(file: Path, *, is_strict: bool = False) -> list[tuple[int, str]]:
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
    (first, upper), (second, shape) = complaints(file)
    assert (first, second) == (len(lines), len(lines) + 1)
    assert upper.startswith('Cannot access attribute "upper" for class "ndarray[')
    assert shape == 'Cannot access attribute "shape" for class "int"'
