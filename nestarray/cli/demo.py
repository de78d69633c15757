"""``nestarray demo``: the programs of `nestarray.demo`."""

from __future__ import annotations

import argparse
import importlib
import warnings
from pathlib import Path

from nestarray import lazy_imports
from nestarray.cli.console import Console


def demo(given: argparse.Namespace, console: Console) -> int:
    """Run the programs of `nestarray.demo`."""
    needed = ("torch", "jax", "tensorflow", "sklearn", "matplotlib", "rich", "optax", "flax",
              "keras")  # fmt: skip
    for package in needed:
        lazy_imports.optional(package, "the demo needs", extra="all,demo")
    with console.text_to_stderr():
        warnings.simplefilter("ignore")  # the frameworks' own
        digits = importlib.import_module("nestarray.demo.digits")
        fewer = {"epochs": 3, "tuning_epochs": 4} if given.short else {}
        figures = digits.run(Path(given.output), **fewer)
        flax = importlib.import_module("nestarray.demo.flax_in_torch").run(**fewer)
        keras = importlib.import_module("nestarray.demo.keras_in_torch").run(**fewer)
    agrees = flax["agrees"] and keras["agrees"] and all(row.agrees for row in figures["rows"])
    rows = [
        {"backend": row.backend, "accuracy": row.accuracy, "agrees": row.agrees}
        for row in figures["rows"]
    ]
    console.json({"torch_to_jax": {"backends": rows, "before": figures["before"], "after": figures["after"]},
                  "flax_to_torch": flax, "keras_to_torch": keras, "picture": str(figures["picture"])})  # fmt: skip
    return int(not agrees)
