"""Arguments for operations of core ATen that graphs of evaluation do not have: backward passes,
embeddings by bag, spectra by their kind, and questions about memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Case = Callable[[Any], tuple[tuple[Any, ...], dict[str, Any]]]


def call(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments as written."""
    return args, kwargs


def _layer_norm_backward(d: Any) -> Any:
    x, weight, bias = d.f(2, 3, 4), d.f(4), d.f(4)
    _, mean, rstd = torch.ops.aten.native_layer_norm(x, [4], weight, bias, 1e-5)
    return call(d.f(2, 3, 4), x, [4], mean, rstd, weight, bias, [True, True, True])


def _group_norm_backward(d: Any) -> Any:
    x, weight = d.f(2, 6, 4), d.f(6)
    _, mean, rstd = torch.ops.aten.native_group_norm(x, weight, d.f(6), 2, 6, 4, 3, 1e-5)
    return call(d.f(2, 6, 4), x, mean, rstd, weight, 2, 6, 4, 3, [True, True, True])


def _max_pool_backward(d: Any) -> Any:
    x = d.f(2, 3, 6, 6)
    y, indices = torch.ops.aten.max_pool2d_with_indices(x, [3, 3], [2, 2], [1, 1])
    return call(d.f(*y.shape), x, [3, 3], [2, 2], [1, 1], [1, 1], False, indices)


def _max_pool3d_backward(d: Any) -> Any:
    x = d.f(2, 2, 4, 6, 6)
    settings = ([2, 3, 3], [2, 2, 2], [0, 1, 1], [1, 1, 1], False)
    y, indices = torch.ops.aten.max_pool3d_with_indices(x, *settings)
    return call(d.f(*y.shape), x, *settings, indices)


def _adaptive_max_pool_backward(d: Any, *size: int) -> Any:
    x = d.f(2, 3, *(2 * n + 1 for n in size))
    pool = getattr(torch.ops.aten, f"adaptive_max_pool{len(size)}d")
    y, indices = pool(x, list(size))
    return call(d.f(*y.shape), x, indices)


def _replication_pad_backward(spatial: int) -> Case:
    def case(d: Any) -> Any:
        padding = [1, 2, 0, 1, 2, 0][: 2 * spatial]
        x = d.f(2, 3, *(4, 3, 5)[:spatial])
        y = torch.nn.functional.pad(x, padding, mode="replicate")
        return call(d.f(*y.shape), x, padding)

    return case


def _weight_norm_backward(d: Any) -> Any:
    v, g = d.f(4, 3), d.f(4, 1)
    w, norms = torch.ops.aten._weight_norm_interface(v, g, 0)
    return call(d.f(*w.shape), v, g, norms, 0)


def _convolution_backward(transposed: bool) -> Case:
    def case(d: Any) -> Any:
        x, weight = d.f(2, 4, 6, 5), d.f(4, 2, 3, 2) if transposed else d.f(6, 2, 3, 2)
        settings = ([2, 1], [1, 0], [1, 1], transposed, [0, 0], 2)
        y = torch.ops.aten.convolution(x, weight, None, *settings)
        mask = [True, True, True]
        return call(d.f(*y.shape), x, weight, [y.shape[1]], *settings, mask)

    return case


def _output_of(function: Callable[..., torch.Tensor]) -> Case:
    return lambda d: call(d.f(3, 4), function(d.f(3, 4), 1), 1, torch.float32)


def _positive_definite(d: Any) -> Any:
    x = d.f(2, 3, 3)
    return call(x @ x.mT + torch.eye(3))


def _lu(d: Any) -> Any:
    return call(*torch.linalg.lu_factor(d.f(2, 3, 3)))


def _reflected(d: Any) -> Any:
    reflections, tau = torch.geqrf(d.f(4, 3))
    return call(reflections, tau, d.f(4, 2), transpose=True)


def _unpooled(dims: int) -> Case:
    def case(d: Any) -> Any:
        x = d.f(1, 2, *[6] * dims)
        pool = getattr(torch.nn.functional, f"max_pool{dims}d")
        y, indices = pool(x, 2, return_indices=True)
        windows = ([2] * dims, [0] * dims) if dims == 3 else ()
        return call(y, indices, [6] * dims, *windows)

    return case


