"""The public ops, one file a chapter; each name is also a method of Container.

A chapter lists its ops in ``__all__``. An op whose first parameter is an array is also a method
and, for arithmetic, an operator of Container: the same function object. Ops with the names of
layers are not methods, because layers are keys of parameter trees. Methods that Container defines
itself (``map``, ``set``, …) take precedence.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from nestarray.container import Container
from nestarray.dispatch import OPS, Op
from nestarray.errors.unknown_names import suggest_names
from nestarray.ops.activations import *
from nestarray.ops.arrangement import *
from nestarray.ops.attention import *
from nestarray.ops.bessel import *
from nestarray.ops.blocks import *
from nestarray.ops.boxes import *
from nestarray.ops.colors import *
from nestarray.ops.complex_numbers import *
from nestarray.ops.contraction import *
from nestarray.ops.conversion import *
from nestarray.ops.convolution import *
from nestarray.ops.convolution_layouts import *
from nestarray.ops.correlation import *
from nestarray.ops.creation import *
from nestarray.ops.curves import *
from nestarray.ops.data_type import *
from nestarray.ops.distances import *
from nestarray.ops.elementwise import *
from nestarray.ops.factorizations import *
from nestarray.ops.fft import *
from nestarray.ops.filters import *
from nestarray.ops.gamma import *
from nestarray.ops.gates import *
from nestarray.ops.grids import *
from nestarray.ops.image import *
from nestarray.ops.image_filters import *
from nestarray.ops.indexing import *
from nestarray.ops.linalg import *
from nestarray.ops.linear_systems import *
from nestarray.ops.logic import *
from nestarray.ops.losses import *
from nestarray.ops.manipulation import *
from nestarray.ops.margin_losses import *
from nestarray.ops.matrices import *
from nestarray.ops.nan_reductions import *
from nestarray.ops.normalization import *
from nestarray.ops.order_statistics import *
from nestarray.ops.patterns import *
from nestarray.ops.pooling import *
from nestarray.ops.pooling_layouts import *
from nestarray.ops.positions import *
from nestarray.ops.random import *
from nestarray.ops.recurrent import *
from nestarray.ops.regression_losses import *
from nestarray.ops.rejection import *
from nestarray.ops.representation import *
from nestarray.ops.resampling import *
from nestarray.ops.searching import *
from nestarray.ops.segments import *
from nestarray.ops.sequence_losses import *
from nestarray.ops.sets import *
from nestarray.ops.signal import *
from nestarray.ops.simplex import *
from nestarray.ops.sorting import *
from nestarray.ops.special import *
from nestarray.ops.statistical import *
from nestarray.ops.transcendental import *
from nestarray.ops.window_reductions import *

# From sys.modules, because here the name `fft` is the op and not its chapter, and `na.random` is a
# separate module.
_CHAPTERS = [module for name, module in sys.modules.items() if name.startswith(f"{__name__}.")]

__all__ = [name for chapter in _CHAPTERS for name in chapter.__all__]


#: Ops whose names are other methods of Container: ``c.diff(other)`` compares two trees.
_OTHER_METHODS = ["diff", "shape"]

#: Chapters whose ops tab completion offers as methods: conversions of whole trees.
_OF_TREES = ["data_type"]

#: Chapters whose ops with a `weight` are the computations of layers.
_OF_LAYERS = [
    "activations",
    "attention",
    "contraction",
    "convolution",
    "convolution_layouts",
    "indexing",
    "normalization",
    "recurrent",
]


def _names_a_layer(record: Op) -> bool:
    """Whether layers have this name: ``v.conv.weight`` must be the key, not the method."""
    has_weight = not {"weight", "weights"}.isdisjoint(record.array_parameters)
    return has_weight and record.chapter in _OF_LAYERS


def _attach_methods() -> None:
    names = []
    for name, record in OPS.items():
        first = record.parameters[0].name
        takes_array = first in record.array_parameters and first not in record.sequence_parameters
        if not takes_array or first == "like" or _names_a_layer(record) or name in _OTHER_METHODS:
            continue
        if not hasattr(Container, name):
            setattr(Container, name, record.function)
            if record.chapter not in _OF_TREES:
                names.append(name)
    Container._ops = frozenset(names)


_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "pow", "matmul": "matmul",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip
_COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
_UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self)


def _divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    return OPS["floor_divide"].function(x1, x2), OPS["remainder"].function(x1, x2)


def _round(x: Any, ndigits: int | None = None) -> Any:
    return OPS["round"].function(x, decimals=0 if ndigits is None else ndigits)


def attach_operators(cls: type) -> None:
    """Make Python's operators on `cls` the ops of their names."""
    for dunder, name in (_OPERATORS | _COMPARISONS | _UNARY).items():
        setattr(cls, f"__{dunder}__", OPS[name].function)
    for dunder, name in _OPERATORS.items():
        setattr(cls, f"__r{dunder}__", _reflected(OPS[name].function))
    cls.__divmod__ = _divmod  # type: ignore[attr-defined]
    cls.__rdivmod__ = lambda self, other: _divmod(other, self)  # type: ignore[attr-defined]
    cls.__round__ = _round  # type: ignore[attr-defined]


# `na.fft` is a function, which cannot suggest names, so NumPy's names work: `na.fft.rfft`.
for _name in sys.modules[f"{__name__}.fft"].__all__:
    setattr(OPS["fft"].function, _name, globals()[_name])

_attach_methods()
attach_operators(Container)
Container._take_part = staticmethod(OPS["getitem"].function)
Container._replace_part = staticmethod(OPS["setitem"].function)
suggest_names(__name__)
