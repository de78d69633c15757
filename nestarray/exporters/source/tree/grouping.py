"""One class for the modules of one program; settings in which they differ become its arguments.

Programs are equal up to settings, and up to children of modules of one class of the source: a list may
be shorter, and a single child may be absent, which a flag says (`matching`). Other modules have
classes of their own, which are named by the difference: ``Block``, ``BlockWithDownsample``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import Value, is_equal
from nestarray.exporters.source.tree.classes import Class
from nestarray.exporters.source.tree.matching import Match, matched
from nestarray.exporters.source.tree.modules import (
    Module,
    Path,
    Step,
    Use,
    identifier,
    is_item,
    is_sequence,
    items_of,
    joined,
    lists_of,
    numbered,
    output_of,
    parts,
)
from nestarray.exporters.source.tree.settings import ABSENT, Setting, settings_in, settings_of

#: Names that a source imports, which no class has.
IMPORTED = ("Any", "Path")


def classes_of(
    root: Module, name: str, constants: dict[Value, str], *, has_sequences: bool
) -> dict[Module, Class]:
    """Module → its class; the classes of children come first.

    Args:
        root: the module of the model.
        name: of its class.
        constants: variable → the text that computes it. Variables whose texts differ in modules of
            one class are removed.
        has_sequences: the library has a class that calls modules one after the other.
    """
    classes = _Classes(root, constants, has_sequences)
    for module in sorted(root.walk(), key=_height):  # all children have their class then
        classes.add(module)
    return classes.finished(root, name)


def _height(module: Module) -> int:
    """The number of modules from one down to the innermost."""
    return 1 + max(map(_height, module.children.values()), default=0)


class _Classes:
    """Finds the classes of modules."""

    def __init__(self, root: Module, constants: dict[Value, str], has_sequences: bool) -> None:
        self.constants, self.has_sequences = constants, has_sequences
        self.of: dict[Module, Class] = {}
        self.uses: dict[Module, list[Use]] = {}
        self.in_sequence: set[Module] = set()
        for module in root.walk():
            self.in_sequence.update(module.children.values() if is_sequence(module) else ())
            for use in module.uses:
                self.uses.setdefault(use.module, []).append(use)

    def add(self, module: Module) -> None:
        """Find the class of a module, whose children have one."""
        below = {self.of[child] for child in module.walk() if child is not module}
        known = [cls for cls in dict.fromkeys(self.of.values()) if cls not in below]
        known.sort(key=lambda cls: cls.module.kind != module.kind)
        for cls in known:
            if self._join(cls, module):
                return
        self.of[module] = Class(module, {module: [*module.steps]})

    def _join(self, cls: Class, module: Module) -> bool:
        """Make a module a member of a class if its program is equal; whether it is."""
        pair = self._both(cls, module)
        if pair is None or not self._may_share(*pair):
            return False
        both, match = pair
        bypasses = match.bypasses
        if both.module is module:  # it gets the bypasses of the program that was the class's
            steps = zip(module.steps, match.steps, strict=True)
            old = {x: y.bypass for x, y in steps if isinstance(x, Use) and isinstance(y, Use)}
            bypasses = old | bypasses
        elif any(use.bypass not in ((), places) for use, places in bypasses.items()):
            return False
        self._adapt(cls, module, both.module, match)
        for use, places in bypasses.items():
            use.bypass = places
        cls.module, cls.members, cls.periods = both.module, both.members, both.periods
        self.of[module] = cls
        self._store_constants(cls)
        return True

    def _both(self, cls: Class, module: Module) -> tuple[Class, Match] | None:
        """A class with one more member and the match with its program; the longer one is printed."""
        match = matched(cls.module, module, self._is_same)
        if match is not None:
            both = Class(cls.module, {**cls.members, module: match.steps})
        else:
            match = matched(module, cls.module, self._is_same)
            if match is None:
                return None
            place = {step: i for i, step in enumerate(cls.module.steps)}
            order = [None if step is None else place[step] for step in match.steps]
            members: dict[Module, list[Step | None]] = {
                member: [None if i is None else steps[i] for i in order]
                for member, steps in cls.members.items()
            }
            both = Class(module, {**members, module: [*module.steps]})
        both.periods = {name: self._period(both, name) for name in _lengths(both)}
        return both, match

    def _may_share(self, cls: Class, match: Match) -> bool:
        """Whether a class can be written: flags and lengths say which children its modules have."""
        is_alike = len({member.kind or member for member in cls.members}) == 1
        if not is_alike and not match.is_whole:
            return False
        has_all_outputs = not match.more and None not in match.outputs
        if not has_all_outputs and not self.in_sequence.isdisjoint(cls.members):
            return False
        optional = [name for name in cls.module.children if cls.is_optional(name)]
        is_listed = any(not is_item(name) and any(map(str.isdigit, name)) for name in optional)
        is_sequences = self.has_sequences and all(map(is_sequence, cls.members))
        return (is_sequences or not is_listed) and 0 not in cls.periods.values()

    def _adapt(self, cls: Class, module: Module, base: Module, match: Match) -> None:
        """Call the modules of a class and another one with the inputs and outputs of `base`."""
        parts: Collection[Module] = [*cls.members] if base is module else [module]
        part = cls.module if base is module else module
        outputs = [*match.outputs, *map(match.values.__getitem__, match.more)]
        for use in (use for member in parts for use in self.uses.get(member, ())):
            inputs: dict[Any, Value | None] = dict(zip(part.inputs, use.inputs, strict=True))
            results: dict[Any, Value | None] = dict(zip(part.outputs, use.outputs, strict=True))
            use.inputs = [inputs.get(match.values.get(value)) for value in base.inputs]
            use.outputs = [results.get(value) for value in outputs]
        if match.more:
            for member in {module, *cls.members}.difference(parts):
                for use in self.uses.get(member, ()):
                    use.outputs = [*use.outputs, *(None for _ in match.more)]
            base.output = output_of([*base.outputs, *match.more])

    def _store_constants(self, cls: Class) -> None:
        """Remove the texts of constants that differ between the modules of a class."""
        for name in cls.module.variables:
            # layers lack some
            values = [m.variables[name] for m in cls.members if name in m.variables]
            if len({self.constants.get(value) for value in values}) > 1:
                for value in values:
                    self.constants.pop(value, None)

    def _is_same(self, one: Module, other: Module) -> bool:
        return self.of[one] is self.of[other]

    def _period(self, cls: Class, name: Path) -> int:
        """The number of children that repeat at the end of lists of different lengths, or zero."""
        lists = [items_of(module, name) for module in cls.members]
        if any(int(key[-1]) != i for items in lists for i, key in enumerate(items)):
            return 0
        pairs = zip(cls.members, lists, strict=True)
        children = [[module.children[key] for key in items] for module, items in pairs]
        shortest, *longer = cls.numbers(name)  # a list of none has no period
        for period in range(1, shortest + 1):
            tails = [items[shortest - period :] for items in children]
            repeat = [(a, b) for tail in tails for a, b in zip(tail, tail[period:], strict=False)]
            is_whole = all((n - shortest) % period == 0 for n in longer)
            if is_whole and all(self._is_equal(a, b) for a, b in repeat):
                return period
        return 0

    def _is_equal(self, one: Module, other: Module) -> bool:
        return self._is_same(one, other) and self._row(one) == self._row(other)

    # -- settings --------------------------------------------------------------------------

    def _row(self, module: Module) -> list[tuple[str, Any]]:
        """(name, value) of the settings of a module, as many as of others of its class."""
        cls = self.of[module]
        whole = cls.module
        if module.layer is not None:
            return [*settings_in(module.layer.kwargs, "")]
        row = [pair for step in cls.members[module] if step for pair in settings_of(step)]
        row += [(f"{name}_shape", module.variables[name].shape) for name in whole.variables]
        for name, child in whole.children.items():
            like = _child_at(cls, module, name)
            row += self._row(like) if like else [(key, ABSENT) for key, _ in self._row(child)]
        for name in _optional(cls):
            row.append((joined(name), name in module.children))
        for name in _lengths(cls):
            row.append(
                (f"num_{joined(name) if name else whole.path[-1]}", len(items_of(module, name)))
            )
        return row

    def finished(self, root: Module, name: str) -> dict[Module, Class]:
        """Module → its class, with all attributes."""
        order: dict[Class, None] = {}

        def note(cls: Class) -> None:
            if cls in order:
                return
            for child in (child for m in cls.members for child in m.children.values()):
                note(self.of[child])
            order[cls] = None

        note(self.of[root])
        taken = {name, *IMPORTED}
        named: dict[str, Class] = {}
        for cls in order:
            if not cls.module.layer:
                cls.name = name if root in cls.members else self._class_name(cls, named, taken)
                taken.add(cls.name)
            self._give_settings(cls)
        return {module: cls for cls in order for module in cls.members}

    def _class_name(self, cls: Class, named: dict[str, Class], taken: Collection[str]) -> str:
        """The name in the source, or one after the path; with the difference from a namesake."""
        modules = [*cls.members]
        kinds = [module.kind for module in modules if module.kind]
        words = [part for part in modules[0].path if not part.isdigit()] or ["block"]
        is_listed = modules[0].path[-1:] and modules[0].path[-1].isdigit()
        word = words[-1].removesuffix("s") if is_listed else words[-1]
        base = max(kinds, key=kinds.count) if kinds else camel(word)
        other = named.setdefault(base, cls).module
        names = [base] if other is cls.module else [*self._differences(cls.module, other, base)]
        numbers = (f"{base}{n}" for n in itertools.count(2))
        return next(
            n for n in itertools.chain(names, numbers) if n.isidentifier() and n not in taken
        )

    def _differences(self, module: Module, other: Module, base: str) -> Iterator[str]:
        """Names after a child or variable that one module has, or after a child of another class."""
        names, others = (_parts(m) for m in (module, other))
        for word, some, known in (("With", names, others), ("Without", others, names)):
            owners, lists = {name[0] for name in known}, {_slot(name) for name in known}
            for name in map(_slot, some):
                if name not in lists:
                    last = name if name[0] in owners else name[:1]
                    yield f"{base}{word}{''.join(map(camel, last))}"
        for name, child in module.children.items():
            like = other.children.get(name)
            if like is not None and child.kind != like.kind:
                yield f"{base}With{child.kind}"
            elif like is not None and not self._is_same(child, like):
                yield base + self.of[child].name.removeprefix(child.kind)

    def _give_settings(self, cls: Class) -> None:
        rows = [self._row(module) for module in cls.members]
        names = [name for name, _ in rows[0]]
        columns = [*zip(*[[x for _, x in row] for row in rows], strict=True)]
        taken = {identifier(name) for name in cls.module.variables}
        cls.settings, cls.parameters, cls.defaults = _settings(names, columns, taken)
        if cls.module.layer is not None:
            return
        position = sum(1 for step in cls.module.steps for _ in settings_of(step))
        for name in cls.module.variables:
            cls.shapes[name] = cls.settings[position]
            position += 1
        for name, child in cls.module.children.items():
            cls.children[name] = position
            position += len(self.of[child].settings)
        for name in _optional(cls):
            cls.flags[name] = flag = cls.settings[position].name
            cls.defaults[flag] = False
            position += 1
        for name in _lengths(cls):
            cls.lengths[name] = position
            position += 1


def _optional(cls: Class) -> list[Path]:
    """The children, without items of lists, that some modules lack."""
    return [
        name for name in cls.module.children if not name[-1].isdigit() and cls.is_optional(name)
    ]


def _parts(module: Module) -> list[Path]:
    """The children of a module, and the paths of its variables below it."""
    depth = len(module.path)
    paths = [parts(value.path)[depth:] or (name,) for name, value in module.variables.items()]
    return [*module.children, *paths]


def _slot(name: Path) -> Path:
    """The name of a child, or of the list whose item it is."""
    return name[:-1] if is_item(name) else name


def _child_at(cls: Class, module: Module, name: Path) -> Module | None:
    """A child, or the item at its place in the part of a shorter list that repeats."""
    if name in module.children:
        return module.children[name]
    items = items_of(module, name[:-1]) if name[-1].isdigit() else []
    period = cls.periods.get(name[:-1], 1)
    if not items or not period:
        return None
    return module.children[items[(int(name[-1]) - len(items)) % period - period]]


def _lengths(cls: Class) -> list[Path]:
    """The lists of different lengths."""
    return [name for name in lists_of(cls.module) if len(cls.numbers(name)) > 1]


def _settings(
    names: list[str], columns: list[tuple[Any, ...]], taken: Collection[str]
) -> tuple[list[Any], dict[str, int], dict[str, Any]]:
    """The settings of a class, its parameters and their defaults: equal columns share a parameter.

    A module may lack a setting, whose value is any then. No parameter has a name in `taken`.
    """
    settings: list[Any] = []
    parameters: dict[str, int] = {}
    defaults: dict[str, Any] = {}
    known: dict[str, tuple[Any, ...]] = {}
    for i, (name, column) in enumerate(zip(names, columns, strict=True)):
        values = [x for x in column if x is not ABSENT]
        base = re.sub(r"\W", "_", name.rpartition(".")[2].rpartition(":")[2]) or "size"
        equal = [key for key, other in known.items() if _covers(other, column)]
        parameter = next(iter(equal), None)
        if all(is_equal(x, values[0]) for x in values):
            if ABSENT not in column or not values or base not in equal:
                settings.append(values[0] if values else ABSENT)
                continue
            parameter = base  # the stride of a block, in a part that some blocks lack
        parameter = parameter or next(
            (key for key, other in known.items() if _covers(column, other)), None
        )
        if parameter in known and not _covers(known[parameter], column):
            known[parameter], parameters[parameter] = column, i
            if not _is_optional(column):
                defaults.pop(parameter, None)
        if parameter is None:
            parameter = next(n for n in numbered(base) if n not in parameters and n not in taken)
            known[parameter], parameters[parameter] = column, i
            if _is_optional(column):
                defaults[parameter] = None
        settings.append(Setting(parameter))
    return settings, parameters, defaults


def _is_optional(column: Sequence[Any]) -> bool:
    """Whether a parameter may be None: a module lacks the part, or is made without it."""
    return any(x is ABSENT or x is None for x in column)


def _covers(column: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether a column has the values of another one."""
    return all(y is ABSENT or is_equal(x, y) for x, y in zip(column, other, strict=True))


def camel(name: str) -> str:
    """``"self_attention_0"`` as ``"SelfAttention"``."""
    words = re.sub(r"_?\d+$", "", name)
    return "".join(w[:1].upper() + w[1:] for w in re.split(r"[^0-9a-zA-Z]+", words)) or "Block"
