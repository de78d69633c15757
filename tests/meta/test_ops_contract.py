"""Requirements of an op: a Case, an Example, an export, and backend functions of its signature."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.dispatch import OPS, Op
from tests.cases import all_cases

#: These are cheap, and each holds for the whole package.
pytestmark = pytest.mark.one_in(1)

PACKAGE = Path(na.__file__).parent
CHAPTERS = sorted(p.stem for p in (PACKAGE / "ops").glob("*.py") if p.stem != "__init__")


@pytest.mark.parametrize("record", OPS.values(), ids=OPS)
def test_op_is_complete(record: Op) -> None:
    document = inspect.getdoc(record.body) or ""
    required = {
        f"its name in __all__ of nestarray/ops/{record.chapter}.py": (
            getattr(na, record.name, None) is record.function
        ),
        "a docstring with a summary": document.strip() != "",
        "Args: in the docstring, with the shapes": "\nArgs:\n" in document,
        "an Example: in the docstring, which begins with >>>": ("\nExample:\n    >>> " in document),
        f"a Case in tests/cases/{record.chapter}.py": (
            any(case.op == record.name for case in all_cases())
        ),
    }
    missing = [what for what, is_there in required.items() if not is_there]
    assert not missing, f"{record.name} lacks " + "; ".join(missing)


def test_every_case_is_of_an_op() -> None:
    assert {case.op for case in all_cases()} <= set(OPS)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_chapter_exports_its_ops(chapter: str) -> None:
    module = importlib.import_module(f"nestarray.ops.{chapter}")
    own = {name for name, record in OPS.items() if record.chapter == chapter}
    public = set(module.__all__)
    assert own <= public, f"ops that are not in __all__: {sorted(own - public)}"
    assert not [n for n in public if getattr(na, n) is not getattr(module, n)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_backend_functions_have_the_signature_of_their_op(backend: str) -> None:
    for record in OPS.values():
        native = getattr(backends.chapter(backend, record.chapter), record.name, None)
        if native is None:
            assert not record.is_primitive, f"{record.name} is primitive and not in {backend}"
            continue
        module = getattr(native, "__module__", None) or ""
        if not module.startswith(f"nestarray.backends.{backend}"):
            continue  # the framework's own function, or one made in backends/base.py
        assert _shape(inspect.signature(native)) == _shape(record.signature), (
            f"{backend}: {record.name}{inspect.signature(native)} is not {record.signature}"
        )


def _shape(signature: inspect.Signature) -> list[tuple[str, bool, str]]:
    """(name, keyword only?, default) of each parameter."""
    return [
        (p.name, p.kind is p.KEYWORD_ONLY, repr(p.default)) for p in signature.parameters.values()
    ]


BACKEND_FILES = [
    (backend, chapter)
    for backend in BACKENDS
    for chapter in CHAPTERS
    if (PACKAGE / "backends" / backend / f"{chapter}.py").exists()
]


@pytest.mark.parametrize(("backend", "chapter"), BACKEND_FILES)
def test_backend_chapter_holds_ops_of_that_chapter_only(backend: str, chapter: str) -> None:
    source = (PACKAGE / "backends" / backend / f"{chapter}.py").read_text()
    public = {name for name in _defined(ast.parse(source)) if not name.startswith("_")}
    own = {name for name, record in OPS.items() if record.chapter == chapter}
    assert public <= own, f"no op of {chapter}: {sorted(public - own)}; start helpers with _"


def _defined(tree: ast.Module) -> set[str]:
    """The names that a module defines or assigns at its top level."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return names
