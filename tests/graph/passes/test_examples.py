"""Each rule of `passes` has an example, the graph before and after, which is right."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import nestarray as na
from nestarray.graph import passes
from nestarray.graph.passes.rewriting import Rule, rewrite
from tests.graph.passes.programs import checked, parsed, text_of

_EXAMPLE = re.compile(r"Before::\n\n(.*?)\n\nAfter::\n\n(.*?)(?=\n\n\S|\Z)", re.DOTALL)
MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(passes.__path__, f"{passes.__name__}.")
]


def rules() -> Iterator[Any]:
    """(a function from the first graph to the second, the owner of the docstring)."""
    for module in MODULES:
        short = module.__name__.removeprefix(f"{passes.__name__}.")
        if "Before::" in (module.__doc__ or ""):
            yield pytest.param(passes.recognize_idioms, module, id=short)
        for value in vars(module).values():
            for rule in value if isinstance(value, tuple) else ():
                if isinstance(rule, Rule):
                    run = partial(_rewritten, rule)
                    yield pytest.param(
                        run, rule.replacement, id=f"{short}-{rule.replacement.__name__}"
                    )
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if (
                function.__module__ == module.__name__
                and name[0] != "_"
                and "Before::" in (function.__doc__ or "")
            ):
                yield pytest.param(function, function, id=f"{short}-{name}")


def _rewritten(rule: Rule, graph: na.Graph) -> na.Graph:
    return rewrite(graph, rule, in_bodies=True, drop_unused=True)


@pytest.mark.parametrize(("run", "documented"), [*rules()])
def test_example(run: Callable[[na.Graph], na.Graph], documented: Any) -> None:
    example = _EXAMPLE.search(inspect.cleandoc(documented.__doc__ or ""))
    assert example is not None, f"{documented.__name__} has no example"
    before, after = map(parsed, example.groups())
    assert text_of(checked(before, run(before))) == text_of(after)
