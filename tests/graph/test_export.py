"""Programs of `jax.export` and `torch.export` made of graphs: they load without nestarray."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax import export

import nestarray as na
from tests.graph.networks import ConvNet

X = torch.randn(2, 1, 8, 8)

LOAD_JAX = """
import pickle, sys
sys.modules["nestarray"] = None
from jax import export
blob, args = pickle.load(open(sys.argv[1], "rb"))
pickle.dump(export.deserialize(blob).call(*args), open(sys.argv[1], "wb"))
"""

LOAD_TORCH = """
import sys
sys.modules["nestarray"] = None
import torch
torch.save(torch.export.load(sys.argv[1]).module()(torch.load(sys.argv[2])), sys.argv[2])
"""


def run_elsewhere(code: str, *paths: Path) -> None:
    """Run code in a process that cannot import nestarray."""
    subprocess.run([sys.executable, "-c", code, *map(str, paths)], check=True)


@pytest.mark.parametrize("train", [False, True])
def test_jax_programs_take_and_return_dicts(train: bool, tmp_path: Path) -> None:
    import pickle

    graph = na.trace_graph(ConvNet(), X, train=train).to_backend("jax")

    def run(v, s, x, seed):
        key = jax.random.key(seed) if train else None
        out = graph(x, v=na.Container(v), s=na.Container(s), key=key)
        return (out[0], out[1].to_dict()) if train else out

    args = (graph.v.to_dict(), graph.s.to_dict(), jnp.asarray(X.numpy()), jnp.uint32(3))
    program = export.export(jax.jit(run))(*args)
    file = tmp_path / "program"
    file.write_bytes(pickle.dumps((bytes(program.serialize()), jax.tree.map(np.asarray, args))))
    run_elsewhere(LOAD_JAX, file)
    got = pickle.loads(file.read_bytes())
    want = run(*args)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_torch_programs_hold_the_weights(tmp_path: Path) -> None:
    class Served(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.graph = na.trace_graph(ConvNet(), X)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.graph(x)

    served = Served()
    program, x = tmp_path / "program.pt2", tmp_path / "x.pt"
    torch.export.save(torch.export.export(served, (X,)), program)
    torch.save(X, x)
    run_elsewhere(LOAD_TORCH, program, x)
    torch.testing.assert_close(torch.load(x), served(X))
