"""Comparisons of a TensorFlow tensor with a Container, ``tensor < c``.

A tensor leaves its arithmetic operators to the other operand, but not its comparisons. TensorFlow
asks the dispatchers of a function after the conversion of an operand failed. It has none for
``variable == c``.

https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/util/dispatch.py
"""

from __future__ import annotations

from typing import Any

from nestarray import lazy_imports
from nestarray.container import Container
from nestarray.dispatch.operation import OPS


def _register_comparisons() -> None:
    from tensorflow.python.ops import gen_math_ops, math_ops
    from tensorflow.python.util.dispatch import OpDispatcher

    class Comparison(OpDispatcher):
        def __init__(self, name: str) -> None:
            self.function = OPS[name].function

        def handle(self, args: Any, kwargs: Any) -> Any:
            x, y, *_ = (*args, *kwargs.values())
            if isinstance(x, Container) or isinstance(y, Container):
                return self.function(x, y)
            return self.NOT_SUPPORTED

    for name in ("less", "less_equal", "greater", "greater_equal"):
        Comparison(name).register(getattr(gen_math_ops, name))
    Comparison("equal").register(math_ops.tensor_equals)
    Comparison("not_equal").register(math_ops.tensor_not_equals)


lazy_imports.after_import("tensorflow.python.ops.math_ops", _register_comparisons)
