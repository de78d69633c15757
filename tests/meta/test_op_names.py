"""No tables of op names: a property that ops share is a trait, declared in ``ops``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import nestarray as na
from nestarray.dispatch import OPS

#: These are cheap, and each holds for the whole package.
pytestmark = pytest.mark.one_in(1)

PACKAGE = Path(na.__file__).parent

#: A literal of this many names of ops is a table.
MOST = 3

#: File or package → why it has tables of names.
EXCEPTIONS = {
    "ops": "declares the ops",
    "frontends": "functions of other frameworks under their names",
    "array_api.py": "names of the standard",
    "batches/at.py": "methods of x.at of JAX",
    "backends/tensorflow/complex_parts.py": "op → its rule for complex numbers",
    "diagnosis/rules.py": "op → the checks of its arguments",
    "dispatch/numpy_protocols.py": "names of NumPy's ufuncs",
    "dispatch/tensorflow_functions.py": "names of TensorFlow's operators",
    "exporters/source/lowering/layer_paths.py": "op → the names of the variables of its layer in torch",
    "exporters/source/printing": "spelling",
    "exporters/source/recording": "functions of the target framework",
    "exporters/source/tree/settings.py": "functions of the target framework",
    "graph/flops.py": "function → the formula of its FLOPs, also of frontends",
    "graph/passes/idioms/normalization.py": "the ops of one pattern",
    "graph/passes/idioms/terms.py": "op → its term",
    "importers": "functions of the source framework",
    "nn/initializers/distributions.py": "names of nonlinearities in torch",
    "numerics/nonfinite.py": "function → its values at infinity",
    "testing/portability.py": "functions of which a lint speaks",
    "transforms/abstract": "op → the shape and dtype of its result",
    "transforms/autodiff": "op → its derivative; names of NumPy's methods",
}


def names_in(node: ast.AST) -> list[str]:
    """The strings of a literal, of the arguments of a call, or of a text that is split."""
    parts: list[ast.expr | None] = []
    if isinstance(node, (ast.Set, ast.List, ast.Tuple)):
        parts = [*node.elts]
    elif isinstance(node, ast.Dict):
        parts = [*node.keys]
    elif isinstance(node, ast.Call):
        parts = [*node.args]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            return [
                name for name in names_in(ast.Tuple([node.func.value])) for name in name.split()
            ]
    return [x.value for x in parts if isinstance(x, ast.Constant) and isinstance(x.value, str)]


def tables(source: str) -> Iterator[tuple[int, list[str]]]:
    """(line, names) of the tables in a file."""
    for node in ast.walk(ast.parse(source)):
        names = names_in(node)
        known = [name for name in names if name in OPS]
        if len(known) > MOST and 2 * len(known) >= len(names):
            yield node.lineno, known  # type: ignore[attr-defined]


def exception_of(path: str) -> str | None:
    return next((e for e in EXCEPTIONS if path == e or path.startswith(f"{e}/")), None)


def test_properties_of_ops_are_traits() -> None:
    paths = {str(file.relative_to(PACKAGE)): file for file in PACKAGE.rglob("*.py")}
    found = {path: [*tables(file.read_text())] for path, file in paths.items()}
    found = {path: rows for path, rows in found.items() if rows}
    unexpected = {path: rows for path, rows in found.items() if exception_of(path) is None}
    assert not unexpected, "declare a trait in nestarray/ops, and ask the op for it"
    assert set(map(exception_of, found)) == EXCEPTIONS.keys(), "an exception is not needed"


@pytest.mark.parametrize(
    "text",
    [
        '_UNARY = frozenset(["exp", "log", "sin", "cos"])',
        'is_op(node, "add", "subtract", "multiply", "divide")',
        'NAMES = {"add": 1, "subtract": 1, "multiply": 1, "other": 1, "divide": 1}',
        'NAMES = "exp log sin cos".split()',
    ],
)
def test_a_new_table_is_found(text: str) -> None:
    assert len([*tables(text)]) == 1
    assert not [*tables(text.replace("sin", "other").replace("divide", "other"))]
