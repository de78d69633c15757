"""`Graph.export`: deployment files, which servers run without nestarray.

Each format is written by its framework's own exporter, from the native module. The file is then
loaded by its own runtime and compared with the graph, and moved to its path if both agree.
"""

from __future__ import annotations

import functools
import importlib
import os
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nestarray import backends, dtypes, lazy_imports, ops, tree
from nestarray.errors import (
    ArgumentError,
    ConversionError,
    NestarrayError,
    Refused,
    UnsupportedError,
)
from nestarray.errors.foreign import foreign
from nestarray.exporters.program import native_output
from nestarray.graph.derived import DerivedSource, inputs_of, traced_graph
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node, iter_nodes, map_nodes
from nestarray.graph.precision import HALF, calls_in, in_dtypes
from nestarray.graph.sizes import Sizes
from nestarray.proof.sampling import drawn_like
from nestarray.sizes import names_of, value_at
from nestarray.storage.atomic import replacing

#: The largest difference that is accepted, relative to the largest number of an output.
TOLERANCE = 1e-3
#: That of half precision, whose rounding errors may exceed it; a graph that overflows has no others.
_HALF_TOLERANCE = 1e-2
#: Errors of JAX and TensorFlow of code that reads an open size as a number.
_READS = {"ConcretizationTypeError", "OperatorNotAllowedInGraphError"}
#: The number of values of each open size at which a file is compared.
_COMPARED = 3


class Format(NamedTuple):
    """A file format.

    Attributes:
        suffix: of its files; empty for a directory.
        file: the file of this package with ``write_<name>`` and ``run_<name>``.
        packages: package → the extra that installs it.
    """

    suffix: str
    file: str
    packages: Mapping[str, str]


FORMATS = {
    "torch": Format(".pt2", "torch_files", {"torch": "torch"}),
    "aotinductor": Format(".pt2", "torch_files", {"torch": "torch"}),
    "onnx": Format(
        ".onnx",
        "torch_files",
        {"torch": "torch", "onnx": "onnx", "onnxscript": "onnx", "onnxruntime": "onnx"},
    ),
    "stablehlo": Format(".stablehlo", "jax_files", {"jax": "jax"}),
    "savedmodel": Format("", "tensorflow_files", {"tensorflow": "tensorflow"}),
    "tflite": Format(".tflite", "tensorflow_files", {"tensorflow": "tensorflow"}),
    "keras": Format(".keras", "tensorflow_files", {"keras": "keras"}),
}


class Example(NamedTuple):
    """Arguments of a graph in NumPy.

    Attributes:
        args, kwargs: as the source takes them.
        flat: name of an input → array.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    flat: dict[str, np.ndarray]

    def on(self, backend: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments on a backend."""
        return tree.map(
            lambda x: ops.to_backend(x, backend) if isinstance(x, np.ndarray) else x,
            (self.args, self.kwargs),
        )

    def redrawn(self, seed: int) -> Example:
        """Arguments of other values, of the same shapes and ranges."""
        generator = np.random.default_rng(seed)
        drawn = {id(x): drawn_like(x, generator) for x in self.flat.values()}
        flat = {name: drawn[id(x)] for name, x in self.flat.items()}
        args, kwargs = tree.map(lambda x: drawn.get(id(x), x), (self.args, self.kwargs))
        return Example(args, kwargs, flat)


class Exported(NamedTuple):
    """A file that was written.

    Attributes:
        path: of the file or the directory.
        format: a name of `FORMATS`.
        error: the largest difference between an output of the file and of the graph, relative to
            the largest number of the output.
    """

    path: Path
    format: str
    error: float


