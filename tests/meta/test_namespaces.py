"""Public namespaces list their public names, and nothing that they import for themselves."""

from __future__ import annotations

from types import ModuleType

import pytest

import nestarray as na

SPACES = [
    na.dtypes, na.errors, na.graph, na.nn, na.ops, na.random, na.storage, na.testing, na.tree,
    na.typing,
]  # fmt: skip
#: Modules that are public names of a namespace.
MODULES = {"graph": {"passes"}, "nn": {"initializers"}}


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_dir_lists_the_public_names(space: ModuleType) -> None:
    names = dir(space)
    assert names == sorted(space.__all__)
    assert not [name for name in names if name.startswith("_")]
    modules = {name for name in names if isinstance(getattr(space, name), ModuleType)}
    assert modules == MODULES.get(space.__name__.rpartition(".")[2], set())


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_public_names_are_defined_in_nestarray(space: ModuleType) -> None:
    if space is na.typing:  # aliases of types of Python
        return
    defined = {name: getattr(space, name) for name in dir(space)}
    foreign = [
        name
        for name, value in defined.items()
        if not str(getattr(value, "__module__", "nestarray")).startswith("nestarray")
    ]
    assert foreign == []


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_public_functions_and_classes_of_a_file_are_listed(space: ModuleType) -> None:
    """A new public class of errors, or layer of nn, is not forgotten in ``__all__``."""
    if space not in (na.errors, na.nn, na.random, na.testing):
        return
    own = {
        name
        for name, value in vars(space).items()
        if name[:1] != "_" and str(getattr(value, "__module__", "")).startswith(space.__name__)
    }
    assert own - {"suggest_names"} <= set(dir(space))


def test_the_front_page_lists_public_names() -> None:
    names = [name for name in dir(na) if not name.startswith("_")]
    foreign = [
        name
        for name in names
        if not str(getattr(getattr(na, name), "__module__", "nestarray")).startswith("nestarray")
    ]
    assert foreign == []


def test_an_unknown_name_of_a_namespace_is_suggested() -> None:
    with pytest.raises(AttributeError, match="did you mean ShapeError"):
        _ = na.errors.ShapError  # type: ignore[attr-defined]
