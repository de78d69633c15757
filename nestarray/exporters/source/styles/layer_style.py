"""Classes of a library whose layers hold the mode, batch statistics and random numbers.

``model.train()`` and ``model.eval()`` switch dropout and batch normalization, whose calls have no other
arguments than the data. Layers are found among the recorded calls of JAX: a call of a row's function
with variables of its module, and perhaps the sum with a bias.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.records import Call, Recording, Value, values_in
from nestarray.exporters.source.styles.class_style import ClassStyle
from nestarray.exporters.source.tree.modules import (
    Layer,
    Module,
    Path,
    Step,
    Use,
    arguments,
    numbered,
    parts,
    results,
    with_calls,
)
from nestarray.graph.node import map_leaves

#: The name and the settings of a layer; None for a form that the library lacks.
Constructor = tuple[str, dict[str, Any]] | None

_WINDOWS = "jax.lax.reduce_window"


class Row(NamedTuple):
    """The layer of a function.

    Attributes:
        make: (variables of the layer, arguments of the call, number of axes of the data) → layer.
        variables: parameter of the function → variable of the layer.
        weight: the variable of a product, to which a layer adds a bias; empty for others.
    """

    make: Callable[[Mapping[str, Value], Mapping[str, Any], int], Constructor]
    variables: Mapping[str, str]
    weight: str = ""


class LayerStyle(ClassStyle):
    """Writes classes with layers.

    Attributes:
        layers: function → its layer.
        signatures: of these functions, which say the names of arguments; by default the language.
        pooling: the prefix of the names ``"max_pool"`` and ``"avg_pool"`` of functions of windows.
    """

    has_channels_last = True
    has_mode = True
    layers: Mapping[str, Row]
    signatures: Language | None = None
    pooling: str

    def __init__(self, program: Program, name: str) -> None:
        self.root = program.root
        for module in self.root.walk():
            module.layer = None if module is self.root else self._layer(module)
            if module.layer is None:
                self._separate_layers(module)
        self.prepare()
        super().__init__(program, name)

    @classmethod
    def with_state(cls, recording: Recording) -> Recording:
        """The recording with dropout and batch normalization as layers, which hold modes, keys and state."""
        stands_for: dict[Value, Value] = {}

        def of(nest: Any) -> Any:
            return map_leaves(lambda x: stands_for.get(x, x) if isinstance(x, Value) else x, nest)

        calls: list[Call] = []
        makers: dict[Any, Call] = {}  # result → call
        for call in recording.calls:
            args, kwargs = of([*call.args]), of(call.kwargs)
            call = cls._pooling(dataclasses.replace(call, args=tuple(args), kwargs=kwargs), makers)
            if call.target == ".dropout":
                x, key, _ = args
                y, stands_for[call.result[1]] = call.result[0], key
                call = dataclasses.replace(call, args=(x,), result=y)
            elif call.target == ".running_batch_norm":
                x, mean, variance, _, *affine = args
                y, *new = call.result
                stands_for |= zip(new, (mean, variance), strict=True)
                args = x, mean, variance, *affine
                call = dataclasses.replace(call, target=".batch_norm", args=args, result=y)
            elif call.target == "state:set" and args[0] is args[1]:
                continue
            calls.append(call)
            makers |= {call.result: call} if isinstance(call.result, Value) else {}
        output = of(recording.output)
        used = {*values_in(output), *(value for call in calls for value in arguments(call))}
        calls = [c for c in calls if c.target != _WINDOWS or c.result in used]  # sums of means
        inputs = [v for v in recording.inputs if v.source not in ("mode", "key") or v in used]
        return dataclasses.replace(recording, inputs=inputs, calls=calls, output=output)

    @classmethod
    def _pooling(cls, call: Call, before: Mapping[Any, Call]) -> Call:
        """A maximum or a mean of windows as the library names it.

        Args:
            call: any call.
            before: result → call, of the calls before.
        """
        is_mean = call.target == "operator.truediv" and call.args[0] in before
        windows = before[call.args[0]] if is_mean else call
        if windows.target != _WINDOWS:
            return call
        x, _, function, (first, *window, last), *others = windows.args
        options = dict(zip(("window_strides", "padding"), others, strict=False)) | windows.kwargs
        steps, padding = options.get("window_strides"), options.get("padding", "VALID")
        is_plain = first == last == 1 and not options.keys() - {"window_strides", "padding"}
        name = "jax.lax.add" if is_mean else "jax.lax.max"
        if not is_plain or function != name or (is_mean and call.args[1] != math.prod(window)):
            return call
        settings = {} if steps is None else {"strides": tuple(steps[1:-1])}
        settings |= {"padding": padding if isinstance(padding, str) else tuple(padding[1:-1])}
        target = f"{cls.pooling}{'avg_pool' if is_mean else 'max_pool'}"
        return dataclasses.replace(call, target=target, args=(x, tuple(window)), kwargs=settings)

    def prepare(self) -> None:
        """Change the tree of modules with layers before it becomes classes."""

    def is_layer(self, call: Call) -> bool:
        """Whether a call without variables is a layer: the mode of training changes it."""
        return call.target == ".dropout" or (
            call.target == ".batch_norm" and "momentum" in call.kwargs
        )

    def _separate_layers(self, module: Module) -> None:
        """Make modules of the calls of layers among the steps of a module, and in functions."""
        variables = dict(module.variables)
        known: dict[Any, Path] = {}

        def separated(calls: Sequence[Step], result: Any) -> list[Step]:
            separate = [
                with_calls(step, lambda function: separated(function.calls, function.output))
                if isinstance(step, Call)
                else step
                for step in calls
            ]
            for call in [step for step in separate if isinstance(step, Call)]:
                place = parts(call.place.module)[len(module.path) :]
                if call.target not in self.layers or not (place or self.is_layer(call)):
                    continue
                name = place or (call.target[1:],)
                steps: list[Step] = [call, *self._bias_of(call, separate, result, variables)]
                used = {value for step in steps for value in arguments(step)}
                parameters = {key: value for key, value in variables.items() if value in used}
                inputs = [value for value in arguments(call) if value not in parameters.values()]
                (output,) = results(steps[-1])
                like = name, tuple(parameters.values()), tuple(call.kwargs.items())
                if like not in known:
                    child = Module((), "", steps, inputs, output, {}, parameters)
                    child.layer = self._layer(child)
                    if child.layer is None:
                        continue
                    names = ((*name[:-1], last) for last in numbered(name[-1]))
                    known[like] = next(name for name in names if name not in module.children)
                    module.children[known[like]] = child
                    module.variables = {
                        k: v for k, v in module.variables.items() if k not in parameters
                    }
                use = Use(known[like], module.children[known[like]], inputs, [output])
                separate[separate.index(steps[-1])] = use
                separate = [step for step in separate if step not in steps]
            return separate

        module.steps = separated(module.steps, module.output)

    def _bias_of(
        self, call: Call, steps: Sequence[Step], output: Any, variables: Mapping[str, Value]
    ) -> list[Call]:
        """The call that adds a bias to the result of a call, if nothing else reads the result."""
        readers = [step for step in steps if call.result in arguments(step)]
        is_read = len(readers) != 1 or call.result in values_in(output)
        if is_read or not self.layers[call.target].weight:
            return []
        return [
            x
            for x in readers
            if isinstance(x, Call) and _added([x], call.result) in variables.values()
        ]

    def _layer(self, module: Module) -> Layer | None:
        """The constructor of the layer that a module is; its variables get the layer's names."""
        call, *sums = module.steps
        if not isinstance(call, Call) or call.target not in self.layers or len(module.inputs) != 1:
            return None
        make, names, weight = self.layers[call.target]
        signatures = self.signatures or self.language
        parameters = [*signatures.parameters(call.target)] or ["a", "b"]  # of operators
        operands = dict(zip(parameters, call.args, strict=False)) | call.kwargs
        variables = {names[key]: x for key, x in operands.items() if key in names and x is not None}
        data = [x for key, x in operands.items() if isinstance(x, Value) and key not in names]
        if sums and weight in variables:
            variables["bias"] = _added(sums, call.result)
        elif sums:
            return None
        is_whole = {*variables.values()} == {*module.variables.values()}
        is_single = all(value.dtype == "float32" for value in variables.values())
        if not is_whole or not is_single or data != module.inputs:
            return None
        layer = make(variables, operands, len(data[0].shape))
        if layer is None:
            return None
        module.variables = variables
        target, settings = layer
        return Layer(target, (), settings, module.output)


def _added(steps: list[Any], x: Value) -> Any:
    """The array that the one step adds to the result of the step before."""
    step = steps[0]
    is_sum = len(steps) == 1 and isinstance(step, Call) and step.target == "operator.add"
    return step.args[1] if is_sum and step.args[0] is x else None


def one_for_all(value: Any) -> Any:
    """One number for the equal numbers of all axes."""
    if not isinstance(value, (tuple, list)):
        return value
    items = [one_for_all(x) for x in value]
    is_one = isinstance(items[0], int) and len(set(items)) == 1
    return items[0] if is_one else tuple(value)
