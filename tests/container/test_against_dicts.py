"""Long random histories of changes, against the same changes of plain nested dicts."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import nestarray as na
from nestarray.errors import PathError
from tests.container.plain_dicts import (
    can_be_set,
    find,
    flat,
    has,
    mapped,
    merge,
    nodes,
    of_leaves,
    ordered,
    places,
    pruned,
    put,
)

KEYS = st.text(alphabet="abc", min_size=1, max_size=2)
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)
LEAVES = st.integers(-9, 9)
TREES = st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=5)


class Histories(RuleBasedStateMachine):
    """One Container and one dict with the same changes; no earlier Container ever changes."""

    def __init__(self) -> None:
        super().__init__()
        self.c = na.Container()
        self.model: dict[str, Any] = {}
        self.past: list[tuple[na.Container, dict[str, Any]]] = []

    def become(self, c: na.Container) -> None:
        """Continue with `c`, and remember the earlier one."""
        self.past = [*self.past[-3:], (self.c, copy.deepcopy(self.model))]
        self.c = c

    @rule(path=PATHS, value=TREES)
    def set(self, path: tuple[str, ...], value: Any) -> None:
        if not can_be_set(self.model, path):
            return raises(lambda: self.c.set(path, value))
        self.become(self.c.set(path, value))
        put(self.model, path, copy.deepcopy(value))
        return None

    @rule(path=PATHS)
    def delete(self, path: tuple[str, ...]) -> None:
        node = find(self.model, path[:-1])
        if not isinstance(node, dict) or path[-1] not in node:
            return raises(lambda: self.c.delete(path))
        self.become(self.c.delete(path))
        del node[path[-1]]
        return None

    @rule(other=st.dictionaries(KEYS, TREES, max_size=3))
    def update(self, other: dict[str, Any]) -> None:
        self.become(self.c.update(other))
        merge(self.model, copy.deepcopy(other))

    @precondition(lambda self: self.model)
    @rule(data=st.data(), new=KEYS)
    def rename(self, data: st.DataObject, new: str) -> None:
        old = data.draw(st.sampled_from(sorted(self.model)))
        if new in self.model:
            return
        self.become(self.c.rename({old: new}))
        self.model = {new if k == old else k: v for k, v in self.model.items()}

    @rule(letter=st.sampled_from("abc"))
    def exclude(self, letter: str) -> None:
        kept = {p: x for p, x in flat(self.model).items() if not p[-1].startswith(letter)}
        self.become(self.c.exclude(lambda path, leaf: path.rpartition("/")[2].startswith(letter)))
        self.model = of_leaves(kept)

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def delete_several(self, data: st.DataObject) -> None:
        """Leaves of one call, all by the paths that they have now."""
        paths = data.draw(st.lists(st.sampled_from(sorted(places(self.model))), max_size=3))
        self.become(self.c.delete(*paths))
        for path in sorted(set(paths), key=len, reverse=True):
            del find(self.model, path[:-1])[path[-1]]

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data())
    def exchange_two_keys(self, data: st.DataObject) -> None:
        a, b = data.draw(st.permutations(sorted(self.model)))[:2]
        self.become(self.c.rename({a: b, b: a}))
        self.model = {{a: b, b: a}.get(k, k): v for k, v in self.model.items()}

    @precondition(lambda self: self.model)
    @rule(data=st.data(), new=PATHS)
    def move(self, data: st.DataObject, new: tuple[str, ...]) -> None:
        old = data.draw(st.sampled_from(sorted(places(self.model))))
        rest = copy.deepcopy(self.model)
        part = find(rest, old[:-1]).pop(old[-1])
        if has(rest, new) or not can_be_set(rest, new) or new[: len(old)] == old:
            return
        self.become(self.c.move(old, new))
        put(rest, new, part)
        self.model = rest

    @precondition(lambda self: self.model)
    @rule(data=st.data(), key=KEYS, value=TREES)
    def insert(self, data: st.DataObject, key: str, value: Any) -> None:
        beside = data.draw(st.sampled_from(sorted(self.model)))
        if key in self.model:
            return
        self.become(self.c.insert(key, value, before=beside))
        entries = list(self.model.items())
        entries.insert(list(self.model).index(beside), (key, copy.deepcopy(value)))
        self.model = dict(entries)

    @rule(path=PATHS, value=LEAVES)
    def replace(self, path: tuple[str, ...], value: int) -> None:
        if not has(self.model, path):
            return raises(lambda: self.c.replace({path: value}))
        self.become(self.c.replace({path: value}))
        find(self.model, path[:-1])[path[-1]] = value
        return None

    @rule(letter=st.sampled_from("abc"))
    def partition_and_combine(self, letter: str) -> None:
        """Keys come in another order, and nodes without leaves are lost; the leaves are the same."""
        taken, rest = self.c.partition(f"**/{letter}*", f"{letter}*")
        again = taken.combine(rest)
        assert dict(again.flat_items()) == dict(self.c.flat_items())

    @rule(depth=st.integers(0, 3))
    def cut(self, depth: int) -> None:
        kept = {path: x for path, x in flat(self.model).items() if len(path) <= depth}
        self.become(self.c.cut(depth=depth))
        self.model = of_leaves(kept)

    @rule()
    def prune(self) -> None:
        self.become(self.c.prune())
        self.model = pruned(self.model)

    @rule()
    def restructure(self) -> None:
        """Every leaf under a new top key, by a function of its path."""
        if self.model:
            self.become(self.c.restructure(lambda path: f"a/{path}"))
            self.model = {"a": pruned(self.model)} if flat(self.model) else {}

    @rule(other=st.dictionaries(KEYS, TREES, max_size=3))
    def diff_and_patch(self, other: dict[str, Any]) -> None:
        new = na.Container(other)
        assert self.c.patch(self.c.diff(new)).to_dict() == other
        assert not self.c.diff(self.c)

    @invariant()
    def reductions_are_those_of_the_leaves(self) -> None:
        leaves = list(flat(self.model).values())
        assert self.c.reduce(lambda total, x: total + x, 0) == sum(leaves)
        assert self.c.count() == len(leaves)
        assert self.c.accumulate(max, -9).leaves() == tuple(
            max([-9, *leaves[: i + 1]]) for i in range(len(leaves))
        )

    @rule()
    def sort_keys(self) -> None:
        self.become(self.c.sort_keys())
        self.model = ordered(self.model)

    @rule(number=LEAVES)
    def add(self, number: int) -> None:
        self.become(self.c.map(lambda x: x + number))
        self.model = mapped(lambda x: x + number, self.model)

    @rule()
    def fold_and_unfold(self) -> None:
        if all(node for node in nodes(self.model)):  # an empty node is a leaf of the flat form
            self.become(self.c.flatten_keys(".").unflatten_keys("."))

    @invariant()
    def they_are_equal(self) -> None:
        assert self.c.to_dict() == self.model
        assert list(self.c) == list(self.model)
        assert dict(zip(self.c.spec.paths, self.c.leaves(), strict=True)) == flat(self.model)
        for path, leaf in flat(self.model).items():
            assert self.c[path] == leaf
            assert "/".join(path) in self.c
        assert na.Container(self.model).spec is self.c.spec

    @invariant()
    def the_past_is_as_it_was(self) -> None:
        for c, model in self.past:
            assert c.to_dict() == model


def raises(call: Any) -> None:
    try:
        call()
    except PathError:
        return
    raise AssertionError("expected a PathError")


TestHistories = Histories.TestCase
TestHistories.settings = settings(stateful_step_count=25)
