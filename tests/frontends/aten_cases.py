"""Arguments for ATen operations: each overload that the vocabulary is known to be asked for.

The overloads are those that torch.export leaves of 312 real models, in evaluation and in
training, and their neighbours. An entry builds positional and keyword arguments as the
schema has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tests.frontends.aten_core_cases import CORE, CORE_RANDOM

Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **kwargs: Any) -> Call:
    """Arguments as written."""
    return args, kwargs


class Draw:
    """Arrays from one stream of random numbers."""

    def __init__(self, seed: int = 0) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def f(self, *shape: int) -> torch.Tensor:
        """Normal."""
        return torch.randn(shape, generator=self.generator)

    def p(self, *shape: int) -> torch.Tensor:
        """Positive, away from 0."""
        return torch.rand(shape, generator=self.generator) + 0.5

    def u(self, *shape: int) -> torch.Tensor:
        """Between −0.9 and 0.9."""
        return torch.rand(shape, generator=self.generator) * 1.8 - 0.9

    def i(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Integers in [low, high)."""
        return torch.randint(low, high, shape, generator=self.generator)

    def b(self, *shape: int) -> torch.Tensor:
        """Booleans."""
        return torch.rand(shape, generator=self.generator) < 0.5


Cases = dict[str, list[Callable[[Draw], Call]]]


def _unary(names: str, draw: str = "f") -> Cases:
    return {
        f"aten.{name}.default": [lambda d: call(getattr(d, draw)(2, 3))] for name in names.split()
    }


def _binary(names: str) -> Cases:
    return {
        f"aten.{name}.Tensor": [
            lambda d: call(d.p(2, 3), d.p(3)),
            lambda d: call(d.i(1, 5, 2, 3), d.p()),
        ]
        for name in names.split()
    }


def _comparison(names: str) -> Cases:
    cases: Cases = {}
    for name in names.split():
        cases[f"aten.{name}.Tensor"] = [
            lambda d: call(d.i(0, 3, 2, 3), d.i(0, 3, 3)),
            lambda d: call(d.i(0, 3, 2, 3), d.f(2, 1)),
        ]
        cases[f"aten.{name}.Scalar"] = [
            lambda d: call(d.i(0, 3, 2, 3), 1),
            lambda d: call(d.f(2, 3), 0.5),
            lambda d: call(d.i(0, 3, 4), 1.5),
            lambda d: call(d.b(4), 0),
        ]
    return cases


