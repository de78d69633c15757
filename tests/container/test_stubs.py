"""The generated stubs agree with Container and the ops."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.container.container import ListContainer
from nestarray.dispatch import OPS
from tools import stubs


@pytest.fixture(scope="module")
def package() -> list[stubs.Module]:
    return stubs.modules()


@pytest.fixture(scope="module")
def tree(package: list[stubs.Module]) -> ast.Module:
    return ast.parse(stubs.attached_stub(package))


@pytest.fixture(scope="module")
def methods(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    cls = next(node for node in tree.body if isinstance(node, ast.ClassDef))
    return {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}


def test_it_declares_the_attached_methods_and_no_others(
    methods: dict[str, ast.FunctionDef],
) -> None:
    for name in (
        "relu",
        "sum",
        "tree_norm",
        "summary",
        "plot",
        "from_torch_module",
        "__add__",
        "T",
    ):
        assert name in methods
    for name in methods:
        assert name in vars(na.Container), name
        own = getattr(inspect.unwrap(_plain(name)), "__module__", "")
        assert own != "nestarray.container.container", f"{name} is Container's own"
    public = {name for name in vars(na.Container) if name[0] != "_"}
    in_file = ast.parse(Path(inspect.getfile(na.Container)).read_text())
    body = next(n for n in in_file.body if isinstance(n, ast.ClassDef) and n.name == "Container")
    own_names = {n.name for n in body.body if isinstance(n, ast.FunctionDef)}
    assert public == (set(methods) | own_names) & public


def test_signatures_of_ops(package: list[stubs.Module]) -> None:
    tree = ast.parse(stubs.ops_stub(package))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    imported = {
        a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names
    }
    assert set(na.ops.__all__) <= functions.keys() | imported
    for name in OPS:
        arguments = functions[name].args
        found = [*arguments.posonlyargs, *arguments.args, arguments.vararg]
        found += [*arguments.kwonlyargs, arguments.kwarg]
        own = list(inspect.signature(OPS[name].body).parameters)
        assert sorted(a.arg for a in found if a) == sorted([*own, "out"])
    texts = {name: ast.unparse(node) for name, node in functions.items()}
    assert texts["exp"] == "def exp(x: Same, /, *, out: Any=None) -> Same:\n    ..."
    assert texts["add"] == (
        "def add(x1: ArrayOr[Tree], x2: ArrayOr[Tree], /, *, out: Any=None) -> Tree:\n    ..."
    )
    assert texts["equal"].endswith("-> Tree:\n    ...")


def _plain(name: str) -> Any:
    getattr(na.Container, name, None)  # imports a method that is attached lazily
    attribute = vars(na.Container)[name]
    if isinstance(attribute, property):
        return attribute.fget
    return getattr(attribute, "__func__", attribute)


@pytest.mark.parametrize("name", ["relu", "mean", "clip", "tree_norm", "summary", "plot", "where"])
def test_parameters(name: str, methods: dict[str, ast.FunctionDef]) -> None:
    expected = list(inspect.signature(_plain(name)).parameters.values())[1:]
    arguments = methods[name].args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)][1:]
    found = positional + [a.arg for a in (arguments.vararg, *arguments.kwonlyargs) if a]
    out = ["out"] if name in OPS else []
    assert found == [*[p.name for p in expected], *out]
    defaults = [p.default for p in expected if p.default is not p.empty]
    given = [d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None]
    assert [ast.literal_eval(d) for d in given] == [*defaults, *[None for _ in out]]


def test_docstrings_and_kinds(methods: dict[str, ast.FunctionDef]) -> None:
    assert ast.get_docstring(methods["relu"]) == (
        inspect.cleandoc(na.relu.__doc__ or "").partition("Example:")[0].strip()
    )
    decorators = {n: [ast.unparse(d) for d in methods[n].decorator_list] for n in methods}
    assert decorators["from_torch_module"] == ["staticmethod"]
    assert decorators["T"] == ["property"]
    assert decorators["relu"] == []
    plain = [n for n in methods if n[:2] != "__" and decorators[n] != ["property"]]
    assert [n for n in plain if not ast.get_docstring(methods[n])] == []


def test_names_in_annotations_exist(tree: ast.Module, methods: dict[str, ast.FunctionDef]) -> None:
    imported: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(str(node.module))
            assert all(hasattr(module, item.name) for item in node.names)
            imported |= {item.asname or item.name for item in node.names}
        elif isinstance(node, ast.Import):
            imported |= {item.asname or item.name for item in node.names}
    for method in methods.values():
        annotations = [a.annotation for a in ast.walk(method.args) if isinstance(a, ast.arg)]
        for annotation in (*annotations, method.returns):
            for node in ast.walk(annotation) if annotation else ():
                if isinstance(node, ast.Name):
                    known = node.id in imported or node.id == "Leaf" or hasattr(builtins, node.id)
                    assert known, f"{method.name}: {node.id}"
                    assert node.id not in methods, f"{method.name}: {node.id} is a method there"


def test_generic_in_the_type_of_leaves() -> None:
    alias = na.Container[np.ndarray]
    c = alias(a=np.ones(2), b=[np.zeros(1)])
    assert type(c) is na.Container
    assert isinstance(c["b"], ListContainer)
    assert isinstance(c, Mapping)
    assert pickle.loads(pickle.dumps(c)).spec is c.spec
    assert not {"Attached", "Generic"} & {base.__name__ for base in na.Container.__mro__}
