"""Rows of `nestarray.nn.parametrization`."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.utils import parametrizations

import nestarray as na
from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn


def reflected(layer: Any) -> Any:
    """torch's layer with a product of reflections, of which the diagonal has the signs."""
    layer = parametrizations.orthogonal(layer, "weight", "householder")
    with torch.no_grad():
        layer.parametrizations.weight.original.diagonal().mul_(1.5)
    return layer


ROWS = [
    Row(
        "weight_norm",
        lambda: nn.weight_norm(nn.Linear(3, 4)),
        lambda: parametrizations.weight_norm(T.Linear(3, 4)),
        ((5, 3),),
    ),
    Row(
        "weight_norm whole",
        lambda: nn.weight_norm(nn.Conv1d(2, 3, 2), dim=None),
        lambda: parametrizations.weight_norm(T.Conv1d(2, 3, 2), dim=None),
        ((2, 2, 5),),
    ),
    Row(
        "weight_norm of LSTM",
        lambda: nn.weight_norm(
            nn.weight_norm(nn.LSTM(2, 3), "weight_ih_l0"), "weight_hh_l0", dim=1
        ),
        None,
        ((4, 2, 2),),
    ),
    Row(
        "weight_norm inside",
        lambda: nn.weight_norm(
            nn.Sequential(nn.Linear(3, 4), nn.BatchNorm(4), na.tanh, nn.Dropout()), "0/weight"
        ),
        None,
        ((5, 3),),
        draws=True,
    ),
    Row(
        "spectral_norm",
        lambda: nn.spectral_norm(nn.Linear(3, 4), n_power_iterations=2),
        lambda: parametrizations.spectral_norm(T.Linear(3, 4), n_power_iterations=2),
        ((5, 3),),
    ),
    Row(
        "spectral_norm transposed",
        lambda: nn.spectral_norm(nn.ConvTranspose2d(2, 3, 2)),
        lambda: parametrizations.spectral_norm(T.ConvTranspose2d(2, 3, 2)),
        ((2, 2, 3, 3),),
    ),
    Row(
        "spectral_norm vector",
        lambda: nn.spectral_norm(nn.LayerNorm(3)),
        lambda: parametrizations.spectral_norm(T.LayerNorm(3)),
        ((5, 3),),
    ),
    Row(
        "orthogonal exponential",
        lambda: nn.orthogonal(nn.Linear(3, 3)),
        lambda: parametrizations.orthogonal(T.Linear(3, 3)),
        ((5, 3),),
    ),
    Row(
        "orthogonal cayley",
        lambda: nn.orthogonal(nn.Linear(3, 2), orthogonal_map="cayley", use_trivialization=False),
        lambda: parametrizations.orthogonal(
            T.Linear(3, 2), "weight", "cayley", use_trivialization=False
        ),
        ((5, 3),),
    ),
    Row(
        "orthogonal householder",
        lambda: nn.orthogonal(nn.Linear(2, 4)),
        lambda: reflected(T.Linear(2, 4)),
        ((5, 2),),
    ),
]