POINTWISE: Cases = {
    **_unary(
        "abs neg sin cos tanh sigmoid exp expm1 square floor ceil trunc sign relu gelu silu erf "
        "hardswish hardsigmoid hardtanh leaky_relu softplus mish relu6 elu selu atan sinh cosh "
        "asinh frac round isnan isinf log_sigmoid positive celu"
    ),
    **_unary("sqrt rsqrt log log2 log10 log1p reciprocal lgamma digamma", "p"),
    **_unary("acos asin atanh tan erfinv", "u"),
    **_unary("logical_not bitwise_not", "b"),
    **_binary("add sub mul div multiply remainder fmod rsub"),
    "aten.floor_divide.default": [
        lambda d: call(d.i(-9, 9, 2, 3), d.i(1, 4, 3)),
        lambda d: call(d.f(2, 3), d.p(3)),
    ],
    **_comparison("eq ne lt le gt ge"),
    "aten.add.Scalar": [lambda d: call(d.i(0, 3, 4), 1.5), lambda d: call(d.f(4), 2, 3)],
    "aten.sub.Scalar": [lambda d: call(d.f(4), 2)],
    "aten.mul.Scalar": [lambda d: call(d.i(0, 3, 4), 2)],
    "aten.div.Scalar": [lambda d: call(d.i(0, 9, 4), 2)],
    "aten.rsub.Scalar": [lambda d: call(d.f(4), 1), lambda d: call(d.i(0, 4, 4), 1, 2)],
    "aten.div.Tensor_mode": [
        lambda d: call(d.i(-9, 9, 2, 3), d.i(1, 4, 3), rounding_mode="trunc"),
        lambda d: call(d.i(-9, 9, 2, 3), d.i(1, 4, 3), rounding_mode="floor"),
        lambda d: call(d.f(2, 3), d.p(3), rounding_mode="floor"),
    ],
    "aten.pow.Tensor_Scalar": [
        lambda d: call(d.f(4), 2),
        lambda d: call(d.p(4), 0.5),
        lambda d: call(d.i(0, 4, 4), 3),
    ],
    "aten.pow.Scalar": [lambda d: call(2, d.i(0, 5, 4)), lambda d: call(2.5, d.f(4))],
    "aten.pow.Tensor_Tensor": [lambda d: call(d.p(2, 3), d.f(3))],
    "aten.__and__.Tensor": [
        lambda d: call(d.b(2, 3), d.b(3)),
        lambda d: call(d.i(0, 8, 4), d.i(0, 8, 4)),
    ],
    "aten.__or__.Tensor": [lambda d: call(d.b(2, 3), d.b(3))],
    "aten.__xor__.Tensor": [lambda d: call(d.b(2, 3), d.b(3))],
    "aten.bitwise_and.Tensor": [lambda d: call(d.i(0, 8, 4), d.i(0, 8, 4))],
    "aten.bitwise_or.Tensor": [lambda d: call(d.i(0, 8, 4), d.i(0, 8, 4))],
    "aten.bitwise_xor.Tensor": [lambda d: call(d.i(0, 8, 4), d.i(0, 8, 4))],
    "aten.logical_and.default": [lambda d: call(d.i(0, 2, 4), d.b(4))],
    "aten.logical_or.default": [lambda d: call(d.i(0, 2, 4), d.b(4))],
    "aten.logical_xor.default": [lambda d: call(d.i(0, 2, 4), d.b(4))],
    "aten.addcmul.default": [lambda d: call(d.f(4), d.f(4), d.f(4), value=0.5)],
    "aten.addcdiv.default": [lambda d: call(d.f(4), d.f(4), d.p(4))],
    "aten.lerp.Scalar": [lambda d: call(d.f(4), d.f(4), 0.3)],
    "aten.clamp.default": [
        lambda d: call(d.f(9), -0.5, 0.5),
        lambda d: call(d.f(9), None, 0.5),
        lambda d: call(d.i(0, 9, 9), 2.5),
    ],
    "aten.clamp.Tensor": [lambda d: call(d.f(9), d.f(9), d.p(9)), lambda d: call(d.f(9), d.f(9))],
    "aten.clip.default": [lambda d: call(d.f(9), -0.5, 0.5)],
    "aten.clamp_min.default": [lambda d: call(d.f(9), 0.1), lambda d: call(d.i(0, 9, 9), 3)],
    "aten.clamp_max.default": [lambda d: call(d.f(9), 0.1)],
    "aten.maximum.default": [lambda d: call(d.f(2, 3), d.f(3))],
    "aten.minimum.default": [lambda d: call(d.f(2, 3), d.f(3))],
    "aten.max.other": [lambda d: call(d.f(2, 3), d.f(3))],
    "aten.min.other": [lambda d: call(d.i(0, 9, 2, 3), d.i(0, 9, 3))],
    "aten.atan2.default": [lambda d: call(d.f(4), d.f(4))],
    "aten.polar.default": [lambda d: call(d.p(4), d.f(4))],
    "aten.view_as_complex.default": [lambda d: call(d.f(4, 2))],
    "aten.view_as_real.default": [lambda d: call(torch.view_as_complex(d.f(4, 2)))],
    "aten.gelu.default": [lambda d: call(d.f(9)), lambda d: call(d.f(9), approximate="tanh")],
    "aten.softplus.default": [lambda d: call(d.f(9), 2, 1)],
    "aten.hardtanh.default": [lambda d: call(d.f(9) * 4, 0.0, 6.0)],
    "aten.leaky_relu.default": [lambda d: call(d.f(9), 0.2)],
    "aten.prelu.default": [lambda d: call(d.f(2, 3, 4), d.p(3))],
    "aten.glu.default": [lambda d: call(d.f(2, 4)), lambda d: call(d.f(4, 3), 0)],
    "aten.softmax.int": [
        lambda d: call(d.f(2, 3), -1),
        lambda d: call(d.f(2, 3), 0, torch.float32),
    ],
    "aten.log_softmax.int": [lambda d: call(d.f(2, 3), 1)],
    "aten._softmax.default": [lambda d: call(d.f(2, 3), -1, False)],
    "aten._log_softmax.default": [lambda d: call(d.f(2, 3), -1, False)],
    "aten._safe_softmax.default": [
        lambda d: call(torch.where(torch.tensor([[True], [False]]), d.f(2, 3), -torch.inf), -1)
    ],
}

