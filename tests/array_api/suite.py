"""The public suite of the Array API standard on modules made of nestarray.

https://github.com/data-apis/array-api-tests; ``make suite`` fetches it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

from nestarray.array_api import __array_api_version__

#: Where ``make suite`` puts it.
SUITE = Path(__file__).parent.parent.parent / "build" / "array-api-tests"

#: The tests that NumPy itself fails, with the reasons.
FAILURES_OF_NUMPY = Path(__file__).with_name("failures_of_numpy.txt")

#: A module that the suite imports: the standard's namespace of one backend.
NAMESPACE = """
import nestarray
_namespace = nestarray.array_namespace({backend!r})
globals().update({{k: getattr(_namespace, k) for k in dir(_namespace) if not k.startswith("__")}})
__array_namespace_info__ = _namespace.__array_namespace_info__
__array_api_version__ = _namespace.__array_api_version__
"""

#: The NumPy frontend on one backend. Arrays come from `asarray` and have NumPy's methods.
NUMPY_FRONTEND = """
from functools import wraps
import nestarray
from nestarray.frontends import numpy as _numpy
nestarray.set_backend({backend!r})
globals().update({{k: getattr(_numpy, k) for k in dir(_numpy) if not k.startswith("__")}})
__array_namespace_info__ = _numpy.__array_namespace_info__
__array_api_version__ = _numpy.__array_api_version__

def _with_methods(create):
    return wraps(create)(lambda *args, **kwargs: asarray(create(*args, **kwargs)))

for _name in ("arange", "empty", "eye", "from_dlpack", "full", "linspace", "ones", "zeros"):
    globals()[_name] = _with_methods(globals()[_name])
"""


class Outcomes(NamedTuple):
    """Numbers of tests, and the names of those that failed although it was not expected."""

    passed: int
    failed: list[str]
    failed_as_expected: int
    skipped: int


def run(module: str, suite: Path, examples: int, expected: Path | None = None) -> Outcomes:
    """Run the suite on a module.

    Args:
        module: the source of the module.
        suite: a checkout of the suite.
        examples: the number of random examples of a test.
        expected: a file with the names of tests that may fail.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "module_under_test.py").write_text(module)
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider"]
        command += ["--disable-deadline", "--max-examples", str(examples), f"--junitxml={report}"]
        if expected is not None:
            command += [f"--xfails-file={expected}"]
        environment = os.environ | {
            "ARRAY_API_TESTS_MODULE": "module_under_test",
            "ARRAY_API_TESTS_VERSION": __array_api_version__,
            "JAX_ENABLE_X64": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")]),
        }
        subprocess.run(
            [*command, "array_api_tests/"], cwd=suite.resolve(), env=environment, check=False
        )
        cases = ElementTree.parse(report).getroot().findall(".//testcase")
    passed, failed, failed_as_expected, skipped = 0, [], 0, 0
    for case in cases:
        outcomes = {child.tag: child.get("type") for child in case}
        if outcomes.keys() & {"failure", "error"}:
            failed.append(f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}")
        elif "skipped" in outcomes:
            is_expected = outcomes["skipped"] == "pytest.xfail"
            failed_as_expected += is_expected
            skipped += not is_expected
        else:
            passed += 1
    return Outcomes(passed, failed, failed_as_expected, skipped)
