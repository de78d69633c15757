"""A broad program of a user runs, and the strict type checker finds no error and no Unknown."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.container.test_typing import complaints
from tests.meta import user_program


@pytest.mark.release
def test_the_program_runs(tmp_path: Path) -> None:
    user_program.main(tmp_path)


@pytest.mark.full
def test_the_program_passes_the_strict_checker(tmp_path: Path) -> None:
    file = Path(shutil.copy(user_program.__file__, tmp_path / "program.py"))
    assert complaints(file, is_strict=True) == []