REDUCTION: Cases = {
    "aten.sum.default": [lambda d: call(d.f(2, 3)), lambda d: call(d.b(5))],
    "aten.sum.dim_IntList": [
        lambda d: call(d.f(2, 3), [1], True),
        lambda d: call(d.i(0, 9, 2, 3), [-1]),
        lambda d: call(d.f(2, 3), [0, 1], dtype=torch.float64),
        lambda d: call(d.f(2, 3), None),
    ],
    "aten.prod.dim_int": [lambda d: call(d.f(2, 3), 1)],
    "aten.mean.default": [lambda d: call(d.f(2, 3))],
    "aten.mean.dim": [
        lambda d: call(d.f(2, 3, 4), [-1], True),
        lambda d: call(d.f(2, 3, 4), [1, 2]),
        lambda d: call(d.f(2, 3, 4), None),
    ],
    "aten.var.correction": [
        lambda d: call(d.f(2, 5), [1], correction=0),
        lambda d: call(d.f(2, 5), None),
    ],
    "aten.var_mean.correction": [lambda d: call(d.f(2, 5), [1], correction=0, keepdim=True)],
    "aten.std.correction": [lambda d: call(d.f(2, 5), [1])],
    "aten.amax.default": [lambda d: call(d.f(2, 3), [1], True), lambda d: call(d.f(2, 3))],
    "aten.amin.default": [lambda d: call(d.f(2, 3), [0])],
    "aten.max.default": [lambda d: call(d.f(2, 3)), lambda d: call(d.i(0, 9, 5))],
    "aten.min.default": [lambda d: call(d.f(2, 3))],
    "aten.max.dim": [lambda d: call(d.f(2, 3), 1), lambda d: call(d.f(2, 3), 0, True)],
    "aten.min.dim": [lambda d: call(d.f(2, 3), -1)],
    "aten.argmax.default": [lambda d: call(d.f(2, 3), -1), lambda d: call(d.f(2, 3))],
    "aten.argmin.default": [lambda d: call(d.f(2, 3), 0, True)],
    "aten.all.default": [lambda d: call(d.b(2, 3))],
    "aten.all.dim": [lambda d: call(d.b(2, 3), 1)],
    "aten.any.default": [lambda d: call(d.b(2, 3))],
    "aten.any.dim": [lambda d: call(d.b(2, 3), 1, True)],
    "aten._is_all_true.default": [lambda d: call(d.b(2, 3))],
    "aten.logsumexp.default": [lambda d: call(d.f(2, 3), [1], True)],
    "aten.linalg_vector_norm.default": [
        lambda d: call(d.f(2, 3), 2, [-1], True),
        lambda d: call(d.f(2, 3), 1, [0]),
        lambda d: call(d.f(2, 3)),
    ],
    "aten.norm.ScalarOpt_dim": [lambda d: call(d.f(2, 3), 2, [1], True)],
    "aten.cumsum.default": [
        lambda d: call(d.f(2, 3), 1),
        lambda d: call(d.i(0, 9, 2, 3), -1),
        lambda d: call(d.b(2, 3), 0, dtype=torch.float32),
    ],
    "aten.cumprod.default": [lambda d: call(d.f(2, 3), 1)],
    "aten.diff.default": [lambda d: call(d.f(2, 5)), lambda d: call(d.f(2, 5), 2, 1)],
    "aten.histc.default": [
        lambda d: call(d.i(0, 4, 9).float(), 4, 0, 3),
        lambda d: call(d.f(9), 5),
    ],
    "aten.topk.default": [
        lambda d: call(d.f(2, 5), 3),
        lambda d: call(d.f(5, 2), 2, 0, False),
    ],
    "aten.sort.default": [lambda d: call(d.f(2, 5)), lambda d: call(d.f(5, 2), 0, True)],
    "aten.argsort.default": [lambda d: call(d.f(2, 5), -1, True)],
    "aten.searchsorted.Tensor": [lambda d: call(d.f(5).sort().values, d.f(3), right=True)],
}

