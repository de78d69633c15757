"""Generated pages are up to date."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import nestarray as na

DOCS = Path(na.__file__).parent.parent / "docs"


def test_table_of_functions() -> None:
    page = runpy.run_path(str(DOCS / "generate_ops.py"))["page"]()
    is_fresh = page == (DOCS / "ops.md").read_text()  # without a dump of two long texts
    assert is_fresh, "docs/ops.md is stale; run `make docs`"


@pytest.mark.usefixtures("x64")
def test_table_of_kinks() -> None:
    page = runpy.run_path(str(DOCS / "generate_kinks.py"))["page"]
    is_fresh = page(["numpy"]) == (DOCS / "kinks.md").read_text()
    assert is_fresh, "docs/kinks.md is stale; run `make docs`"


def test_table_of_names_of_jax() -> None:
    page = runpy.run_path(str(DOCS / "generate_jax_coverage.py"))["page"]()
    is_fresh = page == (DOCS / "jax_coverage.md").read_text()
    assert is_fresh, "docs/jax_coverage.md is stale; run `make docs`"
