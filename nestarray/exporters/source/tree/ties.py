"""Parameters of PyTorch with several names: each module has its own, and the root ties them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from nestarray.exporters.source.recording.records import Recording, Value
from nestarray.exporters.source.tree.modules import Path, indexed, parts
from nestarray.graph.node import map_leaves


def names_by_path(names: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    """Path of a parameter → its names, if there are several.

    Args:
        names: name in the source → container and path of the variable.
    """
    names_of: dict[str, list[str]] = {}
    for name, (container, path) in names.items():
        if container == "v":
            names_of.setdefault(path, []).append(name)
    return {path: several for path, several in names_of.items() if len(several) > 1}


def with_own_names(
    recording: Recording, names: Mapping[str, Sequence[str]]
) -> tuple[Recording, dict[Value, Value]]:
    """The recording in which each module uses a parameter by its own name, and new value → value.

    Args:
        recording: the program.
        names: path of a parameter → its names.
    """
    renamed_values: dict[tuple[Value, Path], Value] = {}

    def renamed(leaf: object, place: Path) -> object:
        if not isinstance(leaf, Value) or leaf.source != "v":
            return leaf
        known = map(parts, names.get(leaf.path, ()))
        inside = [name for name in known if name[:-1] == place[: len(name) - 1]]
        alias = max(inside, key=len, default=parts(leaf.path))
        if alias == parts(leaf.path):
            return leaf
        return renamed_values.setdefault(
            (leaf, alias), dataclasses.replace(leaf, path="/".join(alias))
        )

    calls = []
    for call in recording.calls:
        place = parts(call.place.module)
        nest = map_leaves(lambda leaf, place=place: renamed(leaf, place), (call.args, call.kwargs))
        calls.append(dataclasses.replace(call, args=nest[0], kwargs=nest[1]))
    return dataclasses.replace(recording, calls=calls), {
        new: old for (old, _), new in renamed_values.items()
    }


def ties_of(
    variables: Mapping[str, Value],
    stands_for: Mapping[Value, Value],
    names: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """Further name of a parameter → its first name.

    Args:
        variables: name in the source → variable.
        stands_for: variable with a name of its own → the variable.
        names: path of a parameter → its names.
    """
    known: dict[Value, list[str]] = {}
    for name, value in variables.items():
        known.setdefault(stands_for.get(value, value), []).append(name)
    ties: dict[str, str] = {}
    for value, (first, *others) in known.items():
        aliases = names.get(value.path, ()) if value.source == "v" else ()
        absent = [name for name in aliases if name not in (first, *others)]
        ties |= dict.fromkeys([*others, *absent], first)
    return ties


def statements(ties: Mapping[str, str], variables: Mapping[str, Value]) -> Iterator[str]:
    """The lines of a constructor that tie parameters."""
    modules = {owner for name in variables for owner in _owners(name)}
    for name, first in ties.items():
        for owner in _owners(name):
            if owner not in modules:
                yield f"{_access(owner)} = nn.Module()"
                modules.add(owner)
        yield f"{_access(name)} = {_access(first)}"


def _owners(name: str) -> list[str]:
    """The modules of a name, the outermost first."""
    names = name.split(".")
    return [".".join(names[:n]) for n in range(1, len(names))]


def _access(name: str) -> str:
    return indexed(f"self.{name}")