SHAPING: Cases = {
    "aten.view.default": [lambda d: call(d.f(2, 6), [3, -1]), lambda d: call(d.f(1), [])],
    "aten._unsafe_view.default": [lambda d: call(d.f(2, 6), [3, 4])],
    "aten.reshape.default": [lambda d: call(d.f(2, 6), [3, 4])],
    "aten.flatten.using_ints": [lambda d: call(d.f(2, 3, 4), 1)],
    "aten.unflatten.int": [lambda d: call(d.f(2, 6), 1, [2, -1])],
    "aten.transpose.int": [lambda d: call(d.f(2, 3, 4), 1, -1)],
    "aten.t.default": [lambda d: call(d.f(2, 3)), lambda d: call(d.f(3))],
    "aten.permute.default": [lambda d: call(d.f(2, 3, 4), [2, 0, -2])],
    "aten.unsqueeze.default": [lambda d: call(d.f(2, 3), -1), lambda d: call(d.f(2, 3), 0)],
    "aten.squeeze.default": [lambda d: call(d.f(1, 3, 1))],
    "aten.squeeze.dim": [lambda d: call(d.f(1, 3, 1), -1), lambda d: call(d.f(1, 3, 1), 1)],
    "aten.squeeze.dims": [lambda d: call(d.f(1, 3, 1), [0, 1])],
    "aten.expand.default": [lambda d: call(d.f(3, 1), [2, -1, 4]), lambda d: call(d.f(3), [3])],
    "aten.cat.default": [
        lambda d: call([d.f(2, 3), d.f(2, 1)], 1),
        lambda d: call([d.f(2), d.i(0, 9, 3), torch.zeros(0)]),
    ],
    "aten.concat.default": [lambda d: call([d.f(2, 3), d.f(1, 3)])],
    "aten.stack.default": [lambda d: call([d.f(2, 3), d.f(2, 3)], -1)],
    "aten.split.Tensor": [lambda d: call(d.f(7, 2), 3), lambda d: call(d.f(2, 6), 2, 1)],
    "aten.split_with_sizes.default": [lambda d: call(d.f(2, 6), [1, 2, 3], -1)],
    "aten.chunk.default": [lambda d: call(d.f(7, 2), 3)],
    "aten.unbind.int": [lambda d: call(d.f(3, 2)), lambda d: call(d.f(3, 2), -1)],
    "aten.repeat.default": [lambda d: call(d.f(2, 3), [2, 1, 2])],
    "aten.tile.default": [lambda d: call(d.f(2, 3), [2])],
    "aten.repeat_interleave.self_int": [
        lambda d: call(d.f(2, 3), 2, 1),
        lambda d: call(d.f(2, 3), 2),
    ],
    "aten.repeat_interleave.Tensor": [lambda d: call(d.i(1, 4, 3))],
    "aten.roll.default": [lambda d: call(d.f(3, 4), [1, -2], [0, 1]), lambda d: call(d.f(5), [2])],
    "aten.flip.default": [lambda d: call(d.f(3, 4), [0, -1])],
    "aten.meshgrid.indexing": [
        lambda d: call([d.f(2), d.f(3)], indexing="ij"),
        lambda d: call([d.f(2), d.f(3)], indexing="xy"),
    ],
    "aten.atleast_2d.default": [lambda d: call(d.f(3))],
    "aten.atleast_2d.Sequence": [lambda d: call([d.f(3)]), lambda d: call([d.f(3), d.f(2, 2)])],
    "aten.broadcast_tensors.default": [lambda d: call([d.f(3, 1), d.f(2)])],
    "aten.cartesian_prod.default": [lambda d: call([d.f(3), d.f(2)]), lambda d: call([d.f(3)])],
    "aten.block_diag.default": [lambda d: call([d.f(2, 1), d.f(2, 2)])],
    "aten.unfold.default": [lambda d: call(d.f(2, 7), 1, 3, 2)],
    "aten.clone.default": [lambda d: call(d.f(2, 3))],
    "aten.alias.default": [lambda d: call(d.f(2, 3))],
    "aten.detach.default": [lambda d: call(d.f(2, 3))],
    "aten.lift_fresh_copy.default": [lambda d: call(d.f(2, 3))],
    "aten.contiguous.default": [lambda d: call(d.f(2, 3))],
    "aten._to_copy.default": [
        lambda d: call(d.f(2, 3) * 3, dtype=torch.int64),
        lambda d: call(d.f(2, 3), device=torch.device("cpu")),
    ],
    "aten.type_as.default": [lambda d: call(d.i(0, 9, 3), d.f(2))],
    "aten.copy.default": [lambda d: call(d.f(2, 3), d.i(0, 9, 3))],
    "aten.fill.Tensor": [lambda d: call(d.f(2, 3), torch.tensor(2))],
    "aten.fill.Scalar": [lambda d: call(d.f(2, 3), 2)],
    "aten.item.default": [lambda d: call(d.i(0, 9, 1)), lambda d: call(torch.tensor(True))],
    "aten.sym_size.int": [lambda d: call(d.f(2, 3), 1)],
    "aten.tril.default": [lambda d: call(d.f(3, 4), 1)],
    "aten.triu.default": [lambda d: call(d.f(3, 4), -1)],
    "aten.diagonal.default": [lambda d: call(d.f(2, 3, 4), 1, 1, 2)],
    "aten.diag_embed.default": [lambda d: call(d.f(2, 3), -1)],
}

