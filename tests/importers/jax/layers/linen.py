"""Layers of ``flax.linen``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp

from tests.importers.jax.layers import (
    IDS,
    IMAGES,
    KEY,
    ROWS,
    SERIES,
    VOLUMES,
    Call,
    Row,
    array,
)

MASK = nn.make_causal_mask(jnp.ones((2, 8)))


def row(
    make: Callable[[bool], nn.Module],
    *args: Any,
    state: int = 0,
    eval_state: int = 0,
    rngs: Any = None,
    **kwargs: Any,
) -> Row:
    """A module; `rngs` are given in training."""

    def called(train: bool) -> Call:
        module = make(train)
        variables = module.init({"params": KEY, "dropout": KEY}, *args, **kwargs)
        given = dict(kwargs, rngs=rngs) if rngs is not None and train else kwargs
        mutable = [name for name in variables if name != "params"]

        def direct() -> Any:
            return module.apply(variables, *args, mutable=mutable, **given)[0]

        return Call(module, args, {"variables": variables, **given}, direct)

    return Row(called, state, eval_state)


def layer(module: nn.Module, *args: Any, **kwargs: Any) -> Row:
    """A module that is the same in training."""
    return row(lambda train: module, *args, **kwargs)


def carried(cell: nn.Module, x: Any) -> Row:
    """One step of a recurrent cell."""
    return layer(cell, cell.initialize_carry(KEY, x.shape), x)


class Normalized(nn.Module):
    """A dense layer with a normalized kernel."""

    norm: Any
    update_stats: bool = False

    @nn.compact
    def __call__(self, x: Any) -> Any:
        if self.norm is nn.SpectralNorm:
            return self.norm(nn.Dense(4))(x, update_stats=self.update_stats)
        return self.norm(nn.Dense(4))(x)


class Function(nn.Module):
    """A module of a function, compact."""

    function: Any

    @nn.compact
    def __call__(self, *args: Any) -> Any:
        return self.function(self, *args)


def function(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Row:
    """A module that calls a function with itself and the arguments."""
    return layer(Function(call), *args, **kwargs)


class Step(nn.Module):
    """A layer between two of the same kind."""

    @nn.compact
    def __call__(self, carry: Any, x: Any) -> Any:
        carry = jnp.tanh(nn.Dense(6)(carry) + x)
        return carry, nn.Dense(2)(carry)


class Dropped(nn.Module):
    """A layer of a stack that drops."""

    deterministic: bool

    @nn.compact
    def __call__(self, carry: Any, _: Any) -> Any:
        x = nn.Dropout(0.4, deterministic=self.deterministic)(nn.Dense(6)(carry))
        return nn.BatchNorm(use_running_average=self.deterministic)(x), None


def scanned(module: nn.Module, x: Any) -> Any:
    stack = nn.scan(
        Step, variable_broadcast="params", split_rngs={"params": False}, in_axes=0, out_axes=0
    )
    return stack()(jnp.zeros(6), x)


class Stack(nn.Module):
    """Layers with stacked parameters."""

    train: bool

    @nn.compact
    def __call__(self, x: Any) -> Any:
        axes = {"params": 0, "batch_stats": 0}
        stack = nn.scan(Dropped, axes, split_rngs={"params": True, "dropout": True}, length=3)
        return stack(not self.train)(x, None)[0]


def mapped(module: nn.Module, x: Any) -> Any:
    heads = nn.vmap(
        nn.Dense,
        variable_axes={"params": 0},
        split_rngs={"params": True},
        in_axes=None,
        axis_size=3,
    )
    return heads(4)(x)


def rematerialized(module: nn.Module, x: Any) -> Any:
    return nn.remat(nn.Dense)(3)(jnp.sin(nn.remat(nn.LayerNorm)()(x)))


def chosen(module: nn.Module, x: Any) -> Any:
    first, second = nn.Dense(3, name="first"), nn.Dense(3, name="second")
    if module.is_initializing():
        return first(x) + second(x)
    return nn.cond(x.sum() > 0, lambda m, y: first(y), lambda m, y: second(y), module, x)


def switched(module: nn.Module, x: Any) -> Any:
    layers = [nn.Dense(3, name=f"branch_{i}") for i in range(3)]
    if module.is_initializing():
        return sum(f(x) for f in layers)
    index = (x.sum() > 0).astype(int) + 1
    return nn.switch(index, [lambda m, y, f=f: f(y) for f in layers], module, x)


def repeated(module: nn.Module, x: Any) -> Any:
    layer = nn.Dense(6, name="layer")
    if module.is_initializing():
        return layer(x)
    _, x = nn.while_loop(
        lambda m, c: c[0] < 3, lambda m, c: (c[0] + 1, jnp.tanh(layer(c[1]))), module, (0, x)
    )
    return jax.lax.stop_gradient(x)  # JAX has no reverse derivative of a while loop


def with_gradient(module: nn.Module, x: Any) -> Any:
    """The derivatives of a submodule."""
    y, pullback = nn.vjp(lambda m, a: m(a), nn.Dense(3), x)
    _, of_x = pullback(jnp.cos(y))
    _, tangent = nn.jvp(lambda m, a: m(a), nn.Dense(3), (x,), (x,), {})
    return of_x, tangent


def attention(**settings: Any) -> Callable[[bool], nn.Module]:
    return lambda train: nn.MultiHeadDotProductAttention(2, qkv_features=6, **settings)


def _pooled(x: Any) -> Any:
    return (
        nn.avg_pool(x, (2, 2), (2, 2), "SAME", count_include_pad=False),
        nn.avg_pool(x, (3, 3), (1, 2), "SAME"),
        nn.max_pool(x, (3, 2), (2, 1), ((1, 0), (0, 1))),
        nn.pool(x, 0.0, jax.lax.add, (2, 2), (2, 2), "VALID"),
    )


def activations(module: nn.Module, x: Any) -> Any:
    names = (
        "celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid "
        "log_softmax logsumexp relu relu6 selu sigmoid silu soft_sign softmax softplus standardize "
        "swish tanh"
    )
    return {name: getattr(nn, name)(x) for name in names.split()}


TABLE: dict[str, Row] = {
    "Dense": layer(nn.Dense(5), ROWS),
    "Dense/bfloat16": layer(nn.Dense(5, dtype=jnp.bfloat16, use_bias=False), ROWS),
    "DenseGeneral": layer(nn.DenseGeneral((2, 3), axis=(1, -1)), SERIES),
    "DenseGeneral/batch": layer(nn.DenseGeneral(4, axis=-1, batch_dims=(0,)), SERIES),
    "Einsum": layer(nn.Einsum((3, 4), "...a,ab->...b"), SERIES),
    "Conv": layer(nn.Conv(4, (3, 3)), IMAGES),
    "Conv/1d": layer(nn.Conv(4, (3,), strides=2, padding="CAUSAL", kernel_dilation=1), SERIES),
    "Conv/circular": layer(nn.Conv(4, (3, 3), padding="CIRCULAR", strides=2), IMAGES),
    "Conv/reflect": layer(nn.Conv(4, (3, 3), padding="REFLECT"), IMAGES),
    "Conv/dilated": layer(
        nn.Conv(6, (3, 3), kernel_dilation=2, padding=((2, 1), (0, 2)), feature_group_count=3), IMAGES
    ),
    "Conv/input_dilated": layer(nn.Conv(4, (3, 3), input_dilation=2, padding=((1, 1), (0, 2))), IMAGES),
    "Conv/3d": layer(nn.Conv(3, (2, 3, 2), strides=(1, 2, 2)), VOLUMES),
    "Conv/unbatched": layer(nn.Conv(4, (3, 3), mask=jnp.ones((3, 3, 3, 4)).at[0].set(0)), IMAGES[0]),
    "ConvTranspose": layer(nn.ConvTranspose(4, (3, 3), strides=(2, 2)), IMAGES),
    "ConvTranspose/valid": layer(nn.ConvTranspose(4, (3,), strides=(2,), padding="VALID"), SERIES),
    "ConvTranspose/circular": layer(
        nn.ConvTranspose(4, (4, 3), strides=(2, 1), padding="CIRCULAR", transpose_kernel=True), IMAGES
    ),
    "ConvLocal": layer(nn.ConvLocal(4, (3, 3), strides=2), IMAGES),
    "ConvLocal/1d": layer(nn.ConvLocal(4, (3,), padding="VALID"), SERIES),
    "Embed": layer(nn.Embed(5, 4), IDS),
    "Embed/attend": function(lambda m, x, i: (e := nn.Embed(5, 6))(i).sum() + e.attend(x), ROWS, IDS),
    "BatchNorm": row(lambda train: nn.BatchNorm(not train, momentum=0.9), IMAGES, state=2),
    "BatchNorm/mask": row(
        lambda train: nn.BatchNorm(not train, axis=-1, use_scale=False),
        ROWS,
        mask=jnp.asarray([[1], [0], [1], [1]], bool),
        state=2,
    ),
    "BatchNorm/fast": row(
        lambda train: nn.BatchNorm(not train, use_fast_variance=False, axis=1), SERIES, state=2
    ),
    "LayerNorm": layer(nn.LayerNorm(), ROWS),
    "LayerNorm/axes": layer(
        nn.LayerNorm(reduction_axes=(1, 2), feature_axes=(1, 2), use_fast_variance=False), SERIES
    ),
    "RMSNorm": layer(nn.RMSNorm(), ROWS),
    "GroupNorm": layer(nn.GroupNorm(3), ROWS),
    "GroupNorm/size": layer(nn.GroupNorm(None, group_size=1, use_bias=False), IMAGES),
    "InstanceNorm": layer(nn.InstanceNorm(), IMAGES),
    "SpectralNorm": row(lambda train: Normalized(nn.SpectralNorm, train), ROWS, state=2),
    "WeightNorm": layer(Normalized(nn.WeightNorm), ROWS),
    "MultiHeadAttention": layer(
        nn.MultiHeadAttention(2, qkv_features=6, out_features=5, normalize_qk=True), SERIES, array(2, 5, 4)
    ),
    "MultiHeadDotProductAttention": layer(attention()(False), SERIES, mask=MASK),
    "MultiHeadDotProductAttention/decode": row(
        attention(decode=True), SERIES[:, :1], state=3, eval_state=3
    ),
    "MultiHeadDotProductAttention/dropout": row(
        lambda train: nn.MultiHeadDotProductAttention(2, qkv_features=6, dropout_rate=0.3, deterministic=not train),
        SERIES,
        rngs={"dropout": KEY},
    ),
    "dot_product_attention": function(
        lambda m, q: nn.dot_product_attention(q, q, q, jnp.ones((2, 5, 5))), array(2, 5, 2, 4)
    ),
    "Dropout": row(lambda t: nn.Dropout(0.4, deterministic=not t), ROWS, rngs={"dropout": KEY}),
    "Dropout/channels": row(
        lambda t: nn.Dropout(0.4, broadcast_dims=(1, 2), deterministic=not t),
        IMAGES,
        rngs={"dropout": jax.random.key(3)},
    ),
    "LSTMCell": carried(nn.LSTMCell(5), ROWS),
    "OptimizedLSTMCell": carried(nn.OptimizedLSTMCell(5), ROWS),
    "GRUCell": carried(nn.GRUCell(5), ROWS),
    "MGUCell": carried(nn.MGUCell(5), ROWS),
    "SimpleCell": carried(nn.SimpleCell(5, residual=False), ROWS),
    "ConvLSTMCell": carried(nn.ConvLSTMCell(4, (3, 3)), IMAGES),
    "RNN": layer(nn.RNN(nn.LSTMCell(5), return_carry=True), SERIES, seq_lengths=jnp.asarray([3, 8])),
    "RNN/reversed": layer(nn.RNN(nn.GRUCell(5), reverse=True, keep_order=True), SERIES),
    "Bidirectional": layer(nn.Bidirectional(nn.RNN(nn.GRUCell(4)), nn.RNN(nn.SimpleCell(4))), SERIES),
    "Sequential": layer(nn.Sequential([nn.Dense(4), nn.gelu, nn.Dense(2)]), ROWS),
    "PReLU": layer(nn.PReLU(), ROWS),
    "pool": function(lambda m, x: _pooled(x), IMAGES),
    "activations": function(activations, ROWS),
    "scan": function(scanned, ROWS),
    "scan/stacked": row(Stack, ROWS, state=2, rngs={"dropout": KEY}),
    "vmap": function(mapped, ROWS),
    "remat": function(rematerialized, ROWS),
    "remat_scan": layer(nn.remat_scan(nn.Dense, lengths=(2, 2))(6), ROWS),
    "cond": function(chosen, ROWS),
    "switch": function(switched, ROWS),
    "while_loop": function(repeated, ROWS),
    "vjp": function(with_gradient, ROWS),
    "BatchApply": function(lambda m, x: nn.BatchApply(nn.Dense(4))(x), SERIES),
    "jit": function(lambda m, x: nn.jit(nn.Dense)(4)(x), ROWS),
}  # fmt: skip

#: Layers without a row.
WITHOUT = {
    "Module": "the base class",
    "RNNCellBase": "the base class",
    "SelfAttention": "deprecated: MultiHeadDotProductAttention of one argument",
    "Fp8DirectDotGeneralOp": "products of 8-bit floats",
    "Fp8DotGeneral": "products of 8-bit floats",
    "Fp8DotGeneralOp": "products of 8-bit floats",
    "Fp8Einsum": "products of 8-bit floats",
    "NANOOFp8DotGeneralOp": "products of 8-bit floats",
}


def public() -> list[str]:
    """The classes of layers of ``flax.linen``."""
    members = {name: getattr(nn, name) for name in dir(nn)}
    return [n for n, c in members.items() if inspect.isclass(c) and issubclass(c, nn.Module)]
