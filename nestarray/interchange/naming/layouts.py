"""Conversions between parameter layouts: transposition, flips, and splitting of axes.

The layout of a leaf is known if its layer is. Of other leaves, the layouts of all libraries are tried
that fit the shapes: matrices with outputs first or inputs first, kernels of convolutions, and
projections whose outputs are split into heads.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

from nestarray.interchange.naming.axes import (
    BY_KEY,
    KINDS,
    Layout,
    Shape,
    Steps,
    conversion,
    layouts_like,
)
from nestarray.interchange.naming.pairs import Flip, Reshape, Transpose

#: Kinds of matrices, and of kernels; a later group counts if no earlier one fits.
_BY_RANK = ((("linear",),), (("convolution", "depthwise"), ("transposed convolution",)))


@cache
def possible_steps(
    old: Shape,
    new: Shape,
    layouts: tuple[Layout | None, Layout | None] = (None, None),
    kind: str = "",
    keys: tuple[str, str] = ("", ""),
) -> list[Steps]:
    """All conversions from one shape to the other, simplest first; [] if impossible.

    Args:
        old: a shape.
        new: another shape.
        layouts: the known layouts of both.
        kind: the kind of the parameter, a key of `KINDS`, to try first where a layout is unknown;
            then those of the rank are tried, transposed convolutions last.
        keys: the names of both variables, such as ``kernel``, which tell the library.

    Example:
        >>> [str(s[0]) for s in possible_steps((2, 3), (3, 2))]
        ['transpose [1, 0]']
        >>> possible_steps((2, 2), (2, 2))
        [(), (Transpose(axes=(1, 0)),)]
        >>> [str(s) for s in possible_steps((6, 4), (4, 3, 2))[0]]
        ['transpose [1, 0]', 'reshape [4, 6] → [4, 3, 2]']
        >>> possible_steps((2, 2), (2, 2), (Layout("o i"), Layout("i o")))
        [(Transpose(axes=(1, 0)),)]
    """
    a, b = layouts
    if a and b:
        steps = conversion(old, new, a, b)
        if steps is not None:
            return [steps]
    elif known := a or b:
        others = layouts_like(known)
        ways = _ways(old, new, [(known, x) if a else (x, known) for x in others])
        if ways:
            return ways
    if len(old) != len(new):
        return _splits(old, new)
    same: list[Steps] = [()] if old == new else []
    if len(old) < 2:
        return same
    for names in dict.fromkeys((keys if len(old) > 2 else ("", ""), ("", ""))):
        for group in ((kind,) if kind else (), *_BY_RANK[len(old) > 2]):
            pairs = [pair for one in group for pair in product(KINDS[one], KINDS[one])]
            ways = _ways(old, new, [pair for pair in pairs if _agree(pair, names)])
            if ways:
                return list(dict.fromkeys(same + ways))
    return same


def _agree(layouts: tuple[Layout, Layout], keys: tuple[str, str]) -> bool:
    pairs = zip(layouts, keys, strict=True)
    return all(layout.text in BY_KEY.get(key, (layout.text,)) for layout, key in pairs)


def _ways(old: Shape, new: Shape, pairs: list[tuple[Layout, Layout]]) -> list[Steps]:
    steps = [conversion(old, new, a, b) for a, b in pairs]
    return list(dict.fromkeys(way for way in steps if way is not None))


def _splits(old: Shape, new: Shape) -> list[Steps]:
    """Conversions that split axes, or join them."""
    if len(old) > len(new):
        return [tuple(step.inverse() for step in reversed(steps)) for steps in _splits(new, old)]
    ways: list[Steps] = []
    for axes in permutations(range(len(old))) if len(old) <= 2 else [tuple(range(len(old)))]:
        turned = tuple(old[a] for a in axes)
        if _is_split(turned, new):
            turn: Steps = (Transpose(axes),) if axes != tuple(range(len(old))) else ()
            ways.append((*turn, Reshape(turned, new)))
    return ways


def _is_split(coarse: Shape, fine: Shape) -> bool:
    """Whether `fine` is `coarse` with each axis split into one or more axes."""
    rest = list(fine)
    for size in coarse:
        product = 1
        while rest and (product < size or (product == size and rest[0] == 1)):
            product *= rest.pop(0)
            if product == 0:
                break
        if product != size:
            return False
    return not rest


def is_transposed(steps: Steps) -> bool:
    """Whether the steps permute axes."""
    return any(isinstance(step, Transpose) for step in steps)


def order_of(steps: Steps) -> tuple[tuple[int, ...], ...] | None:
    """The order of the axes for any shape, and the flips; None without both."""
    axes = tuple([step.axes for step in steps if isinstance(step, Transpose | Flip)])
    return axes or None
