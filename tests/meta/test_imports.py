"""Imports go downwards only, and importing nestarray imports no framework."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest

import nestarray as na

#: These are cheap, and each holds for the whole package.
pytestmark = pytest.mark.one_in(1)

PACKAGE = Path(na.__file__).parent

#: The parts of nestarray in import order, as in ARCHITECTURE.md.
ORDER = [
    "dynamo",  # marks functions for torch.compile; imports nothing of nestarray
    "errors",
    "config",
    "lazy_imports",
    "versions",
    "typing",
    "dtypes",
    "traits",
    "sizes",  # open sizes in exact arithmetic
    "container",
    "tree",  # flattens Containers
    "numerics",
    "backends",
    "diagnosis",  # dispatch calls it to explain an error
    "display",  # text of Containers; needs no op
    "dispatch",
    "ops",
    "transforms",
    "random",
    "decoding",
    "tree_math",
    "storage",
    "comparison",  # of files, too
    "batches",
    "interchange",  # key maps are files
    "nn",
    "testing",
    "array_api",
    "frontends",
    "graph",
    "proof",
    "importers",
    "exporters",
    "demo",  # programs as users write them
    "cli",
    "__main__",
]
LEVEL = {name: level for level, name in enumerate(ORDER)}

#: (file, imported part) → the reason for an import that goes upwards.
UPWARDS = {
    ("graph/__init__.py", "importers"): "public names of na.graph, imported on first access",
    ("nn/module.py", "importers"): "a summary with example inputs traces the module",
    ("nn/schedules/interchange.py", "importers"): "a schedule of optax is traced",
    ("nn/training.py", "importers"): "mixed precision traces the loss",
}

#: Parts that write ``import nestarray as na``, as users do.
AS_USERS = {"frontends", "demo", "cli"}

FILES = {str(p.relative_to(PACKAGE)): p for p in sorted(PACKAGE.rglob("*.py"))}
del FILES["__init__.py"]


def part_of(file: str) -> str:
    """The part of nestarray that a file belongs to."""
    return file.partition("/")[0].removesuffix(".py")


def is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def name_of(function: ast.expr) -> str:
    """The last part of the name of a function that is called; empty for other expressions."""
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


@functools.cache
def imports(file: str) -> list[tuple[str, int, bool]]:
    """All imports of nestarray in a file: (imported part, line, whether inside a function).

    Imports by name, in calls of `attach`, `attach_methods` and ``import_module``, are among them; imports for type
    checkers, which never run, are not.
    """
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    found: list[tuple[str, int, bool]] = []
    nodes: list[tuple[ast.AST, bool]] = [(ast.parse(FILES[file].read_text()), False)]
    while nodes:
        node, is_inside = nodes.pop()
        if is_for_type_checkers(node):
            continue
        nodes += [
            (child, is_inside or isinstance(node, functions))
            for child in ast.iter_child_nodes(node)
        ]
        modules: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.Call) and name_of(node.func).endswith(
            ("attach", "attach_methods", "import_module")
        ):
            is_inside = False  # delayed on purpose
            texts = [n.value for n in ast.walk(node) if isinstance(n, ast.Constant)]
            modules = [text for text in texts if str(text).startswith("nestarray.")]
        for module in modules:
            top, *names = module.split(".")
            if top == "nestarray":
                found.append((names[0] if names else "", getattr(node, "lineno", 0), is_inside))
    return found


def upward_imports(file: str) -> set[tuple[str, str]]:
    own = part_of(file)
    assert own in LEVEL, f"{own} has no place in ORDER; add it there and to ARCHITECTURE.md"
    found = {part for part, _, _ in imports(file)}
    if own in AS_USERS:
        found.discard("")
    return {(file, part) for part in found if LEVEL.get(part, len(ORDER)) > LEVEL[own]}


@pytest.mark.parametrize("part", ORDER)
def test_imports_go_downwards(part: str) -> None:
    files = [file for file in FILES if part_of(file) == part]
    assert files
    upwards = {pair for file in files for pair in upward_imports(file)}
    assert upwards == {pair for pair in UPWARDS if pair[0] in files}


def test_no_function_imports_nestarray() -> None:
    """Such an import would hide a cycle between files."""
    found = [
        f"{file}:{line}" for file in FILES for _, line, is_inside in imports(file) if is_inside
    ]
    assert found == []


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
