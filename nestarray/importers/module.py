"""A traced network as a layer: `to_module` makes an `nestarray.nn.Module` of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nestarray import dtypes, ops
from nestarray.backends import backend_of, backend_of_value, find_backend
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.errors import ConversionError
from nestarray.errors.text import counted
from nestarray.graph.graph import Graph, look_up
from nestarray.importers.protocol import NoTrainingMode
from nestarray.importers.tracing import trace_graph
from nestarray.nn.module import Module, Variable
from nestarray.proof.report import Report
from nestarray.typing import Array

if TYPE_CHECKING:
    from nestarray.exporters.export import Exported
    from nestarray.exporters.source.eject import Ejected
    from nestarray.graph.census import GraphReport
    from nestarray.graph.viewer.page import Page


class GraphModule(Module):
    """A model of another framework, with the conventions of `nestarray.nn.Module`.

    ``module.v`` and ``module.s`` are its parameters and its state; ``module(x, v=v)`` is a
    pure function; ``module(x, train=True, key=key)`` returns ``(out, s)``. It may stand
    among the layers of a larger model. `init` begins with the source's own values.
    """

    def __init__(
        self,
        graph: Graph,
        source: tuple[Any, tuple[Any, ...], dict[str, Any]],
        options: Mapping[str, Any],
        *,
        copy: bool = True,
    ) -> None:
        self._copies = copy
        if copy:
            graph = graph.to_backend(graph.backend)
        self._source: Any = source
        self._options = options  # of tracing, for the training behaviour too
        self._casts: Mapping[str, Any] = {}  # the arguments of `cast`, for it too
        # whether it trains, backend → the graph; filled when asked for
        self._graphs: dict[tuple[bool, str], Graph] = {(False, graph.backend): graph}
        self._v, self._s = graph.v, graph.s

    def variables(self) -> Mapping[str, Variable]:
        """The parameters of the source by path."""
        return _declared(next(iter(self._graphs.values())).v)

    def states(self) -> Mapping[str, Variable]:
        """The buffers of the source by path."""
        return _declared(next(iter(self._graphs.values())).s)

    @property
    def graph(self) -> Graph:
        """The evaluation behaviour, on the backend of the variables and with these."""
        return self._with_own(train=False)

    @property
    def training_graph(self) -> Graph:
        """The training behaviour; traced when first asked for. A function has one behaviour.

        Raises:
            ConversionError: torch cannot export the training behaviour, or the module was
                pickled before it was traced.
        """
        return self._with_own(train=True)

    def _with_own(self, *, train: bool) -> Graph:
        graph = self._graph(train, find_backend((self.v, self.s)))
        return graph.replace(v=self.v, s=self.s)

    def _graph(self, train: bool, backend: str | None) -> Graph:
        any_backend = next((g for (trains, _), g in self._graphs.items() if trains == train), None)
        if any_backend is None:
            any_backend = self._traced_in_training()
        backend = backend or any_backend.backend
        if (train, backend) not in self._graphs:
            self._graphs[train, backend] = any_backend.to_backend(backend, copy=None)
        return self._graphs[train, backend]

    def _traced_in_training(self) -> Graph:
        if self._source is None:
            raise ConversionError(
                "GraphModule: the training behaviour was not traced before this module was "
                "pickled; read module.training_graph once before pickling"
            )
        net, args, kwargs = self._source
        try:
            graph = trace_graph(net, *args, train=True, **self._options, **kwargs)
            graph = graph.cast(**self._casts) if self._casts else graph
        except NoTrainingMode:
            graph = next(iter(self._graphs.values()))
        if self._copies:
            constants = graph.constants.to_backend(graph.backend, copy=True)
            graph = graph.replace(constants=constants)
        self._graphs[True, graph.backend] = graph
        return graph

    def cast(
        self,
        *,
        compute: Any,
        params: Any = None,
        outputs: Any = None,
        keep: str | Sequence[str] = (),
    ) -> GraphModule:
        """The module that computes in half precision where that is safe; see `Graph.cast`.

        Args:
            compute, params, outputs, keep: of `Graph.cast`.

        Example:
            >>> import torch, nestarray as na
            >>> module = na.to_module(torch.nn.Linear(2, 3), torch.ones(4, 2))
            >>> half = module.cast(compute="bfloat16", outputs="bfloat16")
            >>> half(torch.ones(4, 2)).dtype, half.v["weight"].dtype
            (torch.bfloat16, torch.float32)
        """
        casts = {"compute": compute, "params": params, "outputs": outputs, "keep": keep}
        graph = self.graph.cast(**casts)
        new = self.__copy__()
        new._casts, new._v, new._s = casts, graph.v, graph.s
        new._graphs = {(False, graph.backend): graph}
        if any(trains for trains, _ in self._graphs):
            training = self.training_graph.cast(**casts)
            new._graphs[True, training.backend] = training
        return new

    def to_torch_state_dict(
        self, v: Container | None = None, s: Container | None = None
    ) -> dict[str, Any]:
        """The variables as the state dict of the torch module; see `Graph.to_torch_state_dict`."""
        return self.graph.to_torch_state_dict(v, s)

    def export(self, path: str | os.PathLike[str], *, format: str | None = None) -> Exported:
        """Write the evaluation behaviour as a file of a framework; see `Graph.export`."""
        return self.graph.export(path, format=format)

    def eject(
        self,
        folder: str | os.PathLike[str],
        target: str,
        *,
        style: str | None = None,
        overwrite: bool = False,
    ) -> Ejected:
        """Write the evaluation behaviour as source of a framework; see `Graph.eject`."""
        return self.graph.eject(folder, target, style=style, overwrite=overwrite)

    def report(self) -> GraphReport:
        """The calls of the evaluation behaviour; see `Graph.report`."""
        return self.graph.report()

    def show(self, path: str | os.PathLike[str] | None = None, *, open: bool = True) -> Page:
        """A page with the evaluation behaviour as boxes and edges; see `Graph.show`."""
        return self.graph.show(path, open=open)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The network, with the variables of the running call."""
        any_graph = next(iter(self._graphs.values()))
        leaves = (*self._gathered(any_graph.v), *self._gathered(any_graph.s))
        backend = next((backend_of_value(x) for x in leaves), None) or find_backend((args, kwargs))
        graph = self._graph(self.training, backend)
        v = from_leaves(graph.v.spec, self._gathered(graph.v))
        s = from_leaves(graph.s.spec, self._gathered(graph.s))
        key = self.key_for("its random operations") if graph.needs_key else None
        result = graph(*args, v=v, s=s, key=key, **kwargs)
        if not graph.returns_state:
            return result
        out, new = result
        self.update_state(**dict(new.flat_items()))
        return out

    def _prepare(self, train: bool) -> None:
        look_up(self._graph(train, "torch"))

    def _gathered(self, own: Container) -> tuple[Any, ...]:
        # by path: a variable may have the name of an attribute of this class
        return tuple([self._running(path) for path in own.paths()])

    def verify(self, *args: Any, train: bool = False, **kwargs: Any) -> Report:
        """Compare with the source; see `Graph.verify`.

        Args:
            *args, **kwargs: of `Graph.verify`.
            train: compare the training behaviour.

        Returns:
            a `Report`.
        """
        graph = self.training_graph if train else self.graph
        return graph.verify(*args, **kwargs)

    def __copy__(self) -> GraphModule:
        new = object.__new__(type(self))
        vars(new).update(super().__getstate__())  # with the source, which only pickling leaves out
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_source": None}

    def __repr__(self) -> str:
        any_graph = next(iter(self._graphs.values()))
        backend = find_backend((self.v, self.s)) or any_graph.backend
        return (
            f"GraphModule({any_graph.name}, {backend}: {counted(len(any_graph.calls), 'call')}, "
            f"{counted(len(self.v.leaves()), 'parameter')}, "
            f"{counted(len(self.s.leaves()), 'state array')})"
        )


