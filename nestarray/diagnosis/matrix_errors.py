"""Whether a framework refused a call because of the values of a matrix."""

from __future__ import annotations

import re

from nestarray.errors import LinearAlgebraError

#: The frameworks' messages → ours.
_REASONS = {
    "[Ss]ingular matrix|matrix is singular|not invertible": "a matrix is singular",
    "positive.definite|Cholesky decomposition was not": "a matrix is not positive definite",
    "converge|ecomposition was not successful|infs or NaNs": (
        "the iteration did not converge, or a matrix contains infinities or NaN"
    ),
}


def check_matrices(name: str, error: Exception) -> None:
    """Raise a `LinearAlgebraError` if `error` is the framework's for values of a matrix."""
    for pattern, reason in _REASONS.items():
        if re.search(pattern, str(error)):
            raise LinearAlgebraError(f"{name}: {reason}")
