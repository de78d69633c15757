"""The translation of an exported program: its tensors, its calls and its outputs."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from nestarray import dtypes
from nestarray.backends.torch.autocast import surrounding
from nestarray.errors import ArgumentError, DtypeError, Refused
from nestarray.frontends import rules
from nestarray.frontends.torch import vocabulary
from nestarray.graph.builder import Place
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node
from nestarray.importers.islands import island
from nestarray.importers.protocol import Request
from nestarray.importers.torch import control_flow, coverage
from nestarray.importers.torch.coverage import by_schema_name, is_foreign
from nestarray.importers.torch.first_calls import Traced
from nestarray.importers.torch.islands import island_arguments
from nestarray.importers.torch.known_values import (
    depends_on_values,
    is_mask,
    known_places,
    known_value,
)
from nestarray.importers.torch.outputs import nest_of
from nestarray.importers.torch.places import origin, own_name
from nestarray.importers.torch.size_names import SizeNames
from nestarray.importers.torch.source import TorchSource
from nestarray.importers.torch.state_dicts import source_names
from nestarray.importers.translator import Translator


class Translation(Translator):
    """Turns one exported program into one Graph.

    Attributes:
        program: the exported program, in operations that have rules where it can be.
        names: of its sizes.
    """

    framework = "torch"

    def __init__(
        self, traced: Traced, args: tuple[Any, ...], kwargs: dict[str, Any], request: Request
    ) -> None:
        self.original, self.module, program, self.checks, dynamic, self.dropped = traced
        super().__init__(type(self.module).__name__, request)
        self.program, self._reported = coverage.decomposed(program)
        self._targets = {call.target for call in coverage.calls_of(self.program)}
        self.args, self.kwargs = args, kwargs
        self.lifted: dict[Any, Any] = {}  # exported node → a tensor of the program's own
        self.canonical = _canonical_names(self.module)
        self.written = self._written_parameters()
        placeholders = [n for n in self.program.graph.nodes if n.op == "placeholder"]
        specs = zip(placeholders, self.program.graph_signature.input_specs, strict=True)
        self._specs = [*specs]
        arguments = [n for n, spec in self._specs if spec.kind.name == "USER_INPUT"]
        self.names = SizeNames(dynamic, arguments)

    def graph(self) -> Graph:
        """The whole translation."""
        self._inputs()
        self.translate([n for n in self.program.graph.nodes if n.op == "call_function"], self.nodes)
        output, updates = self._outputs()
        source = TorchSource(
            self.program, self.nodes, self.module, self.args, self.kwargs, surrounding()
        )
        return self.builder.finish(
            output,
            updates,
            source,
            self.names.sizes(self.program),
            source_names=source_names(self.original, self.canonical, self.builder.values),
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
        for placeholder, spec in self._specs:
            kind = spec.kind.name
            if kind == "USER_INPUT":
                if type(spec.arg).__name__ == "ConstantArgument":
                    # a size that equals it may be read here
                    self.nodes[placeholder] = spec.arg.value
                else:
                    aval = self.aval_of(placeholder.meta.get("val"))
                    self.nodes[placeholder] = self.builder.argument(placeholder.name, aval)
                flat.append(self.nodes[placeholder])
            else:
                self._variable(placeholder, kind, spec.target)
        spec = self.program.call_spec.in_spec
        self.builder.sign(self.module.forward, *nest_of(spec, iter(flat)))

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
            source, path, value.detach(), name=placeholder.name, aval=self.aval_of(value)
        )

    # -- calls -----------------------------------------------------------------------------

    def calls(self) -> Iterator[tuple[Any, Place]]:
        """The calls before the decomposition, and those after it that have no rule."""
        return ((call, origin(call)) for call in self._reported)

    def name_of(self, equation: Any) -> str:
        """The name of an exported call's operation."""
        return coverage.name_of(equation)

    def place_of(self, equation: Any, outer: Place) -> Place:
        """The module and the line of an exported call."""
        return origin(equation)

    def rule_of(self, equation: Any) -> rules.Rule | None:
        """The rule of an exported call, with these arguments."""
        return None if coverage.why_unknown(equation) else coverage.rule_of(equation)

    def parts_of(self, equation: Any) -> Iterable[Any] | None:
        """The calls of a decomposition, which torch marks with the operation."""
        if equation.target in self._targets:
            return None
        calls = coverage.calls_of(self.program)
        return [call for call in calls if coverage.is_part(call, equation.target)]

    def why_missing(self, equation: Any) -> str:
        """Why the frontend and an island cannot take an exported call."""
        reason = coverage.why_no_island(equation)
        if self.request.islands and not reason:
            return ""
        remedy = f"no island: {reason}" if reason else "islands=True would run it in torch"
        return f"{coverage.why_unknown(equation)}; {remedy}"

    def step(self, equation: Any, env: dict[Any, Any]) -> None:
        """Translate one exported call; see `Translator.step`."""
        rule = vocabulary.find(equation.target)
        if (rule is not None and rule.is_ignored) or equation in env:
            return
        if control_flow.takes_functions(equation):
            control_flow.translate(self, equation)
            return
        if depends_on_values(equation) and self._is_known(equation):
            return
        is_item = equation.target is operator.getitem
        maker = equation.args[0] if is_item else equation
        rule = self.rule_of(maker)
        if not is_item and rule is not None and rule.first_result:
            return  # the node that takes its first result becomes the call
        if is_item and maker in env:
            args = tuple(self.arguments(equation.args))
            call = rules.Call(operator.getitem, "getitem", args, {})
        else:
            call = self._call(maker, rule)
        env[equation] = self.call(
            call,
            "" if is_item else self._name(equation),
            aval=self.aval_of(equation.meta.get("val")),
            origin=str(maker.target),
        )

    def _call(self, exported: Any, rule: rules.Rule | None) -> rules.Call:
        """The function of an exported call, or an island."""
        named = {k: self.arguments(value) for k, value in self._named(exported).items()}
        if rule is None:
            args, kwargs = island_arguments(exported.target, named)
            return rules.Call(island, "na.graph.island", args, kwargs)
        aval = self.aval_of(exported.meta.get("val"))
        return rule.call(named, () if aval is None else aval.shape)

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
        for index in named["indices"]:
            places = known_places(index, self.lifted)
            names = [f"{index}_{i}" for i in range(len(places))]
            indices += map(self._constant, names, places) if places else [index]
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

    def arguments(self, value: Any) -> Any:
        """Exported arguments with our nodes and dtypes in place of theirs."""
        if isinstance(value, torch.fx.Node):
            return self.nodes[value]
        if isinstance(value, Node):
            return value
        if isinstance(value, (list, tuple)):
            return type(value)([self.arguments(item) for item in value])
        if isinstance(value, torch.dtype):
            return dtypes.as_dtype(value)
        if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
            return None
        return value

    def aval_of(self, value: Any) -> Aval | None:
        """Shape and dtype of an exported value; None if nestarray has none such."""
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
                flat.append(self.arguments(value))
            elif kind in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
                name = own_name(spec.target)
                path = self.canonical.get(name, name).replace(".", "/")
                if name not in self.dropped:
                    updates[path] = self.arguments(value)
            else:
                raise self._written_argument(spec.target, value)
        output, *_ = nest_of(self.program.call_spec.out_spec, iter(flat))  # of `call_with_writes`
        return output, updates

    def _written_argument(self, exported_name: str, value: Any) -> Refused:
        """The error for a write into an argument."""
        name = type(self.module).__name__
        places = [part for part in origin(value) if part and not part.startswith("<")]
        at = f" ({', '.join(places)})" if places else ""
        placeholders = {n.name: n for n in self.program.graph.nodes if n.op == "placeholder"}
        argument = self.nodes[placeholders[exported_name]].path
        return Refused(
            f"{name} writes into its argument {argument!r}{at}, and a graph changes no array",
            "trace_graph",
            f"write into a copy, {argument} = {argument}.clone(), and return what the caller needs "
            "of it",
        )


def _is_idle(placeholder: Any) -> bool:
    """Whether a tensor has a layout or a dtype that nestarray lacks, and no call reads it."""
    value = placeholder.meta["val"]
    is_odd = value.layout is not torch.strided or is_foreign(value.dtype)
    return is_odd and not placeholder.users


def _is_size(exported: Any) -> bool:
    return isinstance(exported.meta.get("val"), torch.SymInt)


def _canonical_names(module: Any) -> dict[str, str]:
    """Name → first name of the same tensor: tied weights are one variable."""
    first: dict[int, str] = {}
    names: dict[str, str] = {}
    for named in (module.named_parameters, module.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            names[name] = first.setdefault(id(tensor), name)
    return names


def _tensor_of(module: Any, name: str) -> Any:
    owner, _, last = name.rpartition(".")
    return getattr(module.get_submodule(owner), last)