def _declared(c: Container) -> dict[str, Variable]:
    return {
        path: Variable(tuple(leaf.shape), _Kept(leaf), dtypes.dtype_of(leaf))
        for path, leaf in c.flat_items()
    }


class _Kept:
    """The initializer that gives a value that there is already."""

    def __init__(self, value: Array) -> None:
        self._value = value

    def __call__(self, key: Array, shape: Any, dtype: Any = None) -> Array:
        """The value, on the backend of `key`."""
        return ops.to_backend(self._value, backend_of(key))


def to_module(
    net: Any,
    /,
    *args: Any,
    dynamic: Any = None,
    islands: bool = False,
    float64: str | None = None,
    copy: bool = True,
    framework: str | None = None,
    **kwargs: Any,
) -> GraphModule:
    """Turn a model into an `nestarray.nn.Module` that any backend runs and trains.

    Args:
        net: a model that `nestarray.trace_graph` reads; it is not changed.
        *args, **kwargs: example inputs, as `nestarray.trace_graph` takes them.
        dynamic: the sizes that may change from call to call; see `nestarray.trace_graph`.
        islands: run operations that are not known in torch; see `nestarray.trace_graph`.
        float64: ``"float32"`` computes float64 in float32; see `nestarray.graph.Graph.to_backend`.
        copy: False shares the memory of the variables with `net`, so that training one in place
            changes the other.
        framework: whose functions a function calls; see `nestarray.trace_graph`.

    Returns:
        a module on torch, with ``.v``, ``.s`` and ``.to_backend("jax")``. The training
        behaviour is traced when it is first called. In evaluation its calls return the output
        alone; ``module.graph(x)`` also returns the new values of buffers.

    Raises:
        ArgumentError: `net` has another type or does not accept the example.
        ConversionError: the model cannot be traced, or it is on the meta device.
        MissingOpError: the module uses operations without a frontend function; lists all.

    Example:
        >>> import numpy as np, torch, nestarray as na
        >>> module = na.to_module(torch.nn.Linear(2, 3), torch.ones(4, 2)).to_backend("numpy")
        >>> module(np.ones((4, 2), "float32")).shape
        (4, 3)
        >>> module.v.paths()
        ('weight', 'bias')
    """
    options = {
        "dynamic": dynamic, "islands": islands, "float64": float64, "framework": framework
    }  # fmt: skip
    graph = trace_graph(net, *args, **options, **kwargs)
    if graph.abstract:
        raise ConversionError(
            f"to_module: {graph.name} is on the meta device and has no values to begin with; give it "
            "some (net.to_empty(device=...)), or use na.trace_graph, whose graph takes v at the call"
        )
    return GraphModule(graph, (net, args, kwargs), options, copy=copy)
