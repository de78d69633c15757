"""The checks of each op that run after a failed call."""

from __future__ import annotations

from nestarray.backends.checks.arguments import Rule
from nestarray.backends.checks.positions import (
    check_along,
    check_bounds,
    check_classes,
    check_condition,
    check_images,
    check_index_numbers,
    check_indices,
    check_lengths,
    check_masks,
    check_part,
    check_positions,
    check_segments,
    check_sorter,
    check_updates,
    check_value,
)
from nestarray.backends.checks.shapes import (
    check_axes,
    check_axis,
    check_broadcast,
    check_broadcast_to,
    check_concatenated,
    check_contraction,
    check_einsum,
    check_elements,
    check_linear,
    check_matrices,
    check_moved,
    check_new_axis,
    check_pad,
    check_reshaped,
    check_right_side,
    check_rolled,
    check_side,
    check_square,
    check_squeezed,
    check_stacked,
    check_swapped,
    check_tensordot,
)
from nestarray.traits import Trait

_SQUARE = [
    "cholesky",
    "cho_solve",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "matrix_power",
    "slogdet",
    "sqrtm",
]


#: Op → its checks, in order; `check_axis` follows for all.
RULES: dict[str, tuple[Rule, ...]] = {
    **dict.fromkeys(_SQUARE, (check_square,)),
    "allclose": (check_broadcast,),
    **dict.fromkeys(
        (
            "argmax",
            "argmin",
            "max",
            "min",
            "median",
            "nanmax",
            "nanmin",
            "percentile",
            "ptp",
            "quantile",
        ),
        (check_elements,),
    ),
    **dict.fromkeys(("cross_entropy", "multi_margin_loss", "nll_loss"), (check_classes,)),
    **dict.fromkeys(("crop_and_resize", "roi_align"), (check_images,)),
    **dict.fromkeys(("gather_nd", "scatter_nd"), (check_indices, check_positions)),
    **dict.fromkeys(("embedding", "put_along_axis"), (check_indices, check_bounds)),
    **dict.fromkeys(("gather", "scatter"), (check_indices, check_part, check_bounds)),
    "index_add": (check_indices, check_axis, check_updates, check_bounds),
    "take_along_axis": (check_indices, check_axis, check_along, check_bounds),
    **dict.fromkeys(
        ("lu", "matrix_rank", "pinv", "qr", "svd", "svdvals", "tril", "triu"), (check_matrices,)
    ),
    "broadcast_to": (check_broadcast_to,),
    "concat": (check_concatenated,),
    "ctc_loss": (check_lengths,),
    "einsum": (check_einsum,),
    "expand_dims": (check_new_axis,),
    "getitem": (check_masks, check_index_numbers),
    "searchsorted": (check_side, check_sorter),
    "setitem": (check_masks, check_index_numbers, check_value),
    "linear": (check_linear,),
    "matmul": (check_contraction,),
    "moveaxis": (check_moved,),
    "pad": (check_pad,),
    "permute_dims": (check_axes,),
    "reshape": (check_reshaped,),
    "roll": (check_rolled,),
    "solve": (check_square, check_right_side),
    "squeeze": (check_squeezed,),
    "stack": (check_stacked,),
    "swapaxes": (check_swapped,),
    "tensordot": (check_tensordot,),
    "take": (check_axis, check_indices, check_bounds),
    "masked_fill": (check_condition,),
    "masked_select": (check_condition,),
    **dict.fromkeys(
        ("segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum"),
        (check_segments,),
    ),
    "where": (check_condition,),
}


#: Ops whose `axis` refers to the result; their own rule checks it.
_OWN_AXIS = frozenset(("expand_dims", "stack"))


def rules_of(name: str, traits: Trait) -> list[Rule]:
    """The checks of an op, in their order."""
    rules = list(RULES.get(name, ()))
    rules += [check_broadcast] if Trait.ELEMENTWISE in traits else []
    return rules if name in _OWN_AXIS else [*rules, check_axis]
