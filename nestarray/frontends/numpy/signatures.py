"""Signatures of NumPy's functions; in NumPy 2.2, those written in C have none to read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

_UFUNC = (
    "x1, x2, /, out=None, *, axes=missing, axis=missing, keepdims=False, casting='same_kind', "
    "order='K', dtype=None, subok=True, signature=None"
)
#: Function written in C → its parameters in later releases.
_WRITTEN_IN_C = {
    "arange": "start_or_stop, /, stop=None, step=1, *, dtype=None, device=None, like=None",
    "concatenate": "arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
    "dot": "a, b, out=None",
    "empty": "shape, dtype=None, order='C', *, device=None, like=None",
    "empty_like": "prototype, /, dtype=None, order='K', subok=True, shape=None, *, device=None",
    "from_dlpack": "x, /, *, device=None, copy=None",
    "frombuffer": "buffer, dtype=None, count=-1, offset=0, *, like=None",
    "inner": "a, b, /",
    "lexsort": "keys, axis=-1",
    "matmul": _UFUNC,
    "matvec": _UFUNC,
    "packbits": "a, /, axis=None, bitorder='big'",
    "ravel_multi_index": "multi_index, dims, mode='raise', order='C'",
    "unpackbits": "a, /, axis=None, count=None, bitorder='big'",
    "unravel_index": "indices, shape, order='C'",
    "vdot": "a, b, /",
    "vecdot": _UFUNC,
    "vecmat": _UFUNC,
    "where": "condition, x=None, y=None, /",
    "zeros": "shape, dtype=None, order='C', *, device=None, like=None",
}


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function of NumPy.

    Example:
        >>> import numpy as np
        >>> from nestarray.frontends.numpy.signatures import signature_of
        >>> str(signature_of(np.inner))
        '(a, b, /)'
    """
    try:
        return inspect.signature(function)
    except ValueError:
        parameters = _WRITTEN_IN_C[function.__name__]
        missing = np._NoValue  # type: ignore[attr-defined]
        return inspect.signature(eval(f"lambda {parameters}: None", {"missing": missing}))
