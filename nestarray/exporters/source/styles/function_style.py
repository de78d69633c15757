"""Programs as functions of nested parameters, for JAX and NumPy."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from keyword import kwlist
from typing import Any

from nestarray.exporters.source.printing.bodies import Body
from nestarray.exporters.source.printing.expressions import Expression, Names
from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.records import Call, Name, Value
from nestarray.exporters.source.styles.style import Style
from nestarray.exporters.source.tree.classes import Class
from nestarray.exporters.source.tree.grouping import classes_of
from nestarray.exporters.source.tree.modules import (
    Module,
    Path,
    Use,
    arguments,
    items_of,
    parts,
)
from nestarray.exporters.source.tree.variable_names import input_names, snake

#: Names of the source that no function of a module has.
_TAKEN = ("params", "state", "load", "copy", "functools", "math", *kwlist)
#: The arguments that hold the parameters and the state.
_HOLDERS = {"v": "params", "s": "state", "constants": "state"}
_STATE = Value((), "state", "state")


_LOAD = '''def load(path=WEIGHTS):
    """The {what}: nested dicts and lists of arrays."""
    tree = {{}}
    for name, x in load_file(path).items():
        *groups, last = name.split(".")
        functools.reduce(lambda group, key: group.setdefault(key, {{}}), groups, tree)[last] = x
    return {result}


def _lists(tree):
    """Dicts whose keys are the numbers from 0 on, as lists."""
    if not isinstance(tree, dict):
        return tree
    is_list = tree.keys() == {{str(i) for i in range(len(tree))}}
    keys = map(str, range(len(tree))) if is_list else tree
    items = {{key: _lists(tree[key]) for key in keys}}
    return list(items.values()) if is_list else items
'''


class FunctionStyle(Style):
    """Writes one function for each class of modules.

    Attributes:
        copied: the state in new dicts and lists, which the functions change.
    """

    is_functional = True
    returns_state = True
    copied: str

    def __init__(self, program: Program, name: str) -> None:
        super().__init__(program, name)
        self.classes = classes_of(self.root, self.name, self.constants, has_sequences=False)
        self.places: dict[Value, tuple[str, Path]] = {}
        for keys, name_, value in self.root.variables_below():
            owner = tuple(part for key in keys for part in key)
            path = (*owner, name_) if value.source == "constants" else parts(value.path)
            if value not in self.constants:
                self.places[value] = _HOLDERS[value.source], path
        #: Holder and path of each group of variables.
        self.groups = {
            (h, path[:n]) for h, path in self.places.values() for n in range(len(path) + 1)
        }
        self.has_state = any(holder == "state" for holder, _ in self.places.values())
        self.variables = {
            ".".join([holder, *path] if self.has_state else path): value
            for value, (holder, path) in self.places.items()
        }
        self.lists = _lists(self.places.values())
        calls = [call for module in self.root.walk() for call in module.calls]
        self.changes_state = any(call.target == "state:set" for call in calls)
        self.defined = self.language.defined(calls)
        taken = {*self.defined, *self.language.short.values(), *_TAKEN}
        classes = dict.fromkeys(self.classes.values())
        for cls in sorted(
            classes, key=lambda cls: cls.module is not self.root
        ):  # its name is given
            base = self.name if cls.module is self.root else snake(cls.name)
            cls.name = next(
                n for n in (base, f"{base}_block", f"{base}_{len(taken)}") if n not in taken
            )
            taken.add(cls.name)
        self.reserved = taken

    @classmethod
    def name_of(cls, name: str) -> str:
        """The name of the function of a model: its class, or ``model`` if the source has this name."""
        base = snake(name)
        functions = {key for module in cls.language.functions for key in vars(module)}
        taken = {*functions, *cls.language.short.values(), *_TAKEN, "sequential", "function"}
        return base if base.isidentifier() and base not in taken else "model"

    def body(self) -> str:
        """The functions, those that others call first, and `load`."""
        written = [*self.defined.values()]
        written += ["\n".join(self._function(cls)) for cls in dict.fromkeys(self.classes.values())]
        holders = self._holders(())
        words = {"params": "parameters", "state": "state"}
        what = " and the ".join(words[holder] for holder in holders) or "parameters"
        trees = [f'tree["{holder}"]' for holder in holders] if self.has_state else ["tree"]
        result = ", ".join(f"_lists({tree})" for tree in trees)
        return "\n\n\n".join([*written, _LOAD.format(what=what, result=result)])

    def words(self) -> dict[str, str]:
        """The words of the templates, with the arguments that hold the variables."""
        used = dict.fromkeys(holder for holder, _ in self.places.values())
        holders = [holder for holder in ("params", "state") if holder in used]
        return {**super().words(), "variables": ", ".join(holders) or "params"}

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        """The output of the source, and the new values of its state."""
        loaded = namespace["load"]()
        variables = loaded if isinstance(loaded, tuple) else (loaded,)
        result = namespace[self.name](*variables, *inputs)
        if not self.writes:
            return result, {}
        output, state = result

        def find(group: Any, key: str) -> Any:
            return group[int(key)] if isinstance(group, list) else group[key]

        places = {name: self.variables[name].path for name in self.writes}
        return output, {n: functools.reduce(find, parts(path), state) for n, path in places.items()}

    # -- functions -------------------------------------------------------------------------

    def _function(self, cls: Class) -> list[str]:
        module = cls.module
        used: dict[str, None] = {}

        def setting(name: str) -> str:
            used[name] = None
            return name

        inputs = input_names(module.inputs)
        body = Body(
            self.language,
            lambda use, inputs: self._use(cls, use, inputs, setting),
            lambda value: self._variable(cls, value),
            setting,
            lambda name, start: self._loop(cls, name, start),
            lambda name: self._condition(cls, name, setting),
            self.reserved,
            lambda call: self._group(cls, call),
            lambda call, names: self._expression(cls, call, names),
        )
        items = cls.items(lambda a, b: self._is_same(cls, a, b), has_slices=True)
        lines = body.lines(items, inputs, self._output(module, module.output))
        if module is self.root and self.changes_state:
            lines.insert(0, f"state = {self.copied}")
        cls.parameters = {name: i for name, i in cls.parameters.items() if name in used}
        holders = self._holders_of(cls)
        if module is self.root and not holders:
            holders = ["params"]  # empty
        names = [*holders, *inputs.values()]
        names += ["*", *cls.signature()] if cls.parameters else []
        return [f"def {cls.name}({', '.join(names)}):", *(f"    {line}" for line in lines)]

    def _output(self, module: Module, output: Any) -> Any:
        """The output; of the model with the new state, if it changes."""
        if module is not self.root or not self.changes_state:
            return output
        return [output, _STATE] if isinstance(output, Value) else (output, _STATE)

    def _holders(self, path: Path) -> list[str]:
        """The arguments with variables that the module at a path takes."""
        return [holder for holder in ("params", "state") if (holder, path) in self.groups]

    def _holders_of(self, cls: Class, name: Path = ()) -> list[str]:
        """The arguments with variables that modules of a class take, or that a child of them takes."""
        used = {holder for m in cls.members for holder in self._holders((*m.path, *name))}
        return [holder for holder in ("params", "state") if holder in used]

    def _variable(self, cls: Class, value: Value) -> str | None:
        if value is _STATE:
            return "state"
        if value in self.constants:
            return self.constants[value]
        if value not in self.places:
            return None
        holder, path = self.places[value]
        return self.access(holder, path, self.depth(cls, path))

    def access(self, holder: str, path: Path, start: int) -> str:
        """The text of a part of the parameters or the state, from a module at depth `start`."""
        keys = [
            f"[{path[i]}]" if (holder, path[:i]) in self.lists else f'["{path[i]}"]'
            for i in range(start, len(path))
        ]
        return holder + "".join(keys)

    def _use(self, cls: Class, use: Use, inputs: list[str], setting: Callable[[str], str]) -> str:
        child, name = self.classes[use.module], use.name
        is_item = name[-1] == "*"
        name = items_of(cls.module, name[:-1])[-1] if is_item else name
        trees: list[str] = []
        paths = [m.path for m in cls.members if name in m.children]
        for holder in self._holders_of(child):
            has = [path for path in paths if holder in self._holders((*path, *name))]
            text = self.access(holder, (*has[0], *name), len(has[0])) if has else "{}"
            text = text if len(has) in (0, len(paths)) else f"{text} if {holder} else {{}}"
            trees.append(self._item(holder, name) if has and is_item else text)
        settings = [
            f"{key}={self.language.value(x, lambda s: Expression(setting(s.name))).text}"
            for key, x in cls.arguments(name, child).items()
        ]
        return f"{child.name}({', '.join([*trees, *inputs, *settings])})"

    def _group(self, cls: Class, call: Call) -> Path:
        """The path, below a module, of the group of variables that a call takes."""
        for value in arguments(call):
            if value in self.places:
                path = self.places[value][1]
                return path[self.depth(cls, path) : -1]
        return ()

    def _item(self, holder: str, name: Path) -> str:
        """The variable of a loop over a list: ``"layer"``, ``"layer_state"``."""
        word = name[-2]
        word = word[:-1] if len(word) > 2 and word.endswith("s") else word
        word = "block" if len(word) < 3 or word.isdigit() else word
        if holder != "params":
            return f"{word}_state"
        return f"{word}_params" if word in self.reserved else word

    def _owner(self, cls: Class, name: Path) -> Path:
        """The path of a module of a class with the longest list."""
        return max(cls.members, key=lambda module: len(items_of(module, name))).path

    def _loop(self, cls: Class, name: Path, start: int) -> str:
        owner = self._owner(cls, name)
        path = (*owner, *name)
        holders = self._holders((*path, str(start)))
        names = ", ".join(self._item(holder, (*name, str(start))) for holder in holders)
        index = f"[{start}:]" if start else ""
        lists = [self.access(holder, path, len(owner)) + index for holder in holders]
        of = lists[0] if len(lists) == 1 else f"zip({', '.join(lists)})"
        return f"for {names} in {of}:"

    def _is_same(self, cls: Class, a: Path, b: Path) -> bool:
        """Whether two items of a list are called with equal settings, and have variables."""
        owner = self._owner(cls, a[:-1])
        path = (*owner, *a)
        holders = self._holders(path)
        number = len(items_of(cls.module, a[:-1]))
        is_list = all(self.lists.get((holder, path[:-1])) == number for holder in holders)
        is_list = is_list and holders == self._holders((*owner, *b))
        is_list = is_list and holders == self._holders_of(cls, a)
        calls = [self._call(cls, name) for name in (a, b)]
        return bool(holders) and is_list and calls[0] == calls[1]

    def _call(self, cls: Class, name: Path) -> tuple[Class, dict[str, Any]]:
        """The class of a child and the settings with which it is called."""
        child = self.classes[cls.module.children[name]]
        return child, cls.arguments(name, child)

    def _condition(self, cls: Class, name: Path, setting: Callable[[str], str]) -> str:
        """Whether a module has a child, if some lack it: by its variables, or by a flag."""
        if not cls.is_optional(name):
            return ""
        path = next(m.path for m in cls.members if name in m.children)
        holder = next(iter(self._holders((*path, *name))), "")
        if not holder:
            return setting(cls.flags[name])
        text = self.access(holder, (*path, *name[:-1]), len(path))
        is_list = (holder, (*path, *name[:-1])) in self.lists
        return f"len({text}) > {name[-1]}" if is_list else f'"{name[-1]}" in {text}'

    def depth(self, cls: Class, path: Path) -> int:
        """The depth of the module of a class that has a variable."""
        owners = (m.path for m in cls.members if path[: len(m.path)] == m.path)
        return len(next(owners, cls.module.path))

    def _expression(self, cls: Class, call: Call, names: Names) -> Expression:
        """The text of a call: ``linear(x, **params["query"])``."""
        return self.language.expression(self._unpacked(cls, call), names)

    def _unpacked(self, cls: Class, call: Call) -> Call:
        """A call, whose last arrays are unpacked from the dict that holds just these."""
        if not call.target.startswith("."):
            return call
        names = [*self.language.parameters(call.target)]
        for count in range(1, len(call.args)):
            variables = [self.places.get(x) for x in call.args[count:]]
            if variables[0] is None or None in variables:
                continue
            holder, path = variables[0]
            group = [
                x
                for x in self.places.values()
                if (x[0], x[1][: len(path) - 1]) == (holder, path[:-1])
            ]
            is_named = [x[1][-1] for x in variables if x] == names[count : count + len(variables)]
            depth = self.depth(cls, path)
            if {*variables} == {*group} and is_named and len(path) > depth + 1:
                unpacked = Name(f"**{self.access(holder, path[:-1], depth)}")
                return dataclasses.replace(call, args=(*call.args[:count], unpacked))
        return call


def _lists(places: Any) -> dict[tuple[str, Path], int]:
    """(holder, path) of the groups whose names are the numbers from 0 on → their number."""
    groups: dict[tuple[str, Path], set[str]] = {}
    for holder, path in places:
        for i, key in enumerate(path):
            groups.setdefault((holder, path[:i]), set()).add(key)
    return {
        place: len(keys)
        for place, keys in groups.items()
        if keys == {str(i) for i in range(len(keys))}
    }
