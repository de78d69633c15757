"""Run the numeric tests as other processors would: ``python -m tests.cpus [pytest's options]``.

Libraries choose their kernels by the processor, so sums are rounded differently. Each row of
`MACHINES` restricts these choices by environment variables, in a separate process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

NUMERIC = [
    "tests/ops", "tests/transforms", "tests/random", "tests/nn", "tests/frontends",
    "tests/graph", "tests/proof", "tests/importers", "tests/models",
]  # fmt: skip

#: The kernels of NumPy that need more than its baseline and that this processor has.
_FEATURES = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
_AVX2_AT_MOST = " ".join(name for name in _FEATURES if name not in ("X86_V3", "AVX2", "FMA3"))

MACHINES: dict[str, dict[str, str]] = {
    "Haswell, two threads, oneDNN, no vector kernels in NumPy and PyTorch": {
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "default",
        "NPY_DISABLE_CPU_FEATURES": " ".join(_FEATURES),
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
        "TF_ENABLE_ONEDNN_OPTS": "1",
        "OMP_NUM_THREADS": "2",
    },
    "Zen, one thread, AVX2": {
        "OPENBLAS_CORETYPE": "Zen",
        "ATEN_CPU_CAPABILITY": "avx2",
        "NPY_DISABLE_CPU_FEATURES": _AVX2_AT_MOST,
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "OMP_NUM_THREADS": "1",
    },
}
if __cpu_features__["AVX512F"]:
    MACHINES["SkylakeX, two threads, oneDNN"] = {
        "OPENBLAS_CORETYPE": "SkylakeX",
        "TF_ENABLE_ONEDNN_OPTS": "1",
        "OMP_NUM_THREADS": "2",
    }


def main(options: list[str]) -> int:
    """Run the tests on each machine; return 1 if any failed."""
    folders = [folder for folder in NUMERIC if os.path.isdir(folder)]
    failed = []
    for name, variables in MACHINES.items():
        print(f"\n{name}: {' '.join(f'{k}={v!r}' for k, v in variables.items())}", flush=True)
        command = [sys.executable, "-m", "pytest", *options, *folders]
        # Inductor's cache does not tell processors apart: its kernels of another one are wrong
        with tempfile.TemporaryDirectory() as cache:
            machine = {**os.environ, **variables, "TORCHINDUCTOR_CACHE_DIR": cache}
            if subprocess.run(command, env=machine, check=False).returncode:
                failed.append(name)
    print("\nfailed on: " + "; ".join(failed) if failed else "\npassed on every machine")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
