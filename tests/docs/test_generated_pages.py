"""Generated pages are up to date."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

import nestarray as na
from tools.releases import accepted

DOCS = Path(na.__file__).parent.parent / "docs"


def test_table_of_functions() -> None:
    page = runpy.run_path(str(DOCS / "generate_ops.py"))["page"]()
    is_fresh = page == (DOCS / "ops.md").read_text()  # without a dump of two long texts
    assert is_fresh, "docs/ops.md is stale; run `make docs`"


def test_table_of_layers() -> None:
    page = runpy.run_path(str(DOCS / "generate_layers.py"))["page"]()
    is_fresh = page == (DOCS / "layers.md").read_text()
    assert is_fresh, "docs/layers.md is stale; run `make docs`"


@pytest.mark.skipif(
    not all(map(accepted.is_pinned, ("torch", "keras", "flax"))),
    reason="the tables have the names of the releases that constraints.txt pins",
)
def test_equivalents_of_layers_are_there() -> None:
    assert runpy.run_path(str(DOCS / "generate_layers.py"))["unknown_names"]() == []


@pytest.mark.usefixtures("x64")
def test_table_of_kinks() -> None:
    page = runpy.run_path(str(DOCS / "generate_kinks.py"))["page"]
    is_fresh = page(["numpy"]) == (DOCS / "kinks.md").read_text()
    assert is_fresh, "docs/kinks.md is stale; run `make docs`"


@pytest.mark.parametrize("framework", ["numpy", "jax", "keras", "tensorflow"])
def test_table_of_names(framework: str) -> None:
    if not accepted.is_pinned(framework):
        pytest.skip("the page lists the names of the release that constraints.txt pins")
    page = runpy.run_path(str(DOCS / f"generate_{framework}_coverage.py"))["page"]()
    is_fresh = page == (DOCS / f"{framework}_coverage.md").read_text()
    assert is_fresh, f"docs/{framework}_coverage.md is stale; run `make docs`"


def test_table_of_directions() -> None:
    directions = runpy.run_path(str(DOCS / "generate_directions.py"))
    is_fresh = directions["page"]() == (DOCS.parent / "README.md").read_text()
    assert is_fresh, "the table of directions in README is stale; run `make docs`"
    rows = directions["ROWS"]
    assert directions["importers"]() <= {row.framework for row in rows}
    natives = {name for name in dir(na.Graph) if re.fullmatch(r"to_\w+_(module|model)", name)}
    assert natives <= {row.native for row in rows}
    constructors = {name for name in dir(na.Container) if name.startswith("from_")}
    plain = {"from_flat_dict", "from_object", "from_torch_cache", "from_torch_state_dict"}
    assert constructors - plain == {row.read for row in rows if row.read}


def test_table_of_clients() -> None:
    made = runpy.run_path(str(DOCS / "generate_clients.py"))
    page = made["page"](json.loads((DOCS / "clients.json").read_text()))
    is_fresh = page == (DOCS / "clients.md").read_text()
    assert is_fresh, "docs/clients.md is stale; run `make docs`"
