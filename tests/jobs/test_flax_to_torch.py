"""A Flax network goes to PyTorch: DataLoader, training, state_dict, ONNX, and back to Flax."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import onnxruntime
import torch
from flax import nnx
from torch.utils.data import DataLoader, TensorDataset

import nestarray as na


class Net(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv = nnx.Conv(1, 4, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.out = nnx.Linear(4 * 4 * 4, 3, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = nnx.max_pool(nnx.relu(self.norm(self.conv(x))), (2, 2), (2, 2))
        return self.out(x.reshape(x.shape[0], -1))


def test_there_and_back(tmp_path: Path) -> None:
    source = Net(nnx.Rngs(0))
    rng = np.random.default_rng(0)
    images = rng.normal(size=(24, 8, 8, 1)).astype("float32")
    labels = rng.integers(0, 2, 24)
    images += labels[:, None, None, None].astype("float32")
    torch.manual_seed(0)
    dynamic = {"x": {0: "batch"}}
    trained = na.trace_graph(source, images[:4], train=True, dynamic=dynamic).to_backend("torch")
    net = trained.to_torch_module()
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    data = DataLoader(
        TensorDataset(torch.from_numpy(images), torch.from_numpy(labels)),
        batch_size=5,
        shuffle=True,
    )  # the last batch has four
    losses = []
    net.train()
    for _ in range(6):
        for x, y in data:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])

    torch.save(net.state_dict(), tmp_path / "net.pt")
    source.eval()
    graph = na.trace_graph(source, images[:4], dynamic=dynamic).to_backend("torch")
    served = graph.to_torch_module()
    served.load_state_dict(torch.load(tmp_path / "net.pt"))
    served.eval()
    with torch.no_grad():
        expected = served(torch.from_numpy(images)).numpy()
        assert ((expected.argmax(1) == labels).mean()) > 0.8
        np.testing.assert_allclose(served(torch.from_numpy(images[:1])), expected[:1], atol=1e-5)

    torch.onnx.export(
        served, (torch.from_numpy(images[:2]),), tmp_path / "net.onnx", dynamo=True,
        dynamic_shapes={"x": {0: "batch"}}, verbose=False,
    )  # fmt: skip
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    name = session.get_inputs()[0].name
    for count in (1, 3, 24):
        result = session.run(None, {name: images[:count]})[0]
        np.testing.assert_allclose(result, expected[:count], atol=1e-5)

    variables = na.Container.from_torch_module(served, buffers=True).to_backend("jax")
    nnx.update(source, na.to_flax(variables, like=nnx.state(source)))
    np.testing.assert_allclose(jax.jit(lambda x: source(x))(images), expected, atol=1e-5)
