"""The calls of a recording as a tree of modules, as the source is built.

The calls of a module follow each other, so a call of a module is a section of the list of calls. What
a section uses of outside are the module's inputs; its results that are used outside are its outputs.
Sections of one module whose calls differ, such as those of a layer and of its derivative, are calls of
the module around it. The functions of loops and branches have sections too, by the variables of their calls.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import (
    Call,
    Function,
    Recording,
    Value,
    functions_in,
    values_in,
)
from nestarray.exporters.source.tree.matching import is_same_program
from nestarray.exporters.source.tree.modules import (
    Module,
    Path,
    Step,
    Use,
    arguments,
    is_chain,
    joined,
    mapped_steps,
    numbered,
    output_of,
    parts,
    rank,
    results,
    with_calls,
)
from nestarray.graph.builder import NOWHERE

#: A module without variables and with at most this many calls is part of the module around it.
_SMALL = 3
#: Classes that hold modules and are not called.
_LISTS = ("ModuleList", "ModuleDict", "ParametrizationList", "List", "Dict")


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
    recording: Recording,
    kinds: Mapping[str, str],
    *,
    is_functional: bool,
    has_sequences: bool,
    separator: str,
) -> Module:
    """The root module of a program.

    Args:
        recording: the program, without calls whose results nothing uses.
        kinds: path of a module → name of its class, as far as known.
        is_functional: write modules of one call as a part of the module around them.
        has_sequences: the library has a class that calls modules one after the other.
        separator: of the parts of the name of a variable.
    """
    named = {parts(path): kind for path, kind in kinds.items()}
    return _Builder(recording, named, is_functional, has_sequences, separator).root()


class _Builder:
    def __init__(
        self,
        recording: Recording,
        kinds: Mapping[Path, str],
        is_functional: bool,
        has_sequences: bool,
        separator: str,
    ) -> None:
        self.separator = separator
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
        #: Call of a module → the module with the values of this call.
        self.runs: dict[Use, Module] = {}
        self.owner = {v: self._owner(v) for v in self.used if v.source in ("v", "s", "constants")}

    def _owner(self, value: Value) -> Path:
        """The path of a variable with its name; a constant is of the module around its users."""
        if value.source != "constants":
            return parts(value.path)
        users = [self.paths[i] if i < len(self.paths) else () for i in self.used[value]]
        return (*_shared([path[:-1] for path in users]), constant_name(value))

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
        children: dict[Path, Module] = {}

        def use(module: Module) -> list[Any]:
            name = module.path[len(path) :]
            child = children.setdefault(name, module)
            call = Use(name, child, module.inputs, [*module.outputs])
            self.runs[call] = module
            return [call]

        steps = mapped_steps(self._without_parts(self._found(path, start, stop)), use)
        return steps, children

    def _found(self, path: Path, start: int, stop: int) -> list[Call | Module]:
        """The calls of a section of the calls of a module, with a module for each run of one."""
        items: list[Call | Module] = []
        for name, (first, last) in self._sections(path, start, stop):
            if name is None:
                calls = self.calls[first:last]
                items += [with_calls(call, lambda f: self._found_in(f, path)) for call in calls]
            else:
                items.append(self._run((*path, name), first, last))
        return items

    def _found_in(self, function: Function, path: Path) -> list[Any]:
        """The calls of a function that a call of the module at a path takes, with modules too."""
        calls = self._placed(function.calls, path)
        recording = dataclasses.replace(
            self.recording, calls=calls, output=function.output, updates={}
        )
        inner = _Builder(
            recording, self.kinds, self.is_functional, self.has_sequences, self.separator
        )
        inner.owner, inner.runs = self.owner, self.runs
        return inner._found(path, 0, len(calls))

    def _placed(self, calls: Sequence[Call], path: Path) -> list[Call]:
        """The calls of a function of a module, in the modules of their variables.

        If several calls take matrices, all calls are in the module that has all variables.
        """
        owners: dict[Call, Path] = {}
        count = 0
        for call in calls:
            variables = [value for value in arguments(call) if value.source in ("v", "s")]
            if variables:
                owners[call] = _shared([self.owner[value][:-1] for value in variables])
                count += any(len(value.shape) > 1 for value in variables)
        around = _shared([*owners.values()]) if count > 1 else path
        placed: list[Call] = []
        for call in calls:
            own_path = owners.get(call, around)
            own_path = own_path if own_path[: len(path)] == path else path
            place = call.place._replace(module="/".join(own_path))
            placed.append(dataclasses.replace(call, place=place))
        return placed

    def _without_parts(self, steps: list[Any]) -> list[Any]:
        """The steps of modules that are a part of the module around them, in the place of the modules."""
        while True:
            runs: dict[Path, list[Module]] = {}
            for module in _modules_in(steps):
                runs.setdefault(module.path, []).append(module)
            parts = {
                path
                for path, modules in runs.items()
                if any(self._is_part(m, modules) for m in modules)
            }
            if not parts:
                return steps

            def opened(module: Module, parts: Collection[Path] = parts) -> list[Any]:
                if module.path not in parts:
                    return [module]
                return mapped_steps(module.steps, lambda use: [self.runs[use]])

            steps = mapped_steps(steps, opened)

    def _sections(
        self, path: Path, start: int, stop: int
    ) -> Iterator[tuple[str | None, tuple[int, int]]]:
        """(child, section) of the calls in a section; the child is None for calls of the module."""
        depth = len(path)

        def child(i: int) -> str | None:
            return self.paths[i][depth] if len(self.paths[i]) > depth else None

        for name, group in itertools.groupby(range(start, stop), child):
            section = list(group)
            first, last = section[0], section[-1] + 1
            size = self._period((*path, name), first, last) if name else last - first
            for i in range(first, last, size):
                yield name, (i, i + size)

    def _period(self, path: Path, start: int, stop: int) -> int:
        """The number of calls of one run of a module, which may run several times in a row.

        Equal runs read the same variables of the module. Calls of one child repeat in the child.
        """
        depth, count = len(path), stop - start

        def signature(i: int) -> tuple[Any, ...]:
            variables = [
                v for v in arguments(self.calls[i]) if self.owner.get(v, ())[:depth] == path
            ]
            return self.paths[i], self.calls[i].target, variables

        calls = [signature(i) for i in range(start, stop)]
        children = {called[depth : depth + 1] for called, _, _ in calls}
        if len(children) == 1 and children != {()}:
            return count
        for size in (n for n in range(1, count // 2 + 1) if count % n == 0):
            if calls[size:] == calls[:-size] and any(variables for _, _, variables in calls[:size]):
                runs = [self._run(path, i, i + size) for i in range(start, stop, size)]
                return size if all(is_same_program(runs[0], run) for run in runs[1:]) else count
        return count

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
        taken, returned = sorted(inputs, key=rank), sorted(outputs, key=rank)
        kind = self.kinds.get(path, "")
        return Module(path, kind, steps, taken, output_of(returned), children, {})

    def _is_part(self, module: Module, runs: Sequence[Module]) -> bool:
        """Whether the steps of a module belong to the module around it."""
        if self.is_functional and len(module.steps) == 1:
            return True
        if not self.has_sequences and _is_unnamed_sequence(module):
            return True
        has_variables = any(
            owner[: len(module.path)] == module.path for owner in self.owner.values()
        )
        if not has_variables and not module.children and len(module.steps) <= _SMALL:
            return not self.has_sequences or not module.path[-1].isdigit()
        if module.kind in _LISTS:
            return True
        has_calls = any(isinstance(step, Call) for step in module.steps)
        if not module.kind and not has_calls and (_is_holder(module) or not is_chain(module)):
            return True
        return not all(is_same_program(runs[0], run) for run in runs[1:])

    # -- variables -------------------------------------------------------------------------

    def _give_variables(self, root: Module) -> None:
        """Give each variable to the innermost module of its path."""
        modules = {module.path: module for module in root.walk()}
        for value, owner in self.owner.items():
            depth = max(n for n in range(len(owner)) if owner[:n] in modules)
            variables = modules[owner[:depth]].variables
            is_constant = value.source == "constants"
            name = owner[-1] if is_constant else joined(owner[depth:], self.separator)
            variables[unused(name, variables)] = value


def _modules_in(steps: Sequence[Any]) -> Iterator[Module]:
    """The modules among some steps, also in functions."""
    for step in steps:
        if isinstance(step, Module):
            yield step
        else:
            for function in functions_in(step):
                yield from _modules_in(function.calls)


def _shared(paths: Sequence[Path]) -> Path:
    """The names with which all paths begin."""
    names = itertools.takewhile(lambda keys: len({*keys}) == 1, zip(*paths, strict=False))
    return tuple(keys[0] for keys in names)


def _is_holder(module: Module) -> bool:
    """Whether a module only calls one child, which is no item of a sequence."""
    names = [step.name[-1] for step in module.steps if isinstance(step, Use)]
    return len(names) == 1 and not names[0].isdigit()


def _is_unnamed_sequence(module: Module) -> bool:
    return module.kind in ("", "Sequential") and is_chain(module)


def constant_name(value: Value) -> str:
    """The name of a constant, after its use."""
    if value.dtype == "bool":
        return "mask"
    return "positions" if value.dtype.startswith(("int", "uint")) else "constant"


def unused(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number if it is taken."""
    return next(n for n in numbered(name) if n not in taken)
