"""Counts of calls, transposes, elements and FLOPs of a graph."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

from nestarray import dtypes
from nestarray.container import Container
from nestarray.display.sections import HasSections, Sections
from nestarray.display.table import Table
from nestarray.errors.text import counted, listed
from nestarray.graph.execution import where_of
from nestarray.graph.flops import flops_of, name_of
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, all_calls, is_variable, iter_nodes
from nestarray.graph.passes.idioms.idiom import idiom_of
from nestarray.graph.passes.rewriting import any_layout
from nestarray.graph.passes.views import order_of
from nestarray.graph.precision import NARROW, calls_in

#: Functions of frontends that transpose.
_TRANSPOSES = frozenset(
    ["permute", "transpose", "t", "movedim", "moveaxis", "swapaxes", "swapdims", "adjoint"]
)


@dataclasses.dataclass(frozen=True, repr=False)
class GraphReport(HasSections):
    """The counts that `Graph.report` gives.

    Attributes:
        name: class name of the source.
        backend: on which the graph runs.
        train: whether the training behaviour was traced.
        calls: printed name of the function → number of calls; a call in the body of a loop or a
            choice is one.
        transposes: calls that transpose computed values.
        parameter_transposes: calls that transpose a parameter, which a graph that trains has
            where the backend's kernels want another layout than the source's parameters have.
        hidden_transposes: transposes that the backend makes inside of other calls, because its
            kernels have the channels last.
        parameters, state, constants: numbers of elements.
        bytes: of all three.
        float64: the calls that compute in float64 or complex128, with their lines: those that
            ``to_backend(…, float64="float32")`` changes.
        idioms: op → number of its calls that replace several calls of the source.
        dropped: calls of the source that the graph leaves out: they print, and return nothing.
        assumptions: the values of arrays on which the course of the recorded code depended, with
            their lines; calls check them unless traced with ``guards="ignore"``.
        flops: additions and multiplications of products in one call, by the rules of
            `nestarray.graph.flops`; None if sizes are open, or values decide how often a loop runs.
    """

    name: str
    backend: str
    train: bool
    calls: dict[str, int]
    transposes: int
    parameter_transposes: int
    hidden_transposes: int
    parameters: int
    state: int
    constants: int
    bytes: int
    float64: list[str]
    idioms: dict[str, int]
    dropped: list[str]
    assumptions: list[str]
    flops: int | None

    def _heading(self) -> str:
        mode = "train" if self.train else "eval"
        flops = "sizes are left open" if self.flops is None else f"{_readable(self.flops)}FLOPs"
        return (
            f"{self.name} on {self.backend} ({mode}): {counted(sum(self.calls.values()), 'call')}, "
            f"{_readable(self.parameters).strip()} parameters, {_readable(self.bytes)}B, {flops}"
        )

    def _notes(self) -> list[str]:
        notes = [
            f"transposes: {self.transposes}{_and(self.parameter_transposes, 'of parameters')}"
            f"{_and(self.hidden_transposes, 'inside of calls')}"
        ]
        if self.idioms:
            counts = [f"{n} {name}" for name, n in self.idioms.items()]
            notes.append(f"recognized: {', '.join(counts)}")
        if self.float64:
            notes.append(f"float64: {listed(self.float64)}")
        if self.dropped:
            notes.append(f"dropped: {listed(self.dropped)}")
        notes += [f"assumption: {each}" for each in self.assumptions]
        return notes

    def __str__(self) -> str:
        width = max((len(str(n)) for n in self.calls.values()), default=0)
        lines = [*self._notes(), *(f"{n:{width}}  {name}" for name, n in self.calls.items())]
        return "\n  ".join([self._heading(), *lines])

    def _sections(self) -> Sections:
        table = Table({"function": [*self.calls], "calls": [*self.calls.values()]})
        title = f"functions: {len(self.calls)}"
        return Sections(self._heading(), [(title, table)], self._notes())


def report(graph: Graph) -> GraphReport:
    """Counts: calls by function, transposes, parameters, bytes, FLOPs; prints readably.

    Example:
        >>> import torch, nestarray as na
        >>> net = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())
        >>> print(na.trace_graph(net, torch.ones(2, 8)).optimize().report())
        Sequential on torch (eval): 2 calls, 36 parameters, 144 B, 128 FLOPs
          transposes: 0
          1  na.linear
          1  na.relu
    """
    calls = [*all_calls(graph.calls)]
    names = Counter(node.target_name for node in calls)
    sizes = [_elements(c) for c in (graph.v, graph.s, graph.constants)]
    transposing = [node for node in calls if _transposes(node)]
    of_parameters = sum(_of_variable(node) for node in transposing)
    hidden = 0
    if graph.backend == "tensorflow":
        hidden = sum(_hidden(name_of(node)) for node in calls)
    return GraphReport(
        name=graph.name,
        backend=graph.backend,
        train=graph.train,
        calls=dict(sorted(names.items(), key=lambda item: (-item[1], item[0]))),
        transposes=len(transposing) - of_parameters,
        parameter_transposes=of_parameters,
        hidden_transposes=hidden,
        parameters=sizes[0][0],
        state=sizes[1][0],
        constants=sizes[2][0],
        bytes=sum(size for _, size in sizes),
        float64=[where_of(node) for node in calls_in(graph, NARROW)],
        idioms=dict(Counter(idiom_of(node) for node in calls if idiom_of(node))),
        dropped=list(graph.dropped),
        assumptions=[str(each) for each in graph.assumptions],
        flops=flops_of(graph.calls),
    )


def _and(count: int, what: str) -> str:
    return f", and {count} {what}" if count else ""


def _transposes(node: Call) -> bool:
    return order_of(node) is not None or name_of(node) in _TRANSPOSES


def _of_variable(node: Call) -> bool:
    operand = next(iter_nodes((node.args, node.kwargs)), None)
    return is_variable(operand)


def _hidden(name: str) -> int:
    """The transposes of a function whose kernel has the channels last, and whose arguments first."""
    if any_layout(name) in ("", name):
        return 0
    return 3 if name.startswith("conv") else 2  # x, the result, and the kernel


def _elements(c: Container) -> tuple[int, int]:
    leaves = [x for x in c.leaves() if hasattr(x, "dtype")]
    counts = [math.prod(map(int, x.shape)) for x in leaves]
    sizes = [n * dtypes.dtype_of(x).bits // 8 for n, x in zip(counts, leaves, strict=True)]
    return sum(counts), sum(sizes)


def _readable(count: int) -> str:
    """``25.6 M``."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} "