def _symmetric(d: Any) -> Any:
    x = d.f(2, 3, 3)
    return call(x + x.mT, compute_v=False)


def _resized(*size: int, corners: bool | None = None) -> Case:
    """The cotangent of an image of 3 elements each way that has been resized."""
    dims = len(size)
    settings = [] if corners is None else [corners]

    def case(d: Any) -> Any:
        return call(d.f(1, 2, *size), list(size), [1, 2, *[3] * dims], *settings)

    return case


def _grid_sampled(dims: int) -> Case:
    def case(d: Any) -> Any:
        x, grid = d.f(1, 2, *[4] * dims), d.u(1, *[3] * dims, dims)
        return call(d.f(1, 2, *[3] * dims), x, grid, 0, 0, True, [True, True])

    return case


#: Operations whose arguments have other names than the public function's.
NAMED_OTHERWISE: dict[str, list[Case]] = {
    "aten.cholesky_solve.default": [lambda d: call(d.f(3, 2), d.p(3, 3).tril())],
    "aten.max_unpool2d.default": [_unpooled(2)],
    "aten.max_unpool3d.default": [_unpooled(3)],
    "aten.isin.Tensor_Scalar": [lambda d: call(d.i(0, 3, 4), 2)],
    "aten.isin.Scalar_Tensor": [lambda d: call(2, d.i(0, 3, 4), invert=True)],
    "aten.linalg_householder_product.default": [lambda d: call(*torch.geqrf(d.f(4, 3)))],
    "aten.ormqr.default": [_reflected],
    "aten.special_scaled_modified_bessel_k0.default": [lambda d: call(d.p(4))],
    "aten.special_legendre_polynomial_p.n_scalar": [lambda d: call(d.u(4), 3)],
    "aten.special_hermite_polynomial_h.default": [lambda d: call(d.u(4), d.i(0, 5, 4))],
}

#: Operations of several results, which the public function of the same name may not have.
SEVERAL: dict[str, list[Case]] = {
    "aten._fused_rms_norm.default": [
        lambda d: call(d.f(2, 3, 4), [3, 4], None, None),
        lambda d: call(d.f(2, 4).half(), [4], d.f(4).half(), 1e-3),
    ],
    "aten._unique.default": [lambda d: call(d.i(0, 4, 3, 2))],
    "aten._unique2.default": [
        lambda d: call(d.i(0, 4, 3, 2)),
        lambda d: call(d.f(5), True, True),
        lambda d: call(d.b(5), return_counts=True),
    ],
    "aten.adaptive_max_pool3d.default": [lambda d: call(d.f(2, 4, 5, 6), [2, 3, 2])],
    "aten.aminmax.default": [
        lambda d: call(d.f(2, 3)),
        lambda d: call(d.f(2, 3), dim=1, keepdim=True),
    ],
    "aten.cummax.default": [lambda d: call(d.f(4, 3), 0)],
    "aten.cummin.default": [lambda d: call(d.f(4, 3), 1)],
    "aten.frexp.Tensor": [lambda d: call(d.f(4, 3))],
    "aten.kthvalue.default": [lambda d: call(d.f(4, 3), 2, 0)],
    "aten.linalg_cholesky_ex.default": [_positive_definite],
    "aten.linalg_inv_ex.default": [lambda d: call(d.f(2, 3, 3))],
    "aten.linalg_lu.default": [lambda d: call(d.f(2, 3, 3))],
    "aten.linalg_lu_factor_ex.default": [lambda d: call(d.f(2, 3, 3))],
    "aten.lu_unpack.default": [_lu],
    "aten.max_pool3d_with_indices.default": [lambda d: call(d.f(2, 5, 6, 4), [2, 3, 2])],
    "aten.median.dim": [lambda d: call(d.f(4, 3), 0)],
    "aten.nanmedian.dim": [lambda d: call(d.f(4, 3), 1, True)],
    "aten.std_mean.default": [lambda d: call(d.f(4, 3), False)],
    "aten.std_mean.dim": [lambda d: call(d.f(4, 3), [0])],
    "aten.std_mean.correction": [lambda d: call(d.f(4, 3), [1], correction=0, keepdim=True)],
    "aten.triangular_solve.default": [lambda d: call(d.f(3, 2), d.p(3, 3).triu())],
    "aten.unique_consecutive.default": [
        lambda d: call(d.i(0, 2, 3, 4)),
        lambda d: call(d.i(0, 2, 9), True),
        lambda d: call(d.i(0, 2, 9), return_counts=True),
        lambda d: call(d.i(0, 2, 9, 1), dim=0),
    ],
    "aten.unique_dim.default": [lambda d: call(d.i(0, 2, 5, 2), 0)],
    "aten.unique_dim_consecutive.default": [lambda d: call(d.i(0, 2, 9, 1), 0)],
}


