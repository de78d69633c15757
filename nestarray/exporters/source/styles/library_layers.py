"""Layers of a library, Flax or Keras, among the calls of JAX that a program makes.

These layers hold the mode, batch statistics and random numbers, and have kernels of one layout. A
table of a library says which layer a call is: function → (what makes its layer, parameter of the
function → variable of the layer).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.recording.records import Call, Recording, Value, values_in
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

#: (public name, settings) of a layer; None if the library has none for a call.
Constructor = tuple[str, dict[str, Any]] | None
#: Function of (variable of the layer → its Value, settings, number of axes of the data).
Maker = Callable[[Mapping[str, Value], Mapping[str, Any], int], Constructor]

_WINDOWS = "jax.lax.reduce_window"


def with_held_state(recording: Recording) -> Recording:
    """The recording with dropout and batch normalization as layers, which hold modes, keys and state.

    Maxima and means of windows are `flax.nnx.max_pool` and `flax.nnx.avg_pool`.
    """
    stands_for: dict[Value, Value] = {}

    def of(nest: Any) -> Any:
        return map_leaves(lambda x: stands_for.get(x, x) if isinstance(x, Value) else x, nest)

    calls: list[Call] = []
    makers: dict[Any, Call] = {}  # result → call
    for call in recording.calls:
        args, kwargs = of([*call.args]), of(call.kwargs)
        call = _pooling(dataclasses.replace(call, args=tuple(args), kwargs=kwargs), makers)
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


def _pooling(call: Call, before: Mapping[Any, Call]) -> Call:
    """A maximum or a mean of windows as Flax names it.

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
    target = "flax.nnx.avg_pool" if is_mean else "flax.nnx.max_pool"
    return dataclasses.replace(call, target=target, args=(x, tuple(window)), kwargs=settings)


def affine(variables: Mapping[str, Value], settings: Mapping[str, str]) -> dict[str, bool]:
    """Setting → whether the layer has the variable of this name."""
    return {setting: name in variables for setting, name in settings.items()}


def one_for_all(value: Any) -> Any:
    """One number for the equal numbers of all axes."""
    if not isinstance(value, (tuple, list)):
        return value
    items = [one_for_all(x) for x in value]
    is_one = isinstance(items[0], int) and len(set(items)) == 1
    return items[0] if is_one else tuple(value)


class Layers:
    """The layers of a library.

    Args:
        language: of the calls.
        table: function → (what makes its layer, parameter of the function → variable of the layer).
    """

    def __init__(
        self, language: Language, table: Mapping[str, tuple[Maker, Mapping[str, str]]]
    ) -> None:
        self.language, self.table = language, table

    def set(self, root: Module) -> None:
        """Give the modules of a tree their layers, and make modules of other calls of layers."""
        for module in root.walk():
            module.layer = None if module is root else self._layer(module)
            if module.layer is None:
                self._separate(module)

    def _separate(self, module: Module) -> None:
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
                if call.target not in self.table or not (place or _has_mode(call)):
                    continue
                name = place or (call.target[1:],)
                steps: list[Step] = [call, *self._bias(call, separate, result, variables)]
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

    def _bias(
        self, call: Call, steps: Sequence[Step], output: Any, variables: Mapping[str, Value]
    ) -> list[Call]:
        """The call that adds a bias to the result of a call, if nothing else reads the result."""
        readers = [step for step in steps if call.result in arguments(step)]
        is_read = len(readers) != 1 or call.result in values_in(output)
        if is_read or "kernel" not in self.table[call.target][1].values():
            return []
        return [
            x
            for x in readers
            if isinstance(x, Call) and _added([x], call.result) in variables.values()
        ]

    def _layer(self, module: Module) -> Layer | None:
        """The constructor of the layer that a module is; its variables get the layer's names."""
        call, *sums = module.steps
        if not isinstance(call, Call) or call.target not in self.table or len(module.inputs) != 1:
            return None
        make, names = self.table[call.target]
        parameters = [*self.language.parameters(call.target)] or ["a", "b"]  # of operators
        operands = dict(zip(parameters, call.args, strict=False)) | call.kwargs
        variables = {names[key]: x for key, x in operands.items() if key in names and x is not None}
        data = [x for key, x in operands.items() if isinstance(x, Value) and key not in names]
        if sums and "kernel" in variables:
            variables["bias"] = _added(sums, call.result)
        elif sums:
            return None
        is_whole = {*variables.values()} == {*module.variables.values()}
        if not is_whole or data != module.inputs:
            return None
        if any(value.dtype != "float32" for value in variables.values()):
            return None
        constructor = make(variables, operands, len(data[0].shape))
        if constructor is None:
            return None
        module.variables = variables
        target, settings = constructor
        return Layer(target, (), settings, module.output)


def _added(steps: list[Any], x: Value) -> Any:
    """The array that the one step adds to the result of the step before."""
    step = steps[0]
    is_sum = len(steps) == 1 and isinstance(step, Call) and step.target == "operator.add"
    return step.args[1] if is_sum and step.args[0] is x else None


def _has_mode(call: Call) -> bool:
    """Whether the mode of training changes a call."""
    return call.target == ".dropout" or (call.target == ".batch_norm" and "momentum" in call.kwargs)
