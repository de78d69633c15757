"""Files of Flax, Keras and Orbax, which those libraries wrote: values, laziness, damage."""

from __future__ import annotations

import io
import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import flax.serialization
import h5py
import jax.numpy as jnp
import keras
import numpy as np
import orbax.checkpoint as ocp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import StorageError
from nestarray.storage import keras as keras_files
from nestarray.storage import msgpack as msgpack_files
from tests.storage.test_fuzz import DAMAGE, check, damaged, folder

#: Of TensorFlow's arrays, which Keras converts.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

TREE = {
    "params": {
        "Dense_0": {"kernel": jnp.arange(12.0).reshape(3, 4), "bias": jnp.ones(4, jnp.bfloat16)},
        "empty": {},
    },
    "step": np.int32(7),
}


# -- MessagePack of Flax -----------------------------------------------------------------------


@pytest.mark.release
def test_flax_files(tmp_path: Path) -> None:
    path = tmp_path / "state.msgpack"
    extra = {"rate": 0.5, "name": "net", "flag": True, "none": None, "c": 1 + 2j, "blob": b"ab",
             "n": [-1, -200, -70_000, -(2**40), 5, 200, 70_000, 2**40, 2**63]}  # fmt: skip
    path.write_bytes(flax.serialization.to_bytes({**TREE, "extra": extra}))
    c = na.Container.load(path)
    assert c.params.Dense_0.kernel.tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert str(c["params/Dense_0/bias"].dtype) == "bfloat16"
    assert c["params/empty"].paths() == ()
    assert int(c.step) == 7
    found = c.extra.to_dict()
    assert list(found.pop("n").values()) == extra.pop("n")
    assert found == extra
    assert na.Container.load(path, flat=True).paths()[0] == "params.Dense_0.kernel"
    assert na.Container.load(path, "**/kernel", backend="torch").params.Dense_0.kernel.sum() == 66


def test_flax_arrays_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flax.serialization, "MAX_CHUNK_SIZE", 64)
    path = tmp_path / "state.msgpack"
    x = np.arange(50.0).reshape(5, 10)
    path.write_bytes(flax.serialization.msgpack_serialize({"x": x}))
    c = na.Container.load(path, lazy=True)
    assert c.x.shape == (5, 10)
    assert (c.x.read() == x).all()
    assert (c.x[1:3, 4] == x[1:3, 4]).all()


