"""Signatures of NumPy's functions; in NumPy 2.2, those written in C have none to read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

_MISSING: Any = np._NoValue  # type: ignore[attr-defined]


def _ufunc(
    x1: Any, x2: Any, /, out: Any = None, *, axes: Any = _MISSING, axis: Any = _MISSING,
    keepdims: bool = False, casting: str = "same_kind", order: str = "K", dtype: Any = None,
    subok: bool = True, signature: Any = None,
) -> None:  # fmt: skip
    """The parameters of a universal function with a signature of axes."""


#: Function written in C → a function with its parameters in later releases.
_WRITTEN_IN_C: dict[str, Callable[..., None]] = {
    "arange": lambda start_or_stop, /, stop=None, step=1, *, dtype=None, device=None, like=None: (
        None
    ),
    "concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    "dot": lambda a, b, out=None: None,
    "empty": lambda shape, dtype=None, order="C", *, device=None, like=None: None,
    "empty_like": lambda prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None: (
        None
    ),
    "from_dlpack": lambda x, /, *, device=None, copy=None: None,
    "frombuffer": lambda buffer, dtype=None, count=-1, offset=0, *, like=None: None,
    "inner": lambda a, b, /: None,
    "lexsort": lambda keys, axis=-1: None,
    "matmul": _ufunc,
    "matvec": _ufunc,
    "packbits": lambda a, /, axis=None, bitorder="big": None,
    "ravel_multi_index": lambda multi_index, dims, mode="raise", order="C": None,
    "unpackbits": lambda a, /, axis=None, count=None, bitorder="big": None,
    "unravel_index": lambda indices, shape, order="C": None,
    "vdot": lambda a, b, /: None,
    "vecdot": _ufunc,
    "vecmat": _ufunc,
    "where": lambda condition, x=None, y=None, /: None,
    "zeros": lambda shape, dtype=None, order="C", *, device=None, like=None: None,
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
        return inspect.signature(_WRITTEN_IN_C[function.__name__])
