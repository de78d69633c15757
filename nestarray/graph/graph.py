"""`Graph`: a model as a list of calls of importable functions.

A node is an Input or a Call. A call's target is a function that anybody can import, under the
name by which it prints, so a Graph reads as the Python a person would have written. Variables are
inputs too: `v` (parameters), `s` (state, such as running statistics) and `constants` are Containers
of the graph's backend, and calling a graph is a pure function of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from nestarray import backends, ops
from nestarray.config import check_backend_name, use_backend
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.display.progress import progress
from nestarray.dynamo import compile_time_constant, is_compiling
from nestarray.errors import ArgumentError, DtypeError, NestarrayError, UnsupportedError
from nestarray.errors.foreign import foreign
from nestarray.errors.text import counted
from nestarray.errors.unknown_names import hint, unknown_attribute
from nestarray.graph import assumptions as assumed
from nestarray.graph import codegen
from nestarray.graph.assumptions import Assumption
from nestarray.graph.binding import (
    bind_arguments,
    bind_variables,
    check_variables,
    is_abstract,
)
from nestarray.graph.node import (
    Argument,
    Aval,
    Call,
    Function,
    Input,
    Node,
    Operand,
    all_calls,
    is_input,
)
from nestarray.graph.precision import check_float64, check_integers, with_float64
from nestarray.graph.sizes import Sizes, check_same, has_unknown_size
from nestarray.graph.value_sizes import first_of_unknown_size, unknown_size
from nestarray.transforms import jit
from nestarray.typing import Array, Nest

if TYPE_CHECKING:
    from nestarray.proof.source import Source

#: After so many compiled shapes a graph warns.
_MANY_SHAPES = 8


@dataclasses.dataclass(frozen=True)
class SourceNames:
    """The names that a source's own framework has for the variables of a graph.

    Attributes:
        framework: ``"torch"``, ``"jax"``, …; empty if the source names no variables.
        names: name in the source's files → ``"v"`` or ``"s"``, and the path there; tied
            variables are names with one path. The names in `extra` have ``"extra"``, or ``"kept"``
            for a tensor as text.
        extra: other values that the source stores, at the time of the trace.
        modules: path of a module → name of its class, where the source has modules.
    """

    framework: str = ""
    names: Mapping[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    extra: Mapping[str, Nest] = dataclasses.field(default_factory=dict)
    modules: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(eq=False, kw_only=True)
class Graph:
    """A traced model: a pure function of its inputs, variables and state.

    ``graph(*inputs)`` computes with the graph's own variables, ``graph(*inputs, v=v)``
    with others. A graph traced with ``train=True`` returns ``(output, new_state)``, and so does
    one whose source writes into its buffers in evaluation (a cache, a counter); arrays never
    change. The new state also holds the new values of parameters that the source overwrites:
    ``v, s = v.update(new_state).partition(*v.paths())``. It takes a ``key`` if it draws random numbers. Mappings in the output are Containers.

    Attributes:
        name: class name of the source.
        backend: backend of the variables, on which the graph runs.
        train: whether the training behaviour was traced.
        nodes: inputs first, then calls, in an order in which they can run.
        signature: nests of input Nodes and constants as the source was called: (args, kwargs).
        output: nest of Nodes and constants.
        state_updates: path in `s`, or of an overwritten parameter in `v` → Node of its new value.
        v, s, constants: the variables.
        reference: the source that `verify` compares with; None when it is gone.
        sizes: the names of open sizes.
        source_names: the names of variables in the source's own files.
        dropped: the calls of the source without effect on its results, such as ``debug_print``,
            with their places.
        assumptions: the values of arrays that decided the course of recorded code; calls check
            those that have a node.
        compiled: whether calls on JAX outside of its traces run one compiled program for each
            shape, as `compile`; False runs the calls one by one.
    """

    name: str
    backend: str
    train: bool
    nodes: list[Node]
    signature: tuple[tuple[Argument, ...], dict[str, Argument]]
    output: Operand
    state_updates: dict[str, Node]
    v: Container
    s: Container
    constants: Container
    reference: Source | None = None
    sizes: Sizes = dataclasses.field(default_factory=Sizes)
    source_names: SourceNames = dataclasses.field(default_factory=SourceNames)
    dropped: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    compiled: bool = True

    if TYPE_CHECKING:  # the methods of other files, see `nestarray/__init__.py`
        from nestarray.exporters.export import export as export
        from nestarray.exporters.native import to_equinox_module as to_equinox_module
        from nestarray.exporters.native import to_flax_module as to_flax_module
        from nestarray.exporters.native import to_haiku_module as to_haiku_module
        from nestarray.exporters.native import to_keras_model as to_keras_model
        from nestarray.exporters.native import to_linen_module as to_linen_module
        from nestarray.exporters.native import to_tf_module as to_tf_module
        from nestarray.exporters.native import to_torch_module as to_torch_module
        from nestarray.exporters.source.eject import _standalone_source as _standalone_source
        from nestarray.exporters.source.eject import eject as eject
        from nestarray.graph.census import report as report
        from nestarray.graph.files import load as load_file
        from nestarray.graph.files import save as save
        from nestarray.graph.lower import lower as lower
        from nestarray.graph.mixed_precision import cast as cast
        from nestarray.graph.parsing import parse as parse_text
        from nestarray.graph.passes import optimize as optimize
        from nestarray.graph.viewer.page import show as show
        from nestarray.importers.torch.state_dicts import to_torch_state_dict as to_torch_state_dict
        from nestarray.proof.verify import verify as verify

        load = staticmethod(load_file)
        parse = staticmethod(parse_text)

        @property
        def passes(self) -> tuple[str, ...]: ...

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> object:
            def message() -> str:
                public = [own for own in dir(Graph) if own[0] != "_"]
                return f"Graph has no attribute {name!r}{hint('Graph', name, public)}"

            raise unknown_attribute(message, name)

    # -- calling ---------------------------------------------------------------------------

    def __call__(
        self,
        *args: Nest,
        v: Container | None = None,
        s: Container | None = None,
        key: Array = None,
        **kwargs: Nest,
    ) -> Nest:
        """Compute the output from `args` and `kwargs`, passed as the source takes them.

        On JAX, outside of its traces, one program is compiled for each shape; see `compiled`.

        Args:
            *args, **kwargs: arrays of the graph's backend, of the traced shapes and dtypes. An
                argument named `v`, `s` or `key` is passed by position or as ``key_=``.
            v: parameters; the graph's own by default.
            s: state; the graph's own by default.
            key: random key (`na.random.key`), for a graph that draws random numbers.

        Returns:
            the output; (output, new state) if the graph trains or writes into its state.

        Raises:
            ArgumentError: an argument is missing or not expected, is of another framework,
                or `key` is missing.
            ShapeError: the shape of an argument differs from the trace, or open sizes do not fit.
            DtypeError: an argument has another dtype than was traced.
            StructureError: `v` or `s` has other keys than the graph's.
            AssumptionError: a value on which the course of the recorded code depended differs from
                the trace. A program that a compiler traces is not checked.
        """
        if is_compiling():
            look_up(self)
        inputs, v, s, constants, key = self._prepare(args, kwargs, v, s, key)
        program = self
        if self.sizes.ranges and any(map(has_unknown_size, inputs)):
            program = self._for_unknown_sizes
            constants = program.constants
        elif not is_compiling():
            program = self._guarded
        is_done = False
        try:
            with self.running(inputs, v):
                result = self._computed(program, inputs, v, s, constants, key)
            is_done = True
        finally:
            if not is_done:
                check_variables(self, inputs, v, s)  # may explain the error
        return result if program is not self._guarded else self._checked(result)

    def _computed(self, program: Graph, *values: Nest) -> Nest:
        """The result of a program, compiled on JAX; see `compiled`."""
        if is_compiling() or self.backend != "jax" or not self._is_compilable(values):
            return program._positional(*values)
        try:
            result = self._compiled(*values)
        except (NestarrayError, TypeError, IndexError):
            result = program._positional(*values)  # which explains an error
            self.compiled = False  # without one: a call reads values
            return result
        self._warn_of_shapes()
        return result

    def _is_compilable(self, values: Sequence[Nest]) -> bool:
        if not self.compiled or self.sized_by_values is not None:
            return False
        inputs, v, s, constants, key = values
        leaves = (
            *inputs,
            *v.leaves(),
            *s.leaves(),
            *constants.leaves(),
            *(() if key is None else (key,)),
        )
        one_of_each = {type(x): x for x in leaves}
        is_traced = backends.core("jax").is_traced
        return all(
            backends.backend_of_type(t) == "jax" and not is_traced(x)
            for t, x in one_of_each.items()
        )

    def _warn_of_shapes(self) -> None:
        if self._compiled.traces == _MANY_SHAPES:
            self._compiled.traces += 1  # once
            warnings.warn(
                f"{self.name}: compiled for {_MANY_SHAPES} shapes. Pad the inputs to a few sizes, for "
                "example to powers of two, and trace with open sizes (dynamic=), so that one "
                "program serves many lengths; graph.compiled = False runs the calls one by one",
                stacklevel=4,
            )

    @contextlib.contextmanager
    def running(self, inputs: Sequence[Array] = (), v: Container | None = None) -> Iterator[None]:
        """The context of the graph's program: new arrays are on its backend and on its device.

        Models take the logarithm of zero and mask the result; NumPy alone would warn.

        Args:
            inputs: arrays of the call.
            v: parameters of the call; the graph's own by default.
        """
        with use_backend(self.backend, device=self._device(inputs, self.v if v is None else v)):
            if is_compiling():
                yield
                return
            with np.errstate(all="ignore"):
                try:
                    yield
                except DtypeError as error:
                    check_float64(self, error)
                    raise

    def _device(self, inputs: Sequence[Array], v: Container) -> object:
        """The device of a call, by its first array; None for the framework's default."""
        for arrays in (inputs, v.leaves(), self.s.leaves(), self.constants.leaves()):
            if arrays:
                return backends.core(self.backend).device_to_share(arrays[0])
        return None

    def _prepare(
        self,
        args: tuple[Nest, ...],
        kwargs: dict[str, Nest],
        v: Container | None,
        s: Container | None,
        key: Array,
    ) -> tuple[list[Array], Container, Container, Container, Array]:
        """Everything that the program takes, checked."""
        inputs = self.bind(args, kwargs)
        v, s = bind_variables(self, v, s)
        if key is None and self.needs_key:
            raise ArgumentError(
                f"{self.name}: this graph draws random numbers: pass key=na.random.key(0)"
            )
        found = backends.backend_of_value(key)
        if found not in (None, self.backend):
            raise ArgumentError(
                f"{self.name}: key: got an array of {found}, expected one of {self.backend}; "
                f'make it with na.random.key(0, backend="{self.backend}")'
            )
        return inputs, v, s, self.constants, key

    @cached_property
    def _for_unknown_sizes(self) -> Graph:
        """The lowered graph, for tracers with unknown sizes: ops accept these, frontend code may not.

        It is created on first use, outside of the trace. Native modules hold the variables and have
        lowered the graph.
        """
        if any(isinstance(x, Aval) for x in (*self.v.leaves(), *self.s.leaves())):
            return self
        with backends.core(self.backend).outside_of_traces():
            return self.lower()

    @property
    def results(self) -> tuple[Argument, dict[str, Node], tuple[Assumption, ...]]:
        """All nodes that something outside of the program reads: output, new state, assumptions."""
        return self.output, self.state_updates, self.assumptions

    @cached_property
    def _guarded(self) -> Graph:
        """The graph that also returns the values of the assumptions; itself if it checks none."""
        nodes = [each.node for each in self.assumptions if each.node is not None]
        return self.replace(output=(self.output, nodes), assumptions=()) if nodes else self

    def _checked(self, result: Nest) -> Nest:
        """The result of the graph, from the result of `_guarded`."""
        if self._guarded is self:
            return result
        (output, values), *state = result if self.returns_state else (result,)
        assumed.check(self.name, self.assumptions, values)
        return (output, *state) if self.returns_state else output

    @cached_property
    def function(self) -> Function:
        """The compiled program, a function of flat inputs and ``v, s, constants, key``."""
        return codegen.compile_graph(self)

    @cached_property
    def random_numbers(self) -> dict[Call, int]:
        """The calls that draw random numbers, numbered: the i-th gets ``fold_in(key, i)``."""
        return {node: i for i, node in enumerate(n for n in self.calls if n.is_random)}

    @cached_property
    def sized_by_values(self) -> Call | None:
        """The first call that reads a number from an array or whose size values decide, if any."""
        return first_of_unknown_size(self.inputs, all_calls(self.nodes), self.sizes.ranges)

    @cached_property
    def needs_key(self) -> bool:
        """Whether any call draws random numbers."""
        return bool(self.random_numbers) or any(is_input(node, "key") for node in self.nodes)

    @cached_property
    def abstract(self) -> list[str]:
        """Which of `v` and `s` have shapes only."""
        pairs = (("v", self.v), ("s", self.s))
        return [letter for letter, own in pairs if any(map(is_abstract, own.leaves()))]

    @property
    def returns_state(self) -> bool:
        """Whether calls return ``(output, new_state)``: all that train, and those that write state."""
        return self.train or bool(self.state_updates)

    @cached_property
    def inputs(self) -> list[Input]:
        """The nodes of the arguments, in the order of the flat inputs."""
        return [node for node in self.nodes if is_input(node, "x")]

    @cached_property
    def calls(self) -> list[Call]:
        """The nodes that compute."""
        return [node for node in self.nodes if isinstance(node, Call)]

    def bind(self, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> list[Array]:
        """The flat inputs for a call with `args` and `kwargs`, checked.

        Args:
            args: the positional arguments of the call.
            kwargs: those by keyword.

        Raises:
            ArgumentError, ShapeError, DtypeError: the graph cannot take them.
        """
        return bind_arguments(self, args, kwargs)[0]

    # -- moving ----------------------------------------------------------------------------

    def to_backend(
        self,
        backend: str,
        *,
        device: object = None,
        copy: bool | None = True,
        float64: str | None = None,
    ) -> Graph:
        """The same graph with its variables on another framework, on which it then runs.

        Args:
            backend: ``"numpy"``, ``"jax"``, ``"torch"`` or ``"tensorflow"``.
            device: the device of the variables, such as ``"cuda"``; None as for `na.to_backend`.
            copy: True copies each variable once, so that later training of the source does not
                change it. None shares memory where both frameworks support it; False raises if a
                copy is needed. Shared arrays must not be changed in place: JAX assumes that its
                arrays never change.
            float64: ``"float32"`` computes float64 in float32, and complex128 in complex64, for
                JAX without x64. `report` lists the calls. 64-bit integers of JAX without x64 are
                32-bit integers in any case.

        Raises:
            ArgumentError: ``copy=False`` and a copy is needed, or another `float64`.
            MissingFrameworkError: the framework is not installed; names the extra to install.
            DtypeError: the framework has no such dtype (float64 on JAX without x64), or an integer
                does not fit.

        Example:
            >>> import torch, nestarray as na
            >>> na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2)).to_backend("jax")
            Graph(Linear, jax, eval: 1 call, 2 parameters, 0 state arrays)
        """
        check_backend_name(backend)
        backends.core(backend)
        graph = with_float64(self, float64)
        moved = graph.replace(backend=backend)
        letters = ("v", "s", "constants")
        try:
            return moved.replace(
                **{x: graph._moved(x, getattr(graph, x), backend, device, copy) for x in letters}
            )
        except DtypeError as error:
            check_float64(moved, error)
            raise

    def _moved(
        self, source: str, c: Container, backend: str, device: object, copy: bool | None
    ) -> Container:
        """`c` on `backend`; integers that JAX narrowed get the traced width back."""
        traced = {n.path: n.aval for n in self.nodes if is_input(n, source)}

        if any(map(is_abstract, c.leaves())):
            moved = partial(ops.to_backend, backend=backend, device=device, copy=copy)
            return c.map(lambda x: x if is_abstract(x) else moved(x))

        def restored(path: str, leaf: Nest) -> Nest:
            aval = traced.get(path)
            if backend == "jax":
                check_integers(f"{self.name}: {source}[{path!r}]", c[path], leaf)
            if backend == "jax" or aval is None or not aval.dtype.is_integer:
                return leaf
            return ops.astype(leaf, aval.dtype, copy=False)

        return c.to_backend(backend, device=device, copy=copy).map(restored, with_path=True)

    def replace(self, **changes: object) -> Graph:
        """A graph with some attributes changed; ``graph.replace(v=v)`` has other parameters."""
        graph = dataclasses.replace(self, **changes)
        if self.backend == "jax" and changes.keys() <= {"v", "s", "constants", "compiled"}:
            graph.__dict__["_compiled"] = self._compiled  # the program takes the variables
        return graph

    def with_variables(self, v: Nest, s: Nest = None) -> Graph:
        """A graph that holds other variables, checked; `replace` checks nothing.

        Args:
            v: parameters with the paths and shapes of the graph's, a Container or mappings. Entries
                that are state in the graph (of ``Container.from_torch_module(net,
                buffers=True)``) become state.
            s: the state; None keeps the present state.

        Raises:
            ArgumentError: an array is of another framework.
            StructureError: paths are missing or unknown.
            ShapeError: a shape is another one.

        Example:
            >>> import torch, nestarray as na
            >>> graph = na.trace_graph(torch.nn.Linear(2, 1), torch.ones(2, 2))
            >>> graph.with_variables(graph.v * 0)(torch.ones(2, 2)).tolist()
            [[0.0], [0.0]]
        """
        v = v if isinstance(v, Container) else Container(v)
        inside = {path: x for path, x in v.flat_items() if path in self.s}
        v = v.delete(*inside) if inside else v
        if s is None and inside:
            held = dict(self.s.flat_items()) | inside
            s = from_leaves(self.s.spec, tuple([held[path] for path in self.s.paths()]))
        s = Container(s) if s is not None and not isinstance(s, Container) else s
        v, s = bind_variables(self, v, self.s if s is None else s)
        check_variables(self, [], v, s)
        return self.replace(v=v, s=s)

    # -- compiling -------------------------------------------------------------------------

    def compile(self, *, new_shapes: str = "recompile", **options: Nest) -> Function:
        """The graph as one compiled call: ``jax.jit``, ``torch.compile``, ``tf.function``.

        Args:
            new_shapes: if open sizes differ from the first call, ``"recompile"``, or ``"raise"`` a
                ShapeError that names them.
            **options: options of the framework's own compiler.

        Returns:
            a function called like the graph: ``(*inputs, v=, s=, key=)``.

        Raises:
            ArgumentError: `new_shapes` is unknown.
            AssumptionError: of a call, see `Graph.__call__`.
            UnsupportedError: of a call, where values decide a size (``x[x > 0]``), which JAX's
                compiler and ours for PyTorch must know. The graph itself runs, and TensorFlow
                compiles it.

        Example:
            >>> import jax.numpy as jnp, torch, nestarray as na
            >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2)).to_backend("jax")
            >>> graph.compile()(jnp.ones((4, 2))).shape
            (4, 3)
        """
        if new_shapes not in ("recompile", "raise"):
            raise ArgumentError(
                f"compile: new_shapes: got {new_shapes!r}, expected 'recompile' or 'raise'"
            )
        if self.backend == "numpy":
            return self
        compiled = jit(self._guarded._positional, **options)
        first: dict[str, int] = {}
        is_compiled = False

        def call(
            *args: Nest,
            v: Container | None = None,
            s: Container | None = None,
            key: Array = None,
            **kwargs: Nest,
        ) -> Nest:
            nonlocal is_compiled
            values = self._prepare(args, kwargs, v, s, key)
            if new_shapes == "raise":
                sizes = bind_arguments(self, args, kwargs)[1]
                check_same(self.name, first or sizes, sizes)
                first.update(sizes)
            place = None if is_compiling() else self.sized_by_values
            explained: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
            if place is not None:
                message = f"compile: {self.name}: {unknown_size(place, self.backend)}"
                explained = foreign(lambda _: message, UnsupportedError, NestarrayError)
            with explained, self.running(*values[:2]):
                if is_compiled or is_compiling():
                    return self._checked(compiled(*values))
                with progress(f"compile {self.name} for {self.backend}"):
                    result = compiled(*values)
                is_compiled = True
                return self._checked(result)

        return call

    @cached_property
    def _compiled(self) -> Nest:
        """The program of calls on JAX, compiled for each shape."""
        return jit(self._guarded._positional)

    @cached_property
    def _positional(self) -> Function:
        """The program as a function of nests by position, as compilers take them."""
        function = self.function

        def program(inputs: list[Array], v: Nest, s: Nest, constants: Nest, key: Array) -> Nest:
            return function(*inputs, v=v, s=s, constants=constants, key=key)

        return program

    # -- reading ---------------------------------------------------------------------------

    def to_source(
        self,
        target: str | None = None,
        *,
        standalone: bool = False,
        style: str | None = None,
        comments: bool = True,
    ) -> str:
        """The graph as a Python module that defines ``graph``, or as source without nestarray.

        Args:
            target: with `standalone`, the framework of the source.
            standalone: return the text that `eject` writes: classes of the framework.
            style: with `standalone`, see `eject`.
            comments: give shape, dtype and source module of each line.

        Raises:
            ArgumentError: `target` or `style` without `standalone`.

        Example:
            >>> import torch, nestarray as na
            >>> graph = na.trace_graph(torch.nn.ReLU(), torch.ones(4, 2)).lower()
            >>> print(graph.to_source(comments=False))
            import nestarray as na
            <BLANKLINE>
            <BLANKLINE>
            def graph(input, *, v, s, constants, key=None):
                relu = na.relu(input)
                return relu
            <BLANKLINE>
        """
        if standalone:
            return self._standalone_source(target or self.backend, style)
        if target is not None or style is not None:
            raise ArgumentError(
                f"to_source: {self.name}: got target={target!r}, style={style!r}, expected them with "
                "standalone=True; graph.to_backend moves a graph"
            )
        return codegen.to_source(self, comments=comments)

    def __str__(self) -> str:
        return self.to_source()

    def __repr__(self) -> str:
        mode = "train" if self.train else "eval"
        return (
            f"Graph({self.name}, {self.backend}, {mode}: {counted(len(self.calls), 'call')}, "
            f"{counted(len(self.v.leaves()), 'parameter')}, "
            f"{counted(len(self.s.leaves()), 'state array')})"
        )

    def __reduce__(self) -> tuple[object, ...]:
        # code is not pickled: functions go by name, and the source of the proof is left out
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return _rebuild, ({**fields, "reference": None},)


@compile_time_constant
def look_up(graph: Graph) -> None:
    """Compute the cached properties that a call reads; torch.compile cannot compute them."""
    for name in ("_guarded", "_positional", "abstract", "function", "inputs", "needs_key"):
        getattr(graph, name)


def _rebuild(fields: dict[str, Nest]) -> Graph:
    return Graph(**fields)