INDEXING: Cases = {
    "aten.slice.Tensor": [
        lambda d: call(d.f(4, 5), 1, 1, 9223372036854775807),
        lambda d: call(d.f(4, 5), 0, None, -1, 2),
        lambda d: call(d.f(4, 5), 0, 3, 2),
    ],
    "aten.select.int": [lambda d: call(d.f(4, 5), 1, -1), lambda d: call(d.f(4, 5), 0, 2)],
    "aten.index.Tensor": [
        lambda d: call(d.f(4, 5), [d.i(0, 4, 3)]),
        lambda d: call(d.f(4, 5, 6), [None, d.i(0, 5, 2, 1), d.i(0, 6, 3)]),
        lambda d: call(d.f(4, 5, 6), [d.i(0, 4, 3), None, d.i(0, 6, 3)]),
        lambda d: call(d.f(4, 5), [d.b(4)]),
    ],
    "aten.index_put.default": [
        lambda d: call(d.f(4, 5), [d.b(4, 5)], torch.tensor(1.5)),
        lambda d: call(d.f(4, 5), [d.b(4)], d.f(5)),
        lambda d: call(d.f(4, 5), [torch.tensor([1, 1, 3])], d.f(3, 5), True),
        lambda d: call(d.f(4, 5), [None, torch.tensor([0, 2])], d.f(4, 2)),
    ],
    "aten.index_select.default": [lambda d: call(d.f(4, 5), 1, d.i(0, 5, 3))],
    "aten.index_add.default": [
        lambda d: call(d.f(4, 5), 0, torch.tensor([0, 0, 3]), d.f(3, 5)),
        lambda d: call(d.f(4, 5), 1, torch.tensor([1, 2]), d.f(4, 2), alpha=2),
    ],
    "aten.gather.default": [
        lambda d: call(d.f(4, 5), 1, d.i(0, 5, 4, 3)),
        lambda d: call(d.f(4, 5), 0, d.i(0, 4, 2, 3)),
    ],
    "aten.scatter.src": [lambda d: call(d.f(4, 5), 1, torch.tensor([[0, 2], [3, 1]]), d.f(2, 2))],
    "aten.scatter.value": [lambda d: call(d.f(4, 5), 1, torch.tensor([[0, 2], [3, 1]]), 1.5)],
    "aten.scatter_add.default": [lambda d: call(d.f(4, 5), 0, d.i(0, 4, 3, 5), d.f(3, 5))],
    "aten.scatter_reduce.two": [
        lambda d: call(d.f(4, 5), 0, d.i(0, 4, 3, 5), d.f(3, 5), "sum"),
        lambda d: call(d.f(4, 5), 0, d.i(0, 4, 3, 5), d.f(3, 5), "amax", include_self=False),
        lambda d: call(d.f(4, 5), 0, d.i(0, 4, 3, 5), d.f(3, 5), "mean"),
    ],
    "aten.select_scatter.default": [lambda d: call(d.f(4, 5), d.f(4), 1, 2)],
    "aten.slice_scatter.default": [
        lambda d: call(d.f(4, 5), d.f(4, 2), 1, 1, 3),
        lambda d: call(d.f(4, 5), d.f(2, 5), 0, 0, 9223372036854775807, 2),
    ],
    "aten.masked_fill.Scalar": [lambda d: call(d.f(2, 3), d.b(2, 3), -1e9)],
    "aten.masked_fill.Tensor": [lambda d: call(d.f(2, 3), d.b(3), torch.tensor(2.0))],
    "aten.masked_scatter.default": [
        lambda d: call(d.f(2, 3), d.b(2, 3), d.f(6)),
        lambda d: call(d.f(2, 3), torch.zeros(2, 1, dtype=torch.bool), d.f(0, 3)),
    ],
    "aten.where.self": [
        lambda d: call(d.b(2, 3), d.f(2, 3), d.f(3)),
        lambda d: call(d.b(2, 3), d.i(0, 9, 2, 3), d.f()),
    ],
    "aten.where.ScalarOther": [
        lambda d: call(d.b(2, 3), d.f(2, 3), 0.0),
        lambda d: call(d.b(2, 3), d.i(0, 9, 2, 3), 1.5),
    ],
    "aten.where.ScalarSelf": [lambda d: call(d.b(2, 3), 1, d.f(2, 3))],
    "aten.where.Scalar": [lambda d: call(d.b(2, 3), 0.0, -1.5), lambda d: call(d.b(3), 1, 2)],
    "aten.embedding.default": [
        lambda d: call(d.f(9, 4), d.i(0, 9, 2, 3)),
        lambda d: call(d.f(9, 4), d.i(0, 9, 2, 3), 1),
    ],
    "aten.one_hot.default": [lambda d: call(d.i(0, 4, 2, 3), 4)],
}

CREATION: Cases = {
    "aten.arange.default": [lambda d: call(5), lambda d: call(5, dtype=torch.float32)],
    "aten.arange.start": [lambda d: call(2, 7), lambda d: call(0.5, 3.2)],
    "aten.arange.start_step": [lambda d: call(1, 8, 3), lambda d: call(1.0, 0.0, -0.25)],
    "aten.zeros.default": [lambda d: call([2, 3]), lambda d: call([], dtype=torch.int64)],
    "aten.ones.default": [lambda d: call([2, 3], dtype=torch.bool)],
    "aten.full.default": [
        lambda d: call([2, 3], 1.5),
        lambda d: call([2], 7),
        lambda d: call([], True),
    ],
    "aten.eye.default": [lambda d: call(3)],
    "aten.eye.m": [lambda d: call(3, 4)],
    "aten.linspace.default": [lambda d: call(0, 1, 5)],
    "aten.scalar_tensor.default": [lambda d: call(2.5), lambda d: call(2, dtype=torch.int64)],
    "aten.zeros_like.default": [lambda d: call(d.i(0, 9, 3))],
    "aten.ones_like.default": [lambda d: call(d.f(3), dtype=torch.int64)],
    "aten.full_like.default": [lambda d: call(d.f(2, 3), 2)],
    "aten.new_ones.default": [lambda d: call(d.f(2), [2, 3], dtype=torch.bool)],
    "aten.new_zeros.default": [lambda d: call(d.i(0, 9, 2), [2, 3])],
    "aten.new_full.default": [lambda d: call(d.f(2), [3], 2)],
}

