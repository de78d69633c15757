"""The JSON file of a `KeyMap`.

```
{"format": "nestarray key map", "version": 1,
 "rules": [{"from": "layers/{i:0-11}/weight", "to": "layer_{i}/kernel",
            "steps": [{"transpose": [1, 0]}], "confidence": 0.95}],
 "ambiguous": [{"from": "a", "to": "b", "confidence": 0.5}],
 "source": {"paths": ["layers/{i:0-11}/weight"], "nodes": [["layers", "list"]]},
 "target": {"paths": ["layer_{i:0-11}/kernel"], "nodes": []}}
```

Only the rules are required. A leaf in sections has a rule for each: ``{"split": [0, 8], "of": 24,
"axis": 0}`` is the first step from the leaf, ``{"concat": [0, 8], "of": 24, "axis": 0}`` the last step
to it. So are ``{"term": 0, "of": 2}`` and ``{"sum": 0, "of": 2}`` for a leaf that is a sum. ``paths`` lists all leaves in order (and nodes without leaves as ``{"empty": path}``);
``nodes`` lists each node other than dicts. Nothing in a file is executed; an error names the place of
anything that does not follow this format.
"""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from nestarray.container.spec import LEAF, Key, Path, Spec, join_path, make_spec, nearest_key
from nestarray.errors import MissingFileError, StorageError
from nestarray.interchange.naming.key_patterns import PatternError, Text, expand, fold, write
from nestarray.interchange.naming.pairs import (
    Concat,
    Flip,
    Pair,
    Pairing,
    Reshape,
    Shift,
    Split,
    Step,
    Sum,
    Term,
    Transpose,
    in_order,
    joined_section,
    overlap,
    taken_section,
)
from nestarray.storage.atomic import replacing

_FORMAT, _VERSION = "nestarray key map", 1
_KINDS = ("dict", "list", "tuple", "part of list", "part of tuple")
_NUMBERED = _KINDS[1:]
_SIDES = ("source", "target")

#: (from, to, steps, confidence), as written.
Rule = tuple[Text, Text, tuple[Step, ...], float]


def rules_of(keymap: Pairing, pairs: Iterable[Pair]) -> list[Rule]:
    """The pairs of a map, with pairs of numbered blocks folded into one rule."""
    old, new = _numbered_nodes(keymap.source), _numbered_nodes(keymap.target)
    rows = [
        (
            (_file_path(pair.source, old), _file_path(pair.target, new)),
            (pair.steps, pair.confidence),
        )
        for pair in pairs
    ]
    return [(*texts, *label) for texts, label in fold(rows)]  # type: ignore[misc]


# -- writing ----------------------------------------------------------------------------------


def save(keymap: Pairing, path: str | PathLike[str]) -> None:
    """Write `keymap` to a file atomically."""
    text = _laid_out(_to_plain(keymap))
    try:
        with replacing(pathlib.Path(path), "KeyMap.save") as temporary:
            temporary.write_text(text, encoding="utf-8")
    except MissingFileError:
        raise
    except (OSError, UnicodeEncodeError) as error:
        raise StorageError(f"KeyMap.save: {str(path)!r} cannot be written: {error}") from error


def _laid_out(plain: dict[str, Any]) -> str:
    """JSON with a line for each rule and for each path."""

    def text(value: Any, indent: str) -> str:
        inner = indent + "  "
        if isinstance(value, dict) and len(indent) < 4:
            items = [f"{json.dumps(key)}: {text(item, inner)}" for key, item in value.items()]
        elif isinstance(value, list) and value and len(indent) < 6:
            items = [json.dumps(item, ensure_ascii=False) for item in value]
        else:
            return json.dumps(value, ensure_ascii=False)
        start, end = "{}" if isinstance(value, dict) else "[]"
        return f"{start}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{end}"

    return text(plain, "") + "\n"


def _to_plain(keymap: Pairing) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "rules": [_rule_to_plain(rule) for rule in rules_of(keymap, keymap.pairs)],
        "ambiguous": [_rule_to_plain(rule) for rule in rules_of(keymap, keymap.candidates)],
        "source": _spec_to_plain(keymap.source),
        "target": _spec_to_plain(keymap.target),
    }