def export(graph: Graph, path: str | os.PathLike[str], *, format: str | None = None) -> Exported:
    """Write a deployment file, which runs without nestarray.

    ``.pt2`` (`torch.export`), ``.onnx`` (ONNX Runtime), ``.stablehlo`` (`jax.export`, with the
    derivative by the inputs), ``.tflite``, ``.keras``, or a directory for a SavedModel with the
    signature "serving_default". Each is written by the exporter of its framework and contains
    the variables. Symbolic sizes stay symbolic. The file is loaded in its own runtime and
    compared with the graph on random inputs: at the sizes of the example, and at two others if
    sizes are open. A file that accepts sizes which the graph excludes, and differs from the model
    there, is refused.

    Args:
        path: the file, or a directory for a SavedModel. An existing one is kept if the export fails.
        format: ``"torch"``, ``"aotinductor"`` (a ``.pt2`` of machine code for this kind of computer,
            which needs a C++ compiler), ``"onnx"``, ``"stablehlo"``, ``"tflite"``, ``"keras"`` or
            ``"savedmodel"``; None: by the suffix of `path`.

    Returns:
        an `Exported`: path, format and error.

    Raises:
        ArgumentError: the path is empty, the format unknown, or the graph trains or draws random numbers.
        MissingFrameworkError: a package that the format needs is not installed.
        MissingFileError: the parent directory does not exist.
        ConversionError: the framework's exporter failed, or the file computes other numbers, or
            fewer or more sizes than the graph.

    Example:
        >>> import tempfile, torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     exported = graph.export(f"{folder}/net.pt2")
        >>> exported.format, exported.error < 1e-6
        ('torch', True)
    """
    name = _format_of(Path(path), format)
    if graph.train or graph.needs_key:
        reason = "trains; export the graph of its evaluation mode"
        if not graph.train:
            reason = "draws random numbers; trace a source that takes them as an argument"
        raise ArgumentError(f"export: {graph.name}: the graph {reason}")
    for package, extra in FORMATS[name].packages.items():
        lazy_imports.optional(package, f"export: the format {name!r} needs", extra=extra)
    file = importlib.import_module(f"nestarray.exporters.{FORMATS[name].file}")
    example = example_of(graph)
    with replacing(Path(path), "export") as written:
        run = functools.partial(getattr(file, f"run_{name}"), written)
        with foreign(lambda error: f"export: {graph.name}: {_refusal(graph, name, error)}"):
            getattr(file, f"write_{name}")(graph, example, written)
            outputs = run(example)
        what = f"file of format {name!r}"
        accepted = accepted_error(graph, example, _wanted)
        compared = functools.partial(difference, "export", graph.name, what, accepted)
        error = compared(_wanted(graph, example), outputs)
        error = max(error, _error_at_other_sizes(graph, what, compared, run))
        _check_conditions(graph, name, compared, run)
    return Exported(Path(path), name, error)


def _wanted(graph: Graph, example: Example) -> dict[str, Any]:
    """The outputs of the graph."""
    args, kwargs = example.on(graph.backend)
    result = graph(*args, **kwargs)
    return named_outputs(result[0] if graph.returns_state else result)


def _error_at_other_sizes(
    graph: Graph,
    what: str,
    compared: Callable[[Mapping[str, Any], Mapping[str, np.ndarray]], float],
    run: Callable[[Example], Mapping[str, np.ndarray]],
) -> float:
    """The largest difference at other sizes than the example's; 0 if the graph has no others.

    Raises:
        ConversionError: the file fails at the other sizes, or its outputs differ.
    """

    def error_at(sizes: Mapping[str, int]) -> float:
        example = example_of(graph, sizes)
        try:
            with foreign():
                expected = _wanted(graph, example)
        except Refused:  # sizes that the trace did not exclude, such as of an index
            return 0.0
        return compared(expected, run(example))

    def fails(sizes: Mapping[str, int]) -> bool:
        try:
            with foreign():
                error_at(sizes)
        except Refused:  # by a runtime
            return True
        return False

    traced, *others = graph.sizes.choices(_COMPARED)
    alone = [sizes for name in traced for sizes in graph.sizes.choices(_COMPARED, [name])[1:]]
    worst = 0.0
    for sizes in others or alone:
        try:
            with foreign():
                worst = max(worst, error_at(sizes))
        except Refused as error:
            at_fault: dict[str, int] = {}  # the first value at which each size fails alone
            for tried in [other for other in alone if fails(other)] or [sizes]:
                changed = {n: m for n, m in tried.items() if m != traced[n]}
                at_fault |= changed | at_fault
            reason = _reason(error).removeprefix(f"export: {graph.name}: ")
            computed = ", ".join(f"{name} = {traced[name]}" for name in at_fault)
            failing = ", ".join(f"{n} = {m} ({_place(graph, n)})" for n, m in at_fault.items())
            raise ConversionError(
                f"export: {graph.name}: the {what} computes the sizes of the example ({computed}), "
                f"but not {failing}: {reason}; choose another format, or leave "
                f"{', '.join(at_fault)} out of dynamic="
            ) from error
    return worst


