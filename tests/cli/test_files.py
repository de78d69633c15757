"""``nestarray show``, ``diff`` and ``convert-weights``."""

from __future__ import annotations

import json
import os
import shutil
import struct
from pathlib import Path
from typing import Any

import flax.serialization
import jax
import keras
import numpy as np
import orbax.checkpoint as ocp
import pytest
import torch
from flax import linen

import nestarray as na
from nestarray.cli import main
from nestarray.storage.safetensors import SafetensorsSource

#: Of TensorFlow's arrays, which Keras converts.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

TREE = {
    "fc": {"kernel": np.arange(6.0, dtype="float32").reshape(2, 3), "bias": np.ones(3, "float32")}
}
KINDS = ["safetensors", "sharded", "pt", "npz", "h5", "zarr", "json", "keras", "weights.h5", "msgpack",
         "orbax"]  # fmt: skip


def write(kind: str, folder: Path) -> Path:
    """A checkpoint with the leaves of `TREE`."""
    path, c = folder / f"c.{kind}", na.Container(TREE)
    if kind == "sharded":
        c.save(folder / "c.safetensors", max_shard_bytes=12)
        return folder / "c.safetensors.index.json"
    if kind == "pt":
        torch.save(
            {"fc.kernel": torch.from_numpy(TREE["fc"]["kernel"]), "fc.bias": torch.ones(3)}, path
        )
    elif kind in ("keras", "weights.h5"):
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, name="fc")])
        model.layers[0].set_weights([TREE["fc"]["kernel"], TREE["fc"]["bias"]])
        model.save(path) if kind == "keras" else model.save_weights(path)
    elif kind == "msgpack":
        path.write_bytes(flax.serialization.to_bytes(TREE))
    elif kind == "orbax":
        ocp.Checkpointer(ocp.PyTreeCheckpointHandler()).save(path, TREE)
    else:
        c.save(path)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One checkpoint of each kind."""
    return {kind: write(kind, tmp_path_factory.mktemp(kind.replace(".", "_"))) for kind in KINDS}


# -- show --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_show(kind: str, files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(files[kind])]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(str(files[kind]))
    assert lines[0].endswith("2 leaves, 9 parameters, 36 B")
    assert {" ".join(line.split()) for line in lines[1:4]} == {
        "fc 36 B", "kernel f32[2, 3] 24 B", "bias f32[3] 12 B",
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_show_as_json(
    kind: str, files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(files[kind]), "--json", "--match", "**/kernel"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["arrays"] == [
        {"path": "fc/kernel", "dtype": "float32", "shape": [2, 3], "bytes": 24}
    ]
    assert document["values"] == {}
    assert (document["leaves"], document["parameters"], document["bytes"]) == (1, 6, 24)


def test_show_folds_equal_blocks_and_lists_all(tmp_path: Path, capsys: Any) -> None:
    block = {"w": np.ones((2, 2)), "b": np.ones(2)}
    na.Container(layers=[dict(block) for _ in range(12)], name="net", none={}).save(
        tmp_path / "c.npz", metadata={"licence": "MIT " * 40}
    )
    assert main(["show", str(tmp_path / "c.npz")]) == 0
    out = capsys.readouterr().out
    assert [" ".join(line.split()) for line in out.splitlines()[1:]] == [
        "layers [list] 576 B", "0 … 11 12 × 576 B", "w f64[2, 2] 32 B", "b f64[2] 16 B", "name 'net'",
        "none {}", f"licence: {('MIT ' * 40)[:79]}…",
    ]  # fmt: skip
    assert main(["show", str(tmp_path / "c.npz"), "--all"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2 + 25 + 1


def test_large_files_are_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, count = tmp_path / "large.safetensors", 10 * 2**30 // 4
    header = json.dumps({"w": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}})
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode())
    os.truncate(path, 8 + len(header) + 4 * count)  # sparse

    def refuse(*_: Any) -> Any:
        raise AssertionError("an element was read")

    for name in ("read", "view", "part"):
        monkeypatch.setattr(SafetensorsSource, name, refuse)
    assert main(["show", str(path)]) == 0
    assert "10.0 GiB" in capsys.readouterr().out


def test_trees_are_colored_in_terminals(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["show", str(files["npz"])]) == 0
    out = capsys.readouterr().out
    assert "\x1b[36mf32[2, 3]" in out
    assert "└── " in out
    assert main(["show", str(files["npz"]), "--all"]) == 0
    assert "fc/kernel" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["show", str(files["npz"])]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_leaves_that_are_no_arrays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = {"a": 1, "b": 0.5, "c": None, "d": "text", "e": True}
    na.Container(**values, f=float("inf"), g=1j).save(tmp_path / "c.json")
    assert main(["show", str(tmp_path / "c.json"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["values"]
    assert found == values | {"f": "inf", "g": "1j"}
    assert main(["show", str(tmp_path / "c.json"), "--all"]) == 0
    assert "NoneType" in capsys.readouterr().out
    assert (
        main(["diff", str(tmp_path / "c.json"), str(tmp_path / "c.json"), "--format", "json"]) == 0
    )


@pytest.mark.parametrize("is_colored", [False, True])
def test_names_in_files_are_text(
    is_colored: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither the terminal nor rich interprets them."""
    if is_colored:
        monkeypatch.setenv("FORCE_COLOR", "1")
    path, other = str(tmp_path / "c.npz"), str(tmp_path / "other.npz")
    c = na.Container({"[red]x[/red]": np.ones(2), "\x1b[31mevil": np.ones(1), "a\nb": np.ones(3)})
    c.save(path, metadata={"k\x1b": "v\x1b[31m\nnext"})
    na.Container(y=np.ones(4)).save(other)
    for arguments in (
        ["show", path],
        ["show", path, "--all"],
        ["diff", path, other, "--names", "match"],
    ):
        main(arguments)
        out = capsys.readouterr().out
        assert "[red]x[/red]" in out
        assert "\x1b[31mevil" not in out
        assert "\x1b[31m\n" not in out
        assert "a\nb" not in out


