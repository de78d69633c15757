"""Programs as classes with a method, for PyTorch, Flax NNX, Equinox and TensorFlow."""

from __future__ import annotations

import inspect
import re
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.printing.bodies import Body
from nestarray.exporters.source.printing.expressions import Expression
from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.style import Style
from nestarray.exporters.source.tree.classes import Class
from nestarray.exporters.source.tree.grouping import IMPORTED, classes_of
from nestarray.exporters.source.tree.modules import (
    Module,
    Path,
    Use,
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
    "in_features", "out_features", "input_dims", "output_dims", "num_embeddings", "embedding_dim",
    "in_channels", "out_channels", "input_size", "hidden_size", "embed_dim", "num_heads",
    "d_model", "nhead", "dim_feedforward", "normalized_shape", "num_groups", "num_channels",
    "num_features", "dims", "input_dim", "output_dim", "units", "filters",
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
    passed_on = ""

    def __init__(self, program: Program, name: str) -> None:
        super().__init__(program, name)
        for module in self.root.walk():
            if not self.placeholder:
                number_lists(module)
        self.classes = classes_of(
            self.root, self.name, self.constants, has_sequences=bool(self.sequence)
        )
        written = [module for module in self.root.walk() if module.layer is None]
        calls = [call for module in written for call in module.calls]
        calls += [module.layer for module in self.root.walk() if module.layer]
        self.defined = self.language.defined(calls)
        for keys, variable, value in self.root.variables_below():
            if value not in self.constants:
                self.variables[".".join([*self._keys(keys), variable])] = value

    @classmethod
    def name_of(cls, name: str) -> str:
        """The name of the class of a model."""
        is_free = re.fullmatch(r"[A-Z]\w*", name) and name not in ("Sequential", *IMPORTED)
        return name if is_free else "Model"

    # -- lines of a library ------------------------------------------------------------------

    @abstractmethod
    def variable(self, name: str, value: Value, shape: str) -> str:
        """The line of a constructor that makes a variable.

        Args:
            name: of the variable.
            value: the variable.
            shape: the text of its shape.
        """

    def constant(self, name: str, text: str) -> str:
        """The line of a constructor that computes a constant; empty if it is written where used."""
        return ""

    def read(self, text: str, value: Value) -> str:
        """The array of a variable."""
        return text

    def head(self, cls: Class) -> list[str]:
        """The lines that begin a class."""
        return [f"class {cls.name}({self.base}):"]

    def options(self, cls: Class) -> list[str]:
        """The last parameters of the method that computes."""
        return []

    def methods(self, cls: Class) -> list[str]:
        """The lines of further methods of a class."""
        return []

    def fields(self, names: Mapping[str, str]) -> list[str]:
        """The lines that declare the attributes of a class: name → type."""
        return []

    def list_of(self, items: str) -> str:
        """A list of modules."""
        return f"[{items}]"

    def generated(self, items: str) -> str:
        """A list of modules, of a generator."""
        return f"[{items}]"

    def last_lines(self, module: Module) -> Sequence[str]:
        """The last lines of the constructor of a module."""
        return ()

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
            sequence = self._sequence(cls, cls.settings, passed)
            self._keep_parameters(cls, [setting.name for setting in passed])
            return [
                f"class {cls.name}({self.sequence}):",
                f"    def __init__({self._signature(cls)}):",
                f"        super().__init__({sequence})",
            ]
        stored: dict[str, None] = {}

        def setting(name: str) -> str:
            stored[name] = None
            return f"self.{name}"

        inputs = input_names(module.inputs)
        variables: dict[Value, str] = {}
        for keys, name, value in module.variables_below():
            text = _variable(".".join(["self", *map(self._access, keys)]), name)
            variables[value] = self.read(text, value)
            if value in self.constants and not self.constant(name, self.constants[value]):
                variables[value] = self.constants[value]
        body = Body(
            self.language,
            self._use,
            variables.get,
            setting,
            self._loop,
            lambda name: self._condition(cls, name),
            {*self.defined, "self"},
        )
        items = cls.items(lambda a, b: True, has_slices=False)
        lines = body.lines(items, inputs, module.output)
        passed = []
        variable_lines = [
            (self._variable(cls, name, value, passed), name)
            for name, value in module.variables.items()
        ]
        init = [
            *self._namespaces(module),
            *(line for line, name in variable_lines if line and "." not in name),
            *self._children(cls, passed),
            *(
                line for line, name in variable_lines if "." in name
            ),  # of modules that are made before
            *self.last_lines(module),
        ]
        self._keep_parameters(cls, [*stored, *(setting.name for setting in passed)])
        init = [f"self.{name} = {name}" for name in stored] + init
        head = self.head(cls)
        head += [f"    {line}" for line in self.fields(self._attributes(cls, stored))]
        if init:
            head.append(f"    def __init__({self._signature(cls)}):")
            head += [f"        {line}" for line in [*self.begin, *init]] + [""]
        head += [f"    {line}" if line else "" for line in self.methods(cls)]
        names = ", ".join(["self", *inputs.values(), *self.options(cls)])
        return [*head, f"    def {self.method}({names}):", *(f"        {line}" for line in lines)]

    def _attributes(self, cls: Class, stored: Mapping[str, None]) -> dict[str, str]:
        """Attribute → ``"setting"``, ``"array"``, ``"state"``, ``"list"`` or the name of a class."""
        module = cls.module
        kinds = dict.fromkeys(stored, "setting")
        for name, value in module.variables.items():
            if value not in self.constants:
                kinds[name] = "state" if value in self.states else "array"
        for name, child in module.children.items():
            if is_item(name):
                kinds[self._list_name(name[:-1])] = "list"
            else:
                absent = " | None" if name in cls.flags else ""
                kinds[self._name(name)] = self.classes[child].name + absent
        return kinds

    def _keep_parameters(self, cls: Class, needed: list[str]) -> None:
        """Leave out the arguments that a class does not use; sizes come first."""
        names = [*(n for n in _SIZES if n in needed), *(n for n in cls.parameters if n in needed)]
        names.sort(key=lambda name: name in cls.defaults)
        cls.parameters = {name: cls.parameters[name] for name in dict.fromkeys(names)}

    def _variable(self, cls: Class, name: str, value: Value, passed: list[Setting]) -> str:
        if value in self.constants:
            return self.constant(name, self.constants[value])
        return self.variable(name, value, self._setting(cls.shapes[name], passed))

    def _children(self, cls: Class, passed: list[Setting]) -> list[str]:
        """The lines that make the children."""
        lines: list[str] = []
        children = sorted(cls.module.children, key=lambda name: any(map(str.isdigit, name[1:-1])))
        for name in children:  # children of items follow the lists
            if not is_item(name):
                text = self._child(cls, name, passed)
                if name in cls.flags:
                    passed.append(Setting(cls.flags[name]))
                    text = f"{text} if {cls.flags[name]} else None"
                lines.append(f"self.{self._access(name)} = {text}")
            elif name == items_of(cls.module, name[:-1])[0]:
                text = self._list(cls, name[:-1], passed)
                lines.append(f"self.{self._list_name(name[:-1])} = {text}")
        return lines

    def _list(self, cls: Class, name: Path, passed: list[Setting]) -> str:
        """The text of a list of children."""
        owners = [key for key in self._owners(cls.module) if is_item(key) and key[:-1] == name]
        items = {key[-1]: self.namespace for key in owners}
        called = items_of(cls.module, name)
        items |= {key[-1]: self._child(cls, key, passed) for key in called}
        first, generator = self._items(cls, name, self._numbered(items), cls.settings, passed)
        if not generator:
            return self.list_of(", ".join(first))
        if not first:
            return self.generated(generator)
        return self.list_of(", ".join([*first, f"*[{generator}]"]))

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
        start = min(cls.numbers(name)) - period
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
        texts = {
            name[-1]: self._made(child, settings[cls.children[name] :], passed)
            for name, child in cls.module.children.items()
        }
        first, generator = self._items(cls, (), self._numbered(texts), settings, passed)
        return ", ".join([*first, *([f"*[{generator}]"] if generator else [])])

    def _numbered(self, items: Mapping[str, str]) -> list[str]:
        """The items of a list in order, with placeholders for numbers that are not called."""
        last = max(map(int, items))
        return [items.get(str(i), self.placeholder) for i in range(last + 1)]

    def _child(self, cls: Class, name: Path, passed: list[Setting]) -> str:
        """The text that makes a child."""
        child = cls.module.children[name]
        return self._made(child, cls.settings[cls.children[name] :], passed)

    def _made(self, module: Module, settings: Sequence[Any], passed: list[Setting]) -> str:
        """The text that makes a module with settings."""
        cls = self.classes[module]
        if module.layer is not None:
            values = _layer_settings(module.layer.kwargs, settings)
            options = self.language.without_defaults(module.layer.target, values)
            function = self.language.function(module.layer.target)
            text = self._arguments(
                options, passed, (*_SIZES, "kernel_size", "output_size", "p", "rate")
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
        passed_on = self._passed_on(cls)
        star = ["*"] if passed_on and not cls.defaults.keys().isdisjoint(cls.parameters) else []
        return ", ".join(["self", *cls.signature(), *star, *passed_on])

    def _passed_on(self, cls: Class) -> list[str]:
        """The argument that a constructor takes and hands on, if there is one."""
        return [self.passed_on] if self.passed_on and self._has_layers(cls) else []

    def _has_layers(self, cls: Class) -> bool:
        children = (self.classes[child] for child in cls.module.children.values())
        return cls.module.layer is not None or any(map(self._has_layers, children))

    def _with_passed_on(self, cls: Class, text: str) -> str:
        passed_on = [f"{name}={name}" for name in self._passed_on(cls)]
        return ", ".join([*([text] if text else []), *passed_on])

    def _arguments(
        self, values: Mapping[str, Any], passed: list[Setting], positional: tuple[str, ...]
    ) -> str:
        parts = []
        for name, value in values.items():
            text = self._setting(value, passed)
            is_first = all("=" not in part for part in parts)
            parts.append(text if is_first and name in positional else f"{name}={text}")
        return ", ".join(parts)

    def _setting(self, value: Any, passed: list[Setting]) -> str:
        def name(leaf: Any) -> Expression:
            passed.append(leaf)
            return Expression(leaf.name)

        return self.language.value(value, name).text

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
        return f"{of}({', '.join(inputs)})"

    def _loop(self, name: Path, start: int) -> str:
        return f"for {_item(name)} in self.{self._list_name(name)}:"

    def _condition(self, cls: Class, name: Path) -> str:
        """Whether a module has a child, if some lack it."""
        if not cls.is_optional(name):
            return ""
        if is_item(name):
            return f"len(self.{self._list_name(name[:-1])}) > {name[-1]}"
        return f"self.{self._access(name)} is not None"


def _variable(owner: str, name: str) -> str:
    """The text of a variable of a module; Python has no attributes that are numbers."""
    *owners, last = name.split(".")
    text = indexed(".".join([owner, *owners]))
    return f'getattr({text}, "{last}")' if last.isdigit() else f"{text}.{last}"


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
