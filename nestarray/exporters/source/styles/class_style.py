"""Programs as classes with a method, for PyTorch, Flax NNX, Equinox and TensorFlow."""

from __future__ import annotations

import inspect
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.printing.bodies import Body
from nestarray.exporters.source.printing.expressions import Expression
from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.style import Style
from nestarray.exporters.source.tree.classes import Class, Made
from nestarray.exporters.source.tree.grouping import IMPORTED, classes_of
from nestarray.exporters.source.tree.loops import Option
from nestarray.exporters.source.tree.modules import (
    Module,
    Path,
    Use,
    arguments,
    attribute,
    indexed,
    is_item,
    is_sequence,
    items_of,
    joined,
    number_lists,
)
from nestarray.exporters.source.tree.settings import Setting, is_setting
from nestarray.exporters.source.tree.variable_names import input_names

#: Arguments that are written without their names: sizes come first, in this order.
_SIZES = (
    "in_features", "out_features", "num_embeddings", "embedding_dim", "in_channels",
    "out_channels", "input_size", "hidden_size", "embed_dim", "num_heads", "d_model", "nhead",
    "dim_feedforward", "normalized_shape", "num_groups", "num_channels", "num_features",
)  # fmt: skip


class ClassStyle(Style):
    """Writes classes; subclasses give the lines of a library.

    Attributes:
        base: the base class.
        load: the text that makes the model with its weights; a template of `words`.
        method: the name of the method that computes.
        begin: the first lines of a constructor.
        sequence: the class that calls modules one after the other; empty if there is none.
        states: variables that the module does not hold, but a state that is an argument.
        last: the last lines of the constructor of the model.
        passed_on: an argument that constructors of modules with layers take and hand on, ``"rngs"``.
        placeholder: a module that does nothing, for numbers of a list that the source has and the
            program does not call; empty if lists are numbered anew.
        separator: of the parts of the name of a child.
        namespace: a module that holds the children and variables whose names share a prefix, if the
            separator is a dot.
    """

    base: str
    load: str
    method = "__call__"
    begin: tuple[str, ...] = ()
    sequence = ""
    states: Collection[Value] = ()
    placeholder = ""
    separator = "_"
    namespace = ""
    last: Sequence[str] = ()
    passed_on = ""

    def __init__(self, program: Program, name: str) -> None:
        super().__init__(program, name)
        for module in self.root.walk():
            if not self.placeholder:
                number_lists(module)
        self.classes = classes_of(self.root, self.name, self.constants, may_give=True)
        written = [module for module in self.root.walk() if module.layer is None]
        calls = [call for module in written for call in module.calls]
        calls += [module.layer for module in self.root.walk() if module.layer]
        self.defined = self.language.defined(calls)
        for keys, own, value in self.root.variables_below():
            if value not in self.constants:
                self.variables[".".join([*self._keys(keys), own])] = value

    @classmethod
    def name_of(cls, name: str) -> str:
        """The name of the class of a model."""
        is_free = re.fullmatch(r"[A-Z]\w*", name) and name not in ("Sequential", *IMPORTED)
        return name if is_free else "Model"

    # -- lines of a library ------------------------------------------------------------------

    @abstractmethod
    def variable(self, name: str, value: Value, shape: str, otherwise: str) -> str:
        """The line of a constructor that makes a variable.

        Args:
            name: of the variable.
            value: the variable.
            shape: the text of its shape.
            otherwise: the text that follows where some modules lack it, or nothing.
        """

    def constant(self, name: str, text: str) -> str:
        """The line of a constructor that computes a constant; empty if it is written where used."""
        return ""

    def read(self, text: str, value: Value) -> str:
        """The array of a variable."""
        return text

    def fields(self, names: Mapping[str, str]) -> list[str]:
        """The lines that declare the attributes of a class: name → type."""
        return []

    def list_of(self, items: str) -> str:
        """A list of modules."""
        return f"[{items}]"

    def generated(self, items: str) -> str:
        """A list of modules, of a generator."""
        return f"[{items}]"

    # -- file --------------------------------------------------------------------------------

    def body(self) -> str:
        """The functions that the calls need, the classes, children first, and `load`."""
        written = [*self.defined.values()]
        for cls in dict.fromkeys(self.classes.values()):
            if not self._is_expression(cls):
                written.append("\n".join(self._class(cls)))
        written.append(self.load.format(**self.words()))
        written += [inspect.getsource(part_of)] if "part_of(" in self.load else []
        return "\n\n\n".join(written)

    def _keys(self, keys: tuple[Path, ...]) -> Iterator[str]:
        """The attributes of modules from the root down."""
        module = self.root
        for key in keys:
            is_listed = self._is_sequence(self.classes[module])
            yield key[-1] if is_listed else self._name(key)
            module = module.children[key]

    def _is_expression(self, cls: Class) -> bool:
        """Whether modules are written where they are made: layers, or sequences of modules."""
        if self.root in cls.members:
            return False
        is_unnamed = cls.module.kind in ("", "Sequential")
        return cls.module.layer is not None or (is_unnamed and self._is_sequence(cls))

    def _is_sequence(self, cls: Class) -> bool:
        return bool(self.sequence) and all(map(is_sequence, cls.members))

    # -- classes ---------------------------------------------------------------------------

    def _class(self, cls: Class) -> list[str]:
        module = cls.module
        if self._is_sequence(cls):
            passed: list[Setting] = []
            made = self._sequence(cls, cls.settings, passed)
            self._keep_parameters(cls, [setting.name for setting in passed])
            return [
                f"class {cls.name}({self.sequence}):",
                f"    def __init__({self._signature(cls)}):",
                f"        super().__init__({made})",
            ]
        stored: dict[str, None] = {}

        def setting(name: str) -> str:
            stored[name] = None
            return f"self.{name}"

        inputs = input_names(module.inputs)
        variables: dict[Value, str] = {}
        for keys, name, value in module.variables_below():
            text = _variable(".".join(["self", *map(self._access, keys)]), name)
            variables[value] = read = self.read(text, value)
            if read != text and not keys and cls.is_optional(name):
                variables[value] = f"None if {text} is None else {read}"
            if value in self.constants and not self.constant(name, self.constants[value]):
                variables[value] = self.constants[value]
        body = Body(
            self.language,
            self._use,
            variables.get,
            setting,
            self._loop,
            lambda option, name_of: self._condition(cls, option, name_of, setting),
            {*self.defined, "self"},
        )
        items, output = cls.items(lambda a, b: True, has_slices=False)
        lines = body.lines(items, inputs, output)
        passed = []
        made = [
            (self._variable(cls, name, value, passed), name)
            for name, value in module.variables.items()
        ]
        init = [
            *self._namespaces(module),
            *(line for line, name in made if line and "." not in name),
            *self._children(cls, passed),
            *(line for line, name in made if "." in name),  # of modules that are made before
            *(self.last if module is self.root else ()),
        ]
        self._keep_parameters(cls, [*stored, *(setting.name for setting in passed)])
        init = [f"self.{name} = {name}" for name in stored] + init
        head = [f"class {cls.name}({self.base}):"]
        head += [f"    {line}" for line in self.fields(self._attributes(cls, stored))]
        if init:
            head.append(f"    def __init__({self._signature(cls)}):")
            head += [f"        {line}" for line in [*self.begin, *init]] + [""]
        names = ", ".join(["self", *cls.method_inputs(inputs)])
        return [*head, f"    def {self.method}({names}):", *(f"        {line}" for line in lines)]

    def _attributes(self, cls: Class, stored: Mapping[str, None]) -> dict[str, str]:
        """Attribute → ``"setting"``, ``"array"``, ``"state"``, ``"list"`` or the name of a class."""
        module = cls.module
        found = dict.fromkeys(stored, "setting")
        for name, value in module.variables.items():
            if value not in self.constants:
                absent = " | None" if cls.lacks(name) else ""
                found[name] = ("state" if value in self.states else "array") + absent
        for name, child in module.children.items():
            if is_item(name):
                found[self._list_name(name[:-1])] = "list"
            else:
                absent = " | None" if cls.without(name) else ""
                kind = self.base if name in cls.given else self.classes[child].name
                found[self._name(name)] = kind + absent
        return found

    def _keep_parameters(self, cls: Class, needed: list[str]) -> None:
        """Leave out the arguments that a class does not use; sizes come first."""
        names = [*(n for n in _SIZES if n in needed), *(n for n in cls.parameters if n in needed)]
        names.sort(key=lambda name: name in cls.defaults)
        cls.parameters = {name: cls.parameters[name] for name in dict.fromkeys(names)}

    def _variable(self, cls: Class, name: str, value: Value, passed: list[Setting]) -> str:
        otherwise = self._optional(cls, cls.lacks(name), "", passed)
        if value in self.constants:
            return self.constant(name, self.constants[value] + otherwise)
        shape = self._setting(cls.shapes[name], passed)
        return self.variable(name, value, shape, otherwise)

    def _children(self, cls: Class, passed: list[Setting]) -> list[str]:
        """The lines that make the children."""
        lines: list[str] = []
        children = sorted(cls.module.children, key=lambda name: any(map(str.isdigit, name[1:-1])))
        for name in children:  # children of items follow the lists
            slot = name[:-1] if is_item(name) else name
            if slot in cls.given:
                if name == next(key for key in children if key[: len(slot)] == slot):
                    text = self._setting(cls.settings[cls.given[slot]], passed)
                    text = self.list_of(f"*{text}") if is_item(name) else text
                    lines.append(
                        f"self.{self._list_name(slot) if is_item(name) else self._access(slot)} = {text}"
                    )
            elif not is_item(name):
                text = self._child(cls, name, passed)
                text = self._optional(cls, cls.without(name), text, passed)
                lines.append(f"self.{self._access(name)} = {text}")
            elif name == items_of(cls.module, name[:-1])[0]:
                text = self._list(cls, name[:-1], passed)
                lines.append(f"self.{self._list_name(name[:-1])} = {text}")
        return lines

    def _optional(
        self,
        cls: Class,
        without: frozenset[Module],
        text: str,
        passed: list[Setting],
        absent: str = "None",
    ) -> str:
        """The text of a part that some modules lack."""
        if not without:
            return text
        names: list[str] = []
        condition = cls.condition(without, lambda name: names.append(name) or name)
        passed.append(Setting(names[0]))
        return f"{text} if {condition} else {absent}"

    def _list(self, cls: Class, name: Path, passed: list[Setting]) -> str:
        """The text of a list of children."""
        owners = [key for key in self._owners(cls.module) if is_item(key) and key[:-1] == name]
        items = {key[-1]: self.namespace for key in owners}
        called = items_of(cls.module, name)
        items |= {key[-1]: self._child(cls, key, passed) for key in called}
        first, generator = self._items(cls, name, self._numbered(items), cls.settings, passed)
        if not generator:
            text = self.list_of(", ".join(first))
        elif not first:
            text = self.generated(generator)
        else:
            text = self.list_of(", ".join([*first, f"*[{generator}]"]))
        return self._optional(cls, cls.without(called[0]), text, passed, "[]")

    def _items(
        self,
        cls: Class,
        name: Path,
        texts: list[str],
        settings: Sequence[Any],
        passed: list[Setting],
    ) -> tuple[list[str], str]:
        """(texts of the first items of a list, the generator of the others, which repeat)."""
        if name not in cls.lengths:
            is_equal = len(texts) > 1 and len(set(texts)) == 1
            return ([], f"{texts[0]} for _ in range({len(texts)})") if is_equal else (texts, "")
        period = cls.periods[name]
        start = min(n for n in cls.numbers(name) if n) - period
        while start >= period and texts[start - period : start] == texts[start : start + period]:
            start -= period
        length = settings[cls.lengths[name]]
        if isinstance(length, Setting):
            passed.append(length)
            number = f"{length.name} - {start}" if start else length.name
            number = f"({number}) // {period}" if start and period > 1 else number
            number = f"{number} // {period}" if not start and period > 1 else number
        else:
            number = str((length - start) // period)
        if period == 1:
            return texts[:start], f"{texts[start]} for _ in range({number})"
        word, repeated = _item(name or ("layers",)), ", ".join(texts[start : start + period])
        return texts[:start], f"{word} for _ in range({number}) for {word} in ({repeated})"

    def _sequence(self, cls: Class, settings: Sequence[Any], passed: list[Setting]) -> str:
        """The texts of the modules of a sequence."""
        made = {
            name[-1]: self._made(child, settings[cls.children[name, self.classes[child]] :], passed)
            for name, child in cls.module.children.items()
        }
        first, generator = self._items(cls, (), self._numbered(made), settings, passed)
        return ", ".join([*first, *([f"*[{generator}]"] if generator else [])])

    def _numbered(self, items: Mapping[str, str]) -> list[str]:
        """The items of a list in order, with placeholders for numbers that are not called."""
        last = max(map(int, items))
        return [items.get(str(i), self.placeholder) for i in range(last + 1)]

    def _child(self, cls: Class, name: Path, passed: list[Setting]) -> str:
        """The text that makes a child."""
        child = cls.module.children[name]
        return self._made(child, cls.settings[cls.children[name, self.classes[child]] :], passed)

    def _made(self, module: Module, settings: Sequence[Any], passed: list[Setting]) -> str:
        """The text that makes a module with settings."""
        cls = self.classes[module]
        if module.layer is not None:
            values = _layer_settings(module.layer.kwargs, settings)
            given = self.language.without_defaults(module.layer.target, values)
            function = self.language.function(module.layer.target)
            text = self._arguments(
                given, passed, (*_SIZES, "kernel_size", "output_size", "p", "rate")
            )
            return f"{function}({self._with_passed_on(cls, text)})"
        if self._is_expression(cls):
            text = self._sequence(cls, settings, passed)
            return f"{self.sequence}({text})"
        sizes = tuple(name for name in _SIZES if name not in cls.defaults)
        text = self._arguments(cls.arguments_of(settings), passed, sizes)
        return f"{cls.name}({self._with_passed_on(cls, text)})"

    def _signature(self, cls: Class) -> str:
        """The parameters of a constructor."""
        own = self._passed_on(cls)
        star = ["*"] if own and not cls.defaults.keys().isdisjoint(cls.parameters) else []
        return ", ".join(["self", *cls.signature(), *star, *own])

    def _passed_on(self, cls: Class) -> list[str]:
        """The argument that a constructor takes and hands on, if there is one."""
        return [self.passed_on] if self.passed_on and self._has_layers(cls) else []

    def _has_layers(self, cls: Class) -> bool:
        children = [child for _, child in cls.children]
        children += [child for made in cls.settings for child in _classes_in(made)]
        return cls.module.layer is not None or any(map(self._has_layers, children))

    def _with_passed_on(self, cls: Class, text: str) -> str:
        given = [f"{name}={name}" for name in self._passed_on(cls)]
        return ", ".join([*([text] if text else []), *given])

    def _arguments(
        self, given: Mapping[str, Any], passed: list[Setting], positional: tuple[str, ...]
    ) -> str:
        parts = []
        for name, value in given.items():
            text = self._setting(value, passed)
            is_first = all("=" not in part for part in parts)
            parts.append(text if is_first and name in positional else f"{name}={text}")
        return ", ".join(parts)

    def _setting(self, value: Any, passed: list[Setting]) -> str:
        def name(leaf: Any) -> Expression:
            if isinstance(leaf, Made):
                return Expression(self._given(leaf, passed))
            passed.append(leaf)
            return Expression(leaf.name)

        return self.language.value(value, name).text

    def _given(self, made: Made, passed: list[Setting]) -> str:
        """The text of modules that are an argument."""
        texts = {
            name[-1]: self._made(next(iter(cls.members)), [x for _, x in row], passed)
            for name, cls, row in made.built
        }
        if not made.is_list:
            return "".join(texts.values())
        items = self._numbered(texts) if texts else []
        if len(items) > 1 and len({*items}) == 1:
            return f"[{items[0]} for _ in range({len(items)})]"
        return f"[{', '.join(items)}]"

    def _namespaces(self, module: Module) -> list[str]:
        """The lines that make modules for names of several parts; numbers are items of lists."""
        owners = self._owners(module)
        known = {*module.children, *(name[:-1] for name in module.children if is_item(name))}
        items = [name for name in (*owners, *known) if is_item(name)]
        lists = {name[:-1] for name in items}
        lines = []
        for name in owners:
            text = self.namespace
            if name in lists:
                length = max(int(item[-1]) for item in items if item[:-1] == name) + 1
                text = self.generated(f"{text} for _ in range({length})")
            if name not in known and name[:-1] not in lists:
                lines.append(f"self.{self._access(name)} = {text}")
        return lines

    def _owners(self, module: Module) -> list[Path]:
        """The names of modules that only hold others, or variables."""
        if not self.namespace:
            return []
        names = [name[:-1] if is_item(name) else name for name in module.children]
        names += [tuple(name.split(".")) for name in module.variables]
        return [*dict.fromkeys(name[:n] for name in names for n in range(1, len(name)))]

    def _name(self, name: Path) -> str:
        """The name of a child as an attribute."""
        return attribute(name, self.separator)

    def _list_name(self, name: Path) -> str:
        """The name of a list of children as an attribute."""
        return indexed(joined(name, self.separator))

    def _access(self, name: Path) -> str:
        """The text of a child as an attribute."""
        return indexed(self._name(name))

    # -- bodies ----------------------------------------------------------------------------

    def _use(self, use: Use, inputs: list[str]) -> str:
        name, child = use.name, use.module
        of = _item(name[:-1]) if name[-1] == "*" else f"self.{self._access(name)}"
        if child.layer is not None:
            form = child.layer.form
            return of + (form.format(*inputs) if inputs else form.replace("{}", ""))
        if name[-1] != "*":
            inputs = self.classes[child].method_arguments(inputs)
        return f"{of}({', '.join(inputs)})"

    def _loop(self, name: Path, start: int) -> str:
        return f"for {_item(name)} in self.{self._list_name(name)}:"

    def _condition(
        self,
        cls: Class,
        option: Option,
        name_of: Callable[[Value], str],
        setting: Callable[[str], str],
    ) -> str:
        """Whether a module has the steps of an option: by their children or inputs, or by a flag."""
        sets = option.without, frozenset(cls.members) - option.without
        for word, without, steps in (("not ", sets[0], option.steps), ("", sets[1], option.others)):
            used = [step.name for step in steps if isinstance(step, Use)]
            for name in (name for name in used if cls.without(name) == without):
                if is_item(name):
                    sign = ">" if word else "<="
                    return f"len(self.{self._list_name(name[:-1])}) {sign} {name[-1]}"
                return f"self.{self._access(name)} is {word}None"
            given = {value for step in steps for value in arguments(step)}
            for name, value in cls.module.variables.items():
                is_held = value in given and value not in self.constants
                if is_held and cls.lacks(name) == without:
                    return f"self.{name} is {word}None"
        if option.decides:
            return f"{name_of(option.decides)} is not None"
        for word, without in (("not ", sets[0]), ("", sets[1])):
            held = [
                self._access(x)
                for x in cls.module.children
                if cls.without(x) == without and not is_item(x)
            ]
            held += [
                x
                for x, value in cls.module.variables.items()
                if cls.lacks(x) == without and value not in self.constants
            ]
            if held:
                return f"self.{held[0]} is {word}None"
        return cls.condition(option.without, setting)


def _variable(owner: str, name: str) -> str:
    """The text of a variable of a module; Python has no attributes that are numbers."""
    *owners, last = name.split(".")
    text = indexed(".".join([owner, *owners]))
    return f'getattr({text}, "{last}")' if last.isdigit() else f"{text}.{last}"


def _classes_in(setting: Any) -> Iterator[Class]:
    """The classes of modules that are an argument."""
    for _, cls, row in setting.built if isinstance(setting, Made) else ():
        yield cls
        for _, value in row:
            yield from _classes_in(value)


def part_of(model, name):
    """The part of a model with a name such as `layers.0.weight`."""
    for key in name.split("."):
        model = getattr(model, key) if hasattr(model, key) else model[int(key)]
    return model


def _item(name: Path) -> str:
    """The variable of a loop over a list: ``"layer"`` for ``"layers"``."""
    word = name[-1]
    return word[:-1] if len(word) > 2 and word.endswith("s") else "block" if len(word) < 3 else word


def _layer_settings(names: Mapping[str, Any], settings: Sequence[Any]) -> dict[str, Any]:
    """The settings of a layer; None and dtypes are not among the settings of a class."""
    values = iter(settings)
    return {name: next(values) if is_setting(x) else x for name, x in names.items()}
