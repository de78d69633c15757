"""Modules of the source, and their steps."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from keyword import iskeyword
from typing import Any

from nestarray.exporters.source.recording.records import (
    Call,
    Function,
    Value,
    all_calls,
    functions_in,
    values_in,
)
from nestarray.graph.node import map_leaves

Path = tuple[str, ...]

#: Values other than arrays, which are the last arguments of a module.
KINDS = ("state", "train", "training", "key", "rng", "subkey", "shape")


@dataclasses.dataclass(eq=False)
class Use:
    """A call of a module.

    Attributes:
        name: the module, a key of `children` of the module around it.
        module: the module.
        inputs: the values that it takes; None for one that the module lacks, and others of its class have.
        outputs: the values that it returns; None for one that nothing reads.
        targets: the form of the assignment of several outputs that a layer returns, ``"{0}, ({1}, _)"``.
        bypass: for each output the position of the input in its place, if some modules lack the child.
    """

    name: Path
    module: Module
    inputs: Sequence[Value | None]
    outputs: list[Value | None]
    targets: str = ""
    bypass: tuple[int, ...] = ()

    @property
    def args(self) -> tuple[Value | None, ...]:
        """Its arguments, as those of a `Call`."""
        return (*self.inputs,)

    @property
    def kwargs(self) -> dict[str, Any]:
        """No arguments have names."""
        return {}

    @property
    def result(self) -> list[Value | None]:
        """Its results, as those of a `Call`."""
        return self.outputs

    @property
    def given(self) -> Sequence[Value | None]:
        """The inputs, without a default None after the last Value."""
        last = max((i for i, value in enumerate(self.inputs) if value), default=-1)
        return self.inputs[: last + 1]


Step = Call | Use


@dataclasses.dataclass(eq=False)
class Layer(Call):
    """The framework's own class for a module: the call of its constructor, and the form of its calls.

    Attributes:
        form: the text of the arguments of a call, ``"{}, {}, need_weights=False"``, and of an index
            of its result, ``"({})[0]"``.
    """

    form: str = "({})"


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
        layer: the framework's own class, if there is one for the module.
    """

    path: Path
    kind: str
    steps: list[Step]
    inputs: list[Value]
    output: Any
    children: dict[Path, Module]
    variables: dict[str, Value]
    layer: Layer | None = None

    @property
    def outputs(self) -> list[Value]:
        """The values that it returns."""
        return values_in(self.output)

    @property
    def uses(self) -> list[Use]:
        """The calls of its children, also in the functions that its steps take."""
        return [step for step in all_calls(self.steps) if isinstance(step, Use)]

    @property
    def calls(self) -> list[Call]:
        """The calls of functions of the framework, also in the functions that its steps take."""
        return [step for step in all_calls(self.steps) if isinstance(step, Call)]

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


def output_of(values: list[Value]) -> Any:
    """The output of a module that returns some values: a list, a single one, or None."""
    return values if len(values) > 1 else next(iter(values), None)


def arguments(step: Step) -> list[Value]:
    """The Values that a step takes."""
    return values_in([[*step.args], step.kwargs])


def results(step: Step) -> list[Value]:
    """The Values that a step makes."""
    return values_in(step.result)


def with_values(step: Step, of: Mapping[Value, Value]) -> Step:
    """A step with other values: value → the one in its place. Functions keep theirs."""

    def replaced(nest: Any) -> Any:
        return map_leaves(lambda x: of.get(x, x) if isinstance(x, Value) else x, nest)

    names = ("inputs", "outputs") if isinstance(step, Use) else ("args", "kwargs", "result")
    return dataclasses.replace(step, **{name: replaced(getattr(step, name)) for name in names})


def mapped_steps(steps: Sequence[Any], of: Callable[[Any], list[Any]]) -> list[Any]:
    """The steps, also in functions, with others for those that are no calls of functions."""
    mapped: list[Any] = []
    for step in steps:
        if isinstance(step, Call):
            mapped.append(with_calls(step, lambda function: mapped_steps(function.calls, of)))
        else:
            mapped += of(step)
    return mapped


def with_calls(call: Call, of: Callable[[Function], list[Any]]) -> Call:
    """A call with other calls in the functions that it takes."""
    if not functions_in(call):
        return call

    def changed(leaf: Any) -> Any:
        is_function = isinstance(leaf, Function)
        return dataclasses.replace(leaf, calls=of(leaf)) if is_function else leaf

    args, kwargs = map_leaves(changed, ([*call.args], call.kwargs))
    return dataclasses.replace(call, args=tuple(args), kwargs=kwargs)


def rank(value: Value) -> int:
    """The place of an argument: arrays first."""
    return KINDS.index(value.dtype) + 1 if value.dtype in KINDS else 0


def parts(path: str) -> Path:
    """The names of a path."""
    return tuple(part for part in re.split(r"[./]", path) if part)


def numbered(name: str) -> Iterator[str]:
    """A name, and the name with the numbers from 2 on."""
    yield name
    for number in itertools.count(2):
        yield f"{name}_{number}"


def is_item(name: Path) -> bool:
    """Whether a module is an item of a list, by its name in the module around it."""
    return len(name) > 1 and name[-1].isdigit()


def items_of(module: Module, name: Path) -> list[Path]:
    """The items of a list, by their names in the module around it, in order."""
    keys = [key for key in module.children if key[:-1] == name and key[-1].isdigit()]
    return sorted(keys, key=_number)


def lists_of(module: Module) -> list[Path]:
    """The lists of a module; the list of a sequence has no name."""
    names = [name[:-1] for name in module.children if name[-1].isdigit()]
    return [*dict.fromkeys(names)]


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
    for use in module.uses:
        use.name = new[use.name]


def attribute(name: Path, separator: str = "_") -> str:
    """The name of a module as an attribute: ``"layers.0"`` for an item of a list."""
    if is_item(name):
        return f"{joined(name[:-1], separator)}.{name[-1]}"
    return joined(name, separator)


def joined(name: Path, separator: str = "_") -> str:
    """The name of a list or a variable as an attribute."""
    first, *others = separator.join(name).split(".")
    return ".".join([identifier(first), *(x if x.isdigit() else identifier(x) for x in others)])


def indexed(name: str) -> str:
    """A name with indices of lists: ``"layers[0].norm"`` for ``"layers.0.norm"``."""
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", name)


def identifier(name: str) -> str:
    """The name, or one that Python allows; classes change names that begin with two underscores."""
    is_name = name.isidentifier() and not iskeyword(name) and not name.startswith("__")
    return name if is_name else f"layer_{name.lstrip('_')}"


def is_sequence(module: Module) -> bool:
    """Whether a module calls its children one after the other, and does nothing else."""
    uses = [step.name for step in module.steps if isinstance(step, Use)]
    is_plain = 0 < len(set(uses)) == len(module.steps) and not module.variables
    is_plain = is_plain and isinstance(module.output, Value)
    is_numbered = all(len(name) == 1 and name[0].isdigit() for name in uses)
    return is_plain and is_chain(module) and is_numbered and uses == sorted(uses, key=_number)


def _number(name: Path) -> int:
    return int(name[-1])


def is_chain(module: Module) -> bool:
    """Whether each step takes the result of the step before, and nothing else."""
    values = list(module.inputs)
    for step in module.steps:
        taken = [v for v in arguments(step) if not v.source or v in module.inputs]
        if len(values) != 1 or taken != values:
            return False
        values = results(step)
    return module.output is not None and values == values_in(module.output)