#: ``torch.linalg`` and resizing, as operations below autograd.
BELOW_AUTOGRAD: dict[str, list[Case]] = {
    "aten._linalg_eigh.default": [_symmetric],
    "aten._linalg_svd.default": [lambda d: call(d.f(2, 3, 4), False, False)],
    "aten._cdist_backward.default": [
        lambda d: call(d.f(2, 3, 5), x := d.f(2, 3, 4), y := d.f(2, 5, 4), 2.0, torch.cdist(x, y))
    ],
    "aten.upsample_linear1d_backward.default": [_resized(5, corners=True)],
    "aten.upsample_bilinear2d_backward.default": [
        _resized(5, 7, corners=False),
        lambda d: call(d.f(1, 2, 6, 7), [6, 7], [1, 2, 3, 3], False, 2.1, 2.5),
    ],
    "aten.upsample_trilinear3d_backward.default": [_resized(5, 4, 6, corners=False)],
    "aten.upsample_bicubic2d_backward.default": [_resized(5, 7, corners=True)],
    "aten.upsample_nearest2d_backward.default": [_resized(5, 7)],
    "aten._upsample_nearest_exact1d_backward.default": [_resized(5)],
    "aten._upsample_bilinear2d_aa_backward.default": [_resized(2, 2, corners=False)],
    "aten.grid_sampler_2d_backward.default": [_grid_sampled(2)],
    "aten.grid_sampler_3d_backward.default": [_grid_sampled(3)],
}


