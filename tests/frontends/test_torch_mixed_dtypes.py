"""Functions of torch with arrays of several dtypes: the result's dtype and value are torch's.

Layers of mixed precision have inputs in half precision and parameters in float32. Each row is
computed with every pair of dtypes; what torch refuses, the frontend refuses.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
import nestarray.frontends.torch as frontend
from nestarray import tree

BACKENDS = ["numpy", "torch", "jax", "tensorflow"]

#: Name → a function of torch's namespace, an array (2, 4, 6), and vectors and matrices of weights.
ROWS: dict[str, Callable[[Any, Any, dict[str, Any]], Any]] = {
    "batch_norm": lambda F, x, p: F.batch_norm(x, p["c"], p["c"], p["c"], p["c"]),
    "batch_norm without weights": lambda F, x, p: F.batch_norm(x, p["c"], p["c"]),
    "batch_norm in training": lambda F, x, p: F.batch_norm(x, None, None, p["c"], p["c"], True),
    "layer_norm": lambda F, x, p: F.layer_norm(x, (6,), p["n"], p["n"]),
    "rms_norm": lambda F, x, p: F.rms_norm(x, (6,), p["n"]),
    "group_norm": lambda F, x, p: F.group_norm(x, 2, p["c"], p["c"]),
    "instance_norm": lambda F, x, p: F.instance_norm(x, None, None, p["c"], p["c"]),
    "instance_norm by statistics": lambda F, x, p: F.instance_norm(
        x, p["c"], p["c"], p["c"], p["c"], use_input_stats=False
    ),
    "local_response_norm": lambda F, x, p: F.local_response_norm(x, 2),
    "normalize": lambda F, x, p: F.normalize(x),
    "prelu": lambda F, x, p: F.prelu(x, p["c"]),
    "linear": lambda F, x, p: F.linear(x, p["mn"], p["m"]),
    "conv1d": lambda F, x, p: F.conv1d(x, p["mck"], p["m"]),
    "conv_transpose1d": lambda F, x, p: F.conv_transpose1d(x, p["cmk"], p["m"]),
    "bilinear": lambda F, x, p: F.bilinear(x, x, p["mnn"], p["m"]),
    "embedding": lambda F, x, p: F.embedding(_ids(x), p["cn"]),
    "embedding_bag": lambda F, x, p: F.embedding_bag(
        _ids(x), p["cn"], mode="sum", per_sample_weights=x[:, 0, :2]
    ),
    "attention with a mask": lambda F, x, p: F.scaled_dot_product_attention(x, x, x, p["cc"]),
    "attention of other values": lambda F, x, p: F.scaled_dot_product_attention(x, x, p["bcn"]),
    "cross_entropy": lambda F, x, p: F.cross_entropy(x[:, :, 0], _ids(x)[:, 0], p["c"]),
    "cross_entropy of probabilities": lambda F, x, p: F.cross_entropy(x, p["bcn"]),
    "nll_loss": lambda F, x, p: F.nll_loss(x[:, :, 0], _ids(x)[:, 0], p["c"]),
    "mse_loss": lambda F, x, p: F.mse_loss(x, p["bcn"]),
    "l1_loss": lambda F, x, p: F.l1_loss(x, p["bcn"]),
    "smooth_l1_loss": lambda F, x, p: F.smooth_l1_loss(x, p["bcn"]),
    "huber_loss": lambda F, x, p: F.huber_loss(x, p["bcn"]),
    "binary_cross_entropy": lambda F, x, p: F.binary_cross_entropy(x, p["bcn"]),
    "binary_cross_entropy_with_logits": lambda F, x, p: F.binary_cross_entropy_with_logits(
        x, p["bcn"], pos_weight=p["n"]
    ),
    "kl_div": lambda F, x, p: F.kl_div(x, p["bcn"], reduction="sum"),
    "poisson_nll_loss": lambda F, x, p: F.poisson_nll_loss(x, p["bcn"]),
    "gaussian_nll_loss": lambda F, x, p: F.gaussian_nll_loss(x, p["bcn"], p["bcn"]),
    "soft_margin_loss": lambda F, x, p: F.soft_margin_loss(x, p["bcn"]),
    "hinge_embedding_loss": lambda F, x, p: F.hinge_embedding_loss(x, p["bcn"]),
    "margin_ranking_loss": lambda F, x, p: F.margin_ranking_loss(x, p["bcn"], p["bcn"]),
    "cosine_embedding_loss": lambda F, x, p: F.cosine_embedding_loss(
        x[:, 0], p["bcn"][:, 0], p["b"]
    ),
    "triplet_margin_loss": lambda F, x, p: F.triplet_margin_loss(x, p["bcn"], p["bcn"] * 2),
    "multilabel_soft_margin_loss": lambda F, x, p: F.multilabel_soft_margin_loss(
        x[:, 0], p["bcn"][:, 0], p["n"]
    ),
    "cosine_similarity": lambda F, x, p: F.cosine_similarity(x, p["bcn"]),
    "pairwise_distance": lambda F, x, p: F.pairwise_distance(x, p["bcn"]),
    "grid_sample": lambda F, x, p: F.grid_sample(x[:, :, None], p["grid"], align_corners=False),
}
PAIRS = [
    ("bfloat16", "float32"), ("float16", "float32"), ("bfloat16", "bfloat16"),
    ("float16", "float16"), ("float32", "bfloat16"), ("bfloat16", "float16"),
]  # fmt: skip
SIZES = {"b": 2, "c": 4, "n": 6, "m": 3, "k": 2}


def _ids(x: Any) -> Any:
    return na.to_backend(torch.tensor([[0, 3], [1, 2]]), na.backend_of(x))


def _arrays(dtype: str, other: str) -> tuple[Any, dict[str, Any]]:
    rng = np.random.default_rng(0)
    names = ("b", "c", "n", "m", "mn", "cn", "cc", "mck", "cmk", "mnn", "bcn")

    def drawn(shape: tuple[int, ...], dtype: str) -> Any:
        return torch.tensor(rng.uniform(0.25, 0.75, shape)).to(getattr(torch, dtype))

    x = drawn((2, 4, 6), dtype)
    weights = {name: drawn(tuple(SIZES[k] for k in name), other) for name in names}
    return x, weights | {"grid": drawn((2, 1, 5, 2), other)}


def _torch(row: str, x: Any, weights: Any) -> Any:
    """torch's result, or None if it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dtypes without a fused kernel
        try:
            return ROWS[row](torch.nn.functional, x, weights)
        except (RuntimeError, ValueError):
            return None