#: Formats whose files read beyond their arrays at sizes that they do not expect.
_UNCHECKED = ("aotinductor",)


def _check_conditions(
    graph: Graph, name: str, compared: Callable[..., float], run: Callable[[Example], Any]
) -> None:
    """Raise an error if a file accepts sizes that the conditions of the graph exclude.

    Where the model itself refuses these sizes, or has the same numbers, nothing is wrong.

    Raises:
        ConversionError: the file has the numbers of another program.
    """
    if not graph.sizes.conditions:
        return
    model = functools.partial(_of_model, graph) if _can_call_model(graph) else None
    for condition in graph.sizes.conditions:
        for sizes in graph.sizes.violations(condition):
            if _is_refused_or_right(example_of(graph, sizes), name, model, compared, run):
                continue
            names = sorted(condition.names)
            accepted = ", ".join(f"{n} = {sizes[n]}" for n in names)
            raise ConversionError(
                f"export: {graph.name}: its program depends on {condition}, which a file of format "
                f"{name!r} does not check: it accepts {accepted} too; leave {', '.join(names)} out "
                "of dynamic=, or choose a format that checks, such as .pt2"
            )


def _is_refused_or_right(
    example: Example,
    name: str,
    model: Callable[[Example], Any] | None,
    compared: Callable[..., float],
    run: Callable[[Example], Any],
) -> bool:
    """Whether a file refuses an example, or the model does, or both have the same numbers."""
    try:
        with foreign():
            outputs = None if name in _UNCHECKED else run(example)
            expected = model(example) if model else None
    except Refused:  # by a runtime or a model
        return True
    if outputs is None:
        return False
    if not any(x.size for x in outputs.values()):  # too small a size
        return True
    try:
        return expected is not None and compared(expected, outputs) >= 0.0
    except ConversionError:  # they differ
        return False


def _can_call_model(graph: Graph) -> bool:
    """Whether the model that was traced can be called again."""
    try:
        with foreign():
            return _of_model(graph, example_of(graph)) is not None
    except Refused:  # by a model
        return False


def _of_model(graph: Graph, example: Example) -> dict[str, Any] | None:
    """The outputs of the model that was traced; None if the program is the model itself."""
    source = graph.reference
    if isinstance(source, DerivedSource):
        source, graph = source.traced()
    if source is None:
        return None
    free = Sizes(dict.fromkeys(graph.sizes.ranges, (0, None)), (), graph.sizes.example)
    args, kwargs = example.on(source.backend)
    original = source.original(graph.replace(sizes=free), args, kwargs, None)
    return None if original is None else named_outputs(original.output)


def _place(graph: Graph, name: str) -> str:
    """The first dimension of the inputs that has an open size."""
    for node in graph.inputs:
        for axis, size in enumerate(node.aval.shape if node.aval else ()):
            if name in names_of(size):
                return f"dimension {axis} of {node.name!r}"
    return "of no input"


def _format_of(path: Path, format: str | None) -> str:
    if format is not None and format not in FORMATS:
        raise ArgumentError(
            f"export: format: got {format!r}, expected {', '.join(map(repr, FORMATS))}"
        )
    if path == Path():
        raise ArgumentError(
            "export: path: got the working directory, expected a file, or a directory for a SavedModel"
        )
    if format == "keras" and path.suffix != ".keras":
        raise ArgumentError(
            f"export: {str(path)!r}: got the suffix {path.suffix!r}, expected '.keras', by which Keras "
            "knows its files"
        )
    found = format or next((n for n, f in FORMATS.items() if f.suffix == path.suffix), None)
    if found is None:
        suffixes = ", ".join(dict.fromkeys(f.suffix for f in FORMATS.values() if f.suffix))
        raise ArgumentError(
            f"export: {str(path)!r}: the suffix {path.suffix!r} names no format; expected {suffixes}, "
            "no suffix for a SavedModel, or format="
        )
    return found


