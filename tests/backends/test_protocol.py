"""Every backend has the interface of `nestarray.backends.protocol`."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import nestarray as na
from nestarray import backends
from nestarray.backends import control_flow, protocol
from nestarray.config import BACKENDS
from nestarray.transforms.arguments import native_chapter

PACKAGE = Path(na.__file__).parent
FILES = sorted({*protocol.REQUIRED, *protocol.OPTIONAL})
PAIRS = [
    pytest.param(backend, file, id=f"{backend}-{file}") for backend in BACKENDS for file in FILES
]

#: Functions of these files that other files of the same backend use.
INTERNAL = {
    ("numpy", "core"): {"in_dtype", "check_device"},
    ("jax", "core"): {"find_device"},
    ("torch", "core"): {"find_device"},
    ("tensorflow", "core"): {"is_watched", "on_device"},
    ("torch", "transforms"): {"is_differentiated_again"},
    ("tensorflow", "transforms"): {"derivatives_around", "tapes_stopped", "traced_in"},
}


def module_of(backend: str, file: str) -> ModuleType | None:
    if file in ("transforms", "collectives"):
        return native_chapter(backend, file)
    return backends.chapter(backend, file)


def members(kind: Any) -> set[str]:
    """The functions and attributes that a protocol declares."""
    return {
        name
        for name in {*vars(kind), *inspect.get_annotations(kind)}
        if not name.startswith("_") and name != "_abc_impl"
    }


def check_signature(function: Any, kind: Any, name: str) -> None:
    """Parameters have the same names, kinds and defaults; keywords with defaults may be added."""
    declared = inspect.getattr_static(kind, name, None)
    if declared is None:  # an attribute
        return
    expected = list(inspect.signature(declared).parameters.values())[1:]
    found = list(inspect.signature(function).parameters.values())
    own = {p.name for p in expected}
    added = [p for p in found if p.name not in own]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in added), name
    described = [
        [(p.name, p.kind, p.default) for p in parameters if p.name in own]
        for parameters in (found, expected)
    ]
    assert described[0] == described[1], name


@pytest.mark.parametrize(("backend", "file"), PAIRS)
def test_a_file_has_its_protocols(backend: str, file: str) -> None:
    module = module_of(backend, file)
    required = protocol.REQUIRED.get(file, ())
    assert module is not None or not required
    for kind in (*required, *protocol.OPTIONAL.get(file, ())):
        missing = {name for name in members(kind) if not hasattr(module, name)}
        if kind in required:
            assert not missing, kind.__name__
        assert missing in (set(), members(kind)), f"{kind.__name__} is defined in part"
        for name in members(kind) - missing:
            check_signature(getattr(module, name), kind, name)


@pytest.mark.parametrize("backend", BACKENDS)
def test_control_flow_is_native_or_pythons(backend: str) -> None:
    native = backends.chapter(backend, "control_flow")
    for name in members(protocol.ControlFlow):
        own = getattr(native, name, None)
        if own is not None:
            check_signature(own, protocol.ControlFlow, name)
        elif name == "cond":
            assert control_flow.static_value(True) == 1  # Python's `if` chooses
        else:
            check_signature(getattr(control_flow, name), protocol.ControlFlow, name)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("file", [*protocol.REQUIRED, "control_flow", "collectives"])
def test_the_protocols_are_complete(backend: str, file: str) -> None:
    """A public function of these files is in a protocol, or its backend alone uses it."""
    if file == "promotion":  # its decorators are the backend's own
        return
    module = module_of(backend, file)
    kinds = (*protocol.REQUIRED.get(file, ()), *protocol.OPTIONAL.get(file, ()))
    kinds = (protocol.ControlFlow,) if file == "control_flow" else kinds
    declared = {name for kind in kinds for name in members(kind)}
    functions = (
        {
            name
            for name, value in vars(module).items()
            if inspect.isfunction(value)
            and value.__module__ == getattr(module, "__name__", None)
            and not name.startswith("_")
        }
        if module is not None
        else set()
    )
    assert functions - declared == INTERNAL.get((backend, file), set())


def test_a_new_backend_would_be_found_by_name() -> None:
    assert {p.parent.name for p in PACKAGE.glob("backends/*/core.py")} == set(BACKENDS)