@pytest.mark.parametrize("row", ROWS)
def test_dtypes_and_values_are_those_of_torch(row: str) -> None:
    for dtype, other in PAIRS:
        x, weights = _arrays(dtype, other)
        want = _torch(row, x, weights)
        for backend in BACKENDS:
            where = f"{row}({dtype}, {other}) on {backend}"
            arrays = tree.map(lambda leaf, b=backend: na.to_backend(leaf, b), (x, weights))
            if want is None:
                with pytest.raises((na.errors.NestarrayError, ValueError)):
                    pytest.fail(f"{where}: {ROWS[row](frontend.nn.functional, *arrays)}")
                continue
            got = ROWS[row](frontend.nn.functional, *arrays)
            assert na.dtype_of(got).name == str(want.dtype).removeprefix("torch."), where
            eps = max(torch.finfo(getattr(torch, each)).eps for each in (dtype, other))
            expected = want.double().numpy()
            error = np.abs(na.to_backend(na.astype(got, na.float32), "numpy") - expected).max()
            assert error <= 4 * eps * max(np.abs(expected).max(), 1), where


def test_the_error_names_the_argument_and_the_dtypes() -> None:
    x, weights = _arrays("float32", "bfloat16")
    text = "linear: weight: got bfloat16, expected float32 as input has"
    with pytest.raises(na.errors.DtypeError, match=text):
        frontend.nn.functional.linear(x, weights["mn"])
    text = (
        "layer_norm: weight, bias and statistics: got bfloat16 for an input of float32, expected one "
        "dtype for all: float32"
    )
    with pytest.raises(na.errors.DtypeError, match=text):
        frontend.nn.functional.layer_norm(x, (6,), weights["n"])


def test_autocast_casts_arguments_of_several_dtypes() -> None:
    x, weight = torch.ones(2, 3, dtype=torch.bfloat16), torch.ones(4, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (
            frontend.nn.functional.linear(x, weight).dtype
            is torch.nn.functional.linear(x, weight).dtype
        )
