"""Products of matrices and of tensors."""

from __future__ import annotations

import itertools
from typing import Any

from nestarray.sizes import IntOrSize
from nestarray.transforms.abstract.elementwise import broadcast
from nestarray.transforms.abstract.interpreter import Results, axis_of, promoted, rule, sizes_of
from nestarray.transforms.abstract.values import Abstract


@rule
def matmul(new: Results, x1: Any, x2: Any) -> Abstract:
    a, b = sizes_of(x1), sizes_of(x2)
    new.same(a[-1], b[-2:][0])
    batch = broadcast(new, a[:-2], b[:-2]) if len(a) > 2 or len(b) > 2 else ()
    return new((*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ())), promoted(x1, x2))


@rule
def tensordot(new: Results, x1: Any, x2: Any, axes: Any) -> Abstract:
    a, b = sizes_of(x1), sizes_of(x2)
    if isinstance(axes, int):
        axes = [*range(len(a) - axes, len(a))], [*range(axes)]
    firsts, seconds = ([axis_of(i, len(x)) for i in each] for each, x in zip(axes, (a, b)))
    for i, j in zip(firsts, seconds, strict=True):
        new.same(a[i], b[j])
    remaining = [n for i, n in enumerate(a) if i not in firsts]
    return new([*remaining, *(n for i, n in enumerate(b) if i not in seconds)], promoted(x1, x2))


@rule
def einsum(new: Results, subscripts: str, operands: Any) -> Abstract:
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    labels: dict[str, IntOrSize] = {}
    ellipses: list[tuple[IntOrSize, ...]] = []
    for term, x in zip(inputs.split(","), operands, strict=True):
        sizes = sizes_of(x)
        before, dots, after = term.partition("...")
        count = len(sizes) - len(before) - len(after)
        if dots:
            ellipses.append(sizes[len(before) : len(before) + count])
        pairs = [*zip(before, sizes), *zip(after, sizes[len(sizes) - len(after) :])]
        for label, n in pairs:
            (labels[label],) = broadcast(new, (labels.get(label, 1),), (n,))
    if not arrow:
        counts = [*itertools.chain.from_iterable(inputs.replace("...", "").split(","))]
        output = "..." * bool(ellipses) + "".join(
            sorted(label for label in set(counts) if counts.count(label) == 1)
        )
    before, dots, after = output.partition("...")
    middle = broadcast(new, *ellipses) if dots and ellipses else ()
    return new(
        [*(labels[c] for c in before), *middle, *(labels[c] for c in after)], promoted(*operands)
    )
