"""The environment and the fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import re
import sys
import zlib
from importlib.metadata import version
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # before anything imports TensorFlow
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
if os.environ.get("HYPOTHESIS_PROFILE") != "full":
    # JAX compiles thousands of programs of a few elements each; most of that is optimization.
    # One LLVM module for each program, written without fusion emitters, compiles in a third of
    # the time.
    os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    # A tenth of the time of a small program is the stack of Python frames in its locations.
    os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")
    # A third of the time of all tests is compilation: the processes and the runs in a clone share
    # programs. JAX's key of a program has its text, the releases and all options.
    cache = os.path.join(os.path.dirname(__file__), os.pardir, "build", "jax")
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", os.path.abspath(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    if tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 11):  # later ones stop at the flag
        fast_compilation = (
            "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
        )
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {fast_compilation}".strip()

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from nestarray.config import BACKENDS

# the same examples in every run, and no clock: frameworks compile at unexpected times
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("full", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


#: A test of more calls than this runs one call in so many, unless `one_in` says otherwise.
_ONE_IN = {32: 16, 8: 8}

_FULL = pytest.mark.full.mark


@pytest.hookimpl(trylast=True)  # after the hooks that make the calls
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``one_in(n)``: one test in n is not ``full``; the backends of one case take turns.

    So it is with one call in eight of a test that has many, and one in sixteen of very many.

    Without the full tests, their calls are dropped here: an item of each takes a third of the time
    that a run needs before its first test. So are the calls that the release legs leave out:
    ``release(*names)`` takes one call for each value of these parameters.
    """
    test, calls = metafunc.definition, metafunc._calls
    if metafunc.config.option.markexpr == "release":
        calls[:] = _release_calls(test, calls)
        return
    one_in = test.get_closest_marker("one_in")
    whole_test_is_full = test.get_closest_marker("full") is not None

    def is_full(call: Any) -> bool:
        return whole_test_is_full or any(mark.name == "full" for mark in call.marks)

    cases: dict[str, list[Any]] = defaultdict(list)
    n = one_in.args[0] if one_in else next((n for m, n in _ONE_IN.items() if len(calls) > m), 1)
    for call in calls if n > 1 else ():
        if not is_full(call):
            cases[re.sub("|".join(BACKENDS), "", f"{test.nodeid}[{call.id}]")].append(call)
    for case, of_case in cases.items():
        first = zlib.crc32(case.encode()) % n  # other cases begin with other backends
        for i, call in enumerate(of_case):
            if i % n != first:
                call.marks.append(_FULL)
    if metafunc.config.option.markexpr == "not full":
        # a test without calls would run once without parameters
        calls[:] = [call for call in calls if not is_full(call)] or calls[:1]


def _release_calls(test: Any, calls: list[Any]) -> list[Any]:
    """The calls of a test in the release legs; those of different values take turns."""
    marker = test.get_closest_marker("release")
    if marker is None:  # some calls may be marked
        return [
            call for call in calls if any(mark.name == "release" for mark in call.marks)
        ] or calls[:1]
    values: dict[str, list[Any]] = defaultdict(list)
    for call in calls:
        of_call = [(call.params[name], call.indices[name]) for name in marker.args]
        # texts, and the places of functions, whose names are not those of other processes
        values[str([x if isinstance(x, str) else i for x, i in of_call])].append(call)
    return [group[zlib.crc32(value.encode()) % len(group)] for value, group in values.items()]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The release legs need not import the files that have no part in them."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if config.option.markexpr != "release" or not is_test:
        return None
    return "mark.release" not in collection_path.read_text() or None


def pytest_collection_finish() -> None:
    """Frameworks are millions of objects: later garbage collections need not go through them.

    Tracing makes many objects that live for one test. With Python's thresholds, a sixth of the time
    of the importers' tests is garbage collection.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend by name."""
    return request.param


_KEPT_TESTS = 400
_tests_done = count(1)


@pytest.fixture(autouse=True)
def _bounded_compilation_caches() -> Iterator[None]:
    """JAX keeps every program that it compiled; thousands of small ones fill the memory."""
    yield
    if next(_tests_done) % _KEPT_TESTS == 0 and "jax" in sys.modules:
        import jax

        jax.clear_caches()
        gc.collect()
        gc.freeze()  # Keras and inductor collect garbage themselves, in the middle of tests


@pytest.fixture
def x64() -> Iterator[None]:
    """JAX with 64-bit types, for the time of one test."""
    import jax

    with jax.enable_x64(True):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    """The same random numbers for every run of a test."""
    return np.random.default_rng(0)
