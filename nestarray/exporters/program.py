"""`Program`: a model as exporters take it.

It is a Graph for each behaviour, or an `nn.Module`. A native module takes its arrays from
`Variables`, holds them in its own way, and calls `run` with them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from nestarray import backends, dtypes, nn, ops, random, tree
from nestarray.config import use_backend
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.dtypes import DType
from nestarray.dynamo import compile_time_constant
from nestarray.errors import ArgumentError, ConversionError, DtypeError, Refused
from nestarray.errors.foreign import foreign
from nestarray.exporters.source.lowering.plain_calls import with_plain_calls
from nestarray.graph.graph import Graph, SourceNames
from nestarray.graph.node import Aval
from nestarray.graph.passes import training_passes
from nestarray.graph.passes.batch_norms import freeze_batch_norms
from nestarray.graph.precision import NARROW, in_dtypes
from nestarray.importers.check import obstacles
from nestarray.importers.module import GraphModule
from nestarray.interchange.flax import STREAMS
from nestarray.typing import Array


@dataclasses.dataclass(eq=False, repr=False)
class Variables:
    """The arrays of a model, with which its native modules begin.

    Attributes:
        backend: of the arrays.
        values: path → parameter or state.
    """

    backend: str
    values: Mapping[str, Array]

    def copied(self, path: str) -> Array:
        """A copy of a variable, for a module whose training step may donate it."""
        return backends.core(self.backend).copied(self.values[path])


@dataclasses.dataclass(eq=False, kw_only=True, repr=False)
class Program:
    """A model on one backend.

    Attributes:
        name: class name of the source.
        backend: of its arrays.
        v, s: path → parameter or state; its `Aval` in a program `without_arrays`.
        streams: path → aval of the graphs' state that is random streams of Flax NNX; each call
            begins them with its key.
        graphs: training (True) or evaluation (False) → Graph; empty for an `nn.Module`.
        module: the `nn.Module`, if `graphs` is empty.
        failure: the reason, if the training behaviour cannot be traced.
    """

    name: str
    backend: str
    v: dict[str, Any]
    s: dict[str, Any]
    streams: dict[str, Any] = dataclasses.field(default_factory=dict)
    graphs: dict[bool, Graph] = dataclasses.field(default_factory=dict)
    module: nn.Module | None = None
    failure: BaseException | None = None
    _frozen: dict[frozenset[str], Graph] = dataclasses.field(default_factory=dict, init=False)

    def __repr__(self) -> str:
        return f"Program({self.name}, {self.backend})"

    @property
    def source_names(self) -> SourceNames:
        """The names of variables in the files of the source."""
        return next((graph.source_names for graph in self.graphs.values()), SourceNames())

    def ready(self) -> Program:
        """The program with compiled graphs; torch.compile cannot trace `cached_property`."""
        for graph in self.graphs.values():
            _ = graph.needs_key, graph._guarded.function, graph.v.paths(), graph.s.paths()
        return self

    def graph(self, train: bool) -> Graph:
        """The graph of a behaviour; a single graph serves both.

        Raises:
            ConversionError: the training behaviour cannot be traced.
        """
        if train and self.failure is not None:
            raise ConversionError(
                f"{self.name}: its training mode is not available, its evaluation mode is: "
                f"{self.failure}"
            ) from self.failure
        return self.graphs.get(train) or next(iter(self.graphs.values()))

    def needs_key(self, train: bool) -> bool:
        """Whether `run` takes a key: the graph draws numbers; for an `nn.Module`, it trains."""
        if not self.graphs:
            return train
        graph = self.graph(train)
        return graph.needs_key or any(path in self.streams for path in graph.state_updates)

    def written(self, train: bool) -> Iterable[str]:
        """The paths that `run` may give new values."""
        return self.graph(train).state_updates if self.graphs else self.s

    @property
    def draws(self) -> bool:
        """Whether a behaviour draws random numbers, or may: an `nn.Module`."""
        return not self.graphs or any(map(self.needs_key, self.graphs))

    def run(
        self,
        train: bool,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        values: Mapping[str, Array],
        key: Any = None,
        frozen: frozenset[str] = frozenset(),
    ) -> tuple[Any, dict[str, Array]]:
        """The output, and new values of state and of overwritten parameters by path.

        Args:
            train: the behaviour.
            args, kwargs: as the source takes them.
            values: path → array, with the paths of `v` and `s`.
            key: a random key of nestarray, if `needs_key`.
            frozen: paths of variables that keep their values in training; graphs normalize there by
                the moving statistics.
        """
        if self.backend != "torch":  # other libraries take arrays of NumPy
            args, kwargs = tree.map(self._moved, (args, dict(kwargs)))
        if self.graphs:
            graph = self.frozen(frozen) if train and frozen else self.graph(train)
            held = {**values, **self._begun(key, values)} if self.streams else values
            v, s = _filled(graph.v, held), _filled(graph.s, held)
            settings = {"v": v, "s": s, "key": key}
            named = {f"{name}_" if name in settings else name: x for name, x in kwargs.items()}
            result = graph(*args, **settings, **named)
            returns_state = graph.returns_state
        else:
            assert self.module is not None
            v, s = _filled(self.module.v, values), _filled(self.module.s, values)
            result = self.module(*args, v=v, s=s, train=train, key=key, **kwargs)
            returns_state = train
        if not returns_state:
            return native_output(result), {}
        output, new = result
        changed = {
            p: x
            for p, x in new.flat_items()
            if p in values and x is not values[p] and p not in frozen
        }
        return native_output(output), changed

    def _begun(self, key: Any, values: Mapping[str, Array]) -> dict[str, Array]:
        """The random streams at the beginning of a call; zeros in one that draws no numbers."""
        begun, like = {}, next(iter(values.values()), None) if key is None else key
        with use_backend(self.backend):
            for i, (path, aval) in enumerate(self.streams.items()):
                if key is None or path.startswith("RngCount/"):
                    begun[path] = ops.zeros(aval.shape, dtype=aval.dtype, like=like)
                else:
                    begun[path] = random.bits(random.fold_in(key, i), aval.shape)
        return begun

    def _moved(self, x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        try:
            return ops.to_backend(x, self.backend)
        except DtypeError:  # JAX without x64 takes float64 as float32
            narrow = NARROW.get(dtypes.dtype_of(x))
            if narrow is None:
                raise
            return ops.to_backend(ops.astype(x, narrow), self.backend)

    def optimized(self) -> Program:
        """The program in ops and the layout of the backend, with the same parameters."""

        def of(graph: Graph) -> Graph:
            passes = training_passes(graph)
            if graph.backend == "torch":
                passes = (with_plain_calls, *passes)
            try:
                return graph.optimize(passes).replace(reference=None)
            except ConversionError:  # open sizes that fit no conditions, or a dtype of the source
                return graph

        return dataclasses.replace(self, graphs={t: of(graph) for t, graph in self.graphs.items()})

    def without_arrays(self) -> Program:
        """The program with shapes in place of parameters and state: native modules hold these.

        All modules of a graph share it; compilers compare it by identity.
        """
        shapes = {path: Aval(tuple(x.shape), dtypes.dtype_of(x)) for path, x in self.values.items()}
        return self._holding(shapes)

    @property
    def values(self) -> dict[str, Any]:
        """Path → parameter or state."""
        return self.v | self.s

    def _holding(self, values: Mapping[str, Any]) -> Program:
        """The program with other parameters and state."""
        module = self.module
        if module is not None:
            module = module.with_variables(_filled(module.v, values), _filled(module.s, values))
        return dataclasses.replace(
            self,
            v={path: values[path] for path in self.v},
            s={path: values[path] for path in self.s},
            graphs={
                train: graph.replace(
                    v=_filled(graph.v, values), s=_filled(graph.s, {**self.streams, **values})
                )
                for train, graph in self.graphs.items()
            },
            module=module,
        )

    @compile_time_constant
    def frozen(self, paths: frozenset[str]) -> Graph:
        """The training behaviour that normalizes among `paths` as in evaluation."""
        if len(self.graphs) < 2:
            return self.graph(True)
        if paths not in self._frozen:
            training = freeze_batch_norms(self.graph(True), self.graph(False), paths)
            self._frozen = {paths: training}
        return self._frozen[paths]

    def converted(
        self,
        values: Mapping[str, Array],
        fn: Callable[[Array], Array],
        changes: Mapping[DType, DType],
    ) -> Program:
        """The program with other arrays.

        Args:
            values: path → parameter or state.
            fn: applied to the constants of the graphs.
            changes: dtype of the graphs → its replacement.
        """

        def of(graph: Graph) -> Graph:
            moved = in_dtypes(graph, changes) if changes else graph
            return moved.replace(constants=moved.constants.map(fn))

        held = self._holding(values)
        return dataclasses.replace(held, graphs={t: of(g) for t, g in held.graphs.items()})


def program_of(model: Graph | nn.Module, backend: str, training: Graph | None = None) -> Program:
    """The program of a Graph or an `nn.Module`, with its variables copied to a backend.

    Args:
        model: the model.
        backend: on which the library of the exporter computes.
        training: the training behaviour of a Graph.

    Raises:
        ArgumentError: `training` does not belong to `model`.
        StructureError: `model` has no variables.
        ConversionError: the variables have shapes only, or the backend lacks a dtype or a call of
            a graph; lists all.
    """
    if isinstance(model, nn.Module) and not isinstance(model, GraphModule):
        if training is not None:
            raise ArgumentError(
                f"{type(model).__name__}: training: got a graph, expected None: an nn.Module has "
                "its own training behaviour"
            )
        moved = model.with_variables(model.v.to_backend(backend), model.s.to_backend(backend))
        v, s = dict(moved.v.flat_items()), dict(moved.s.flat_items())
        return Program(name=type(model).__name__, backend=backend, v=v, s=s, module=moved)
    failure = None
    if isinstance(model, GraphModule):
        try:
            with foreign():
                training = model.training_graph
        except Refused as error:  # by the code of the source
            failure = error.__cause__ or error
        model = model.graph
    elif training is not None:
        _check_training(model, training)
    if model.abstract:
        raise ConversionError(
            f"{model.name}: its variables have shapes only; set them first: graph.replace(v=v, s=s)"
        )
    graphs = {
        graph.train: graph.to_backend(backend).replace(reference=None)
        for graph in (model, training)
        if graph is not None
    }
    for train in (model.train, not model.train):
        problems = obstacles(graphs[train]) if train in graphs else []
        if problems:
            lacking = "\n".join(f"  {problem}" for problem in problems)
            raise ConversionError(
                f"{model.name} ({'train' if train else 'eval'}): {backend} lacks what this graph "
                f"needs:\n{lacking}"
            )
    v, s, streams = dict(graphs[model.train].v.flat_items()), {}, {}
    for graph in reversed(graphs.values()):  # the values of `model` count
        for path, x in graph.s.flat_items():
            if path.partition("/")[0] in STREAMS:
                streams[path] = Aval(tuple(x.shape), dtypes.dtype_of(x))
            else:
                s[path] = x
    return Program(
        name=model.name, backend=backend, v=v, s=s, streams=streams, graphs=graphs, failure=failure
    )


def _check_training(model: Graph, training: Graph) -> None:
    if model.train or not training.train:
        raise ArgumentError(
            f"{model.name}: training: got a graph with train={training.train} for a graph with "
            f"train={model.train}, expected train=True for one with train=False"
        )
    different = set(model.v.paths()) ^ set(training.v.paths())
    if different:
        raise ArgumentError(
            f"{model.name}: training: {min(different)!r} is a parameter of one graph only; trace "
            "both from the same model"
        )


def _filled(like: Container, values: Mapping[str, Any]) -> Container:
    return from_leaves(like.spec, tuple([values[path] for path in like.paths()]))


def native_output(output: Any) -> Any:
    """A nest with dicts in place of Containers."""
    if isinstance(output, Container):
        return output.to_dict()
    if isinstance(output, (list, tuple)):
        items = [native_output(item) for item in output]
        return type(output)(*items) if hasattr(output, "_fields") else type(output)(items)
    return output


def identifier(name: str) -> str:
    """A name that libraries take, of ``__call__``, ``<lambda>`` or Haiku's ``~``."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "value"
