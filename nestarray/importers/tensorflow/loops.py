"""The steps of a While: counters, and the number of steps that they allow.

TensorFlow differentiates a While in reverse mode, JAX does not. A loop that a counter ends is a
`scan`, which has a derivative everywhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from nestarray.importers.tensorflow import operations
from nestarray.sizes import Size

_COMPARISONS = {"Less": 0, "LessEqual": 1, "Greater": 0, "GreaterEqual": 1}
_FLIPPED = {
    "Less": "Greater", "Greater": "Less", "LessEqual": "GreaterEqual", "GreaterEqual": "LessEqual",
}  # fmt: skip


@dataclasses.dataclass
class Steps:
    """The known properties of a loop before it runs.

    Attributes:
        length: the number of steps, or the most of them; None if no counter ends the loop.
        is_exact: whether the loop always makes so many steps.
        counters: index of a loop variable → (first value, increment).
        fixed: the indices of loop variables that the loop does not change.
    """

    length: Any
    is_exact: bool
    counters: dict[int, tuple[int, int]]
    fixed: set[int]

    def is_step(self, index: int | None) -> bool:
        """Whether a loop variable is the number of the step."""
        return self.counters.get(-1 if index is None else index) == (0, 1)


def steps_of(cond: Any, body: Any, inputs: Sequence[Any]) -> Steps:
    """The counters and the length of a loop."""
    fixed = {i for i, y in enumerate(body.outputs) if argument_of(body, y) == i}
    counters = {}
    for i, y in enumerate(body.outputs):
        start, increment = _known(inputs[i]), _increment(body, y, i, inputs, fixed)
        if isinstance(start, int) and increment:
            counters[i] = start, increment
    conditions = list(_conjuncts(origin(cond.outputs[0]).op))
    limits = [_length(cond, op, inputs, counters, fixed) for op in conditions]
    lengths = [n for n in limits if n is not None]
    numbers = [n for n in lengths if isinstance(n, int)]
    sizes = [n for n in lengths if isinstance(n, Size)]
    shifts = [n - sizes[0] for n in sizes]
    is_one = not (numbers and sizes) and all(isinstance(n, int) for n in shifts)
    if is_one and sizes:  # they differ by numbers
        sizes = [sizes[shifts.index(min(shifts))]]
    length = min(numbers) if numbers else next(iter(sizes), None)
    return Steps(length, len(lengths) == len(limits) and is_one, counters, fixed)


def origin(tensor: Any) -> Any:
    """The tensor of which another is a copy."""
    while tensor.op.type in operations.IDENTITIES and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def argument_of(graph: Any, tensor: Any) -> int | None:
    """The index of the argument that a tensor of a graph is; None for others."""
    source = origin(tensor)
    return next((i for i, x in enumerate(graph.inputs) if x is source), None)


def readers(graph: Any, index: int) -> list[Any]:
    """The operations that read an argument of a graph, or a copy of it."""
    live = operations.live_operations(graph, graph.outputs)
    return [
        op
        for op in live
        if op.type not in operations.IDENTITIES
        and any(argument_of(graph, x) == index for x in op.inputs)
    ]


def _known(value: Any) -> Any:
    """The number or the Size of a scalar; None if it is unknown."""
    known = getattr(value, "known", None)
    if known is None or known.shape != () or known.dtype.kind not in "iuO":
        return None
    number = known.item()
    return number if isinstance(number, Size) else int(number)


def _value(graph: Any, tensor: Any, inputs: Sequence[Any], fixed: set[int]) -> Any:
    """The known value of a tensor in a function of the loop."""
    source = origin(tensor)
    if source.op.type == "Const":
        value = operations.constant_of(source.op)
        return int(value) if value.shape == () and value.dtype.kind in "iu" else None
    index = argument_of(graph, source)
    return _known(inputs[index]) if index in fixed else None


def _increment(
    body: Any, output: Any, index: int, inputs: Sequence[Any], fixed: set[int]
) -> int | None:
    """The number that each step adds to a variable; None if it does something else."""
    op = origin(output).op
    if op.type not in ("Add", "AddV2", "Sub"):
        return None
    x, y = op.inputs
    for counter, other in ((x, y), (y, x)):
        step = _value(body, other, inputs, fixed)
        if argument_of(body, counter) == index and isinstance(step, int):
            if op.type == "Sub":
                return -step if counter is x else None
            return step
    return None


def _conjuncts(op: Any) -> Iterator[Any]:
    if op.type == "LogicalAnd":
        for x in op.inputs:
            yield from _conjuncts(origin(x).op)
    else:
        yield op


def _length(
    cond: Any,
    op: Any,
    inputs: Sequence[Any],
    counters: dict[int, tuple[int, int]],
    fixed: set[int],
) -> Any:
    """The number of steps that a comparison allows; None if it does not count."""
    if op.type not in _COMPARISONS:
        return None
    for x, y, kind in ((*op.inputs, op.type), (*reversed(op.inputs), _FLIPPED[op.type])):
        index, limit = argument_of(cond, x), _value(cond, y, inputs, fixed)
        if index not in counters or limit is None:
            continue
        start, step = counters[index]
        if (step > 0) != kind.startswith("Less"):
            continue
        span = limit - start if step > 0 else start - limit
        span = span + _COMPARISONS[kind]
        size = abs(step)
        if isinstance(span, Size):
            return span if size == 1 else (span + (size - 1)) // size
        return max(-(-span // size), 0)
    return None
