"""``vmap`` rules of convolutions, pooling, sorting and other operations, for open sizes.

torch implements these rules in C++ with the batch size as a constant. The rules of this file
replace them while a module is recorded.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch.utils._pytree import tree_map

from nestarray.errors import ConversionError
from nestarray.importers.torch.workarounds import embeddings
from nestarray.importers.workarounds import Workaround

#: Operations whose first axis can include the mapped axis, by number of spatial axes.
_BATCHED_OPERATIONS = {
    1: ("reflection_pad1d", "replication_pad1d", "col2im"),
    2: (
        "max_pool2d_with_indices",
        "avg_pool2d",
        "_adaptive_avg_pool2d",
        "adaptive_max_pool2d",
        "reflection_pad2d",
        "replication_pad2d",
        "im2col",
        "grid_sampler_2d",
        "pixel_shuffle",
        "pixel_unshuffle",
    ),
    3: ("avg_pool3d", "_adaptive_avg_pool3d", "max_pool3d_with_indices"),
}

#: Operations along an axis ``dim``, or along ``dim1`` and ``dim2``.
_ALONG = (
    *("gather", "scatter.src", "scatter.value", "scatter_add", "sort", "sort.stable", "topk"),
    *("glu_backward", "scatter_reduce.two", "select_scatter", "slice_scatter", "diagonal_scatter"),
)

#: Operations with a decomposition of torch into operations with rules.
_BY_PARTS = (
    *("index_select", "index_add", "index_copy", "take", "linalg_cross", "block_diag"),
    *("slice_backward", "diagonal_backward", "unfold_backward", "channel_shuffle"),
    *("max_unpool2d", "max_unpool3d", "affine_grid_generator", "native_batch_norm"),
    *("_native_batch_norm_legit.no_stats", "native_batch_norm_backward", "renorm"),
    *("multi_margin_loss", "_weight_norm_interface"),
)

#: Operations in place, computed by the functional operation and a copy.
_IN_PLACE = (
    *("clamp_", "clamp_.Tensor", "addcmul_", "addcdiv_", "lerp_.Scalar", "lerp_.Tensor"),
    *("scatter_.src", "scatter_.value", "scatter_add_", "index_add_", "index_copy_"),
    *("scatter_reduce_.two", "tril_", "triu_"),
)


@contextlib.contextmanager
def _own_rules(trace: Any) -> Iterator[None]:
    """Make ``vmap`` use the rules of this file."""
    from torch._functorch.autograd_function import custom_function_call_vmap_helper
    from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter

    def kernel(rule: Any, operation: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            interpreter: Any = retrieve_current_functorch_interpreter()
            of_operation = partial(rule, operation)
            return custom_function_call_vmap_helper(
                interpreter, of_operation, operation, *args, **kwargs
            )

        return call

    with torch.library._scoped_library("aten", "IMPL") as library:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about overridden kernels
            for name, rule in _rules().items():
                batched = kernel(rule, _operation(name))
                library.impl(name, batched, "FuncTorchBatched", allow_override=True)
            for name, written_out in _recorded_decompositions().items():
                library.impl(name, written_out, "FuncTorchBatched", allow_override=True)
            # torch decomposes this operation before it looks up a rule
            key = "FuncTorchBatchedDecomposition"
            library.impl("bilinear", _bilinear, key, allow_override=True)
        yield


def _operation(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def _recorded_decompositions() -> dict[str, Callable[..., Any]]:
    """Rules by composition of operations with rules."""
    from torch._decomp import decomposition_table

    def in_place(name: str) -> Callable[..., Any]:
        packet, dot, overload = name.partition(".")
        operation = _operation(packet.removesuffix("_") + dot + overload)
        return lambda x, *args, **kwargs: x.copy_(operation(x, *args, **kwargs))

    return {
        **{name: decomposition_table[_operation(name)] for name in _BY_PARTS},
        **{name: in_place(name) for name in _IN_PLACE},
        "put": _put,
        "_trilinear": _trilinear,
        "_scaled_dot_product_flash_attention_for_cpu": _attention,
        "_pdist_forward": _pair_distances,
        "_pdist_backward": _pair_distances_backward,
        "embedding_bag.padding_idx": embeddings.bags,
        "_embedding_bag": embeddings.bags,
        "_embedding_bag_forward_only": embeddings.bags,
        "_weight_norm_interface_backward": _weight_norm_backward,
        "masked_scatter": _masked_scatter,
        "masked_scatter_backward": _masked_scatter_backward,
        "bincount": _counts,
        "histc": _histogram,
        "histogram.bin_ct": _histogram_of_range,
        "histogram.bins_tensor": _histogram_between,
    }


def _rules() -> dict[str, Callable[..., Any]]:
    rules: dict[str, Callable[..., Any]] = {
        "convolution": _convolution,
        "convolution_backward": _convolution_backward,
        "cat": _cat,
        "gelu_backward": _elementwise,
        "embedding": _embedding,
        "embedding_dense_backward": _embedding_backward,
        "linalg_lu_solve": partial(_matrix_rule, (2, 1, 2)),
        "linalg_householder_product": partial(_matrix_rule, (2, 1)),
        "ormqr": partial(_matrix_rule, (2, 1, 2)),
        "linalg_lu": partial(_matrix_rule, (2,)),
        "_linalg_solve_ex": _solve,
        "new_empty_strided": _empty,
        **dict.fromkeys(_ALONG, _axis_rule),
    }
    for spatial, names in _BATCHED_OPERATIONS.items():
        for name in names:
            rule = partial(_merge_into_examples, spatial)
            rules[name] = rule
            if hasattr(torch.ops.aten, f"{name}_backward"):
                rules[f"{name}_backward"] = rule
    return rules


def batch_first(x: Any, dim: int | None, size: Any) -> Any:
    """`x` with the mapped axis first; an unmapped `x` is expanded."""
    return x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)


def _merge_into_examples(
    spatial: int, operation: Any, info: Any, dims: Any, *args: Any, **kwargs: Any
) -> Any:
    """Merge the mapped axis into the first axis."""
    rows: list[Any] = []

    def merged(x: Any, dim: int | None) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        x = batch_first(x, dim, info.batch_size)
        if x.ndim < spatial + 3:  # images without an axis of examples
            return x
        rows.append(x.shape[1])
        return x.flatten(0, 1)

    result = operation(*map(merged, args, dims), **kwargs)
    if rows:
        result = tree_map(lambda x: x.unflatten(0, (info.batch_size, rows[0])), result)
    return result, tree_map(lambda _: 0, result)


def _grouped(x: Any, dim: int | None, size: Any, axis: int) -> Any:
    """`x` with the mapped axis merged into `axis`."""
    return batch_first(x, dim, size).movedim(0, axis).flatten(axis, axis + 1)


def _convolution(
    operation: Any, info: Any, dims: Any, x: Any, weight: Any, bias: Any, *settings: Any
) -> Any:
    """Merge the mapped axis into the examples, or into groups if the weights are mapped."""
    size, (x_dim, weight_dim, bias_dim, *_) = info.batch_size, dims
    if weight_dim is None:
        x = batch_first(x, x_dim, size)
        y = operation(x.flatten(0, 1), weight, None, *settings)
        y, out = y.unflatten(0, (size, x.shape[1])), 0
    else:
        *others, groups = settings
        x, weight = _grouped(x, x_dim, size, 1), _grouped(weight, weight_dim, size, 0)
        y = operation(x, weight, None, *others, groups * size)
        y, out = y.unflatten(1, (size, y.shape[1] // size)), 1
    if bias is None:
        return y, out
    y = y.movedim(out, 0)
    ones = [1] * (y.ndim - 3)
    bias = batch_first(bias, bias_dim, size)
    return y + bias.reshape(bias.shape[0], 1, bias.shape[1], *ones), 0


def _convolution_backward(
    operation: Any,
    info: Any,
    dims: Any,
    grad: Any,
    x: Any,
    weight: Any,
    bias_sizes: Any,
    *settings: Any,
) -> Any:
    """Merge into the examples for the gradient of the input if the weights are not mapped, else into groups."""
    size, (grad_dim, x_dim, weight_dim, *_) = info.batch_size, dims
    *others, groups, (wants_x, wants_weight, wants_bias) = settings
    of_x = of_weight = of_bias = None
    grads = batch_first(grad, grad_dim, size)
    if wants_x and weight_dim is None:
        rows = grads.shape[1]
        inputs = batch_first(x, x_dim, size).flatten(0, 1)
        mask = [True, False, False]
        of_x = operation(grads.flatten(0, 1), inputs, weight, None, *others, groups, mask)[0]
        of_x = of_x.unflatten(0, (size, rows))
    if wants_weight or (wants_x and of_x is None):
        mask = [wants_x and of_x is None, wants_weight, False]
        of_groups, inputs = _grouped(grad, grad_dim, size, 1), _grouped(x, x_dim, size, 1)
        weights = _grouped(weight, weight_dim, size, 0)
        slopes = operation(of_groups, inputs, weights, None, *others, groups * size, mask)
        if mask[0]:
            of_x = slopes[0].unflatten(1, (size, slopes[0].shape[1] // size)).movedim(1, 0)
        if wants_weight:
            of_weight = slopes[1].unflatten(0, (size, slopes[1].shape[0] // size))
    if wants_bias:
        of_bias = grads.sum((1, *range(3, grads.ndim)))
    slopes = of_x, of_weight, of_bias
    return slopes, tuple(None if part is None else 0 for part in slopes)


def _elementwise(operation: Any, info: Any, dims: Any, *args: Any, **kwargs: Any) -> Any:
    operands = _aligned(info.batch_size, *((x, dim, 0) for x, dim in zip(args, dims, strict=False)))
    return operation(*operands, **kwargs), 0


def _cat(operation: Any, info: Any, dims: Any, tensors: Any, dim: int = 0) -> Any:
    placed = [batch_first(x, d, info.batch_size) for x, d in zip(tensors, dims[0], strict=True)]
    return operation(placed, dim if dim < 0 else dim + 1), 0


def _places(indices: Any, dim: int | None, size: Any, length: Any) -> Any:
    """`indices` into `size` concatenated tables of `length` rows."""
    indices = batch_first(indices, dim, size)
    starts = torch.arange(size, dtype=indices.dtype, device=indices.device) * length
    return indices + starts.reshape(-1, *[1] * (indices.ndim - 1))


def _embedding(
    operation: Any,
    info: Any,
    dims: Any,
    weight: Any,
    indices: Any,
    padding: int = -1,
    is_by_frequency: bool = False,
    sparse: bool = False,
) -> Any:
    weight_dim, indices_dim, *_ = dims
    if weight_dim is None:
        indices = indices.movedim(indices_dim, 0)
        return operation(weight, indices, padding, is_by_frequency, sparse), 0
    weight = weight.movedim(weight_dim, 0)
    count = weight.shape[1]
    if padding >= 0:  # in each table, but the operation has one padding index
        is_padding = torch.arange(count, device=weight.device).unsqueeze(-1) == padding
        weight = torch.where(is_padding, weight.detach(), weight)
    places = _places(indices, indices_dim, info.batch_size, count)
    return operation(weight.flatten(0, 1), places, -1, is_by_frequency), 0


def _embedding_backward(
    operation: Any,
    info: Any,
    dims: Any,
    grad: Any,
    indices: Any,
    count: Any,
    padding: Any,
    is_by_frequency: bool,
) -> Any:
    size, (grad_dim, indices_dim, *_) = info.batch_size, dims
    grad = batch_first(grad, grad_dim, size)
    is_padding = (batch_first(indices, indices_dim, size) == padding).unsqueeze(-1)
    grad = grad.masked_fill(is_padding, 0.0)
    places = _places(indices, indices_dim, size, count)
    slope = operation(grad, places, count * size, -1, is_by_frequency)
    return slope.unflatten(0, (size, count)), 0


def _aligned(size: Any, *arrays: tuple[Any, int | None, int]) -> list[Any]:
    """Put the mapped axis first and give all arrays the same number of batch axes.

    Args:
        size: length of the mapped axis.
        *given: (array, mapped axis, number of matrix axes)."""
    placed = [(batch_first(x, dim, size), rank) for x, dim, rank in arrays]
    most = max(x.ndim - rank for x, rank in placed)
    return [
        x.reshape(x.shape[0], *[1] * (most - x.ndim + rank), *x.shape[1:]) for x, rank in placed
    ]


def _matrix_rule(
    ranks: tuple[int, ...], operation: Any, info: Any, dims: Any, *args: Any, **settings: Any
) -> Any:
    """Rule for operations on matrices and vectors with leading batch axes."""
    count = len(ranks)
    operands = _aligned(info.batch_size, *zip(args[:count], dims[:count], ranks, strict=True))
    result = operation(*operands, *args[count:], **settings)
    return result, tree_map(lambda _: 0, result)


def _solve(operation: Any, info: Any, dims: Any, A: Any, B: Any, **settings: Any) -> Any:
    A, B = (batch_first(x, dim, info.batch_size) for x, dim in zip((A, B), dims, strict=False))
    is_vector = B.ndim == 2 or (A.ndim - 1 == B.ndim and A.shape[1:-1] == B.shape[1:])
    matrix = B.unsqueeze(-1) if is_vector else B
    result, *others = operation(*_aligned(info.batch_size, (A, 0, 2), (matrix, 0, 2)), **settings)
    return (result.squeeze(-1) if is_vector else result, *others), (0, 0, 0, 0)


def _axis_rule(operation: Any, info: Any, dims: Any, *args: Any, **kwargs: Any) -> Any:
    """Rule for operations along axes, which the mapped axis shifts by one."""
    arguments = operation._schema.arguments
    names = [argument.name for argument in arguments]
    mapped = dict(zip(names, dims, strict=False))
    values = {a.name: a.default_value for a in arguments if a.name.startswith("dim")}
    values |= dict(zip(names, args, strict=False)) | kwargs
    is_number = values["self"].ndim == 1
    for name, x in values.items():
        if isinstance(x, torch.Tensor):
            x = batch_first(x, mapped.get(name), info.batch_size)
            values[name] = x.unsqueeze(1) if is_number else x
        elif name in ("dim", "dim1", "dim2") and x >= 0:
            values[name] = x + 1
    result = operation(**values)
    result = tree_map(lambda x: x.squeeze(1), result) if is_number else result
    return result, tree_map(lambda _: 0, result)


def _empty(
    operation: Any, info: Any, dims: Any, x: Any, size: Any, stride: Any, **options: Any
) -> Any:
    """Put the mapped axis first, so that each part has the given strides."""
    span = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    return operation(x, (info.batch_size, *size), (span, *stride), **options), 0


def _counts(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    if minlength == 0:
        raise ConversionError(
            "trace_graph: torch.bincount under vmap: minlength: got 0, expected how many counts each "
            "row has; values would decide it"
        )
    if weights is None:
        weights = torch.ones_like(x, dtype=torch.int64)
    elif weights.dtype is not torch.float32:
        weights = weights.double()
    return weights.new_zeros(minlength).index_add(0, x.long(), weights)


def _ends(x: Any, low: float, high: float) -> tuple[Any, Any]:
    """The range of bins: the range of `x` if `low` equals `high`; extended if it is empty."""
    ends = (x.min(), x.max()) if low == high else (x.new_full((), end) for end in (low, high))
    first, last = ends
    is_point = first == last
    return torch.where(is_point, first - 1, first), torch.where(is_point, last + 1, last)


def _histogram(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    x = x.flatten()
    low, high = _ends(x, min, max)
    places = ((x - low) * bins / (high - low)).floor().clamp(0, bins - 1)
    is_inside = (x >= low) & (x <= high)
    counts = x.new_zeros(bins)
    return counts.index_add(0, torch.where(is_inside, places, 0).long(), is_inside.to(x.dtype))


def _histogram_of_range(
    x: Any, bins: int = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> tuple[Any, Any]:
    low, high = _ends(x, *(range or (0, 0)))
    places = torch.arange(bins + 1, dtype=x.dtype, device=x.device)
    step = (high - low) / bins
    is_low = places < (bins + 1) // 2  # linspace computes from both ends
    edges = torch.where(is_low, low + step * places, high - step * (bins - places))
    return _histogram_between(x, edges, weight=weight, density=density)


def _histogram_between(
    x: Any, edges: Any, *, weight: Any = None, density: bool = False
) -> tuple[Any, Any]:
    x, bins = x.flatten(), edges.shape[0] - 1
    weight = torch.ones_like(x) if weight is None else weight.flatten()
    places = ((x.unsqueeze(-1) >= edges).sum(-1) - 1).clamp(0, bins - 1)
    is_inside = (x >= edges[0]) & (x <= edges[-1])
    counts = x.new_zeros(bins).index_add(0, places, torch.where(is_inside, weight, 0.0))
    return (counts / counts.sum() / edges.diff() if density else counts), edges


def _weight_norm_backward(grad: Any, v: Any, g: Any, norms: Any, dim: int) -> tuple[Any, Any]:
    axes = [axis for axis in range(v.ndim) if axis != dim % v.ndim]
    of_norms = (grad * v).sum(axes, keepdim=True) / norms
    return g / norms * (grad - v * of_norms / norms), of_norms


def _places_of_true(mask: Any) -> Any:
    """The number of true elements before each element of a flat mask."""
    return mask.long().cumsum(0) - mask.long()


def _masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    x, mask = torch.broadcast_tensors(x, mask)
    source, flat = source.flatten(), mask.flatten()
    places = _places_of_true(flat).clamp(max=source.shape[0] - 1)
    return torch.where(flat, source.index_select(0, places), x.flatten()).reshape(x.shape)


def _masked_scatter_backward(grad: Any, mask: Any, sizes: Any) -> Any:
    grad, mask = grad.flatten(), mask.expand_as(grad).flatten()
    count = math.prod(sizes)
    slope = grad.new_zeros(count).index_add(
        0, _places_of_true(mask).clamp(max=count - 1), grad * mask
    )
    return slope.reshape(sizes)


def _put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    flat = x.flatten().index_put((index.flatten(),), source.flatten(), accumulate)
    return flat.reshape(x.shape)


def _trilinear(
    x1: Any,
    x2: Any,
    x3: Any,
    expand1: Any,
    expand2: Any,
    expand3: Any,
    sumdim: Any,
    unroll_dim: int = 1,
) -> Any:
    axes = range(x1.ndim + len(expand1))
    operands: list[Any] = []
    for x, missing in ((x1, expand1), (x2, expand2), (x3, expand3)):
        operands += [x, [axis for axis in axes if axis not in missing]]
    return torch.einsum(*operands, [axis for axis in axes if axis not in sumdim])


def _bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None) -> Any:
    y = torch.einsum("...i,oij,...j->...o", x1, weight, x2)
    return y if bias is None else y + bias


def _attention(
    query: Any,
    key: Any,
    value: Any,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **settings: Any,
) -> tuple[Any, Any]:
    mask = settings.pop("attn_mask", None)
    in_parts = torch.ops.aten._scaled_dot_product_attention_math
    result = in_parts(query, key, value, mask, dropout_p, is_causal, **settings)[0]
    return result, torch.empty_like(
        result[..., 0]
    )  # saved values for a derivative, which is recorded elsewhere


def _pairs(x: Any) -> tuple[Any, Any, Any]:
    """The indices of the rows of each pair, and the differences."""
    i, j = torch.triu_indices(len(x), len(x), 1, device=x.device)
    return i, j, x[i] - x[j]


def _pair_distances(x: Any, p: float = 2.0) -> Any:
    return torch.linalg.vector_norm(_pairs(x)[-1], p, -1)


def _pair_distances_backward(grad: Any, x: Any, p: float, distances: Any) -> Any:
    i, j, differences = _pairs(x)
    sizes, distances = differences.abs(), distances.unsqueeze(-1)
    is_maximum = p == float("inf")
    slopes = (sizes == distances).to(x.dtype) if is_maximum else (sizes / distances) ** (p - 1)
    is_flat = (differences == 0) | (p == 0)
    slopes = torch.where(is_flat, 0.0, differences.sign() * slopes) * grad.unsqueeze(-1)
    return torch.zeros_like(x).index_add(0, i, slopes).index_add(0, j, -slopes)


VMAP_RULES = Workaround(
    "rules for vmap",
    "rules for vmap are C++ code with the batch size as a constant, or absent",
    issue="pytorch#132381",
    context_names=(
        "torch.library._scoped_library",
        "torch._functorch.autograd_function.custom_function_call_vmap_helper",
        "torch._functorch.pyfunctorch.retrieve_current_functorch_interpreter",
        "torch._decomp.decomposition_table",
    ),
    context=_own_rules,
)
