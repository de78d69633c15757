"""The importer of code over `na`: the recorder reads functions and `nestarray.nn.Module`s.

Code on JAX arrays that calls functions of JAX, or that needs a number where a size is open, is
traced by JAX instead. Only a run finds such calls: they may be in any function or attribute.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nestarray import backends, dtypes, random, tree
from nestarray.backends import is_array
from nestarray.config import use_backend
from nestarray.container import Container
from nestarray.errors import ArgumentError, ConversionError, NestarrayError
from nestarray.graph.builder import Place, plain
from nestarray.graph.execution import Override, Steps, identity, result_of, steps
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node, map_leaves
from nestarray.graph.record.abstract_recorder import AbstractRecorder, creations_recorded
from nestarray.graph.record.control_flow import ControlFlow
from nestarray.graph.record.native_calls import tensorflow_dispatched
from nestarray.graph.record.places import library_of, line_of, user_line
from nestarray.graph.record.recorder import Recorder, Traced, is_tensorflow_call
from nestarray.graph.sizes import Sizes
from nestarray.importers import protocol
from nestarray.importers.coverage import operations_in
from nestarray.importers.jax.selection import JaxImporter
from nestarray.importers.protocol import Imported, Request
from nestarray.importers.size_spec import SizeSpec, named_axes
from nestarray.nn.module import Module
from nestarray.proof.source import Loss, Result, call_gradients, differentiated
from nestarray.transforms.abstract import Scope, UndecidedSize
from nestarray.transforms.recording import recording


class PythonImporter(protocol.Importer):
    """Records functions over `na` and modules of nestarray, on any framework."""

    framework = "nestarray"

    def accepts(self, request: Request) -> bool:
        """Whether the source is a module of nestarray, or a function that may use `na`."""
        if isinstance(request.source, Module):
            return True
        return callable(request.source)

    def read(self, request: Request) -> Imported:
        """Run the code once, and record its calls of ops; see `Importer.read`."""
        source, kwargs, key = request.source, dict(request.kwargs), None
        if isinstance(source, Module):
            key = kwargs.pop("key", None) if request.train else None
        elif request.train:
            raise protocol.training_of_function()
        code = PythonSource(source, request.args, kwargs, train=request.train, key=key)
        try:
            graph = trace_python(code, request.guards, request.sizes)
        except _NotRecorded:
            if request.framework or code.backend != "jax":
                raise
            return JaxImporter().read(request)  # its functions take JAX's own traced values only
        places: dict[Node, str] = {call: str(Place(call.module, call.line)) for call in graph.calls}
        arrays = [(n.aval.dtype, places.get(n, "")) for n in graph.nodes if n.aval]
        return Imported(self.framework, graph.name, operations_in(graph), graph, arrays)


protocol.register(PythonImporter(), last=True)


class PythonSource:
    """A function over `na.*`, or a `nestarray.nn.Module`, and the arguments of the example."""

    def __init__(
        self,
        source: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        train: bool = False,
        key: Any = None,
    ) -> None:
        self.args, self.kwargs, self.train, self.key = args, kwargs, train, key
        self.source = source
        self.v = self.s = Container()
        #: the function whose parameters name the graph's arguments
        self.signed: Callable[..., Any] = source
        if isinstance(source, Module):
            self.v, self.s, self.signed = source.v, source.s, source.forward
            self.name = type(source).__name__
        else:
            self.name = getattr(source, "__name__", type(source).__name__)
        if any(isinstance(x, np.ma.MaskedArray) for x in tree.flatten((args, kwargs))[0]):
            raise ArgumentError(
                f"trace_graph: {self.name}: got a masked array, which no other framework has; pass "
                "x.filled(value) and, if the code needs it, the mask as a second array"
            )
        backend = backends.find_backend((args, kwargs, self.v, self.s))
        if backend is None:
            raise ArgumentError(
                f"trace_graph: {self.name}: there is no array among the arguments; pass an "
                "example of each"
            )
        self.backend = backend
        if train and key is None:
            self.key = random.key(0, backend=backend)
        self.leaves, self.structure = tree.flatten((args, kwargs))

    def call(
        self, inputs: list[Any], v: Container, s: Container, key: Any
    ) -> tuple[Any, dict[str, Any]]:
        """(result, new state by path) of the code for flat inputs."""
        given = iter(inputs)
        leaves = [next(given) if backends.is_array(x) else x for x in self.leaves]
        args, kwargs = tree.unflatten(self.structure, leaves)
        with use_backend(self.backend):
            if not isinstance(self.source, Module):
                return self.source(*args, **kwargs), {}
            if not self.train:
                return self.source(*args, v=v, s=s, **kwargs), {}
            out, new = self.source(*args, v=v, s=s, train=True, key=key, **kwargs)
        return out, dict(new.flat_items())

    def steps(
        self,
        graph: Graph,
        inputs: list[Any],
        v: Container,
        s: Container,
        key: Any,
        override: Override = identity,
    ) -> Steps:
        """Run the graph call by call on the code's backend, and return the result of the code.

        The code has no calls whose values `override` could replace: then the graph's results
        are returned.
        """
        found = yield from steps(graph.replace(v=v, s=s), inputs, key, override)
        if override is not identity:
            return found
        output, state = self.call(inputs, v, s, key)
        return output, {path: state[path] for path in graph.state_updates}

    def result(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Loss | None,
        override: Override = identity,
    ) -> Result:
        """Run the code, and differentiate it; see `Source.result`."""

        def run(v: Container, inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
            return result_of(self.steps(graph, inputs, v, graph.s, key, override))

        if override is not identity:
            return differentiated(run, graph.v, inputs, loss)
        of_code = lambda v, inputs: self.call(inputs, v, graph.s, key)  # noqa: E731
        output, state, gradients = differentiated(of_code, graph.v, inputs, loss)
        return Result(output, {path: state[path] for path in graph.state_updates}, gradients)

    call_gradients = staticmethod(call_gradients)

    def original(
        self, graph: Graph, args: tuple[Any, ...], kwargs: dict[str, Any], loss: Loss | None
    ) -> Result | None:
        """None: `steps` returns the result of the code itself."""
        return None


def trace_python(source: PythonSource, guards: str, sizes: SizeSpec) -> Graph:
    """The Graph of a function, or of a `nestarray.nn.Module`."""
    recorder, inputs = _recorder_of(source, guards, sizes)
    builder = recorder.builder
    nodes = [x._node if isinstance(x, Traced) else x for x in inputs]
    builder.sign(source.signed, *plain(tree.unflatten(source.structure, nodes)))

    def variables(kind: str, c: Container) -> Container:
        return c.map(lambda path, x: recorder.variable(kind, path, x), with_path=True)

    v, s = variables("v", source.v), variables("s", source.s)
    key = None if source.key is None else recorder.key(source.key)
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(recording(ControlFlow(recorder)))
            stack.enter_context(tensorflow_dispatched(is_tensorflow_call))
            if isinstance(recorder, AbstractRecorder):
                stack.enter_context(creations_recorded())
            result, state = source.call([x for x in inputs if isinstance(x, Traced)], v, s, key)
            output = map_leaves(lambda x: recorder.node_of(x, "output"), plain(result))
            new = {path: recorder.node_of(x, f"state {path!r}") for path, x in state.items()}
    except UndecidedSize as error:
        reason = str(error).removeprefix("lower: ")
        raise _NotRecorded(
            f"trace_graph: {source.name}: dynamic: {_line_of(error)}: {reason}; leave this size fixed"
        ) from error
    except TypeError as error:
        if any(name in str(error) for name in ("OpenSize", "RecordedSize")):
            raise _NotRecorded(
                f"trace_graph: {source.name}: dynamic: {_line_of(error)}: a function takes no open "
                "size; leave this size fixed"
            ) from error
        if not isinstance(error, NestarrayError) and "Traced" in str(error):
            raise _foreign_call(source, error) from error
        raise
    finally:
        recorder.is_open = False
    updates = {path: node for path, node in new.items() if node is not s[path]._node}
    fields = (
        {"sizes": Sizes.of_scope(recorder.scope)} if isinstance(recorder, AbstractRecorder) else {}
    )
    graph = recorder.finish(output, updates, source, v=source.v, s=source.s, **fields)
    return graph.replace(constants=graph.constants.to_backend(source.backend))


def _recorder_of(source: PythonSource, guards: str, sizes: SizeSpec) -> tuple[Recorder, list[Any]]:
    """The recorder, and the leaves of the example with traced arrays."""
    leaves = source.leaves
    if not sizes.is_asked:
        recorder = Recorder(source.name, source.backend, train=source.train, guards=guards)
        return recorder, [recorder.argument(x) if is_array(x) else x for x in leaves]
    axes = named_axes(sizes, "code over na", source.signed, source.args, source.kwargs)
    example = {
        name: int(x.shape[axis])
        for x, named in zip(leaves, axes, strict=True)
        for axis, name in named.items()
    }
    scope = Scope(dict.fromkeys(example, (1, None)), (), example, user_line)
    recorder = AbstractRecorder(source.name, scope, source.backend, train=source.train)
    return recorder, [
        _open_argument(recorder, x, named) if is_array(x) else x
        for x, named in zip(leaves, axes, strict=True)
    ]


def _open_argument(recorder: AbstractRecorder, x: Any, named: Mapping[int, str]) -> Traced:
    """An argument with names for some sizes."""
    dims: Any = tuple([named.get(i, int(n)) for i, n in enumerate(x.shape)])
    return recorder.given(recorder.builder.argument("x", Aval(dims, dtypes.dtype_of(x))))


def _line_of(error: Exception) -> str:
    return line_of([f for f, _ in traceback.walk_tb(error.__traceback__)][::-1])


class _NotRecorded(ConversionError):
    """Code hands a traced array, or an open size, to a function that does not take one."""


def _foreign_call(source: PythonSource, error: TypeError) -> _NotRecorded:
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__)][::-1]
    library = library_of(frames) or "another library"
    return _NotRecorded(
        f"trace_graph: {source.name}: {line_of(frames)}: a function of {library} "
        "was called on a traced array; use the function of na that does the same, that of "
        "nestarray.frontends (nestarray.frontends.jax.numpy.sin), or one of the framework of the arrays; "
        f"framework={source.backend!r} traces code over {source.backend} ({error})"
    )
