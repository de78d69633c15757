"""Planted faults: how many of them do the tests find?

``python -m pytest -p tests.mutations`` notes which functions each test calls, in ``build/calls``.
``python -m tests.mutations`` then changes one expression at a time, in a copy of the package, and runs
tests that call the function of the expression. It prints each fault, and the test that
found it.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PACKAGES = ("ops", "graph", "importers", "exporters")
#: A fault is looked for by at most this many tests, those that call the fewest functions first.
MOST = 25
ROOT = Path(__file__).parents[1]
CALLS = ROOT / "build" / "calls"

# -- functions that tests call ------------------------------------------------------------------

_TOOL = sys.monitoring.PROFILER_ID if sys.version_info >= (3, 12) else -1
_called: set[str] = set()
_tests: dict[str, list[str]] = {}


def _name(code: Any) -> str:
    return f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_firstlineno}"


def pytest_configure() -> None:
    prefixes = tuple([str(ROOT / "nestarray" / package) + os.sep for package in PACKAGES])

    def start(code: Any, _offset: int) -> Any:
        if code.co_filename.startswith(prefixes):
            _called.add(_name(code))
        return sys.monitoring.DISABLE  # until the next test

    sys.monitoring.use_tool_id(_TOOL, "mutations")
    sys.monitoring.register_callback(_TOOL, sys.monitoring.events.PY_START, start)
    sys.monitoring.set_events(_TOOL, sys.monitoring.events.PY_START)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _called.clear()
    sys.monitoring.restart_events()
    result = yield
    for name in _called:
        _tests.setdefault(name, []).append(item.nodeid)
    return result


def pytest_unconfigure() -> None:
    sys.monitoring.free_tool_id(_TOOL)
    CALLS.mkdir(parents=True, exist_ok=True)
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    (CALLS / f"{worker}.json").write_text(json.dumps(_tests), encoding="utf-8")


def _calls() -> dict[str, list[str]]:
    """Function → the tests that call it."""
    calls: dict[str, list[str]] = {}
    for path in sorted(CALLS.glob("*.json")):
        for name, tests in json.loads(path.read_text(encoding="utf-8")).items():
            calls.setdefault(name, []).extend(tests)
    return calls


# -- faults -------------------------------------------------------------------------------------

_SWAPPED: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.And: ast.Or, ast.Or: ast.And, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


class Fault(NamedTuple):
    """A change of one expression.

    Attributes:
        path: the file.
        function: by which `_calls` knows the function of the expression.
        line: of the expression.
        old, new: its text.
        text: the file with the change.
    """

    path: str
    function: str
    line: int
    old: str
    new: str
    text: str


def _changed(node: ast.AST) -> ast.AST | None:
    """A node with another operator, number or condition; None if it has none."""
    new = copy.deepcopy(node)
    if isinstance(new, (ast.BinOp, ast.BoolOp)) and type(new.op) in _SWAPPED:
        new.op = _SWAPPED[type(new.op)]()
    elif isinstance(new, ast.Compare) and len(new.ops) == 1 and type(new.ops[0]) in _SWAPPED:
        new.ops = [_SWAPPED[type(new.ops[0])]()]
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not):
        return new.operand
    elif isinstance(new, ast.Constant) and isinstance(new.value, bool):
        new.value = not new.value
    elif isinstance(new, ast.Constant) and isinstance(new.value, int):
        new.value += 1
    elif isinstance(new, ast.IfExp):
        new.body, new.orelse = new.orelse, new.body
    else:
        return None
    return new


def _faults(path: Path) -> Iterator[Fault]:
    """The faults of the functions of a file; those of error messages are none."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    name = str(path.relative_to(ROOT))
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        start = min([function.lineno, *(d.lineno for d in function.decorator_list)])
        for statement in function.body:
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if is_text or isinstance(statement, (ast.Raise, ast.FunctionDef)):
                continue
            for node in ast.walk(statement):
                new = _changed(node)
                if new is None or node.lineno != node.end_lineno:  # type: ignore[attr-defined]
                    continue
                line = lines[node.lineno - 1].encode()  # type: ignore[attr-defined]
                first, last = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
                old, code = line[first:last].decode(), ast.unparse(new)
                edited = line[:first] + f"({code})".encode() + line[last:]
                changed = [*lines]
                changed[node.lineno - 1] = edited.decode()  # type: ignore[attr-defined]
                yield Fault(
                    name,
                    f"{name}:{start}",
                    node.lineno,
                    old,
                    code,
                    "".join(changed),  # type: ignore[attr-defined]
                )


def _drawn(count: int, seed: int, calls: dict[str, list[str]]) -> list[Fault]:
    """Faults of functions that a test calls, as many of each package."""
    generator = random.Random(seed)
    drawn: list[Fault] = []
    for package in PACKAGES:
        paths = sorted((ROOT / "nestarray" / package).rglob("*.py"))
        faults = [fault for path in paths for fault in _faults(path) if fault.function in calls]
        drawn += generator.sample(faults, count // len(PACKAGES))
    return drawn


def _finder(fault: Fault, tests: list[str], folder: Path) -> str:
    """The test that finds a fault; empty if none does."""
    file = folder / fault.path
    original = file.read_text(encoding="utf-8")
    file.write_text(fault.text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "--no-header",
        "-p",
        "no:cacheprovider",
    ]
    try:
        done = subprocess.run(
            [*command, "--tb=no", "-rfE", *tests],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
    finally:
        file.write_text(original, encoding="utf-8")
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest: exit {done.returncode}: {done.stderr[-500:]}")
    return next(iter(lines), "")


def main() -> None:
    """Print the faults, and the test that found each."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=main.__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    calls = _calls()
    if not calls:
        parser.error("run `make test` with PYTEST_ADDOPTS='-p tests.mutations' first")
    faults = _drawn(options.count, options.seed, calls)
    counts = Counter(test for tests in calls.values() for test in tests)
    found = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(".*", "build", "demo_output"))
        for fault in faults:
            tests = sorted(calls[fault.function], key=counts.__getitem__)[:MOST]
            finder = _finder(fault, tests, folder)
            found += bool(finder)
            print(
                f"{fault.path}:{fault.line}: {fault.old} → {fault.new}: {finder or 'not found'}",
                flush=True,
            )
    print(f"{found} of {len(faults)} faults found")


if __name__ == "__main__":
    main()
