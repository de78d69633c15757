"""The types of programs: `Any` occurs under the names of aliases only, each with a reason."""

from __future__ import annotations

import ast
from pathlib import Path

import nestarray

GRAPH = Path(nestarray.__file__).parent / "graph"

#: File → the aliases that are `Any`, with the reason.
ALIASES = {
    "node.py": {"Operand"},  # the function of a call says which Argument it is
    "files.py": {"Json"},  # a file may be damaged; the decoder checks what it reads
    "passes/idioms/terms.py": {"Pair"},  # of a sum (factor, term), of a product (term, exponent)
}


def _aliases(tree: ast.Module) -> set[str]:
    return {
        ast.unparse(node.target)
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and node.value and ast.unparse(node.value) == "Any"
    }


def test_any_is_an_alias_with_a_reason() -> None:
    aliases: dict[str, set[str]] = {}
    for path in sorted(GRAPH.rglob("*.py")):
        tree = ast.parse(path.read_text())
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "Any"]
        found = _aliases(tree)
        place = path.relative_to(GRAPH).as_posix()
        assert len(names) == len(found), f"{place} uses Any outside of an alias"
        if found:
            aliases[place] = found
    assert aliases == ALIASES
