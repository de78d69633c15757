"""Classes of JAX's libraries: what their styles share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.class_style import ClassStyle, ClassWriter, attribute_of
from nestarray.exporters.source.styles.jax_style import LANGUAGE, array, fix_random_numbers, head_of
from nestarray.exporters.source.tree.grouping import IMPORTED
from nestarray.exporters.source.tree.modules import Module


def text_of(
    root: Module, name: str, style: ClassStyle, constants: Mapping[Value, np.ndarray], load: str
) -> tuple[str, dict[str, Value]]:
    """The text of a program, and its variables by their names in the file of weights.

    Args:
        root: the tree of modules.
        name: of the class of the model.
        style: of the library.
        constants: the arrays of constants.
        load: the text that loads the weights, with the imports of the library in its first line.
    """
    texts = {value: LANGUAGE.constant(array) for value, array in constants.items()}
    writer = ClassWriter(root, name, style, {v: text for v, text in texts.items() if text})
    library, _, load = load.partition("\n")
    body = writer.text() + "\n\n" + load.format(name=name)
    standard, _, packages = head_of(body).partition("\n\n")
    lines = sorted([library, *packages.splitlines()], key=lambda s: (s.startswith("from"), s))
    head = [standard, "", *lines]
    return "\n".join(head) + "\n\n\n" + body, writer.variables()


def name_of(name: str) -> str:
    """The name of the class of a model."""
    is_free = re.fullmatch(r"[A-Z]\w*", name) and name not in ("Sequential", *IMPORTED)
    return name if is_free else "Model"


def run(namespace: dict[str, Any], source: Any, inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
    """The output of the source, and the new values of its state."""
    fix_random_numbers(namespace)
    model = namespace["load"]()
    output = model(*map(array, inputs))
    return output, {name: attribute_of(model, name)[...] for name in source.writes}


def with_missing(
    weights: dict[str, np.ndarray], variables: Mapping[str, Value], root: Module
) -> dict[str, np.ndarray]:
    """The weights."""
    return weights
