"""Detection of leaves that moved to another path, for `diff` and `merge`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from nestarray.comparison.equality import fingerprint, has_elements, identical
from nestarray.container import Container
from nestarray.container.spec import Path


def moved_leaves(c: Container, other: Container) -> dict[int, int]:
    """New leaf number → old leaf number, for leaves at another path in `other`.

    The same array object is the same leaf at any path. Arrays with equal values are the same leaf
    if the last key is equal, or if no other array has these values; constants are ignored.
    """
    if c._spec is other._spec:
        return {}
    old_index, new_index = set(c._spec.paths), set(other._spec.paths)
    removed = [i for i, path in enumerate(c._spec.paths) if path not in new_index]
    added = [k for k, path in enumerate(other._spec.paths) if path not in old_index]
    moved: dict[int, int] = {}
    for rule in (_identity, _name_and_value, _value):
        if not removed or not added:
            return moved
        places: dict[Any, list[int]] = {}
        for i in removed:
            key = rule(c._spec.paths[i], c._leaves[i])
            if key is not None:
                places.setdefault(key, []).append(i)
        wanted: dict[Any, list[int]] = {}
        for k in added:
            key = rule(other._spec.paths[k], other._leaves[k])
            if key in places:
                wanted.setdefault(key, []).append(k)
        for key, news in wanted.items():
            olds = places[key]
            if rule is _value and (len(olds) > 1 or len(news) > 1):
                continue
            for i, k in _by_path(c._spec.paths, other._spec.paths, olds, news):
                if rule is _identity or identical(c._leaves[i], other._leaves[k]):
                    moved[k] = i
        gone = set(moved.values())
        removed = [i for i in removed if i not in gone]
        added = [k for k in added if k not in moved]
    return moved


def _identity(path: Path, leaf: Any) -> Any:
    return id(leaf) if has_elements(leaf) else None


def _name_and_value(path: Path, leaf: Any) -> Any:
    return (path[-1:], fingerprint(leaf))


def _value(path: Path, leaf: Any) -> Any:
    if not has_elements(leaf):
        return None
    *head, sample = fingerprint(leaf)
    return (*head, sample) if math.prod(leaf.shape) and len(set(sample)) > 1 else None


def _by_path(
    old_paths: tuple[Path, ...], new_paths: tuple[Path, ...], olds: list[int], news: list[int]
) -> Iterator[tuple[int, int]]:
    """Pairs of a group, longest common end of paths first."""
    rest_old, rest_new = dict.fromkeys(olds), dict.fromkeys(news)
    longest = max(len(old_paths[i]) for i in olds)
    for length in range(longest, -1, -1):
        if not rest_old or not rest_new:
            return
        ends: dict[Path, list[int]] = {}
        for i in rest_old:
            if len(old_paths[i]) >= length:
                ends.setdefault(old_paths[i][len(old_paths[i]) - length :], []).append(i)
        for k in list(rest_new):
            path = new_paths[k]
            same_end = ends.get(path[len(path) - length :]) if len(path) >= length else None
            if same_end:
                i = same_end.pop(0)
                del rest_old[i], rest_new[k]
                yield i, k
