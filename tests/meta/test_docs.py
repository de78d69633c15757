"""Generated pages are up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nestarray as na

ROOT = Path(na.__file__).parent.parent


def test_table_of_functions() -> None:
    code = [sys.executable, "docs/generate_ops.py", "--check"]
    run = subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
