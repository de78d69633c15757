"""Long random histories of trees of arrays: fused, merged, patched, stacked, checked, saved.

As in `tests.container.test_against_dicts` a Container and a nested dict get the same calls. Here
the leaves are arrays, NumPy's in the dict, and the Container may be fused at any time.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import nestarray as na
from nestarray.container import FusedContainer
from nestarray.errors import MergeConflict, SchemaError, ShapeError, StructureError
from tests.container.plain_dicts import can_be_set, find, flat, mapped, merge, of_leaves, put

KEYS = st.sampled_from("abc")
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(tuple)
NUMBERS = st.integers(-3, 3)
SHAPES = st.lists(st.integers(0, 3), max_size=2).map(tuple)


def _array(shape: tuple[int, ...], first: int, dtype: str) -> np.ndarray:
    return ((np.arange(np.prod(shape, dtype=int)) + first) % 7).reshape(shape).astype(dtype)


ARRAYS = st.builds(_array, SHAPES, st.integers(0, 6), st.sampled_from(["float32", "int32"]))
TREES = st.recursive(ARRAYS, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=4)
ROOTS = st.dictionaries(KEYS, TREES, max_size=3)


class ArrayHistories(RuleBasedStateMachine):
    """One Container of arrays and one dict of NumPy's, with the same calls."""

    backend = "numpy"

    def __init__(self) -> None:
        super().__init__()
        self.c = na.Container()
        self.model: dict[str, Any] = {}
        self.folder = Path(tempfile.mkdtemp())

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def made(self, tree: Any) -> Any:
        """A tree, or an array, on the backend of the machine."""
        return na.to_backend(na.Container(tree) if isinstance(tree, dict) else tree, self.backend)

    def drawn_path(self, data: st.DataObject) -> tuple[str, ...]:
        return data.draw(st.sampled_from(sorted(flat(self.model))), "path")

    def with_leaf(self, path: tuple[str, ...], array: np.ndarray) -> dict[str, Any]:
        return of_leaves({**flat(self.model), path: array})

    # -- changes ------------------------------------------------------------------------------

    @rule(path=PATHS, array=ARRAYS)
    def set(self, path: tuple[str, ...], array: np.ndarray) -> None:
        if can_be_set(self.model, path):
            self.c = self.c.set(path, self.made(array))
            put(self.model, path, array)

    @rule(other=ROOTS)
    def update(self, other: dict[str, Any]) -> None:
        self.c = self.c.update(self.made(other))
        merge(self.model, other)

    @precondition(lambda self: flat(self.model))
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        path = self.drawn_path(data)
        self.c = self.c.delete(path)
        del find(self.model, path[:-1])[path[-1]]

    @precondition(lambda self: flat(self.model))
    @rule(data=st.data(), number=NUMBERS)
    def add_at(self, data: st.DataObject, number: int) -> None:
        path = self.drawn_path(data)
        self.c = self.c.at["/".join(path)].add(number)
        put(self.model, path, find(self.model, path) + number)

    @precondition(lambda self: flat(self.model))
    @rule()
    def fuse(self) -> None:
        self.c = self.c.fuse()
        assert len(self.c.buffers()) == len({x.dtype for x in flat(self.model).values()})

    @rule()
    def unfuse(self) -> None:
        self.c = self.c.unfuse()
        assert not is_fused(self.c)

    # -- what computes ------------------------------------------------------------------------

    @rule(number=NUMBERS)
    def compute(self, number: int) -> None:
        before = self.c
        self.c = na.clip(before * 2 - before + number, -50, 50)
        assert is_fused(self.c) == is_fused(before)
        self.model = mapped(lambda x: np.clip(x + number, -50, 50), self.model)

    @rule(bound=NUMBERS)
    def choose(self, bound: int) -> None:
        self.c = na.where(self.c > bound, -self.c, self.c)
        self.model = mapped(lambda x: np.where(x > bound, -x, x), self.model)

    @rule()
    def leaves_are_matched_by_path(self) -> None:
        before = self.c
        self.c = before + self.made(backwards(self.model))
        assert not is_fused(self.c)
        self.model = mapped(lambda x: x + x, self.model)
        self.compute(0)

    @rule()
    def reduce(self) -> None:
        leaves = list(flat(self.model).values())
        if leaves:
            assert float(na.tree_sum(self.c)) == sum(float(x.sum()) for x in leaves)

    # -- changes as values --------------------------------------------------------------------

    @rule(ours=ROOTS, theirs=ROOTS, cut=KEYS)
    def merge_and_patch(self, ours: dict[str, Any], theirs: dict[str, Any], cut: str) -> None:
        """One side changes the keys up to `cut`, the other those behind it."""
        own = {k: v for k, v in self.model.items() if k > cut}
        own |= {k: v for k, v in ours.items() if k <= cut}
        other = {k: v for k, v in self.model.items() if k <= cut}
        other |= {k: v for k, v in theirs.items() if k > cut}
        both = {
            k: (own if k <= cut else other)[k] for k in "abc" if k in (own if k <= cut else other)
        }
        changes = self.c.diff(self.made(own))
        assert_same(self.c.patch(changes), own)
        assert_same(self.made(own).patch(changes.invert()), self.model)
        patched = self.made(other).patch(changes)
        self.c = self.c.merge(self.made(own), self.made(other))
        self.model = {k: both[k] for k in self.c}
        assert_same(patched, {k: both[k] for k in patched})
        assert len(self.model) == len(patched) == len(both)

    @precondition(lambda self: flat(self.model))
    @rule(data=st.data(), ours=ARRAYS, theirs=ARRAYS)
    def conflict(self, data: st.DataObject, ours: np.ndarray, theirs: np.ndarray) -> None:
        path = self.drawn_path(data)
        base = find(self.model, path)
        own, other = self.with_leaf(path, ours), self.with_leaf(path, theirs)
        sides = self.made(of_leaves(flat(self.model))), self.made(own), self.made(other)
        if same_arrays(ours, theirs) or same_arrays(ours, base) or same_arrays(theirs, base):
            expected = theirs if same_arrays(ours, base) else ours
            return assert_same(na.Container.merge(*sides), self.with_leaf(path, expected))
        with pytest.raises(MergeConflict) as info:
            na.Container.merge(*sides)
        assert [c.path for c in info.value.conflicts] == [path]
        assert_same(na.Container.merge(*sides, resolve="ours"), own)
        assert_same(na.Container.merge(*sides, resolve="theirs"), other)
        if len({(x.shape, x.dtype) for x in (base, ours, theirs)}) == 1:
            total = self.with_leaf(path, ours + theirs - base)
            assert_same(na.Container.merge(*sides, resolve="sum"), total)
        return None

    @precondition(lambda self: flat(self.model))
    @rule(data=st.data(), array=ARRAYS)
    def a_patch_of_another_tree_changes_nothing(
        self, data: st.DataObject, array: np.ndarray
    ) -> None:
        path = self.drawn_path(data)
        changes = self.c.diff(self.c.set(path, self.made(array + 1)))
        other = self.c.set(path, self.made(array + 2))
        if changes and self.c.diff(other) and not same_arrays(array + 2, array + 1):
            with pytest.raises(StructureError) as info:
                other.patch(changes)
            assert repr("/".join(path)) in str(info.value)

    # -- several trees ------------------------------------------------------------------------

    @rule(number=NUMBERS)
    def stack_keys(self, number: int) -> None:
        """Layers ten and nine, in the order of their numbers."""
        layers = na.Container(layer_10=self.c, layer_9=self.c + number)
        if not flat(self.model):
            return
        stacked = na.Container(net=layers).stack_keys("net/*")
        expected = mapped(lambda x: np.stack([x + number, x]), self.model)
        assert_same(stacked, {"net": expected})
        again = stacked.unstack_keys("net", keys=["layer_9", "layer_10"])
        assert_same(again["net/layer_10"], self.model)
        assert_same(again["net/layer_9"], mapped(lambda x: x + number, self.model))

    @precondition(lambda self: flat(self.model))
    @rule(data=st.data(), array=ARRAYS)
    def lazy_stack(self, data: st.DataObject, array: np.ndarray) -> None:
        path = self.drawn_path(data)
        other = mapped(lambda x: x, self.model)
        put(other, path, array)
        pair = [self.model, other]
        ragged = na.LazyStack([self.c, self.made(backwards(other))])
        for member, tree in zip(ragged * 2 + 1, pair, strict=True):
            assert_same(member, mapped(lambda x: x * 2 + 1, tree))
        assert_leaf(ragged["/".join(path)][1], array)
        shapes = [tree_leaf.shape for tree_leaf in (find(self.model, path), array)]
        if len(shapes[0]) != len(shapes[1]):
            with pytest.raises(ShapeError):
                ragged.pad()
        elif find(self.model, path).dtype == array.dtype:
            padded, mask = ragged.pad(5)
            longest = np.max(shapes, axis=0).astype(int) if shapes[0] else ()
            for i, (x, shape) in enumerate(zip([find(t, path) for t in pair], shapes)):
                here = np.full(longest, 5, x.dtype)
                here[tuple(map(slice, shape))] = x
                real = np.zeros(longest, bool)
                real[tuple(map(slice, shape))] = True
                assert_leaf(padded[path][i], here)
                assert_leaf(mask[path][i], real)
            if shapes[0] == shapes[1]:
                stacked = mapped(lambda x: x, self.model)
                for p, x in flat(self.model).items():
                    put(stacked, p, np.stack([x, find(other, p)]))
                assert_same(ragged.stack(), stacked)

    @rule()
    def match(self) -> None:
        """Of a tree with the same names in another order every leaf is found."""
        other = na.Container(backwards(self.model))
        names = self.c.match(other)
        assert {p.source: p.target for p in names.pairs} == {p: p for p in flat(self.model)}
        assert_same(names.apply(self.c), backwards(self.model))

    @rule(other=ROOTS)
    def schema(self, other: dict[str, Any]) -> None:
        schema = na.Schema.of(self.c)
        assert na.Schema(str(schema)).check(self.c) == {}
        new = mapped(lambda x: x, self.model)
        merge(new, other)
        before, after = flat(self.model), flat(new)
        wrong = {
            "/".join(path)
            for path in {*before, *after}
            if path not in before or path not in after or kind(before[path]) != kind(after[path])
        }
        if wrong:
            with pytest.raises(SchemaError) as info:
                schema.check(self.c.update(self.made(other)))
            assert {path for path, _ in info.value.violations} == wrong
        else:
            schema.check(self.c.update(self.made(other)))

    # -- files --------------------------------------------------------------------------------

    @rule(suffix=st.sampled_from(["safetensors", "npz", "json", "h5"]), letter=KEYS)
    def save(self, suffix: str, letter: str) -> None:
        file = self.folder / f"c.{suffix}"
        self.c.save(file)
        self.read(file, letter)

    @rule(size=st.integers(1, 40), letter=KEYS)
    def save_in_shards(self, size: int, letter: str) -> None:
        folder = self.folder / "shards"
        folder.mkdir(exist_ok=True)
        self.c.save(folder, max_shard_bytes=size)
        self.read(folder, letter)

    def read(self, file: Path, letter: str) -> None:
        part = {path: x for path, x in flat(self.model).items() if letter in path}
        load = na.Container.load
        assert_same(load(file, f"**/{letter}", backend=self.backend), of_leaves(part))
        lazy = load(file, lazy=True)
        assert {p: (x.shape, str(x.dtype)) for p, x in zip(lazy.spec.paths, lazy.leaves())} == {
            p: (x.shape, str(x.dtype)) for p, x in flat(self.model).items()
        }
        self.c = load(file, backend=self.backend)

    @rule()
    def pickle(self) -> None:
        before = self.c
        self.c = pickle.loads(pickle.dumps(before))
        assert type(self.c) is type(before)
        assert self.c.spec is before.spec

    @invariant()
    def they_are_equal(self) -> None:
        assert_same(self.c, self.model)
        for key, value in self.model.items():
            (assert_same if isinstance(value, dict) else assert_leaf)(self.c[key], value)


