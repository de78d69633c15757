"""Programs that compute with open sizes, in each format: a file that is right, or a clear refusal.

`Graph.export` compares a file with the graph at three values of each open size.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax import lax
from torch.nn import functional as F

import nestarray as na
from nestarray.errors import ConversionError
from nestarray.exporters.export import FORMATS

ROWS = torch.arange(10.0).reshape(2, 5) / 7
IMAGES = torch.rand(2, 2, 6, 8, generator=torch.Generator().manual_seed(0))
KERNEL = torch.linspace(-1.0, 1.0, 36).reshape(2, 2, 3, 3)
_BHW = "NHWC", "HWIO", "NHWC"

#: Programs of rows, `(b, n)`.
TORCH: dict[str, Callable[[torch.Tensor], Any]] = {
    "repeat": lambda x: torch.cat([torch.ones(1, 3).repeat(x.shape[0], 1), x], 1),
    "tile": lambda x: torch.tile(x, (x.shape[0], 2)),
    "expand": lambda x: torch.ones(1, 1).expand(x.shape[0], x.shape[1]) + x,
    "broadcast": lambda x: torch.broadcast_to(x[:1], x.shape),
    "pad": lambda x: F.pad(x, (0, x.shape[0])),
    "pad to 8": lambda x: F.pad(x, (0, 8 - x.shape[1])),
    "reflect": lambda x: F.pad(x[None], (2, 1), mode="reflect"),
    "mask": lambda x: x.masked_fill(~torch.ones(x.shape, dtype=torch.bool).tril(), -1.0),
    "triu": lambda x: torch.triu(torch.full((x.shape[1], x.shape[1]), -9.0), 1) + x[:1],
    "arange": lambda x: x + torch.arange(x.shape[1]),
    "every other": lambda x: x[:, ::2] + torch.arange(0, x.shape[1], 2),
    "one-hot": lambda x: F.one_hot(x.long(), 4),
    "eye": lambda x: torch.eye(x.shape[0], x.shape[1]) + x,
    "roll": lambda x: torch.roll(x, (x.shape[0], -1), (1, 0)),
    "flip": lambda x: x.flip(0, 1),
    "windows": lambda x: x.unfold(1, 3, 1),
    "repeat each": lambda x: x.repeat_interleave(2, 0),
    "repeat each n": lambda x: x[:1].repeat_interleave(x.shape[1], 0),
    "chunk": lambda x: torch.cat(x.chunk(2, 1)[::-1], 1),
    "narrow": lambda x: x.narrow(1, 1, x.shape[1] - 2),
    "reshape": lambda x: x.reshape(x.shape[0] * x.shape[1]),
    "unflatten": lambda x: x.repeat(1, 2).unflatten(1, (2, x.shape[1])),
    "new": lambda x: torch.cat([x.new_zeros(x.shape[0], 1), x, torch.full((x.shape[0], 2), 3.0)], 1),
    "meshgrid": lambda x: torch.stack(
        torch.meshgrid(torch.arange(x.shape[0]), torch.arange(x.shape[1]), indexing="ij")
    ) * x,
    "diagonal": torch.diag_embed,
}  # fmt: skip
#: Programs of images, `(b, 2, h, w)`.
TORCH_IMAGES: dict[str, Callable[[torch.Tensor], Any]] = {
    "max pool": lambda x: F.max_pool2d(x, 3, 2, 1),
    "max pool, ceil": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "average pool": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "same": lambda x: F.conv2d(x, KERNEL, padding="same"),
    "resize": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "resize to": lambda x: F.interpolate(x[:, :, :3, :3], size=x.shape[2:], mode="nearest"),
    "resize half": lambda x: F.interpolate(x, scale_factor=0.5, mode="nearest"),
    "patches": lambda x: F.unfold(x, 2, stride=2),
    "shuffle": lambda x: F.pixel_shuffle(x.repeat(1, 2, 1, 1), 2),
    "parts": lambda x: F.adaptive_avg_pool2d(x, (x.shape[2] // 2, 2)),
}
JAX: dict[str, Callable[[jax.Array], Any]] = {
    "tile": lambda x: jnp.tile(x, (x.shape[0], 2)),
    "repeat each": lambda x: jnp.repeat(x, 2, axis=1),
    "broadcast": lambda x: jnp.broadcast_to(x[:1], x.shape) + jnp.ones(x.shape),
    "pad": lambda x: jnp.pad(x, ((0, 0), (1, x.shape[0]))),
    "reflect": lambda x: jnp.pad(x, ((0, 0), (2, 1)), mode="reflect"),
    "mask": lambda x: jnp.where(jnp.tri(x.shape[1], dtype=bool)[None], x[:, None], -1.0),
    "arange": lambda x: x + jnp.arange(x.shape[1]),
    "linspace": lambda x: x * jnp.linspace(0, 1, x.shape[1]),
    "one-hot": lambda x: jax.nn.one_hot(x.astype("int32"), 4),
    "one-hot of n": lambda x: jax.nn.one_hot(jnp.arange(x.shape[0]), x.shape[1]) * x,
    "eye": lambda x: jnp.eye(x.shape[0], x.shape[1]) + x,
    "roll": lambda x: jnp.roll(x, 1, axis=1),
    "flip": lambda x: jnp.flip(x),
    "iota": lambda x: lax.broadcasted_iota(jnp.float32, x.shape, 1) * x,
    "reshape": lambda x: x.reshape(-1)[::2],
}
JAX_IMAGES: dict[str, Callable[[jax.Array], Any]] = {
    "max pool": lambda x: lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"
    ),
    "same": lambda x: lax.conv_general_dilated(
        x, KERNEL.permute(2, 3, 1, 0).numpy(), (2, 2), "SAME", dimension_numbers=_BHW
    ),
    "resize": lambda x: jax.image.resize(
        x, (x.shape[0], 2 * x.shape[1], x.shape[2], 2), "bilinear"
    ),
}
GROUPS: dict[str, tuple[dict[str, Any], Any, dict[int, str]]] = {
    "torch": (TORCH, ROWS, {0: "b", 1: "n"}),
    "torch, images": (TORCH_IMAGES, IMAGES, {0: "b", 2: "h", 3: "w"}),
    "jax": (JAX, jnp.asarray(ROWS.numpy()), {0: "b", 1: "n"}),
    "jax, images": (
        JAX_IMAGES,
        jnp.asarray(np.moveaxis(IMAGES.numpy(), 1, -1)),
        {0: "b", 1: "h", 2: "w"},
    ),
}
#: The six formats; ``aotinductor`` compiles the program of ``torch``.
SIX = [name for name in FORMATS if name != "aotinductor"]
#: Parts of errors that name an implementation instead of a reason.
INTERNAL = r"Aval|NoneType|_DimExpr|[Tt]racer|tf\.Tensor`|not iterable|a constant|is not defined"


def _exported(group: str, name: str, format: str, folder: Path) -> str:
    """Export a program; the error, if there is one."""
    programs, x, axes = GROUPS[group]
    graph = na.trace_graph(lambda x: programs[name](x), x, dynamic={"x": axes})
    try:
        result = graph.export(folder / f"net{FORMATS[format].suffix}", format=format)
    except ConversionError as error:
        return str(error)
    assert result.error < 1e-5
    return ""


@pytest.mark.parametrize(
    ("group", "name", "format"),
    [
        ("torch", "repeat", "stablehlo"),
        ("torch", "repeat", "savedmodel"),
        ("torch", "repeat", "tflite"),
        ("torch", "repeat", "keras"),
        ("torch, images", "patches", "savedmodel"),
    ],
)
def test_a_program_of_open_sizes_becomes_a_file(
    group: str, name: str, format: str, tmp_path: Path
) -> None:
    assert not _exported(group, name, format, tmp_path)


def test_code_that_reads_an_open_size_as_a_number_is_refused(tmp_path: Path) -> None:
    error = _exported("torch", "chunk", "savedmodel", tmp_path)
    assert re.search(
        r"'savedmodel' failed at torch\.chunk with the open sizes b, n: its code reads an open size "
        r"as a number; leave b, n out of dynamic=, or choose another format$", error
    )  # fmt: skip
    assert not [*tmp_path.iterdir()]


@pytest.mark.full
@pytest.mark.parametrize("format", SIX)
@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, row in GROUPS.items() for name in row[0]]
)
def test_a_file_is_right_or_refused_by_a_sentence(
    group: str, name: str, format: str, tmp_path: Path
) -> None:
    error = _exported(group, name, format, tmp_path)
    if error:
        assert not re.search(INTERNAL, error)
        assert not [*tmp_path.iterdir()]