#: Operations whose elements nobody should read: shape and dtype alone are compared.
UNDEFINED: Cases = {
    "aten.empty.memory_format": [lambda d: call([2, 3], dtype=torch.int64)],
    "aten.empty_like.default": [lambda d: call(d.f(2, 3))],
    "aten.new_empty.default": [lambda d: call(d.f(2), [2, 3])],
}

#: Random operations: shape and dtype alone are compared.
RANDOM: Cases = {
    **CORE_RANDOM,
    "aten.rand.default": [lambda d: call([2, 3])],
    "aten.randn.default": [lambda d: call([2, 3], dtype=torch.float32)],
    "aten.rand_like.default": [lambda d: call(d.f(2, 3))],
    "aten.randn_like.default": [lambda d: call(d.f(2, 3))],
    "aten.randint.default": [lambda d: call(9, [2, 3])],
    "aten.randint.generator": [lambda d: call(9, [2, 3], generator=d.generator)],
    "aten.randint.low": [lambda d: call(2, 9, [2, 3])],
    "aten.randperm.default": [lambda d: call(5)],
    "aten.bernoulli.default": [lambda d: call(d.p(2, 3) * 0.5)],
    "aten.bernoulli.p": [lambda d: call(d.f(2, 3), 0.3)],
    "aten.multinomial.default": [lambda d: call(d.p(2, 5), 3), lambda d: call(d.p(5), 9, True)],
    "aten.dropout.default": [lambda d: call(d.f(2, 3), 0.5, True)],
    "aten.native_dropout.default": [lambda d: call(d.f(2, 3), 0.5, True)],
    "aten.feature_dropout.default": [lambda d: call(d.f(2, 3, 4), 0.5, True)],
    "aten.alpha_dropout.default": [lambda d: call(d.f(2, 3), 0.5, True)],
    "aten.scaled_dot_product_attention.default": [
        lambda d: call(d.f(1, 2, 4, 8), d.f(1, 2, 4, 8), d.f(1, 2, 4, 8), None, 0.5)
    ],
}

CONTRACTION: Cases = {
    "aten.linear.default": [
        lambda d: call(d.f(2, 3), d.f(4, 3), d.f(4)),
        lambda d: call(d.f(2, 5, 3), d.f(4, 3)),
    ],
    "aten.matmul.default": [
        lambda d: call(d.f(2, 3, 4), d.f(4, 5)),
        lambda d: call(d.f(4), d.f(2, 4, 5)),
    ],
    "aten.mm.default": [lambda d: call(d.f(2, 3), d.f(3, 4))],
    "aten.bmm.default": [lambda d: call(d.f(2, 3, 4), d.f(2, 4, 5))],
    "aten.mv.default": [lambda d: call(d.f(2, 3), d.f(3))],
    "aten.dot.default": [lambda d: call(d.f(3), d.f(3))],
    "aten.outer.default": [lambda d: call(d.f(3), d.f(4))],
    "aten.addmm.default": [
        lambda d: call(d.f(4), d.f(2, 3), d.f(3, 4)),
        lambda d: call(d.f(2, 4), d.f(2, 3), d.f(3, 4), beta=0.5, alpha=2),
    ],
    "aten.baddbmm.default": [
        lambda d: call(d.f(2, 1, 5), d.f(2, 3, 4), d.f(2, 4, 5), beta=0.5, alpha=2),
        lambda d: call(torch.full((1, 1, 5), torch.nan), d.f(2, 3, 4), d.f(2, 4, 5), beta=0),
    ],
    "aten.einsum.default": [lambda d: call("bij, bjk -> bik", [d.f(2, 3, 4), d.f(2, 4, 5)])],
    "aten.scaled_dot_product_attention.default": [
        lambda d: call(d.f(1, 2, 4, 8), d.f(1, 2, 5, 8), d.f(1, 2, 5, 8)),
        lambda d: call(d.f(1, 2, 4, 8), d.f(1, 2, 4, 8), d.f(1, 2, 4, 8), is_causal=True),
        lambda d: call(
            d.f(1, 4, 4, 8), d.f(1, 2, 4, 8), d.f(1, 2, 4, 8), d.f(4, 4), scale=0.3, enable_gqa=True
        ),
        lambda d: call(
            d.f(1, 2, 3, 8), d.f(1, 2, 4, 8), d.f(1, 2, 4, 8),
            torch.tensor([[True] * 4, [True, False] * 2, [False] * 4]),
        ),
    ],
    "transformers.grouped_mm_fallback.default": [
        lambda d: call(d.f(6, 3), d.f(3, 3, 4), torch.tensor([2, 2, 6]))
    ],
}  # fmt: skip

