"""Programs as ``keras.Model``, on any backend of Keras.

A saved model holds the text of its graphs, as `Graph.save` writes it, and the arrays as weights.
Loading looks functions up by name; it runs no code of the file.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.errors import ConversionError
from nestarray.exporters.program import Program, Variables, identifier
from nestarray.exporters.signatures import CallSignature, setting
from nestarray.graph.files import graph_of, program_text
from nestarray.graph.node import Aval
from nestarray.storage.elements import BITS, dtype_name, from_elements, to_elements


class Part(keras.Layer):
    """The weights of one submodule, and the parts in it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.parts: dict[str, Part] = {}
        self.built = True

    def part(self, name: str) -> Part:
        """The part of this name, made when first asked for."""
        if name not in self.parts:
            self.parts[name] = Part(name=identifier(name))
        return self.parts[name]


@keras.saving.register_keras_serializable("nestarray")
class KerasModel(keras.Model):
    """A converted model: a weight for each parameter and state, and a program.

    The training behaviour assigns the state and draws from a ``keras.random.SeedGenerator``. A
    model that is not trainable computes the evaluation behaviour; a part that is not trainable
    keeps its state, and normalizes by moving statistics, as Keras' batch normalization does.
    """

    __signature__ = CallSignature("program", Any, setting("training", None, bool | None))

    def __init__(self, program: Program, variables: Variables | None, **kwargs: Any) -> None:
        super().__init__(
            **{
                "name": identifier(program.name.lower()),
                "dtype": _floating_dtype(program),
                **kwargs,
            }
        )
        self.program = program.ready()
        self.parts: dict[str, Part] = {}
        self.weights_of: dict[str, Any] = {}
        for path, value in program.values.items():
            self.weights_of[path] = self.owner(path).add_weight(
                shape=tuple(value.shape),
                initializer="zeros",
                dtype=dtypes.dtype_of(value).name,
                trainable=path in program.v,
                autocast=False,
                name=identifier(path.rpartition("/")[2]),
            )
            if variables is not None:
                self.weights_of[path].assign(variables.copied(path))
        self.seeds = keras.random.SeedGenerator(0)
        self.built = True

    part = Part.part

    def owner(self, path: str) -> Any:
        """The part that holds a weight, or the model."""
        owner: Any = self
        for name in path.split("/")[:-1]:
            owner = owner.part(name)
        return owner

    def call(self, inputs: Any, *others: Any, training: bool | None = None, **kwargs: Any) -> Any:
        """The output of the source, called as the source is, or with a list or a dict."""
        args, kwargs = self._arguments((inputs, *others), kwargs)
        values = {path: weight.value for path, weight in self.weights_of.items()}
        for path, x in self.program.s.items():
            if dtypes.dtype_of(x).is_integer:  # Keras holds uint32 as int64 on PyTorch
                values[path] = ops.astype(values[path], dtypes.dtype_of(x))
        train = bool(training) and self.trainable
        for path in values.keys() & self.program.written(train):  # results may be the present state
            values[path] = keras.ops.copy(values[path])
        frozen = frozenset(path for path in values if train and not self.owner(path).trainable)
        key = None
        if self.program.needs_key(train):
            key = ops.astype(self.seeds.next(), dtypes.uint32)
        output, new = self.program.run(train, args, kwargs, values, key, frozen)
        for path, value in new.items():
            self.weights_of[path].assign(value)
        return output

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """A list or dict as the only argument becomes several, if the source takes several."""
        first, *others = args
        if others or not self.program.graphs:
            return args, kwargs
        names, _ = self.program.graph(False).signature
        if isinstance(first, Mapping) and not (names and isinstance(names[0], Mapping)):
            return (), {**first, **kwargs}
        if isinstance(first, (list, tuple)) and len(names) == len(first) > 1:
            return tuple(first), kwargs
        return args, kwargs

    def get_config(self) -> dict[str, Any]:
        """The text of the graphs, their constants, and the shapes of the weights."""
        program = self.program
        if not program.graphs:
            raise ConversionError(
                f"{program.name}: Keras saves graphs, not an nn.Module; trace it first: "
                "na.trace_graph(module, x).to_keras_model()"
            )
        return {
            "name": self.name,
            "graphs": [program_text(graph) for graph in program.graphs.values()],
            "constants": [
                {path: _encoded(path, x) for path, x in graph.constants.flat_items()}
                for graph in program.graphs.values()
            ],
            "v": _shapes(program.v),
            "s": _shapes(program.s),
            "streams": _shapes(program.streams),
            "trainable": self.trainable,
            "frozen": [path for path in self.weights_of if not self.owner(path).trainable],
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> KerasModel:
        """A model with zeros as weights: `load_model` or `set_weights` gives them values."""
        backend = keras.backend.backend()
        v, s = _avals(config["v"]), _avals(config["s"])
        streams = _avals(config["streams"])
        graphs = {}
        for text, encoded in zip(config["graphs"], config["constants"], strict=True):
            constants = {path: _decoded(x, backend) for path, x in encoded.items()}
            arrays = {"v": v, "s": s | streams, "constants": constants}
            graph = graph_of(
                text, {x: Container.from_flat_dict(arrays[x]) for x in arrays}, backend
            )
            graphs[graph.train] = graph
        name = next(iter(graphs.values())).name
        program = Program(name=name, backend=backend, v=v, s=s, streams=streams, graphs=graphs)
        model = cls(program, None, name=config["name"])
        model.trainable = config["trainable"]
        for path in sorted(
            model.weights_of, key=lambda path: path.count("/")
        ):  # parts after owners
            model.owner(path).trainable = path not in config["frozen"]
        return model


def _floating_dtype(program: Program) -> str:
    """The dtype to which Keras casts floating inputs: the graph's, under each dtype policy."""
    inputs = [node.aval.dtype for g in program.graphs.values() for node in g.inputs if node.aval]
    candidates = (*inputs, *[dtypes.dtype_of(x) for x in program.v.values()], dtypes.float32)
    return next(dtype.name for dtype in candidates if dtype.is_floating)


def _shapes(values: Any) -> dict[str, Any]:
    items = values.flat_items() if isinstance(values, Container) else values.items()
    return {path: [list(x.shape), dtypes.dtype_of(x).name] for path, x in items}


def _encoded(path: str, x: Any) -> tuple[list[int], str, str]:
    """The shape, dtype and elements of an array; JSON holds the elements in base 64."""
    elements = to_elements(x)
    return list(x.shape), dtype_name(x, path), base64.b64encode(elements.tobytes()).decode()


def _decoded(encoded: tuple[list[int], str, str], backend: str) -> Any:
    shape, dtype, text = encoded
    flat = np.frombuffer(base64.b64decode(text), BITS.get(dtype, dtype))
    return from_elements(flat.reshape(shape).copy(), dtype, backend)


def _avals(shapes: Mapping[str, Any]) -> dict[str, Any]:
    return {path: Aval(tuple(n), dtypes.as_dtype(dtype)) for path, (n, dtype) in shapes.items()}


build = KerasModel
