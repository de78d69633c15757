"""Tables of trees: by subtree, leaf by leaf, and statistics of leaves."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS, use_backend
from nestarray.display import statistics as statistics_module
from nestarray.display.statistics import sample_of, statistics
from nestarray.display.table import Table, bytes_text, shown_rows
from nestarray.errors import ArgumentError
from tests.abstract import on_abstract_arrays, on_unknown_shapes
from tests.trees import nests, roots


def model(dtype: str = "float32") -> na.Container:
    layers = [{"w": na.ones((3, 4), dtype=dtype), "b": na.ones((3,), dtype=dtype)}] * 2
    return na.Container(layers=layers, scale=na.asarray(1.0), name="net", empty={})


# -- by subtree -------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_summary(backend: str) -> None:
    with use_backend(backend):
        c = na.Container(
            a={"w": na.ones((3, 4)), "h": na.ones((2,), dtype="bfloat16")},
            b=na.asarray(1.0),
            name="net",
        )
    table = c.summary()
    assert str(table) == (
        "subtree  leaves  parameters  bytes  dtype              share\n"
        "a             2          14   52 B  bfloat16, float32  93.3%\n"
        "a/w           1          12   48 B  float32            80.0%\n"
        "a/h           1           2    4 B  bfloat16           13.3%\n"
        "b             1           1    4 B  float32             6.7%\n"
        "name          1           0    0 B                      0.0%\n"
        "────────────────────────────────────────────────────────────\n"
        "total         4          15   56 B  bfloat16, float32"
    )
    assert [row.subtree for row in c.summary(depth=1)] == ["a", "b", "name"]
    assert table.total.parameters == c.size
    assert table.total.bytes == c.nbytes


def test_shared_arrays_count_once() -> None:
    embedding = np.ones((10, 4))
    c = na.Container(
        embed=embedding, decoder={"head": embedding, "b": np.ones(4), "again": embedding}
    )
    table = c.summary()
    parameters = dict(zip(table["subtree"], table["parameters"]))
    assert parameters == {
        "embed": 40, "decoder": 44, "decoder/head": 40, "decoder/b": 4, "decoder/again": 40,
    }  # fmt: skip
    assert (table.total.leaves, table.total.parameters, table.total.bytes) == (4, 44, 352)
    assert table.notes == ("shared, counted once: embed = decoder/head = decoder/again",)
    many = na.Container([[np.ones(i + 1)] * 6 for i in range(7)])
    assert many.summary().notes[0] == (
        "shared, counted once: 0/0 = 0/1 = 0/2 = 0/3 (and 2 more places)"
    )
    assert many.summary().notes[-1] == "and 2 more shared arrays"


def test_equal_numbers_are_not_shared_arrays() -> None:
    assert na.Container(a=1, b=1, c=None, d=None).summary().notes == ()


@settings(max_examples=60)
@given(roots(nests(st.sampled_from([np.ones(2), np.ones((2, 3)), np.zeros(0), None, "x"]))))
def test_totals_are_those_of_the_parts(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    table = c.summary(depth=1)
    distinct = {id(leaf): leaf for leaf in c.leaves() if isinstance(leaf, np.ndarray)}.values()
    assert table.total.parameters == sum(leaf.size for leaf in distinct)
    assert sum(table["leaves"]) == table.total.leaves == len(c.leaves())
    for key, row in zip(c, table.rows, strict=True):
        part = c[key]
        inner = {id(x): x for x in part.leaves()} if isinstance(part, na.Container) else {0: part}
        assert row.parameters == sum(getattr(x, "size", 0) for x in inner.values())
    assert len(c.summary().rows) >= len(c.leaves())


def test_summary_of_little() -> None:
    assert na.Container().summary().rows == ()
    assert na.Container().summary().total.parameters == 0
    assert na.Container(np.ones(3)).summary().total.parameters == 3
    assert str(na.Container().summary()).splitlines()[-1].split() == ["total", "0", "0", "0", "B"]


@pytest.mark.parametrize("depth", [0, -1, 1.5, True, "2"])
def test_wrong_depth(depth: Any) -> None:
    with pytest.raises(ArgumentError) as error:
        na.Container(a=1).summary(depth)
    assert str(error.value) == (
        f"Container.summary: depth: got {depth!r}, expected a positive integer or None for all levels"
    )


def test_what_has_no_values() -> None:
    for summary, described in on_abstract_arrays(
        lambda c: (c.summary(), c.describe(statistics=True))
    ):
        assert (summary.total.parameters, summary.total.bytes) == (6, 24)
        assert described["shape"] == ((2, 3),)
        assert described["mean"] == described["zeros"] == (None,)
    unknown = list(on_unknown_shapes(lambda c: (c.summary().notes, c.describe()["shape"])))
    note = "1 arrays have a shape not known yet and are counted as 0"
    assert unknown == [((note,), ((None, 3),)), ((note,), (None,))]


# -- leaf by leaf -----------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_describe(backend: str) -> None:
    with use_backend(backend):
        c = na.Container(
            w=na.asarray([[3.0, 0.0], [math.inf, 4.0]]), h=na.ones((2,), dtype="bfloat16")
        )
    c = c.set("rate", 0.5).set("name", "net")
    table = c.describe(statistics=True)
    assert table["path"] == ("w", "h", "rate", "name")
    assert table["dtype"] == ("float32", "bfloat16", "float", "str")
    assert table["shape"] == ((2, 2), (2,), None, None)
    assert table["bytes"] == (16, 4, 0, 0)
    assert table["backend"] == (backend, backend, "", "")
    assert table["device"] == ("cpu", "cpu", "", "")
    assert table["norm"] == (5.0, pytest.approx(math.sqrt(2)), 0.5, None)
    assert table["inf"] == (1, 0, 0, None)
    assert table["zeros"] == (1, 0, 0, None)
    assert table.to_string().splitlines()[1].split() == [
        "w", "float32", "[2,", "2]", "4", "16", "B", backend, "cpu",
        "2.333", "1.7", "0", "4", "5", "0", "1", "1",
    ]  # fmt: skip


def test_describe_some() -> None:
    c = na.Container(a={"w": np.ones(2), "b": np.ones(3)}, b=np.ones(4))
    assert c.describe("**/b")["path"] == ("a/b", "b")
    assert na.Container().describe(statistics=True).rows == ()


def test_an_error_names_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(leaf: Any) -> None:
        raise RuntimeError("the device is gone")

    monkeypatch.setattr(statistics_module, "values_of", fails)
    with pytest.raises(RuntimeError, match="gone") as error:
        na.Container(a={"w": np.ones(2)}).describe(statistics=True)
    assert error.value.__notes__ == ["at the Container path 'a/w'"]


# -- statistics -------------------------------------------------------------------------------

ARRAYS = arrays.arrays(
    st.sampled_from(["float32", "float64", "int16", "bool", "uint8"]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)


@settings(max_examples=80)
@given(ARRAYS, st.sampled_from([1, 3, 7, 1000]))
def test_statistics_are_numpys(x: np.ndarray, piece: int) -> None:
    if x.dtype == np.float64:  # the squares that NumPy's std is made of would vanish
        x = np.where(np.abs(x) < 1e-100, 0, x)
    before, statistics_module._PIECE = statistics_module._PIECE, piece
    try:
        found = statistics(x)
    finally:
        statistics_module._PIECE = before
    assert found is not None
    values = x.astype("float64").ravel()
    finite = values[np.isfinite(values)]
    assert found.nan == np.isnan(values).sum()
    assert found.inf == np.isinf(values).sum()
    assert found.zeros == (values == 0).sum()
    if not finite.size:
        assert found[:5] == (None,) * 5
        return
    assert (found.min, found.max) == (finite.min(), finite.max())
    scale = np.abs(finite).max() or 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        expected = finite.mean(), finite.std(), scale * np.linalg.norm(finite / scale)
    if np.isfinite(expected).all():
        np.testing.assert_allclose(found.mean, expected[0], rtol=1e-12, atol=1e-13 * scale)
        np.testing.assert_allclose(found.std, expected[1], rtol=1e-7, atol=1e-12 * scale)
        np.testing.assert_allclose(found.norm, expected[2], rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32", "bool", "complex64"])
def test_statistics_alike_on_every_backend(backend: str, dtype: str) -> None:
    with use_backend(backend):
        x = na.astype(na.asarray([[3.0, 0.0, 4.0], [1.0, 0.0, 1.0]]), dtype=dtype)
    found = statistics(x)
    expected = statistics(
        np.asarray([[3, 0, 4], [1, 0, 1]], "bool" if dtype == "bool" else "float64")
    )
    assert found == expected


def test_complex_leaves_count_by_magnitude() -> None:
    found = statistics(np.asarray([3 + 4j, 0j, complex(math.nan, 0)]))
    assert found is not None
    assert (found.max, found.norm, found.zeros, found.nan) == (5.0, 5.0, 1, 1)


def test_large_integers_are_exact() -> None:
    found = statistics(np.asarray([2**62 + 1, -(2**62) - 1]))
    assert found is not None
    assert (found.min, found.max) == (-(2**62) - 1, 2**62 + 1)


def test_what_has_no_statistics() -> None:
    import torch

    for leaf in (None, "text", object(), np.asarray(["a"]), np.zeros(2, "datetime64[s]")):
        assert statistics(leaf) is None
    sparse = statistics(torch.eye(3).to_sparse())
    assert sparse is not None
    assert sparse.zeros == 6


@pytest.mark.parametrize("backend", BACKENDS)
def test_samples_are_spread_over_the_array(backend: str) -> None:
    with use_backend(backend):
        x = na.reshape(na.arange(40_000.0), (200, 200))
        values = sample_of(x, 500)
    assert values is not None
    assert 500 <= values.size <= 1100
    assert values.min() < 200
    assert values.max() > 39_800
    assert values.dtype == np.float64


@pytest.mark.parametrize("backend", BACKENDS)
def test_of_an_array_on_another_device_only_the_sample_is_brought(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = backends.core(backend)
    brought: list[int] = []
    to_numpy = core.to_numpy

    def counted(x: Any) -> np.ndarray:
        brought.append(math.prod(x.shape))
        return to_numpy(x)

    with use_backend(backend):
        x = na.reshape(na.arange(40_000.0), (2, 100, 200))
    monkeypatch.setattr(core, "device_of", lambda x: "gpu")
    monkeypatch.setattr(core, "to_numpy", counted)
    values = sample_of(x, 500)
    assert values is not None
    assert 500 <= brought[0] <= 4000
    assert (values.min(), values.max() > 30_000) == (0.0, True)
    steps = [s.step for s in statistics_module._strides((4096, 3, 64, 1), 500)]
    assert steps == [315, 1, 4, 1]
    few = sample_of(x[0, 0], 10**6)
    assert few is not None
    assert few.tolist() == list(range(200))


# -- tables -----------------------------------------------------------------------------------


def test_a_table_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    c = na.Container({f"layer{i}": {"w" * 50: np.ones(i)} for i in range(300)})
    for width, height in ((60, 20), (90, 30), (200, 15)):
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("LINES", str(height))
        for table in (c.summary(), c.describe(statistics=True)):
            lines = repr(table).splitlines()
            assert max(map(len, lines)) <= width
            assert len(lines) <= max(height, 20)
        assert len(c.summary().to_string().splitlines()) == 600 + 3


def test_a_large_summary_is_an_outline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "18")
    block = {"w": np.ones((3, 4), "float32"), "b": np.ones(3, "float32")}
    blocks = [{k: v.copy() for k, v in block.items()} for _ in range(12)]
    heads = {f"{name}_head": np.ones(i + 1) for i, name in enumerate("abcdefghijkl")}
    table = na.Container(embed=np.ones((10, 4)), layers=blocks, heads=heads).summary()
    assert str(table) == (
        "subtree         leaves  parameters    bytes  dtype             share\n"
        "embed                1          40    320 B  float64           13.4%\n"
        "layers              24         180    720 B  float32           60.4%\n"
        "layers/{0…11}       24         180    720 B  float32           60.4%\n"
        "heads               12          78    624 B  float64           26.2%\n"
        "heads/a_head         1           1      8 B  float64            0.3%\n"
        "heads/b_head         1           2     16 B  float64            0.7%\n"
        "heads/c_head         1           3     24 B  float64            1.0%\n"
        "heads/d_head         1           4     32 B  float64            1.3%\n"
        "heads/… 4 more       4          26    208 B  float64            8.7%\n"
        "heads/i_head         1           9     72 B  float64            3.0%\n"
        "heads/j_head         1          10     80 B  float64            3.4%\n"
        "heads/k_head         1          11     88 B  float64            3.7%\n"
        "heads/l_head         1          12     96 B  float64            4.0%\n"
        "────────────────────────────────────────────────────────────────────\n"
        "total               37         298  1.6 KiB  float32, float64"
    )
    assert repr(table) == str(table)
    deeper = na.Container(layers=blocks).summary().to_string(10).splitlines()
    assert [line.split()[:4] for line in deeper[1:5]] == [
        ["layers", "24", "180", "720"],
        ["layers/{0…11}", "24", "180", "720"],
        ["layers/{0…11}/w", "12", "144", "576"],
        ["layers/{0…11}/b", "12", "36", "144"],
    ]
    assert len(table) == 3 + 12 * 3 + 12
    assert len(table.to_string().splitlines()) == len(table) + 3


@settings(max_examples=60)
@given(
    roots(nests(st.sampled_from([np.ones(2), np.ones((2, 3)), np.zeros(0), None, "x"]))),
    st.integers(3, 12),
    st.none() | st.integers(1, 3),
)
def test_rows_of_an_outline_add_up(tree: dict[str, Any], rows: int, depth: int | None) -> None:
    full = na.Container(tree).summary(depth)
    short, shown = full.at_most(rows)
    assert len(short) == len(shown) <= rows
    assert short.total == full.total
    outermost = [row for row in short if "/" not in row.subtree]
    if all("/" not in key for key in tree):
        assert sum(row.leaves for row in outermost) == full.total.leaves


def test_an_outline_counts_shared_arrays_once() -> None:
    tied = np.ones(5)
    c = na.Container({f"w{i}": tied for i in range(30)} | {"x": np.ones(2)})
    table, _ = c.summary().at_most(3)
    assert [(row.subtree, row.leaves, row.parameters) for row in table] == [
        ("{w0…w29}", 30, 5), ("x", 1, 2),
    ]  # fmt: skip


def test_a_table_keeps_no_arrays_alive() -> None:
    c = na.Container(a=np.ones(3), b=np.ones(4))
    leaf = weakref.ref(c.a)
    tables = [c.summary(), c.describe(statistics=True)]
    del c
    assert leaf() is None, tables


def test_what_is_left_out_of_a_description_is_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "7")
    c = na.Container({f"w{i}": np.ones((i, 2), "float32") for i in range(10_000)})
    assert str(c.describe()) == (
        "path          dtype    shape            size      bytes  backend  device\n"
        "w0            float32  [0, 2]              0        0 B  numpy    cpu\n"
        "w1            float32  [1, 2]              2        8 B  numpy    cpu\n"
        "… 9,997 more                      99,970,000  381.4 MiB\n"
        "w9999         float32  [9999, 2]      19,998   78.1 KiB  numpy    cpu"
    )


def test_columns_that_do_not_fit_follow_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "40")
    table = na.Container(a=np.ones(2)).describe(statistics=True)
    heads = [line for line in repr(table).splitlines() if line.startswith("path")]
    assert len(heads) > 1
    assert " ".join(heads).split().count("zeros") == 1


def test_long_paths_give_way_to_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    names = {"an_embedding_of_words": {"weight": np.ones(2)}, "b": {"w": np.ones(2)}}
    head, first, second = str(na.Container(encoder=names).describe()).splitlines()
    assert first == (
        "encoder/an_embedding_of_words/weight  float64  [2]       2   16 B  numpy    cpu"
    )
    monkeypatch.setenv("COLUMNS", "70")
    head, first, second = str(na.Container(encoder=names).describe()).splitlines()
    assert [head, first, second] == [
        "path                      dtype    shape  size  bytes  backend  device",
        "encoder/an_e…ords/weight  float64  [2]       2   16 B  numpy    cpu",
        "encoder/b/w               float64  [2]       2   16 B  numpy    cpu",
    ]


def test_values_of_a_table() -> None:
    table = Table({"path": ["a", "b"], "share": [0.5, None], "bytes": [1, 2**30]})
    assert len(table) == 2
    assert [row.path for row in table] == ["a", "b"]
    assert table["share"] == (0.5, None)
    assert str(table) == "path  share    bytes\na     50.0%      1 B\nb            1.0 GiB"


def test_keys_cannot_break_the_lines() -> None:
    c = na.Container({"a\nb": {"\x1b[0m": np.ones(2)}})
    for table in (c.summary(), c.describe()):
        assert "a\\nb/\\x1b[0m" in str(table)


def test_sizes_in_words() -> None:
    sizes = [0, 1023, 1024, 1536, 2**20 - 1, 2**20, 3 * 2**40, 2**60]
    assert [bytes_text(n) for n in sizes] == [
        "0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "1.0 MiB", "3.0 TiB", "1024.0 PiB",
    ]  # fmt: skip


def test_shown_rows() -> None:
    assert list(shown_rows(3, 5)) == [0, 1, 2]
    assert list(shown_rows(10, 5)) == [0, 1, range(2, 8), 8, 9]


def test_a_column_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not once for every row: tables of ten thousand leaves are printed."""
    table = na.Container({str(i): np.ones(i) for i in range(50)}).summary()
    columns: list[str] = []
    is_number = Table.is_number
    monkeypatch.setattr(
        Table, "is_number", lambda self, name: columns.append(name) or is_number(self, name)
    )
    assert len(table.to_string().splitlines()) == 53
    assert columns == list(table.columns)


def test_a_wide_text_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shapes = ", ".join(f"weight_{i} (512, 512)" for i in range(6))
    columns = {
        "path": ["encoder/attention", "head"], "layer": ["Attention", "Linear"],
        "variables": [shapes, "bias (10)"], "elements": [1_572_864, 10],
    }  # fmt: skip
    total = {"path": "total", "layer": "", "variables": "", "elements": 1_572_874}
    assert (
        repr(Table(columns, total=total))
        == """\
path               layer      variables                             elements
encoder/attention  Attention  weight_0 (512, 512), weight_1 (512,  1,572,864
                              512), weight_2 (512, 512), weight_3
                              (512, 512), weight_4 (512, 512),
                              weight_5 (512, 512)
head               Linear     bias (10)                                   10
────────────────────────────────────────────────────────────────────────────
total                                                              1,572,874"""
    )
    assert shapes in Table(columns).to_string()


def test_a_summary_of_layers_is_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    net = na.nn.Sequential(*[na.nn.MultiHeadAttention(16, 4) for _ in range(2)])
    lines = repr(net.summary()).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("path ") for line in lines) == 1
    assert lines[0].endswith("elements")
