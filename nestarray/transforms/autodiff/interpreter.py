"""The interpreter of ops with differentiated arguments (`StandIn` in `nestarray.dispatch`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.dispatch import Op, register_interpreter
from nestarray.errors import UnsupportedError
from nestarray.transforms.autodiff.rules import CONSTANT, Call, Composed, Place, Rule
from nestarray.transforms.autodiff.values import Dual, Node, StandIn, Taped, is_inexact, stripped

#: The rule of an op by its name; the chapters of rules add theirs.
RULES: dict[str, Rule] = {}

_STAND_INS = (Taped, Dual)
_SEQUENCES = (list, tuple)


def apply(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute `op` on its arguments without their innermost level, and add the derivative."""
    rule = RULES.get(op.name)
    if rule is CONSTANT:
        return _constant(op, args, kwargs)
    if rule.__class__ is Composed:
        return rule.function(*args, **kwargs)  # type: ignore[union-attr]
    if rule is not None and rule.without and any(map(_is_set, map(kwargs.get, rule.without))):
        return op.body(*args, **kwargs)
    if rule is None:
        if not op.is_primitive:
            return op.body(*args, **kwargs)
        raise UnsupportedError(
            f"{op.name}: the backend 'numpy' has no derivative of it. Move the variables first, for "
            'example with v.to_backend("jax"), or hold the argument fixed with na.stop_gradient'
        )
    if kwargs and any(map(_level, kwargs.values())):
        bound = op.signature.bind(*args, **kwargs)
        args, kwargs = bound.args, bound.kwargs
        if any(map(_level, kwargs.values())):
            if op.is_primitive:
                names = ", ".join(name for name, x in kwargs.items() if _level(x))
                raise UnsupportedError(
                    f"{op.name}: {names}: the backend 'numpy' has no derivative by this argument; "
                    "hold it fixed with na.stop_gradient"
                )
            return op.body(*args, **kwargs)
    level = 0
    stand_ins: dict[Place, Any] = {}
    sequences: list[int] = []
    for i, x in enumerate(args):
        cls = x.__class__
        if cls is Taped or cls is Dual:
            if x.level > level:
                level = x.level
                stand_ins = {i: x}
            elif x.level == level:
                stand_ins[i] = x
        elif cls is tuple or cls is list:
            sequences.append(i)
    values = list(args)
    if sequences:
        level = max(level, *[_level(args[i]) for i in sequences])
        stand_ins = {i: x for i, x in stand_ins.items() if x.level == level}
        for i in sequences:
            if _level(args[i]) == level:
                values[i] = _taken(i, args[i], level, stand_ins)
    for place, x in stand_ins.items():
        if isinstance(place, int):
            values[place] = x.value
    call = Call(op.function, values, kwargs, op.function(*values, **kwargs))
    if next(iter(stand_ins.values())).__class__ is Taped:
        return _record(rule, call, stand_ins, level)
    return _push(rule, call, stand_ins, level)


def _record(rule: Rule, call: Call, stand_ins: dict[Place, Taped], level: int) -> Any:
    """Reverse mode: the result of a call, as a node of the tape."""
    y = call.y
    places = list(stand_ins)
    several = isinstance(y, (tuple, list))
    if not several and not is_inexact(y):
        return y
    node = Node(
        [(x.node, x.place) for x in stand_ins.values()],
        rule.pull(call, places),
        y if several else None,
    )
    if not several:
        return Taped(y, level, node)
    found = [Taped(item, level, node, i) if is_inexact(item) else item for i, item in enumerate(y)]
    return type(y)(*found) if hasattr(y, "_fields") else type(y)(found)


def _push(rule: Rule, call: Call, stand_ins: dict[Place, Dual], level: int) -> Any:
    """Forward mode: the result of a call with its tangent."""
    y = call.y
    several = isinstance(y, (tuple, list))
    if not several and not is_inexact(y):
        return y
    with np.errstate(all="ignore"):
        found = rule.push(call, {place: x.tangent for place, x in stand_ins.items()})
    if not several:
        return y if found is None else Dual(y, level, found)
    parts = [None] * len(y) if found is None else found
    items = [
        item if tangent is None else Dual(item, level, tangent)
        for item, tangent in zip(y, parts, strict=True)
    ]
    return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)


def _is_set(setting: Any) -> bool:
    return setting is not None and setting is not False


def _taken(i: int, sequence: Any, level: int, stand_ins: dict[Place, Any]) -> Any:
    """A sequence with the stand-ins of `level` replaced by values, and added to `stand_ins`."""
    values = []
    for j, x in enumerate(sequence):
        if x.__class__ in _STAND_INS and x.level == level:
            stand_ins[i, j] = x
            x = x.value
        values.append(x)
    return type(sequence)(values)


def _constant(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    level = max(_level(args), *map(_level, kwargs.values()), 0)

    def plain(x: Any) -> Any:
        if x.__class__ in _SEQUENCES and _level(x) == level:
            return x.__class__(map(plain, x))
        return stripped(x, level)

    return op.function(*map(plain, args), **{name: plain(x) for name, x in kwargs.items()})


def _level(x: Any) -> int:
    """The innermost level in an argument; 0 without a stand-in."""
    cls = x.__class__
    if cls in _STAND_INS:
        return x.level
    if cls in _SEQUENCES:
        return max(map(_level, x), default=0)
    return 0


register_interpreter(StandIn, apply, priority=70)
