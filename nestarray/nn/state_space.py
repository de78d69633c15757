"""State space layers: linear recurrences with diagonal matrices, by `na.associative_scan`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from nestarray import ops, random
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.convolution import Conv1d
from nestarray.nn.linear import Linear
from nestarray.nn.module import Module, Variable
from nestarray.transforms.associative_scans import associative_scan
from nestarray.transforms.control_flow import scan
from nestarray.typing import Array, DTypeLike, Shape


def linear_recurrence(
    decay: Array, x: Array, state: Array | None = None, *, axis: int = 0
) -> Array:
    """hₜ = decayₜ · hₜ₋₁ + xₜ, elementwise, in logarithmic depth.

    In TensorFlow, a length that is known only at run time takes linear depth.

    Args:
        decay: the shape of `x`.
        x: any shape.
        state: h before the first step, in the shape of `x` without `axis`; None: zeros.
        axis: of time.

    Returns:
        all h, in the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nn.state_space.linear_recurrence(np.full(4, 0.5), np.ones(4))
        array([1.   , 1.5  , 1.75 , 1.875])

    References:
        Blelloch, Prefix sums and their applications. 1990.
    """
    if x.shape[axis] is None:  # in TensorFlow, where a tree needs a known depth
        return _step_by_step(decay, x, state, axis)
    product, h = associative_scan(_after, (decay, x), axis=axis)
    if state is None:
        return h
    return ops.add(h, ops.multiply(product, ops.expand_dims(state, axis=axis)))


def _step_by_step(decay: Array, x: Array, state: Array | None, axis: int) -> Array:
    rows = (ops.moveaxis(decay, axis, 0), ops.moveaxis(x, axis, 0))

    def step(h: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
        h = ops.add(ops.multiply(row[0], h), row[1])
        return h, h

    start = ops.zeros_like(rows[1][0]) if state is None else state
    return ops.moveaxis(scan(step, start, rows)[1], 0, axis)


def _after(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """The steps h ↦ a h + b of `second` after the steps of `first`."""
    (a, b), (c, d) = first, second
    return ops.multiply(a, c), ops.add(ops.multiply(c, b), d)


def selective_scan(
    x: Array,
    dt: Array,
    A: Array,
    B: Array,
    C: Array,
    D: Array | None = None,
    state: Array | None = None,
) -> tuple[Array, Array]:
    """hₜ = exp(dtₜ A) hₜ₋₁ + dtₜ Bₜ xₜ and yₜ = Cₜ hₜ + D xₜ, for each channel.

    Args:
        x: `(batch, length, channels)`.
        dt: step sizes, `(batch, length, channels)`, positive.
        A: `(channels, states)`, negative for a stable recurrence.
        B: `(batch, length, states)`.
        C: `(batch, length, states)`.
        D: `(channels,)`; None: 0.
        state: h before the first step, `(batch, channels, states)`; None: zeros.

    Returns:
        y `(batch, length, channels)`, and the last h.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x, one = np.ones((1, 3, 1)), np.ones((1, 3, 1))
        >>> y, state = na.nn.state_space.selective_scan(x, one, -np.ones((1, 1)), one, one)
        >>> y.ravel().round(3)
        array([1.   , 1.368, 1.503])

    References:
        https://arxiv.org/abs/2312.00752
    """
    decay = ops.exp(ops.multiply(ops.expand_dims(dt, axis=-1), A))
    driven = ops.expand_dims(ops.multiply(dt, x), axis=-1) * ops.expand_dims(B, axis=-2)
    h = linear_recurrence(decay, driven, state, axis=1)
    y = ops.sum(ops.multiply(h, ops.expand_dims(C, axis=-2)), axis=-1)
    return (y if D is None else ops.add(y, ops.multiply(x, D))), h[:, -1]


class S4D(Module):
    """A diagonal linear system for each channel, hₜ = Ā hₜ₋₁ + B̄ xₜ and yₜ = 2 Re(C hₜ) + D xₜ.

    The continuous system has the diagonal A = −exp(log_A_real) + i A_imag and B = 1; with the step
    dt = exp(log_dt), zero-order hold gives Ā = exp(dt A) and B̄ = (Ā − 1) / A. At first A is
    −½ + i π n (S4D-Lin).

    Args:
        d_model: number of channels.
        d_state: number of states of each channel, even; half of them are stored, because they come
            in conjugate pairs.
        dt_min, dt_max: the range of the first steps, whose logarithms are uniform.

    Variables: log_dt `(channels,)`, log_A_real, A_imag `(channels, states / 2)`, C
    `(channels, states / 2, 2)`, real and imaginary, D `(channels,)`.

    Raises:
        ArgumentError: `d_state` is not even and positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.S4D(3, 8).init(na.random.key(0))
        >>> x = np.ones((2, 6, 3), np.float32)
        >>> first, state = net(x[:, :4], return_state=True)
        >>> np.allclose(net(x)[:, 4:], net(x[:, 4:], state), atol=1e-5)
        True

    References:
        https://arxiv.org/abs/2206.11893
    """

    @signature_errors()
    def __init__(
        self, d_model: int, d_state: int = 64, *, dt_min: float = 1e-3, dt_max: float = 0.1
    ) -> None:
        if d_state < 2 or d_state % 2:
            raise ArgumentError(f"S4D: d_state: got {d_state}, expected an even positive number")
        self.d_model, self.d_state, self.dt_min, self.dt_max = d_model, d_state, dt_min, dt_max

    def variables(self) -> Mapping[str, Variable]:
        """The logarithm of the step, the diagonal of A, C and D."""
        shape = (self.d_model, self.d_state // 2)
        return {
            "log_dt": Variable((self.d_model,), partial(_log_steps, self.dt_min, self.dt_max)),
            "log_A_real": Variable(shape, initializers.constant(math.log(0.5))),
            "A_imag": Variable(shape, _frequencies),
            "C": Variable((*shape, 2), initializers.normal(math.sqrt(0.5))),
            "D": Variable((self.d_model,), initializers.normal(1.0)),
        }

    def forward(
        self, x: Array, state: Array | None = None, *, return_state: bool = False
    ) -> Array | tuple[Array, Array]:
        """Run over time.

        Args:
            x: `(batch, length, channels)`.
            state: h before the first step, `(batch, channels, states / 2)`, complex; None: zeros.
            return_state: whether to return the last h too.

        Returns:
            `(batch, length, channels)`, and the last h if `return_state`.
        """
        A = ops.complex(-ops.exp(self.log_A_real), self.A_imag)
        dt = ops.astype(ops.exp(self.log_dt), A.dtype)
        change = ops.expm1(
            ops.multiply(A, ops.expand_dims(dt, axis=-1))
        )  # accurate for small steps
        decay, gain = ops.add(change, 1.0), ops.divide(change, A)
        driven = ops.multiply(ops.astype(ops.expand_dims(x, axis=-1), A.dtype), gain)
        h = linear_recurrence(ops.broadcast_to(decay, ops.shape(driven)), driven, state, axis=1)
        outputs = ops.multiply(h, ops.view_as_complex(self.C))
        y = 2.0 * ops.real(ops.sum(outputs, axis=-1)) + ops.multiply(x, self.D)
        return (y, h[:, -1]) if return_state else y


class Mamba(Module):
    """The Mamba block: a gated selective state space model after a causal convolution.

    x, z = in_proj(x); x = silu(conv(x)); dt, B, C = x_proj(x);
    y = selective_scan(x, softplus(dt_proj(dt)), −exp(A_log), B, C, D); out_proj(y · silu(z)).

    Args:
        d_model: size of the last axis of x and of the result.
        d_state: number of states of each channel.
        d_conv: size of the window of the convolution.
        expand: the number of channels inside is ``expand · d_model``.
        dt_rank: size of the projection of the steps; ``"auto"`` is ``ceil(d_model / 16)``.
        dt_min, dt_max, dt_scale, dt_init_floor: the range of the first steps, the scale of their
            weight, and their least value.
        conv_bias: whether the convolution has a bias.
        bias: whether in_proj and out_proj have biases.

    Variables: in_proj/weight `(2 · channels, d_model)`, conv1d/weight `(channels, 1, d_conv)`,
    conv1d/bias `(channels,)`, x_proj/weight `(rank + 2 · states, channels)`, dt_proj/weight
    `(channels, rank)`, dt_proj/bias `(channels,)`, A_log `(channels, states)`, D `(channels,)`,
    out_proj/weight `(d_model, channels)`; the paths of ``transformers`` and ``mamba_ssm``.

    Raises:
        ArgumentError: a size is not positive, or `dt_rank` is neither a size nor ``"auto"``.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Mamba(4, 8).init(na.random.key(0))
        >>> net(np.ones((2, 6, 4), np.float32)).shape
        (2, 6, 4)

    References:
        https://arxiv.org/abs/2312.00752
        https://huggingface.co/docs/transformers/model_doc/mamba
    """

    @signature_errors()
    def __init__(
        self,
        d_model: int,
        d_state: int = 16,
        d_conv: int = 4,
        expand: int = 2,
        dt_rank: int | str = "auto",
        *,
        dt_min: float = 1e-3,
        dt_max: float = 0.1,
        dt_scale: float = 1.0,
        dt_init_floor: float = 1e-4,
        conv_bias: bool = True,
        bias: bool = False,
    ) -> None:
        rank = math.ceil(d_model / 16) if dt_rank == "auto" else dt_rank
        if not isinstance(rank, int):
            raise ArgumentError(f"Mamba: dt_rank: got {rank!r}, expected a size or 'auto'")
        sizes = {"d_model": d_model, "d_state": d_state, "d_conv": d_conv, "expand": expand}
        for name, size in (*sizes.items(), ("dt_rank", rank)):
            if size < 1:
                raise ArgumentError(f"Mamba: {name}: got {size}, expected at least 1")
        channels = expand * d_model
        self.d_state, self.d_conv, self.channels = d_state, d_conv, channels
        self.in_proj = Linear(d_model, 2 * channels, bias)
        self.conv1d = Conv1d(channels, channels, d_conv, groups=channels, bias=conv_bias)
        self.x_proj = Linear(channels, rank + 2 * d_state, False)
        steps = partial(_inverse_softplus_of_steps, dt_min, dt_max, dt_init_floor)
        self.dt_proj = _Steps(rank, channels, initializers.uniform(dt_scale * rank**-0.5), steps)
        self.out_proj = Linear(channels, d_model, bias)

    def variables(self) -> Mapping[str, Variable]:
        """The logarithm of −A, and D."""
        return {
            "A_log": Variable((self.channels, self.d_state), _log_numbers),
            "D": Variable((self.channels,), initializers.ones),
        }

    def forward(
        self, x: Array, state: tuple[Array, Array] | None = None, *, return_state: bool = False
    ) -> Any:
        """Run over time.

        Args:
            x: `(batch, length, d_model)`.
            state: of a call with `return_state`, for the steps before x; None: zeros.
            return_state: whether to return the last state too: the last inputs of the convolution
                `(batch, channels, d_conv - 1)`, and h `(batch, channels, states)`.

        Returns:
            `(batch, length, d_model)`, and the state if `return_state`.
        """
        past, h = state or (None, None)
        hidden, gate = ops.split(self.in_proj(x), self.channels, axis=-1)
        hidden = ops.swapaxes(hidden, 1, 2)
        if past is None:
            window = ops.pad(hidden, [(0, 0), (0, 0), (self.d_conv - 1, 0)])
        else:
            window = ops.concat([past, hidden], axis=-1)
        past = window[..., ops.shape(hidden)[-1] :]
        hidden = ops.swapaxes(ops.silu(self.conv1d(window)), 1, 2)
        mixed = self.x_proj(hidden)
        dt = ops.softplus(self.dt_proj(mixed[..., : -2 * self.d_state]))
        B = mixed[..., -2 * self.d_state : -self.d_state]
        C = mixed[..., -self.d_state :]
        y, h = selective_scan(hidden, dt, -ops.exp(self.A_log), B, C, self.D, h)
        out = self.out_proj(ops.multiply(y, ops.silu(gate)))
        return (out, (past, h)) if return_state else out


class _Steps(Linear):
    """The projection of the steps, whose bias has its own initializer."""

    def __init__(self, rank: int, channels: int, weight: Any, bias: Any) -> None:
        super().__init__(rank, channels, initializer=weight)
        self._bias_initializer = bias

    def variables(self) -> Mapping[str, Variable]:
        """weight and bias."""
        bias = Variable((self.out_features,), self._bias_initializer)
        return {**super().variables(), "bias": bias}


def _log_steps(
    least: float, most: float, key: Array, shape: Shape, dtype: DTypeLike = "float32"
) -> Array:
    """Uniform numbers between the logarithms."""
    return random.uniform(key, shape, dtype, math.log(least), math.log(most))


def _inverse_softplus_of_steps(
    least: float,
    most: float,
    floor: float,
    key: Array,
    shape: Shape,
    dtype: DTypeLike = "float32",
) -> Array:
    steps = ops.maximum(ops.exp(_log_steps(least, most, key, shape, dtype)), floor)
    return ops.add(steps, ops.log(-ops.expm1(-steps)))


def _frequencies(key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    """π n in row n of the last axis."""
    return ops.broadcast_to(ops.arange(shape[-1], dtype=dtype, like=key) * math.pi, shape)


def _log_numbers(key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    """log(1 + n) in row n of the last axis."""
    return ops.broadcast_to(ops.log1p(ops.arange(shape[-1], dtype=dtype, like=key)), shape)
