"""The calls of a recording as a tree of modules, as the source is built.

The calls of a module follow each other, so a call of a module is a section of the list of calls. What
a section uses of outside are the module's inputs; its results that are used outside are its outputs.
Sections of one module whose calls differ, such as those of a layer and of its derivative, are calls of
the module around it.
"""

from __future__ import annotations

import dataclasses
import itertools
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import Call, Recording, Value, values_in
from nestarray.exporters.source.tree.alignment import is_aligned
from nestarray.exporters.source.tree.modules import (
    Module,
    Path,
    Step,
    Use,
    arguments,
    is_chain,
    joined,
    numbered,
    output_of,
    parts,
    rank,
    results,
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
        found: list[Step | Module] = []
        for name, (first, last) in self._sections(path, start, stop):
            if name is None:
                found += self.calls[first:last]
            else:
                found.append(self._run((*path, name), first, last))
        found = self._without_parts(found)
        children: dict[Path, Module] = {}
        steps: list[Step] = []
        for step in found:
            if isinstance(step, Module):
                name = step.path[len(path) :]
                child = children.setdefault(name, step)
                use = Use(name, child, step.inputs, [*step.outputs])
                self.runs[use] = step
                step = use
            steps.append(step)
        return steps, children

    def _without_parts(self, steps: list[Step | Module]) -> list[Step | Module]:
        """The steps of modules that are a part of the module around them, in the place of the modules."""
        while True:
            runs: dict[Path, list[Module]] = {}
            for step in steps:
                if isinstance(step, Module):
                    runs.setdefault(step.path, []).append(step)
            kept: list[Step | Module] = []
            for step in steps:
                if isinstance(step, Module) and self._is_part(step, runs[step.path]):
                    kept += [self.runs[s] if isinstance(s, Use) else s for s in step.steps]
                else:
                    kept.append(step)
            if len(kept) == len(steps) and all(map(operator.is_, kept, steps)):
                return kept
            steps = kept

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
            own = [v for v in arguments(self.calls[i]) if self.owner.get(v, ())[:depth] == path]
            return self.paths[i], self.calls[i].target, own

        calls = [signature(i) for i in range(start, stop)]
        children = {called[depth : depth + 1] for called, _, _ in calls}
        if len(children) == 1 and children != {()}:
            return count
        for size in (n for n in range(1, count // 2 + 1) if count % n == 0):
            if calls[size:] == calls[:-size] and any(own for _, _, own in calls[:size]):
                runs = [self._run(path, i, i + size) for i in range(start, stop, size)]
                return size if all(is_aligned(runs[0], run) for run in runs[1:]) else count
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
        given, made = sorted(inputs, key=rank), sorted(outputs, key=rank)
        kind = self.kinds.get(path, "")
        return Module(path, kind, steps, given, output_of(made), children, {})

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
        has_calls = any(isinstance(step, Call) for step in module.steps)
        if not module.kind and not has_calls and not is_chain(module):
            return True
        return not all(is_aligned(runs[0], run) for run in runs[1:])

    # -- variables -------------------------------------------------------------------------

    def _give_variables(self, root: Module) -> None:
        """Give each variable to the innermost module of its path."""
        modules = {module.path: module for module in root.walk()}
        for value, owner in self.owner.items():
            depth = max(n for n in range(len(owner)) if owner[:n] in modules)
            own = modules[owner[:depth]].variables
            is_constant = value.source == "constants"
            name = owner[-1] if is_constant else joined(owner[depth:], self.separator)
            own[_unused(name, own)] = value


def _is_unnamed_sequence(module: Module) -> bool:
    return module.kind in ("", "Sequential") and is_chain(module)


def constant_name(value: Value) -> str:
    """The name of a constant, after its use."""
    if value.dtype == "bool":
        return "mask"
    return "positions" if value.dtype.startswith(("int", "uint")) else "constant"


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    return next(n for n in numbered(name) if n not in taken)
