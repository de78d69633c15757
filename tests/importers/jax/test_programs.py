"""Whole models and programs of JAX: outputs, gradients and state, against JAX."""

from __future__ import annotations

from typing import Any

import pytest

import nestarray as na
from tests.importers.jax.programs import functions, repositories
from tests.importers.jax.programs.models import MODELS

PROGRAMS = functions.PROGRAMS | repositories.PROGRAMS

FAST = (
    "ppo",
    "equilibrium",
    "beam-search",
    "flow",
    "message-passing",
    "kalman",
    "natural-gradient",
    "flash-attention",
    "sorted-experts",
)
FAST_MODELS = ("linen-unet", "nnx-decoder", "haiku-vq-vae", "equinox-classifier")

#: Programs without a gradient in JAX: loops of an unknown length, products of segments, tokens.
WITHOUT_GRADIENT = ("adaptive-ode", "message-passing", "sampled")


def _cases(names: Any, fast: tuple[str, ...]) -> list[Any]:
    return [
        pytest.param(
            name,
            backend,
            marks=[] if backend == "torch" and name in fast else [pytest.mark.full],
        )
        for name in names
        for backend in ("torch", "tensorflow", "numpy")
    ]


@pytest.mark.release("backend")
@pytest.mark.one_in(16)
@pytest.mark.parametrize(("name", "backend"), _cases(PROGRAMS, FAST))
def test_program(name: str, backend: str) -> None:
    function, *args = PROGRAMS[name]
    graph = na.trace_graph(function, *args, v="params")
    assert graph.v.leaves()
    report = graph.to_backend(backend).verify()
    assert report.ok, str(report)
    assert len(report.gradients) == (0 if name in WITHOUT_GRADIENT else len(graph.v.leaves()))


@pytest.mark.release
@pytest.mark.one_in(8)
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize(("name", "backend"), _cases(MODELS, FAST_MODELS))
def test_model(name: str, backend: str, train: bool) -> None:
    row = MODELS[name]
    source, args, kwargs = row.make(train)
    graph = na.trace_graph(source, *args, train=train, **kwargs)
    report = graph.to_backend(backend).verify()
    assert report.ok, str(report)
    assert len(report.gradients) == len(graph.v.leaves()), report.gradient_note
    assert len(report.state) == (row.state if train else row.eval_state)
