"""Run benchmarks; ``python -m benchmarks --help`` lists them."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import warnings
from importlib.metadata import version
from pathlib import Path

# One core: thread pools of different kinds compare badly on a shared machine.
os.environ["OMP_NUM_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

#: Module of this package → the subject of its tables.
BENCHMARKS = {
    "imports": "the time of import nestarray",
    "dispatch": "the overhead of some calls, beside other libraries",
    "overhead": "the overhead of all ops over the native functions",
    "scaling": "calls whose time grows faster than that of sorting",
    "composed": "ops that JAX lacks, compiled",
    "container": "arithmetic, pytrees, compiled calls and access of Containers",
    "trees": "an optimizer step on whole trees",
    "storage": "saving and loading",
    "random": "random numbers",
    "training": "gradients and training steps",
    "layers": "training steps of nestarray.nn, and steps of optimizers",
    "dropout": "compiled training with dropout: the first call and later ones",
    "models": "small converted models",
    "torch_in": "converted PyTorch models of full size",
    "jax_in": "Flax models converted to PyTorch",
    "keras_in": "converted Keras applications of full size",
    "numpy_in": "NumPy programs converted to JAX",
    "generation": "a step of text generation with a cache",
    "native_modules": "training steps of exported native modules",
    "on_gpu": "converted PyTorch models on a GPU, where there is one",
}
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
PACKAGES = ["numpy", "torch", "jax", "tensorflow-cpu", "optree", "dm-tree", "tensordict", "keras"]


def main(arguments: list[str] | None = None) -> None:
    """Run the selected benchmarks, or all."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Time nestarray beside the frameworks and other libraries.",
        epilog="benchmarks:\n" + "\n".join(f"  {n:<11}{text}" for n, text in BENCHMARKS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all benchmarks")
    parser.add_argument("--write", action="store_true", help=f"update {PAGE.name} in docs/")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in BENCHMARKS:
            parser.error(f"unknown benchmark {name!r}; expected one of {', '.join(BENCHMARKS)}")
    names = given.names or list(BENCHMARKS)
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the frameworks' own
            tables = importlib.import_module(f"benchmarks.{name}").tables()
        for table in tables:
            table.print()
        if given.write:
            _write(name, "\n".join(table.markdown() for table in tables))


def _write(name: str, text: str) -> None:
    """Replace the tables of one benchmark in the page."""
    found = re.split(r"^<!-- (\w+) -->\n", PAGE.read_text(), flags=re.MULTILINE)
    parts = dict(zip(found[1::2], found[2::2], strict=True)) | {name: f"{text}\n{_machine()}"}
    marked = (f"<!-- {n} -->\n{parts[n].strip()}\n" for n in BENCHMARKS if n in parts)
    PAGE.write_text("\n".join([_HEAD, *marked]))


_HEAD = """\
# Benchmarks

Written by `python -m benchmarks --write`; do not edit. The candidates of a table were measured
in turn in one run; compare within a table, not between machines.
"""


def _machine() -> str:
    versions = ", ".join(f"{p} {version(p)}" for p in PACKAGES)
    return (
        f"One core of {_processor()}, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}.\n"
    )


def _processor() -> str:
    """The model of the processor; `platform.processor` is empty on most Linux systems."""
    cpuinfo = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.+)", cpuinfo.read_text()) if cpuinfo.exists() else []
    return models[0] if models else platform.processor() or "an unknown processor"


if __name__ == "__main__":
    main()
