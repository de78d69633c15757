"""State that the first call of a module makes.

A buffer may begin as ``torch.zeros(0)`` or None and get a tensor of the batch's shape in `forward`,
and an attribute may hold a tensor from one call to the next. The state of a graph keeps its shapes.
So copies of such a module are called, and a copy that was called once is traced too:

- A buffer that this program does not read, or that depends on sizes alone (a table of positions),
  does not influence the output. The graph is the program of the first call, without the buffer.
- Another one is state of the graph, with the shape that it has after the first call. It begins with
  zeros if the first call computes with zeros, else with the values after the first call.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

from nestarray.errors import ConversionError, Refused, UnsupportedError
from nestarray.errors.foreign import foreign
from nestarray.errors.text import listed
from nestarray.importers.torch.assignments import joined, tensor_text
from nestarray.importers.torch.dynamic import Dynamic
from nestarray.importers.torch.original import copy_of
from nestarray.importers.torch.outputs import plain_output
from nestarray.importers.torch.places import own_name


class Traced(NamedTuple):
    """A module with the program that a graph is made of.

    Attributes:
        source: the user's module.
        module: the traced module: `source`, or a copy of it with state that the first call makes.
        program: the exported program.
        checks: the checks of values that it drops.
        dynamic: the open sizes.
        dropped: tensor outside of the graph's state → the sentence for the report.
    """

    source: Any
    module: Any
    program: Any
    checks: list[str]
    dynamic: Dynamic
    dropped: dict[str, str]


def with_state(
    module: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    export: Callable[[Any, Dynamic], tuple[Any, list[str]]],
    dynamic: Dynamic,
) -> Traced:
    """The program of `module` whose state keeps its shapes.

    Args:
        module: the module, in the mode of the trace.
        args, kwargs: the example.
        export: module, open sizes → exported program, dropped checks.
        dynamic: the open sizes.

    Raises:
        ConversionError: a buffer changes its shape in each call, or the first call computes something
            else than later calls.
    """
    program, checks = export(module, dynamic)
    replaced, names = _assigned(program)
    first = Traced(module, module, program, checks, dynamic, {})
    if not replaced and not names:
        return first
    try:
        calls = _Calls(module, args, kwargs, [*replaced, *names])
    except UnsupportedError as error:
        if not replaced:
            return first
        name = next(iter(replaced))
        raise _refusal(
            module, f"assigns another shape to its buffer {name!r}, and cannot be called ({error})"
        ) from error
    first = first._replace(dropped=calls.sentences(replaced))
    tables = {name for name, node in replaced.items() if not _depends_on_call(node, program)}
    if calls.are_equal and tables == replaced.keys():
        return first
    calls.check_shapes()
    state = [*replaced, *calls.changing(names)]
    if not state:
        return first
    calls.register(state)
    later, checks = export(calls.warm, dynamic.closed())
    read = [name for name in state if _is_read(later, name)]
    if calls.are_equal and tables.issuperset(read):
        return first
    if not read and replaced:
        name = next(iter(replaced))
        raise _refusal(
            module,
            f"computes something else in its first call, before its buffer {name!r} changes its "
            "shape; call it once before it is traced",
        )
    if not read:
        return first
    calls.begin(read)
    if dynamic.is_asked:
        try:
            later, checks = export(calls.warm, dynamic)
        except ConversionError as error:
            texts = [f"{name!r}, {tensor_text(calls.values[1][name])}" for name in read]
            raise ConversionError(
                f"{error}. State has the shape of the first call: {listed(texts)}"
            ) from error
    dropped = calls.sentences({*state} - {*read})
    return Traced(module, calls.warm, later, checks, dynamic, dropped)


class _Calls:
    """Two calls of copies of a module with the same arguments and variables.

    Args:
        module: the module.
        args, kwargs: the example.
        names: buffers and attributes that a call assigns.

    Attributes:
        warm: a copy after the first call, with the variables of the module.
        values: the values of `names` before the first call, after it, and after the second.

    Raises:
        UnsupportedError: the module cannot be copied or called.
    """

    def __init__(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]
    ) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.warm = copy_of(module)
        before = {name: _value(module, name) for name in names}
        self._names = names
        self._first, after = self._call(self.warm)
        self._restore()
        self._second, again = self._call(copy_of(self.warm))
        self.values = before, after, again

    def _restore(self) -> None:
        """Give `warm` the variables of the module, but those that the call has assigned."""
        parts = dict(self.warm.named_modules())
        for path, original in self.module.named_modules():
            for table in ("_parameters", "_buffers"):
                tensors = getattr(parts.get(path), table, {})
                for last, tensor in getattr(original, table).items():
                    if last in tensors and joined(path, last) not in self._names:
                        tensors[last] = tensor

    @property
    def are_equal(self) -> bool:
        """Whether the second call has the output of the first, and keeps the assigned tensors."""
        return _is_equal(self._first, self._second) and _is_equal(*self.values[1:])

    def check_shapes(self) -> None:
        """Refuse a tensor that has another shape after the second call.

        Raises:
            ConversionError: there is one.
        """
        for name in self._names:
            shapes = [tensor_text(values[name]) for values in self.values]
            if shapes[1] != shapes[2]:
                raise _refusal(
                    self.module,
                    f"assigns another shape to {name!r} in each call ({', then '.join(shapes)}); the "
                    "state of a graph keeps its shapes: register a buffer with the shape that it has "
                    "in the end, and write into it",
                )

    def sentences(self, names: Iterable[str]) -> dict[str, str]:
        """Tensor → the sentence that excludes it from the state."""
        before, after, _ = self.values
        return {
            name: f"state {name!r} ({tensor_text(before[name])}, after a call "
            f"{tensor_text(after[name])}), whose value before a call does not influence the output"
            for name in sorted(names)
        }

    def changing(self, names: Iterable[str]) -> Iterator[str]:
        """Those of `names` that hold a tensor that calls change."""
        for name in names:
            after, again = (values[name] for values in self.values[1:])
            if after is not None and not _is_equal(after, again):
                yield name

    def register(self, names: Iterable[str]) -> None:
        """Make buffers of attributes of `warm`, with the module's values if these have the shape."""
        before, after, _ = self.values
        for name in names:
            owner, last = _owner(self.warm, name)
            if last not in owner._buffers:
                is_same = tensor_text(before[name]) == tensor_text(after[name])
                value = torch.clone((before if is_same else after)[name].detach())
                delattr(owner, last)
                owner.register_buffer(last, value, persistent=False)

    def begin(self, names: Iterable[str]) -> None:
        """Set state of new shapes to zeros, if the first call computes with zeros."""
        before, after, _ = self.values
        new = [name for name in names if tensor_text(before[name]) != tensor_text(after[name])]
        begun = copy_of(self.warm)
        with torch.no_grad():
            for name in new:
                _value(begun, name).zero_()
            if _is_equal(self._first, self._call(begun)[0]):
                for name in new:
                    _value(self.warm, name).zero_()

    def _call(self, module: Any) -> tuple[Any, dict[str, Any]]:
        """The output of a call, and the assigned tensors; random numbers are the same in each."""
        states = random.getstate(), np.random.get_state()
        random.seed(0)
        np.random.seed(0)
        args, kwargs = tree_map_only(
            torch.Tensor, lambda x: x.detach().clone(), (self.args, self.kwargs)
        )
        try:
            with foreign(kind=UnsupportedError), torch.random.fork_rng([]), torch.enable_grad():
                torch.manual_seed(0)
                output = plain_output(module(*args, **kwargs))
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])
        values: dict[str, Any] = {}
        for name in self._names:
            owner, last = _owner(module, name)
            value = _value(module, name)
            if isinstance(value, torch.Tensor):
                if value.is_meta:
                    raise UnsupportedError("tensors on the meta device have no values")
                value = value.detach()
                (owner._buffers if last in owner._buffers else vars(owner))[last] = value
            values[name] = None if value is None else value.clone()
        return output, values


