"""KeyMap as a value: applied, inverted, written as a file of rules, read and checked."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray import backends
from nestarray.errors import (
    ArgumentError,
    MissingFileError,
    ShapeError,
    StorageError,
    StructureError,
)
from nestarray.interchange.naming.key_patterns import PatternError, expand, fold, write
from nestarray.interchange.naming.layouts import possible_steps
from nestarray.interchange.naming.pairs import Pair, Reshape, Transpose, in_order
from tests.trees import assert_identical, roots

HEAD = {"format": "nestarray key map", "version": 1}


def torch_like(n: int = 3) -> na.Container:
    block = {
        "q": {"weight": np.arange(16.0).reshape(4, 4), "bias": np.arange(4.0)},
        "fc": {"weight": np.arange(32.0).reshape(8, 4), "bias": np.arange(8.0)},
    }
    return na.Container(embed=np.ones((5, 4)), layer=[block] * n)


def flax_like(n: int = 3) -> na.Container:
    blocks = {
        f"block_{i + 1}": {
            "fc": {"bias": np.zeros(8), "kernel": np.zeros((4, 8))},
            "q": {"bias": np.zeros((2, 2)), "kernel": np.zeros((4, 2, 2))},
        }
        for i in range(n)
    }
    return na.Container({**blocks, "embed/~/table": np.zeros((5, 4))})


KEYMAP = torch_like().match(flax_like())


def test_apply_makes_the_other_tree(backend: str) -> None:
    core = backends.core(backend)
    c = torch_like().map(lambda x: core.from_numpy(x.astype("float32")))
    made = KEYMAP.apply(c)
    assert made.spec is flax_like().spec
    weight = np.arange(16.0).reshape(4, 4)
    kernel = core.to_numpy(made["block_2/q/kernel"])
    np.testing.assert_array_equal(kernel, weight.T.reshape(4, 2, 2))
    assert made[("embed/~/table",)] is c["embed"]
    assert_identical(KEYMAP.invert().apply(made), c)


def test_keys_may_be_in_any_order_and_lists_dicts() -> None:
    c = torch_like(2)
    shuffled = na.Container(
        layer={str(i): dict(reversed(list(c["layer"][i].items()))) for i in range(2)},
        embed=c["embed"],
    )
    keymap = c.match(flax_like(2))
    assert_identical(keymap.apply(shuffled), keymap.apply(c))


def test_invert_twice_is_the_map() -> None:
    assert KEYMAP.invert().invert() == KEYMAP
    assert KEYMAP.invert() != KEYMAP


def test_save_and_load(tmp_path: Path) -> None:
    KEYMAP.save(tmp_path / "map.json")
    loaded = na.KeyMap.load(tmp_path / "map.json")
    assert loaded == KEYMAP
    assert loaded.source is KEYMAP.source
    assert loaded.target is KEYMAP.target
    KEYMAP.invert().save(tmp_path / "map.json")
    assert na.KeyMap.load(str(tmp_path / "map.json")) == KEYMAP.invert()
    assert [p.name for p in tmp_path.iterdir()] == ["map.json"]
    assert pickle.loads(pickle.dumps(KEYMAP)) == KEYMAP


def test_the_file_has_one_rule_for_all_blocks(tmp_path: Path) -> None:
    KEYMAP.save(tmp_path / "map.json")
    plain = json.loads((tmp_path / "map.json").read_text())
    assert [rule["from"] for rule in plain["rules"]] == [
        "layer/{i:0-2}/fc/bias",
        "layer/{i:0-2}/fc/weight",
        "layer/{i:0-2}/q/bias",
        "layer/{i:0-2}/q/weight",
        "embed",
    ]
    weight, _, kernel, embed = plain["rules"][1:]
    assert (weight["to"], weight["steps"]) == ("block_{i+1}/fc/kernel", [{"transpose": [1, 0]}])
    assert kernel["steps"] == [{"transpose": [1, 0]}, {"reshape": [4, 2, 2], "from": [4, 4]}]
    assert embed["to"] == ["embed/~/table"]
    assert plain["source"]["nodes"] == [["layer", "list"]]
    assert plain["source"]["paths"][0] == "embed"


@given(roots(), st.randoms(use_true_random=False))
def test_any_structure_comes_back(tree: dict[str, Any], random: Any) -> None:
    import tempfile

    source = na.Container(tree)
    target = na.Container({1: tree, "l": [tree, {}], "{x}": (), "a/b": {"": 0}})
    wanted = [p for p in target.spec.paths if p[0] == 1]
    pairs = [Pair(old, new) for old, new in zip(source.spec.paths, wanted, strict=True)]
    some = [pair for pair in pairs if random.random() < 0.7]
    candidates = [Pair(p.source, p.target, (), 0.5) for p in pairs if p not in some]
    keymap = na.KeyMap(
        source.spec, target.spec, in_order(some, target.spec), in_order(candidates, target.spec)
    )
    with tempfile.TemporaryDirectory() as folder:
        keymap.save(f"{folder}/map.json")
        assert na.KeyMap.load(f"{folder}/map.json") == keymap
    assert keymap.invert().invert() == keymap


def test_a_file_by_hand(tmp_path: Path) -> None:
    rules = [
        {"from": "layer/{i:0-1}/fc/weight", "to": "b_{i+1}/w", "steps": [{"transpose": [1, 0]}]},
        {"from": "embed", "to": ["e/t"]},
    ]
    (tmp_path / "m.json").write_text(json.dumps({**HEAD, "rules": rules}))
    keymap = na.KeyMap.load(tmp_path / "m.json")
    made = keymap.apply(torch_like(2), strict=False)
    assert made.to_flat_dict("|").keys() == {"b_1|w", "b_2|w", "e/t"}
    assert made["b_1/w"].shape == (4, 8)
    with pytest.raises(StructureError) as info:
        keymap.apply(torch_like(2))
    assert str(info.value).startswith(
        "KeyMap.apply: the map does not know 'layer/0/q/weight', 'layer/0/q/bias', "
        "'layer/0/fc/bias', 'layer/1/q/weight', 'layer/1/q/bias' and 1 more."
    )


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ([], "the file: got list, expected an object"),
        ({}, "the file: 'format' is missing"),
        ({**HEAD, "version": 9, "rules": []}, "version 9, expected 'nestarray key map', version 1"),
        ({**HEAD, "rules": {}}, "rules: got {}, expected a list of rules"),
        ({**HEAD, "rule": []}, "the file: 'rules' is missing"),
        ({**HEAD, "rules": [{"from": "a"}]}, "rules[0]: 'to' is missing"),
        (
            {**HEAD, "rules": [{"from": "a", "to": "b", "step": []}]},
            "rules[0]: there is no field 'step'; did you mean 'steps'?",
        ),
        ({**HEAD, "rules": [{"from": 1, "to": "b"}]}, "rules[0]: got 1, expected a string or a"),
        (
            {**HEAD, "rules": [{"from": "a{i}", "to": "b"}]},
            "rules[0]: 'a{i}' uses 'i', which has no range such as {i:0-11}",
        ),
        (
            {**HEAD, "rules": [{"from": "a{i:0-1}", "to": "b"}]},
            "rules[0]: 'b' of target is in rules[0] already; a leaf or a section has one partner",
        ),
        (
            {**HEAD, "rules": [{"from": "a", "to": "b"}, {"from": "a", "to": "c"}]},
            "rules[1]: 'a' of source is in rules[0] already; a leaf or a section has one partner",
        ),
        (
            {**HEAD, "rules": [{"from": "a", "to": "b", "confidence": 2}]},
            "rules[0]: confidence: got 2, expected 0 to 1",
        ),
        (
            {**HEAD, "rules": [{"from": "a", "to": "b", "steps": [{"transpose": [1, 1]}]}]},
            "rules[0]: steps: got {'transpose': [1, 1]}, expected",
        ),
        (
            {**HEAD, "rules": [{"from": "a", "to": "b", "steps": [{"reshape": [2], "from": [3]}]}]},
            "rules[0]: steps: got {'reshape': [2], 'from': [3]}, expected",
        ),
        (
            {
                **HEAD,
                "rules": [
                    {"from": "a", "to": "b", "steps": [{"split": [2, 1], "of": 4, "axis": 0}]}
                ],
            },
            "rules[0]: steps: got {'split': [2, 1], 'of': 4, 'axis': 0}, expected",
        ),
        (
            {
                **HEAD,
                "rules": [
                    {"from": "a", "to": to, "steps": [{"split": [0, stop], "of": 4, "axis": 0}]}
                    for to, stop in (("b", 2), ("c", 4))
                ],
            },
            "rules[1]: 'a' of source is in rules[0] already; a leaf or a section has one partner",
        ),
        (
            {**HEAD, "rules": [{"from": "a", "to": "b"}], "source": {"paths": ["aa"]}},
            "rules[0]: 'a' is no leaf of source; did you mean 'aa'?",
        ),
        ({**HEAD, "rules": [], "source": {"paths": ["a", "a/b"]}}, "'a/b' goes below a leaf"),
        ({**HEAD, "rules": [], "source": {"paths": ["a", "a"]}}, "source: 'a' is there twice"),
        (
            {**HEAD, "rules": [], "target": {"paths": ["l/0", "l/2"], "nodes": [["l", "list"]]}},
            "target: 'l' is a list of the keys 0, 2, expected 0 to 1 in order",
        ),
        (
            {**HEAD, "rules": [], "target": {"paths": ["l/x"], "nodes": [["l", "list"]]}},
            "target: 'l/x': got the key 'x' of a list, expected a number",
        ),
        (
            {**HEAD, "rules": [], "target": {"nodes": [["l", "set"]]}},
            "target: nodes: got ['l', 'set'], expected [path, kind]",
        ),
        (
            {**HEAD, "rules": [{"from": "a{i:0-9999999}", "to": "b{i}"}]},
            "names 10,000,000 paths, expected at most 1,000,000",
        ),
    ],
)
def test_wrong_files(tmp_path: Path, plain: Any, message: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(plain))
    with pytest.raises(StorageError) as info:
        na.KeyMap.load(path)
    assert str(info.value).startswith(f"KeyMap.load: {str(path)!r}: ")
    assert message in str(info.value)


def test_no_files(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="there is no file"):
        na.KeyMap.load(tmp_path / "none.json")
    (tmp_path / "m.json").write_bytes(b"\xff{")
    with pytest.raises(StorageError, match="is no JSON file"):
        na.KeyMap.load(tmp_path / "m.json")
    (tmp_path / "m.json").write_text("[" * 100_000)
    with pytest.raises(StorageError, match="is no JSON file"):
        na.KeyMap.load(tmp_path / "m.json")
    path = tmp_path / "missing" / "m.json"
    with pytest.raises(MissingFileError) as info:
        KEYMAP.save(path)
    assert str(info.value) == (
        f"KeyMap.save: {str(path)!r}: there is no directory {str(path.parent)!r}; make it first"
    )
    with pytest.raises(StorageError, match=r"KeyMap\.save: .* cannot be written"):
        KEYMAP.save(tmp_path)


def test_a_file_keeps_its_permissions_and_a_link_stays(tmp_path: Path) -> None:
    path, link = tmp_path / "m.json", tmp_path / "link.json"
    path.touch()
    by_default = path.stat().st_mode
    path.unlink()
    KEYMAP.save(path)
    assert path.stat().st_mode == by_default
    path.chmod(0o640)
    link.symlink_to(path)
    KEYMAP.save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert na.KeyMap.load(path) == KEYMAP


@given(st.binary(max_size=40), st.integers(0, 2000), st.integers(0, 40))
def test_damaged_files_are_errors_or_maps(noise: bytes, at: int, cut: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.json"
        KEYMAP.save(path)
        data = path.read_bytes()
        at = at % len(data)
        path.write_bytes(data[:at] + noise + data[at + cut :])
        try:
            loaded = na.KeyMap.load(path)
        except StorageError:
            return
        assert isinstance(loaded, na.KeyMap)


def test_wrong_trees() -> None:
    c = torch_like()
    with pytest.raises(StructureError) as info:
        KEYMAP.apply(c.delete("layer/1/q/bias").set("more", 1))
    assert str(info.value) == (
        "KeyMap.apply: c lacks 'layer/1/q/bias'; the map does not know 'more'. Leave these out with "
        "strict=False, or match again"
    )
    part = KEYMAP.apply(c.delete("layer/1/q/bias").set("more", 1), strict=False)
    assert len(part.leaves()) == len(c.leaves()) - 1
    with pytest.raises(ShapeError) as info:
        KEYMAP.apply(c.set("layer/1/fc/weight", np.ones(3)))
    assert str(info.value) == (
        "KeyMap.apply: 'layer/1/fc/weight' → 'block_2/fc/kernel': cannot transpose [1, 0]: got the "
        "shape (3,)"
    )
    with pytest.raises(ShapeError, match=r"cannot transpose .*: got no array"):
        KEYMAP.apply(c.set("layer/1/fc/weight", None))
    with pytest.raises(ArgumentError, match=r"^KeyMap\.apply: c: got dict, expected a Container"):
        KEYMAP.apply(c.to_dict())


@given(st.lists(st.integers(1, 4), max_size=4), st.data())
def test_steps_lead_from_shape_to_shape_and_back(sizes: list[int], data: Any) -> None:
    new = tuple(data.draw(st.permutations(sizes)))
    x = np.arange(float(np.prod(sizes))).reshape(sizes)
    for steps in possible_steps(tuple(sizes), new):
        y = x
        for step in steps:
            y = step.apply(y)
        assert y.shape == new
        for step in reversed(steps):
            y = step.inverse().apply(y)
        np.testing.assert_array_equal(x, y)
    if tuple(sizes) == new:
        assert possible_steps(new, new)[0] == ()


def test_steps_of_kernels_and_heads() -> None:
    assert possible_steps((8, 3, 5, 5), (5, 5, 3, 8)) == [(Transpose((2, 3, 1, 0)),)]
    assert possible_steps((5, 5, 3, 8), (8, 3, 5, 5)) == [(Transpose((3, 2, 0, 1)),)]
    assert possible_steps((8, 3, 5), (5, 3, 8)) == [(Transpose((2, 1, 0)),)]
    assert possible_steps((12, 8), (8, 3, 4)) == [(Transpose((1, 0)), Reshape((8, 12), (8, 3, 4)))]
    assert possible_steps((8, 3, 4), (12, 8)) == [(Reshape((8, 3, 4), (8, 12)), Transpose((1, 0)))]
    assert possible_steps((6,), (2, 3)) == [(Reshape((6,), (2, 3)),)]
    assert possible_steps((6, 4), (8, 3)) == []
    assert possible_steps((0, 2), (2, 0)) == [(Transpose((1, 0)),)]


SEGMENTS = st.text(alphabet="a0/{}17é", max_size=4)
PATHS = st.lists(st.one_of(SEGMENTS, st.integers(0, 12)), max_size=3).map(tuple)


@given(st.lists(st.tuples(PATHS, PATHS), max_size=12, unique_by=lambda pair: pair[0]))
def test_patterns_name_what_they_were_made_from(pairs: list[tuple[Any, Any]]) -> None:
    texts = fold([(pair, None) for pair in pairs])
    assert sorted(map(repr, pairs)) == sorted(
        repr(paths) for text, _ in texts for paths in expand(*text)
    )


@given(PATHS)
def test_written_paths_are_read(path: Any) -> None:
    assert list(expand(write(path))) == [(path,)]


def test_patterns() -> None:
    pairs = [((f"l{i}", str(j)), (f"b_{2 * i + j}",)) for i in (1, 2) for j in (0, 1)]
    assert [text for text, _ in fold([(pair, "") for pair in pairs])] == [
        ("l1/{i:0-1}", "b_{i+2}"),
        ("l2/{i:0-1}", "b_{i+4}"),
    ]
    gaps = [((f"x{i}",), ("y",)) for i in (0, 1, 2, 5, 7, 8)]
    assert [text[0] for text, _ in fold([(pair, "") for pair in gaps])] == [
        "x{i:0-2}", "x5", "x{i:7-8}",
    ]  # fmt: skip
    for text in ("a{", "}", "{1}", "{i:3-2}", "{i:0-1}{i:0-1}", "{i"):
        with pytest.raises(PatternError):
            list(expand(text))
