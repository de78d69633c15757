"""The result of `Graph.verify`: prints, shows in notebooks, and converts to JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

from nestarray.display.sections import HasSections, Sections
from nestarray.display.table import Table
from nestarray.errors import ConversionError


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The error of one array relative to the source.

    Attributes:
        name: path of the output, parameter or node.
        error: largest absolute difference.
        scale: the divisor of the error, the largest magnitude in the source's array.
        tolerance: largest relative error that passes.
        where: module path and source line, for a node.
        alone: for a node over the tolerance, its relative error on the source's inputs; None if
            that was not computed.
        is_at_fault: whether the node is also wrong on the source's inputs.
        rounding: for an error over the tolerance that no single call explains, the absolute
            error that rounding causes: the change of the source's array when its inputs change
            by one ulp, with a margin for another order of roundings.
        along: for a gradient that neither explains, its relative error against the source's
            gradient at the graph's values; None if a call disagrees on these, or if that was
            not computed.
        dtypes: if the dtype differs, the graph's and the expected one.
    """

    name: str
    error: float
    scale: float
    tolerance: float
    where: str = ""
    alone: float | None = None
    is_at_fault: bool = False
    rounding: float = 0.0
    along: float | None = None
    dtypes: tuple[str, str] | None = None

    @property
    def relative(self) -> float:
        """The error relative to the scale; 0 for two equal arrays."""
        if self.error == 0:
            return 0.0
        return self.error / self.scale if self.scale else float("inf")

    @property
    def ok(self) -> bool:
        """Whether the dtype is right, and the error within the tolerance or due to rounding."""
        return self.dtypes is None and self.agrees_in_value

    @property
    def agrees_in_value(self) -> bool:
        """Whether the error is within the tolerance, or rounding explains it."""
        if self.relative <= self.tolerance or self.error <= self.rounding:
            return True
        return self.along is not None and self.along <= self.tolerance

    def __str__(self) -> str:
        mark = "ok  " if self.ok else "FAIL"
        text = f"{mark} {self.relative:.1e} relative ({self.error:.1e} absolute)  {self.name}"
        if self.dtypes is not None:
            text += ": dtype {}, expected {}".format(*self.dtypes)
        if self.where:
            text += f"  ({self.where})"
        if self.rounding:
            text += f"; rounding alone makes {self.rounding:.1e} absolute"
        if self.along is not None:
            text += f"; at the graph's own values {self.along:.1e}"
        if self.alone is not None and not self.agrees_in_value:
            text += (
                f"; on the source's inputs {self.alone:.1e}"
                f"{'' if self.is_at_fault else ', so what is before it has added up'}"
            )
        return text

    def to_dict(self) -> dict[str, Any]:
        """The attributes, `relative` and `ok`, for JSON, which has no infinity: ``"inf"``."""
        row = {**dataclasses.asdict(self), "relative": self.relative, "ok": self.ok}
        return {name: _plain(value) for name, value in row.items()}


