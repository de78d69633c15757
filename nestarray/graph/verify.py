"""The proof of a conversion: the same inputs through source and graph, compared.

Outputs, new state, the gradient of a scalar loss with respect to every parameter, and
every node on the way. An error is relative to the largest magnitude of the array that
it stands in, which is what survives when small numbers are rounded in another order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nestarray import backends, dtypes, random
from nestarray.container import Container
from nestarray.errors import ConversionError, UnsupportedError
from nestarray.graph.graph import Graph, Node, map_nodes
from nestarray.transforms import execute_with_gradients

if TYPE_CHECKING:
    from nestarray.graph.reference import PythonReference, TorchReference

#: An error of so many units in the last place of the model's largest gradient is rounding,
#: in whichever leaf it stands: the gradient of a bias before a normalization is zero, and
#: what is computed for it is the rounding of a sum of large numbers.
NOISE_ULPS = 4

_FLOAT32_OUTPUT, _FLOAT32_GRADIENT = 1e-4, 1e-3
_FLOAT64_OUTPUT, _FLOAT64_GRADIENT = 1e-10, 1e-8


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How far one array is from the source's.

    Attributes:
        name: path of the output, parameter or node.
        error: largest absolute difference.
        scale: what the error is divided by, the largest magnitude in the source's array.
        tolerance: largest relative error that passes.
        where: module path and source line, for a node.
    """

    name: str
    error: float
    scale: float
    tolerance: float
    where: str = ""

    @property
    def relative(self) -> float:
        """The error relative to the scale; 0 for two equal arrays."""
        if self.error == 0:
            return 0.0
        return self.error / self.scale if self.scale else float("inf")

    @property
    def ok(self) -> bool:
        """Whether the error is within the tolerance."""
        return self.relative <= self.tolerance

    def __str__(self) -> str:
        mark = "ok  " if self.ok else "FAIL"
        text = f"{mark} {self.relative:.1e} relative ({self.error:.1e} absolute)  {self.name}"
        return f"{text}  ({self.where})" if self.where else text


@dataclasses.dataclass(frozen=True)
class Report:
    """What `Graph.verify` found.

    Attributes:
        name: class name of the source.
        backend: backend of the graph.
        train: whether the training behaviour was compared.
        outputs, state, gradients, nodes: a `Comparison` each.
        gradient_note: why there are no gradients, if there are none.
    """

    name: str
    backend: str
    train: bool
    outputs: list[Comparison]
    state: list[Comparison]
    gradients: list[Comparison]
    nodes: list[Comparison]
    gradient_note: str = ""

    @property
    def ok(self) -> bool:
        """Whether outputs, state and gradients all agree."""
        return all(c.ok for c in (*self.outputs, *self.state, *self.gradients))

    @property
    def first_divergence(self) -> Comparison | None:
        """The first node, in order of execution, that is over the tolerance."""
        return next((c for c in self.nodes if not c.ok), None)

    @property
    def output_error(self) -> float:
        """The largest relative error of an output or a state array."""
        return max((c.relative for c in (*self.outputs, *self.state)), default=0.0)

    @property
    def gradient_error(self) -> float | None:
        """The largest relative error of a gradient leaf; None if none were compared."""
        return max((c.relative for c in self.gradients), default=None)

    def raise_if_failed(self) -> Report:
        """The report itself, if everything agrees.

        Raises:
            ConversionError: something does not; the message is the report.
        """
        if not self.ok:
            raise ConversionError(str(self))
        return self

    def __str__(self) -> str:
        mode = "train" if self.train else "eval"
        lines = [f"{self.name} on {self.backend} ({mode}): {'agrees' if self.ok else 'DIFFERS'}"]
        for title, rows in (
            ("outputs", self.outputs),
            ("state", self.state),
            ("gradients", self.gradients),
        ):
            if rows:
                lines.append(_section(title, rows))
        if self.gradient_note:
            lines.append(f"  gradients: {self.gradient_note}")
        first = self.first_divergence
        if first is not None:
            lines.append(f"  first diverging node of {len(self.nodes)}: {first}")
        elif self.nodes:
            worst = max(self.nodes, key=lambda c: c.relative)
            lines.append(f"  nodes: {len(self.nodes)} agree, the largest error is {worst}")
        return "\n".join(lines)


