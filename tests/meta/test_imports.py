"""Imports go downwards only, and importing nestarray imports no framework."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nestarray as na

PACKAGE = Path(na.__file__).parent

#: The layers of ARCHITECTURE.md, bottom first; a file may import its own layer and those below.
LAYERS = [
    {
        "errors",
        "config",
        "dynamo",
        "lazy_imports",
        "typing",
    },
    {"dtypes"},
    {"container"},
    {"tree"},
    {"numerics"},
    {"backends"},
    {"diagnosis"},
    {"display"},
    {"dispatch"},
    {"ops"},
    {"array_api", "transforms", "testing"},
    {"random"},
    {"tree_math", "comparison", "batches"},
    {"interchange", "storage"},
    {"nn"},
    {"frontends"},
    {"graph", "proof", "importers"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(
    p.relative_to(PACKAGE) for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py"
)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_imports_go_downwards(file: Path) -> None:
    own = LEVEL.get(file.parts[0].removesuffix(".py"))
    assert own is not None, f"{file.parts[0]} has no layer; add it to LAYERS and ARCHITECTURE.md"
    for name in sorted(imported(ast.parse((PACKAGE / file).read_text()))):
        assert LEVEL[name] <= own, f"{file} imports nestarray.{name}, which is above it"


def imported(tree: ast.Module) -> set[str]:
    """The parts of nestarray that a module imports when it is loaded (not inside functions)."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "nestarray":
            found |= {alias.name for alias in node.names if alias.name in LEVEL}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nestarray."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found |= {n[1] for n in names if n[0] == "nestarray" and len(n) > 1}
    return found


def test_importing_nestarray_imports_no_framework() -> None:
    code = (
        "import sys, nestarray as na; na.add(na.Container(a=1.0), 2.0); "
        "print(sorted({'jax', 'torch', 'tensorflow', 'scipy', 'optree'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_special_functions_need_no_scipy() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None; sys.modules['scipy.special'] = None\n"
        "import numpy as np, nestarray as na\n"
        "print(na.erf(np.asarray([0.5, -2.0])), na.erfinv(np.asarray([0.25])), na.lgamma(np.asarray([4.5])))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[ 0.52049988 -0.99532227] [0.22531206] [2.45373657]"
