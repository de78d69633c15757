"""Functions of nested parameters in NumPy."""

from __future__ import annotations

from typing import Any

from nestarray.exporters.source.functions import numpy_functions
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.styles.function_style import FunctionStyle


class Style(FunctionStyle):
    language = Language("numpy", {"numpy": "np"}, numpy_functions)
    library = "numpy"
    copied = "copy.deepcopy(state)"
    form = "in NumPy as a pure function of its parameters"
    usage = """
from model import {name}, load

{variables} = load()
{result} = {name}({variables}, {inputs})
"""

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        namespace["dropout"] = lambda x, *_, **__: x
        return super().run(namespace, inputs)
