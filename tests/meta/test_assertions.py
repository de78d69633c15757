"""Tests read the reports of comparisons."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]


def _unread(tree: ast.AST, is_raising: bool = False) -> Iterator[int]:
    """The lines of the calls of `graph.verify` whose report nobody reads, outside of ``raises``."""
    if isinstance(tree, ast.With):
        is_raising = any("raises" in ast.unparse(item.context_expr) for item in tree.items)
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Call) and not is_raising:
        called = tree.value.func
        is_graph = isinstance(called, ast.Attribute) and ast.unparse(called.value) != "layers"
        if is_graph and called.attr == "verify":
            yield tree.lineno
    for child in ast.iter_child_nodes(tree):
        yield from _unread(child, is_raising)


def test_every_report_is_read() -> None:
    unread = {
        f"{path.relative_to(TESTS)}:{line}"
        for path in TESTS.rglob("*.py")
        for line in _unread(ast.parse(path.read_text()))
    }
    assert unread == set()
    assert list(_unread(ast.parse("graph.verify()\nassert graph.verify().ok"))) == [1]
