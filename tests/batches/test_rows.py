"""Rows of a tree as a data set, batches, and the loaders of other libraries."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import tensorflow as tf
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler

import nestarray as na
from nestarray.errors import ArgumentError, IndexingError, ShapeError
from tests.trees import assert_same


def on_host(c: Any) -> Any:
    return na.to_backend(c, "numpy")


def records(backend: str = "numpy", n: int = 7) -> na.Container:
    c = na.Container(
        image=np.arange(4.0 * n, dtype="float32").reshape(n, 2, 2),
        more=[np.arange(n, dtype="int32"), {"flag": np.arange(n) % 2 == 0}],
        name="digits",
    )
    return na.to_backend(c, backend)


def test_rows_are_indices_of_every_array(backend: str) -> None:
    c = records(backend)
    rows = c.rows()
    assert len(rows) == len(list(rows)) == 7
    numpy = records()
    for i in (0, 3, -1, np.int64(2), np.asarray(1)):
        row = on_host(rows[i])
        np.testing.assert_array_equal(row.image, numpy.image[int(i)])
        assert row["more/0"] == numpy["more/0"][int(i)]
        assert row.name == "digits"
    mask = np.arange(7) > 4
    for index in ([3, -1, 3], np.asarray([3, 6, 3]), slice(1, None, 2), mask, mask.tolist(), []):
        part = on_host(rows[index])
        positions = np.arange(7)[index if not isinstance(index, list) or index else slice(0)]
        np.testing.assert_array_equal(part["more/0"], positions)
        assert part.image.shape == (len(positions), 2, 2)
    with na.use_backend(backend):
        assert rows[na.asarray([1, 2])].image.shape == (2, 2, 2)
    fetched = rows.__getitems__([5, -7])
    assert [m.spec is c.spec for m in fetched] == [True, True]
    assert_same(fetched[0], rows[5])
    assert_same(fetched[1], rows[0])


def test_batches_have_one_order_on_all_backends(backend: str) -> None:
    c = records(backend)
    assert [len(b["more/0"]) for b in c.batches(3)] == [3, 3, 1]
    assert_same(na.concat(list(c.select("image").batches(3))), c.select("image"))
    assert len(c.batches(3, drop_last=True)) == 2
    assert len(c.batches(8, drop_last=True)) == 0
    with na.use_backend(backend):
        key = na.random.key(3)
    shuffled = c.batches(3, shuffle=key)
    order = [int(i) for b in shuffled for i in on_host(b["more/0"])]
    assert order == na.random.permutation(na.random.key(3), 7).tolist() != list(range(7))
    assert_same(shuffled[-1], [*shuffled][2])
    with pytest.raises(IndexingError, match="got the index 3, expected one of 3 batches"):
        shuffled[3]


def test_slices_of_batches_continue_an_epoch() -> None:
    data = na.Container(x=np.arange(11))
    batches = data.batches(3, shuffle=na.random.key(0))
    every = [batch.x.tolist() for batch in batches]
    for start in range(5):
        assert [batch.x.tolist() for batch in batches[start:]] == every[start:]
    assert [batch.x.tolist() for batch in batches[1:][1:-1]] == every[2:-1]
    assert batches[-2:][1].x.tolist() == every[-1]
    assert repr(batches[1:]) == "Batches(3 of 3 rows)"
    with pytest.raises(IndexingError, match="got the index 3, expected one of 3 batches"):
        batches[1:][3]


def test_rows_of_files_are_read_alone(tmp_path: Path) -> None:
    records().save(tmp_path / "c.safetensors")
    lazy = na.Container.load(tmp_path / "c.safetensors", lazy=True)
    arrays = ("image", "more")
    assert_same(lazy.rows()[[4, 1]].select(*arrays), records().select(*arrays).rows()[[4, 1]])
    row = lazy.rows()[-2]  # parts of files are arrays, also of one element
    np.testing.assert_array_equal(row.image, records().image[5])
    assert (row["more/0"], row.name) == (5, "digits")
    assert_same(na.concat([b.select("more") for b in lazy.batches(4)]), records().select("more"))


def test_typed_keys_and_empty_batches() -> None:
    c = na.Container(key=jax.random.split(jax.random.key(0), 3), x=jax.numpy.arange(3))
    assert c.rows()[1].key.shape == ()
    assert c.rows()[[2, 0]].key.shape == (2,)
    empty = na.Container(x=np.zeros((0, 2)))
    assert list(empty.rows()) == list(empty.batches(2, shuffle=na.random.key(0))) == []


def test_errors() -> None:
    c = records()
    for tree, kind, text in (
        (na.Container(a={"x": np.ones(3)}, b=np.ones(4)), ShapeError,
         "Container.rows: 'a/x' has 3 rows and 'b' 4, expected one number; na.LazyStack holds records "
         "of different lengths"),
        (na.Container(x=np.ones(3), step=np.asarray(1)), ShapeError,
         "Container.rows: 'step' has the shape (), expected a first axis of known length"),
        (na.Container(n=3), ArgumentError, "Container.rows: no leaf is an array, so there are no rows"),
    ):  # fmt: skip
        for call in (tree.rows, lambda t=tree: t.batches(2)):
            with pytest.raises(kind) as info:
                call()
            assert str(info.value) == text
    for index in (7, -8, [0, 7]):
        with pytest.raises(IndexError, match="expected one of 7 rows"):
            c.rows()[index]
    for index in ("image", 1.0, [[0]], [True, False], None):
        with pytest.raises(IndexingError, match="expected an integer, a slice, a list of integers"):
            c.rows()[index]
    for size in (0, True, 2.0):
        with pytest.raises(ArgumentError, match="expected a positive number of rows"):
            c.batches(size)
    with pytest.raises(
        ArgumentError, match=r"got True, expected a key, such as na.random.key\(0\)"
    ):
        c.batches(2, shuffle=True)


def test_representations_and_pickles() -> None:
    c = na.Container(x=np.zeros((3, 2)))
    assert repr(c.rows()) == "Rows(3 rows)\n  x  f64[3, 2]"
    assert repr(c.batches(2)) == "Batches(2 of 2 rows)"
    assert len(pickle.loads(pickle.dumps(c.rows()))) == 3
    shuffled = c.batches(2, shuffle=na.random.key(0))
    assert_same(pickle.loads(pickle.dumps(shuffled))[1], shuffled[1])


# -- loaders ------------------------------------------------------------------------------------


def seen(batches: Any) -> list[int]:
    return [int(i) for batch in batches for i in on_host(batch["more/0"])]


def test_torch_data_loaders() -> None:
    rows = records("torch").rows()
    batches = list(DataLoader(rows, batch_size=3, shuffle=True, collate_fn=na.stack))
    assert [len(b.image) for b in batches] == [3, 3, 1]
    assert sorted(seen(batches)) == list(range(7))
    assert all(b.spec is rows[0].spec and b.name == "digits" for b in batches)


def test_torch_loaders_without_a_function_that_collates() -> None:
    rows = records().select("image", "more").rows()
    for batch in DataLoader(rows, batch_size=7):  # torch's own rule for mappings
        assert isinstance(batch, na.Container)
        assert torch.equal(batch.image, torch.as_tensor(records().image))
    sampler = BatchSampler(RandomSampler(rows), 4, drop_last=False)
    whole = DataLoader(rows, sampler=sampler, batch_size=None)  # one index for all rows of a batch
    assert sorted(seen(whole)) == list(range(7))


def test_tensorflow_data_sets() -> None:
    c = records("tensorflow").select("image", "more")
    data = tf.data.Dataset.from_tensor_slices(c).shuffle(7, seed=0).batch(3)
    batches = list(data)
    assert [len(b.image) for b in batches] == [3, 3, 1]
    assert all(isinstance(b, na.Container) and b.spec is c.spec for b in batches)
    assert sorted(seen(batches)) == list(range(7))


# -- lazy stacks ----------------------------------------------------------------------------------


def test_lazy_stacks_are_indexed_by_lists_and_arrays() -> None:
    s = na.LazyStack([na.Container(x=np.full((n, 2), float(n))) for n in range(4)])
    for index in ([3, 0], np.asarray([3, 0]), (3, -4), [True, False, False, True]):
        index = list(index) if isinstance(index, tuple) else index
        part = s[index]
        assert isinstance(part, na.LazyStack)
        assert sorted(m.x.shape[0] for m in part) == [0, 3]
    assert [m.x.shape for m in s[[3, 1], :, 0]] == [(3,), (1,)]
    assert len(s[[]]) == 0
    loader = DataLoader(s, batch_size=2, collate_fn=lambda members: na.LazyStack(members).pad())
    assert [padded.x.shape for padded, mask in loader] == [(2, 1, 2), (2, 3, 2)]
    with pytest.raises(
        IndexingError, match="LazyStack: got the index 4, expected one of 4 members"
    ):
        s[[0, 4]]


def test_members_with_other_keys_are_filled(backend: str) -> None:
    full = na.to_backend(
        na.Container(x=np.ones(2, "float32"), weight=np.asarray(3, "float32")), backend
    )
    bare = na.to_backend(na.Container(x=np.zeros(1, "float32")), backend)
    s = na.LazyStack([bare, full], fill=1)
    assert [m.spec is s[0].spec for m in s] == [True, True]
    padded, mask = on_host(s.pad()[0]), on_host(s.pad()[1])
    assert padded.weight.tolist() == [1.0, 3.0]
    assert padded.weight.dtype == np.float32
    assert padded.x.tolist() == [[0, 0], [1, 1]]
    assert mask.x.sum() == 3
    with pytest.raises(na.errors.StructureError, match="LazyStack: members 0 and 1"):
        na.LazyStack([bare, full])
