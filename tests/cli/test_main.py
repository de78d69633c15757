"""The command as a whole: help, exit codes, doctor, the process."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.cli import doctor, main, self_test
from nestarray.config import BACKENDS
from nestarray.graph.graph import Graph


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for command in ("doctor", "show", "diff", "convert-weights", "check", "convert", "demo"):
        assert f"\n    {command}" in text
        assert main([command, "--help"]) == 0
        assert "--json" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"nestarray {na.__version__}\n"
    assert main([]) == 2
    assert main(["nothing"]) == 2
    assert main(["show"]) == 2


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    assert "no problems" in capsys.readouterr().out
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"]
    assert [row["package"] for row in report["frameworks"]] == [
        "numpy",
        "jax",
        "torch",
        "tensorflow",
    ]
    rows = report["frameworks"]
    assert all(row["status"] in ("tested", "newer than tested") for row in rows)
    assert all(row["tested"] and row["devices"] for row in rows)
    assert rows[0]["needed"] == ">=2.2"
    assert report["self_test"] == []


def test_doctor_reports_problems(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {"torch": "2.11.1+cpu", "jax": "0.4.30", "rich": None}
    real = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: versions.get(name, real(name)))
    monkeypatch.setattr(na, "add", lambda x, y: x)
    assert main(["doctor", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    status = {row["package"]: row["status"] for row in report["frameworks"] + report["packages"]}
    assert status["jax"].startswith("older than promised, >=0.8")
    assert status["torch"].startswith("ArithmeticError")
    assert status["rich"] == "not installed"
    assert any(note.startswith("torch 2.11.1+cpu: torch.compile") for note in report["notes"])
    assert main(["doctor"]) == 1
    assert "problems were found" in capsys.readouterr().out


def test_a_version_that_is_newer_than_tested_is_no_problem(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = dict.fromkeys(doctor.tested_versions(), "99.0")
    monkeypatch.setattr(doctor, "tested_versions", lambda: pins | {"jax": "0.8.1"})
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    status = {row["package"]: row["status"] for row in report["frameworks"]}
    assert status == dict.fromkeys(BACKENDS, "tested") | {"jax": "newer than tested"}
    installed = doctor._version("jax")
    assert f"jax {installed} is newer than 0.8.1, with which the tests ran" in report["notes"]


def test_tested_versions_are_those_of_constraints() -> None:
    pins, constraints = doctor.tested_versions(), Path(na.__file__).parents[1] / "constraints.txt"
    lines = [line.partition(" ")[0] for line in constraints.read_text().splitlines()]
    assert f"torch=={pins['torch']}" in lines
    assert f"ml_dtypes=={pins['ml-dtypes']}" in [line.replace("-", "_") for line in lines]


def test_the_highest_of_several_pins_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "constraints.txt").write_text(
        'jax==0.12.0.1 ; python_version >= "3.12"\njax==0.9.2 ; python_version < "3.12"\n'
    )
    monkeypatch.setattr(na, "__file__", str(tmp_path / "__init__.py"))
    assert doctor.tested_versions() == {"jax": "0.12.0.1"}


def test_the_self_test_moves_a_layer_between_all_pairs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor", "--self-test", "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["self_test"]
    assert [(row["source"], row["target"]) for row in pairs] == [*permutations(BACKENDS, 2)]
    assert {row["result"] for row in pairs} == {"agrees"}


def test_the_self_test_reports_failures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> Graph:
        raise AttributeError("torch.nn has no Linear")

    def differs(graph: Graph) -> Any:
        return SimpleNamespace(ok=graph.backend != "jax")

    monkeypatch.setitem(self_test._LAYERS, "torch", broken)
    monkeypatch.setattr(self_test, "verify", differs)
    assert main(["doctor", "--self-test", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)["self_test"]
    results = {(row["source"], row["target"]): row["result"] for row in rows}
    assert results["torch", "numpy"] == "error"
    assert results["numpy", "jax"] == "differs"
    assert results["numpy", "torch"] == "agrees"
    assert main(["doctor", "--self-test"]) == 1
    text = capsys.readouterr().out
    assert "torch to numpy: AttributeError: torch.nn has no Linear" in text


def test_the_command_works_without_rich(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for name in ("rich", "rich.console"):
        monkeypatch.setitem(sys.modules, name, None)
    na.Container(w=np.ones(2)).save(tmp_path / "c.npz")
    assert main(["show", str(tmp_path / "c.npz")]) == 0
    assert "w  f64[2]  16 B" in capsys.readouterr().out


def test_demo_names_missing_packages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optax", None)
    assert main(["demo"]) == 2
    err = capsys.readouterr().err
    assert "the demo needs the package 'optax'" in err
    assert "pip install 'nestarray[all,demo]'" in err


def test_interruption(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("nestarray.storage.formats.open_source", interrupt)
    assert main(["show", "c.npz"]) == 130


def test_the_process(tmp_path: Path) -> None:
    na.Container(w=np.ones(2)).save(tmp_path / "c.npz")

    code = (
        "import sys; from nestarray.cli import main; code = main(['show', 'no.npz']); "
        "print({'torch', 'jax', 'tensorflow', 'nestarray.importers'} & set(sys.modules)); "
        "sys.exit(code)"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "error", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    shown = run("-m", "nestarray", "show", "c.npz")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "w  f64[2]  16 B" in shown.stdout
    failed = run("-c", code)
    assert (failed.returncode, failed.stdout) == (2, "set()\n")  # it starts without frameworks
    assert failed.stderr == "nestarray: error: 'no.npz': there is no such file\n"


def _changed(folder: Path) -> list[str]:
    na.Container(w=np.ones(2)).save(folder / "a.npz")
    na.Container(w=np.zeros(2)).save(folder / "b.npz")
    return [sys.executable, "-m", "nestarray", "diff", "a.npz", "b.npz"]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_reports_print_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    run = subprocess.run(
        _changed(tmp_path), capture_output=True, cwd=tmp_path, env=environment, check=False
    )
    assert (run.returncode, run.stderr) == (1, b"")
    arrow = "→" if encoding == "utf-8" else "->"
    assert f"1 changed; 1 leaf {arrow} 1" in run.stdout.decode(encoding)


def test_a_closed_output(tmp_path: Path) -> None:
    command = f"{shlex.join(_changed(tmp_path))} >&-"
    run = subprocess.run(command, shell=True, stderr=subprocess.PIPE, cwd=tmp_path, check=False)
    assert (run.returncode, run.stderr) == (1, b"")


def test_a_fault_has_the_status_of_errors(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise KeyError("a fault")

    monkeypatch.setattr("nestarray.storage.formats.open_source", fail)
    assert main(["show", "c.npz"]) == 2
    assert "KeyError: 'a fault'" in capsys.readouterr().err
