"""Axes of parameters by label, and the steps from one layout to another.

A layout is a text of labels, as in einops: ``"(g o) i *"`` is a kernel of PyTorch, ``"* i (g o)"`` the
same kernel in Flax. The labels of kernels are g for groups, i for the inputs and o for the outputs of a
group, ``*`` for the axes of space; ``~*`` has these reversed. A number refines a label: ``"i o1 o2"`` has
the outputs o on two axes.
"""

from __future__ import annotations

import math
import re
from functools import cache
from typing import NamedTuple

from nestarray.interchange.naming.pairs import Flip, Reshape, Step, Transpose

Shape = tuple[int, ...]
Steps = tuple[Step, ...]
Axis = tuple[str, ...]  # the labels of an axis; several if it is a product


class Layout(NamedTuple):
    """The axes of a parameter.

    Attributes:
        text: the labels, such as ``"(g o) i *"``.
        sizes: the sizes of labels that shapes do not determine, such as ``(("g", 2),)``.
    """

    text: str
    sizes: tuple[tuple[str, int], ...] = ()


def _layouts(*texts: str, **sizes: int) -> tuple[Layout, ...]:
    return tuple([Layout(text, tuple(sizes.items())) for text in texts])


#: The layouts of each kind of parameter in the libraries.
KINDS = {
    "linear": _layouts("o i", "i o"),
    "embedding": _layouts("v e"),
    "convolution": _layouts("(g o) i *", "* i (g o)"),
    "depthwise": _layouts("(g o) i *", "* i (g o)", "* g o", i=1),
    "transposed convolution": _layouts("(g i) o *", "* o i", "~* i o", "~* o i", "(g o) i ~*"),
}
#: The layouts of kernels by the names of variables: PyTorch and Equinox; Flax and Keras; Haiku.
BY_KEY = {
    "weight": {"(g o) i *", "(g i) o *", "(g o) i ~*"},
    "kernel": {"* i (g o)", "* g o", "* o i", "~* i o"},
    "w": {"* i (g o)", "~* o i"},
}
_TOKEN = re.compile(r"\([^)]*\)|\S+")


@cache
def _parsed(text: str, rank: int) -> tuple[tuple[Axis, ...], bool] | None:
    """The labels of each axis, and whether space is reversed; None if the rank does not fit."""
    tokens = _TOKEN.findall(text)
    space = rank - len([token for token in tokens if token.strip("~") != "*"])
    if (space < 1) if "*" in text else space:
        return None
    axes: list[Axis] = []
    for token in tokens:
        if token.strip("~") == "*":
            axes += [(f"space{n}",) for n in range(space)]
        else:
            axes.append(tuple(token.strip("()").split()))
    return tuple(axes), "~" in text


@cache
def conversion(old: Shape, new: Shape, a: Layout, b: Layout) -> Steps | None:
    """The steps from an array of the shape `old` and the layout `a` to `new` and `b`; None if none.

    Example:
        >>> print(*conversion((8, 3, 5, 7), (5, 7, 3, 8), Layout("(g o) i *"), Layout("* i (g o)")))
        transpose [2, 3, 1, 0]
        >>> print(*conversion((4, 6, 3, 3), (3, 3, 4, 6), Layout("(g i) o *"), Layout("~* i o")))
        transpose [2, 3, 0, 1] flip [0, 1]
        >>> conversion((4, 6), (4, 6), Layout("o i"), Layout("v e"))
    """
    source, target = _parsed(a.text, len(old)), _parsed(b.text, len(new))
    if source is None or target is None:
        return None
    (before, is_reversed), (after, becomes_reversed) = source, target
    before, after = _refined(before, after), _refined(after, before)
    sizes = _solved(((before, old), (after, new)), dict((*a.sizes, *b.sizes)))
    if sizes is None:
        return None
    before, after = (
        tuple([tuple([label for label in axis if sizes[label] != 1]) for axis in axes])
        for axes in (before, after)
    )
    labels = [label for axis in after for label in axis]
    if sorted(labels) != sorted(label for axis in before for label in axis):
        return None
    steps: list[Step] = []
    if sorted(before) != sorted(after):  # axes split or join
        before = tuple([(label,) for axis in before for label in axis])
        steps.append(Reshape(old, tuple([sizes[label] for (label,) in before])))
        after = tuple([(label,) for label in labels])
    steps.append(Transpose(_order(before, after)))
    if is_reversed != becomes_reversed:
        space = tuple([n for n, axis in enumerate(after) if "space" in "".join(axis)])
        if space:
            steps.append(Flip(space))
    steps.append(Reshape(tuple([math.prod(sizes[x] for x in axis) for axis in after]), new))
    return tuple([step for step in steps if not _is_identity(step)])


def _refined(axes: tuple[Axis, ...], others: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The axes with each label that the other layout refines in its parts: o becomes o1 o2."""
    names = [label for axis in others for label in axis]
    parts: dict[str, tuple[str, ...]] = {}
    for label in (label for axis in axes for label in axis):
        refined = tuple([n for n in names if n != label and n.rstrip("123456789") == label])
        parts[label] = refined or (label,)
    return tuple([tuple([x for label in axis for x in parts[label]]) for axis in axes])


def _solved(
    sides: tuple[tuple[tuple[Axis, ...], Shape], ...], sizes: dict[str, int]
) -> dict[str, int] | None:
    """The size of each label; None if the shapes contradict each other, or leave one open."""
    equations = [(axis, size) for axes, shape in sides for axis, size in zip(axes, shape)]
    while unsolved := [axis for axis, _ in equations if not sizes.keys() >= set(axis)]:
        known = len(sizes)
        for axis, size in equations:
            unknown = [label for label in axis if label not in sizes]
            product = math.prod(sizes[label] for label in axis if label in sizes)
            if len(unknown) == 1 and product and size % product == 0:
                sizes[unknown[0]] = size // product
        if len(sizes) == known:  # a product that both layouts have needs no factors
            axis = unsolved[0]
            if any(axis != other and set(axis) & set(other) for other, _ in equations):
                return None
            sizes |= dict.fromkeys(axis, 1) | {axis[0]: dict(equations)[axis]}
    is_right = all(math.prod(sizes[x] for x in axis) == size for axis, size in equations)
    return sizes if is_right else None


def _order(before: tuple[Axis, ...], after: tuple[Axis, ...]) -> tuple[int, ...]:
    """The axis in `before` of each axis of `after`; equal ones (of size 1) in order."""
    places: dict[Axis, list[int]] = {}
    for n, axis in enumerate(before):
        places.setdefault(axis, []).append(n)
    return tuple([places[axis].pop(0) for axis in after])


def _is_identity(step: Step) -> bool:
    match step:
        case Reshape(old, new):
            return old == new
        case Transpose(axes):
            return axes == tuple(range(len(axes)))
    return False


def layouts_like(layout: Layout) -> list[Layout]:
    """The layouts that the same parameter may have in other libraries.

    Example:
        >>> [other.text for other in layouts_like(Layout("o i"))]
        ['o i', 'i o']
    """
    kinds = [kind for kind in KINDS.values() if layout.text in [of_kind.text for of_kind in kind]]
    return [other for kind in kinds for other in kind] or [layout]
