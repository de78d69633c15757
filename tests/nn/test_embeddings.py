"""Embeddings: initial values, empty bags and errors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError
from nestarray.testing import assert_close


def test_padding_is_zero_at_first(backend: str) -> None:
    weight = nn.Embedding(5, 3, -1).init(na.random.key(0, backend=backend)).v["weight"]
    weight = na.to_backend(weight, "numpy")
    assert not weight[4].any()
    assert weight[:4].all()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_that_are_empty_or_of_padding_only(mode: str, backend: str) -> None:
    indices, offsets = np.asarray([1, 2, 4, 3, 3]), np.asarray([0, 0, 3, 5])
    settings = {"mode": mode, "include_last_offset": True, "padding_idx": 3}
    twin = torch.nn.EmbeddingBag(5, 3, **settings)
    layer = nn.EmbeddingBag(5, 3, **settings)
    layer = layer.with_variables({"weight": twin.weight.detach()}).to_backend(backend)
    out = layer(*[na.to_backend(x, backend) for x in (indices, offsets)])
    expected = twin(torch.from_numpy(indices), torch.from_numpy(offsets)).detach().numpy()
    assert_close(na.to_backend(out, "numpy"), expected)


def test_derivatives_do_not_contain_the_scaling_to_max_norm(backend: str) -> None:
    twin = torch.nn.Embedding(5, 3, max_norm=1.0)
    net = nn.Embedding(5, 3, max_norm=1.0).with_variables({"weight": twin.weight.detach().clone()})
    net = net.to_backend(backend)
    indices = np.asarray([[0, 1], [1, 4]])
    rows = na.to_backend(indices, backend)
    grads = na.grad(lambda v: na.sum(net(rows, v=v) ** 3))
    second = na.grad(lambda v: na.sum(grads(v).weight ** 2))(net.v)
    loss = (twin(torch.from_numpy(indices)) ** 3).sum()
    (grad,) = torch.autograd.grad(loss, twin.weight, create_graph=True)
    (expected,) = torch.autograd.grad((grad**2).sum(), twin.weight)
    assert_close(na.to_backend(grads(net.v).weight, "numpy"), grad.detach().numpy())
    assert_close(na.to_backend(second.weight, "numpy"), expected.numpy())


def test_errors() -> None:
    with pytest.raises(ArgumentError, match=r"Embedding: max_norm: got -1.0, expected"):
        nn.Embedding(5, 3, max_norm=-1.0)
    with pytest.raises(ArgumentError, match="EmbeddingBag: sparse: got True, expected False"):
        nn.EmbeddingBag(5, 3, sparse=True)
    with pytest.raises(ArgumentError, match="padding_idx: got 5, expected one of 5 rows"):
        nn.Embedding(5, 3, 5)
    with pytest.raises(ArgumentError, match="mode: got 'min', expected 'mean', 'sum' or 'max'"):
        nn.EmbeddingBag(5, 3, mode="min")
    bag = nn.EmbeddingBag(5, 3).init(na.random.key(0))
    with pytest.raises(ShapeError, match=r"indices: got the shape \(2,\), expected \(bags, size\)"):
        bag(np.asarray([1, 2]))
    with pytest.raises(ArgumentError, match="per_sample_weights: got weights with mode='mean'"):
        bag(np.asarray([[1, 2]]), per_sample_weights=np.ones((1, 2), "f4"))
    with pytest.raises(ArgumentError, match=r"patch_size: got \(1, 2, 3\), expected a height and"):
        nn.PatchEmbedding(3, 5, (1, 2, 3))
    patches = nn.PatchEmbedding(3, 5, 2).init(na.random.key(0))
    with pytest.raises(ShapeError, match=r"x: got the shape \(1, 3, 4, 5\), expected a height"):
        patches(np.ones((1, 3, 4, 5), "f4"))
