"""Write docs/derivatives.md: every differentiable op in every mode of tests/modes.py.

usage: python docs/generate_derivatives.py [--sample] [BACKEND [OP ...]]

With a backend, measures its ops first and stores the gaps in docs/derivatives/BACKEND.json; an op
that is stored is not measured again unless it is named. A backend takes ten minutes (NumPy) to three
hours (JAX, TensorFlow); with --sample, twelve modes of each op, a fifth of that.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
from collections.abc import Collection
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # less time in the compiler

sys.path.insert(0, str(Path(__file__).parent.parent))  # for the modes of the tests

from tests.cases import Case
from tests.modes import MODES, check, first_cases, modes_of

PAGE = Path(__file__).with_name("derivatives.md")
RECORDS = Path(__file__).with_name("derivatives")
PACKAGES = {"numpy": "numpy", "jax": "jax", "torch": "torch", "tensorflow": "tensorflow-cpu"}


#: With --sample: second derivatives of each kind, under each transformation.
SAMPLE = (
    "jacfwd", "hessian", "jacfwd of grad", "jacrev of jacfwd", "vmap of grad", "vmap of jvp",
    "jit of hessian", "jit of vmap of grad", "grad of while_loop", "hessian of cond",
    "jacfwd of scan", "vmap of grad of checkpoint",
)  # fmt: skip


def measure(backend: str, ops: list[str], modes: Collection[str]) -> None:
    """Check the ops, and store each when it is finished."""
    path = RECORDS / f"{backend}.json"
    records = json.loads(path.read_text()) if path.exists() else {}
    for case in first_cases():
        if backend not in case.backends or (case.op not in ops if ops else case.op in records):
            continue
        chosen = [mode for mode in modes_of(case) if mode in modes]
        records[case.op] = {"version": version(PACKAGES[backend]), "modes": len(chosen)}
        records[case.op]["gaps"] = _gaps(case, backend, chosen)
        print(backend, case.op, records[case.op]["gaps"], flush=True)
        rows = [f"{json.dumps(op)}: {json.dumps(records[op])}" for op in sorted(records)]
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        _release_memory(backend)


def _gaps(case: Case, backend: str, modes: list[str]) -> dict[str, str]:
    """Mode → what is wrong with it."""
    gaps = {}
    for mode in modes:
        try:
            check(case, mode, backend)
        except Exception as error:  # of any framework
            gaps[mode] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return gaps


def _release_memory(backend: str) -> None:
    if backend == "jax":
        import jax

        jax.clear_caches()
    elif backend == "torch":
        import torch

        torch.compiler.reset()
    gc.collect()


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--sample"]
    if given:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measure(given[0], given[1:], SAMPLE if "--sample" in sys.argv else MODES)