def _section(title: str, rows: list[Comparison], most: int = 8) -> str:
    shown = sorted(rows, key=lambda c: -c.relative)[:most]
    failed = sum(not c.ok for c in rows)
    head = f"  {title}: {len(rows) - failed} of {len(rows)} agree"
    if len(rows) > most:
        head += f"; the {most} largest errors"
    return "\n".join([head, *(f"    {c}" for c in shown)])


def verify(
    graph: Graph,
    *args: Any,
    rtol: float | None = None,
    gradient_rtol: float | None = None,
    gradients: bool = True,
    key: Any = None,
    **kwargs: Any,
) -> Report:
    """Run the source and the graph on the same inputs and compare everything.

    Args:
        graph: a traced graph, on any backend.
        *args, **kwargs: inputs on the source's framework; the traced examples by default.
        rtol: largest relative error of outputs, state and nodes; by default 1e-4 for a
            model in float32 (1e-10 in float64).
        gradient_rtol: the same for gradients; by default 1e-3 (1e-8).
        gradients: compare the gradient of a fixed random projection of the outputs.
        key: random key of a graph that draws random numbers; `na.random.key(0)` by default.

    Returns:
        a `Report`: ``report.ok``, ``print(report)``, ``report.first_divergence``.

    Raises:
        ConversionError: the graph has lost its source (it was pickled).
    """
    source: TorchReference | PythonReference | None = graph.reference
    if source is None:
        raise ConversionError(
            f"verify: this graph of {graph.name} has no source to compare with; trace it again"
        )
    if not args and not kwargs:
        args, kwargs = source.args, source.kwargs
    original = graph.to_backend(source.backend)
    inputs = original.bind(args, kwargs)
    is_double = any(dtypes.dtype_of(x) is dtypes.float64 for x in (*inputs, *original.v.leaves()))
    rtol = rtol or (_FLOAT64_OUTPUT if is_double else _FLOAT32_OUTPUT)
    gradient_rtol = gradient_rtol or (_FLOAT64_GRADIENT if is_double else _FLOAT32_GRADIENT)

    if key is None and graph.needs_key:
        key = random.key(0, backend="numpy")
    theirs = _Side(original, inputs, _move(key, source.backend))
    ours = _Side(graph, [_move(x, graph.backend) for x in inputs], _move(key, graph.backend))
    outputs, state, nodes = _compare_values(source, theirs, ours, rtol)
    rows, note = [], ""
    if gradients and not graph.v.leaves():
        note = "there are no parameters"
    elif gradients:
        try:
            rows = _compare_gradients(source, theirs, ours, gradient_rtol)
        except UnsupportedError as error:
            note = str(error)
    return Report(graph.name, graph.backend, graph.train, outputs, state, rows, nodes, note)


class _Side(NamedTuple):
    """One side of the comparison: the graph on a backend, flat inputs and a key there."""

    graph: Graph
    inputs: list[Any]
    key: Any


def interpret(
    graph: Graph, inputs: list[Any], key: Any, on_node: Callable[[Node, Any], None]
) -> tuple[Any, dict[str, Any]]:
    """Run a graph node by node: (output nest, new state by path).

    Args:
        graph: the graph; its own variables are used.
        inputs: flat inputs.
        key: random key, or None.
        on_node: called with each call and its value.
    """
    containers = {"v": graph.v, "s": graph.s, "constants": graph.constants}
    values: dict[Node, Any] = dict(zip(graph.inputs, inputs, strict=True))
    for node in graph.nodes:
        if node.source == "key":
            values[node] = key
        elif node.kind == "input" and node.source != "x":
            values[node] = containers[node.source][node.path]
    with graph.running():
        for node in graph.calls:
            args, kwargs = map_nodes(values.__getitem__, [list(node.args), node.kwargs])
            if node.is_random:
                kwargs["key"] = random.fold_in(key, graph.random_numbers[node])
            assert node.target is not None
            values[node] = node.target(*args, **kwargs)
            on_node(node, values[node])
    state = {path: values[node] for path, node in graph.state_updates.items()}
    return map_nodes(values.__getitem__, graph.output), state


def _move(x: Any, backend: str) -> Any:
    from nestarray import ops

    return ops.to_backend(x, backend)


