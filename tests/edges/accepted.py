"""The differences between backends at edges that remain, with their reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_OTHERS = ("jax", "torch", "tensorflow")
_INFINITE = ("infinite", "positive infinity", "negative infinity")
_NOT_FINITE = (*_INFINITE, "NaN")


@dataclass(frozen=True)
class Accepted:
    """A difference between backends, or of a frontend from its framework.

    Args:
        reason: why it remains.
        ops: the ops, or functions of the frontend; empty for all.
        variants: the variants; empty for all.
        backends: the backends that may differ from NumPy's, or the frontends.
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


_NEAREST = ("zeros", "ties", "equal", "reversed")

#: The differences of frontends from their frameworks.
OF_FRONTENDS = (
    Accepted(
        "Complex functions of infinite or NaN parts: C libraries, XLA and Eigen differ.",
        (),
        _NOT_FINITE,
        ("numpy", "jax", "torch"),
        "j)",
    ),
    Accepted(
        "`na.floor_divide` of infinite numbers is the standard's: ∞ and 0, where upstream has NaN "
        "and −1.",
        ("floor_divide", "divmod"),
        _INFINITE,
        ("numpy", "jax"),
    ),
    Accepted(
        "A number between two infinite ones, or a step between them: ∞ − ∞ upstream.",
        ("linspace", "quantile", "nanquantile", "percentile", "nanpercentile", "trapezoid", "trapz",
         "interp", "median", "pad"),
        _NOT_FINITE,
        ("numpy", "jax", "torch"),
    ),
    Accepted(
        "Sums with infinite numbers are infinite or NaN, by their order.",
        ("convolve", "correlate", "polymul", "polydiv", "polyval", "poly"),
        _NOT_FINITE,
        ("numpy", "jax"),
    ),
    Accepted(
        "Matrices that are singular, infinite or NaN raise an error, where upstream gives NaN.",
        text="LinearAlgebraError",
        backends=("numpy", "jax", "torch", "tensorflow", "keras"),
    ),
    Accepted(
        "NumPy multiplies and interpolates integers in their dtype, which overflows; here in float64.",
        ("convolve", "polymul", "pad", "percentile"),
        ("integers",),
        ("numpy",),
    ),
    Accepted(
        "Equal NaN in complex arrays count once upstream.", ("unique",), ("NaN",), ("numpy", "jax")
    ),
    Accepted(
        "No elements: upstream gives an integer, a real or an uninitialized array, or a value where "
        "we refuse.",
        ("bincount", "corrcoef", "cov", "linalg.matrix_norm", "linalg.matrix_rank", "linalg.norm",
         "nanmedian", "nanpercentile", "nanquantile", "unpackbits", "poly", "polydiv", "polymul",
         "histogram", "histogram_bin_edges", "insert", "pad", "setdiff1d", "intersect1d", "unique",
         "unique_all", "argwhere", "flatnonzero", "nonzero", "where"),
        ("empty",),
        ("numpy", "jax"),
    ),
    Accepted(
        "Rounding: a derivative of 0; a division by −0.",
        ("gradient", "polydiv"),
        ("equal", "zeros"),
        ("numpy", "jax"),
    ),
    Accepted(
        "XLA converts infinite numbers and NaN to the limits of an integer and to 0; NumPy's result "
        "is undefined.",
        ("asarray", "astype", "concatenate"),
        _NOT_FINITE,
        ("jax",),
    ),
    Accepted(
        "Bins of infinite numbers, and limits of functions: NaN here.",
        ("histogram", "histogram2d", "histogramdd", "histogram_bin_edges", "sinc"),
        _NOT_FINITE,
        ("jax",),
    ),
    Accepted(
        "The order of NaN, and of −0 and 0, among the largest.",
        ("top_k", "approx_max_k"),
        ("NaN", "zeros"),
        ("jax",),
    ),
    Accepted(
        "Poles and limits: as SciPy here, NaN or 0 in JAX.",
        ("igamma_grad_a", "betainc", "polygamma", "zeta", "custom_root", "sici", "spence",
         "loggamma", "multigammaln",
         "custom_linear_solve"),
        (*_NOT_FINITE, *_NEAREST),
        ("jax",),
    ),
    Accepted(
        "Sums and products with infinite numbers or NaN are infinite or NaN, by their order.",
        ("ragged_dot_general", "conv_transpose", "hessenberg", "householder_product", "ormqr",
         "triangular_solve", "tridiagonal", "convert_element_type", "reduce_max", "cummax"),
        (*_NOT_FINITE, "empty"),
        ("jax",),
    ),
    Accepted(
        "Factors of singular matrices are not unique; Schur forms of NaN are an error of SciPy.",
        ("eigh", "svd", "qdwh", "hessenberg", "schur", "qr"),
        (*_NOT_FINITE, *_NEAREST, "empty"),
        ("jax",),
    ),
    Accepted(
        "Indices out of range are refused, where JAX clips them.",
        ("index_take", "lu_pivots_to_permutation"),
        ("reversed",),
        ("jax",),
    ),
    Accepted(
        "Sums and products with infinite numbers or NaN, or beyond the largest number, by their order.",
        ("_softmax_backward_data", "fft.hfft", "fft.hfftn", "fft.irfft", "fft.irfftn",
         "linalg.householder_product", "linalg.multi_dot", "linalg.solve_triangular", "matrix_exp",
         "native_group_norm", "native_layer_norm", "nn.functional.bilinear", "ormqr", "std_mean", "stft",
         "triangular_solve", "var_mean", "linalg.vector_norm"),
        (*_NOT_FINITE, "large"),
        ("torch",),
    ),
    Accepted(
        "Factors of matrices that are singular, infinite or NaN, and numbers computed from them.",
        ("geqrf", "linalg.cholesky_ex", "linalg.cond", "linalg.inv_ex", "linalg.ldl_factor",
         "linalg.ldl_factor_ex", "linalg.lu", "linalg.lu_factor", "linalg.lu_factor_ex",
         "linalg.polar", "linalg.slogdet", "linalg.solve_ex", "lu"),
        (*_NOT_FINITE, *_NEAREST),
        ("torch",),
    ),
    Accepted(
        "An interpolation is a product with a matrix of weights: NaN and infinite numbers spread along "
        "their lines, as in JAX; PyTorch reads the neighbours alone.",
        ("_upsample_bilinear2d_aa", "nn.functional.interpolate", "nn.functional.upsample_bilinear"),
        _NOT_FINITE,
        ("torch",),
    ),
    Accepted(
        "Coordinates that are NaN or infinite: NaN here, 0 or an element at the border in PyTorch.",
        ("grid_sampler_2d", "grid_sampler_3d", "nn.functional.grid_sample"),
        _NOT_FINITE,
        ("torch",),
    ),
    Accepted(
        "Margins of NaN are NaN; PyTorch leaves them out.",
        ("nn.functional.multi_margin_loss", "nn.functional.multilabel_margin_loss"),
        _NOT_FINITE,
        ("torch",),
    ),
    Accepted(
        "Poles and limits: ±∞ at the poles and 0 at ∞, where PyTorch and SciPy have large numbers, or "
        "NaN.",
        ("polygamma", "special.bessel_j0", "special.bessel_j1", "special.bessel_y0",
         "special.bessel_y1", "special.airy_ai", "special.polygamma", "special.zeta"),
        (*_INFINITE, "ties", "large"),
        ("torch",),
    ),
    Accepted(
        "NaN among the numbers of which one is searched: equal here, larger than NaN in PyTorch.",
        ("bucketize", "mode", "searchsorted"),
        ("NaN",),
        ("torch",),
    ),
    Accepted(
        "No elements: PyTorch gives a value, or the array as it is, where we refuse.",
        ("linalg.cond", "linalg.pinv", "nn.functional.pixel_unshuffle"),
        ("empty",),
        ("torch",),
    ),
    Accepted(
        "TensorFlow's square root of −1 − 0i is i; C's is −i.",
        ("sqrt",),
        ("ties",),
        ("tensorflow", "keras"),
    ),
    Accepted(
        "Poles: −∞, ∞ or NaN here, as SciPy; NaN or 0 in TensorFlow.",
        ("digamma", "igamma", "polygamma"),
        _NEAREST,
        ("tensorflow",),
    ),
    Accepted(
        "Matrices that are singular: roots, logarithms, vectors of equal singular values.",
        ("matrix_square_root", "sqrtm", "logm", "svd", "eigh", "eig", "norm"),
        _NEAREST,
        ("tensorflow",),
    ),
    Accepted(
        "Boxes without an area, weights that are 0.",
        ("non_max_suppression_padded", "combined_non_max_suppression", "weighted_moments"),
        ("ties",),
        ("tensorflow",),
    ),
    Accepted(
        "No elements: TensorFlow's kernels give 0, or uninitialized numbers.",
        ("boolean_mask", "einsum", "map_fn", "reduce_mean", "lrn", "local_response_normalization",
         "depthwise_conv2d_backprop_filter", "compute_average_loss", "isotonic_regression", "diag",
         "diag_part", "logm", "pinv", "matrix_rank", "norm", "fft2d", "ifft2d", "fft3d", "ifft3d",
         "rfft3d", "irfft2d", "irfft3d", "mean", "nanmedian", "nanquantile", "nanpercentile",
         "bincount", "unique", "histogram", "multi_hot", "extract_sequences", "rfft"),
        ("empty",),
        ("tensorflow", "keras"),
    ),
    Accepted(
        "Keras counts no element in a bin of width 0, computes sinc in half precision, and orders "
        "beams of equal probability in its own way.",
        ("histogram", "sinc", "ctc_decode"),
        _NEAREST,
        ("keras",),
    ),
    Accepted(
        "Keras compares −0 and 0 as equal in places.", ("argmax", "argmin"), ("reversed",), ("keras",)
    ),
)  # fmt: skip


def unaccepted(op: str, variant: str, found: dict[str, str]) -> Iterator[str]:
    """The differences of a case that no row has."""
    for backend, text in found.items():
        if not any(row.holds(op, variant, backend, text) for row in ACCEPTED):
            yield f"{op}, {variant}, {backend}: {text}"
