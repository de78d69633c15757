"""Conversions between parameter layouts: transposition, and splitting of axes.

Covered are the layouts of frameworks: matrices with outputs first or inputs first, convolution
kernels with channels first or last, and projections whose outputs are split into heads.
"""

from __future__ import annotations

from itertools import permutations

from nestarray.interchange.naming.pairs import Reshape, Step, Transpose

Shape = tuple[int, ...]
Steps = tuple[Step, ...]


def _kernel_orders(rank: int) -> list[tuple[int, ...]]:
    """Axis orders between kernels of torch and of other libraries, also for transposed convolutions."""
    space = tuple(range(2, rank))
    back = tuple(range(rank - 2))
    orders = [(*space, 1, 0), (rank - 1, rank - 2, *back)]
    orders += [(*space, 0, 1), (rank - 2, rank - 1, *back)]
    return list(dict.fromkeys(orders))


_ORDERS = {2: [(1, 0)], **{rank: _kernel_orders(rank) for rank in (3, 4, 5)}}


def possible_steps(old: Shape, new: Shape) -> list[Steps]:
    """All conversions from one shape to the other, simplest first; [] if impossible.

    Example:
        >>> [str(s[0]) for s in possible_steps((2, 3), (3, 2))]
        ['transpose [1, 0]']
        >>> possible_steps((2, 2), (2, 2))
        [(), (Transpose(axes=(1, 0)),)]
        >>> [str(s) for s in possible_steps((6, 4), (4, 3, 2))[0]]
        ['transpose [1, 0]', 'reshape [4, 6] → [4, 3, 2]']
    """
    if len(old) == len(new):
        if sorted(old) != sorted(new):
            return []
        ways: list[Steps] = [()] if old == new else []
        orders = _ORDERS.get(len(old), [])
        ways += [
            (Transpose(axes),) for axes in orders if tuple(old[a] for a in axes) == new
        ]  # fmt: skip
        return ways
    if len(old) > len(new):
        return [
            tuple(step.inverse() for step in reversed(steps)) for steps in possible_steps(new, old)
        ]
    ways = []
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


def order_of(steps: Steps) -> tuple[int, ...] | None:
    """The order of the axes for any shape; None without transposition."""
    for step in steps:
        if isinstance(step, Transpose):
            return step.axes
    return None
