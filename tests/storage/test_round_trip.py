"""Files round-trip: every structure, every dtype, every framework, every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings

import nestarray as na
from nestarray.errors import ArgumentError, DtypeError, MissingFileError, StructureError
from nestarray.storage.elements import to_elements
from tests.storage.comparing import SUFFIXES, arrays, assert_same, sample
from tests.trees import LEAVES, roots

ONE_FOLDER = [HealthCheck.function_scoped_fixture]  # every example writes the same file again


@pytest.mark.release("suffix")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_everything_at_once(tmp_path: Path, suffix: str) -> None:
    c = sample()
    c.save(tmp_path / f"c.{suffix}", metadata={"licence": "MIT", "é": ""})
    assert_same(na.Container.load(tmp_path / f"c.{suffix}"), c)
    assert na.storage.metadata(tmp_path / f"c.{suffix}") == {"licence": "MIT", "é": ""}
    assert [p.name for p in tmp_path.iterdir()] == [f"c.{suffix}"]


@pytest.mark.parametrize("suffix", SUFFIXES[:-1])
@settings(suppress_health_check=ONE_FOLDER)
@given(tree=roots(arrays() | LEAVES))
def test_any_tree(tmp_path: Path, suffix: str, tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    c.save(tmp_path / f"c.{suffix}")
    assert_same(na.Container.load(tmp_path / f"c.{suffix}"), c)


@settings(suppress_health_check=ONE_FOLDER, max_examples=8)
@given(tree=roots(arrays() | LEAVES))
def test_any_tree_as_zarr(tmp_path: Path, tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    c.save(tmp_path / "c.zarr")
    assert_same(na.Container.load(tmp_path / "c.zarr"), c)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "tree",
    [{}, [], (), np.ones((2, 2)), np.float64(2.5), {"a": None}, [np.ones(1)], 3.0, {"": {"": {}}}],
    ids=repr,
)
def test_roots_of_every_kind(tmp_path: Path, suffix: str, tree: Any) -> None:
    c = na.Container(tree)
    c.save(tmp_path / f"c.{suffix}")
    found = na.Container.load(tmp_path / f"c.{suffix}")
    assert_same(found, c)
    assert type(found) is type(c)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_parts_of_lists(tmp_path: Path, suffix: str) -> None:
    c = na.Container(a=[np.ones(1), np.zeros(2), np.ones(3)]).select("a/2", "a/0")
    c.save(tmp_path / f"c.{suffix}")
    assert_same(na.Container.load(tmp_path / f"c.{suffix}"), c)


@pytest.mark.release("backend")
def test_every_framework(tmp_path: Path, backend: str) -> None:
    names = ("float32", "bfloat16", "int32", "bool", "uint8", "complex64")
    plain = {name: np.array([[1, 0], [2, 3]]).astype(_dtype(name)) for name in names}
    plain["scalar"] = np.array(1.5, "float32")
    c = na.to_backend(na.Container(plain), backend)
    for suffix in SUFFIXES:
        c.save(tmp_path / f"c.{suffix}")
        assert_same(na.Container.load(tmp_path / f"c.{suffix}"), na.Container(plain))
        found = na.Container.load(tmp_path / f"c.{suffix}", backend=backend)
        assert na.backend_of(found) == backend
        assert_same(found, c)
        with na.use_backend(backend):
            assert na.backend_of(na.Container.load(tmp_path / f"c.{suffix}")) == backend


def _dtype(name: str) -> Any:
    return getattr(ml_dtypes, name, None) or name


def test_fused_trees(tmp_path: Path, backend: str) -> None:
    core = na.backends.core(backend)
    c = na.Container(a=np.ones((2, 3), "float32"), b=[np.arange(3, dtype="int32")])
    c = c.map(core.from_numpy)
    c.fuse().save(tmp_path / "c.safetensors")
    assert_same(na.Container.load(tmp_path / "c.safetensors", backend=backend), c)


def test_eight_bit_floats_of_every_framework(tmp_path: Path, backend: str) -> None:
    for name in ("float8_e4m3fn", "float8_e5m2"):
        c = na.Container(a=np.arange(-3, 3).astype(_dtype(name)), b=np.ones((), _dtype(name)))
        c.save(tmp_path / "c.safetensors")
        found = na.Container.load(tmp_path / "c.safetensors", backend=backend)
        assert na.backends.backend_of_type(type(found.a)) == backend
        assert_same(found, c)
        found.save(tmp_path / "again.npz")
        assert_same(na.Container.load(tmp_path / "again.npz"), c)


@pytest.mark.parametrize("suffix", ["safetensors", "npz"])
def test_integers_of_four_bits(tmp_path: Path, suffix: str) -> None:
    c = na.Container(
        w=np.arange(-8, 8).astype(ml_dtypes.int4), u=jax.numpy.arange(4, dtype="uint4")
    )
    c.save(tmp_path / f"c.{suffix}")
    for backend in ("numpy", "jax"):
        found = na.Container.load(tmp_path / f"c.{suffix}", backend=backend)
        assert (str(found.w.dtype), str(found.u.dtype)) == ("int4", "uint4")
        assert np.asarray(found.w).astype(int).tolist() == list(range(-8, 8))
    with pytest.raises(DtypeError, match="has no int4; load it with backend='numpy'"):
        na.Container.load(tmp_path / f"c.{suffix}", backend="torch")


def test_torch_needs_no_ml_dtypes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    c = na.Container(
        a=torch.tensor([1.0, -2.5], dtype=torch.bfloat16), b=torch.ones(2, dtype=torch.float8_e5m2)
    )
    c.save(tmp_path / "c.safetensors")
    assert_same(na.Container.load(tmp_path / "c.safetensors", backend="torch"), c)
    with pytest.raises(DtypeError) as info:
        na.Container.load(tmp_path / "c.safetensors")
    assert str(info.value) == (
        "numpy has no bfloat16 of its own; install ml_dtypes (pip install 'nestarray[storage]'), or "
        "load it with backend='torch'"
    )
    assert info.value.__notes__ == [f"at the array 'a' of '{tmp_path}/c.safetensors'"]


def test_tied_weights_are_stored_once(tmp_path: Path) -> None:
    w = torch.ones(1000)
    c = na.Container(embed={"w": w}, head=[w, w])
    for suffix in ("safetensors", "npz", "h5"):
        path = tmp_path / f"c.{suffix}"
        c.save(path)
        assert path.stat().st_size < 4000 + 5000
        found = na.Container.load(path, "head", backend="torch")
        assert found.head[0] is found.head[1]


def test_what_is_laid_out_oddly_in_memory(tmp_path: Path) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    c = na.Container(
        a=x.T, b=x[:, ::-1, ::2], c=x.astype(">f8"), d=torch.arange(6).reshape(2, 3).T,
        e=torch.ones(2, requires_grad=True), f=torch.tensor([1 + 2j]).conj(),
    )  # fmt: skip
    for suffix in SUFFIXES:
        c.save(tmp_path / f"c.{suffix}")
        found = na.Container.load(tmp_path / f"c.{suffix}")
        for path, leaf in c.flat_items():
            assert (found[path] == to_elements(leaf)).all()
            assert found[path].dtype.isnative
            assert found[path].flags.writeable
            assert found[path].flags.c_contiguous


def test_json_is_text_that_people_read(tmp_path: Path) -> None:
    na.Container(w=np.array([[0.5, np.inf]], "float32"), z=np.array([1j])).save(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["arrays"] == {
        "w": {"dtype": "float32", "shape": [1, 2], "elements": [0.5, "inf"]},
        "z": {"dtype": "complex128", "shape": [1], "elements": [0.0, 1.0]},
    }


def test_json_keeps_every_nan(tmp_path: Path) -> None:
    odd = np.array([0x7FC00001, 0xFFC00000, 0x3F800000, 0x7F800000], "uint32").view("float32")
    c = na.Container(a=odd, b=odd.view("complex64"), c=np.array([np.nan, 1], "float16"))
    c.save(tmp_path / "c.json")
    assert_same(na.Container.load(tmp_path / "c.json"), c)
    assert json.loads((tmp_path / "c.json").read_text())["arrays"]["c"]["elements"] == ["nan", 1.0]


def test_messages_of_leaves_that_cannot_be_stored(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    path.write_text("as it was")
    for leaf, error, text in (
        (
            {1, 2},
            ArgumentError,
            "Container.save: 'a/b' is a set, expected an array, a number, a string or None; convert "
            "it, or leave it out with c.exclude('a/b')",
        ),
        (
            np.array(["x"], object),
            DtypeError,
            "Container.save: 'a/b' has the dtype object, expected numbers or bools (bool, complex128, "
            "complex64, float16, float32, float64, int16, int32, int64, int8, uint16, uint32, uint64, "
            "uint8, bfloat16, or of at most 8 bits as ml_dtypes has them); convert it, or leave it out "
            "with c.exclude('a/b')",
        ),
        (
            jax.random.key(0),
            DtypeError,
            "Container.save: 'a/b' is a typed key of JAX, expected numbers; save "
            "c.to_backend('numpy'), which has its words, jax.random.key_data(key): na.random takes "
            "them too, and to_flax and jax.random.wrap_key_data make a typed key of them again",
        ),
        (
            np.ma.masked_less(np.arange(3.0), 1),
            ArgumentError,
            "Container.save: 'a/b' is a MaskedArray, expected an array, a number, a string or None; "
            "convert it, or leave it out with c.exclude('a/b')",
        ),
        (
            torch.eye(2).to_sparse(),
            ArgumentError,
            "Container.save: 'a/b' is a tensor of the layout torch.sparse_coo, expected a dense one; "
            "save x.to_dense(), or x.to_padded_tensor(0.0) of a nested tensor",
        ),
        (
            torch.ones(2, device="meta"),
            ArgumentError,
            "Container.save: 'a/b' has no values: it is on PyTorch's meta device, was donated or "
            "deleted; give it some, or leave it out with c.exclude('a/b')",
        ),
    ):
        with pytest.raises(error) as info:
            na.Container(w=np.ones(2), a={"b": leaf}).save(path)
        assert str(info.value) == text
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", ["npz", "json"])
def test_a_tree_too_deep_for_files(tmp_path: Path, suffix: str) -> None:
    c = na.Container(k=np.ones(2))
    for _ in range(199):
        c = na.Container(k=c)
    c.save(tmp_path / f"c.{suffix}")
    assert na.Container.load(tmp_path / f"c.{suffix}").spec is c.spec
    c = na.Container(k=c)
    with pytest.raises(StructureError) as info:
        c.save(tmp_path / f"c.{suffix}")
    assert str(info.value) == (
        "Container.save: the tree has more than 200 levels, which is all that files hold; flatten "
        "it with c.flatten_keys(), and what was read with c.unflatten_keys()"
    )
    c.flatten_keys().save(tmp_path / f"c.{suffix}")
    assert na.Container.load(tmp_path / f"c.{suffix}").unflatten_keys().spec is c.spec


def test_an_array_that_is_traced_cannot_be_stored(tmp_path: Path) -> None:
    import jax

    with pytest.raises(ArgumentError) as info:
        jax.jit(lambda x: na.Container(w=x).save(tmp_path / "c.npz"))(np.ones(2))
    assert str(info.value).startswith(
        "Container.save: 'w' is being traced by jax, it has no values yet; save outside of the "
        "function that is traced"
    )


def test_messages_of_wrong_arguments(tmp_path: Path) -> None:
    c = na.Container(w=np.ones(2))
    cases: list[tuple[Any, str]] = [
        (
            lambda: c.save(tmp_path),
            f"Container.save: path: got '{tmp_path}', a directory; name a file in it, such as "
            f"'{tmp_path}/model.safetensors', or say max_shard_bytes=, for several and their index",
        ),
        (
            lambda: c.save(tmp_path / "c.txt"),
            f"Container.save: path: got '{tmp_path}/c.txt', whose suffix is of no format; expected one "
            "of .weights.h5, .safetensors, .npz, .h5, .hdf5, .zarr, .json, .pt, .pth, .bin, .ckpt, "
            ".keras, .msgpack, or say format=",
        ),
        (
            lambda: c.save(tmp_path / "c", format="pickle"),
            "Container.save: format: got 'pickle', expected one of safetensors, npz, hdf5, zarr, json, "
            "torch, keras, msgpack, orbax",
        ),
        (
            lambda: c.save(tmp_path / "c.pt"),
            f"Container.save: path: got '{tmp_path}/c.pt', a file of torch, which is read only; torch's "
            "files hold programs; save as .safetensors, or call torch.save(c.to_torch_state_dict(), path)",
        ),
        (
            lambda: c.save(tmp_path / "c.weights.h5"),
            f"Container.save: path: got '{tmp_path}/c.weights.h5', a file of keras, which is read only; "
            "save as .safetensors, or write c.load_into_keras(model).save(path)",
        ),
        (
            lambda: c.save(tmp_path / "c.npz", metadata={"step": 3}),  # type: ignore[dict-item]
            "Container.save: metadata: got 'step': 3, expected strings; use json.dumps, or make it a "
            "leaf of the Container",
        ),
        (
            lambda: c.save(tmp_path / "c.npz", metadata={"nestarray": "x"}),
            "Container.save: metadata: the key 'nestarray' is the structure's; use another",
        ),
        (
            lambda: c.save(tmp_path / "no" / "c.npz"),
            f"Container.save: '{tmp_path}/no/c.npz': there is no directory '{tmp_path}/no'; make it "
            "first",
        ),
        (
            lambda: na.Container.load(tmp_path / "no.npz"),
            f"Container.load: '{tmp_path}/no.npz': there is no such file",
        ),
    ]
    for call, text in cases:
        with pytest.raises(na.errors.NestarrayError) as info:
            call()
        assert str(info.value) == text
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        na.Container.load(tmp_path / "no.safetensors")


def test_a_format_may_be_named(tmp_path: Path) -> None:
    c = sample()
    c.save(tmp_path / "weights", format="safetensors")
    assert_same(na.Container.load(tmp_path / "weights", format="safetensors"), c)
    c.save(tmp_path / "store", format="zarr")
    assert_same(na.Container.load(tmp_path / "store", format="zarr"), c)
    with pytest.raises(MissingFileError, match=r"no.zarr': there is no such file"):
        na.Container.load(tmp_path / "no.zarr")