def test_flax_files_are_read_lazily(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.msgpack"
    path.write_bytes(flax.serialization.to_bytes({"x": np.ones((100, 100))}))
    read: list[int] = []
    skip = msgpack_files._Parser._bytes
    monkeypatch.setattr(
        msgpack_files._Parser, "_bytes", lambda self, n: (read.append(n), skip(self, n))[1]
    )
    c = na.Container.load(path, lazy=True)
    assert c.x.shape == (100, 100)
    assert sum(read) < 100  # the elements are 80,000 bytes
    assert (c.x[3] == 1).all()


@settings(max_examples=100)
@given(damage=DAMAGE)
def test_damaged_files_of_flax(damage: Any) -> None:
    with folder() as place:
        path = place / "state.msgpack"
        data = flax.serialization.to_bytes({"w": np.ones((2, 3)), "n": {"a": 3, "b": "text"}})
        path.write_bytes(damaged(data, damage))
        check(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"\x01",
        b"\x81\xa1a",  # ends in a map
        b"\x81\xa1a\x01\x02",  # bytes follow
        b"\xdf\xff\xff\xff\xff",  # claims 2^32 entries
        b"\x82\xa1a\x01\xa1a\x01",  # a key twice
        b"\x81\x90\x01",  # a list as a key
        b"\x81\xa1a\xd4\x09\x01",  # an extension of others
        b"\x81" * 5_000,  # deeply nested keys
        b"\x91" * 5_000,
        b"\x81\xa1a\xc7\x0e\x01\x93\x91\xce\xff\xff\xff\xff\xa2f4\xc4\x01\x00",  # a size that lies
    ],
)
def test_hostile_files_of_flax(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.msgpack").write_bytes(data)
    with pytest.raises(StorageError):
        na.Container.load(tmp_path / "a.msgpack")


# -- Keras -------------------------------------------------------------------------------------


def _layers() -> list[keras.Layer]:
    layers = keras.layers
    return [
        layers.Dense(2), layers.Dense(2, use_bias=False), layers.EinsumDense("abc,cd->abd", (None, 2)),
        layers.Conv1D(2, 1), layers.Conv2D(2, 1), layers.Conv3D(2, 1), layers.Conv1DTranspose(2, 1),
        layers.Conv2DTranspose(2, 1), layers.Conv3DTranspose(2, 1), layers.DepthwiseConv1D(1),
        layers.DepthwiseConv2D(1), layers.SeparableConv1D(2, 1), layers.SeparableConv2D(2, 1),
        layers.LayerNormalization(), layers.GroupNormalization(2), layers.LSTM(2), layers.GRU(2),
        layers.SimpleRNN(2), layers.BatchNormalization(),
        layers.BatchNormalization(center=False, scale=False), layers.Embedding(3, 2), layers.PReLU(),
        layers.MultiHeadAttention(2, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("layer", _layers(), ids=lambda layer: layer.name)
def test_names_of_keras_variables(layer: keras.Layer, tmp_path: Path) -> None:
    name = type(layer).__name__
    rank = 5 if "3D" in name else 4 if "2D" in name or name.startswith("Batch") else 3
    if name == "Embedding":
        layer.build((1,))
    elif name == "MultiHeadAttention":
        layer.build((1, 4, 4), (1, 4, 4))
    else:
        layer.build((1,) + (4,) * (rank - 1))
    model = keras.Sequential([layer])
    model.built = True
    for number, variable in enumerate(layer.weights):
        variable.assign(np.full(variable.shape, number))
    model.save_weights(tmp_path / "m.weights.h5")
    c = na.Container.load(tmp_path / "m.weights.h5")
    found = [(path.rpartition("/")[2], float(leaf.max())) for path, leaf in c.flat_items()]
    expected = [(v.name, float(np.max(v.numpy()))) for v in layer.weights]
    assert sorted(found) == sorted(expected)


def _model() -> keras.Model:
    inner = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, name="fc")], name="inner")
    layers = [keras.Input((3,)), keras.layers.Dense(4, name="first"), inner]
    return keras.Sequential(layers, name="net")


@pytest.mark.release("name")
@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5", "compressed.keras"])
def test_keras_files(name: str, tmp_path: Path) -> None:
    model, path = _model(), tmp_path / name
    if name == "m.weights.h5":
        model.save_weights(path)
    else:
        model.save(path)
    if name == "compressed.keras":
        _compress(path)
    c = na.Container.load(path)
    assert c.paths() == ("first/kernel", "first/bias", "inner/fc/kernel", "inner/fc/bias")
    assert (c["inner/fc/kernel"] == model.get_layer("inner").get_layer("fc").kernel.numpy()).all()
    lazy = na.Container.load(path, "first/*", lazy=True)
    assert lazy.first.kernel[1:, 0].tolist() == c.first.kernel[1:, 0].tolist()
    if name.endswith(".keras"):
        assert na.storage.metadata(path)["keras_version"] == keras.__version__