def _rule_to_plain(rule: Rule) -> dict[str, Any]:
    source, target, steps, confidence = rule
    plain: dict[str, Any] = {"from": source, "to": target}
    if steps:
        plain["steps"] = [step.to_plain() for step in steps]
    if confidence != 1:
        plain["confidence"] = confidence
    return plain


def _numbered_nodes(spec: Spec) -> set[Path]:
    return {path for path, node in _nodes(spec) if node.kind in _NUMBERED}


def _nodes(spec: Spec, path: Path = ()) -> Iterator[tuple[Path, Spec]]:
    if spec is LEAF:
        return
    yield path, spec
    for key, child in zip(spec.keys, spec.children, strict=True):
        yield from _nodes(child, (*path, key))


def _file_path(path: Path, numbered: set[Path]) -> Path:
    """The path with the numbers of lists as strings, as patterns need them."""
    return tuple([str(key) if path[:i] in numbered else key for i, key in enumerate(path)])


def _spec_to_plain(spec: Spec) -> dict[str, Any]:
    numbered = _numbered_nodes(spec)
    kinds = [((_file_path(p, numbered),), n.kind) for p, n in _nodes(spec) if n.kind != "dict"]
    places = [((_file_path(path, numbered),), is_leaf) for path, is_leaf in _ends(spec)]
    plain: dict[str, Any] = {"nodes": [[texts[0], kind] for texts, kind in fold(kinds)]}
    # Blocks with alternating members, such as Dense_0, Norm_0, Dense_1, cannot be folded over all
    # of their numbers; fold over the first ones if possible, else write each path.
    for variables in (None, 2, 1):
        plain["paths"] = [_place(texts[0], is_leaf) for texts, is_leaf in fold(places, variables)]
        try:
            if _spec_from_plain(plain, "", [])[0] is spec:
                return plain
        except _WrongFile:
            continue
    plain["paths"] = [_place(write(paths[0]), is_leaf) for paths, is_leaf in places]
    return plain


def _place(text: Text, is_leaf: Any) -> Any:
    return text if is_leaf else {"empty": text}


def _ends(spec: Spec, path: Path = ()) -> Iterator[tuple[Path, bool]]:
    """Leaves and nodes without keys, in order."""
    if not spec.keys:
        yield path, spec is LEAF
    for key, child in zip(spec.keys, spec.children, strict=True):
        yield from _ends(child, (*path, key))


# -- reading ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """One pair of the file, before its keys are converted to the keys of the trees."""

    where: str
    paths: tuple[Path, ...]
    steps: tuple[Step, ...]
    confidence: float


def load(path: str | PathLike[str]) -> Pairing:
    """The key map in a file, after all checks."""
    name = fspath(path)
    try:
        with open(name, encoding="utf-8") as file:
            plain = json.load(file)
    except FileNotFoundError as error:
        raise MissingFileError(f"KeyMap.load: there is no file {name!r}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise StorageError(f"KeyMap.load: {name!r} is no JSON file: {error}") from error
    try:
        return _from_plain(plain)
    except (_WrongFile, PatternError) as error:
        raise StorageError(f"KeyMap.load: {name!r}: {error}") from None


class _WrongFile(ValueError):
    """The content of a file violates the format; the message names the place."""


def _from_plain(plain: Any) -> Pairing:
    _check_fields("the file", plain, ("format", "version", "rules"), ("ambiguous", *_SIDES))
    if (plain["format"], plain["version"]) != (_FORMAT, _VERSION):
        raise _WrongFile(
            f"got the format {plain['format']!r}, version {plain['version']!r}, expected "
            f"{_FORMAT!r}, version {_VERSION}"
        )
    rows = _read_rows(plain["rules"], "rules")
    open_rows = _read_rows(plain.get("ambiguous", []), "ambiguous")
    specs: list[Spec] = []
    translated: list[dict[Path, Path]] = []
    for i, side in enumerate(_SIDES):
        own = [row.paths[i] for row in (*rows, *open_rows)]
        spec, kinds = _spec_from_plain(plain.get(side), side, own)
        leaves = set(spec.paths)
        table: dict[Path, Path] = {}
        for row in (*rows, *open_rows):
            table[row.paths[i]] = path = _keys(row.paths[i], kinds, row.where)[1]
            if path not in leaves:
                near = nearest_key(join_path(path), spec.path_names)
                raise _WrongFile(f"{row.where}: {join_path(path)!r} is no leaf of {side}{near}")
        specs.append(spec)
        translated.append(table)
        _check_once(rows, i, side)

    def pairs(group: list[_Row]) -> tuple[Pair, ...]:
        made = [
            Pair(translated[0][r.paths[0]], translated[1][r.paths[1]], r.steps, r.confidence)
            for r in group
        ]
        return in_order(made, specs[1])

    return Pairing(specs[0], specs[1], pairs(rows), pairs(open_rows))


def _check_once(rows: list[_Row], side: int, name: str) -> None:
    section_of = (taken_section, joined_section)[side]
    seen: dict[Path, list[_Row]] = {}
    for row in rows:
        others = seen.setdefault(row.paths[side], [])
        for other in others:
            if overlap(section_of(row.steps), section_of(other.steps)):
                raise _WrongFile(
                    f"{row.where}: {join_path(row.paths[side])!r} of {name} is in {other.where} "
                    "already; a leaf or a section has one partner"
                )
        others.append(row)


def _read_rows(plain: Any, name: str) -> list[_Row]:
    if not isinstance(plain, list):
        raise _WrongFile(f"{name}: got {plain!r}, expected a list of rules")
    rows = []
    for i, rule in enumerate(plain):
        where = f"{name}[{i}]"
        _check_fields(where, rule, ("from", "to"), ("steps", "confidence"))
        confidence = rule.get("confidence", 1.0)
        if not (_is_number(confidence) and 0 <= confidence <= 1):
            raise _WrongFile(f"{where}: confidence: got {confidence!r}, expected 0 to 1")
        steps = _read_steps(rule.get("steps", []), where)
        try:
            found = list(expand(rule["from"], rule["to"]))
        except PatternError as error:
            raise _WrongFile(f"{where}: {error}") from None
        rows += [_Row(where, paths, steps, confidence) for paths in found]
    return rows


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool)


