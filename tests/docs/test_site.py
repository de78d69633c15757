"""The documentation site: an entry for every public name, a strict build, nothing from the network."""

from __future__ import annotations

import functools
import inspect
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sphinx.util.inventory import InventoryFile

import nestarray as na
from tests.browser import Browser, needs_browser

ROOT = Path(na.__file__).parent.parent
SITE = ROOT / "docs/site"
#: The names of other frameworks; docs/torch_coverage.md and docs/jax_coverage.md list them.
FRONTENDS = "nestarray.frontends"


@pytest.fixture(scope="module")
def entries() -> dict[str, Any]:
    return runpy.run_path(str(SITE / "reference.py"))["entries"]()


def names_of(module: ModuleType) -> list[str]:
    names = dir(na) if module is na else module.__all__
    return [name for name in names if not name.startswith("_")]


def public_modules(module: ModuleType = na) -> Iterator[ModuleType]:
    """`nestarray`, the modules among its names, and so on."""
    yield module
    for name in names_of(module):
        value = getattr(module, name)
        if inspect.ismodule(value) and value.__name__ != FRONTENDS:
            yield from public_modules(value)


def test_every_public_name_has_an_entry(entries: dict[str, Any]) -> None:
    modules = list(public_modules())
    assert {"nestarray.ops", "nestarray.nn.schedules"} <= {module.__name__ for module in modules}
    with_entry = {id(entry.object) for entry in entries.values()}
    names = {
        f"{module.__name__}.{name}": value
        for module in modules
        for name in names_of(module)
        if not inspect.ismodule(value := getattr(module, name))
    }
    assert len(names) > 1000
    missing = [n for n, value in names.items() if n not in entries and id(value) not in with_entry]
    assert missing == [], "give these names a place in docs/site/reference.py"


@pytest.mark.parametrize("cls", [na.Container, na.Graph, na.GraphModule, na.nn.Module, na.Schema])
def test_every_method_has_an_entry(cls: type, entries: dict[str, Any]) -> None:
    with_entry = {id(entry.object) for entry in entries.values()}
    for name in dir(cls):
        own = [base for base in cls.__mro__ if name in vars(base)]
        if name.startswith("_") or not own[0].__module__.startswith("nestarray"):
            continue
        getattr(cls, name)  # imports a lazy method
        value = inspect.getattr_static(cls, name)
        is_op = hasattr(value, "op") and f"nestarray.{name}" in entries
        has_entry = id(value) in with_entry or f"nestarray.{cls.__name__}.{name}" in entries
        assert is_op or has_entry, f"{cls.__name__}.{name}"


def test_every_entry_is_documented(entries: dict[str, Any]) -> None:
    """Fields and constants excepted: classes describe their fields, and constants show their value."""
    kinds = (property, staticmethod, classmethod, functools.cached_property, type)
    described = {
        n: e
        for n, e in entries.items()
        if isinstance(e.object, kinds) or inspect.isroutine(e.object)
    }
    assert len(described) > 900
    missing = [name for name, entry in described.items() if not inspect.getdoc(entry.object)]
    assert missing == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; warnings of the build are errors."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    command = [sys.executable, str(SITE / "build.py"), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-3000:]
    return folder


@pytest.mark.full
def test_index_of_the_site(site: Path, entries: dict[str, Any]) -> None:
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    indexed = {name for names in inventory.values() for name in names}
    listed = {name for name, entry in entries.items() if inspect.isroutine(entry.object)}
    assert len(listed) > 800
    assert listed <= indexed


@pytest.mark.full
def test_pages_load_nothing_from_the_network(site: Path) -> None:
    loaded = re.compile(r'<(?:script|img|link rel="(?:stylesheet|preload|icon)")[^>]*"https?://')
    pages = list(site.rglob("*.html"))
    assert len(pages) > 80
    assert [page for page in pages if loaded.search(page.read_text())] == []


@pytest.mark.full
@needs_browser
@pytest.mark.parametrize("width", [390, 1400], ids=["phone", "desktop"])
def test_site_in_a_browser(site: Path, tmp_path: Path, width: int) -> None:
    pages = ["index", "docs/torch_coverage", "docs/reference/container", "notebooks/index"]
    with Browser(tmp_path, width, 800) as browser:
        for page in pages:
            browser.open(site / f"{page}.html")
            assert browser.run("document.documentElement.scrollWidth") <= width, page
        assert browser.messages == []
        browser.run("document.querySelector('input[name=q]').value = 'softmax'")
        browser.run("document.querySelector('input[name=q]').form.submit()")
        until = time.monotonic() + 60
        while not (found := browser.run("document.querySelector('#search-results li a')?.href")):
            time.sleep(0.1)
            assert time.monotonic() < until, "the search finds nothing"
        assert found.endswith("functions/activations.html#nestarray.softmax")