def test_names_that_are_no_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "c.npz", **{"a": np.ones(1), "a.b": np.ones(2)})
    assert main(["show", str(tmp_path / "c.npz")]) == 2
    assert capsys.readouterr().err.rstrip().endswith("load it with --flat")
    assert main(["show", str(tmp_path / "c.npz"), "--flat"]) == 0
    assert "a.b" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["safetensors", "pt", "npz", "h5", "keras"])
def test_files_without_a_suffix(
    kind: str, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(files[kind], tmp_path / "blob")
    assert main(["show", str(tmp_path / "blob")]) == 0
    assert "2 leaves, 9 parameters, 36 B" in capsys.readouterr().out
    content = files[kind].read_bytes()
    (tmp_path / "blob").write_bytes(content[: len(content) // 2])
    assert main(["show", str(tmp_path / "blob")]) == 2


# -- diff --------------------------------------------------------------------------------------


def test_diff(tmp_path: Path, files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        assert main(["diff", str(files["npz"]), str(files[kind])]) == 0, kind
    capsys.readouterr()
    changed = str(tmp_path / "changed.npz")
    na.Container(TREE).set("fc/bias", np.full(3, 1.5, "float32")).save(changed)
    assert main(["diff", str(files["pt"]), changed]) == 1
    assert "~ fc/bias  f32[3]  all 3 changed, |Δ| ≤ 0.5" in capsys.readouterr().out
    assert main(["diff", str(files["pt"]), changed, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["entries"][0]["statistics"]["max_abs"] == 0.5
    for option in (["--atol", "0.6"], ["--rtol", "0.6"], ["--match", "**/kernel"]):
        assert main(["diff", str(files["pt"]), changed, *option]) == 0
    na.Container(TREE).astype("float64").save(changed)
    assert main(["diff", str(files["pt"]), changed]) == 1
    assert main(["diff", str(files["pt"]), changed, "--ignore-dtype"]) == 0


@pytest.fixture(scope="module")
def networks(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, torch.nn.Module, linen.Module]:
    """A torch module, its file, and a Flax model with layers of the same names."""
    folder = tmp_path_factory.mktemp("networks")
    torch.manual_seed(0)
    net = torch.nn.ModuleDict({
        "conv": torch.nn.Conv2d(3, 8, 3), "norm": torch.nn.BatchNorm2d(8), "fc": torch.nn.Linear(8, 4),
        "embed": torch.nn.Embedding(5, 4), "scale": torch.nn.LayerNorm(4),
    })  # fmt: skip
    with torch.no_grad():
        for x in net.state_dict().values():
            if x.is_floating_point():
                x.uniform_(0.5, 1.5)
    torch.save(net.state_dict(), folder / "net.pt")

    class Network(linen.Module):
        @linen.compact
        def __call__(self, x: Any, ids: Any) -> Any:
            x = linen.Conv(8, (3, 3), padding="VALID", name="conv")(x)
            x = linen.BatchNorm(use_running_average=True, epsilon=1e-5, name="norm")(x)
            x = linen.Dense(4, name="fc")(x.mean((1, 2)))
            x = x + linen.Embed(5, 4, name="embed")(ids)
            return linen.LayerNorm(epsilon=1e-5, name="scale")(x)

    return folder / "net.pt", net.eval(), Network()


#: The last layer divides by the spread of four features, which amplifies rounding tenfold.
ATOL = 1e-4


def outputs(net: Any, model: linen.Module, variables: Any) -> tuple[np.ndarray, np.ndarray]:
    """Of the torch modules and of the Flax model, for the same input."""
    x, ids = torch.linspace(-1, 1, 96).reshape(2, 3, 4, 4), torch.tensor([1, 3])
    y = net["fc"](net["norm"](net["conv"](x)).mean((2, 3))) + net["embed"](ids)
    images = x.permute(0, 2, 3, 1).numpy()
    return net["scale"](y).detach().numpy(), np.asarray(model.apply(variables, images, ids.numpy()))


def test_conversion_to_flax_and_back(networks: Any, tmp_path: Path) -> None:
    path, net, model = networks
    there, back = str(tmp_path / "flax.safetensors"), str(tmp_path / "torch.npz")
    assert main(["convert-weights", str(path), there, "--to", "flax"]) == 0
    expected, found = outputs(net, model, na.Container.load(there, backend="jax").to_flax())
    np.testing.assert_allclose(found, expected, atol=ATOL)
    assert main(["diff", str(path), there]) == 0  # across layouts
    assert main(["diff", str(path), there, "--names", "same"]) == 1
    assert main(["convert-weights", there, back, "--to", "torch"]) == 0
    assert main(["diff", str(path), back, "--match", "**/[!n]*"]) == 0
    for library in ("keras", "haiku"):
        there = str(tmp_path / f"{library}.npz")
        assert main(["convert-weights", str(path), there, "--to", library]) == 0
        assert main(["convert-weights", there, back, "--to", "torch"]) == 0
        assert main(["diff", str(path), back, "--match", "*/[bw]*"]) == 0


def test_conversion_like_another_checkpoint(
    networks: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, net, model = networks
    variables = model.init(jax.random.key(0), np.ones((2, 4, 4, 3), "float32"), np.array([1, 3]))
    like, names, out = (str(tmp_path / name) for name in ("like.msgpack", "names.json", "out.npz"))
    Path(like).write_bytes(flax.serialization.to_bytes(variables))
    assert main(["convert-weights", str(path), out, "--like", like, "--save-map", names]) == 0
    expected, found = outputs(net, model, na.Container.load(out, backend="jax").to_flax())
    np.testing.assert_allclose(found, expected, atol=ATOL)
    other = str(tmp_path / "other.npz")
    assert main(["convert-weights", str(path), other, "--map", names]) == 0
    assert main(["diff", out, other]) == 0
    assert main(["diff", str(path), out, "--map", names]) == 0
    capsys.readouterr()
    assert main(["convert-weights", str(path), other, "--map", names, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"from": "fc/weight", "to": "params/fc/kernel", "steps": [{"transpose": [1, 0]}],
            "confidence": 1.0} in document["map"]  # fmt: skip


def test_undecided_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, out, names = (
        str(tmp_path / f"{name}") for name in ("a.npz", "b.npz", "out.npz", "map.json")
    )
    na.Container(x=np.ones((4, 4)), y=np.ones((4, 4))).save(a)
    na.Container(up=np.ones((4, 4)), down=np.ones((4, 4)), more=np.ones(3)).save(b)
    assert main(["convert-weights", a, out, "--like", b, "--save-map", names]) == 1
    assert "without a decided counterpart" in capsys.readouterr().err
    assert not Path(out).exists()
    assert Path(names).exists()
    assert main(["diff", a, b, "--names", "match"]) == 1
    assert "- x  without a counterpart" in capsys.readouterr().out


def test_layers_after_a_flatten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten(), torch.nn.Linear(16, 2))
    a, out = str(tmp_path / "a.pt"), str(tmp_path / "out.npz")
    torch.save(net.state_dict(), a)
    assert main(["convert-weights", a, out, "--to", "flax"]) == 2
    assert "--flatten LEAF=CHANNELS" in capsys.readouterr().err
    assert not Path(out).exists()
    assert main(["convert-weights", a, out, "--to", "flax", "--flatten", "2/weight=4"]) == 0
    kernel = na.Container.load(out)["params/2/kernel"]
    expected = net[2].weight.detach().numpy().reshape(2, 4, 4).transpose(2, 1, 0).reshape(16, 2)
    assert (kernel == expected).all()
    assert main(["convert-weights", a, out, "--to", "flax", "--flatten", "weight"]) == 2


# -- errors ------------------------------------------------------------------------------------


def check_error(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The line of an error; no file is new."""
    before = sorted(folder.rglob("*"))
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("nestarray: error: ")
    assert err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before
    return err.removeprefix("nestarray: error: ").rstrip()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("orbax", "zarr")])
def test_truncated_files(
    kind: str, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(files[kind].parent, tmp_path / "c")
    path, out = tmp_path / "c" / files[kind].name, str(tmp_path / "out.npz")
    content = path.read_bytes()
    for share in (0.0, 0.1, 0.5, 0.9, 0.98):
        path.write_bytes(content[: int(share * len(content))])
        for arguments in (
            ["show", str(path)],
            ["diff", str(path), str(files["npz"])],
            ["convert-weights", str(path), out, "--to", "torch"],
        ):
            assert "c." in check_error(arguments, tmp_path, capsys)


def test_wrong_files(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = str(files["npz"])
    (tmp_path / "c.txt").write_text("text")
    for arguments, expected in (
        (["show", str(tmp_path / "no.npz")], "there is no such file"),
        (["show", str(tmp_path / "c.txt")], "or say --format"),
        (["show", str(tmp_path)], "is a directory without a .safetensors file"),
        (["show", good, "--match", "nothing"], "no leaf of"),
        (["diff", good, str(tmp_path / "no.npz")], "there is no such file"),
        (["convert-weights", good, str(tmp_path / "no" / "c.npz"), "--to", "torch"], "make it first"),
        (["convert-weights", good, str(tmp_path / "c.pt"), "--to", "torch"], "is read only"),
        (["convert-weights", good, str(tmp_path / "c.xyz"), "--to", "torch"], "suffix is of no format"),
        (["convert-weights", good, str(tmp_path / "c.npz"), "--to", "flax"], "already"),
    ):  # fmt: skip
        assert expected in check_error(arguments, tmp_path, capsys)


def test_a_failed_write_leaves_the_old_file(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.npz"
    out.write_bytes(b"old")

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError("No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    assert main(["convert-weights", str(files["npz"]), str(out), "--to", "torch"]) == 2
    assert out.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [out]
