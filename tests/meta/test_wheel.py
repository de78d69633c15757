"""The built wheel is complete: README's code, the command, the stubs and completion in editors.

It is built without isolation and unpacked next to the environment, so nothing is downloaded.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import jedi
import pytest

from tests.docs.test_readme import BLOCK, ROOT

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the source archive and the wheel."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def site(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of packages with the wheel alone."""
    folder = tmp_path_factory.mktemp("site")
    (wheel,) = built.glob("*.whl")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target"]
    subprocess.run([*command, str(folder), str(wheel)], check=True, capture_output=True)
    return folder


def run(site: Path, folder: Path, *arguments: str) -> str:
    """The output of Python with the wheel in front of the path, in another directory."""
    environment = {**os.environ, "PYTHONPATH": str(site), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, env=environment, cwd=folder, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_code_of_the_readme(site: Path, tmp_path: Path) -> None:
    blocks = [(m[1], m[2]) for m in BLOCK.finditer((ROOT / "README.md").read_text())]
    program = [f"import nestarray\nassert nestarray.__file__.startswith({str(site)!r})\n"]
    program += [code for language, code in blocks if language == "python"]
    (tmp_path / "readme.py").write_text("\n".join(program))
    printed = run(site, tmp_path, "readme.py")
    texts = [code for language, code in blocks if language == "text"]
    assert texts
    for text in texts:
        assert text in printed


def test_imports_without_warnings(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, "-W", "error", "-c", "import nestarray") == ""


def test_the_command(site: Path, tmp_path: Path) -> None:
    assert run(site, tmp_path, str(site / "bin" / "nestarray"), "--version").startswith(
        "nestarray "
    )
    texts = run(site, tmp_path, "-m", "nestarray", "demo", "--short", "--json")
    figures = json.loads(texts)
    assert all(row["agrees"] for row in figures["torch_to_jax"]["backends"])
    assert figures["flax_to_torch"]["agrees"]
    assert figures["keras_to_torch"]["agrees"]
    assert (tmp_path / figures["picture"]).stat().st_size > 10_000


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("na.softm", {"softmax"}),
        ("na.trace_g", {"trace_graph"}),
        ("na.nn.Lin", {"Linear"}),
        ("na.Container(a=1).tree_n", {"tree_norm"}),
        ("na.Container(a=1).exp().sele", {"select"}),
        ("(na.Container(a=1) * 2).dif", {"diff"}),
    ],
)
def test_completion(code: str, names: set[str], site: Path, tmp_path: Path) -> None:
    assert (site / "nestarray" / "py.typed").exists()
    project = jedi.Project(tmp_path, added_sys_path=[str(site)], smart_sys_path=False)
    script = jedi.Script(f"import nestarray as na\n{code}", project=project)
    assert names <= {completion.name for completion in script.complete()}


def test_the_wheel_knows_the_tested_versions(site: Path, tmp_path: Path) -> None:
    code = "from nestarray.cli import doctor; print(doctor.tested_versions()['torch'])"
    (pin,) = re.findall(r"^torch==([\w.]+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert run(site, tmp_path, "-c", code) == f"{pin}\n"


def test_the_source_archive(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"nestarray/ops/elementwise.py", "tests/conftest.py", "LICENSE", "CITATION.cff",
            "SECURITY.md", "Makefile", "tools/hatch_build.py"} <= names  # fmt: skip
