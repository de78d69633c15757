"""Layers of ``flax.nnx``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from flax import nnx

from tests.importers.jax.layers import IDS, IMAGES, ROWS, SERIES, VOLUMES, Call, Row, array


def layer(
    make: Callable[[nnx.Rngs], nnx.Module],
    *args: Any,
    state: int = 0,
    eval_state: int = 0,
    **kwargs: Any,
) -> Row:
    """A module of random streams; `make` gets them."""

    def called(train: bool) -> Call:
        module = make(nnx.Rngs(0))

        def direct() -> Any:
            copy = nnx.clone(module)
            (copy.train if train else copy.eval)()
            return copy(*args, **kwargs)

        return Call(module, args, kwargs, direct)

    return Row(called, state, eval_state)


class Function(nnx.Module):
    """Layers that a function uses."""

    def __init__(self, call: Callable[..., Any], **layers: Any) -> None:
        self.call = nnx.static(call)
        for name, layer in layers.items():
            setattr(self, name, layer)

    def __call__(self, *args: Any) -> Any:
        return self.call(self, *args)


def carried(cell: Callable[..., Any], x: Any, **settings: Any) -> Row:
    """One step of a recurrent cell."""

    def make(rngs: nnx.Rngs) -> nnx.Module:
        return Function(
            lambda m, x: m.cell(m.cell.initialize_carry(x.shape, m.rngs), x),
            cell=cell(x.shape[-1], 5, rngs=rngs, **settings),
            rngs=nnx.Rngs(carry=3),
        )

    return layer(make, x, state=1, eval_state=1)


def decoding(rngs: nnx.Rngs) -> nnx.Module:
    attention = nnx.MultiHeadAttention(2, 4, qkv_features=6, decode=True, rngs=rngs)
    attention.init_cache((2, 7, 4))
    return attention


def stacked(rngs: nnx.Rngs) -> nnx.Module:
    """Layers with stacked parameters."""

    @nnx.split_rngs(splits=3)
    @nnx.vmap
    def make(rngs: nnx.Rngs) -> Any:
        return nnx.Linear(6, 6, rngs=rngs)

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def run(x: Any, layer: Any) -> Any:
        return jnp.tanh(layer(x))

    return Function(lambda m, x: run(x, m.layers), layers=make(rngs))


class Dropping(nnx.Module):
    """A layer of a stack that drops, with statistics."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(6, 6, rngs=rngs)
        self.norm = nnx.BatchNorm(6, rngs=rngs)
        self.dropout = nnx.Dropout(0.3, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.dropout(self.norm(self.linear(x)))


def stacked_state(rngs: nnx.Rngs) -> nnx.Module:
    """Layers with stacked state."""
    make = nnx.split_rngs(splits=2)(nnx.vmap(Dropping))

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def run(x: Any, layer: Any) -> Any:
        return layer(x)

    return Function(lambda m, x: run(x, m.layers), layers=make(rngs))


def mapped(rngs: nnx.Rngs) -> nnx.Module:
    heads = nnx.split_rngs(splits=3)(nnx.vmap(lambda rngs: nnx.Linear(6, 2, rngs=rngs)))
    run = nnx.vmap(lambda m, x: m(x), in_axes=(0, None))
    return Function(lambda m, x: run(m.heads, x), heads=heads(rngs))


def chosen(m: Any, x: Any) -> Any:
    return nnx.cond(x.sum() > 0, lambda m, y: m.a(y), lambda m, y: m.b(y), m, x)


def switched(m: Any, x: Any) -> Any:
    return nnx.switch(1, [lambda m, y: m.a(y), lambda m, y: m.b(y)], m, x)


def repeated(m: Any, x: Any) -> Any:
    return nnx.fori_loop(0, 3, lambda i, c: (c[0], jnp.tanh(c[0].a(c[1]))), (m, x))[1]


def with_gradient(m: Any, x: Any) -> Any:
    return nnx.grad(lambda a, x: jnp.sum(jnp.sin(a(x))))(m.a, x)["kernel"][...]


def pair(call: Callable[..., Any]) -> Callable[[nnx.Rngs], nnx.Module]:
    """Two linear layers."""
    return lambda r: Function(call, a=nnx.Linear(6, 6, rngs=r), b=nnx.Linear(6, 6, rngs=r))


def _pooled(m: Any, x: Any) -> Any:
    return (
        nnx.avg_pool(x, (2, 2), (2, 2), "SAME", count_include_pad=False),
        nnx.max_pool(x, (3, 2), (2, 1), ((1, 0), (0, 1))),
        nnx.min_pool(x, (2, 2), (2, 2)),
    )


def activations(m: Any, x: Any) -> Any:
    names = (
        "celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu "
        "log_sigmoid log_softmax logsumexp relu relu6 selu sigmoid silu soft_sign softmax softplus "
        "standardize swish tanh"
    )
    return {name: getattr(nnx, name)(x) for name in names.split()}


HEADS = array(2, 8, 6)
POSITIONS = jnp.arange(8.0)[::-1]
MASK = nnx.make_causal_mask(jnp.ones((2, 8)))

TABLE: dict[str, Row] = {
    "Linear": layer(lambda r: nnx.Linear(6, 5, rngs=r), ROWS),
    "Linear/bfloat16": layer(lambda r: nnx.Linear(6, 5, dtype=jnp.bfloat16, rngs=r), ROWS),
    "LinearGeneral": layer(lambda r: nnx.LinearGeneral((8, 3), (2, 3), axis=(1, -1), rngs=r), SERIES),
    "LinearGeneral/batch": layer(
        lambda r: nnx.LinearGeneral(3, 4, batch_axis={0: 2}, rngs=r), SERIES
    ),
    "Einsum": layer(lambda r: nnx.Einsum("nta,hab->nthb", (2, 3, 4), (2, 4), rngs=r), SERIES),
    "Conv": layer(lambda r: nnx.Conv(3, 4, (3, 3), rngs=r), IMAGES),
    "Conv/1d": layer(lambda r: nnx.Conv(3, 4, 3, strides=2, padding="CAUSAL", rngs=r), SERIES),
    "Conv/circular": layer(
        lambda r: nnx.Conv(3, 6, (3, 3), padding="CIRCULAR", feature_group_count=3, rngs=r), IMAGES
    ),
    "Conv/dilated": layer(
        lambda r: nnx.Conv(
            3, 4, (3, 3), input_dilation=2, kernel_dilation=2, padding=((2, 1), (0, 2)), rngs=r
        ),
        IMAGES,
    ),
    "Conv/3d": layer(lambda r: nnx.Conv(2, 3, (2, 3, 2), strides=(1, 2, 2), rngs=r), VOLUMES),
    "ConvTranspose": layer(lambda r: nnx.ConvTranspose(3, 4, (3, 3), strides=(2, 2), rngs=r), IMAGES),
    "ConvTranspose/valid": layer(
        lambda r: nnx.ConvTranspose(3, 4, 3, 2, padding="VALID", transpose_kernel=True, rngs=r), SERIES
    ),
    "Embed": layer(lambda r: nnx.Embed(5, 4, rngs=r), IDS),
    "Embed/attend": layer(
        lambda r: Function(lambda m, i: m.e.attend(m.e(i)), e=nnx.Embed(5, 6, rngs=r)), IDS
    ),
    "BatchNorm": layer(lambda r: nnx.BatchNorm(3, momentum=0.9, rngs=r), IMAGES, state=2),
    "BatchNorm/mask": layer(
        lambda r: nnx.BatchNorm(6, use_fast_variance=False, use_bias=False, rngs=r),
        ROWS,
        mask=jnp.asarray([[1], [0], [1], [1]], bool),
        state=2,
    ),
    "LayerNorm": layer(lambda r: nnx.LayerNorm(6, rngs=r), ROWS),
    "LayerNorm/axes": layer(
        lambda r: nnx.LayerNorm(3, reduction_axes=(1, 2), feature_axes=2, rngs=r), SERIES
    ),
    "RMSNorm": layer(lambda r: nnx.RMSNorm(6, rngs=r), ROWS),
    "GroupNorm": layer(lambda r: nnx.GroupNorm(6, 3, rngs=r), ROWS),
    "InstanceNorm": layer(lambda r: nnx.InstanceNorm(3, rngs=r), IMAGES),
    "SpectralNorm": layer(
        lambda r: nnx.SpectralNorm(nnx.Linear(6, 4, rngs=r), n_steps=2, rngs=r), ROWS, state=2
    ),
    "WeightNorm": layer(lambda r: nnx.WeightNorm(nnx.Linear(6, 4, rngs=r), rngs=r), ROWS),
    "MultiHeadAttention": layer(
        lambda r: nnx.MultiHeadAttention(
            2, 3, qkv_features=6, out_features=5, normalize_qk=True, decode=False, rngs=r
        ),
        SERIES,
        mask=MASK,
    ),
    "MultiHeadAttention/decode": layer(decoding, array(2, 1, 4), state=3, eval_state=3),
    "MultiHeadAttention/dropout": layer(
        lambda r: nnx.MultiHeadAttention(2, 4, dropout_rate=0.3, decode=False, rngs=r),
        array(2, 5, 4),
        state=1,
    ),
    "dot_product_attention": layer(
        lambda r: Function(lambda m, q: nnx.dot_product_attention(q, q, q, jnp.ones((2, 5, 5)))),
        array(2, 5, 2, 4),
    ),
    "Dropout": layer(lambda r: nnx.Dropout(0.4, rngs=r), ROWS, state=1),
    "Dropout/channels": layer(lambda r: nnx.Dropout(0.4, broadcast_dims=(1, 2), rngs=r), IMAGES, state=1),
    "LSTMCell": carried(nnx.LSTMCell, ROWS),
    "OptimizedLSTMCell": carried(nnx.OptimizedLSTMCell, ROWS),
    "GRUCell": carried(nnx.GRUCell, ROWS),
    "SimpleCell": carried(nnx.SimpleCell, ROWS),
    "RNN": layer(
        lambda r: nnx.RNN(nnx.LSTMCell(3, 5, rngs=r), return_carry=True, rngs=r),
        SERIES,
        seq_lengths=jnp.asarray([3, 8]),
        state=1,
        eval_state=1,
    ),
    "RNN/reversed": layer(
        lambda r: nnx.RNN(nnx.GRUCell(3, 5, rngs=r), reverse=True, keep_order=True, rngs=r),
        SERIES,
        state=1,
        eval_state=1,
    ),
    "Bidirectional": layer(
        lambda r: nnx.Bidirectional(
            nnx.RNN(nnx.GRUCell(3, 4, rngs=r), rngs=r), nnx.RNN(nnx.SimpleCell(3, 4, rngs=r), rngs=r), rngs=r
        ),
        SERIES,
        state=1,
        eval_state=1,
    ),
    "Sequential": layer(
        lambda r: nnx.Sequential(nnx.Linear(6, 4, rngs=r), nnx.gelu, nnx.Linear(4, 2, rngs=r)), ROWS
    ),
    "List": layer(
        lambda r: Function(
            lambda m, x: m.layers[1](m.layers[0](x)),
            layers=nnx.List([nnx.Linear(6, 4, rngs=r), nnx.Linear(4, 2, rngs=r)]),
        ),
        ROWS,
    ),
    "Dict": layer(
        lambda r: Function(lambda m, x: m.layers["a"](x), layers=nnx.Dict(a=nnx.Linear(6, 4, rngs=r))),
        ROWS,
    ),
    "LoRA": layer(lambda r: nnx.LoRA(6, 2, 4, base_module=nnx.Linear(6, 4, rngs=r), rngs=r), ROWS),
    "LoRALinear": layer(lambda r: nnx.LoRALinear(6, 4, lora_rank=2, rngs=r), ROWS),
    "PReLU": layer(lambda r: nnx.PReLU(), ROWS),
    "pool": layer(lambda r: Function(_pooled), IMAGES),
    "activations": layer(lambda r: Function(activations), ROWS),
    "scan": layer(stacked, ROWS),
    "scan/state": layer(stacked_state, ROWS, state=3),
    "vmap": layer(mapped, ROWS),
    "remat": layer(pair(lambda m, x: nnx.remat(lambda m, y: m.b(m.a(y)))(m, x)), ROWS),
    "jit": layer(pair(lambda m, x: nnx.jit(lambda m, y: m.b(m.a(y)))(m, x)), ROWS),
    "cond": layer(pair(chosen), ROWS),
    "switch": layer(pair(switched), ROWS),
    "fori_loop": layer(pair(repeated), ROWS),
    "grad": layer(pair(with_gradient), ROWS),
}  # fmt: skip

if hasattr(nnx, "RoPE"):  # earlier releases lack it
    TABLE["RoPE"] = layer(
        lambda r: Function(lambda m, x: m.rope(m.rope(x), POSITIONS), rope=nnx.RoPE()), HEADS
    )

#: Layers without a row.
WITHOUT = {"Module": "the base class", "RNNCellBase": "the base class"}


def public() -> list[str]:
    """The classes of layers of ``flax.nnx``."""
    members = {name: getattr(nnx, name) for name in dir(nnx)}
    return [n for n, c in members.items() if inspect.isclass(c) and issubclass(c, nnx.Module)]