CORE: dict[str, list[Case]] = {
    **SEVERAL,
    **BELOW_AUTOGRAD,
    **NAMED_OTHERWISE,
    "aten.convolution_backward.default": [
        _convolution_backward(False),
        _convolution_backward(True),
    ],
    "aten.native_layer_norm_backward.default": [_layer_norm_backward],
    "aten.native_group_norm_backward.default": [_group_norm_backward],
    "aten.max_pool2d_with_indices_backward.default": [_max_pool_backward],
    "aten.avg_pool2d_backward.default": [
        lambda d: call(d.f(2, 3, 3, 3), d.f(2, 3, 6, 6), [2, 2], [2, 2], [0, 0], False, True, None),
        lambda d: call(d.f(2, 3, 4, 4), d.f(2, 3, 6, 6), [2, 2], [2, 2], [1, 1], False, False, 3),
    ],
    "aten._adaptive_avg_pool2d_backward.default": [
        lambda d: call(d.f(2, 3, 2, 3), d.f(2, 3, 5, 7))
    ],
    "aten.avg_pool3d_backward.default": [
        lambda d: call(
            d.f(2, 3, 2, 3, 3), d.f(2, 3, 4, 6, 6), [2] * 3, [], [0] * 3, False, True, None
        )
    ],
    "aten._adaptive_avg_pool3d_backward.default": [
        lambda d: call(d.f(2, 3, 2, 3, 1), d.f(2, 3, 5, 7, 3))
    ],
    "aten.max_pool3d_with_indices_backward.default": [_max_pool3d_backward],
    "aten.adaptive_max_pool2d_backward.default": [lambda d: _adaptive_max_pool_backward(d, 2, 3)],
    "aten.adaptive_max_pool3d_backward.default": [
        lambda d: _adaptive_max_pool_backward(d, 2, 3, 1)
    ],
    "aten.replication_pad1d_backward.default": [_replication_pad_backward(1)],
    "aten.replication_pad2d_backward.default": [_replication_pad_backward(2)],
    "aten.replication_pad3d_backward.default": [_replication_pad_backward(3)],
    "aten.hardshrink_backward.default": [lambda d: call(d.f(3, 4), d.f(3, 4), 0.5)],
    "aten.softshrink_backward.default": [lambda d: call(d.f(3, 4), d.f(3, 4), 0.5)],
    "aten._weight_norm_interface_backward.default": [_weight_norm_backward],
    "aten._pdist_backward.default": [
        lambda d: call(d.f(6), x := d.f(4, 3), 2.0, torch.nn.functional.pdist(x))
    ],
    "aten.embedding_dense_backward.default": [
        lambda d: call(d.f(2, 5, 3), d.i(0, 4, 2, 5), 4, 1, False),
        lambda d: call(d.f(2, 5, 3), d.i(0, 4, 2, 5), 4, -1, True),
    ],
    "aten._softmax_backward_data.default": [_output_of(torch.softmax)],
    "aten._log_softmax_backward_data.default": [_output_of(torch.log_softmax)],
    "aten.native_dropout_backward.default": [lambda d: call(d.f(3, 4), d.b(3, 4), 2.0)],
    "aten._cdist_forward.default": [lambda d: call(d.f(2, 3, 4), d.f(2, 5, 4), 1.0, None)],
    "aten._pdist_forward.default": [lambda d: call(d.f(4, 3), 2.0)],
    "aten._fft_r2c.default": [
        lambda d: call(d.f(3, 6), [1], 0, True),
        lambda d: call(d.f(3, 6), [0, 1], 2, False),
    ],
    "aten._fft_c2c.default": [
        lambda d: call(torch.complex(d.f(3, 4), d.f(3, 4)), [0, 1], 1, True),
        lambda d: call(torch.complex(d.f(3, 4), d.f(3, 4)), [1], 2, False),
    ],
    "aten._fft_c2r.default": [
        lambda d: call(torch.fft.rfft(d.f(3, 7)), [1], 2, 7),
        lambda d: call(torch.fft.rfft(d.f(3, 6)), [1], 0, 6),
    ],
    "aten.grid_sampler_3d.default": [
        lambda d: call(d.f(1, 2, 3, 4, 5), d.u(1, 2, 3, 2, 3), 0, 1, True)
    ],
    "aten.adaptive_max_pool1d.default": [lambda d: call(d.f(1, 3, 7), [3])],
    "aten.fractional_max_pool2d.default": [
        lambda d: call(d.f(2, 3, 7, 6), [2, 3], [3, 3], d.p(2, 3, 2) - 0.5),
        lambda d: call(d.f(1, 3, 7, 6), [2, 3], [3, 3], d.p(2, 3, 2) - 0.5),
    ],
    "aten.fractional_max_pool3d.default": [
        lambda d: call(d.f(2, 3, 7, 6, 5), [2, 3, 2], [3, 3, 2], d.p(2, 3, 3) - 0.5)
    ],
    "aten._local_scalar_dense.default": [lambda d: call(d.i(0, 9))],
    "aten.sym_numel.default": [lambda d: call(d.f(2, 3))],
    "aten.sym_stride.int": [lambda d: call(d.f(2, 3, 4), 0)],
    "aten.sym_stride.default": [lambda d: call(d.f(2, 3, 4))],
    "aten.sym_storage_offset.default": [lambda d: call(d.f(2, 3))],
    "aten.sym_is_contiguous.default": [lambda d: call(d.f(2, 3))],
}

CORE_RANDOM: dict[str, list[Case]] = {
    "aten.uniform.default": [lambda d: call(d.f(2, 3), -1.0, 2.0)],
    "aten.exponential.default": [lambda d: call(d.f(2, 3), 2.0)],
    "aten.cauchy.default": [lambda d: call(d.f(2, 3), 1.0, 2.0)],
    "aten.log_normal.default": [lambda d: call(d.f(2, 3), 0.0, 0.5)],
    "aten.poisson.default": [lambda d: call(d.p(2, 3))],
    "aten.geometric.default": [lambda d: call(d.i(0, 3, 2, 3), 0.3)],
    "aten.feature_alpha_dropout.default": [lambda d: call(d.f(2, 3, 4), 0.5, True)],
}