def example_of(graph: Graph, sizes: Mapping[str, int] | None = None) -> Example:
    """Random arguments.

    Args:
        graph: the graph.
        sizes: the symbolic sizes; by default the traced sizes, but at least 2, because exporters
            specialize 0 and 1.
    """
    sizes = sizes or {name: max(2, n) for name, n in graph.sizes.example.items()}
    reference = graph.reference
    flat: dict[Node, Any] = {}
    generator = np.random.default_rng(0)
    for node in graph.inputs:
        if node.aval is None:
            raise ArgumentError(
                f"export: {graph.name}: the input {node.name!r} is of a dtype that files do not have"
            )
        shape = tuple([value_at(n, sizes) for n in node.aval.shape])
        flat[node] = _random(shape, node.aval.dtype, generator)
    if reference is not None:
        flat |= _given(graph, flat)
    args, kwargs = map_nodes(flat.__getitem__, taken(graph))
    return Example(tuple(args), dict(kwargs), {n.name: flat[n] for n in graph.inputs})


def taken(graph: Graph) -> tuple[Any, dict[str, Any]]:
    """The signature without the constants by keyword, which are part of the program."""
    args, kwargs = graph.signature
    return args, {
        name: nest for name, nest in kwargs.items() if any(True for _ in iter_nodes(nest))
    }


def _random(shape: tuple[int, ...], dtype: Any, generator: np.random.Generator) -> np.ndarray:
    """Normal numbers; zeros of integers, which may be indices, and of booleans."""
    native = backends.core("numpy").native_dtype(dtype)
    if not dtype.is_inexact:
        return np.zeros(shape, native)
    return generator.normal(size=shape).astype(native)


def _given(graph: Graph, flat: Mapping[Node, np.ndarray]) -> dict[Node, np.ndarray]:
    """The inputs of the example: those of the shapes asked for, and integers and booleans repeated.

    Floats of other shapes stay random, because repeated ones have ties. Ascending vectors, such as
    the offsets of bags, stay ascending.
    """
    reference = graph.reference
    assert reference is not None
    inputs = inputs_of(graph, traced_graph(graph).bind(reference.args, reference.kwargs))
    moved = [np.asarray(ops.to_backend(x, "numpy")) for x in inputs]
    pairs = zip(graph.inputs, moved, strict=True)
    return {
        node: _resized(x, flat[node].shape)
        for node, x in pairs
        if x.shape == flat[node].shape or x.dtype.kind in "biu"
    }


