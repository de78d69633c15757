"""Every Example in a docstring runs and prints the output shown."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

import nestarray as na
from nestarray.dispatch import OPS, Op

ROOT = Path(na.__file__).parent.parent
FILES = sorted(p.relative_to(ROOT).with_suffix("") for p in (ROOT / "nestarray").rglob("*.py"))
MODULES = [".".join(p.parts).removesuffix(".__init__") for p in FILES]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("record", OPS.values(), ids=OPS)
def test_examples_of_op(record: Op) -> None:
    # Ops are looked at by name: doctest's finder takes only functions whose globals are the module's.
    document = record.body.__doc__ or ""
    test = doctest.DocTestParser().get_doctest(document, {}, record.name, None, 0)
    check(test)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_module(name: str) -> None:
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        if test.examples and not is_op(module, test.name.removeprefix(f"{name}.")):
            check(test)


def is_op(module: ModuleType, name: str) -> bool:
    return hasattr(getattr(module, name, None), "op")


def check(test: doctest.DocTest) -> None:
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=output.append)
    assert not runner.failures, "".join(output)
