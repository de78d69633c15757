"""Matrix products and Einstein sums: linear in each operand."""

from __future__ import annotations

import math
import string
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.transforms.autodiff.rules import (
    Call,
    Composed,
    Jacobian,
    Multilinear,
    Place,
    Pullback,
    Rule,
    Tangents,
    conj,
    fit,
    spread,
)


def _adjoint(x: Any) -> Any:
    return conj(ops.matrix_transpose(x))


def _rows(x: Any) -> Any:
    """Reshape `x` to one matrix of its rows; works for empty arrays."""
    return ops.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))


def _by_left(ct: Any, x1: Any, x2: Any) -> Any:
    if len(x2.shape) == 1:  # a row for each number
        column = ops.expand_dims(ct, -1)
        return ops.multiply(column, conj(x2))
    if len(x1.shape) == 1:
        return ops.matmul(conj(x2), ops.expand_dims(ct, -1))[..., 0]
    return ops.matmul(ct, _adjoint(x2))


def _by_right(ct: Any, x1: Any, x2: Any) -> Any:
    if len(x1.shape) == 1:
        if len(x2.shape) == 1:
            return ops.multiply(ct, conj(x1))
        return ops.multiply(ops.expand_dims(conj(x1), -1), ops.expand_dims(ct, -2))
    if len(x2.shape) == 1:  # rows of all matrices weighed by the numbers
        return ops.matmul(ops.reshape(ct, (-1,)), _rows(conj(x1)))
    if len(x2.shape) == 2 and len(x1.shape) > 2:  # one product, and not one a batch to be summed
        return ops.matmul(_adjoint(_rows(x1)), _rows(ct))
    return ops.matmul(_adjoint(x1), ct)


def _linear_by_x(ct: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    if len(weight.shape) == 1:
        return ops.multiply(ops.expand_dims(ct, -1), conj(weight))
    return ops.matmul(ct, conj(weight))


def _linear_by_weight(ct: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    rows = conj(x)
    if len(weight.shape) == 1:
        return ops.matmul(ops.reshape(ct, (-1,)), _rows(rows))
    if len(x.shape) != 2:
        rows, ct = _rows(rows), _rows(ct)
    return ops.matmul(ops.matrix_transpose(ct), rows)


def _push_linear(call: Call, tangents: Tangents) -> Any:
    x, weight = call.args[:2]
    terms = []
    if 0 in tangents:
        terms.append(ops.linear(tangents[0], weight))
    if 1 in tangents:
        terms.append(ops.linear(x, tangents[1]))
    if 2 in tangents:
        terms.append(tangents[2])
    total = terms[0]
    for term in terms[1:]:
        total = ops.add(total, term)
    return spread(total, call.y)


_LINEAR = (_linear_by_x, _linear_by_weight, lambda ct, x, weight, bias: ct)


def _pull_linear(call: Call, places: list[Place]) -> Pullback:
    args = call.args
    return lambda ct: [fit(_LINEAR[i](ct, *args), args[i]) for i in places]  # type: ignore[index]


def _tensordot(x1: Any, x2: Any, *, axes: Any = 2) -> Any:
    """A single matrix product."""
    n1, n2 = len(x1.shape), len(x2.shape)
    if isinstance(axes, int):
        of1, of2 = list(range(n1 - axes, n1)), list(range(axes))
    else:
        first, second = ((a,) if isinstance(a, int) else tuple(a) for a in axes)
        of1, of2 = [a % n1 for a in first], [a % n2 for a in second]
    rest1 = [i for i in range(n1) if i not in of1]
    rest2 = [i for i in range(n2) if i not in of2]
    shape1, shape2 = [x1.shape[i] for i in rest1], [x2.shape[i] for i in rest2]
    size = int(np.prod([x1.shape[i] for i in of1], dtype=int))
    rows = int(np.prod(shape1, dtype=int))
    columns = int(np.prod(shape2, dtype=int))
    left = ops.reshape(ops.permute_dims(x1, (*rest1, *of1)), (rows, size))
    right = ops.reshape(ops.permute_dims(x2, (*of2, *rest2)), (size, columns))
    return ops.reshape(ops.matmul(left, right), (*shape1, *shape2))


def _terms(subscripts: str, operands: list[Any]) -> tuple[list[str], str]:
    """The subscripts of each operand and of the result, with letters for the ellipsis."""
    given, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    free = [c for c in string.ascii_letters if c not in subscripts]
    counts = [
        len(x.shape) - len(term.replace("...", "")) if "..." in term else 0
        for term, x in zip(terms, operands, strict=True)
    ]
    dots = "".join(free[: max(counts, default=0)])
    terms = [
        term.replace("...", dots[len(dots) - n :]) for term, n in zip(terms, counts, strict=True)
    ]
    if not arrow:
        letters = "".join(terms)
        output = dots + "".join(
            sorted(c for c in set(letters) - set(dots) if letters.count(c) == 1)
        )
    return terms, output.replace("...", dots)


def _einsum_by(ct: Any, terms: list[str], output: str, operands: list[Any], i: int) -> Any:
    """The cotangent of one operand: the contraction of the other operands with the result's."""
    own, x = terms[i], operands[i]
    others = [(t, conj(y)) for j, (t, y) in enumerate(zip(terms, operands)) if j != i]
    others.append((output, ct))
    free = iter(c for c in string.ascii_letters if c not in "".join([*terms, output]))
    wanted = ""
    for axis, letter in enumerate(own):
        if letter in wanted:  # a diagonal was read: put its elements back by a unit matrix
            twin = next(free)
            unit = ops.eye(x.shape[axis], dtype=dtypes.dtype_of(ct), like=ct)
            others.append((letter + twin, unit))
            letter = twin
        wanted += letter
    known = set("".join(term for term, _ in others))
    summed = "".join(c for c in wanted if c in known)
    found = ops.einsum(",".join(t for t, _ in others) + "->" + summed, *(y for _, y in others))
    sizes = dict(zip(summed, found.shape, strict=True))
    shape = tuple(sizes.get(c, 1) for c in wanted)
    wide = tuple(n if size == 1 else size for size, n in zip(shape, x.shape, strict=True))
    if wide != tuple(found.shape):  # axes of this operand only, or broadcast in the others
        found = ops.broadcast_to(ops.reshape(found, shape), wide)
    return fit(found, x)


def _push_einsum(call: Call, tangents: Tangents) -> Any:
    total = None
    for place, tangent in tangents.items():
        args = [tangent if i == place else x for i, x in enumerate(call.args)]
        term = ops.einsum(*args)
        total = term if total is None else ops.add(total, term)
    return spread(total, call.y)


def _pull_einsum(call: Call, places: list[Place]) -> Pullback:
    subscripts, *operands = call.args

    def back(ct: Any) -> list[Any]:
        terms, output = _terms(subscripts, operands)
        return [_einsum_by(ct, terms, output, operands, i - 1) for i in places]  # type: ignore[operator]

    return back


RULES: dict[str, Rule] = {
    "linear": Jacobian(_push_linear, _pull_linear),
    "matmul": Multilinear(_by_left, _by_right),
    "tensordot": Composed(_tensordot),
    "einsum": Jacobian(_push_einsum, _pull_einsum),
}
