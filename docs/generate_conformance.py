"""Write docs/conformance.md: the results of the public Array API suite on each backend.

The suite is https://github.com/data-apis/array-api-tests; ``make conformance`` fetches and runs it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from nestarray.array_api import __array_api_version__
from nestarray.config import BACKENDS

PAGE = Path(__file__).with_name("conformance.md")
EXPECTED = Path(__file__).parent.parent / "tests" / "conformance"

#: The module that the suite imports: the namespace of one backend.
MODULE = """
import nestarray
_namespace = nestarray.array_namespace({backend!r})
globals().update({{k: getattr(_namespace, k) for k in dir(_namespace) if not k.startswith("__")}})
__array_namespace_info__ = _namespace.__array_namespace_info__
__array_api_version__ = _namespace.__array_api_version__
"""


def run(backend: str, suite: Path, examples: int) -> tuple[dict[str, int], list[str]]:
    """(number of tests by outcome, names of those that failed) of one backend."""
    name = f"nestarray_{backend}"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{name}.py").write_text(MODULE.format(backend=backend))
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider"]
        command += ["--disable-deadline", "--max-examples", str(examples), f"--junitxml={report}"]
        expected = EXPECTED / f"{backend}-xfails.txt"
        if expected.exists():
            command += ["--xfails-file", str(expected)]
        environment = os.environ | {
            "ARRAY_API_TESTS_MODULE": name,
            "ARRAY_API_TESTS_VERSION": __array_api_version__,
            "JAX_ENABLE_X64": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")]),
        }
        subprocess.run([*command, "array_api_tests/"], cwd=suite, env=environment, check=False)
        cases = ElementTree.parse(report).getroot().findall(".//testcase")
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    failed = []
    for case in cases:
        outcomes = {child.tag for child in case}
        if outcomes & {"failure", "error"}:
            counts["failed"] += 1
            failed.append(f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}")
        else:
            counts["skipped" if "skipped" in outcomes else "passed"] += 1
    return counts, failed


def page(results: dict[str, tuple[dict[str, int], list[str]]], examples: int) -> str:
    """The text of docs/conformance.md."""
    lines = [
        "# The Array API standard",
        "",
        f"The public suite, version {__array_api_version__}, on `na.array_namespace(backend)`, with",
        f"{examples} random examples a test, JAX with x64. Written by `make conformance`.",
        "",
        "| backend | passed | failed | skipped by the suite itself |",
        "|---|---:|---:|---:|",
    ]
    for backend, (counts, _) in results.items():
        row = " | ".join(str(counts[kind]) for kind in ("passed", "failed", "skipped"))
        lines.append(f"| {backend} | {row} |")
    for backend, (_, failed) in results.items():
        if failed:
            lines += ["", f"Failed on {backend}:", "", *(f"- `{name}`" for name in failed)]
    return "\n".join([*lines, ""])


def main() -> None:
    """Run the suite on every backend and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path, help="a checkout of array-api-tests")
    parser.add_argument("--examples", type=int, default=20, help="random examples a test")
    given = parser.parse_args()
    results = {backend: run(backend, given.suite, given.examples) for backend in BACKENDS}
    PAGE.write_text(page(results, given.examples))


if __name__ == "__main__":
    main()
