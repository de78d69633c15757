"""Fake quantization, compared with torch's own, and the modules that train for it."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
import nestarray.frontends.torch as ntorch
from nestarray import errors
from tests.graph.agreement import host

BACKENDS = (
    "numpy",
    "torch",
    pytest.param("jax", marks=pytest.mark.full),
    pytest.param("tensorflow", marks=pytest.mark.full),
)

X = torch.linspace(-3, 3, 60).reshape(3, 4, 5).sin() * 2 + 0.01


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("settings", [(0.01, 3, -128, 127), (0.02, 10, 0, 255)])
def test_of_a_tensor(backend, settings):
    x = X.clone().requires_grad_()
    want = torch.fake_quantize_per_tensor_affine(x, *settings)
    (want * X.cos()).sum().backward()
    given, cosine = na.to_backend(X, backend), na.to_backend(X.cos(), backend)
    function = lambda x: ntorch.fake_quantize_per_tensor_affine(x, *settings)  # noqa: E731
    np.testing.assert_allclose(host(function(given)), host(want), rtol=1e-6, atol=1e-7)
    slope = na.grad(lambda x: na.sum(function(x) * cosine))(given)
    np.testing.assert_allclose(host(slope), host(x.grad), rtol=1e-6)
    assert 0 < (x.grad == 0).sum() < x.numel()  # some are clipped


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_of_channels(backend, axis):
    channels = X.shape[axis]
    scale = torch.linspace(0.005, 0.03, channels)
    zero = torch.arange(channels, dtype=torch.int32)
    x = X.clone().requires_grad_()
    want = torch.fake_quantize_per_channel_affine(x, scale, zero, axis, -128, 127)
    (want * X.cos()).sum().backward()
    given, s, z, cosine = (na.to_backend(a, backend) for a in (X, scale, zero, X.cos()))

    def function(x):
        return ntorch.fake_quantize_per_channel_affine(x, s, z, axis, -128, 127)

    np.testing.assert_allclose(host(function(given)), host(want), rtol=1e-6, atol=1e-7)
    slope = na.grad(lambda x: na.sum(function(x) * cosine))(given)
    np.testing.assert_allclose(host(slope), host(x.grad), rtol=1e-6)


def test_an_empty_range_is_refused():
    with pytest.raises(errors.ArgumentError) as caught:
        ntorch.fake_quantize_per_tensor_affine(np.ones(2), 0.1, 0, 3, 2)
    assert str(caught.value) == (
        "fake_quantize_per_tensor_affine: quant_min, quant_max: got 3 and 2, expected "
        "quant_min <= quant_max"
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("train", [True, False])
def test_modules_prepared_for_quantization(backend, engine, train):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it moves to another package
        import torch.ao.quantization as quantization

        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 3)).train()
        vars(net)["qconfig"] = quantization.get_default_qat_qconfig(engine)
        net = quantization.prepare_qat(net)
        net(torch.randn(4, 2, 6, 6))
        net.train(train)
        graph = na.trace_graph(net, torch.randn(4, 2, 6, 6), train=train).to_backend(backend)
        state, net = graph.s, copy.deepcopy(net)
    for step in range(2):
        before = state
        x = torch.randn(4, 2, 6, 6) * (1 + step)
        want = net(x)
        got, state = graph(na.to_backend(x, backend), s=state)
        # a number near the middle of two levels may round to the other in float32
        np.testing.assert_allclose(host(got), host(want), rtol=1e-5, atol=1e-6)
        for name, buffer in net.named_buffers():
            found = state[name.replace(".", "/")]
            np.testing.assert_allclose(host(found), host(buffer), rtol=1e-5, err_msg=name)
    if train:
        want.square().sum().backward()

        def loss(v):
            out, _ = graph(na.to_backend(x, backend), v=v, s=before)
            return na.sum(na.square(out))

        slopes = na.grad(loss)(graph.v)
        for name, parameter in net.named_parameters():
            found = host(slopes[name.replace(".", "/")])
            expected = host(parameter.grad)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * abs(expected).max())
