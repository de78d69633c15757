"""Public namespaces list their public names, and nothing that they import for themselves."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import torch

import nestarray as na

#: These are cheap, and each holds for the whole package.
pytestmark = pytest.mark.one_in(1)

SPACES = [
    na.dtypes, na.errors, na.graph, na.nn, na.ops, na.random, na.storage, na.testing, na.tree,
    na.typing,
]  # fmt: skip
#: Modules that are public names of a namespace.
MODULES = {
    "graph": {"passes"},
    "nn": {"initializers", "metrics", "recurrent_weights", "rotary", "schedules"},
}


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


def test_help_shows_first_calls_that_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = na.__doc__ or ""
    calls = text.partition("First calls::")[2].partition("Parts:")[0].strip().splitlines()
    assert len(calls) == 10
    ones = np.ones(2, "float32")
    v = na.Container(layer={"w": ones, "b": ones}, head=[ones])
    names: dict[str, Any] = {
        "na": na, "w": ones, "b": ones, "h": ones, "u": v, "fn": na.tree_norm,
        "module": torch.nn.Linear(2, 3), "x": torch.ones(4, 2),
    }  # fmt: skip
    for call in calls:
        exec(call.strip(), names)
    assert names["v"].spec is v.spec
    np.testing.assert_allclose(names["loss"], na.tree_norm(v))
    assert names["net"](jnp.ones((4, 2)), v=names["net"].v).shape == (4, 3)


def test_help_lists_the_chapters() -> None:
    chapters = (na.__doc__ or "").partition("shows one:")[2]
    listed = chapters.strip().rstrip(".").replace("\n", " ").split(",")
    files = Path(na.ops.__file__ or "").parent.glob("*.py")
    assert [name.strip() for name in listed] == sorted(f.stem for f in files if f.stem[0] != "_")