def _resized(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    repeated = np.resize(x, shape)
    return np.sort(repeated) if x.ndim == 1 and np.array_equal(x, np.sort(x)) else repeated


def named_outputs(output: Any, name: str = "output") -> dict[str, Any]:
    """Name → array: ``output``, or the keys of dicts and the numbers of tuples, joined by ``_``."""
    output = native_output(output)
    if isinstance(output, (list, tuple, dict)):
        items = output.items() if isinstance(output, dict) else enumerate(output)
        prefix = "" if name == "output" and isinstance(output, dict) else f"{name}_"
        parts = [named_outputs(x, f"{prefix}{key}") for key, x in items]
        return {key: x for part in parts for key, x in part.items()}
    return {name: output} if backends.is_array(output) else {}


def accepted_error(
    graph: Graph, example: Example, outputs: Callable[[Graph, Example], Mapping[str, Any]]
) -> float:
    """The largest difference that is accepted, relative to the largest number of an output.

    Two computations in half precision differ by the rounding errors of both: twice the graph's
    error, which is its difference from the graph in float32.

    Args:
        graph: the graph.
        example: its arguments.
        outputs: (graph, arguments) → name → output.
    """
    if not calls_in(graph, HALF):
        return TOLERANCE

    def widened(x: Any) -> Any:
        is_half = isinstance(x, np.ndarray) and dtypes.dtype_of(x) in HALF
        return x.astype(np.float32) if is_half else x

    exact = outputs(in_dtypes(graph, HALF), Example(*tree.map(widened, tuple(example))))
    rounded = outputs(graph, example)
    errors = [2 * _relative_error(exact[name], rounded[name]) for name in exact]
    return min(max([TOLERANCE, *errors]), _HALF_TOLERANCE)


def difference(
    op: str,
    graph: str,
    what: str,
    accepted: float,
    expected: Mapping[str, Any],
    outputs: Mapping[str, np.ndarray],
) -> float:
    """The largest difference between the outputs of a file and of the graph.

    Args:
        op: the name of the function that wrote the file, for errors.
        graph: the name of the graph.
        what: the file, in words.
        accepted: the largest difference without an error.
        expected: the outputs of the graph, by `named_outputs`.
        outputs: of the file, by `named_outputs`.

    Raises:
        ConversionError: the outputs differ.
    """
    worst = 0.0
    if not {*expected} <= {*outputs}:  # some files also have the numbers among the outputs
        raise ConversionError(
            f"{op}: {graph}: the {what} has the outputs {sorted(outputs)}, the graph has "
            f"{sorted(expected)}"
        )
    for name, want in expected.items():
        got = np.asarray(outputs[name])
        if got.shape != tuple(want.shape):
            raise ConversionError(
                f"{op}: {graph}: {name}: the {what} has the shape {got.shape}, the graph "
                f"has {tuple(want.shape)}"
            )
        error = _relative_error(want, got)
        if not error <= accepted:
            raise ConversionError(
                f"{op}: {graph}: {name}: the {what} differs by {error:.1e} "
                f"(relative to the largest number), accepted is {accepted:.0e}"
            )
        worst = max(worst, error)
    return worst


def _relative_error(expected: Any, value: Any) -> float:
    """The largest difference, relative to the largest finite number of the first array."""
    want, got = [np.asarray(ops.to_backend(x, "numpy")) for x in (expected, value)]
    kind = complex if want.dtype.kind == "c" else float
    a, b = got.astype(kind), want.astype(kind)
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    largest = np.max(np.abs(b), where=np.isfinite(b), initial=0.0)
    if largest < np.finfo("float32").smallest_normal:  # compilers make zeros of such numbers
        largest = 1.0
    distance = np.abs(np.subtract(a, b, where=~equal, out=np.zeros_like(a))) / largest
    return float(np.max(distance, initial=0.0))


def _refusal(graph: Graph, name: str, error: Exception) -> str:
    """A failure of a framework's exporter: the call of the graph, the reason and the remedy."""
    reason = _reason(error)
    if any(isinstance(x, UnsupportedError) for x in _chain(error)):  # it has a remedy
        return f"the exporter of {name!r} failed: {reason}"
    frames = [frame for x in _chain(error) for frame in traceback.extract_tb(x.__traceback__)]
    lines = [f.line for f in frames if f.filename.startswith("<graph ") and f.line]
    call = lines[-1].partition(" = ")[2].partition("(")[0] if lines else ""
    place, remedy = f" at {call}" if call else "", "choose another format"
    if graph.sizes.ranges:
        sizes = ", ".join(graph.sizes.ranges)
        place += f" with the open sizes {sizes}"
        remedy = f"leave {sizes} out of dynamic=, or {remedy}"
        kinds = {type(x) for x in _chain(error)}
        is_ours = any(issubclass(kind, NestarrayError) for kind in kinds)
        is_left = call and not call.startswith("na.")  # `lower` leaves calls that read sizes
        if (is_left and not is_ours) or _READS & {kind.__name__ for kind in kinds}:
            reason = "its code reads an open size as a number"
    return f"the exporter of {name!r} failed{place}: {reason.rstrip('.')}; {remedy}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _reason(error: BaseException) -> str:
    """The first line of the first error of a chain."""
    *_, root = _chain(error)
    text = str(root).strip() or type(root).__name__
    return text.splitlines()[0]
