"""Lazily imported names are the same for type checkers and for Python."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import pytest

import nestarray as na
from nestarray.errors.suggestions import SUGGESTIONS
from nestarray.errors.unknown_names import hint, suggestion

#: These are cheap, and each holds for the whole package.
pytestmark = pytest.mark.one_in(1)

ROOT = Path(na.__file__).parent.parent
PACKAGES = [p for p in sorted(ROOT.glob("nestarray/**/__init__.py")) if "attach(" in p.read_text()]


@pytest.mark.parametrize("file", PACKAGES, ids=lambda p: p.parent.name)
def test_tools_and_python_find_the_same_names(file: Path) -> None:
    package = ".".join(file.parent.relative_to(ROOT).parts)
    tree = ast.parse(file.read_text())
    imports = next(n for n in tree.body if isinstance(n, ast.If)).body
    told = {
        alias.asname: node.module
        for node in imports
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    call = next(n for n in ast.walk(tree) if isinstance(n, ast.Call))
    table: dict[str, tuple[str, ...]] = ast.literal_eval(call.args[1])
    assert told == {name: module for module, names in table.items() for name in names}
    module = importlib.import_module(package)
    for name in told:
        assert name in dir(module)
        assert getattr(module, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'nestarray' has no attribute 'frobnicate'"):
        _ = na.frobnicate  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("module", "name", "words"),
    [
        (na, "concatenate", "use na.concat"),
        (na, "sotfmax", "did you mean softmax?"),
        (na, "tanH", "did you mean tanh?"),
        (na, "concatenat", "did you mean concatenate? use na.concat"),
        (na, "parallel_map", "use c.parallel_map(…)"),
        (na.nn, "Dense", "use na.nn.Linear"),
        (na.nn, "clip_by_global_norm", "use grads.global_clip(max_norm)"),
        (na.tree, "tree_map", "use c.map(fn)"),
        (na.random, "nromal", "did you mean normal?"),
        (na, "from_flax", "use na.Container.from_flax(variables)"),
        (
            na,
            "from_torch",
            "use na.trace_graph(module, x) or na.to_module(module, x), or "
            "na.Container.from_torch_module(module) for its arrays",
        ),
        (na.nn, "Reshape", "use na.nn.Lambda(lambda x: na.reshape(x, shape))"),
    ],
)
def test_names_of_elsewhere_are_explained(module: ModuleType, name: str, words: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(module, name)
    assert str(caught.value) == f"module {module.__name__!r} has no attribute {name!r}; {words}"


def test_all_functions_of_keras_are_here_or_explained() -> None:
    import keras

    there = [name for name in dir(keras.ops) if not name.startswith("_")]
    public = [name for name in dir(na) if not name.startswith("_")]
    words = {name: hint("nestarray", name, public) for name in there}
    assert [name for name in there if not hasattr(na, name) and not words[name]] == []


@pytest.mark.parametrize(
    ("expression", "last"),
    [
        ("na.sotfmax", "module 'nestarray' has no attribute 'sotfmax'; did you mean softmax?"),
        ("na.Container(abc=1).abd", "Container has no key or method 'abd'; did you mean 'abc'?"),
    ],
)
def test_python_adds_no_guess_of_its_own(expression: str, last: str) -> None:
    code = f"import nestarray as na; {expression}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.splitlines()[-1] == f"AttributeError: {last}"


@pytest.mark.parametrize("namespace", SUGGESTIONS)
def test_suggestions_exist(namespace: str) -> None:
    for remedy in SUGGESTIONS[namespace]:
        for path in re.findall(r"\bna\.((?:nn\.|random\.|tree\.)?\w+)", remedy):
            assert attrgetter(path)(na) is not None, remedy
        for method in re.findall(r"\bc\.(\w+)", remedy):
            assert hasattr(na.Container, method), remedy


@pytest.mark.parametrize(
    "namespace", ["nestarray", "nestarray.nn", "nestarray.random", "nestarray.frontends.torch"]
)
def test_names_that_exist_have_no_suggestion(namespace: str) -> None:
    module = importlib.import_module(namespace)
    names = [name for name in dir(module) if not name.startswith("tree_")]
    assert [name for name in names if suggestion(namespace, name)] == []


def test_dir_lists_public_names() -> None:
    """The modules of the package exist, but are not suggested as names."""
    names = [name for name in dir(na) if not name.startswith("_")]
    shown = {name for name in names if isinstance(getattr(na, name), ModuleType)}
    assert shown == {
        "decoding", "dtypes", "errors", "exporters", "frontends", "graph", "nn", "ops", "random",
        "storage", "testing", "tree", "typing",
    }  # fmt: skip
    assert na.frontends.torch.relu


def test_lazy_methods_are_attached_by_the_modules_that_the_table_names() -> None:
    code = (
        "import nestarray as na; from nestarray.lazy_imports import LazyMethod\n"
        "lazy = [n for n, a in vars(na.Container).items() if isinstance(a, LazyMethod)]\n"
        "print('save' in lazy, all(callable(getattr(na.Container, name)) for name in lazy),"
        " any(isinstance(vars(na.Container)[name], LazyMethod) for name in lazy))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "True True False"


def test_unused_modules_are_not_imported() -> None:
    code = (
        "import sys, nestarray as na; later = ('nestarray.graph.graph', 'nestarray.nn.module',"
        " 'nestarray.storage.files', 'nestarray.interchange.naming.key_map', 'html', 'json')\n"
        "before = [m for m in later if m in sys.modules]\n"
        "assert na.Graph is na.graph.Graph and na.nn.Linear and na.storage.StoredArray\n"
        "print(before, [m for m in later if m not in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (
        result.stdout.strip()
        == "[] ['nestarray.storage.files', 'nestarray.interchange.naming.key_map']"
    )
