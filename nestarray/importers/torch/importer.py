"""A ``torch.nn.Module`` as a Graph, through ``torch.export``.

The exporter returns a functional graph of ATen calls. The vocabulary of
`nestarray.frontends.torch` maps each call to a call of a public function; mostly the two have
the same name.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from nestarray import backends, dtypes, tree
from nestarray.backends.torch.autocast import surrounding
from nestarray.errors import ArgumentError, ConversionError, DtypeError
from nestarray.frontends.torch import vocabulary
from nestarray.graph.binding import argument_names
from nestarray.graph.builder import GraphBuilder
from nestarray.graph.graph import Graph, SourceNames
from nestarray.graph.node import Aval, Node
from nestarray.importers.islands import island
from nestarray.importers.keras import keras_backend
from nestarray.importers.patching import one_trace
from nestarray.importers.protocol import Imported, Request, training_of_function
from nestarray.importers.torch.caches import with_nests
from nestarray.importers.torch.control_flow import ControlFlow, is_control_flow
from nestarray.importers.torch.coverage import by_schema_name, covered, is_foreign, rule_of
from nestarray.importers.torch.dynamic import Dynamic
from nestarray.importers.torch.exporting import export, in_mode, quiet
from nestarray.importers.torch.external_random import warn_external_random
from nestarray.importers.torch.first_calls import Traced, with_state
from nestarray.importers.torch.islands import island_arguments
from nestarray.importers.torch.keras import keras_module
from nestarray.importers.torch.known_values import (
    depends_on_values,
    is_mask,
    known_places,
    known_value,
)
from nestarray.importers.torch.places import origin, own_name
from nestarray.importers.torch.selection import is_module, uses_torch
from nestarray.importers.torch.size_names import SizeNames
from nestarray.importers.torch.source import TorchSource
from nestarray.importers.torch.tied_tensors import distinct
from nestarray.importers.torch.unwrapping import as_module, refuse_foreign_modules
from nestarray.interchange import torch as interchange
from nestarray.nn.module import Module


class TorchImporter:
    """Reads torch modules, functions of tensors, and programs of ``torch.jit.trace``."""

    framework = "torch"

    def accepts(self, request: Request) -> bool:
        """Whether the source is a torch module, or a function that uses torch on tensors."""
        if is_module(request.source):
            return True
        is_function = callable(request.source) and not isinstance(request.source, Module)
        if not is_function or request.frameworks != {"torch"}:
            return False
        is_torch = bool(request.framework) or request.sizes.is_asked
        return is_torch or uses_torch(request.source, (request.args, request.kwargs))

    def keywords(self, source: Any) -> frozenset[str]:
        """None: all are arguments of the source."""
        return frozenset()

    def read(self, request: Request) -> Imported:
        """Export the module; see `Importer.read`."""
        source, args, kwargs = request.source, request.args, request.kwargs
        if keras_backend(source):
            source = keras_module(source)
            args, kwargs = tree.map(_tensor, (args, kwargs))
        if request.train and not is_module(source):
            raise training_of_function()
        backends.core("torch")
        module, args, kwargs = with_nests(as_module(source), args, kwargs)
        name = type(module).__name__
        args, kwargs = distinct(module, (args, kwargs))
        asked = Dynamic(
            request.sizes,
            dict(zip(argument_names(module.forward, len(args)), args, strict=True)) | kwargs,
        )
        with (
            one_trace,
            warn_external_random(type(source).__name__),
            in_mode(module, request.train),
            quiet(),
        ):
            export = partial(_export, len(args))
            fixed: set[str] = set()  # sizes of 0 and 1 that the program needs as they are
            refused: set[str] = set()
            while True:
                traced = with_state(module, args, kwargs, export, asked.resized(fixed))
                program, operations = covered(traced.program, islands=request.islands)
                if any(operation.status == "missing" for operation in operations):
                    graph = None
                    break
                importer = _Importer(traced._replace(program=program), args, kwargs, request.train)
                graph = importer.graph()
                refused = importer.names.refused(graph.sizes)
                if traced.dynamic is asked or refused <= fixed:
                    break
                fixed |= refused
            if graph is not None and refused:
                raise importer.names.refusal(graph.sizes)
        return Imported(self.framework, name, operations, graph, list(_dtypes(program)))


def _export(count: int, module: Any, dynamic: Dynamic) -> tuple[Any, list[str]]:
    """Export a module for arguments of which the first `count` are positional."""
    args = tuple([*dynamic.arguments.values()][:count])
    kwargs = dict([*dynamic.arguments.items()][count:])
    with dynamic.exporting(), refuse_foreign_modules(module):
        return export(module, args, kwargs, dynamic)


def _tensor(x: Any) -> Any:
    """An array of NumPy, which models of Keras take too, as a tensor."""
    return backends.core("torch").from_numpy(x) if isinstance(x, np.ndarray) else x


def _dtypes(program: Any) -> Iterator[tuple[Any, str]]:
    """(dtype, place) of each array of an exported program."""
    for exported in program.graph.nodes:
        value = exported.meta.get("val")
        if exported.op == "placeholder" and not exported.users:
            continue
        for x in value if isinstance(value, (list, tuple)) else [value]:
            if hasattr(x, "dtype"):
                yield x.dtype, str(origin(exported))


class _Importer:
    """Turns one exported program into one Graph."""

    def __init__(
        self,
        traced: Traced,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        train: bool,
    ) -> None:
        self.original, self.module, self.program, self.checks, dynamic, self.dropped = traced
        module, program = self.module, self.program
        self.args, self.kwargs = args, kwargs
        self.builder = GraphBuilder(type(module).__name__, "torch", train=train)
        self.nodes: dict[Any, Any] = {}  # exported node → ours, or a number that is known
        self.lifted: dict[Any, Any] = {}  # exported node → a tensor of the program's own
        self.canonical = _canonical_names(module)
        self.written = self._written_parameters()
        placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
        specs = zip(placeholders, program.graph_signature.input_specs, strict=True)
        given = [n for n, spec in specs if spec.kind.name == "USER_INPUT"]
        self.names = SizeNames(dynamic, given)
        self.control_flow = ControlFlow(
            self.nodes, self.builder, self._call, self._arguments, self._aval
        )

    def graph(self) -> Graph:
        """The whole translation."""
        self._inputs()
        for exported in self.program.graph.nodes:
            if exported.op == "call_function":
                self._call(exported)
        output, updates = self._outputs()
        source = TorchSource(
            self.program, self.nodes, self.module, self.args, self.kwargs, surrounding()
        )
        sizes = self.names.sizes(self.program)
        names = _source_names(self.original, self.canonical, self.builder.values)
        return self.builder.finish(
            output,
            updates,
            source,
            sizes,
            source_names=names,
            dropped=(*self.dropped.values(), *self.checks),
        )

    def _written_parameters(self) -> set[str]:
        """The parameters without a gradient that forward writes: state."""
        names = (
            own_name(spec.target)
            for spec in self.program.graph_signature.output_specs
            if spec.kind.name == "PARAMETER_MUTATION"
        )
        return {name for name in names if not _tensor_of(self.module, name).requires_grad}

    # -- inputs ----------------------------------------------------------------------------

    def _inputs(self) -> None:
        flat: list[Any] = []
        for placeholder, spec in zip(
            (n for n in self.program.graph.nodes if n.op == "placeholder"),
            self.program.graph_signature.input_specs,
            strict=True,
        ):
            kind = spec.kind.name
            if kind == "USER_INPUT":
                if type(spec.arg).__name__ == "ConstantArgument":
                    # a size that equals it may be read here
                    self.nodes[placeholder] = spec.arg.value
                else:
                    aval = self._aval(placeholder.meta.get("val"))
                    self.nodes[placeholder] = self.builder.argument(placeholder.name, aval)
                flat.append(self.nodes[placeholder])
            else:
                self._variable(placeholder, kind, spec.target)
        spec = self.program.call_spec.in_spec
        self.builder.sign(self.module.forward, *_nest(spec, iter(flat)))

    def _variable(self, placeholder: Any, kind: str, exported_name: str) -> None:
        target = own_name(exported_name)
        source = {"PARAMETER": "v", "BUFFER": "s"}.get(kind, "constants")
        if kind == "PARAMETER" and target in self.written:
            source = "s"
        if _is_idle(placeholder):
            return
        if target in self.dropped:  # a call may read its shape
            source = "constants"
        if source == "constants" and target not in self.dropped:
            path, value = target, self.program.constants[exported_name]
            self.lifted[placeholder] = value
        else:
            name = self.canonical.get(target, target)
            path, value = name.replace(".", "/"), _tensor_of(self.module, name)
        self.nodes[placeholder] = self.builder.variable(
            source, path, value.detach(), name=placeholder.name, aval=self._aval(value)
        )

    # -- calls -----------------------------------------------------------------------------

    def _call(self, exported: Any) -> None:
        rule = vocabulary.find(exported.target)
        if (rule is not None and rule.is_ignored) or exported in self.nodes:
            return
        if is_control_flow(exported):
            self.control_flow.call(exported)
            return
        if depends_on_values(exported) and self._is_known(exported):
            return
        maker = exported.args[0] if exported.target is operator.getitem else exported
        rule = rule_of(maker)
        if maker is exported and rule is not None and rule.first_result:
            return  # the node that takes its first result becomes the call
        if exported.target is operator.getitem and maker in self.nodes:
            target, name, is_random = operator.getitem, "getitem", False
            args, kwargs = self._arguments(exported.args), {}
        else:
            named = {k: self._arguments(value) for k, value in self._named(maker).items()}
            if rule is not None:
                aval = self._aval(maker.meta.get("val"))
                shape = () if aval is None else aval.shape
                target, name, args, kwargs, is_random = rule.call(named, shape)
            else:
                target, name, is_random = island, "na.graph.island", False
                args, kwargs = island_arguments(maker.target, named)
        short = name.rpartition(".")[2]
        self.nodes[exported] = self.builder.call(
            self._name(exported) if maker is exported else short,
            target,
            name,
            args,
            kwargs,
            aval=self._aval(exported.meta.get("val")),
            place=origin(exported),
            origin=str(maker.target),
            is_random=is_random,
        )

    def _is_known(self, exported: Any) -> bool:
        """Whether a call depends on constants only; its value is then one too."""
        value, fake = known_value(exported, self.lifted), exported.meta.get("val")
        if isinstance(value, (bool, int, float, complex)):
            self.nodes[exported] = value
            self.names.set_value(fake, value)
        elif hasattr(value, "shape"):
            for size, number in zip(fake.shape, value.shape, strict=True):
                self.names.set_value(size, number)
            self.nodes[exported] = self._constant(exported.name, value)
        return exported in self.nodes

    def _named(self, call: Any) -> dict[str, Any]:
        """The arguments of a call by name; constant masks are the indices of their elements.

        A compiler then knows the size of ``x[mask]``.
        """
        named = by_schema_name(call)
        if not isinstance(named.get("indices"), (list, tuple)):
            return named
        indices: list[Any] = []
        sizes: set[int] = set()
        for given in named["indices"]:
            places = known_places(given, self.lifted)
            names = [f"{given}_{i}" for i in range(len(places))]
            indices += map(self._constant, names, places) if places else [given]
            sizes |= {len(x) for x in places}
        if sizes and not any(map(is_mask, indices)):
            self.names.set_new_sizes(call, max(sizes))
        return named | {"indices": indices}

    def _constant(self, name: str, value: Any) -> Node:
        return self.builder.variable("constants", name, value, name=name)

    def _name(self, exported: Any) -> str:
        """The name of a node before it is made unique; for a size, its name."""
        value = exported.meta.get("val")
        return (self.names.name(value) if _is_size(exported) else "") or exported.name

    def _arguments(self, value: Any) -> Any:
        """Exported arguments with our nodes and dtypes in place of theirs."""
        import torch

        if isinstance(value, torch.fx.Node):
            return self.nodes[value]
        if isinstance(value, Node):
            return value
        if isinstance(value, (list, tuple)):
            return type(value)([self._arguments(item) for item in value])
        if isinstance(value, torch.dtype):
            return dtypes.as_dtype(value)
        if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
            return None
        return value

    def _aval(self, value: Any) -> Aval | None:
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if shape is None or dtype is None:
            return None
        try:
            return Aval(tuple(map(self.names.size, shape)), dtypes.as_dtype(dtype))
        except (DtypeError, ArgumentError):  # a dtype or a size in which nestarray does not compute
            return None

    # -- outputs ---------------------------------------------------------------------------

    def _outputs(self) -> tuple[Any, dict[str, Node]]:
        (returned,) = next(n for n in self.program.graph.nodes if n.op == "output").args
        flat: list[Any] = []
        updates: dict[str, Node] = {}
        for value, spec in zip(returned, self.program.graph_signature.output_specs, strict=True):
            kind = spec.kind.name
            if kind == "USER_OUTPUT":
                flat.append(self._arguments(value))
            elif kind in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
                name = own_name(spec.target)
                path = self.canonical.get(name, name).replace(".", "/")
                if name not in self.dropped:
                    updates[path] = self._arguments(value)
            else:
                raise self._written_argument(spec.target, value)
        output, *_ = _nest(self.program.call_spec.out_spec, iter(flat))  # of `call_with_writes`
        return output, updates

    def _written_argument(self, exported_name: str, value: Any) -> ConversionError:
        """The error for a write into an argument."""
        name = type(self.module).__name__
        places = [part for part in origin(value) if part and not part.startswith("<")]
        at = f" ({', '.join(places)})" if places else ""
        placeholders = {n.name: n for n in self.program.graph.nodes if n.op == "placeholder"}
        argument = self.nodes[placeholders[exported_name]].path
        return ConversionError(
            f"trace_graph: {name} writes into its argument {argument!r}{at}, and a graph changes "
            f"no array; write into a copy, {argument} = {argument}.clone(), and return what the "
            "caller needs of it"
        )


def _is_idle(placeholder: Any) -> bool:
    """Whether a tensor has a layout or a dtype that nestarray lacks, and no call reads it."""
    import torch

    value = placeholder.meta["val"]
    is_odd = value.layout is not torch.strided or is_foreign(value.dtype)
    return is_odd and not placeholder.users


def _is_size(exported: Any) -> bool:
    import torch

    return isinstance(exported.meta.get("val"), torch.SymInt)


def _canonical_names(module: Any) -> dict[str, str]:
    """Name → first name of the same tensor: tied weights are one variable."""
    first: dict[int, str] = {}
    names: dict[str, str] = {}
    for named in (module.named_parameters, module.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            names[name] = first.setdefault(id(tensor), name)
    return names


def _source_names(
    module: Any, canonical: Mapping[str, str], values: Mapping[str, Mapping[str, Any]]
) -> SourceNames:
    """Name in the module's state dict → path in the graph, and the values that it lacks."""
    names: dict[str, tuple[str, str]] = {}
    extra: dict[str, Any] = {}
    for name, value in module.state_dict(keep_vars=True).items():
        path = canonical.get(name, name).replace(".", "/")
        letter = next((k for k in ("v", "s") if path in values[k]), None)
        if letter is not None:
            names[name] = letter, path
        elif _is_extra(name):
            names[name], extra[name] = ("extra", name), value
        elif not value.is_meta:
            names[name], extra[name] = ("kept", name), interchange.tensor_text(value)
    modules = {name: type(part).__name__ for name, part in module.named_modules()}
    return SourceNames("torch", names, extra, modules)


