"""``nestarray check`` and ``convert``, and the models that they take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.cli import main

NETS = """
import functools
import jax.numpy as jnp
import nestarray as na
import numpy as np
import torch
from flax import linen, nnx
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x, scale=None):
        y = torch.relu(self.fc(x))
        return y if scale is None else y * scale


class Random(nn.Module):  # differs in each call, so the proof fails
    calls = 0

    def forward(self, x):
        Random.calls += 1
        return x * Random.calls


@torch.library.custom_op("nestarray_cli::secret", mutates_args=())
def secret(x: torch.Tensor) -> torch.Tensor:
    return x + 1


secret.register_fake(torch.empty_like)


class Unsupported(nn.Module):
    def forward(self, x):
        return secret(x)


def make():
    return Net(), torch.ones(4, 3)


def by_name():
    return Net(), {"x": torch.ones(4, 3), "scale": torch.ones(2)}


def both():
    return Net(), (torch.ones(4, 3),), {"scale": torch.ones(2)}


def flax_model():
    return nnx.Linear(3, 2, rngs=nnx.Rngs(0)), jnp.ones((4, 3))


def sine(x):
    return na.sin(x)


def jax_sine(x):
    return jnp.sin(x)


def power(a):
    v = np.ones(len(a))
    for _ in range(2):
        v = a @ v / np.linalg.norm(v)
    return v


def fails():
    raise KeyError("missing\\nthing")


def fails_later(x):
    raise KeyError("later")


pair = make()
nested = functools.partial(sine)
number = 3
"""


@pytest.fixture(autouse=True)
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of models in the working directory."""
    (tmp_path / "nets.py").write_text(
        NETS.replace("nestarray_cli::", f"nestarray_{tmp_path.name}::")
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    monkeypatch.delitem(__import__("sys").modules, "nets", raising=False)


def document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("model", "options", "becomes"),
    [
        ("nets.py:make()", [], "torch.nn.functional.linear"),
        ("nets:pair", [], "torch.nn.functional.linear"),
        ("nets.py:by_name()", [], "torch.nn.functional.linear"),
        ("nets.py:both()", [], "torch.nn.functional.linear"),
        ("nets.py:Net()", ["--input", "4,3", "--input", "scale=2:float32"], "torch.nn.functional.linear"),
        ("nets.py:Net()", ["--input", "4,3", "--dynamic", "x=0:batch"], "torch.nn.functional.linear"),
        ("nets.py:flax_model()", [], "jax.lax.dot_general"),
        ("nets.py:sine", ["--input", "3"], "na.sin"),
        ("nets.py:nested", ["--input", "3", "--framework", "torch"], "na.sin"),
        ("nets.py:jax_sine", ["--input", "2,2:bfloat16"], "jax.lax.sin"),
        ("torch.nn:Embedding", [], None),
    ],
)  # fmt: skip
def test_models_and_inputs(
    model: str, options: list[str], becomes: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["check", model, "--to", "numpy", "--json", *options])
    if becomes is None:
        assert code == 2
        return
    assert code == 0
    operations = document(capsys)["operations"]
    assert becomes in [operation["becomes"] for operation in operations]


def test_check_of_unsupported_operations(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "nets.py:Unsupported()", "--to", "jax", "--input", "3"]
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert "CANNOT be converted" in out
    assert "missing" in out
    assert main([*arguments, "--islands"]) == 0


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_scripted_files(capsys: pytest.CaptureFixture[str]) -> None:
    torch.jit.save(torch.jit.script(torch.nn.Linear(3, 2)), "scripted.pt")
    assert main(["check", "scripted.pt", "--to", "jax", "--input", "4,3"]) == 0
    torch.save({"w": torch.ones(2)}, "weights.pt")
    assert main(["check", "weights.pt", "--to", "jax", "--input", "4,3"]) == 2
    assert "weights are not a model" in capsys.readouterr().err


