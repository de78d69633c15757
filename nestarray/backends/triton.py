"""A workaround for Triton and TensorFlow in one process, which both contain LLVM."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

from nestarray.lazy_imports import before_import


def _bind_to_its_own_symbols(spec: ModuleSpec) -> None:
    """Load Triton's library so that it calls its own LLVM.

    TensorFlow exports the symbols of its LLVM to the process. A Triton that is loaded later would
    call those and crash. torch imports Triton with its first optimizer or compilation.

    https://github.com/tensorflow/tensorflow/issues/124205
    """
    import ctypes
    import os
    from pathlib import Path

    if "tensorflow" not in sys.modules or not hasattr(os, "RTLD_DEEPBIND"):
        return  # without this libraries do not share symbols
    for folder in spec.submodule_search_locations or ():
        for library in Path(folder, "_C").glob("libtriton*.so"):
            ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_DEEPBIND)


before_import("triton", _bind_to_its_own_symbols)