def _compare_values(
    source: TorchReference | PythonReference, theirs: _Side, ours: _Side, rtol: float
) -> tuple[list[Comparison], list[Comparison], list[Comparison]]:
    expected: dict[Node, np.ndarray] = {}
    rows: list[Comparison] = []

    def record(node: Node, value: Any) -> None:
        if node.aval is not None:
            expected[node] = _host(value)

    def check(node: Node, value: Any) -> None:
        if node in expected:
            rows.append(_compare(node.name, expected.pop(node), _host(value), rtol, _where(node)))

    original = theirs.graph
    want, want_state = source.run(
        original, theirs.inputs, original.v, original.s, theirs.key, record
    )
    got, got_state = interpret(ours.graph, ours.inputs, ours.key, check)
    outputs = [
        _compare(name, _host(a), _host(b), rtol)
        for (name, a), (_, b) in zip(_leaves(want), _leaves(got), strict=True)
        if _is_array(a)
    ]
    state = [
        _compare(path, _host(x), _host(got_state[path]), rtol) for path, x in want_state.items()
    ]
    return outputs, state, rows


def _where(node: Node) -> str:
    """The operation behind a node, its module and its line."""
    return " ".join(part for part in (node.origin, node.module, node.line) if part)


def _compare_gradients(
    source: TorchReference | PythonReference, theirs: _Side, ours: _Side, rtol: float
) -> list[Comparison]:
    expected = source.gradients(
        theirs.graph, theirs.inputs, theirs.key, lambda out: _projection(out, source.backend)
    )
    graph = ours.graph

    def loss_fn(v: Container) -> Any:
        with graph.running():
            out = graph.function(
                *ours.inputs, v=v, s=graph.s, constants=graph.constants, key=ours.key
            )
        return _projection(out[0] if graph.train else out, graph.backend)

    _, got = execute_with_gradients(loss_fn, graph.v)
    pairs = [
        (path, _host(g), _host(y))
        for path, g, y in zip(graph.v.paths(), expected, got.leaves(), strict=True)
        if g is not None
    ]
    largest = max((_magnitude(g) for _, g, _ in pairs), default=0.0)
    eps = max(float(np.finfo(g.dtype).eps) for _, g, _ in pairs)
    floor = NOISE_ULPS * eps * largest / rtol
    return [_compare(path, g, y, rtol, floor=floor) for path, g, y in pairs]


def _projection(output: Any, backend: str) -> Any:
    """A scalar that depends on every element of every floating output, with fixed weights."""
    from nestarray import ops

    total: Any = None
    rng = np.random.default_rng(0)
    for _, leaf in _leaves(output):
        if not _is_array(leaf) or not dtypes.dtype_of(leaf).is_floating:
            continue
        weights = rng.standard_normal(tuple(leaf.shape))
        weights = ops.astype(_move(weights.astype("float32"), backend), dtypes.dtype_of(leaf))
        term = ops.mean(leaf * weights)
        total = term if total is None else total + ops.astype(term, dtypes.dtype_of(total))
    if total is None:
        raise UnsupportedError("verify: no output is floating, so there is no gradient to compare")
    return total


def _leaves(nest: Any) -> list[tuple[str, Any]]:
    """(path, leaf) of an output, which may be a bare array or hold None and numbers."""
    c = nest if isinstance(nest, Container) else Container(nest)
    return [(name or "output", leaf) for name, leaf in c.flat_items()]


def _is_array(x: Any) -> bool:
    return backends.backend_of_type(type(x)) is not None


def _host(x: Any) -> np.ndarray:
    backend = backends.backend_of_type(type(x))
    if backend is None:
        return np.asarray(x)
    host = backends.core(backend).to_numpy(x)
    return host.astype(np.float64) if dtypes.dtype_of(x) is dtypes.bfloat16 else host


def _magnitude(x: np.ndarray) -> float:
    finite = np.abs(x[np.isfinite(x)]) if x.dtype.kind in "fc" else np.abs(x.astype(np.float64))
    return float(finite.max()) if finite.size else 0.0


def _compare(
    name: str, want: np.ndarray, got: np.ndarray, rtol: float, where: str = "", floor: float = 0.0
) -> Comparison:
    if want.shape != got.shape:
        return Comparison(
            f"{name}: shape {got.shape}, expected {want.shape}", float("inf"), 1.0, rtol, where
        )
    if want.dtype.kind not in "fc":
        differs = float(np.count_nonzero(want != got))
        return Comparison(name, differs, max(want.size, 1), 0.0, where)
    with np.errstate(all="ignore"):
        error = np.abs(want.astype(np.complex128 if want.dtype.kind == "c" else np.float64) - got)
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    error = np.where(same, 0.0, error)
    worst = float(error.max()) if error.size else 0.0
    worst = float("inf") if np.isnan(worst) else worst
    return Comparison(name, worst, max(_magnitude(want), floor), rtol, where)