def _read_steps(plain: Any, where: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    for step in plain if isinstance(plain, list) else [plain]:
        match step:
            case {"transpose": list(axes), **rest} if not rest and _are_sizes(axes):
                if sorted(axes) == list(range(len(axes))):
                    steps.append(Transpose(tuple(axes)))
                    continue
            case {"reshape": list(new), "from": list(old), **rest} if not rest:
                if _are_sizes(new) and _are_sizes(old) and math.prod(new) == math.prod(old):
                    steps.append(Reshape(tuple(old), tuple(new)))
                    continue
            case {"split": [start, stop], "of": size, "axis": axis, **rest} if not rest:
                if _is_section(start, stop, size, axis):
                    steps.append(Split(axis, start, stop, size))
                    continue
            case {"concat": [start, stop], "of": size, "axis": axis, **rest} if not rest:
                if _is_section(start, stop, size, axis):
                    steps.append(Concat(axis, start, stop, size))
                    continue
            case {"flip": list(axes), **rest} if not rest and _are_sizes(axes):
                if axes and len(set(axes)) == len(axes):
                    steps.append(Flip(tuple(axes)))
                    continue
            case {"shift": by, **rest} if not rest and _is_number(by):
                steps.append(Shift(by))
                continue
            case {"term": int(term), "of": int(count), **rest} if not rest and 0 <= term < count:
                steps.append(Term(term, count))
                continue
            case {"sum": int(term), "of": int(count), **rest} if not rest and 0 <= term < count:
                steps.append(Sum(term, count))
                continue
            case _:
                pass
        raise _WrongFile(
            f'{where}: steps: got {step!r}, expected {{"transpose": [1, 0]}} with each axis once, '
            '{"reshape": [4, 2, 3], "from": [4, 6]} of one size, {"split": [0, 4], "of": 12, '
            '"axis": 0} (or "concat"), {"flip": [0, 1]}, {"shift": 1.0} or {"sum": 0, "of": 2} (or '
            '"term")'
        )
    return tuple(steps)


def _is_section(start: Any, stop: Any, size: Any, axis: Any) -> bool:
    return _are_sizes([start, stop, size, axis]) and start < stop <= size


def _are_sizes(values: list[Any]) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _check_fields(
    where: str, plain: Any, needed: tuple[str, ...], allowed: tuple[str, ...]
) -> None:
    if not isinstance(plain, dict):
        raise _WrongFile(f"{where}: got {type(plain).__name__}, expected an object")
    for field in needed:
        if field not in plain:
            raise _WrongFile(f"{where}: {field!r} is missing")
    for field in plain:
        if field not in needed and field not in allowed:
            near = nearest_key(field, (*needed, *allowed))
            raise _WrongFile(f"{where}: there is no field {field!r}{near}")


def _spec_from_plain(plain: Any, side: str, known: list[Path]) -> tuple[Spec, dict[Path, str]]:
    """The structure of a side, and the kind of each listed node, by path as in the file."""
    kinds: dict[Path, str] = {}
    places = [(path, True) for path in dict.fromkeys(known)]
    if plain is not None:
        _check_fields(side, plain, (), ("paths", "nodes"))
        kinds = _read_kinds(plain.get("nodes", []), side)
        if "paths" in plain:
            places = list(_read_places(plain["paths"], side))
    tree: dict[Key, Any] | None = {}
    for path, is_leaf in places:
        real = _keys(path, kinds, side)[1]
        if not real and (is_leaf or len(places) > 1):
            if len(places) > 1:
                raise _WrongFile(f"{side}: a path without keys goes with no other path")
            tree = None
        elif real:
            assert tree is not None
            _insert(tree, real, is_leaf, side)
    return _made_spec(tree, (), kinds, side), kinds


def _read_kinds(plain: Any, side: str) -> dict[Path, str]:
    if not isinstance(plain, list):
        raise _WrongFile(f"{side}: nodes: got {plain!r}, expected a list")
    listed: list[tuple[Path, str]] = []
    for entry in plain:
        if not (isinstance(entry, list) and len(entry) == 2 and entry[1] in _KINDS):
            raise _WrongFile(
                f"{side}: nodes: got {entry!r}, expected [path, kind] with a kind of {', '.join(_KINDS)}"
            )
        listed += [(paths[0], entry[1]) for paths in expand(entry[0])]
    kinds: dict[Path, str] = {}
    for path, kind in sorted(listed, key=lambda item: len(item[0])):
        kinds[_keys(path, kinds, side)[0]] = kind
    return kinds


def _read_places(plain: Any, side: str) -> Iterator[tuple[Path, bool]]:
    if not isinstance(plain, list):
        raise _WrongFile(f"{side}: paths: got {plain!r}, expected a list")
    for entry in plain:
        is_leaf = not isinstance(entry, dict)
        if not is_leaf:
            _check_fields(f"{side}: paths", entry, ("empty",), ())
        for paths in expand(entry if is_leaf else entry["empty"]):
            yield paths[0], is_leaf


def _keys(path: Path, kinds: dict[Path, str], where: str) -> tuple[Path, Path]:
    """A path as in the file, and the same path with the numbers of lists as integers."""
    file_path: Path = ()
    real: Path = ()
    for key in path:
        if kinds.get(file_path) in _NUMBERED:
            if not str(key).isdecimal():
                raise _WrongFile(
                    f"{where}: {join_path(path)!r}: got the key {key!r} of a {kinds[file_path]}, "
                    "expected a number"
                )
            file_path, real = (*file_path, str(key)), (*real, int(key))
        else:
            file_path, real = (*file_path, key), (*real, key)
    return file_path, real


def _insert(tree: dict[Key, Any], path: Path, is_leaf: bool, side: str) -> None:
    node: Any = tree
    for key in path[:-1]:
        node = node.setdefault(key, {})
        if node is None:
            raise _WrongFile(f"{side}: {join_path(path)!r} goes below a leaf")
    if path[-1] in node:
        raise _WrongFile(f"{side}: {join_path(path)!r} is there twice")
    node[path[-1]] = None if is_leaf else {}


def _made_spec(tree: Any, file_path: Path, kinds: dict[Path, str], side: str) -> Spec:
    if tree is None:
        return LEAF
    kind = kinds.get(file_path, "dict")
    if kind in ("list", "tuple") and list(tree) != list(range(len(tree))):
        raise _WrongFile(
            f"{side}: {join_path(file_path) or '.'!r} is a {kind} of the keys "
            f"{', '.join(map(str, tree))}, expected 0 to {len(tree) - 1} in order"
        )
    numbered = kind in _NUMBERED
    children = [
        _made_spec(child, (*file_path, str(key) if numbered else key), kinds, side)
        for key, child in tree.items()
    ]
    return make_spec(kind, tuple(tree), tuple(children))
