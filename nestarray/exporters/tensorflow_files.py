"""Files of TensorFlow and Keras: SavedModel, TFLite and ``.keras``."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from nestarray.backends import portable
from nestarray.backends.tensorflow import complex_parts
from nestarray.dispatch import register_interpreter
from nestarray.errors import Refused, UnsupportedError
from nestarray.errors.foreign import foreign
from nestarray.exporters.export import Example, named_outputs
from nestarray.exporters.native import to_keras_model, to_tf_module
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node, iter_nodes, map_nodes

register_interpreter(complex_parts.Parts, complex_parts.apply, priority=0)


def write_savedmodel(graph: Graph, example: Example, path: Path) -> None:
    """Save the module with the signature "serving_default", whose inputs have names."""
    _save(graph, to_tf_module(graph), path)


def _save(graph: Graph, module: Any, path: Path) -> None:
    signature = _signature(graph, module)
    tf.saved_model.save(module, str(path), signatures={"serving_default": signature})


def run_savedmodel(path: Path, example: Example) -> dict[str, np.ndarray]:
    """The outputs of the signature."""
    loaded = tf.saved_model.load(str(path))
    given = {name: tf.constant(x) for name, x in example.flat.items()}
    outputs = loaded.signatures["serving_default"](**given)
    return {name: x.numpy() for name, x in outputs.items()}


def write_tflite(graph: Graph, example: Example, path: Path) -> None:
    """Save a model of TFLite, with the signature "serving_default".

    Raises:
        UnsupportedError: TFLite lacks an operation, or its dtype.
    """
    for node in iter_nodes(graph.output):
        if node.aval is not None and node.aval.dtype.kind == "complex":
            raise UnsupportedError(
                f"TFLite lacks complex outputs: got {node.name!r}; return its real and imaginary "
                "parts, or choose another format: onnx, savedmodel"
            )
    module = to_tf_module(graph)
    with tempfile.TemporaryDirectory() as folder:
        with portable.portable_operators():
            _save(graph, module, Path(folder))
        converter = tf.lite.TFLiteConverter.from_saved_model(folder, ["serving_default"])
        try:
            with foreign(str):
                path.write_bytes(converter.convert())
        except Refused as error:
            lacking = _lacking(str(error))
            if not lacking:
                raise (error.__cause__ or error) from None
            raise UnsupportedError(
                f"TFLite lacks {', '.join(lacking)}; cast values of other dtypes to float32 or "
                "int32, or choose another format: onnx, savedmodel"
            ) from None


def _lacking(text: str) -> list[str]:
    """The operations of TensorFlow that the message of a failed conversion names."""
    calls = re.findall(r"^\s*(tf\.\w+\(.*\)) -> ", text, re.MULTILINE)  # with dtypes
    return sorted({*(calls or re.findall(r"'(tf\.\w+)' op", text))})


def run_tflite(path: Path, example: Example) -> dict[str, np.ndarray]:
    """The outputs of the interpreter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow announces the package ai_edge_litert
        interpreter = tf.lite.Interpreter(model_path=str(path))
    runner: Any = interpreter.get_signature_runner("serving_default")
    return {name: np.asarray(x) for name, x in runner(**example.flat).items()}


def _signature(graph: Graph, module: Any) -> Any:
    """The concrete function of the flat inputs, by name."""
    specs = {node.name: _spec(node) for node in graph.inputs}
    by_node: dict[Node, str] = {node: node.name for node in graph.inputs}

    @tf.function(autograph=False)
    def serve(**inputs: Any) -> Any:
        args, kwargs = map_nodes(lambda node: inputs[by_node[node]], graph.signature)
        return named_outputs(module(*args, **kwargs))

    return serve.get_concrete_function(**specs)


def _spec(node: Node) -> Any:
    assert node.aval is not None
    shape = [n if isinstance(n, int) else None for n in node.aval.shape]
    return tf.TensorSpec(shape, node.aval.dtype.name, name=node.name)


def write_keras(graph: Graph, example: Example, path: Path) -> None:
    """Save the model of Keras."""
    to_keras_model(graph).save(path)


def run_keras(path: Path, example: Example) -> dict[str, np.ndarray]:
    """The outputs of the loaded model."""
    import keras

    args, kwargs = example.on(keras.backend.backend())
    model: Any = keras.models.load_model(path)
    # the first argument of a layer of Keras has a position
    outputs = named_outputs(model(*args, **kwargs) if args else model(kwargs))
    return {name: np.asarray(keras.ops.convert_to_numpy(x)) for name, x in outputs.items()}