def test_convert(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "nets.py:make()", "--to", "jax", "-o", "net.npz", "--json"]) == 0
    found = document(capsys)
    assert found["file"] == "net.npz"
    assert found["proof"]["ok"]
    assert found["proof"]["gradients"]
    graph = na.Graph.load("net.npz", backend="numpy")
    assert graph(np.ones((4, 3), "float32")).shape == (4, 2)
    assert main(["convert", "nets.py:make()", "--to", "numpy", "-o", "fast.npz", "--optimize"]) == 0
    assert "Net on numpy (eval): agrees" in capsys.readouterr().out


def test_convert_writes_deployment_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "nets.py:make()", "--to", "jax", "-o", "net.pt2", "--json"]) == 0
    assert document(capsys)["file"] == "net.pt2"
    served = torch.export.load("net.pt2").module()
    assert served(torch.ones(4, 3)).shape == (4, 2)


def test_a_failed_proof_leaves_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["convert", "nets.py:Random()", "--to", "jax", "-o", "net.npz", "--input", "3"]) == 1
    )
    out = capsys.readouterr().out
    assert "DIFFERS" in out
    assert "no file was written" in out
    assert not Path("net.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nets.py:Net()"], "comes without example inputs; give --input"),
        (["nets.py:make", "--input", "3"], "if it makes the model, write nets.py:make()"),
        (["nets.py:nothing", "--input", "3"], "has no attribute 'nothing'"),
        (["nets.py:fails()", "--input", "3"], "'nets.py:fails()' raised KeyError: 'missing\\nthing'"),
        (["nets.py:fails_later", "--input", "3"], "'nets.py:fails_later' raised KeyError: 'later'"),
        (["no.py:x", "--input", "3"], "'no.py': there is no such file"),
        (["no_such_module:x", "--input", "3"], "raised ModuleNotFoundError"),
        (["nets.py:a-b", "--input", "3"], "names no object"),
        (["nets.py:number", "--input", "3"], "got int, expected a torch.nn.Module"),
        (["net.onnx", "--input", "3"], "names no model"),
        (["no.pt", "--input", "3"], "there is no such file"),
        (["nets.py:sine", "--input", "a,b"], "expected SHAPE:DTYPE"),
        (["nets.py:sine", "--input", "3:float33"], "got 'float33'"),
        (["nets.py:sine", "--input", "x=3", "--input", "3"], "a position follows a name"),
        (["nets.py:sine", "--input", "no.npy"], "No such file"),
        (["nets.py:sine", "--input", "3", "--dynamic", "x"], "expected NAME=AXIS"),
    ],
)  # fmt: skip
def test_wrong_models_and_inputs(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *arguments, "--to", "jax"]) == 2
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_inputs_from_files(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("x.npy", np.ones((4, 3), "float32"))
    assert main(["check", "nets.py:Net()", "--to", "jax", "--input", "x=x.npy"]) == 0
    np.save("objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert main(["check", "nets.py:Net()", "--to", "jax", "--input", "objects.npy"]) == 2


def test_integers_are_below_their_bound(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "torch.nn:Identity()", "--to", "numpy", "--input", "2,8:int64:5"]
    assert main(arguments) == 0
    arguments = ["check", "nets.py:fails()", "--to", "jax", "--input", "3", "--traceback"]
    assert main(arguments) == 2
    assert "Traceback" in capsys.readouterr().err


def test_eject_writes_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eject", "nets.py:make()", "--to", "torch", "-o", "out"]
    assert main([*command, "--json"]) == 0
    assert document(capsys)["error"] < 1e-6
    assert "self.fc = nn.Linear(3, 2)" in (tmp_path / "out" / "model.py").read_text()
    assert main(command) == 2
    assert "pass --overwrite" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0


def test_numpy_programs_on_jax(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eject", "nets.py:power", "--to", "jax", "--input", "3,3:float64", "-o", "out"]
    assert main(command) == 2
    assert "in a shell with --float64 float32" in capsys.readouterr().err
    assert main([*command, "--float64", "float32"]) == 0
    assert "def power(" in (tmp_path / "out" / "model.py").read_text()
