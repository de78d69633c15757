"""Programs as classes with a method, for PyTorch, Flax NNX, Equinox and TensorFlow."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from nestarray.exporters.source.bodies import Body
from nestarray.exporters.source.classes import Class, classes_of
from nestarray.exporters.source.expressions import Expression, Setting, value_expression
from nestarray.exporters.source.loops import with_loops
from nestarray.exporters.source.modules import (
    Module,
    Path,
    attribute,
    is_item,
    is_sequence,
    number_lists,
)
from nestarray.exporters.source.records import Call, Value, all_calls
from nestarray.exporters.source.variable_names import input_names

#: Arguments that are written without their names: sizes come first, in this order.
_SIZES = (
    "in_features", "out_features", "num_embeddings", "embedding_dim", "in_channels",
    "out_channels", "input_size", "hidden_size", "normalized_shape", "num_groups", "num_channels", "num_features",
)  # fmt: skip


class ClassStyle(ABC):
    """How a library writes classes.

    Attributes:
        language: of the framework.
        base: the base class.
        method: the name of the method that computes.
        begin: the first lines of a constructor.
        sequence: the class that calls modules one after the other; empty if there is none.
        states: variables that the module does not hold, but a state that is an argument.
        passed_on: an argument that constructors of modules with layers take and hand on, ``"rngs"``.
        placeholder: a module that does nothing, for numbers of a list that the source has and the
            program does not call; empty if lists are numbered anew.
    """

    language: Any
    base: str
    method = "__call__"
    begin: tuple[str, ...] = ()
    sequence = ""
    states: Collection[Value] = ()
    placeholder = ""
    passed_on = ""

    @abstractmethod
    def variable(self, name: str, value: Value, shape: str) -> str:
        """The line of a constructor that makes a variable."""

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


class ClassWriter:
    """Writes the classes of a program.

    Args:
        root: the tree of modules.
        name: of the class of the model.
        style: of the library.
        constants: variable → the text that computes it.
    """

    def __init__(
        self, root: Module, name: str, style: ClassStyle, constants: Mapping[Value, str]
    ) -> None:
        self.root, self.style, self.constants = root, style, constants
        for module in root.walk():
            if not style.placeholder:
                number_lists(module)
        self.classes = classes_of(root, name)
        written = [module for module in root.walk() if module.layer is None]
        steps = [s for module in written for s in module.steps if isinstance(s, Call)]
        calls = list(all_calls(steps))
        self.defined = style.language.defined(calls)

    def text(self) -> str:
        """The functions that the calls need, and the classes, children first."""
        written: dict[Class, list[str]] = {}
        for module in self.root.walk():
            cls = self.classes[module]
            if cls not in written and not self._is_expression(module):
                written[cls] = self._class(cls)
        classes = ["\n".join(lines) for lines in written.values()]
        return "\n\n\n".join([*self.defined.values(), *classes])

    def variables(self) -> dict[str, Value]:
        """Name in the file of weights → variable."""
        found = {}
        for keys, name, value in self.root.variables_below():
            if value not in self.constants:
                found[".".join([*self._keys(keys), name])] = value
        return found

    def _keys(self, keys: tuple[Path, ...]) -> Iterator[str]:
        """The attributes of modules from the root down."""
        module = self.root
        for key in keys:
            yield key[-1] if self._is_sequence(module) else attribute(key)
            module = module.children[key]

    def _is_expression(self, module: Module) -> bool:
        """Whether a module is written where it is made: a layer, or a sequence of modules."""
        if module is self.root:
            return False
        is_unnamed = module.kind in ("", "Sequential")
        return module.layer is not None or (is_unnamed and self._is_sequence(module))

    def _is_sequence(self, module: Module) -> bool:
        return bool(self.style.sequence) and is_sequence(module)

    # -- classes ---------------------------------------------------------------------------

    def _class(self, cls: Class) -> list[str]:
        module, style = cls.module, self.style
        if self._is_sequence(module):
            passed: list[Setting] = []
            children = {name[-1]: self._child(cls, name, passed) for name in module.children}
            made = self._numbered(children)
            self._keep_parameters(cls, [setting.name for setting in passed])
            return [
                f"class {cls.name}({style.sequence}):",
                f"    def __init__({', '.join(['self', *cls.parameters, *self._passed_on(module)])}):",
                f"        super().__init__({', '.join(made)})",
            ]
        stored: dict[str, None] = {}

        def setting(name: str) -> str:
            stored[name] = None
            return f"self.{name}"

        variables: dict[Value, str] = {}
        for keys, name, value in module.variables_below():
            text = ".".join(["self", *map(_access, keys), name])
            variables[value] = style.read(text, value)
            if value in self.constants and not style.constant(name, self.constants[value]):
                variables[value] = self.constants[value]
        body = Body(
            style.language,
            functools.partial(self._use, module),
            variables.get,
            setting,
            self._loop,
            {*self.defined, "self"},
        )
        inputs = input_names(module.inputs)
        lines = body.lines(
            with_loops(cls.steps(), module.output, lambda a, b: True), inputs, module.output
        )
        passed = []
        init = [
            self._variable(cls, name, value, passed) for name, value in module.variables.items()
        ]
        init = [line for line in init if line]
        init += self._children(cls, passed)
        self._keep_parameters(cls, [*stored, *(setting.name for setting in passed)])
        init = [f"self.{name} = {name}" for name in stored] + init
        head = [f"class {cls.name}({style.base}):"]
        head += [f"    {line}" for line in style.fields(self._attributes(module, stored))]
        if init:
            head.append(
                f"    def __init__({', '.join(['self', *cls.parameters, *self._passed_on(module)])}):"
            )
            head += [f"        {line}" for line in [*style.begin, *init]] + [""]
        names = ", ".join(["self", *inputs.values()])
        return [*head, f"    def {style.method}({names}):", *(f"        {line}" for line in lines)]

    def _attributes(self, module: Module, stored: Mapping[str, None]) -> dict[str, str]:
        """Attribute → ``"setting"``, ``"array"``, ``"state"``, ``"list"`` or the name of a class."""
        found = dict.fromkeys(stored, "setting")
        for name, value in module.variables.items():
            if value not in self.constants:
                found[name] = "state" if value in self.style.states else "array"
        for name, child in module.children.items():
            if is_item(name):
                found["_".join(name[:-1])] = "list"
            else:
                found[attribute(name)] = self.classes[child].name
        return found

    def _keep_parameters(self, cls: Class, needed: list[str]) -> None:
        """Leave out the arguments that a class does not use; sizes come first."""
        names = [*(n for n in _SIZES if n in needed), *(n for n in cls.parameters if n in needed)]
        cls.parameters = {name: cls.parameters[name] for name in dict.fromkeys(names)}

    def _variable(self, cls: Class, name: str, value: Value, passed: list[Setting]) -> str:
        if value in self.constants:
            return self.style.constant(name, self.constants[value])
        return self.style.variable(name, value, self._setting(cls.shapes[name], passed))

    def _children(self, cls: Class, passed: list[Setting]) -> list[str]:
        """The lines that make the children."""
        lines: list[str] = []
        lists: dict[Path, dict[str, str]] = {}
        for name in cls.module.children:
            text = self._child(cls, name, passed)
            if not is_item(name):
                lines.append(f"self.{attribute(name)} = {text}")
            else:
                if name[:-1] not in lists:
                    lines.append("_".join(name[:-1]))
                lists.setdefault(name[:-1], {})[name[-1]] = text
        for name, items in lists.items():
            own = "_".join(name)
            lines[lines.index(own)] = f"self.{own} = {self._list(self._numbered(items))}"
        return lines

    def _numbered(self, items: Mapping[str, str]) -> list[str]:
        """The items of a list in order, with placeholders for numbers that are not called."""
        last = max(map(int, items))
        return [items.get(str(i), self.style.placeholder) for i in range(last + 1)]

    def _list(self, texts: list[str]) -> str:
        if len(texts) > 1 and len(set(texts)) == 1:
            return self.style.generated(f"{texts[0]} for _ in range({len(texts)})")
        return self.style.list_of(", ".join(texts))

    def _child(self, cls: Class, name: Path, passed: list[Setting]) -> str:
        """The text that makes a child."""
        return self._made(cls.module.children[name], cls.settings, cls.children[name][1], passed)

    def _made(self, module: Module, settings: list[Any], start: int, passed: list[Setting]) -> str:
        """The text that makes a module whose settings begin at a position."""
        cls = self.classes[module]
        if module.layer is not None:
            values = _layer_settings(module.layer.kwargs, settings[start:])
            given = self.style.language.without_defaults(module.layer.target, values)
            function = self.style.language.function(module.layer.target)
            text = self._arguments(given, passed, (*_SIZES, "kernel_size", "output_size", "p"))
            return f"{function}({self._with_passed_on(module, text)})"
        if self._is_expression(module):
            texts = self._numbered(
                {
                    name[-1]: self._made(child, settings, start + cls.children[name][1], passed)
                    for name, child in module.children.items()
                }
            )
            if len(texts) > 1 and len(set(texts)) == 1:
                texts = [f"*[{texts[0]} for _ in range({len(texts)})]"]
            return f"{self.style.sequence}({', '.join(texts)})"
        given = {name: settings[start + i] for name, i in cls.parameters.items()}
        text = self._arguments(given, passed, _SIZES)
        return f"{cls.name}({self._with_passed_on(module, text)})"

    def _passed_on(self, module: Module) -> list[str]:
        """The argument that the constructor of a module takes and hands on, if there is one."""
        has_layers = any(inner.layer is not None for inner in module.walk())
        return [self.style.passed_on] if self.style.passed_on and has_layers else []

    def _with_passed_on(self, module: Module, text: str) -> str:
        given = [f"{name}={name}" for name in self._passed_on(module)]
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
            passed.append(leaf)
            return Expression(leaf.name)

        return value_expression(value, name, self.style.language.dtype).text

    # -- bodies ----------------------------------------------------------------------------

    def _use(self, module: Module, name: Path, inputs: list[str]) -> str:
        of = _item(name[:-1]) if name[-1] == "*" else f"self.{_access(name)}"
        layer = module.children[name].layer if name in module.children else None
        place = layer.result if layer is not None and isinstance(layer.result, tuple) else ()
        return f"{of}({', '.join(inputs)})" + "".join(f"[{i}]" for i in place)

    def _loop(self, name: Path, number: int) -> str:
        return f"for {_item(name)} in self.{'_'.join(name)}:"


def attribute_of(model: Any, name: str) -> Any:
    """The attribute of a name in the file of weights."""
    for key in name.split("."):
        model = model[int(key)] if key.isdigit() else getattr(model, key)
    return model


def _item(name: Path) -> str:
    """The variable of a loop over a list: ``"layer"`` for ``"layers"``."""
    word = name[-1]
    return word[:-1] if len(word) > 2 and word.endswith("s") else "block" if len(word) < 3 else word


def _access(name: Path) -> str:
    return f"{'_'.join(name[:-1])}[{name[-1]}]" if is_item(name) else attribute(name)


def _layer_settings(names: Mapping[str, Any], settings: list[Any]) -> dict[str, Any]:
    """The settings of a layer; those that are None are not among the settings of a class."""
    values = iter(settings)
    return {name: next(values) if is_noted(x) else x for name, x in names.items()}


def is_noted(value: Any) -> bool:
    """Whether a setting of a layer is among the settings of its class."""
    return value is not None
