"""The differences between backends at edges that remain, with their reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_OTHERS = ("jax", "torch", "tensorflow")
_INFINITE = ("infinite", "positive infinity", "negative infinity")
_NOT_FINITE = (*_INFINITE, "NaN")


@dataclass(frozen=True)
class Accepted:
    """A difference from NumPy's result.

    Args:
        reason: why it remains.
        ops: the ops; empty for all.
        variants: the variants; empty for all.
        backends: the backends that may differ.
        text: what the description of the difference contains.
    """

    reason: str
    ops: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    backends: tuple[str, ...] = _OTHERS
    text: str = ""

    def holds(self, op: str, variant: str, backend: str, text: str) -> bool:
        """Whether this is the difference."""
        return (
            (not self.ops or op in self.ops)
            and (not self.variants or variant in self.variants)
            and backend in self.backends
            and self.text in text
        )


ACCEPTED = (
    Accepted(
        "Whether a matrix that is singular, infinite or NaN raises an error depends on the "
        "framework; JAX never raises, its result is NaN.",
        text="LinearAlgebraError",
    ),
    Accepted(
        "JAX raises no errors for indices out of range: the results there are NaN, or left out.",
        variants=("integers",),
        backends=("jax",),
        text="IndexingError",
    ),
    Accepted(
        "Factors of matrices with infinite or NaN elements depend on the order of operations.",
        ("cholesky", "householder_product", "lu", "lu_factor", "slogdet", "solve_triangular"),
        _NOT_FINITE,
    ),
    Accepted(
        "A sum of infinite products is infinite or NaN, by its order; padding times an infinite "
        "weight is NaN, or left out.",
        ("conv", "conv1d", "conv2d", "conv3d", "conv_transpose", "conv_transpose1d",
         "conv_transpose2d", "conv_transpose3d", "convolve", "depthwise_conv", "expm",
         "householder_product", "irfft", "hfft", "ihfft", "rfft", "separable_conv"),
        (*_NOT_FINITE, "large"),
    ),
    Accepted(
        "TensorFlow's maxima of windows ignore NaN.",
        ("adaptive_max_pool1d", "adaptive_max_pool2d", "max_pool", "max_pool1d", "max_pool2d"),
        ("NaN",),
        ("tensorflow",),
    ),
    Accepted(
        "TensorFlow computes eˣ − 1 in one step, which loses the digits of small numbers.",
        ("elu", "selu"),
        ("small",),
        ("tensorflow",),
    ),
    Accepted(
        "The order of complex eigenvalues is the framework's.",
        ("eigvals",),
        ("reversed",),
        ("tensorflow",),
    ),
    Accepted(
        "The orthogonal factor of a singular matrix is not unique.",
        ("polar_decomposition",),
        ("zeros", "equal"),
        ("tensorflow",),
    ),
    Accepted(
        "Rounding: the residual of a singular system, an inverse of numbers of 10¹⁵⁰.",
        ("lstsq", "matrix_power"),
        ("equal", "large"),
        ("tensorflow",),
    ),
    Accepted(
        "Convolutions with a weight of no output channels are refused by PyTorch, and over three "
        "axes by TensorFlow.",
        ("conv", "conv1d", "conv2d", "conv3d", "depthwise_conv"),
        ("empty",),
        ("torch", "tensorflow"),
    ),
    Accepted(
        "Whether parameters of length 0 are refused depends on the framework.",
        ("batch_norm", "locally_connected", "spectral_norm"),
        ("empty",),
        ("torch", "tensorflow"),
    ),
)  # fmt: skip


def unaccepted(op: str, variant: str, found: dict[str, str]) -> Iterator[str]:
    """The differences of a case that no row has."""
    for backend, text in found.items():
        if not any(row.holds(op, variant, backend, text) for row in ACCEPTED):
            yield f"{op}, {variant}, {backend}: {text}"