@dataclasses.dataclass(frozen=True)
class Sample:
    """What inputs drawn at random gave.

    Attributes:
        seed: number of the draw.
        output: the largest error of an output or a state array.
        gradient: the largest error of a gradient; None if none were compared.
        first_divergence: of a sample that differs, the node; see `Report.first_divergence`.
    """

    seed: int
    output: Comparison
    gradient: Comparison | None
    first_divergence: Comparison | None = None

    @property
    def ok(self) -> bool:
        """Whether outputs, state and gradients agree."""
        return self.output.ok and (self.gradient is None or self.gradient.ok)

    def __str__(self) -> str:
        text = f"{'ok  ' if self.ok else 'FAIL'} {self.output.relative:.1e} relative"
        if self.gradient is not None:
            text += f", gradients {self.gradient.relative:.1e}"
        text += f"  sample {self.seed}"
        if self.first_divergence is not None:
            text += f"; first diverging node: {self.first_divergence}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """The attributes and `ok`, for JSON."""
        rows = {
            name: None if row is None else row.to_dict()
            for name, row in (
                ("output", self.output),
                ("gradient", self.gradient),
                ("first_divergence", self.first_divergence),
            )
        }
        return {"seed": self.seed, "ok": self.ok, **rows}


@dataclasses.dataclass(frozen=True, repr=False)
class Report(HasSections):
    """What `Graph.verify` found.

    Attributes:
        name: class name of the source.
        backend: backend of the graph.
        train: whether the training behaviour was compared.
        outputs, state, gradients, nodes: a `Comparison` each.
        gradient_note: the reason for missing gradients.
        samples: a `Sample` for each draw of inputs.
        call_gradients: where gradients differ and values do not: the derivative of each call by each
            array that it takes, on the source's own inputs.
        input_gradients: a `Comparison` for each floating input.
        export: the original model against the program that was exported from it: outputs, state
            and gradients.
        export_note: the reason if the original model was not called.
    """

    name: str
    backend: str
    train: bool
    outputs: list[Comparison]
    state: list[Comparison]
    gradients: list[Comparison]
    nodes: list[Comparison]
    gradient_note: str = ""
    samples: list[Sample] = dataclasses.field(default_factory=list)
    call_gradients: list[Comparison] = dataclasses.field(default_factory=list)
    input_gradients: list[Comparison] = dataclasses.field(default_factory=list)
    export: list[Comparison] = dataclasses.field(default_factory=list)
    export_note: str = ""

    @property
    def ok(self) -> bool:
        """Whether outputs, state and gradients all agree, on all samples and in the export too."""
        rows = [row for _, found in self._tables() for row in found]
        return all(c.ok for c in (*rows, *self.samples))

    @property
    def first_divergence(self) -> Comparison | None:
        """The first node, in order of execution, that is wrong on the source's own inputs.

        If there is none, small errors have added up: then it is the first node that is over
        the tolerance. None if all nodes agree.
        """
        return first_divergence(self.nodes)

    @property
    def wrong_call_gradient(self) -> Comparison | None:
        """The first of `call_gradients`, in order of execution, that differs; None if none does."""
        return next((c for c in self.call_gradients if not c.ok), None)

    @property
    def output_error(self) -> float:
        """The largest relative error of an output or a state array."""
        return max((c.relative for c in (*self.outputs, *self.state)), default=0.0)

    @property
    def gradient_error(self) -> float | None:
        """The largest relative error of a gradient; None if none were compared."""
        return max((c.relative for c in (*self.gradients, *self.input_gradients)), default=None)

    def raise_if_failed(self) -> Report:
        """The report itself, if everything agrees.

        Raises:
            ConversionError: something does not; the message is the report.
        """
        if not self.ok:
            raise ConversionError(str(self))
        return self

    def _heading(self) -> str:
        mode = "train" if self.train else "eval"
        return f"{self.name} on {self.backend} ({mode}): {'agrees' if self.ok else 'DIFFERS'}"

    def _tables(self) -> list[tuple[str, list[Comparison]]]:
        rows = {
            "outputs": self.outputs,
            "state": self.state,
            "gradients": self.gradients,
            "gradients of inputs": self.input_gradients,
            "export against the module": self.export,
        }
        return [(title, found) for title, found in rows.items() if found]

    def _about_nodes(self) -> str:
        first = self.first_divergence
        if first is not None:
            return f"first diverging node of {len(self.nodes)}: {first}"
        if not self.nodes:
            return "nodes: not compared"
        worst = max(self.nodes, key=lambda c: c.relative)
        return f"nodes: {len(self.nodes)} agree, the largest error is {worst}"

    def _notes(self) -> list[str]:
        found = [f"gradients: {self.gradient_note}"] if self.gradient_note else []
        wrong = [c.name for c in self.export if not c.ok]
        if wrong:
            found.append(f"the export differs from the module at {', '.join(wrong)}")
        if self.export_note:
            found.append(f"export: {self.export_note}")
        return [*found, self._about_nodes(), *self._about_call_gradients()]

    def _about_call_gradients(self) -> list[str]:
        if not self.call_gradients:
            return []
        if self.wrong_call_gradient is not None:
            return [
                f"first diverging derivative of {len(self.call_gradients)}: {self.wrong_call_gradient}"
            ]
        text = (
            f"derivatives of single calls: {len(self.call_gradients)} agree on the source's inputs"
        )
        if not all(c.ok for c in (*self.gradients, *self.input_gradients)):
            text += (
                ", so a value is at a kink (relu at 0, two equal maxima) or a slope is steep; verify "
                "in float64, or with other inputs"
            )
        return [text]

    def __str__(self) -> str:
        lines = [self._heading(), *(_section(title, rows) for title, rows in self._tables())]
        lines += [f"  {note}" for note in self._notes()]
        if self.samples:
            lines += [f"  {_count('samples', self.samples)}", *(f"    {s}" for s in self.samples)]
        return "\n".join(lines)

    def _sections(self) -> Sections:
        tables = [
            (_count(title, rows), _table(rows))
            for title, rows in [*self._tables(), ("nodes", self.nodes)]
            if rows
        ]
        if self.samples:
            tables.append((_count("samples", self.samples), _table_of_samples(self.samples)))
        return Sections(self._heading(), tables, self._notes())

    def to_dict(self) -> dict[str, Any]:
        """Everything that was found as builtins, for JSON."""
        first = self.first_divergence
        return {
            "name": self.name,
            "backend": self.backend,
            "train": self.train,
            "ok": self.ok,
            "output_error": _plain(self.output_error),
            "gradient_error": _plain(self.gradient_error),
            "gradient_note": self.gradient_note,
            "first_divergence": None if first is None else first.to_dict(),
            "outputs": [c.to_dict() for c in self.outputs],
            "state": [c.to_dict() for c in self.state],
            "gradients": [c.to_dict() for c in self.gradients],
            "nodes": [c.to_dict() for c in self.nodes],
            "samples": [s.to_dict() for s in self.samples],
            "call_gradients": [c.to_dict() for c in self.call_gradients],
            "input_gradients": [c.to_dict() for c in self.input_gradients],
            "export": [c.to_dict() for c in self.export],
            "export_note": self.export_note,
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """`to_dict` as a JSON text.

        Args:
            indent: as in `json.dumps`.
        """
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)


def first_divergence(nodes: Sequence[Comparison]) -> Comparison | None:
    """See `Report.first_divergence`."""
    over = [c for c in nodes if not c.ok]
    return next((c for c in over if c.is_at_fault), over[0] if over else None)


def _count(title: str, rows: Sequence[Comparison | Sample]) -> str:
    return f"{title}: {sum(c.ok for c in rows)} of {len(rows)} agree"


def _section(title: str, rows: list[Comparison], most: int = 8) -> str:
    shown = sorted(rows, key=lambda c: -c.relative)[:most]
    head = f"  {_count(title, rows)}"
    if len(rows) > most:
        head += f"; the {most} largest errors"
    return "\n".join([head, *(f"    {c}" for c in shown)])


def _table(rows: list[Comparison]) -> Table:
    columns: dict[str, list[Any]] = {
        "name": [c.name for c in rows],
        "relative": [c.relative for c in rows],
        "absolute": [c.error for c in rows],
        "tolerance": [c.tolerance for c in rows],
        "agrees": [c.ok for c in rows],
    }
    if any(c.where for c in rows):
        columns["where"] = [c.where for c in rows]
    return Table(columns)


def _table_of_samples(samples: list[Sample]) -> Table:
    return Table(
        {
            "sample": [s.seed for s in samples],
            "outputs": [s.output.relative for s in samples],
            "gradients": [None if s.gradient is None else s.gradient.relative for s in samples],
            "agrees": [s.ok for s in samples],
        }
    )


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