def is_fused(c: na.Container) -> bool:
    return isinstance(c, FusedContainer)


def kind(array: np.ndarray) -> Any:
    return array.shape, array.dtype


def same_arrays(a: np.ndarray, b: np.ndarray) -> bool:
    return kind(a) == kind(b) and np.array_equal(a, b)


def backwards(tree: Any) -> Any:
    """The tree with the keys of each node in reverse order."""
    if not isinstance(tree, dict):
        return tree
    return {key: backwards(tree[key]) for key in reversed(tree)}


def assert_leaf(found: Any, expected: np.ndarray) -> None:
    found = na.to_backend(found, "numpy")
    assert kind(found) == kind(expected)
    np.testing.assert_array_equal(found, expected)


def assert_same(c: na.Container, tree: dict[str, Any]) -> None:
    """Nodes, the order of keys, and of each leaf shape, dtype and elements."""
    assert c.spec is na.Container(tree).spec
    for found, expected in zip(c.leaves(), flat(tree).values(), strict=True):
        assert_leaf(found, expected)


class OnTorch(ArrayHistories):
    backend = "torch"


class OnJax(ArrayHistories):
    backend = "jax"


class OnTensorFlow(ArrayHistories):
    backend = "tensorflow"


TestArrayHistories = ArrayHistories.TestCase
TestOnTorch = pytest.mark.full(OnTorch.TestCase)
TestOnJax = pytest.mark.full(OnJax.TestCase)
TestOnTensorFlow = pytest.mark.full(OnTensorFlow.TestCase)
TestArrayHistories.settings = TestOnTorch.settings = settings(stateful_step_count=25)
TestOnJax.settings = TestOnTensorFlow.settings = settings(stateful_step_count=25, max_examples=30)
