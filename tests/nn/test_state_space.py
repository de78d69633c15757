"""State space layers against loops over time in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.nn.state_space import selective_scan
from nestarray.testing import assert_close

RNG = np.random.default_rng(0)


def test_selective_scan_is_a_loop_over_time() -> None:
    x, dt = RNG.normal(size=(2, 5, 3)), RNG.random((2, 5, 3))
    A, B, C = -RNG.random((3, 4)), RNG.normal(size=(2, 5, 4)), RNG.normal(size=(2, 5, 4))
    D, h = RNG.normal(size=3), RNG.normal(size=(2, 3, 4))
    y, last = selective_scan(x, dt, A, B, C, D, h)
    for t in range(5):
        h = np.exp(dt[:, t, :, None] * A) * h + (dt * x)[:, t, :, None] * B[:, t, None, :]
        assert_close(y[:, t], (h * C[:, t, None, :]).sum(-1) + D * x[:, t])
    assert_close(last, h)


def test_s4d_is_a_loop_over_time() -> None:
    net = nn.S4D(3, 4).init(na.random.key(0))
    x = RNG.normal(size=(2, 6, 3)).astype(np.float32)
    A = -np.exp(net.v.log_A_real) + 1j * net.v.A_imag
    dt = np.exp(net.v.log_dt)[:, None]
    decay = np.exp(dt * A)
    gain = (decay - 1) / A
    C = net.v.C[..., 0] + 1j * net.v.C[..., 1]
    h = np.zeros((2, 3, 2), np.complex64)
    y, last = net(x, return_state=True)
    for t in range(6):
        h = decay * h + gain * x[:, t, :, None]
        expected = 2 * (C * h).sum(-1).real + net.v.D * x[:, t]
        assert_close(y[:, t], expected, atol=1e-5, reason="sums of complex products")
    assert_close(last, h, atol=1e-5, reason="sums of complex products")


@pytest.mark.parametrize("layer", [nn.S4D(4, 6), nn.Mamba(4, 3)], ids=["S4D", "Mamba"])
def test_a_sequence_in_parts_is_the_whole(layer: nn.Module, backend: str) -> None:
    net = layer.init(na.random.key(0, backend=backend))
    x = na.to_backend(RNG.normal(size=(2, 7, 4)).astype(np.float32), backend)
    first, state = net(x[:, :4], return_state=True)
    second, state = net(x[:, 4:5], state, return_state=True)
    third = net(x[:, 5:], state)
    whole = na.to_backend(net(x), "numpy")
    parts = na.to_backend(na.concat([first, second, third], axis=1), "numpy")
    assert_close(parts, whole, rtol=1e-4, atol=1e-5, reason="another order of the sums")


@pytest.mark.parametrize("layer", [nn.S4D(4, 6), nn.Mamba(4, 3)], ids=["S4D", "Mamba"])
def test_tensorflow_leaves_the_length_open(layer: nn.Module) -> None:
    import tensorflow as tf

    net = layer.init(na.random.key(0, backend="tensorflow"))
    x = tf.constant(RNG.normal(size=(2, 7, 4)).astype(np.float32))
    open_net = tf.function(net, input_signature=[tf.TensorSpec((None, None, 4))])
    assert_close(open_net(x), net(x), rtol=1e-4, atol=1e-5, reason="another order of the sums")


def test_the_first_steps_of_mamba() -> None:
    v = nn.Mamba(64).init(na.random.key(0)).v
    steps = np.log1p(np.exp(v.dt_proj.bias))
    assert 0.99e-3 < steps.min() < 2e-3 < 0.05 < steps.max() < 0.101
    assert_close(np.exp(v.A_log[5]), np.arange(1, 17, dtype=np.float32), rtol=1e-5)


def test_settings_are_checked() -> None:
    with pytest.raises(
        ArgumentError, match="S4D: d_state: got 3, expected an even positive number"
    ):
        nn.S4D(4, 3)
    with pytest.raises(ArgumentError, match="Mamba: dt_rank: got 'all', expected a size or 'auto'"):
        nn.Mamba(4, dt_rank="all")
    with pytest.raises(ArgumentError, match="Mamba: d_conv: got 0, expected at least 1"):
        nn.Mamba(4, d_conv=0)
