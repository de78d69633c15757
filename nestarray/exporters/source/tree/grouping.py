"""One class for the modules of one program; settings in which they differ become its arguments.

Modules of one class of the source share a class also if their programs differ (`alignment`): the class
is printed with the steps of all, and those that some lack depend on a flag, a child, a variable or an
input. A list of modules may be shorter. A child whose class differs, or a list that no loop makes, is
an argument; functions, which take no modules, call each class in a branch. An input that some lack
has the default None; outputs that some lack come last.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import Value, is_equal
from nestarray.exporters.source.tree.alignment import aligned
from nestarray.exporters.source.tree.classes import Class, Made
from nestarray.exporters.source.tree.loops import Option
from nestarray.exporters.source.tree.modules import (
    Module,
    Path,
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
    rank,
)
from nestarray.exporters.source.tree.options import Modules, NoCondition
from nestarray.exporters.source.tree.settings import (
    ABSENT,
    Absent,
    Setting,
    settings_in,
    settings_of,
)
from nestarray.exporters.source.tree.variable_names import snake

#: Names that a source imports, which no class has.
IMPORTED = ("Any", "Path")


def classes_of(
    root: Module, name: str, constants: dict[Value, str], *, may_give: bool
) -> dict[Module, Class]:
    """Module → its class; the classes of children come first.

    Args:
        root: the module of the model.
        name: of its class.
        constants: variable → the text that computes it. Variables whose texts differ in modules of
            one class are removed.
        may_give: a child may be an argument of a class.
    """
    classes = _Classes(root, constants, may_give)
    for module in sorted(root.walk(), key=_height):  # all children have their class then
        classes.add(module)
    return classes.finished(root, name)


def _height(module: Module) -> int:
    """The number of modules from one down to the innermost."""
    return 1 + max(map(_height, module.children.values()), default=0)


def _class_of(module: Module) -> Class:
    """The class of one module."""
    return Class(
        name="",
        module=module,
        members={module: [*module.steps]},
        inputs={module: [*module.inputs]},
        outputs={module: [*module.outputs]},
        choices={},
    )


class _Classes:
    """Finds the classes of modules."""

    def __init__(self, root: Module, constants: dict[Value, str], may_give: bool) -> None:
        self.constants, self.may_give = constants, may_give
        self.of: dict[Module, Class] = {}
        self.uses: dict[Module, list[Use]] = {}
        self.in_sequence: set[Module] = set()
        #: Class → the classes that one call may be of.
        self.alike: dict[Class, list[Class]] = {}
        self.modules = [*root.walk()]
        for module in self.modules:
            self.in_sequence.update(module.children.values() if is_sequence(module) else ())
            for use in module.uses:
                self.uses.setdefault(use.module, []).append(use)

    def add(self, module: Module) -> None:
        """Find the class of a module, whose children have one."""
        known = [*dict.fromkeys(self.of.values())]
        alike = [cls for cls in known if module.kind and module.kind == cls.module.kind]
        below = {self.of[child] for child in module.walk() if child is not module}
        for cls in alike:
            if cls in below:
                continue
            found = self._aligned(cls, module)
            if found and self._has_flags(found):
                return self._join(cls, found, module)
        for cls in known:
            has_all = [*cls.module.variables] == [*module.variables]
            has_all = has_all and len(cls.module.steps) == len(module.steps)
            found = self._aligned(cls, module) if has_all else None
            if found and self._is_whole(found, module) and len(found.choices) == len(cls.choices):
                return self._join(cls, found, module)
        self.of[module] = _class_of(module)
        return None

    def _join(self, cls: Class, found: Class, module: Module) -> None:
        """Give a class one more member, and calls the values that a module lacks.

        An input is None then, an output a value that nothing reads.
        """
        inputs = found.module.inputs[len(cls.module.inputs) :]
        outputs = found.module.outputs[len(cls.module.outputs) :]
        if inputs or outputs:
            for use in self._uses(cls):
                use.inputs = [*use.inputs, *(None for _ in inputs)]
                use.outputs = [*use.outputs, *map(dataclasses.replace, outputs)]
        for use in self.uses.get(module, ()):
            given: dict[Any, Value | None] = dict(zip(module.inputs, use.inputs, strict=True))
            made: dict[Any, Value | None] = dict(zip(module.outputs, use.outputs, strict=True))
            use.inputs = [given.get(value) for value in found.inputs[module]]
            pairs = zip(found.module.outputs, found.outputs[module], strict=True)
            use.outputs = [made.get(own) or dataclasses.replace(x) for x, own in pairs]
        cls.module, cls.members, cls.choices = found.module, found.members, found.choices
        cls.inputs, cls.outputs = found.inputs, found.outputs
        cls.given, cls.periods = found.given, found.periods
        for steps in zip(*found.members.values(), strict=True):
            called = {self.of[step.module]: step.module for step in steps if isinstance(step, Use)}
            if len(called) > 1:  # their calls have one text
                self.in_sequence.update(called.values())
                known = (other for own in called for other in self.alike.get(own, [own]))
                alike = [*dict.fromkeys(known)]
                self.alike |= dict.fromkeys(alike, alike)
        self.of[module] = cls
        self._store_constants(cls)

    def _store_constants(self, cls: Class) -> None:
        """Remove the texts of constants that differ between the modules of a class."""
        for name in cls.module.variables:
            own = [m.variables[name] for m in cls.members if name in m.variables]
            if len({self.constants.get(value) for value in own}) > 1:
                for value in own:
                    self.constants.pop(value, None)

    def _uses(self, cls: Class) -> Collection[Use]:
        """The calls of the modules of a class."""
        modules = [*self.modules, *(known.module for known in {*self.of.values()})]
        calls = (use for module in modules for use in module.uses)
        return {use: None for use in calls if self.of.get(use.module) is cls}

    def _aligned(self, cls: Class, part: Module) -> Class | None:
        """The class with one more member."""
        whole = cls.module
        found = aligned(whole, part, self._may_call, cls.members, cls.choices, self.constants)
        if found is None:
            return None
        more = [None for _ in found.inputs[len(whole.inputs) :]]
        new = [None for _ in found.outputs[len(whole.outputs) :]]
        is_partial = bool(new) or None in found.outputs
        if is_partial and not self.in_sequence.isdisjoint([*cls.members, part]):
            return None
        steps = {
            member: [None if i is None else own[i] for i, _ in found.steps]
            for member, own in cls.members.items()
        }
        inputs = {member: [*own, *more] for member, own in cls.inputs.items()}
        outputs = {member: [*own, *new] for member, own in cls.outputs.items()}
        return Class(
            name="",
            module=found.module,
            members=steps | {part: [own for _, own in found.steps]},
            inputs=inputs | {part: found.inputs},
            outputs=outputs | {part: found.outputs},
            choices=found.choices,
        )

    def _is_same(self, one: Module, other: Module) -> bool:
        return self.of[one] is self.of[other]

    def _is_whole(self, cls: Class, module: Module) -> bool:
        """Whether a member has all steps, inputs, outputs and children of a class."""
        return cls.is_like(module) and not self._give(cls)

    def _may_call(self, one: Module, other: Module) -> bool:
        """Whether a step may call two modules: of one class, or with as many arguments and results."""
        forms = [
            [[*map(rank, values)] for values in (m.inputs, m.outputs)]
            for m in (self.of[one].module, self.of[other].module)
        ]
        return self._is_same(one, other) or (self.may_give and forms[0] == forms[1])

    def _has_flags(self, cls: Class) -> bool:
        """Whether flags and lengths determine the children: a longer list repeats its end."""
        try:
            flags = _flags(cls)
        except NoCondition:
            return False
        given = self._give(cls)
        if any(name[-1].isdigit() for name in given):
            return False
        everyone = frozenset(cls.members)
        known = {frozenset[Module](), *flags, *(everyone - without for without in flags)}
        children = [name for name in cls.module.children if _slot(name) not in given]
        return all(cls.without(name) in known for name in children)

    def _give(self, cls: Class) -> Collection[Path]:
        """The children that are arguments: they have several classes, or no loop makes a list."""
        slots: dict[Path, list[Path]] = {}
        for name in cls.module.children:
            slots.setdefault(_slot(name), []).append(name)
        cls.given = {}
        cls.periods = {name: self._period(cls, name) for name in _lengths(cls)}
        cls.given = {
            slot: 0
            for slot, names in slots.items()
            if self.may_give
            and (cls.periods.get(slot) == 0 or any(self._differs(cls, name) for name in names))
        }
        return cls.given

    def _differs(self, cls: Class, name: Path) -> bool:
        """Whether the classes of a child differ, or the modules that are its arguments."""
        children = [m.children[name] for m in cls.members if name in m.children]
        if len({self.of[child] for child in children}) > 1:
            return True
        made = [[x for _, x in self._row(child) if isinstance(x, Made)] for child in children]
        return any(own != made[0] for own in made)

    def _period(self, cls: Class, name: Path) -> int:
        """The number of children that repeat at the end of lists of different lengths, or zero."""
        lists = [items_of(module, name) for module in cls.members]
        if any(int(key[-1]) != i for items in lists for i, key in enumerate(items)):
            return 0
        pairs = zip(cls.members, lists, strict=True)
        children = [[module.children[key] for key in items] for module, items in pairs]
        shortest, *longer = [n for n in cls.numbers(name) if n]
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
        row: list[tuple[str, Any]] = []
        for step, own in zip(whole.steps, cls.members[module], strict=True):
            row += _absent(settings_of(step)) if own is None else settings_of(own)
        for name in whole.variables:
            shape = module.variables[name].shape if name in module.variables else ABSENT
            row.append((f"{name}_shape", shape))
        for name, child in self._called(cls):
            found = _child_at(cls, module, name)
            like = next(iter(child.members))
            is_called = found is not None and self.of[found] is child
            row += self._row(found) if found and is_called else _absent(self._row(like))
        row += [(joined(slot[-1:]), self._made(module, slot)) for slot in cls.given]
        # an argument that is None decides about a part, so a module without the part has no choice
        decisive = {cls.parameters[name] for name, rest in cls.flags.values() if rest}
        row = [(k, None if x is ABSENT and i in decisive else x) for i, (k, x) in enumerate(row)]
        for without, flag in _flags(cls).items():
            sets = (without, frozenset(cls.members) - without)
            is_decided = any(cls.flags[own][1] for own in sets if own in cls.flags)
            row.append((flag, ABSENT if is_decided else module not in without))
        for name in _lengths(cls):
            word = joined(name) if name else whole.path[-1]
            row.append((f"num_{word}", len(items_of(module, name))))
        return row

    def _called(self, cls: Class) -> Collection[tuple[Path, Class]]:
        """The children that are no arguments, with their classes."""
        names = [name for name in cls.module.children if _slot(name) not in cls.given]
        children = ((name, m.children.get(name)) for name in names for m in cls.members)
        return dict.fromkeys((name, self.of[child]) for name, child in children if child)

    def _made(self, module: Module, slot: Path) -> Made | Absent:
        """A child, or a list of children, as an argument."""
        names = [slot] if slot in self.of[module].module.children else items_of(module, slot)
        if names == [slot] and slot not in module.children:
            return ABSENT
        children = {name: module.children[name] for name in names}
        built = [(name, self.of[m], self._row(m)) for name, m in children.items()]
        return Made(built, is_list=names != [slot])

    def _sort_values(self, classes: Sequence[Class]) -> None:
        """Put the inputs and the outputs that some modules lack last, in classes of one order."""
        given = _with_lacking_last([(c.module.inputs, [*c.inputs.values()]) for c in classes])
        made = _with_lacking_last([(c.module.outputs, [*c.outputs.values()]) for c in classes])
        for cls in classes:
            inputs, outputs = _chosen(cls.module.inputs, given), _chosen(cls.module.outputs, made)
            cls.module = dataclasses.replace(cls.module, inputs=inputs, output=output_of(outputs))
            cls.inputs = {module: _chosen(own, given) for module, own in cls.inputs.items()}
            cls.outputs = {module: _chosen(own, made) for module, own in cls.outputs.items()}
            for use in self._uses(cls):
                use.inputs, use.outputs = _chosen(use.inputs, given), _chosen(use.outputs, made)

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
        for cls in order:
            if not cls.module.layer:
                cls.name = name if root in cls.members else _class_name(cls, [*order], taken)
            if len(cls.members) > 1:
                self._sort_values(self.alike.get(cls, [cls]))
            self._give(cls)
            self._give_settings(cls)
        return {module: cls for cls in order for module in cls.members}

    def _give_settings(self, cls: Class) -> None:
        rows = [self._row(module) for module in cls.members]
        names = [name for name, _ in rows[0]]
        columns = [*zip(*[[x for _, x in row] for row in rows], strict=True)]
        taken = {identifier(name) for name in cls.module.variables}
        cls.settings, cls.parameters, cls.defaults = _settings(names, columns, taken)
        if cls.module.layer is not None:
            return
        position = 0
        given: dict[frozenset[Module], tuple[str, str]] = {}
        for i, step in enumerate(cls.module.steps):
            without = cls.lacking(i)
            for _ in settings_of(step):
                own = cls.settings[position]
                if isinstance(own, Setting) and without and _is_lacking(cls, columns, own, without):
                    given[without] = own.name, " is not None"
                position += 1
        for name in cls.module.variables:
            cls.shapes[name] = own = cls.settings[position]
            without = cls.lacks(name)
            if isinstance(own, Setting) and without and _is_lacking(cls, columns, own, without):
                given.setdefault(without, (own.name, " is not None"))
            position += 1
        for name, child in self._called(cls):
            cls.children[name, child] = position
            position += len(child.settings)
        for slot in cls.given:
            cls.given[slot] = position
            position += 1
        for without in _flags(cls):
            flag = cls.settings[position].name
            cls.defaults[flag] = False
            others = frozenset(cls.members) - without
            own = others if others in given and without not in given else without
            cls.flags[own] = given.get(own, (flag, ""))
            position += 1
        for name in _lengths(cls):
            cls.lengths[name] = position
            position += 1


def _is_lacking(
    cls: Class, columns: list[tuple[Any, ...]], setting: Setting, without: frozenset[Module]
) -> bool:
    """Whether an argument is None exactly for some modules."""
    column = columns[cls.parameters[setting.name]]
    return without == {m for m, x in zip(cls.members, column, strict=True) if _is_optional([x])}


def _child_at(cls: Class, module: Module, name: Path) -> Module | None:
    """A child, or the item at its place in the part of a shorter list that repeats."""
    if name in module.children:
        return module.children[name]
    items = items_of(module, name[:-1]) if name[-1].isdigit() else []
    period = cls.periods.get(name[:-1], 1)
    if not items or not period:
        return None
    return module.children[items[(int(name[-1]) - len(items)) % period - period]]


def _absent(noted: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(name, ABSENT) for name, _ in noted]


def _with_lacking_last(
    tables: Sequence[tuple[Sequence[Value], Sequence[Sequence[Value | None]]]],
) -> list[int]:
    """The positions of inputs or outputs, of which those that some modules lack come last.

    Args:
        tables: for each class its own values, and those of each module.
    """
    longest = max((values for values, _ in tables), key=len)
    rows = [row for _, own in tables for row in own]
    lacking = {i for row in rows for i, value in enumerate(row) if value is None}
    return sorted(range(len(longest)), key=lambda i: (rank(longest[i]), i in lacking))


def _chosen(values: Sequence[Any], positions: Sequence[int]) -> list[Any]:
    return [values[i] for i in positions if i < len(values)]


def _flags(cls: Class) -> dict[Modules, str]:
    """Modules that lack steps → the name of an argument."""
    found: dict[Modules, str] = {}
    for name in cls.module.variables:
        if without := cls.lacks(name):
            found.setdefault(without, f"use_{identifier(name)}")
    everyone = frozenset(cls.members)
    for option in cls.options():
        called = [cls.without(s.name) for s in option.all_steps if isinstance(s, Use)]
        is_decided = option.decides and not any(called)
        others = everyone - option.without
        if not is_decided and {option.without, others}.isdisjoint(found):
            without, name = _flag(option, cls.module, others)
            found[without] = name
    return found


def _flag(option: Option, module: Module, others: Modules) -> tuple[Modules, str]:
    """An argument that decides between branches: (modules where it is false, name).

    Args:
        option: the branches.
        module: of the class.
        others: the modules that make its steps.
    """
    without = option.without
    step = option.steps[0] if option.steps else None
    if isinstance(step, Use) and any(step.name in m.children for m in without):
        pairs = itertools.zip_longest(step.module.kind, module.kind)
        shared = len([*itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)])
        return without, f"is_{snake(step.module.kind[shared:])}"
    if isinstance(step, Use):
        return without, joined(step.name[:-1] if is_item(step.name) else step.name)
    path = parts(step.place.module if step else "")
    if path[: len(module.path)] == module.path and len(path) > len(module.path):
        return without, path[-1]
    if step is None or option.others:
        for own, rest in ((others, without), (without, others)):
            if role := _role(own, rest):
                return rest, f"is_{snake(role)}"
    if step is None:
        return without, "alternative"
    name = re.split(r"[.:]", step.target)[-1]  # maybe of a function that the branch calls
    return without, "residual" if name == "add" else f"use_{name}"


def _role(modules: Modules, others: Modules) -> str:
    """The name that modules, or the modules around them, have in the source, and others lack."""
    depths = zip(*map(_names_outwards, modules), strict=False)
    other_depths = zip(*map(_names_outwards, others), strict=False)
    for names, other_names in zip(depths, other_depths, strict=False):
        if len({*names}) == 1 and names[0] not in other_names:
            return names[0]
    return ""


def _names_outwards(module: Module) -> list[str]:
    """The names of a module and of those around it, without lists and their items."""
    pairs = itertools.pairwise((*module.path, ""))
    return [name for name, after in pairs if name.isidentifier() and not after.isdigit()][::-1]


def _lengths(cls: Class) -> list[Path]:
    """The lists of different lengths, not counting those that some modules lack."""
    lists = [name for name in lists_of(cls.module) if name not in cls.given]
    return [name for name in lists if len([n for n in cls.numbers(name) if n]) > 1]


def _slot(name: Path) -> Path:
    """The name of a child, or of the list whose item it is."""
    return name[:-1] if is_item(name) else name


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
        is_made = any(isinstance(x, Made) for x in values)  # each module has its own
        equal = [key for key, other in known.items() if _covers(other, column)]
        own = next(iter(equal), None)
        if all(is_equal(x, values[0]) for x in values):
            if ABSENT not in column or not values or base not in equal:
                settings.append(values[0] if values else ABSENT)
                continue
            own = base  # the stride of a block, in a part that some blocks lack
        own = own or next((key for key, other in known.items() if _covers(column, other)), None)
        own = None if is_made else own
        if own in known and not _covers(known[own], column):
            known[own], parameters[own] = column, i
            if not _is_optional(column):
                defaults.pop(own, None)
        if own is None:
            own = next(n for n in numbered(base) if n not in parameters and n not in taken)
            known[own], parameters[own] = column, i
            if _is_optional(column):
                defaults[own] = None
        settings.append(Setting(own))
    return settings, parameters, defaults


def _is_optional(column: Sequence[Any]) -> bool:
    """Whether a parameter may be None: a module lacks the part, or is made without it."""
    return any(x is ABSENT or x is None for x in column)


def _covers(column: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether a column has the values of another one."""
    return all(y is ABSENT or is_equal(x, y) for x, y in zip(column, other, strict=True))


def _class_name(cls: Class, others: list[Class], taken: set[str]) -> str:
    """The name in the source, or one after the path."""
    modules = [*cls.members]
    kinds = [module.kind for module in modules if module.kind]
    words = [part for part in modules[0].path if not part.isdigit()] or ["block"]
    is_listed = modules[0].path[-1:] and modules[0].path[-1].isdigit()
    word = words[-1].removesuffix("s") if is_listed else words[-1]
    base = max(kinds, key=kinds.count) if kinds else camel(word)
    name = next(n for n in numbered(base) if n not in taken)
    taken.add(name)
    return name


def camel(name: str) -> str:
    """``"self_attention_0"`` as ``"SelfAttention"``."""
    words = re.sub(r"_?\d+$", "", name)
    return "".join(w[:1].upper() + w[1:] for w in re.split(r"[^0-9a-zA-Z]+", words)) or "Block"