def _refusal(module: Any, behaviour: str) -> Refused:
    return Refused(f"{type(module).__name__} {behaviour}", "trace_graph")


# -- programs --------------------------------------------------------------------------------


def _assigned(program: Any) -> tuple[dict[str, Any], list[str]]:
    """Buffer that a call replaces → the node of its new value; and other assigned attributes."""
    (returned,) = next(n for n in program.graph.nodes if n.op == "output").args
    flat = [
        value
        for value, spec in zip(returned, program.graph_signature.output_specs, strict=True)
        if spec.kind.name == "USER_OUTPUT"
    ]
    _, replaced, names = tree_unflatten(flat, program.call_spec.out_spec)
    nodes = {
        name: node if isinstance(node, torch.fx.Node) else None for name, node in replaced.items()
    }
    return nodes, list(names)


def _depends_on_call(node: Any, program: Any) -> bool:
    """Whether a value depends on arguments, on random numbers, or on buffers that calls write."""
    if node is None:
        return False
    signature = program.graph_signature
    written = {*signature.buffers_to_mutate.values()}
    fixed = {
        name
        for table in (signature.inputs_to_parameters, signature.inputs_to_buffers)
        for name, target in table.items()
        if target not in written
    } | {*signature.inputs_to_lifted_tensor_constants}
    waiting, seen = [node], {node}
    while waiting:
        node = waiting.pop()
        if node.op == "placeholder" and node.name not in fixed:
            return True
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            return True
        used = [] if _is_of_shape(node) else node.all_input_nodes
        waiting += [each for each in used if each not in seen]
        seen.update(used)
    return False


def _is_of_shape(node: Any) -> bool:
    """Whether a call reads the shape of its argument only."""
    name = str(node.target).removeprefix("aten.").partition(".")[0]
    return name == "sym_size" or name.startswith("new_") or name.endswith("_like")


def _is_read(program: Any, name: str) -> bool:
    """Whether the value of a buffer enters a result of a program."""
    places = [
        node
        for node in program.graph.nodes
        if own_name(program.graph_signature.inputs_to_buffers.get(node.name, "")) == name
    ]
    return any(not _is_of_shape(user) for node in places for user in node.users)


# -- tensors ---------------------------------------------------------------------------------


def _owner(module: Any, name: str) -> tuple[Any, str]:
    path, _, last = name.rpartition(".")
    return module.get_submodule(path), last


def _value(module: Any, name: str) -> Any:
    owner, last = _owner(module, name)
    return getattr(owner, last, None)


def _is_equal(x: Any, y: Any) -> bool:
    """Whether two nests of builtins and tensors are equal; NaN equals NaN."""
    (leaves, structure), (others, other) = tree_flatten(x), tree_flatten(y)
    return structure == other and all(map(_is_same, leaves, others))


def _is_same(x: Any, y: Any) -> bool:
    if not (isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)):
        return not isinstance(x, torch.Tensor) and not isinstance(y, torch.Tensor) and bool(x == y)
    is_equal = tensor_text(x) == tensor_text(y)
    return is_equal and bool(((x == y) | ((x != x) & (y != y))).all())
