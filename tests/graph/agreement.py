"""The module itself as the oracle: its outputs and its gradients by torch.autograd.

`Graph.verify` runs the exported program, which may have lost what the module does; this
runs the module.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

import nestarray as na

BACKENDS = ("numpy", "jax", "torch", "tensorflow")


def assert_agrees(
    source: Any,
    *args: Any,
    backends: tuple[str, ...] = BACKENDS,
    rtol: float = 1e-5,
    gradients: bool = True,
    parameters: Mapping[str, torch.Tensor] | None = None,
    graph: Any = None,
    **kwargs: Any,
) -> Any:
    """Trace `source`, and compare outputs and gradients with torch's own; the graph on torch.

    Args:
        source: a module, or a function of torch tensors.
        *args, **kwargs: its arguments.
        backends: where the graph runs.
        rtol: largest error relative to the largest magnitude of the array.
        gradients: compare gradients too, of a fixed projection of the outputs.
        parameters: the tensors behind the graph's parameters, by path, where these are not
            the names in the module.
        graph: of `source`, where it was traced with an example of other sizes.
    """
    graph = na.trace_graph(source, *args, **kwargs) if graph is None else graph
    original = source.eval() if isinstance(source, torch.nn.Module) else source
    if parameters is None:
        members = original.named_parameters() if isinstance(original, torch.nn.Module) else ()
        parameters = {name.replace(".", "/"): p for name, p in members}
    expected = original(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    want = leaves(expected)
    wanted = _gradients(want, parameters) if gradients else {}
    for backend in backends:
        moved = graph.to_backend(backend)
        given: tuple[Any, ...] = _moved(args, backend)
        named: dict[str, Any] = _moved(kwargs, backend)
        with na.use_backend(backend):
            found = leaves(moved(*given, **named))
            assert len(found) == len(want), (backend, len(found), len(want))
            for i, (a, b) in enumerate(zip(found, want, strict=True)):
                _assert_close(f"{backend}: output {i}", a, b, rtol)
            if not gradients:
                continue
            loss = lambda v: _projection(leaves(moved(*given, v=v, **named)), backend)  # noqa: E731, B023
            _, grads = na.execute_with_gradients(loss, moved.v)
            for path, g in wanted.items():
                _assert_close(f"{backend}: gradient of {path}", grads[path], g, 10 * rtol)
    return graph


def _gradients(outputs: list[Any], parameters: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    inexact = {k: p for k, p in parameters.items() if p.is_floating_point() or p.is_complex()}
    trained = {k: p for k, p in inexact.items() if p.requires_grad}
    loss = _projection(outputs, "torch")
    if not loss.requires_grad:
        return {k: torch.zeros_like(p) for k, p in trained.items()}
    found = torch.autograd.grad(loss, list(trained.values()), allow_unused=True)
    return {
        k: torch.zeros_like(p) if g is None else g
        for (k, p), g in zip(trained.items(), found, strict=True)
    }


def _projection(leaves: list[Any], backend: str) -> Any:
    rng = np.random.default_rng(0)
    total: Any = None
    for leaf in leaves:
        if not _is_array(leaf) or not na.dtypes.dtype_of(leaf).is_floating:
            continue
        weights = rng.standard_normal(tuple(leaf.shape)).astype("float32")
        term = na.sum(na.astype(leaf, na.float32) * na.to_backend(weights, backend))
        total = term if total is None else total + term
    assert total is not None, "no output is floating"
    return total


def _assert_close(what: str, got: Any, want: Any, rtol: float) -> None:
    if not isinstance(want, torch.Tensor):
        assert got == want, what
        return
    assert _is_array(got), what
    dtype, expected = na.dtypes.dtype_of(got), na.dtypes.dtype_of(want)
    narrowed = na.backend_of(got) == "jax" and expected is na.int64
    assert dtype is (na.int32 if narrowed else expected), (what, dtype, expected)
    a, b = host(got), host(want.detach())
    assert a.shape == b.shape, (what, a.shape, b.shape)
    finite = np.isfinite(b)
    np.testing.assert_array_equal(a[~finite], b[~finite], err_msg=what)
    error = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
    scale = float(np.abs(b[finite]).max(initial=0.0)) or 1.0
    assert error <= rtol * scale, f"{what}: {error / scale:.1e} relative"


def host(x: Any) -> np.ndarray:
    """`x` on the host, wide enough that differences are exact."""
    if isinstance(x, torch.Tensor):
        x = x.detach()
    dtype = na.dtypes.dtype_of(x)
    x = np.asarray(na.to_backend(na.astype(x, na.float32) if dtype.is_floating else x, "numpy"))
    return x.astype(np.complex128 if dtype.kind == "complex" else np.float64)


def _is_array(x: Any) -> bool:
    return type(x) not in (bool, int, float, complex, str, type(None))


def leaves(value: Any) -> list[Any]:
    """The arrays, numbers and None of an output, in the order of its parts."""
    if isinstance(value, (na.Container, Mapping)):
        return [x for item in dict(value).values() for x in leaves(item)]
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return [x for item in value for x in leaves(item)]
    if dataclasses.is_dataclass(value):
        return leaves({f.name: getattr(value, f.name) for f in dataclasses.fields(value)})
    return [value]


def _moved(nest: Any, backend: str) -> Any:
    if isinstance(nest, torch.Tensor):
        return na.to_backend(nest.detach(), backend)
    if isinstance(nest, Mapping):
        return {k: _moved(x, backend) for k, x in nest.items()}
    if hasattr(nest, "_fields"):
        return type(nest)(*[_moved(x, backend) for x in nest])
    if isinstance(nest, (list, tuple)):
        return type(nest)([_moved(x, backend) for x in nest])
    return nest
