"""The script that makes the environments: which Python it takes, and the pins that it writes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import environments


def _script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_python_that_only_prints_an_error_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _script(tmp_path / "python3.13", "echo 'python3.13: command not found' >&2; exit 127")
    _script(tmp_path / "python3.12", "printf '3.12\\n/opt/python3.12\\n'")
    _script(tmp_path / "python3", "printf '3.11\\n/usr/bin/python3\\n'")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environments.interpreter(["3.13", "3.12"]) == "/opt/python3.12"
    assert environments.interpreter(["3.11"]) == "/usr/bin/python3"
    # versions of pyenv need not be on the path
    prefix = tmp_path / "versions"
    (prefix / "bin").mkdir(parents=True)
    _script(prefix / "bin/python", "printf '3.13\\n/versions/python3.13\\n'")
    _script(
        tmp_path / "pyenv",
        f'case "$1" in versions) printf "3.12.1\\n3.13.0\\n";; prefix) echo {prefix};; esac',
    )
    assert environments.interpreter(["3.13", "3.12"]) == "/versions/python3.13"
    with pytest.raises(SystemExit, match=r"None of Python 3\.10 runs here"):
        environments.interpreter(["3.10"])


def test_the_path_of_a_python_is_that_of_its_base() -> None:
    assert Path(environments.running(sys.executable)).resolve() == Path(sys.executable).resolve()


def test_pins_have_markers_where_versions_depend_on_the_python() -> None:
    pins = {
        "3.11": {"a": "1", "b": "1", "c": "1", "d": "4"},
        "3.12": {"a": "1", "b": "2", "c": "2"},
        "3.13": {"a": "1", "b": "2", "c": "3"},
    }
    assert [line for name in "abcd" for line in environments.pinned(name, pins)] == [
        "a==1",
        'b==1 ; python_version < "3.12"',
        'b==2 ; python_version >= "3.12"',
        'c==1 ; python_version < "3.12"',
        'c==2 ; python_version >= "3.12" and python_version < "3.13"',
        'c==3 ; python_version >= "3.13"',
        "d==4",
    ]


def test_pins_are_read_with_their_markers() -> None:
    text = '# title\nA_b==1 ; python_version < "3.12"\na-b==2\nc==3\n'
    assert environments.read(text) == {"a-b": '1 ; python_version < "3.12", 2', "c": "3"}


def test_settings_of_pip_are_options_of_uv(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    lines = (
        "global.constraint='/etc/a.txt'",
        ":env:.find-links='/x /y'",
        "global.timeout='60'",
        "download.index-url='https://no.example'",
    )
    _script(tmp_path / "bin/python", "\n".join(f'echo "{line}"' for line in lines))
    assert environments.pip_settings(tmp_path)[2:] == [
        "--constraint", "/etc/a.txt", "--find-links", "/x", "--find-links", "/y",
    ]  # fmt: skip


def test_pins_are_of_all_frameworks() -> None:
    pins = environments.read(environments.CONSTRAINTS.read_text())
    assert {"jax", "torch", "tensorflow-cpu", "numpy", "flax", "keras", "pytest"} <= {*pins}
    assert not [name for name in pins if environments.LEFT_OUT.match(name)]