def _compress(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_keras_layers_of_one_name(tmp_path: Path) -> None:
    """The names of layers are unique in a model, but a file of one layer may hold two."""
    with h5py.File(tmp_path / "m.weights.h5", "w") as file:
        for group in ("dense", "dense_1"):
            made = file.create_group(f"layers/{group}/vars")
            made.attrs["name"] = "same"
            made["0"], made["1"] = np.ones((2, 2)), np.ones(2)
        file["layers/other/vars/0"] = np.ones(1)
        file["vars/0"] = np.ones(1)
    assert na.Container.load(tmp_path / "m.weights.h5").paths() == (
        "dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias", "other/0", "vars/0",
    )  # fmt: skip


@settings(max_examples=40)
@given(damage=DAMAGE, is_archive=st.booleans())
def test_damaged_files_of_keras(damage: Any, is_archive: bool) -> None:
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        file["layers/dense/vars/0"] = np.ones((2, 2))
    with folder() as place:
        path = place / ("m.keras" if is_archive else "m.weights.h5")
        data = content.getvalue()
        if is_archive:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("metadata.json", "{}")
                archive.writestr(keras_files.WEIGHTS, data)
            data = path.read_bytes()
        path.write_bytes(damaged(data, damage))
        check(path)


def test_archives_of_others(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(StorageError, match=r"archive without 'model\.weights\.h5'"):
        na.Container.load(tmp_path / "m.keras")


# -- Orbax -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of checkpoints of one tree."""
    place = tmp_path_factory.mktemp("orbax")
    tree = {
        **TREE,
        "list": [jnp.ones(2), 3, 2.5],
        "none": None,
        "text": "hello",
        "a.b": jnp.ones(1),
    }
    for is_database in (True, False):
        for is_zarr3 in (True, False):
            handler = ocp.PyTreeCheckpointHandler(use_ocdbt=is_database, use_zarr3=is_zarr3)
            ocp.Checkpointer(handler).save(place / f"{is_database}_{is_zarr3}", tree)
    manager = ocp.CheckpointManager(place / "run")
    for step in (3, 12):
        manager.save(step, args=ocp.args.StandardSave(TREE))
    manager.wait_until_finished()
    manager.close()
    return place


@pytest.mark.parametrize("name", ["True_True", "True_False", "False_True", "False_False"])
def test_orbax_checkpoints(name: str, checkpoints: Path) -> None:
    c = na.Container.load(checkpoints / name)
    assert c.params.Dense_0.kernel.tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert str(c["params/Dense_0/bias"].dtype) == "bfloat16"
    assert c["params/Dense_0/bias"].astype("float32").tolist() == [1.0] * 4
    assert c["params/empty"].paths() == ()
    assert c.list.spec.kind == "list"
    assert (int(c["step"]), float(c["list/2"]), c["none"], c["text"]) == (7, 2.5, None, "hello")
    assert c["a.b"].tolist() == [1.0]
    lazy = na.Container.load(checkpoints / name, lazy=True)
    assert lazy.params.Dense_0.kernel[1:, 0].tolist() == [4.0, 8.0]
    assert lazy.params.Dense_0.kernel[::-1, 0].tolist() == [8.0, 4.0, 0.0]
    assert na.Container.load(checkpoints / name, flat=True).paths()


def test_orbax_folders(checkpoints: Path, tmp_path: Path) -> None:
    assert int(na.Container.load(checkpoints / "run" / "12").step) == 7
    with pytest.raises(StorageError, match=r"holds 2 checkpoints; name one of .*run/3', .*run/12'"):
        na.Container.load(checkpoints / "run")
    shutil.copytree(checkpoints / "run" / "3", tmp_path / "run" / "3")
    assert int(na.Container.load(tmp_path / "run").step) == 7
    shutil.rmtree(tmp_path / "run" / "3" / "default")
    with pytest.raises(StorageError, match="without a tree"):
        na.Container.load(tmp_path / "run")


def test_orbax_directories_have_no_links(checkpoints: Path, tmp_path: Path) -> None:
    shutil.copytree(checkpoints / "False_False", tmp_path / "c")
    os.symlink("/etc/hostname", tmp_path / "c" / "step" / "1")
    with pytest.raises(StorageError, match="is a link"):
        na.Container.load(tmp_path / "c")


@pytest.mark.parametrize("is_database", [True, False])
@settings(max_examples=30)
@given(share=st.floats(0, 1, exclude_max=True), damage=DAMAGE | st.none())
def test_damaged_checkpoints(
    is_database: bool, share: float, damage: Any, checkpoints: Path
) -> None:
    with folder() as place:
        path = place / "c"
        shutil.copytree(checkpoints / f"{is_database}_False", path)
        files = sorted(p for p in path.rglob("*") if p.is_file() and p.name != "_sharding")
        part = files[int(share * len(files))]
        if damage is None:
            part.unlink()
        else:
            part.write_bytes(damaged(part.read_bytes(), damage))
        if (path / "_METADATA").exists():
            check(path)


def test_orbax_metadata_of_others(checkpoints: Path, tmp_path: Path) -> None:
    shutil.copytree(checkpoints / "False_False", tmp_path / "c")
    document = json.loads((tmp_path / "c" / "_METADATA").read_text())
    for row in document["tree_metadata"].values():
        row["key_metadata"][0]["key"] = "../" + row["key_metadata"][0]["key"]
    (tmp_path / "c" / "_METADATA").write_text(json.dumps(document))
    with pytest.raises(StorageError, match="leads to another directory"):
        na.Container.load(tmp_path / "c")
