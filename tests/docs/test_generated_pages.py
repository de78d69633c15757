"""Generated pages are up to date."""

from __future__ import annotations

import runpy
from pathlib import Path

import nestarray as na

DOCS = Path(na.__file__).parent.parent / "docs"


def test_table_of_functions() -> None:
    page = runpy.run_path(str(DOCS / "generate_ops.py"))["page"]()
    is_fresh = page == (DOCS / "ops.md").read_text()  # without a dump of two long texts
    assert is_fresh, "docs/ops.md is stale; run `make docs`"
