"""``nestarray check``, ``convert`` and ``eject``: models."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nestarray.cli.console import Console, Failure
from nestarray.cli.files import check_output
from nestarray.cli.sources import Example, code_of_user, example
from nestarray.errors.text import counted
from nestarray.exporters.export import FORMATS, export
from nestarray.exporters.source.eject import eject as eject_graph
from nestarray.graph.files import save
from nestarray.graph.graph import Graph
from nestarray.graph.passes import optimize
from nestarray.importers.check import check as check_model
from nestarray.importers.tracing import trace_graph
from nestarray.proof.verify import verify
from nestarray.storage.atomic import check_place
from nestarray.testing import lint


def _settings(given: argparse.Namespace, found: Example) -> dict[str, Any]:
    return {"train": given.train, "dynamic": found.dynamic or None, "islands": given.islands}


def _traced(given: argparse.Namespace) -> Graph:
    found = example(given)
    settings = _settings(given, found) | {"float64": given.float64} | found.kwargs
    return code_of_user(given.model, lambda: trace_graph(found.model, *found.args, **settings))


def check(given: argparse.Namespace, console: Console) -> int:
    """Print the status of each operation; 1 if the model cannot be converted.

    A file of Python code is not imported: its lint is printed; 1 if it has findings.
    """
    if given.model.endswith(".py"):
        return _check_file(Path(given.model), console)
    if given.to is None:
        raise Failure("check: --to: expected the framework to convert to")
    found = example(given)
    settings = _settings(given, found) | found.kwargs
    report = code_of_user(
        given.model, lambda: check_model(found.model, *found.args, target=given.to, **settings)
    )
    console.json(report.to_dict())
    console.text(str(report))
    return int(not report.ok)


def _check_file(path: Path, console: Console) -> int:
    findings = lint(path)
    console.json([asdict(finding) for finding in findings])
    for finding in findings:
        console.text(str(finding))
    console.text(f"{path}: {counted(len(findings), 'finding')}", "bold")
    return int(bool(findings))


def convert(given: argparse.Namespace, console: Console) -> int:
    """Convert a model, print the proof, and write the graph or a deployment file.

    1, and no file, if the proof fails.
    """
    path = Path(given.output)
    is_deployed = path.suffix in {form.suffix for form in FORMATS.values() if form.suffix}
    if is_deployed:
        check_place(path, "convert")
    else:
        check_output(path)
    graph = _traced(given)
    moved: Graph = graph.to_backend(given.to)
    if given.optimize:
        moved = optimize(moved)
    report = verify(moved)
    if report.ok:
        (export if is_deployed else save)(moved, path)
    console.json(
        {"file": str(path) if report.ok else None, "graph": repr(moved), "proof": report.to_dict()}
    )
    console.text(str(report))
    console.text(
        f"{path}: {moved!r}" if report.ok else "no file was written, because the proof failed",
        "bold",
    )
    return int(not report.ok)


def eject(given: argparse.Namespace, console: Console) -> int:
    """Write a model as source code, and print its largest difference from the model."""
    graph = _traced(given)
    done = eject_graph(graph, given.output, given.to, style=given.style, overwrite=given.overwrite)
    console.json({"folder": str(done.path), "style": done.style, "error": done.error})
    console.text(f"{done.path}: {done.target}, {done.style}, largest difference {done.error:.1e}")
    return 0
