"""Calls of JAX as calls of Keras and MLX: the source computes what the graph does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ConversionError
from tests.exporters.styles import needs_mlx

LANGUAGES = ["keras", pytest.param("mlx", marks=needs_mlx)]
ROWS = np.asarray([[0], [2]])

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "variance": lambda x: na.var(x, axis=1, correction=1),
    "deviation": lambda x: na.std(x, correction=1, keepdims=True),
    "along an axis": lambda x: na.take_along_axis(x[:2, :, 0], na.asarray(ROWS, like=x), axis=1),
    "order": lambda x: na.argsort(x, axis=1, descending=True),
    "pooling, channels first": lambda x: na.avg_pool1d(x[ROWS[:, 0]], kernel_size=2, padding=1),
    "negative steps": lambda x: x[:, ::-1, 1:],
    "write": lambda x: na.setitem(x, (slice(1, 3), 0), 2.0),
    "selection": lambda x: na.where(x > 0, x, na.clip(x, min=-0.5)),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, language: str, tmp_path: Path, rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 4, 5)).astype("float32")
    graph = na.trace_graph(PROGRAMS[name], x)
    assert graph.eject(tmp_path / "net", language).error < 1e-5


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_call_without_a_row_is_named(language: str, tmp_path: Path) -> None:
    graph = na.trace_graph(lambda x: na.svdvals(x), np.eye(3, dtype="float32"))
    with pytest.raises(
        ConversionError, match=r"calls jax\.\S*svd\S*\(float32\[3, 3\]\), for which"
    ):
        graph.eject(tmp_path / "net", language)
    assert not (tmp_path / "net").exists()
