"""Write docs/conformance.md: the results of the public Array API suite.

`make conformance` fetches the suite and runs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PATH = Path(__file__).with_name("conformance.md")

from nestarray.array_api import __array_api_version__  # noqa: E402
from nestarray.config import BACKENDS  # noqa: E402
from tests.array_api.suite import (  # noqa: E402
    FAILURES_OF_NUMPY,
    NAMESPACE,
    NUMPY_FRONTEND,
    Outcomes,
    run,
)

HEAD = """# The Array API standard

The public suite, version {version}, with {examples} random examples a test, JAX with x64. Written by
`make conformance`.

## `na.array_namespace(backend)`
"""

NUMPY_HEAD = """
## `nestarray.frontends.numpy`

The arrays are those of `asarray`. Of the failures, those of
[this list](../tests/array_api/failures_of_numpy.txt) are NumPy's own, for example of signatures that
differ from the standard.
"""


def table(results: Mapping[str, Outcomes]) -> str:
    """The numbers of tests, and the names of those that failed."""
    lines = [
        "| backend | passed | failed | failed as in NumPy | skipped by the suite itself |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, (passed, failed, as_expected, skipped) in results.items():
        lines.append(f"| {name} | {passed} | {len(failed)} | {as_expected} | {skipped} |")
    for name, outcomes in results.items():
        if outcomes.failed:
            lines += ["", f"Failed on {name}:", "", *(f"- `{n}`" for n in outcomes.failed)]
    return "\n".join(["", *lines, ""])


def main() -> None:
    """Run the suite on every backend and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path, help="a checkout of array-api-tests")
    parser.add_argument("--examples", type=int, default=20, help="random examples a test")
    given = parser.parse_args()
    namespaces = {
        name: run(NAMESPACE.format(backend=name), given.suite, given.examples) for name in BACKENDS
    }
    numpy = {
        name: run(
            NUMPY_FRONTEND.format(backend=name), given.suite, given.examples, FAILURES_OF_NUMPY
        )
        for name in ("torch", "jax")
    }
    head = HEAD.format(version=__array_api_version__, examples=given.examples)
    PATH.write_text(head + table(namespaces) + NUMPY_HEAD + table(numpy))


if __name__ == "__main__":
    main()
