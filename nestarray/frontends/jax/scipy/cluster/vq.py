"""Vector quantization.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.scipy.cluster.vq.vq.html
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = ["vq"]


def vq(obs: Array, code_book: Array, check_finite: bool = True) -> tuple[Array, Array]:
    """(number of the nearest code, distance to it) of each observation.

    Args:
        obs: `(n, d)`, or `(n,)`.
        code_book: `(codes, d)`, or `(codes,)`.
        check_finite: not used.
    """
    obs, code_book = promote_inexact(obs, code_book)
    if len(na.shape(obs)) != len(na.shape(code_book)) or len(na.shape(obs)) not in (1, 2):
        raise ArgumentError(
            f"vq: obs, code_book: got the shapes {tuple(na.shape(obs))} and "
            f"{tuple(na.shape(code_book))}, expected two matrices or two vectors"
        )
    if len(na.shape(obs)) == 1:
        obs, code_book = na.expand_dims(obs, -1), na.expand_dims(code_book, -1)
    gaps = na.expand_dims(obs, 1) - na.expand_dims(code_book, 0)
    distances = na.vector_norm(gaps, axis=-1)
    code = na.argmin(distances, axis=-1)
    return na.astype(code, dtypes.int32), na.min(distances, axis=-1)
