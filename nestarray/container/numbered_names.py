"""Names that differ only in numbers, such as ``dense`` and ``dense_3`` of two equal Keras models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from nestarray.container.spec import Key, Path

_NUMBERED = re.compile(r"(.*?)(?:_([0-9]+))?")


def same_order(
    paths: Sequence[Path], other: Sequence[Path], is_automatic: Callable[[str], bool] | None = None
) -> dict[Path, Path] | None:
    """Path → path of another tree with the same names apart from numbers, by position.

    Args:
        paths: the paths of a tree, or of a part that has all numbers of its names.
        other: the paths of the other tree.
        is_automatic: whether a name without number may have other numbers; by default, all may.

    Returns:
        None if a name occurs with different frequencies, or if the order of the names and the order
        of their numbers disagree.

    Example:
        >>> same_order([("net", "fc_2"), ("net", "fc_3")], [("net_1", "fc"), ("net_1", "fc_1")])
        {('net', 'fc_2'): ('net_1', 'fc'), ('net', 'fc_3'): ('net_1', 'fc_1')}
        >>> same_order([("a",), ("a_1",)], [("a",)]) is None
        True
    """
    if not any(paths):
        return dict.fromkeys(paths, ()) if set(other) == {()} else None
    old, new = _by_first_key(paths), _by_first_key(other)
    families = _families(new, is_automatic)
    result: dict[Path, Path] = {}
    for family, keys in _families(old, is_automatic).items():
        targets = families.get(family, [])
        pairs = list(zip(keys, targets))
        if len(keys) != len(targets) or pairs != list(zip(*map(_by_number, (keys, targets)))):
            return None
        for key, target in pairs:
            inner = same_order(old[key], new[target], is_automatic)
            if inner is None:
                return None
            result |= {(key, *path): (target, *place) for path, place in inner.items()}
    return {path: result[path] for path in paths}


def _by_first_key(paths: Iterable[Path]) -> dict[Key, list[Path]]:
    """First key → the rests of the paths that begin with it."""
    found: dict[Key, list[Path]] = {}
    for path in paths:
        if path:
            found.setdefault(path[0], []).append(path[1:])
    return found


def _families(
    keys: Iterable[Key], is_automatic: Callable[[str], bool] | None
) -> dict[tuple[bool, Key], list[Key]]:
    """Keys by name without number, in order."""
    found: dict[tuple[bool, Key], list[Key]] = {}
    for key in keys:
        name, _ = _split(key)
        automatic = isinstance(key, str) and (is_automatic is None or is_automatic(name))
        found.setdefault((True, name) if automatic else (False, key), []).append(key)
    return found


def _split(key: Key) -> tuple[str, int]:
    match = _NUMBERED.fullmatch(str(key))
    return (match[1], int(match[2] or 0)) if match else (str(key), 0)


def _by_number(keys: list[Key]) -> list[Key]:
    return sorted(keys, key=lambda key: _split(key)[1])