LAYERS: Cases = {
    "aten.conv1d.default": [lambda d: call(d.f(2, 4, 9), d.f(6, 2, 3), d.f(6), [2], [1], [1], 2)],
    "aten.conv2d.default": [
        lambda d: call(d.f(2, 3, 7, 8), d.f(4, 3, 3, 2), None, [2, 1], [1, 0]),
        lambda d: call(d.f(2, 4, 7, 8), d.f(4, 1, 3, 3), d.f(4), [1, 1], [2, 2], [2, 2], 4),
    ],
    "aten.conv2d.padding": [
        lambda d: call(d.f(2, 3, 7, 8), d.f(4, 3, 3, 3), None, [1, 1], "same"),
        lambda d: call(d.f(2, 3, 7, 8), d.f(4, 3, 3, 3), None, [2, 2], "valid"),
    ],
    "aten.conv3d.default": [lambda d: call(d.f(1, 2, 4, 5, 5), d.f(3, 2, 2, 2, 2))],
    "aten.conv_transpose1d.default": [
        lambda d: call(d.f(2, 4, 5), d.f(4, 3, 3), d.f(3), [2], [1], [1])
    ],
    "aten.conv_transpose2d.input": [
        lambda d: call(d.f(2, 4, 5, 5), d.f(4, 2, 3, 3), None, [2, 2], [1, 1], [1, 1], 2)
    ],
    "aten.convolution.default": [
        lambda d: call(d.f(2, 3, 7), d.f(4, 3, 3), d.f(4), [1], [1], [1], False, [0], 1),
        lambda d: call(d.f(2, 4, 5), d.f(4, 3, 3), None, [2], [0], [1], True, [0], 1),
    ],
    "aten.im2col.default": [lambda d: call(d.f(2, 3, 6, 7), [2, 3], [1, 1], [1, 0], [2, 1])],
    "aten.col2im.default": [
        lambda d: call(d.f(2, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1])
    ],
    "aten.max_pool1d.default": [lambda d: call(d.f(2, 3, 9), [3], [2], [1])],
    "aten.max_pool2d.default": [
        lambda d: call(d.f(2, 3, 7, 8), [3, 3], [2, 2], [1, 1]),
        lambda d: call(d.f(2, 3, 7, 8), [2, 2], [], [0, 0], [1, 1], True),
    ],
    "aten.max_pool2d_with_indices.default": [
        lambda d: call(d.f(2, 3, 7, 8), [3, 3], [2, 2], [1, 1]),
        lambda d: call(d.f(2, 3, 7, 8), [2, 2], [2, 3], [0, 0], [1, 1], True),
    ],
    "aten.avg_pool1d.default": [lambda d: call(d.f(2, 3, 9), [3], [2], [1])],
    "aten.avg_pool2d.default": [
        lambda d: call(d.f(2, 3, 7, 8), [3, 3], [2, 2], [1, 1], True, False)
    ],
    "aten.adaptive_avg_pool1d.default": [lambda d: call(d.f(2, 3, 7), [3])],
    "aten.adaptive_avg_pool2d.default": [
        lambda d: call(d.f(2, 3, 7, 8), [1, 1]),
        lambda d: call(d.f(2, 3, 7, 8), [3, 5]),
    ],
    "aten.adaptive_max_pool2d.default": [lambda d: call(d.f(2, 3, 7, 8), [3, 5])],
    "aten.layer_norm.default": [
        lambda d: call(d.f(2, 3, 4), [4], d.f(4), d.f(4), 1e-6),
        lambda d: call(d.f(2, 3, 4), [3, 4]),
    ],
    "aten.native_layer_norm.default": [lambda d: call(d.f(2, 4), [4], d.f(4), d.f(4), 1e-6)],
    "aten.rms_norm.default": [
        lambda d: call(d.f(2, 3, 4), [4], d.f(4), 1e-6),
        lambda d: call(d.f(2, 3, 4), [4]),
    ],
    "aten.group_norm.default": [lambda d: call(d.f(2, 6, 4), 3, d.f(6), d.f(6))],
    "aten.native_group_norm.default": [
        lambda d: call(d.f(2, 6, 4), d.f(6), d.f(6), 2, 6, 4, 3, 1e-5)
    ],
    "aten.instance_norm.default": [
        lambda d: call(d.f(2, 3, 5), d.f(3), d.f(3), None, None, True, 0.1, 1e-5, False)
    ],
    "aten.batch_norm.default": [
        lambda d: call(d.f(4, 3, 5), d.f(3), d.f(3), d.f(3), d.p(3), False, 0.1, 1e-5, False)
    ],
    "aten._native_batch_norm_legit_no_training.default": [
        lambda d: call(d.f(4, 3, 5), d.f(3), d.f(3), d.f(3), d.p(3), 0.1, 1e-5)
    ],
    "aten._native_batch_norm_legit_functional.default": [
        lambda d: call(d.f(4, 3, 5), d.f(3), d.f(3), d.f(3), d.p(3), True, 0.1, 1e-5)
    ],
    "aten._native_batch_norm_legit.no_stats": [
        lambda d: call(d.f(4, 3, 5), d.f(3), d.f(3), True, 0.1, 1e-5)
    ],
    "aten._weight_norm.default": [
        lambda d: call(d.f(4, 3, 2), d.p(4, 1, 1)),
        lambda d: call(d.f(4, 3, 2), d.p(1, 1, 2), 2),
    ],
    "aten.pad.default": [
        lambda d: call(d.f(2, 3, 4), [1, 2]),
        lambda d: call(d.f(2, 3, 4), [1, -1, 0, 2], "constant", 1.5),
        lambda d: call(d.f(2, 3, 4), [1, 2], "reflect"),
        lambda d: call(d.f(2, 3, 4), [1, 2], "replicate"),
        lambda d: call(d.f(2, 3, 4), [1, 2], "circular"),
    ],
    "aten.constant_pad_nd.default": [lambda d: call(d.f(2, 3), [1, 2], 2)],
    "aten.reflection_pad1d.default": [lambda d: call(d.f(2, 3, 4), [1, 2])],
    "aten.replication_pad2d.default": [lambda d: call(d.f(2, 3, 4, 4), [1, 2, 0, 1])],
    "aten.pixel_shuffle.default": [lambda d: call(d.f(2, 8, 3, 3), 2)],
    "aten.pixel_unshuffle.default": [lambda d: call(d.f(2, 2, 4, 6), 2)],
    "aten.grid_sampler.default": [lambda d: call(d.f(1, 2, 4, 5), d.u(1, 3, 3, 2), 0, 0, False)],
    "aten.upsample_nearest2d.vec": [
        lambda d: call(d.f(1, 2, 4, 5), [7, 9], None),
        lambda d: call(d.f(1, 2, 4, 5), None, [2.0, 1.5]),
    ],
    "aten.upsample_bilinear2d.vec": [
        lambda d: call(d.f(1, 2, 4, 5), [7, 9], False, None),
        lambda d: call(d.f(1, 2, 4, 5), [7, 9], True, None),
        lambda d: call(d.f(1, 2, 4, 5), None, False, [2.0, 1.5]),
    ],
    "aten.upsample_bicubic2d.vec": [lambda d: call(d.f(1, 2, 4, 5), [7, 9], False, None)],
    "aten.upsample_linear1d.vec": [lambda d: call(d.f(1, 2, 5), [9], False, None)],
    "aten._upsample_bicubic2d_aa.vec": [lambda d: call(d.f(1, 2, 8, 9), [4, 5], False, None)],
    "aten.lstm.input": [
        lambda d: call(
            d.f(5, 2, 3), [d.f(2, 2, 4), d.f(2, 2, 4)],
            [d.f(16, 3), d.f(16, 4), d.f(16), d.f(16)] * 2, True, 1, 0.0, False, True, False,
        )
    ],
    "aten.gru.input": [
        lambda d: call(
            d.f(2, 5, 3), d.f(1, 2, 4), [d.f(12, 3), d.f(12, 4)], False, 1, 0.0, False, False, True
        )
    ],
    "aten.rnn_tanh.input": [
        lambda d: call(
            d.f(5, 2, 3), d.f(1, 2, 4), [d.f(4, 3), d.f(4, 4)], False, 1, 0.0, False, False, False
        )
    ],
    "aten.fft_fftn.default": [
        lambda d: call(d.f(3, 4)),
        lambda d: call(d.f(2, 3, 4), None, [1, 2], "ortho"),
    ],
}  # fmt: skip

