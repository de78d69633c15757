"""The body of a function or method: statements with readable names."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Sequence
from keyword import iskeyword
from typing import Any, TypeGuard

from nestarray.exporters.source.printing.expressions import Expression, Names
from nestarray.exporters.source.printing.flow import Flow, parts_of
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.recording.records import (
    Call,
    Function,
    Value,
    functions_in,
    values_in,
)
from nestarray.exporters.source.tree.loops import Item, Loop, arguments_of
from nestarray.exporters.source.tree.modules import Path, Step, Use, arguments, numbered, results
from nestarray.exporters.source.tree.settings import Setting
from nestarray.exporters.source.tree.variable_names import GENERIC, hint_name, kind_of

#: The longest expression that is written inside of another one.
_LENGTH = 64


class Body:
    """Writes the statements of one module.

    Args:
        language: of the framework.
        use: the text of a call of a child: ``(call, texts of its inputs)``; its name may end in
            ``"*"``, for the variable of a loop.
        variable: the text of a variable, or None for a value that is none.
        setting: the text of a setting.
        loop: the head of a loop over a list of children: ``(path of the list, first number)``.
        condition: the text of whether a module has a child; empty if all modules of the class have it.
        reserved: names that variables must not have.
        hint: the path after which the result of a call may be named.
        expression: the text of a call; by default that of the language.
    """

    def __init__(
        self,
        language: Language,
        use: Callable[[Use, list[str]], str],
        variable: Callable[[Value], str | None],
        setting: Callable[[str], str],
        loop: Callable[[Path, int], str],
        condition: Callable[[Path], str],
        reserved: Collection[str] = (),
        hint: Callable[[Call], Path] = lambda call: (),
        expression: Callable[[Call, Names], Expression] | None = None,
    ) -> None:
        self.language, self.use, self.variable = language, use, variable
        self.setting, self.loop, self.condition = setting, loop, condition
        self.reserved, self.hint = reserved, hint
        self.expression = expression or language.expression
        self.names: dict[Value, str] = {}
        self.texts: dict[Value, Expression] = {}
        self.functions: dict[Function, str] = {}
        self.around: dict[Value, str] = {}
        self.free: set[str] = set()

    def lines(self, items: Sequence[Item], inputs: dict[Value, str], output: Any) -> list[str]:
        """The statements.

        Args:
            items: steps and loops.
            inputs: value → its name.
            output: nest of the results.
        """
        return [*self.statements(items, inputs, output), f"return {self._text(output)}"]

    def statements(self, items: Sequence[Item], inputs: dict[Value, str], output: Any) -> list[str]:
        """The statements without the last one; the arguments of `lines`."""
        self.items, self.names, self.output = list(items), self.around | inputs, output
        self.position: dict[Value, list[int]] = {}
        for i, item in enumerate(self.items):
            for value in arguments_of(item):
                self.position.setdefault(value, []).append(i)
        end = len(self.items)
        for value in values_in(output):
            self.position.setdefault(value, []).append(end)
        self.items = [self._read(item) if isinstance(item, Use) else item for item in self.items]
        self.written = {
            item.args[0]: i
            for i, item in enumerate(self.items)
            if _is_write(item) or _is_in_place(item)
        }
        self._choose_inlined()
        lines: list[str] = []
        for i, item in enumerate(self.items):
            lines += self._statement(i, item)
        return lines

    def _read(self, use: Use) -> Use:
        """A call with None for the outputs that nothing reads."""
        outputs = [value if value in self.position else None for value in use.outputs]
        return dataclasses.replace(use, outputs=use.outputs if use.targets else outputs)

    # -- which values have no name ----------------------------------------------------------

    def _choose_inlined(self) -> None:
        """Decide which values are written where they are used, and when each item is evaluated."""
        self.inlined: set[Value] = set()
        makers = {v: i for i, item in enumerate(self.items) for v in _results(item)}
        self.sources: dict[Value, Item] = {}
        for item in self.items:
            self.sources |= dict.fromkeys(_results(item), item)
        sizes: dict[Value, int] = {}
        end = len(self.items)
        for i, item in enumerate(self.items):
            single = [v for v in dict.fromkeys(arguments_of(item)) if self._is_single(v, i, makers)]
            size = self._size(item) + sum(sizes[v] for v in single)
            named = [v for v in single if v.dtype not in ("size", "device")]
            while named and size > _LENGTH + 12:
                longest = max(named, key=sizes.__getitem__)
                named.remove(longest)
                single.remove(longest)
                size -= sizes[longest]
            self.inlined |= set(single)
            for value in _results(item):
                sizes[value] = size
        last = [v for v in dict.fromkeys(values_in(self.output)) if self._is_single(v, end, makers)]
        if sum(sizes[v] for v in last) <= _LENGTH + 12:
            self.inlined |= set(last)
        self.evaluated = list(range(len(self.items) + 1))
        for i in reversed(range(len(self.items))):
            for value in _results(self.items[i]):
                if value in self.inlined:
                    self.evaluated[i] = self.evaluated[self.position[value][0]]

    def _is_single(self, value: Value, i: int, makers: dict[Value, int]) -> bool:
        """Whether a value has one use, in item `i`, and may be written there."""
        if value not in makers or self.position[value] != [i]:
            return False
        source = self.items[makers[value]]
        if isinstance(source, Loop) or len(_results(source)) != 1:
            return False
        if _functions(source) and (
            _is_flow(source) or not makers[value] + 1 == i == len(self.items)
        ):
            return False  # what they read may change until then
        if value in self.written or _is_in_place(source):
            return False
        if not all(self._is_read_early(v, i) for v in arguments_of(source) if v in self.written):
            return False
        return self.is_read_once(value)

    def is_read_once(self, value: Value) -> bool:
        """Whether the output or one step reads a value, in one place."""
        first, *others = self.position[value]
        if first == len(self.items):
            return _count(self.output, value) == 1
        item = self.items[first]
        if others or isinstance(item, Loop):
            return False
        nest = item.inputs if isinstance(item, Use) else [list(item.args), item.kwargs]
        return _count(nest, value) == 1

    def _is_read_early(self, value: Value, i: int) -> bool:
        """Whether item `i` is evaluated in its place, and not after the write of a value."""
        if i > self.written[value]:
            return False
        return _is_write(self.items[i]) or len(_results(self.items[i])) > 1

    def _size(self, item: Item) -> int:
        """The length of the text of an item with short names."""
        if isinstance(item, Loop) or _is_flow(item):
            return 2 * _LENGTH
        if isinstance(item, Use):
            return len(self.use(item, []) + self.condition(item.name)) + 3 * len(item.inputs)
        return len(self.expression(item, self._short).text)

    def _short(self, leaf: Any) -> Expression:
        if isinstance(leaf, Function):
            return Expression(leaf.name)
        if isinstance(leaf, Setting):
            return Expression(self.setting(leaf.name))
        return Expression(self.variable(leaf) or "x")

    # -- statements ------------------------------------------------------------------------

    def _statement(self, i: int, item: Item) -> list[str]:
        if isinstance(item, Loop):
            return self._loop(i, item)
        values = _results(item)
        if _is_write(item) and not values and self._is_target(item):
            return []
        if _is_flow(item):
            return Flow(self, i, item).lines()
        defined = [line for function in _functions(item) for line in self._definition(function, i)]
        if len(values) == 1 and values[0] in self.inlined:
            self.texts[values[0]] = self._expression(item)
            return defined
        text = self._expression(item).text
        self.release(i)
        if not values:
            return [*defined, text]
        if _is_in_place(item):
            self.names[values[0]] = self._name(item.args[0])
            self.free.discard(self.names[values[0]])
            return [*defined, text]
        names = []
        for value in item.outputs if isinstance(item, Use) and len(values) > 1 else values:
            if value is None:
                names.append("_")
                continue
            is_used = value in self.position
            names.append(self._new_name(text, item, value, len(values)) if is_used else "_")
            self.names[value] = names[-1]
        if isinstance(item, Call) and functions_in(item):
            nest = item.result if isinstance(item.result, tuple) else (item.result,)
            names = [self._target(x) for x in nest]
        if isinstance(item, Use) and item.targets:
            return [f"{item.targets.format(*names)} = {text}"]
        return [*defined, f"{', '.join(names)} = {text}"]

    def _target(self, nest: Any) -> str:
        """The text of a nest of values that are assigned."""
        if isinstance(nest, tuple):
            items = [*map(self._target, nest)]
            return f"({', '.join(items)})" if {*items} != {"_"} else "_"
        return "_" if nest is None else self.names[nest]

    # -- functions -------------------------------------------------------------------------

    def inner(self, i: int) -> Body:
        """The writer of a function that item `i` takes; it leaves the names around it as they are."""
        live = [v for v in self.names if self.last_use(v) >= i or v in self.around]
        around = {value: self.names[value] for value in live}
        taken = {*around.values(), *self.functions.values()}
        body = Body(
            self.language, self.use, self.variable, self.setting, self.loop, self.condition, {*self.reserved, *taken}, self.hint, self.expression,
        )  # fmt: skip
        body.around, body.texts = around, dict(self.texts)
        return body

    def _definition(self, function: Function, i: int) -> list[str]:
        """The function as a definition."""
        taken = {*self.reserved, *self.names.values(), *self.functions.values()}
        name = next(n for n in numbered(function.name) if n not in taken)
        self.functions[function] = name
        body = self.inner(i)
        body.reserved = {*body.reserved, name}
        body.names = dict(body.around)
        parameters, unpacked = [], []
        for nest, word in zip(function.inputs, _PARAMETERS.get(function.name, ()), strict=False):
            names = body.fresh_names(parts_of(nest))
            is_tuple = isinstance(nest, tuple)
            unpacked += [f"{', '.join(names)} = {word}"] if is_tuple else []
            parameters.append(word if is_tuple else names[0] if names else "_")
        inputs = {value: body.names[value] for value in values_in(function.inputs)}
        lines = body.lines(function.calls, inputs, function.output)
        return [
            f"def {name}({', '.join(parameters)}):",
            *(f"    {line}" for line in [*unpacked, *lines]),
        ]

    def fresh_names(self, values: Sequence[Value], *bases: str) -> list[str]:
        """New names for values."""
        for value in values:
            kind = kind_of(value)
            self.names[value] = self._fresh(
                *(bases or (("h", "c", "x", "y") if kind == "x" else (kind,)))
            )
        return [self.names[value] for value in values]

    def _is_target(self, write: Call) -> bool:
        """Whether a value is assigned to its variable by the call that makes it."""
        return self.names.get(write.args[1]) == self._name(write.args[0])

    def _loop(self, i: int, loop: Loop) -> list[str]:
        first, last = loop.uses[0], loop.uses[-1]
        lines = []
        names = []
        last_given = max([len(use.given) for use in loop.uses])
        for k, value in enumerate(first.inputs[:last_given]):
            name = self.text_of(value)
            later = value and [p for p in self.position.get(value, []) if self.evaluated[p] > i]
            if k in loop.carried and later:
                fresh = self._fresh("h")  # the value before the loop is needed later
                lines.append(f"{fresh} = {name}")
                name = fresh
            elif k in loop.carried and (value is None or not name.isidentifier()):
                fresh = self._fresh("x")
                lines.append(f"{fresh} = {name}")
                name = fresh
            names.append(name)
        outputs = {j: names[k] for k, j in loop.carried.items()}
        targets = []
        for j, value in enumerate(last.outputs):
            is_used = value in self.position
            targets.append(outputs.get(j) or (self._fresh("y") if is_used else "_"))
            self.names |= {value: targets[-1]} if value else {}
        if loop.is_repeated:
            called, head = first, f"for _ in range({len(loop.uses)}):"
        else:
            called = dataclasses.replace(first, name=(*first.name[:-1], "*"))
            head = self.loop(first.name[:-1], int(first.name[-1]))
        lines.append(head)
        named = [name for name in targets if name != "_"]
        place = _place([name if name != "_" else None for name in targets])
        left = named if place else targets
        lines.append(f"    {', '.join(left)} = {self.use(called, names)}{place}")
        self.release(i)
        for value, name in zip(last.outputs, targets, strict=True):
            self.names |= {value: name} if value else {}
            self.free.discard(name)
        return lines

    def _expression(self, item: Step) -> Expression:
        if isinstance(item, Use):
            text = self.use(item, [*map(self.text_of, item.given)]) + _place(item.outputs)
            condition = self.condition(item.name)
            if not condition:
                return Expression(text)
            pairs = zip(item.outputs, item.bypass, strict=True)
            others = [self.text_of(item.inputs[place]) for result, place in pairs if result]
            other = others[0] if len(others) == 1 else f"({', '.join(others)})"
            return Expression(f"{text} if {condition} else {other}", 12)
        expression = self.expression(item, self._leaf)
        if isinstance(item.result, (tuple, list)) and len(item.result) == 1:
            return Expression(f"{expression.within(0)}[0]")
        return expression

    def _leaf(self, leaf: Any) -> Expression:
        if isinstance(leaf, Setting):
            return Expression(self.setting(leaf.name))
        if isinstance(leaf, Function):
            return Expression(self.functions[leaf])
        if leaf in self.texts:
            return self.texts[leaf]
        if not isinstance(leaf, Value):
            raise TypeError(f"source code cannot hold {leaf!r} of type {type(leaf).__name__}")
        return Expression(self._name(leaf))

    def text_of(self, leaf: Any) -> str:
        """The text of a value or a number."""
        return self.language.value(leaf, self._leaf).text

    def _name(self, value: Value) -> str:
        if value in self.texts:
            return self.texts[value].text
        return self.names.get(value) or self.variable(value) or "x"

    def _text(self, nest: Any) -> str:
        if isinstance(nest, list) and len(nest) > 1 and all(isinstance(x, Value) for x in nest):
            return ", ".join(self._name(x) for x in nest)
        if type(nest) is tuple and len(nest) > 1:
            return ", ".join(map(self.text_of, nest))
        return self.text_of(nest)

    # -- names -----------------------------------------------------------------------------

    def last_use(self, value: Value) -> int:
        """The last item that reads a value when it is evaluated."""
        return max((self.evaluated[p] for p in self.position.get(value, [])), default=-1)

    def release(self, i: int) -> None:
        """Give the names of values free that nothing after an item reads."""
        for value, name in self.names.items():
            if self.last_use(value) <= i and name != "_" and value not in self.around:
                self.free.add(name)
        for value, name in self.names.items():
            if self.last_use(value) > i or value in self.around:
                self.free.discard(name)

    def _new_name(self, text: str, item: Step, value: Value, number: int) -> str:
        """A name for a result: the name of the argument it replaces, or one after its module."""
        readers = [self.items[p] for p in self.position[value] if p < len(self.items)]
        if number > 1 and len(readers) == 1 and _is_write(readers[0]):
            old = readers[0].args[-2]
            last = re.sub(r"\W", "_", old.path.rpartition("/")[2])
            is_assigned = self.language.assigns and readers[0].target == "state:set"
            return self._name(old) if is_assigned else self._fresh(last)
        kind = kind_of(value)
        hint = hint_name(self._hints(item)) if number == 1 and kind == "x" else ""
        replaced = [n for n in re.findall(r"\w+", text) if n in self.free and n in GENERIC]
        is_of_kind = bool(replaced) and replaced[0] in (("x", "h", "y") if kind == "x" else (kind,))
        if number == 1 and is_of_kind and not (hint and self._branches(replaced[0])):
            self.free.discard(replaced[0])
            return replaced[0]
        if kind != "x":
            return self._fresh(kind)
        return self._fresh(*([hint] if hint else ["x", "h"]))

    def _hints(self, item: Item) -> set[Path]:
        """The modules whose calls are written in the text of an item."""
        if isinstance(item, Loop):
            return set()
        name = (item.name if isinstance(item, Use) else self.hint(item)) or None
        inner = [v for v in arguments(item) if v in self.inlined and v in self.sources]
        hints = [hint for v in inner for hint in self._hints(self.sources[v])]
        return {name} if name else set(hints)

    def _branches(self, name: str) -> bool:
        """Whether the value of a name is read by several statements."""
        value = next(v for v in reversed(self.names) if self.names[v] == name)
        return len({self.evaluated[p] for p in self.position.get(value, [])}) > 1

    def _fresh(self, *bases: str) -> str:
        taken = {n for n in self.names.values() if n not in self.free} | {"self", *self.reserved}
        for base in bases:
            if base not in taken and not iskeyword(base):
                self.free.discard(base)
                return base
        base = bases[0] if bases[0] in ("mask", "ids", "n", "y") else "h"
        name = next(n for n in map(f"{base}{{}}".format, ["", *range(2, 1000)]) if n not in taken)
        self.free.discard(name)
        return name


#: Function → the names of parameters that are tuples.
_PARAMETERS = {
    "go_on": ["carry"],
    "body": ["carry"],
    "count": ["i", "carry"],
    "step": ["carry", "row"],
    "per_row": ["row"],
    "function": ["args"],
    "forward": ["args"],
    "backward": ["residuals", "gradients"],
    "tangent": ["args", "tangents"],
}


def _functions(item: Item) -> list[Function]:
    return functions_in(item) if isinstance(item, Call) else []


def _is_flow(item: Item) -> TypeGuard[Call]:
    """Whether a call is a statement of Python."""
    return isinstance(item, Call) and item.target.startswith("flow:")


def _is_write(item: Item) -> TypeGuard[Call]:
    """Whether a call replaces a variable of the state; its first argument is the old value."""
    return isinstance(item, Call) and item.target in ("state:set", "method:set")


def _is_in_place(item: Item) -> TypeGuard[Call]:
    """Whether a call changes its first argument, a value with a name."""
    return isinstance(item, Call) and item.writes_in_place


def _results(item: Item) -> list[Value]:
    return results(item.uses[-1] if isinstance(item, Loop) else item)


def _place(outputs: Sequence[Any]) -> str:
    """The index of the only output that is used of several; the others are None."""
    used = [i for i, value in enumerate(outputs) if value is not None]
    return f"[{used[0]}]" if len(used) == 1 < len(outputs) else ""


def _count(nest: Any, value: Value) -> int:
    if isinstance(nest, (list, tuple)):
        return sum(_count(item, value) for item in nest)
    if isinstance(nest, dict):
        return sum(_count(item, value) for item in nest.values())
    if isinstance(nest, Function):
        return 2 * (value in nest.free)  # evaluated by each call
    if isinstance(nest, slice):
        return _count([nest.start, nest.stop, nest.step], value)
    return int(nest is value)
