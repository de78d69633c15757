"""`check`: the obstacles to a conversion, before anything is converted.

The source is traced, and each operation is looked up. Then the graph's calls run on the target
without values (``jax.eval_shape``, a ``tf.Graph``), which finds calls that the target refuses.
After a failed call, the next ones continue with the traced shape and dtype, so that one report
lists all failures.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections import Counter
from types import ModuleType
from typing import Any

from nestarray import backends, dtypes, ops, random
from nestarray.config import check_backend_name, use_backend
from nestarray.display.progress import progress
from nestarray.display.sections import HasSections, Sections
from nestarray.display.table import Table
from nestarray.errors import ConversionError, DtypeError, NestarrayError, Refused
from nestarray.errors.foreign import first_line, foreign
from nestarray.errors.text import counted, listed
from nestarray.graph.execution import compute, where_of
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Input, Node, is_input, iter_nodes
from nestarray.importers.coverage import Operation, missing_ops
from nestarray.importers.protocol import Imported, Request
from nestarray.importers.size_spec import SizeSpec
from nestarray.importers.tracing import select_importer
from nestarray.sizes import value_at
from nestarray.transforms.arguments import native_transforms

_ORDER = ("missing", "island", "dropped", "decomposed", "function")


@dataclasses.dataclass(frozen=True)
class Problem:
    """A dtype or a call that the target refuses, or a source that cannot be traced.

    Attributes:
        what: a dtype, a call, or "source".
        reason: the message of the error.
        where: module path and source line of the first place.
        count: how many arrays or calls.
    """

    what: str
    reason: str
    where: str
    count: int = 1

    def __str__(self) -> str:
        times = f" ×{self.count}" if self.count > 1 else ""
        return f"{self.what}{times}{f' ({self.where})' if self.where else ''}: {self.reason}"


@dataclasses.dataclass(frozen=True, repr=False)
class CheckReport(HasSections):
    """The report of `check`.

    Attributes:
        name: class name of the source.
        target: the backend to convert to.
        train: whether the training behaviour was checked.
        operations: an `Operation` each; missing ones first.
        problems: dtypes and calls that the target refuses, or why the source cannot be traced.
        notes: differences on the target, and parts that were not checked.
        framework: the framework of the source; empty if the source cannot be read.
    """

    name: str
    target: str
    train: bool
    operations: list[Operation]
    problems: list[Problem]
    notes: list[str]
    framework: str = ""

    @property
    def missing(self) -> list[Operation]:
        """The operations without a replacement."""
        return [op for op in self.operations if op.status == "missing"]

    @property
    def ok(self) -> bool:
        """Whether the conversion is possible."""
        return not self.missing and not self.problems

    def raise_if_failed(self) -> CheckReport:
        """Return the report if the conversion is possible.

        Raises:
            MissingOpError: operations are missing; lists all.
            ConversionError: the source cannot be traced, or the target refuses something; the
                message is the report.
        """
        if self.missing:
            raise missing_ops(self.name, self.operations, self.framework)
        if self.problems:
            raise ConversionError(str(self))
        return self

    def _heading(self) -> str:
        mode = "train" if self.train else "eval"
        verdict = "can be converted" if self.ok else "CANNOT be converted"
        return f"{self.name} to {self.target} ({mode}): {verdict}"

    def _counts(self) -> str:
        counts = Counter(op.status for op in self.operations)
        words = {"function": "known"} | {
            status: status for status in _ORDER if status != "function"
        }
        parts = [f"{counts[s]} {words[s]}" for s in reversed(_ORDER) if counts[s]]
        return f"operations: {len(self.operations)} ({', '.join(parts)})"

    def _table(self) -> Table:
        rows = self.operations
        return Table(
            {
                "operation": [op.name for op in rows],
                "count": [op.count for op in rows],
                "status": [op.status for op in rows],
                "becomes": [op.becomes or op.reason for op in rows],
                "where": [op.where(2) for op in rows],
            }
        )

    def __str__(self) -> str:
        lines = [self._heading(), *(f"  {problem}" for problem in self.problems)]
        lines += [f"  {note}" for note in self.notes]
        if self.operations:
            lines.append(f"  {self._counts()}")
            lines += [f"    {line}" for line in self._table().to_string().splitlines()]
        return "\n".join(lines)

    def _sections(self) -> Sections:
        tables = [(self._counts(), self._table())] if self.operations else []
        return Sections(self._heading(), tables, [*map(str, self.problems), *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Everything that was found as builtins, for JSON."""
        return {
            "name": self.name,
            "target": self.target,
            "train": self.train,
            "ok": self.ok,
            "operations": [
                {
                    "name": op.name,
                    "status": op.status,
                    "count": op.count,
                    "becomes": op.becomes,
                    "reason": op.reason,
                    "places": [{"module": path, "line": line} for path, line in op.places],
                }
                for op in self.operations
            ],
            "problems": [dataclasses.asdict(problem) for problem in self.problems],
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """`to_dict` as a JSON text.

        Args:
            indent: as in `json.dumps`.
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


def check(
    source: Any,
    /,
    *args: Any,
    target: str,
    train: bool = False,
    dynamic: Any = None,
    islands: bool = False,
    framework: str | None = None,
    **kwargs: Any,
) -> CheckReport:
    """List every operation of a model and its replacement on another backend.

    Nothing is converted, and the target computes shapes only. The report lists operations
    without a function, dtypes that the target lacks, and calls that the target refuses (not on
    NumPy, which cannot run calls without values). If the source cannot be traced, the reason is
    the report's only problem.

    Args:
        source: as `nestarray.trace_graph` takes it.
        *args, **kwargs: example inputs.
        target: name of the backend.
        train, dynamic, islands, framework: as `nestarray.trace_graph` takes them.

    Returns:
        a `CheckReport`: ``report.ok``, ``print(report)``, ``report.missing``,
        ``report.to_json()``.

    Raises:
        ArgumentError: the backend is unknown, `source` is neither a model nor a function, or it
            does not accept the example.
        MissingFrameworkError: the framework is not installed.

    Example:
        >>> import torch, nestarray as na
        >>> report = na.check(torch.nn.Linear(2, 3), torch.ones(4, 2), target="numpy")
        >>> report.ok, [(op.name, op.becomes) for op in report.operations]
        (True, [('aten.linear.default', 'torch.nn.functional.linear')])
    """
    check_backend_name(target)
    core = backends.core(target)
    request = Request(
        source, args, kwargs, train, SizeSpec(dynamic), islands, framework=framework or ""
    )
    with progress(f"check {request.name}") as step:
        step("trace")
        try:
            imported = select_importer(request).read(request)
        except ConversionError as error:
            problem = Problem("source", str(error), "")
            return CheckReport(request.name, target, train, [], [problem], [])
        step(f"try the calls on {target}")
        return _report(request, imported, core)


def _report(request: Request, imported: Imported, core: ModuleType) -> CheckReport:
    """The report of a source that was read."""
    graph, target = imported.graph, core.NAME
    operations = sorted(imported.operations, key=lambda op: _ORDER.index(op.status))
    problems, notes = _dtypes(imported.dtypes, core)
    if graph is not None:
        notes += _about(graph)
    if graph is None or problems:
        notes.append("calls were not tried on the target, because of what is missing")
    elif target == "numpy":
        notes.append("calls were not tried on the target: NumPy has none without numbers")
    else:
        problems = _refusals(graph, target)
    return CheckReport(
        imported.name, target, request.train, operations, problems, notes, imported.framework
    )


def _dtypes(results: list[tuple[Any, str]], target: ModuleType) -> tuple[list[Problem], list[str]]:
    """Dtypes that the target lacks, and notes on dtypes that it narrows."""
    groups: dict[Any, list[str]] = {}
    for dtype, place in results:
        groups.setdefault(dtype, []).append(place)
    problems, notes = [], []
    for dtype, places in groups.items():
        short = str(getattr(dtype, "name", dtype)).rpartition(".")[2]
        try:
            expected = dtypes.as_dtype(dtype)
            held = dtypes.as_dtype(target.native_dtype(expected))
        except DtypeError as error:
            where = next((place for place in places if place), "")
            problems.append(Problem(f"dtype {short}", str(error), where, len(places)))
        else:
            if held is not expected:
                notes.append(f"{short} is {held.name} on {target.NAME} ({len(places)} arrays)")
    return problems, notes


def _about(graph: Graph) -> list[str]:
    """Notes for callers: random keys and state."""
    notes = []
    if graph.random_numbers:
        calls = counted(len(graph.random_numbers), "call")
        notes.append(f"random numbers are drawn by {calls}: pass key=")
    if graph.state_updates:
        notes.append(f"state is written: {listed(graph.state_updates)}")
    return notes


def _refusals(graph: Graph, target: str) -> list[Problem]:
    """The calls that raise when they are run on the target without numbers."""
    return [
        Problem(where_of(node), first_line(error), "") for node, error in refusals(graph, target)
    ]


def refusals(graph: Graph, target: str) -> list[tuple[Call, BaseException]]:
    """The calls that raise when they are run on a backend without numbers, and their errors.

    Args:
        graph: any graph, whose inputs have dtypes that the backend has.
        target: name of the backend, not NumPy.
    """
    there = graph.replace(backend=target)
    variables = {"v": graph.v, "s": graph.s, "constants": graph.constants}
    arguments = [n for n in graph.nodes if isinstance(n, Input) and n.source != "key"]
    failures: list[tuple[Call, BaseException]] = []

    def described(node: Input) -> tuple[tuple[int, ...], Any]:
        if node.source != "x":
            x = variables[node.source][node.path]
            return tuple(x.shape), dtypes.dtype_of(x)
        assert node.aval is not None
        sizes = graph.sizes.example
        shape = [value_at(n, sizes) for n in node.aval.shape]
        return tuple(shape), node.aval.dtype

    def run(*values: Any) -> Any:
        key = random.key(0, backend=target) if graph.needs_key else None
        known: dict[Node, Any] = dict(zip(arguments, values, strict=True))
        known |= {n: key for n in graph.nodes if is_input(n, "key")}
        for node in graph.calls:
            if all(used in known for used in iter_nodes((node.args, node.kwargs))):
                try:
                    with foreign():
                        known[node] = compute(there, node, known.__getitem__, key)
                    continue
                except Refused as error:
                    failures.append((node, error.__cause__ or error))
            shape = [] if node.aval is None else [n for n in node.aval.shape if isinstance(n, int)]
            if node.aval is not None and len(shape) == len(node.aval.shape):
                with contextlib.suppress(DtypeError):  # of the backend; later calls are not run
                    known[node] = ops.zeros(shape, dtype=node.aval.dtype)
        return ()

    with use_backend(target):
        native_transforms(target).call_without_numbers(run, [described(node) for node in arguments])
    return failures


def obstacles(graph: Graph) -> list[Problem]:
    """The inputs and calls that the graph's own backend lacks, one for each reason.

    Errors of the framework itself do not count: some calls that cannot run without numbers can run
    with them.
    """
    inputs = [n for n in graph.inputs if n.aval is not None]
    places = [(n.aval.dtype, f"input {n.name!r}") for n in inputs if n.aval is not None]
    problems, _ = _dtypes(places, backends.core(graph.backend))
    if problems or len(inputs) < len(graph.inputs):
        return problems
    places_of: dict[str, list[str]] = {}
    for node, error in refusals(graph, graph.backend):
        if isinstance(error, NestarrayError):
            places_of.setdefault(first_line(error), []).append(where_of(node))
    return [Problem(at[0], reason, "", len(at)) for reason, at in places_of.items()]
