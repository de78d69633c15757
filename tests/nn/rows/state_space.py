"""Rows of `nestarray.nn.state_space`."""

from __future__ import annotations

import torch

from nestarray import nn
from tests.nn.rows.row import Row


def mixer() -> torch.nn.Module:
    """The mixer of transformers, which computes without its kernels on a CPU."""
    from transformers import MambaConfig
    from transformers.models.mamba.modeling_mamba import MambaMixer

    config = MambaConfig(
        hidden_size=4, state_size=3, conv_kernel=3, expand=2, time_step_rank=2, num_hidden_layers=1
    )
    return MambaMixer(config, 0)


ROWS = [
    Row("S4D", lambda: nn.S4D(3, 4), None, ((2, 5, 3),)),
    Row("Mamba", lambda: nn.Mamba(4, 3, 3, dt_rank=2), mixer, ((2, 5, 4),)),
]
