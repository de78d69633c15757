"""Recurrent cells as one operation, and their gradients.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/BlockLSTMV2. The results of a cell are
``(i, cs, f, o, ci, co, h)``: the gates, the state before its tanh, the candidate and the tanh of the
state, and the output. Only the state and the output have a derivative, in which the limit of the
state is ignored.
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.typing import Array

__all__ = [
    "BlockLSTM", "BlockLSTMGrad", "BlockLSTMGradV2", "BlockLSTMV2", "GRUBlockCell",
    "GRUBlockCellGrad", "LSTMBlockCell", "LSTMBlockCellGrad",
]  # fmt: skip

#: The order of the gates in the weights.
_ICFO, _IFCO = "icfo", "ifco"


def LSTMBlockCell(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    forget_bias: float = 1,
    cell_clip: float = 3,
    use_peephole: bool = False,
) -> tuple[Array, ...]:
    """One step of a recurrent cell with gates i, f and o, limited to ±`cell_clip` if it is positive."""
    peepholes = (wci, wcf, wco) if use_peephole else None
    return _step(x, cs_prev, h_prev, w, peepholes, b, forget_bias, cell_clip, _ICFO)


def _step(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    peepholes: tuple[Array, ...] | None,
    b: Array,
    forget_bias: float,
    cell_clip: float,
    order: str,
) -> tuple[Array, ...]:
    both = na.add(na.matmul(na.concat([x, h_prev], axis=1), w), b)
    gates = dict(zip(order, na.split(both, na.shape(b)[0] // 4, axis=1), strict=True))
    i, f, o = gates["i"], na.add(gates["f"], forget_bias), gates["o"]
    if peepholes is not None:
        i = na.add(i, na.multiply(cs_prev, peepholes[0]))
        f = na.add(f, na.multiply(cs_prev, peepholes[1]))
    i, f, ci = na.sigmoid(i), na.sigmoid(f), na.tanh(gates["c"])
    cs = na.add(na.multiply(ci, i), na.multiply(cs_prev, f))
    if cell_clip > 0:
        cs = with_derivative_of(cs, na.clip(na.stop_gradient(cs), -cell_clip, cell_clip))
    if peepholes is not None:
        o = na.add(o, na.multiply(cs, peepholes[2]))
    o, co = na.sigmoid(o), na.tanh(cs)
    i_, f_, o_, ci_, co_ = [na.stop_gradient(v) for v in (i, f, o, ci, co)]
    return i_, cs, f_, o_, ci_, co_, na.multiply(co, o)


def _block(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    peepholes: tuple[Array, ...] | None,
    b: Array,
    forget_bias: float,
    cell_clip: float,
    order: str,
) -> tuple[Array, ...]:
    """The steps of a sequence `(time, batch, inputs)`; zeros from `seq_len_max` on."""

    def step(carry: tuple[Array, Array], x: tuple[Array, Array]) -> tuple[Any, tuple[Array, ...]]:
        row, is_inside = x
        found = _step(row, *carry, w, peepholes, b, forget_bias, cell_clip, order)
        found = tuple([na.where(is_inside, v, na.zeros_like(v)) for v in found])
        return (found[1], found[6]), found

    is_inside = na.less(na.arange(na.shape(x)[0], dtype=dtypes.int64, like=x), seq_len_max)
    return tuple(na.scan(step, (cs_prev, h_prev), (x, is_inside))[1])


def BlockLSTM(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    forget_bias: float = 1,
    cell_clip: float = 3,
    use_peephole: bool = False,
) -> tuple[Array, ...]:
    """`LSTMBlockCell` at each step of a sequence `(time, batch, inputs)`."""
    peepholes = (wci, wcf, wco) if use_peephole else None
    settings = (forget_bias, cell_clip, _ICFO)
    return _block(seq_len_max, x, cs_prev, h_prev, w, peepholes, b, *settings)


def BlockLSTMV2(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    cell_clip: float = 0,
    use_peephole: bool = False,
) -> tuple[Array, ...]:
    """`BlockLSTM` without a bias of the forget gate, and another order of the gates."""
    peepholes = (wci, wcf, wco) if use_peephole else None
    return _block(seq_len_max, x, cs_prev, h_prev, w, peepholes, b, 0, cell_clip, _IFCO)


def LSTMBlockCellGrad(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    cs_grad: Array,
    h_grad: Array,
    use_peephole: bool,
) -> tuple[Array, ...]:
    """The gradients of `LSTMBlockCell` by the state, the gates, and the peepholes."""
    peepholes = (wci, wcf, wco) if use_peephole else None
    results = (i, cs, f, o, ci, co)
    by_state, gates = _step_back(cs_prev, peepholes, results, cs_grad, h_grad)
    return by_state, _joined(gates, _ICFO), *_by_peepholes(gates, cs_prev, cs, wci, use_peephole)


def _step_back(
    cs_prev: Array,
    peepholes: tuple[Array, ...] | None,
    results: tuple[Array, ...],
    cs_grad: Array,
    h_grad: Array,
) -> tuple[Array, dict[str, Array]]:
    """The gradients by the state before, and by the gates."""
    i, _, f, o, ci, co = results
    by_o = h_grad * co * o * (1 - o)
    by_state = cs_grad + h_grad * o * (1 - co * co)
    if peepholes is not None:
        by_state = by_state + by_o * peepholes[2]
    by_i, by_f = by_state * ci * i * (1 - i), by_state * cs_prev * f * (1 - f)
    gates = {"i": by_i, "f": by_f, "o": by_o, "c": by_state * i * (1 - ci * ci)}
    before = by_state * f
    if peepholes is not None:
        before = before + by_i * peepholes[0] + by_f * peepholes[1]
    return before, gates


def _joined(gates: dict[str, Array], order: str) -> Array:
    return na.concat([gates[name] for name in order], axis=-1)


def _by_peepholes(
    gates: dict[str, Array], cs_prev: Array, cs: Array, like: Array, use_peephole: bool
) -> tuple[Array, Array, Array]:
    """The sums over all axes but the last; zeros without peepholes."""
    if not use_peephole:
        return na.zeros_like(like), na.zeros_like(like), na.zeros_like(like)
    products = (gates["i"] * cs_prev, gates["f"] * cs_prev, gates["o"] * cs)
    sums = [na.sum(x, axis=tuple(range(len(na.shape(x)) - 1))) for x in products]
    return sums[0], sums[1], sums[2]


def _block_back(
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    peepholes: tuple[Array, ...],
    b: Array,
    results: tuple[Array, ...],
    h: Array,
    cs_grad: Array,
    h_grad: Array,
    seq_len_max: Array,
    use_peephole: bool,
    order: str,
) -> tuple[Array, ...]:
    """The gradients of `_block` by x, the state, the output, the weights, peepholes and the bias."""
    columns = na.shape(x)[2]
    states = na.concat([cs_prev[None], results[1][:-1]])
    outputs = na.concat([h_prev[None], h[:-1]])
    used = peepholes if use_peephole else None

    def step(carry: tuple[Array, Array], row: tuple[Any, ...]) -> tuple[Any, tuple[Array, ...]]:
        is_inside, before, by_state, by_output, *found = row
        gradients = (by_state + carry[0], by_output + carry[1])
        by_before, gates = _step_back(before, used, tuple(found), *gradients)
        by_both = na.matmul(_joined(gates, order), na.matrix_transpose(w))
        new = (by_before, by_both[:, columns:])
        kept = tuple([na.where(is_inside, a, b) for a, b in zip(new, carry, strict=True)])
        values = (by_both[:, :columns], *[gates[name] for name in "ifoc"])
        return kept, tuple([na.where(is_inside, v, na.zeros_like(v)) for v in values])

    is_inside = na.less(na.arange(na.shape(x)[0], dtype=dtypes.int64, like=x), seq_len_max)
    rows = (is_inside, states, cs_grad, h_grad, *results)
    start = (na.zeros_like(cs_prev), na.zeros_like(h_prev))
    (by_state, by_output), (by_x, *found) = na.scan(step, start, rows, reverse=True)
    gates = dict(zip("ifoc", found, strict=True))
    joined = _joined(gates, order)
    both = na.concat([x, outputs], axis=2)
    by_w = na.einsum("tbi,tbo->io", both, joined)
    by_peepholes = _by_peepholes(gates, states, results[1], peepholes[0], use_peephole)
    return by_x, by_state, by_output, by_w, *by_peepholes, na.sum(joined, axis=(0, 1))


def BlockLSTMGrad(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    h: Array,
    cs_grad: Array,
    h_grad: Array,
    use_peephole: bool,
) -> tuple[Array, ...]:
    """The gradients of `BlockLSTM` by x, cs_prev, h_prev, w, wci, wcf, wco and b."""
    results = (i, cs, f, o, ci, co)
    return _block_back(
        x, cs_prev, h_prev, w, (wci, wcf, wco), b, results, h, cs_grad, h_grad, seq_len_max,
        use_peephole, _ICFO,
    )  # fmt: skip


def BlockLSTMGradV2(
    seq_len_max: Array,
    x: Array,
    cs_prev: Array,
    h_prev: Array,
    w: Array,
    wci: Array,
    wcf: Array,
    wco: Array,
    b: Array,
    i: Array,
    cs: Array,
    f: Array,
    o: Array,
    ci: Array,
    co: Array,
    h: Array,
    cs_grad: Array,
    h_grad: Array,
    use_peephole: bool,
) -> tuple[Array, ...]:
    """The gradients of `BlockLSTMV2` by x, cs_prev, h_prev, w, wci, wcf, wco and b."""
    results = (i, cs, f, o, ci, co)
    return _block_back(
        x, cs_prev, h_prev, w, (wci, wcf, wco), b, results, h, cs_grad, h_grad, seq_len_max,
        use_peephole, _IFCO,
    )  # fmt: skip


def GRUBlockCell(
    x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array
) -> tuple[Array, ...]:
    """One step of a recurrent cell with gates r and u: r, u, the candidate and the output."""
    both = na.add(na.matmul(na.concat([x, h_prev], axis=1), w_ru), b_ru)
    r, u = na.split(na.sigmoid(both), na.shape(b_c)[0], axis=1)
    reset = na.concat([x, na.multiply(h_prev, r)], axis=1)
    c = na.tanh(na.add(na.matmul(reset, w_c), b_c))
    return r, u, c, u * h_prev + (1 - u) * c


def GRUBlockCellGrad(
    x: Array,
    h_prev: Array,
    w_ru: Array,
    w_c: Array,
    b_ru: Array,
    b_c: Array,
    r: Array,
    u: Array,
    c: Array,
    d_h: Array,
) -> tuple[Array, ...]:
    """The gradients of `GRUBlockCell` by x, the output before, the candidate, and both gates."""
    columns = na.shape(x)[1]
    by_c = d_h * (1 - u) * (1 - c * c)
    by_reset = na.matmul(by_c, na.matrix_transpose(w_c))
    by_r = by_reset[:, columns:] * h_prev * r * (1 - r)
    by_u = d_h * (h_prev - c) * u * (1 - u)
    by_gates = na.concat([by_r, by_u], axis=1)
    by_both = na.matmul(by_gates, na.matrix_transpose(w_ru))
    by_x = by_both[:, :columns] + by_reset[:, :columns]
    by_h = by_both[:, columns:] + by_reset[:, columns:] * r + d_h * u
    return by_x, by_h, by_c, by_gates