LOSSES: Cases = {
    "aten.mse_loss.default": [lambda d: call(d.f(2, 3), d.f(2, 3)), lambda d: call(d.f(4), d.f(4), 2)],
    "aten.l1_loss.default": [lambda d: call(d.f(2, 3), d.f(2, 3), 0)],
    "aten.smooth_l1_loss.default": [lambda d: call(d.f(2, 3), d.f(2, 3), 1, 0.5)],
    "aten.huber_loss.default": [lambda d: call(d.f(2, 3), d.f(2, 3), 1, 0.5)],
    "aten.cross_entropy_loss.default": [
        lambda d: call(d.f(4, 5), d.i(0, 5, 4)),
        lambda d: call(d.f(4, 5), torch.tensor([1, -100, 3, 0]), d.p(5), 1, -100, 0.1),
        lambda d: call(d.f(4, 5), d.f(4, 5).softmax(1), None, 2),
    ],
    "aten.nll_loss_nd.default": [lambda d: call(d.f(4, 5, 2), d.i(0, 5, 4, 2), d.p(5))],
    "aten.binary_cross_entropy.default": [lambda d: call(d.p(4) - 0.5, d.b(4).float())],
    "aten.binary_cross_entropy_with_logits.default": [
        lambda d: call(d.f(4), d.b(4).float(), None, d.p(4))
    ],
    "aten.kl_div.default": [lambda d: call(d.f(2, 3), d.p(2, 3), 2)],
}  # fmt: skip

EXACT: Cases = {
    **POINTWISE, **REDUCTION, **SHAPING, **INDEXING, **CREATION, **CONTRACTION, **LAYERS, **LOSSES,
    **CORE,
}  # fmt: skip
