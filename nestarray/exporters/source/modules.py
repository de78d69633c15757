"""The calls of a recording as a tree of modules, as the source is built.

The calls of a module follow each other, so a call of a module is a section of the list of calls. What
a section uses of outside are the module's inputs; its results that are used outside are its outputs.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from keyword import iskeyword
from typing import Any

from nestarray.exporters.source.records import Call, Function, Recording, Value, values_in
from nestarray.graph.builder import NOWHERE

Path = tuple[str, ...]

#: Values other than arrays, which are the last arguments of a module.
KINDS = ("state", "train", "training", "key", "rng", "subkey", "shape")

#: A module without variables and with at most this many calls is part of the module around it.
_SMALL = 3
#: Classes that hold modules and are not called.
_LISTS = ("ModuleList", "ModuleDict", "List", "Dict")


@dataclasses.dataclass(eq=False)
class Use:
    """A call of a module.

    Attributes:
        name: the module, a key of `children` of the module around it.
        inputs, outputs: the values that it takes and returns.
    """

    name: Path
    inputs: list[Value]
    outputs: list[Value]


Step = Call | Use


@dataclasses.dataclass(eq=False)
class Module:
    """A module of the source.

    Attributes:
        path: its path in the source.
        kind: the name of its class in the source; empty if unknown.
        steps: the calls of its first run.
        inputs: its arguments.
        output: nest of Values and constants.
        children: path below this module → module.
        variables: name → Value.
        layer: the constructor of the framework's own class, if there is one for the module.
    """

    path: Path
    kind: str
    steps: list[Step]
    inputs: list[Value]
    output: Any
    children: dict[Path, Module]
    variables: dict[str, Value]
    layer: Call | None = None

    def walk(self) -> Iterator[Module]:
        """The modules of the tree, each after its children."""
        for child in self.children.values():
            yield from child.walk()
        yield self

    def variables_below(self) -> Iterator[tuple[tuple[Path, ...], str, Value]]:
        """(names of modules from this one down, name, variable) of all modules of the tree."""
        for name, value in self.variables.items():
            yield (), name, value
        for key, child in self.children.items():
            for keys, name, value in child.variables_below():
                yield (key, *keys), name, value

    @property
    def has_variables(self) -> bool:
        """Whether a module of the tree has variables."""
        return any(module.variables for module in self.walk())


def arguments(step: Step) -> list[Value]:
    """The Values that a step takes."""
    return step.inputs if isinstance(step, Use) else values_in([list(step.args), step.kwargs])


def results(step: Step) -> list[Value]:
    """The Values that a step makes."""
    return step.outputs if isinstance(step, Use) else values_in(step.result)


def with_writes(recording: Recording) -> Recording:
    """The recording with a call ``"state:set"`` of (old value, new value) for each update of the state.

    It comes after the last use of the old value, in the module of the variable if the new value is
    computed there.
    """
    calls = list(recording.calls)
    known = {v.path: v for call in calls for v in arguments(call) if v.source == "s"}
    for path, new in recording.updates.items():
        old = known.get(path) or Value(new.shape, new.dtype, "s", path)
        users = [i for i, c in enumerate(calls) if new in results(c) or old in arguments(c)]
        last = max(users, default=len(calls) - 1)
        place = calls[last].place if calls else NOWHERE
        inside = parts(place.module)
        if parts(path)[: len(inside)] != inside:
            last, place = len(calls) - 1, NOWHERE
        calls.insert(last + 1, Call("state:set", (old, new), {}, (), place))
    return dataclasses.replace(recording, calls=calls, updates={})


def module_tree(
    recording: Recording, kinds: Mapping[str, str], *, is_functional: bool, has_sequences: bool
) -> Module:
    """The root module of a program.

    Args:
        recording: the program, without calls whose results nothing uses.
        kinds: path of a module → name of its class, as far as known.
        is_functional: write modules of one call as a part of the module around them.
        has_sequences: the library has a class that calls modules one after the other.
    """
    named = {parts(path): kind for path, kind in kinds.items()}
    return _Builder(recording, named, is_functional, has_sequences).root()


def parts(path: str) -> Path:
    """The names of a path."""
    return tuple(part for part in re.split(r"[./]", path) if part)


class _Builder:
    def __init__(
        self,
        recording: Recording,
        kinds: Mapping[Path, str],
        is_functional: bool,
        has_sequences: bool,
    ) -> None:
        self.recording, self.kinds = recording, kinds
        self.is_functional, self.has_sequences = is_functional, has_sequences
        self.calls = recording.calls
        self.paths = [parts(call.place.module) for call in self.calls]
        self.made = {v: i for i, call in enumerate(self.calls) for v in values_in(call.result)}
        self.used: dict[Value, list[int]] = {}
        for i, call in enumerate(self.calls):
            for value in arguments(call):
                self.used.setdefault(value, []).append(i)
        for value in values_in([recording.output, dict(recording.updates)]):
            self.used.setdefault(value, []).append(len(self.calls))
        keys = [value for value in self.made if value.dtype == "key"]
        for value in keys[-1:]:  # each call of a class returns its key, also the last one
            self.used.setdefault(value, []).append(len(self.calls))
        self.owner = {v: self._owner(v) for v in self.used if v.source in ("v", "s", "constants")}

    def _owner(self, value: Value) -> Path:
        """The path of a variable with its name; a constant is of the module around its users."""
        if value.source != "constants":
            return parts(value.path)
        users = [self.paths[i] if i < len(self.paths) else () for i in self.used[value]]
        around = [path[:-1] for path in users]
        shared = itertools.takewhile(lambda names: len(set(names)) == 1, zip(*around, strict=False))
        return (*(names[0] for names in shared), constant_name(value))

    def root(self) -> Module:
        """The whole program."""
        steps, children = self._steps((), 0, len(self.calls))
        output = self.recording.output
        root = Module(
            (), self.kinds.get((), ""), steps, self.recording.inputs, output, children, {}
        )
        self._give_variables(root)
        return root

    # -- sections --------------------------------------------------------------------------

    def _steps(self, path: Path, start: int, stop: int) -> tuple[list[Step], dict[Path, Module]]:
        """The steps of a section of the calls of a module, and the modules that they call."""
        runs: dict[Path, list[Module]] = {}
        steps: list[Step | Module] = []
        for name, (first, last) in self._sections(path, start, stop):
            if name is None:
                steps += self.calls[first:last]
                continue
            run = self._run((*path, name), first, last)
            runs.setdefault(run.path[len(path) :], []).append(run)
            steps.append(run)
        children: dict[Path, Module] = {}
        flat: list[Step] = []
        for step in steps:
            if not isinstance(step, Module):
                flat.append(step)
                continue
            name = step.path[len(path) :]
            if self._is_part(step, runs[name]):
                flat += self._inlined(step, name, children)
            else:
                children.setdefault(name, step)
                flat.append(Use(name, step.inputs, values_in(step.output)))
        return flat, children

    def _sections(
        self, path: Path, start: int, stop: int
    ) -> Iterator[tuple[str | None, tuple[int, int]]]:
        """(child, section) of the calls in a section; the child is None for calls of the module."""
        depth = len(path)

        def child(i: int) -> str | None:
            return self.paths[i][depth] if len(self.paths[i]) > depth else None

        for name, group in itertools.groupby(range(start, stop), child):
            section = list(group)
            yield name, (section[0], section[-1] + 1)

    def _run(self, path: Path, start: int, stop: int) -> Module:
        """A call of the module at a path."""
        steps, children = self._steps(path, start, stop)
        inputs: dict[Value, None] = {}
        outputs: dict[Value, None] = {}
        for i in range(start, stop):
            for value in arguments(self.calls[i]):
                owner = self.owner.get(value)
                is_own = owner is not None and owner[: len(path)] == path
                if not is_own and not start <= self.made.get(value, -1) < stop:
                    inputs[value] = None
            for value in values_in(self.calls[i].result):
                if any(not start <= j < stop for j in self.used.get(value, ())):
                    outputs[value] = None
        given, made = sorted(inputs, key=_rank), sorted(outputs, key=_rank)
        output = made if len(made) > 1 else next(iter(made), None)
        return Module(path, self.kinds.get(path, ""), steps, given, output, children, {})

    def _is_part(self, module: Module, runs: Sequence[Module]) -> bool:
        """Whether the steps of a module belong to the module around it."""
        if self.is_functional and len(module.steps) == 1:
            return True
        if not self.has_sequences and _is_unnamed_sequence(module):
            return True
        own = any(owner[: len(module.path)] == module.path for owner in self.owner.values())
        if not own and not module.children and len(module.steps) <= _SMALL:
            return not self.has_sequences or not module.path[-1].isdigit()
        if module.kind in _LISTS:
            return True
        if not module.kind and not is_chain(module):
            return not any(isinstance(step, Call) for step in module.steps)
        return any(structure(run) != structure(runs[0]) for run in runs[1:])

    def _inlined(self, run: Module, name: Path, children: dict[Path, Module]) -> list[Step]:
        """The steps of a module, whose children become children of the module around it."""
        steps: list[Step] = []
        for step in run.steps:
            if isinstance(step, Use):
                children.setdefault((*name, *step.name), run.children[step.name])
                step = Use((*name, *step.name), step.inputs, step.outputs)
            steps.append(step)
        return steps

    # -- variables -------------------------------------------------------------------------

    def _give_variables(self, root: Module) -> None:
        """Give each variable to the innermost module of its path."""
        modules = {module.path: module for module in root.walk()}
        for value, owner in self.owner.items():
            depth = max(n for n in range(len(owner)) if owner[:n] in modules)
            own = modules[owner[:depth]].variables
            is_constant = value.source == "constants"
            name = owner[-1] if is_constant else _identifier("_".join(owner[depth:]))
            own[_unused(name, own)] = value


def _rank(value: Value) -> int:
    """The place of an argument: arrays first."""
    return KINDS.index(value.dtype) + 1 if value.dtype in KINDS else 0


def _is_unnamed_sequence(module: Module) -> bool:
    return module.kind in ("", "Sequential") and is_chain(module)


def constant_name(value: Value) -> str:
    """The name of a constant, after its use."""
    if value.dtype == "bool":
        return "mask"
    return "positions" if value.dtype.startswith(("int", "uint")) else "constant"


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    return next(n for n in numbered(name) if n not in taken)


def numbered(name: str) -> Iterator[str]:
    """A name, and the name with the numbers from 2 on."""
    yield name
    for number in itertools.count(2):
        yield f"{name}_{number}"


def is_item(name: Path) -> bool:
    """Whether a module is an item of a list, by its name in the module around it."""
    return len(name) > 1 and name[-1].isdigit()


def number_lists(module: Module) -> None:
    """Number the items of the lists of a module from 0 on, in the order of their numbers."""
    lists: dict[Path, list[Path]] = {}
    for name in module.children:
        if is_item(name):
            lists.setdefault(name[:-1], []).append(name)
    new: dict[Path, Path] = {}
    for name in module.children:
        items = sorted(lists.get(name[:-1], []), key=lambda n: int(n[-1])) if is_item(name) else []
        new |= {item: (*item[:-1], str(i)) for i, item in enumerate(items)} or {name: name}
    module.children = {new[name]: module.children[name] for name in new}
    for step in module.steps:
        if isinstance(step, Use):
            step.name = new[step.name]


def attribute(name: Path) -> str:
    """The name of a module as an attribute: ``"layers.0"`` for an item of a list."""
    if is_item(name):
        return f"{'_'.join(name[:-1])}.{name[-1]}"
    return _identifier("_".join(name))


def _identifier(name: str) -> str:
    return name if name.isidentifier() and not iskeyword(name) else f"layer_{name}"


def is_sequence(module: Module) -> bool:
    """Whether a module calls its children one after the other, and does nothing else."""
    uses = [step.name for step in module.steps if isinstance(step, Use)]
    is_plain = len(set(uses)) == len(module.steps) and not module.variables
    is_plain = is_plain and isinstance(module.output, Value)
    is_numbered = all(len(name) == 1 and name[0].isdigit() for name in uses)
    return is_plain and is_chain(module) and is_numbered and uses == sorted(uses, key=_number)


def _number(name: Path) -> int:
    return int(name[-1])


def is_chain(module: Module) -> bool:
    """Whether each step takes the result of the step before, and nothing else."""
    values = list(module.inputs)
    for step in module.steps:
        given = [v for v in arguments(step) if not v.source or v in module.inputs]
        if len(values) != 1 or given != values:
            return False
        values = results(step)
    return module.output is not None and values == values_in(module.output)


# -- comparison -------------------------------------------------------------------------------


def is_setting(value: Any) -> bool:
    """Whether a constant may be an argument of a class: a number, a string, or a tuple of numbers."""
    if isinstance(value, tuple):
        return bool(value) and all(is_setting(x) and not isinstance(x, str) for x in value)
    return isinstance(value, (bool, int, float, str))


def structure(module: Module, note: Callable[[str, Any], None] = lambda name, value: None) -> Any:
    """The program of a module without its settings: equal for modules of one class.

    Args:
        module: the module.
        note: called with (name, value) of each setting, in an order that the structure determines.
    """
    numbers: dict[Value, Any] = {v: ("input", i) for i, v in enumerate(module.inputs)}
    numbers |= {value: name for name, value in module.variables.items()}

    def relative(value: Value) -> Any:
        path = parts(value.path)
        is_below = path[: len(module.path)] == module.path
        return value.source, path[len(module.path) :] if is_below else path

    def of(value: Any, name: str) -> Any:
        if isinstance(value, Value):
            return numbers.get(value) or relative(value)
        if is_setting(value):
            note(name, value)
            return "setting"
        if isinstance(value, (list, tuple)):
            return tuple(of(item, name) for item in value)
        if isinstance(value, Function):
            return function(value)
        if isinstance(value, slice):
            return "slice", *(of(part, name) for part in (value.start, value.stop, value.step))
        if isinstance(value, Mapping):
            return tuple((key, of(item, key)) for key, item in value.items())
        return value

    def called(call: Call) -> Any:
        return call.target, of([*call.args], call.target), of(call.kwargs, "")

    def number(made: Iterable[Value]) -> None:
        for value in made:
            numbers[value] = "result", len(numbers)

    def function(inner: Function) -> Any:
        number(values_in(inner.inputs))
        calls = []
        for call in inner.calls:
            calls.append(called(call))
            number(values_in(call.result))
        return inner.name, tuple(calls), of(inner.output, inner.name)

    if module.layer is not None:
        return module.layer.target, of(module.layer.kwargs, "")
    found: list[Any] = []
    for step in module.steps:
        if isinstance(step, Use):
            found.append((step.name, *(of(v, "") for v in step.inputs)))
        else:
            found.append(called(step))
        number(results(step))
    for name, value in module.variables.items():
        note(f"{name}_shape", value.shape)
        found.append((name, value.source, value.dtype))
    for name, child in module.children.items():
        found.append((name, structure(child, note)))
    return tuple(found), of(module.output, "")
