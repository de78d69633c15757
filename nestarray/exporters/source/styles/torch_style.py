"""Classes of ``torch.nn.Module``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from nestarray import ops
from nestarray.exporters.source.printing.torch_language import LANGUAGE
from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.fixed_numbers import torch_functions
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.class_style import ClassStyle, part_of
from nestarray.exporters.source.styles.torch_layers import give_layers
from nestarray.exporters.source.tree.grouping import IMPORTED
from nestarray.exporters.source.tree.modules import Module, indexed
from nestarray.exporters.source.tree.ties import statements, ties_of

#: The end of the constructor of a model with variables that no call uses.
_GIVE_UNUSED = """
for name, x in unused.items():
    *owners, last = name.split(".")
    module = self
    for owner in owners:
        if not hasattr(module, owner):
            module.add_module(owner, nn.Module())
        module = getattr(module, owner)
    is_parameter = isinstance(x, nn.Parameter)
    (module.register_parameter if is_parameter else module.register_buffer)(last, x)
"""


class Style(ClassStyle):
    language = LANGUAGE
    library = "torch"
    has_mode = True
    base = "nn.Module"
    method = "forward"
    begin = ("super().__init__()",)
    sequence = "nn.Sequential"
    placeholder = "nn.Identity()"
    separator = "."
    namespace = "nn.Module()"
    form = "in PyTorch"
    usage = """
from model import load

model = load()
output = model({inputs})
"""
    training = """:

```python
model = load().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
```
"""

    def __init__(self, program: Program, name: str) -> None:
        give_layers(program.root, program.constants, train=program.train)
        super().__init__(program, name)
        variables = {**self.variables, **program.unused}
        ties = ties_of(variables, program.stands_for, program.names)
        self._last = [*self._with_unused(), *statements(ties, variables)]
        self.variables = {
            key: program.stands_for.get(x, x) for key, x in variables.items() if key not in ties
        }
        has_constants = not program.constants.keys().isdisjoint(self.variables.values())
        self.load = _load(self.name, ties, has_constants=has_constants)

    @classmethod
    def name_of(cls, name: str) -> str:
        is_taken = hasattr(torch.nn, name) or name in IMPORTED
        return "Model" if is_taken or not name.isidentifier() else name

    def _with_unused(self) -> list[str]:
        """The lines of the constructor that make variables of checkpoints that no call uses."""
        layers = [module for module in self.root.walk() if module.layer is not None]
        means = {m.variables["running_mean"] for m in layers if "running_mean" in m.variables}
        norms = {name.rpartition(".")[0] for name, x in self.variables.items() if x in means}
        texts: dict[str, str] = {}
        for name, value in self.program.unused.items():
            owner, _, last = name.rpartition(".")
            if owner in norms and last == "num_batches_tracked":  # which the layer makes
                continue
            empty = _empty(str(value.shape), value.dtype)
            texts[name] = f"nn.Parameter({empty})" if value.source == "v" else empty
        lines = ["unused = {", *(f"    {item}," for item in _items(texts)), "}"]
        return [*lines, *_GIVE_UNUSED.strip().splitlines()] if texts else []

    def last_lines(self, module: Module) -> list[str]:
        return self._last if module is self.root else []

    def variable(self, name: str, value: Value, shape: str) -> str:
        empty = _empty(shape, value.dtype)
        *owners, last = name.split(".")
        owner = indexed(".".join(["self", *owners]))
        if value.source != "v":
            unsaved = ", persistent=False" if value in self.program.constants else ""
            return f'{owner}.register_buffer("{last}", {empty}{unsaved})'
        if last.isdigit():
            return f'{owner}.register_parameter("{last}", nn.Parameter({empty}))'
        return f"{owner}.{last} = nn.Parameter({empty})"

    def constant(self, name: str, text: str) -> str:
        *owners, last = name.split(".")
        owner = indexed(".".join(["self", *owners]))
        return f'{owner}.register_buffer("{last}", {text}, persistent=False)'

    def list_of(self, items: str) -> str:
        return f"nn.ModuleList([{items}])"

    def generated(self, items: str) -> str:
        return f"nn.ModuleList({items})"

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        model = namespace["load"]().train(self.program.train)
        with torch.no_grad(), _WithoutChance():
            output = model(*(ops.to_backend(x, "torch") for x in inputs))
        return output, {name: part_of(model, name) for name in self.writes}


def _empty(shape: str, dtype: str) -> str:
    """The text of an array without values."""
    sizes = shape.strip("()").rstrip(",") if shape.startswith("(") and len(shape) > 2 else shape
    return f"torch.empty({sizes}" + ("" if dtype == "float32" else f", dtype=torch.{dtype}") + ")"


class _WithoutChance(TorchFunctionMode):
    """A mode in which dropout drops nothing, and random numbers are fixed."""

    def __init__(self) -> None:
        super().__init__()
        self._functions = torch_functions()

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if function in (F.dropout, F.dropout1d, F.dropout2d, F.dropout3d):
            return args[0]
        return self._functions.get(function, function)(*args, **(kwargs or {}))


def _items(texts: Mapping[str, str]) -> Iterator[str]:
    """The items of a dict; those of equal layers, ``"layers.0.bias"``, ``"layers.1.bias"``, as one."""
    written: set[str] = set()
    for name, text in texts.items():
        for number in re.finditer(r"\b0(?=\.)", "" if name in written else name):
            start, stop = number.span()
            first = _below(texts, name[:stop])
            layers = (f"{name[:start]}{i}" for i in itertools.count(1))
            equal = itertools.takewhile(lambda x, prefix=first: _below(texts, x) == prefix, layers)
            count = 1 + len([*equal])
            for end, code in first.items() if count > 1 else ():
                template = f"{name[:start]}{{i}}{end}"
                yield f'**{{f"{template}": {code} for i in range({count})}}'
                written |= {f"{name[:start]}{i}{end}" for i in range(count)}
            if name in written:
                break
        if name not in written:
            yield f'"{name}": {text}'


def _below(texts: Mapping[str, str], module: str) -> dict[str, str]:
    """The ends of the names in a module, and their texts."""
    prefix = f"{module}."
    return {name[len(module) :]: text for name, text in texts.items() if name.startswith(prefix)}


def _load(name: str, ties: Mapping[str, str], *, has_constants: bool) -> str:
    """The function that makes the model.

    Args:
        name: of the class of the model.
        ties: further name of a parameter → its first name.
        has_constants: the file has buffers that checkpoints of the source lack.
    """
    what = "weights and constants" if has_constants else "weights"
    lines = ["weights = load_file(path)"]
    if has_constants:
        lines.append("for name in weights.keys() - model.state_dict().keys():")
        lines.append("    model.get_buffer(name).copy_(weights.pop(name))")
    lines += [f'weights["{other}"] = weights["{first}"]' for other, first in ties.items()]
    lines.append("model.load_state_dict(weights)")
    if len(lines) == 2:
        lines = ["model.load_state_dict(load_file(path))"]
    lines = [f'"""The model with its {what}, in evaluation mode."""', f"model = {name}()", *lines]
    lines.append("return model.eval()")
    head = "def load(path=WEIGHTS):"
    return "\n".join([head, *(f"    {line}" for line in lines)]) + "\n"
