"""Layers of Flax, Haiku and Equinox: values, gradients, state and dropout, against the library."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import numpy as np
import pytest

import nestarray as na
from tests.importers.jax.layers import equinox, haiku, linen, nnx

LIBRARIES: dict[str, Any] = {"linen": linen, "nnx": nnx, "haiku": haiku, "equinox": equinox}

#: Rows of the fast tests, on PyTorch.
FAST = {
    "linen": ["ConvTranspose/circular", "BatchNorm/mask", "Dropout", "RNN", "scan/stacked"],
    "nnx": ["MultiHeadAttention/decode", "SpectralNorm", "Dropout", "LSTMCell", "scan/state"],
    "haiku": ["BatchNorm", "LSTM", "dropout", "SNParamsTree", "nets.VectorQuantizerEMA"],
    "equinox": ["MultiheadAttention/dropout", "StatefulLayer", "AdaptiveAvgPool2d", "Shared"],
}

#: Arguments of `trace_graph` that are variables.
VARIABLES = ("variables", "params", "state")


def _cases() -> list[Any]:
    return [
        pytest.param(
            library,
            name,
            backend,
            marks=[] if backend == "torch" and name in FAST[library] else [pytest.mark.full],
            id=f"{library}-{name}-{backend}",
        )
        for library, module in LIBRARIES.items()
        for name in module.TABLE
        for backend in ("torch", "tensorflow", "numpy")
    ]


@pytest.mark.one_in(48)
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize(("library", "name", "backend"), _cases())
def test_layer(library: str, name: str, backend: str, train: bool) -> None:
    check(LIBRARIES[library].TABLE[name], backend, train)


def check(row: Any, backend: str, train: bool) -> None:
    """Trace a row, run it on a backend and compare with the library."""
    call = row.make(train)
    graph = na.trace_graph(call.source, *call.args, train=train, **call.kwargs)
    inputs = [x for x in call.args if not isinstance(x, eqx.nn.State)]
    given = {name: x for name, x in call.kwargs.items() if name not in VARIABLES}
    if "key" in given:
        given["key_"] = given.pop("key")
    found = graph(*inputs, **given)
    want = jax.tree.leaves(call.direct())
    for x, y in zip(want, jax.tree.leaves(found[0] if graph.returns_state else found), strict=True):
        np.testing.assert_allclose(y, x, rtol=1e-4, atol=1e-5)
    report = graph.to_backend(backend).verify()
    assert report.ok, str(report)
    assert len(report.gradients) == len(graph.v.leaves()), report.gradient_note
    assert len(report.state) == (row.state if train else row.eval_state)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_public_layer_has_a_row(library: str) -> None:
    module = LIBRARIES[library]
    rows = {name.partition("/")[0] for name in module.TABLE}
    public = set(module.public())
    assert public - rows == set(module.WITHOUT)
    assert set(FAST[library]) <= set(module.TABLE)