def _is_extra(name: str) -> bool:
    return name.rpartition(".")[2] == "_extra_state"


def _tensor_of(module: Any, name: str) -> Any:
    owner, _, last = name.rpartition(".")
    return getattr(module.get_submodule(owner), last)


def _nest(spec: Any, leaves: Iterator[Any]) -> Any:
    """A nest of dicts, lists and tuples from a torch TreeSpec and its leaves.

    Registered classes with named children (model outputs, caches) become dicts.
    """
    if spec.is_leaf():
        return next(leaves)
    children = [_nest(child, leaves) for child in spec.children()]
    if spec.type is list:
        return children
    if spec.type is tuple:
        return tuple(children)
    keys = _child_names(spec)
    return tuple(children) if keys is None else dict(zip(keys, children, strict=True))


def _child_names(spec: Any) -> list[Any] | None:
    context = spec.context
    if hasattr(spec.type, "_fields"):
        return list(spec.type._fields)
    for candidate in (context, *(context if isinstance(context, (list, tuple)) else ())):
        if isinstance(candidate, Mapping):
            candidate = list(candidate)
        if (
            isinstance(candidate, (list, tuple))
            and len(candidate) == spec.num_children
            and all(isinstance(name, (str, int)) for name in candidate)
        ):
            return list(candidate)
    return None
