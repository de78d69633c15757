"""Functions of SciPy in NumPy programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.signal
import scipy.special
from scipy.linalg import solve_triangular

import nestarray as na
from tests.arrays import host

pytestmark = pytest.mark.usefixtures("x64")
RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(4, 4)) + 4 * np.eye(4)
ROW = RNG.normal(size=8)


def _density(x: Any) -> Any:
    factor = scipy.linalg.cholesky(x @ x.T, lower=True, check_finite=False)
    half = solve_triangular(factor, np.ones(4), lower=True)
    return -0.5 * np.sum(half**2) - np.log(np.diag(factor)).sum()


def _spectrum(x: Any) -> Any:
    window = scipy.signal.get_window("hann", 8)  # of no array
    return np.abs(scipy.fft.rfft(x * window, workers=1)), scipy.fft.dct(x, norm="ortho")


PROGRAMS: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "special": (
        lambda x: scipy.special.expit(x) + scipy.special.gammaln(x**2 + 1) + scipy.special.erf(x),
        ROW,
    ),
    "softmax": (lambda x: scipy.special.softmax(x) * scipy.special.logsumexp(x), ROW),
    "density": (_density, MATRIX),
    "expm": (lambda x: scipy.linalg.expm(0.1 * x) + scipy.linalg.inv(x), MATRIX),
    "norm": (lambda x: scipy.linalg.norm(x) * scipy.linalg.det(x), MATRIX),
    "signal": (lambda x: scipy.signal.fftconvolve(x, x[:3], mode="same") + x, ROW),
    "spectrum": (_spectrum, ROW),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_functions_are_converted(name: str, backend: str) -> None:
    program, x = PROGRAMS[name]
    graph = na.trace_graph(program, x).to_backend(backend)
    graph.verify().raise_if_failed()
    found = graph(na.to_backend(x * 1.1, backend))
    for got, want in zip(na.tree.leaves(found), na.tree.leaves(program(x * 1.1)), strict=True):
        assert host(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(host(got), want, rtol=1e-9, atol=1e-12)
    assert scipy.linalg.cholesky.__module__.startswith("scipy")


def _islands(x: Any) -> Any:
    return scipy.signal.medfilt(x, 3) + scipy.special.airy(x)[0] + np.sin(x)


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
def test_other_functions_are_islands(backend: str) -> None:
    with pytest.raises(na.errors.ConversionError, match=r"test_scipy.py:\d+: scipy.signal.medfilt"):
        na.trace_graph(_islands, ROW)
    graph = na.trace_graph(_islands, ROW, islands=True).to_backend(backend)
    assert [n.target_name for n in graph.calls].count("na.graph.island") == 2
    graph.verify(gradients=False).raise_if_failed()
    x = na.to_backend(ROW * 2, backend)
    for run in (graph, graph.compile() if backend == "jax" else graph):
        np.testing.assert_allclose(host(run(x)), _islands(ROW * 2))
    with pytest.raises(na.errors.UnsupportedError, match=r"scipy.* has no derivative"):
        na.grad(lambda x: na.sum(graph(x)))(x)


def test_names_of_islands_are_of_scipy() -> None:
    with pytest.raises(na.errors.MissingOpError, match=r"SciPy has no function 'os.system'"):
        na.graph.island("os.system", ROW, framework="numpy")
