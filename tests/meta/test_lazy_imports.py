"""Code that runs when other packages are imported: in any order, and only then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REGISTERED = """
import optree, torch.utils._pytree as torch_tree, jax
c = na.Container(a=1, b=[2])
for leaves in (jax.tree.leaves, torch_tree.tree_leaves, optree.tree_leaves):
    assert leaves(c) == [1, 2], leaves
"""


def printed(*lines: str, folder: Path | None = None) -> list[str]:
    """The output of a program; `folder` is the first place of its packages."""
    code = "import warnings; warnings.simplefilter('ignore')\n" + "\n".join(lines)
    environment = {**os.environ, "PYTHONPATH": str(folder or "")}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("nestarray", "jax.numpy"),
        ("frameworks", "jax"),
        pytest.param("nestarray", "jax", marks=pytest.mark.full),
        pytest.param("frameworks", "jax.numpy", marks=pytest.mark.full),
    ],
)
def test_order_of_imports(first: str, name: str) -> None:
    imports = ["import nestarray as na", f"import {name}, torch, optree"]
    printed(*(imports if first == "nestarray" else reversed(imports)), REGISTERED)


def test_a_missing_framework_stays_an_import_error() -> None:
    assert printed(
        "import sys, importlib.util, nestarray",
        "class Hide:",
        "    def find_spec(self, name, path=None, target=None):",
        "        if name == 'optree': raise ModuleNotFoundError('hidden', name='optree')",
        "sys.meta_path.insert(0, Hide())",
        "try:\n    import optree",
        "except ModuleNotFoundError as error: print(error)",
        "sys.meta_path.pop(0)",
        "import optree",
        "print(optree.tree_leaves(nestarray.Container(a=1)))",
    ) == ["hidden", "[1]"]


def test_who_looks_whether_a_framework_is_there_imports_nothing() -> None:
    assert printed(
        "import importlib.util, sys, nestarray as na",
        "found = importlib.util.find_spec('optree')",
        "print(found.name, 'optree' in sys.modules)",
        "import optree",
        "print(optree.tree_leaves(na.Container(a=1)), optree.__spec__.loader is found.loader)",
    ) == ["optree False", "[1] False"]


TENSORFLOW = 'extern "C" { int llvm() { return 1; } int start() { return llvm(); } }'
TRITON = 'extern "C" { int llvm() { return 2; } int start() { return llvm(); } }'
LOADING = """
import ctypes, os
library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "_C", {name!r}), mode={mode})
start = library.start
"""


@pytest.mark.skipif(not hasattr(os, "RTLD_DEEPBIND"), reason="names are shared on Linux only")
@pytest.mark.parametrize("order", ["tensorflow, nestarray", "nestarray, tensorflow"])
def test_triton_calls_its_own_llvm_after_tensorflow(tmp_path: Path, order: str) -> None:
    """Two libraries with one name for different functions, loaded as the packages load theirs."""
    for package, source, mode in (
        ("tensorflow", TENSORFLOW, "ctypes.RTLD_GLOBAL"),
        ("triton", TRITON, "ctypes.DEFAULT_MODE"),
    ):
        folder = tmp_path / package / "_C"
        folder.mkdir(parents=True)
        (folder / "source.cpp").write_text(source)
        name = f"lib{package}.so"
        command = ["g++", "-shared", "-fPIC", "-o", folder / name, folder / "source.cpp"]
        subprocess.run(command, check=True)
        (tmp_path / package / "__init__.py").write_text(LOADING.format(name=name, mode=mode))
    assert printed(
        f"import {order}, triton", "print(tensorflow.start(), triton.start())", folder=tmp_path
    ) == ["1 2"]
