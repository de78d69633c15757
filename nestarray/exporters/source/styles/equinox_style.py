"""Classes of ``equinox.Module``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.records import Call, Recording, Value
from nestarray.exporters.source.styles.class_style import ClassStyle, part_of
from nestarray.exporters.source.styles.jax_style import (
    LANGUAGE,
    array,
    fix_random_numbers,
)
from nestarray.exporters.source.tree.modules import arguments
from nestarray.graph.node import map_leaves

_LOAD = '''def load(path=WEIGHTS):
    """The model with its weights."""
    weights = load_file(path)

    def arrays(model):
        return [part_of(model, name) for name in weights]

    return eqx.tree_at(arrays, {name}(), list(weights.values()))
'''

_LOAD_WITH_STATE = '''def load(path=WEIGHTS):
    """The model with its weights, and its state."""
    model, state = eqx.nn.make_with_state({name})()
    weights = load_file(path)
    for name in list(weights):
        index = part_of(model, name)
        if isinstance(index, eqx.nn.StateIndex):
            state = state.set(index, weights.pop(name))

    def arrays(model):
        return [part_of(model, name) for name in weights]

    return eqx.tree_at(arrays, model, list(weights.values())), state
'''


class Style(ClassStyle):
    language = LANGUAGE
    library = "equinox"
    returns_state = True
    base = "eqx.Module"
    form = "in Equinox"
    usage = """
import equinox as eqx
from model import load

{loaded} = load()
{result} = eqx.filter_jit(model)({inputs})
"""
    training = """:

```python
gradients = eqx.filter_grad(lambda model: loss(model({inputs})))(model)
```
"""

    def __init__(self, program: Program, name: str) -> None:
        super().__init__(program, name)
        calls = [s for m in self.root.walk() for s in m.steps if isinstance(s, Call)]
        self.states = {call.args[1] for call in calls if call.target == "method:set"}
        self.load = _LOAD_WITH_STATE if self.states else _LOAD

    @classmethod
    def with_state(cls, recording: Recording) -> Recording:
        """The recording with the state as an argument, which assignments replace and the model returns."""
        written = {call.args[0] for call in recording.calls if call.target == "state:set"}
        if not written:
            return recording
        state = Value((), "state", "mode", "state")
        inputs = [v for v in recording.inputs if v.source == "x"]
        inputs += [state, *(v for v in recording.inputs if v.source != "x")]
        calls: list[Call] = []
        for call in recording.calls:
            if call.target == "state:set":
                calls.append(
                    Call("method:set", (state, *call.args), {}, Value((), "state"), call.place)
                )
                state = calls[-1].result
                continue
            read: dict[Value, Value] = {}
            for value in arguments(call):
                if value in written:
                    read[value] = Value(value.shape, value.dtype)
                    calls.append(Call("method:get", (state, value), {}, read[value], call.place))
            args, kwargs = map_leaves(
                lambda x, read=read: read.get(x, x) if isinstance(x, Value) else x,
                [list(call.args), call.kwargs],
            )
            calls.append(dataclasses.replace(call, args=tuple(args), kwargs=kwargs))
        output = recording.output
        output = [output, state] if isinstance(output, Value) else (output, state)
        return dataclasses.replace(recording, inputs=inputs, calls=calls, output=output)

    def words(self) -> dict[str, str]:
        return {**super().words(), "loaded": "model, state" if self.writes else "model"}

    def variable(self, name: str, value: Value, shape: str) -> str:
        dtype = "" if value.dtype == "float32" else f", jnp.{value.dtype}"
        empty = f"jnp.empty({shape}{dtype})"
        array = f"eqx.nn.StateIndex({empty})" if value in self.states else empty
        return f"self.{name} = {array}"

    def read(self, text: str, value: Value) -> str:
        is_trained = value.source == "v" or not value.dtype.startswith("float")
        is_trained = is_trained or value in self.states
        return text if is_trained else f"lax.stop_gradient({text})"

    def fields(self, names: Mapping[str, str]) -> list[str]:
        types = {
            "array": "jax.Array",
            "state": "eqx.nn.StateIndex",
            "setting": "Any = eqx.field(static=True)",
        }
        kinds = {name: kind.partition(" | ") for name, kind in names.items()}
        return [
            f"{name}: {types.get(kind, kind)}{bar}{other}"
            for name, (kind, bar, other) in kinds.items()
        ] + [""]

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        fix_random_numbers(namespace)
        loaded, arguments = namespace["load"](), [array(x) for x in inputs]
        if not self.writes:
            return loaded(*arguments), {}
        model, state = loaded
        arguments[len(inputs) - len(self.modes) + self.modes.index("state")] = state
        output, state = model(*arguments)
        return output, {name: state.get(part_of(model, name)) for name in self.writes}
