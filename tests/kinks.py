"""The derivatives at kinks, at ties and at the edges of domains: the one table of the contract.

`na.*` has one derivative there on all backends: PyTorch's if it is finite, and always a
subgradient, so that it is 0 wherever 0 is one and PyTorch is not finite. An infinite one-sided
derivative is infinite. At NaN no derivative is specified.

``docs/generate_kinks.py`` writes docs/kinks.md by running the table, ``tests/ops/test_kinks.py``
tests it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, nan, sqrt
from typing import Any

import numpy as np

import nestarray as na

Values = Any  # nested lists of numbers


@dataclass(frozen=True)
class Kink:
    """The first and second derivative of one function at some points.

    Args:
        function: the name of the op.
        args: the differentiated arguments.
        first: ∇⟨w, f⟩ by each argument, NaN where it is not specified; w is 1 everywhere, or 1, 2, 3, … if `counted`. Only the
            first result of a function with several is differentiated.
        second: the derivative of `first` along w-like weights, (1, 1, …) or (1, 2, …); None: zeros.
        settings: keywords, or positional ones under ``"*"``.
        counted: the weights are 1, 2, 3, …, because f moves elements.
        id: tells several rows of one function apart.
    """

    function: str
    args: tuple[Values, ...]
    first: tuple[Values, ...]
    second: tuple[Values, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    counted: bool = False
    id: str = ""

    @property
    def name(self) -> str:
        """The function, with the row's own id behind it."""
        return f"{self.function}-{self.id}" if self.id else self.function

    def total(self, *args: Any) -> Any:
        """⟨w, f(args)⟩."""
        settings = dict(self.settings)
        found = getattr(na, self.function)(*args, *settings.pop("*", ()), **settings)
        return self.weighted(found[0] if isinstance(found, tuple) else found)

    def weighted(self, y: Any) -> Any:
        """⟨w, y⟩."""
        if not self.counted:
            return na.sum(y)
        weights = na.arange(1, math.prod(y.shape) + 1, dtype="float64", like=y)
        return na.sum(y * na.reshape(weights, tuple(y.shape)))

    def gradients(self, *args: Any) -> tuple[Any, ...]:
        """∇⟨w, f⟩ by each argument."""
        return na.grad(self.total, tuple(range(len(args))))(*args)

    def second_gradients(self, *args: Any) -> tuple[Any, ...]:
        """The derivative of `gradients` along the weights."""

        def slope(*args: Any) -> Any:
            # a constant gradient would be refused
            return sum(self.weighted(g + 0.0 * x) for g, x in zip(self.gradients(*args), args))

        return na.grad(slope, tuple(range(len(args))))(*args)


def _row(function: str, x: Values, first: Values, second: Values = None, **settings: Any) -> Kink:
    """A function of one array."""
    return Kink(function, (x,), (first,), None if second is None else (second,), settings)


def _counted(
    function: str, x: Values, first: Values, second: Values = None, **settings: Any
) -> Kink:
    """A function of one array with the weights 1, 2, 3, …"""
    seconds = None if second is None else (second,)
    return Kink(function, (x,), (first,), seconds, settings, counted=True)


_SCALE, _ALPHA = 1.0507009873554805, 1.6732632423543772
_EDGES = [0.0, -0.0, inf, -inf]
#: equal, smaller, greater, and equal operands
_FIRST = [0.0, 0.0, 0.0, 1.0, inf, 0.0]
_SECOND = [0.0, 1.0, -1.0, 1.0, inf, -0.0]
#: a row with ties, and a constant row
_ROWS = [[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
_IMAGE = [[[[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]]]
_STEPS = {"kernel_size": 2, "stride": 1}
_STD_OF_ROWS = [[sqrt(3) / 12, sqrt(3) / 12, -sqrt(3) / 4, sqrt(3) / 12], [0, 0, 0, 0]]

KINKS: tuple[Kink, ...] = (
    # activations
    _row("relu", _EDGES, [0, 0, 1, 0]),
    _row("relu6", [0.0, 6.0, inf, -inf], [0, 0, 0, 0]),
    _row("leaky_relu", _EDGES, [0.1, 0.1, 1, 0.1], negative_slope=0.1),
    _row("elu", _EDGES, [1, 1, 1, 0]),
    _row("elu", _EDGES, [2, 2, 1, 0], alpha=2.0),
    _row("celu", _EDGES, [1, 1, 1, 0], alpha=2.0),
    _row("selu", _EDGES, [_SCALE * _ALPHA, _SCALE * _ALPHA, _SCALE, 0]),
    _row("softplus", _EDGES, [0.5, 0.5, 1, 0], [0.25, 0.25, 0, 0]),
    _row("softsign", [0.0, -0.0], [1, 1]),
    _row("squareplus", _EDGES, [0.5, 0.5, 1, 0], [0.25, 0.25, 0, 0]),
    _row("hard_sigmoid", [-3.0, 3.0, inf, -inf], [0, 0, 0, 0]),
    _row("hard_swish", [-3.0, 3.0, 0.0], [0, 1, 0.5], [0, 0, 1 / 3]),
    _row("hard_tanh", [-1.0, 1.0, inf, -inf], [0, 0, 0, 0]),
    _row("hard_shrink", [-0.5, 0.5, 0.0, inf, -inf], [0, 0, 0, 1, 1]),
    _row("soft_shrink", [-0.5, 0.5, 0.0, inf, -inf], [0, 0, 0, 1, 1]),
    _row("threshold", [0.5, 1.0, -inf, inf], [0, 1, 0, 1], threshold=0.5, value=2.0),
    Kink("prelu", ([0.0, -0.0, -1.0], [0.25]), ([0.25, 0.25, 0.25], [-1]), ([1, 1, 1], [3])),
    # elementwise
    _row("abs", _EDGES, [0, 0, 1, -1]),
    _row("sign", _EDGES, [0, 0, 0, 0]),
    _row("sqrt", [0.0, inf], [inf, 0], [-inf, 0]),
    _row("cbrt", [0.0], [inf], [nan]),
    _row("sinc", [0.0, 1e300], [0, 0], [-(math.pi**2) / 3, 0]),
    _row("rsqrt", [0.0, inf], [-inf, 0], [inf, 0]),
    _row("log", [0.0, inf], [inf, 0], [-inf, 0]),
    _row("reciprocal", [0.0, inf], [-inf, 0], [inf, 0]),
    _row("logsumexp", [-inf, -inf], [0, 0]),
    _row("cumulative_logsumexp", [-inf, -inf, 0.0], [0, 0, 1]),
    Kink("logaddexp", ([-inf, -inf], [-inf, 0.0]), ([0, 0], [0, 1])),
    _row("det", [[1.0, 1.0], [1.0, 1.0]], [[1, -1], [-1, 1]], [[1, -1], [-1, 1]]),
    _row("det", np.zeros((2, 2)).tolist(), [[0, 0], [0, 0]], [[1, -1], [-1, 1]]),
    _row(
        "det",
        np.diag([1.0, 0, 0]).tolist(),
        np.zeros((3, 3)).tolist(),
        [[0, 0, 0], [0, 1, -1], [0, -1, 1]],
    ),
    _row("floor", [0.0, 1.0, inf], [0, 0, 0]),
    _row("clip", [-1.0, 1.0, inf, -inf], [1, 1, 0, 0], **{"*": (-1.0, 1.0)}),
    Kink(
        "clip",
        ([-1.0, 0.5, 3.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]),
        ([0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 0]),
    ),
    Kink("maximum", (_FIRST, _SECOND), ([0.5, 0, 1, 0.5, 0.5, 0.5], [0.5, 1, 0, 0.5, 0.5, 0.5])),
    Kink("minimum", (_FIRST, _SECOND), ([0.5, 1, 0, 0.5, 0.5, 0.5], [0.5, 0, 1, 0.5, 0.5, 0.5])),
    _row("maximum", [0.0, 1.0, -1.0], [0.5, 1, 0], **{"*": (0.0,)}),
    Kink("fmax", (_FIRST, _SECOND), ([1, 0, 1, 1, 1, 1], [0, 1, 0, 0, 0, 0])),
    Kink("fmin", (_FIRST, _SECOND), ([1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 0])),
    Kink(
        "pow",
        ([0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 2.0, -1.0, 0.0]),
        ([0, 1, 0, -inf, 0], [0, 0, 0, -inf, 0]),
        ([nan, nan, nan, nan, 1], [nan, nan, nan, nan, 0]),
    ),
    _row("pow", [0.0, 1.0], [0, 0], **{"*": (0.0,)}),
    _row("pow", [0.0, 1.0], [1, 1], **{"*": (1.0,)}),
    _row("pow", [0.0, 1.0], [0, 2], [2, 2], **{"*": (2.0,)}),
    Kink(
        "hypot", ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]), ([0, 0, 1], [0, 1, 0]), ([0, 1, 0], [0, 0, 1])
    ),
    Kink(
        "copysign", ([0.0, -0.0, 1.0, inf], [1.0, 1.0, -1.0, -1.0]), ([0, 0, -1, -1], [0, 0, 0, 0])
    ),
    Kink(
        "atan2",
        ([0.0, 0.0, 0.0, 1.0], [0.0, -0.0, 1.0, 0.0]),
        ([0, 0, 1, 0], [0, 0, 0, -1]),
        ([0, 0, -1, 1], [0, 0, -1, 1]),
    ),
    Kink(
        "xlogy",
        ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
        ([0, 0, -inf], [0, 0, inf]),
        ([nan, 1, nan], [nan, 1, nan]),
    ),
    Kink("xlog1py", ([0.0, 0.0], [-1.0, 0.0]), ([0, 0], [0, 0]), ([nan, 1], [nan, 1])),
    _row("entr", [0.0, -0.0, 1.0, inf], [inf, inf, -1, -inf], [-inf, inf, -1, 0]),
    _row("i0", [0.0], [0], [0.5]),
    _row("i1", [0.0], [0.5]),
    _row("i1e", [0.0], [0.5]),
    # reductions and norms
    _counted("max", [1.0, 1.0, 0.0, 1.0], [1 / 3, 1 / 3, 0, 1 / 3]),
    _counted("min", [0.0, 1.0, 0.0], [0.5, 0, 0.5]),
    _counted("max", _ROWS, [[1 / 3, 1 / 3, 0, 1 / 3], [0.5, 0.5, 0.5, 0.5]], axis=-1),
    _counted("ptp", [1.0, 1.0, 1.0], [0, 0, 0]),
    _counted("prod", [0.0, 0.0, 2.0], [0, 0, 0], [4, 2, 0]),
    _counted("var", [1.0, 1.0, 1.0], [0, 0, 0], [-2 / 3, 0, 2 / 3]),
    _counted("var", [0.0, 1.0, 2.0], [-2 / 3, 0, 2 / 3], [-2 / 3, 0, 2 / 3]),
    _counted("std", [1.0, 1.0, 1.0], [0, 0, 0]),
    _counted("std", _ROWS, _STD_OF_ROWS, [[nan] * 4, [0] * 4], axis=-1),
    _counted("std", [[1.0], [2.0]], [[0], [0]], axis=-1),
    _counted("vector_norm", [0.0, 0.0], [0, 0], [nan, nan]),
    _counted("vector_norm", [1.0, 0.0], [1, 0], [0, 2]),
    _counted("vector_norm", [0.0, -1.0], [0, -1], ord=1),
    _counted("vector_norm", [0.0, 0.0], [0, 0], ord=1),
    _counted("vector_norm", [0.0, 0.0], [0, 0], ord=inf),
    _counted("vector_norm", [1.0, -1.0, 0.0], [0.5, -0.5, 0], ord=inf),
    _counted("vector_norm", [1.0, -1.0, 0.0], [0, 0, 0], ord=-inf),
    _counted("vector_norm", [0.0, 0.0], [0, 0], ord=3),
    _counted("vector_norm", [0.0, 2.0], [0, 1], ord=3),
    _counted("vector_norm", [0.0, 0.0], [0, 0], [nan, nan], ord=0.5),
    _counted("vector_norm", [0.0, 2.0], [0, 1], [nan, nan], ord=0.5),
    _counted("matrix_norm", [[0.0, 0.0], [0.0, 0.0]], [[0, 0], [0, 0]], [[nan] * 2] * 2),
    _counted("matrix_norm", [[1.0, 0.0], [0.0, -1.0]], [[0.5, 0], [0, -0.5]], ord=1),
    _counted("normalize", [0.0, 1.0], [1, 0], [-4, -1]),
    # order and accumulation
    _counted("sort", [1.0, 1.0, 0.0, 1.0], [2, 3, 1, 4]),
    _counted("sort", [1.0, 1.0, 0.0, 1.0], [1, 2, 4, 3], descending=True),
    _counted("partition", [1.0, 1.0, 0.0, 1.0], [2, 3, 1, 4], **{"*": (2,)}),
    _counted("median", [1.0, 1.0, 0.0, 1.0, 0.0], [1, 0, 0, 0, 0]),
    _counted("cummax", [1.0, 1.0, 0.0, 1.0], [1, 5, 0, 4]),
    _counted("cummin", [1.0, 1.0, 0.0, 0.0], [1, 2, 3, 4]),
    _counted("cummax", _ROWS, [[1, 5, 0, 4], [5, 6, 7, 8]], axis=-1),
    _counted("top_k", [1.0, 1.0, 0.0, 1.0, 0.0], [1, 2, 0, 0, 0], **{"*": (2,)}),
    _counted("top_k", [1.0, 1.0, 0.0, 1.0, 0.0], [3, 0, 1, 0, 2], **{"*": (3,)}, largest=False),
    # pooling
    _counted("max_pool1d", [[[1.0, 1.0, 0.0, 0.0, 1.0]]], [[[1, 2, 3, 0, 4]]], **_STEPS),
    _counted(
        "max_pool1d", [[[1.0, 1.0, 1.0, 0.0, 1.0]]], [[[1, 2, 3, 0, 0]]], **_STEPS, dilation=2
    ),
    _counted("max_pool2d", _IMAGE, [[[[1, 2, 0], [0, 0, 0]]]], **_STEPS),
    _counted("max_pool2d", _IMAGE, [[[[1, 2, 0], [0, 0, 0]]]], **_STEPS, dilation=(1, 1)),
    _counted("max_pool2d", _IMAGE, [[[[12, 9, 0], [0, 0, 0]]]], kernel_size=3, stride=1, padding=1),
    _counted(
        "max_pool3d", [[[[[0.0, 0.0], [0.0, 0.0]]]]], [[[[[1, 0], [0, 0]]]]], kernel_size=(1, 2, 2)
    ),
    _counted("max_pool_with_indices", _IMAGE, [[[[1, 2, 0], [0, 0, 0]]]], **_STEPS),
    _counted(
        "adaptive_max_pool1d", [[[1.0, 1.0, 0.0, 0.0, 1.0]]], [[[1, 0, 0, 0, 2]]], output_size=2
    ),
    _counted("adaptive_max_pool2d", _IMAGE, [[[[1, 2, 0], [0, 0, 0]]]], output_size=(1, 2)),
    _counted(
        "adaptive_max_pool2d", [[[[0.0, 1.0], [1.0, 0.0]]]], [[[[0, 1], [0, 0]]]], output_size=1
    ),
    # losses
    Kink("l1_loss", ([0.0, 1.0], [0.0, 0.0]), ([0, 0.5], [0, -0.5])),
    Kink("huber_loss", ([0.0, 1.0], [0.0, 0.0]), ([0, 0.5], [0, -0.5]), ([nan] * 2, [nan] * 2)),
    # empty arrays
    *(_row(name, [], []) for name in ("relu", "leaky_relu", "elu", "abs", "sqrt", "log", "sign")),
    *(Kink(name, ([], []), ([], [])) for name in ("maximum", "fmin", "pow", "atan2", "xlogy")),
    *(_counted(name, [], []) for name in ("sort", "cummax", "cummin", "prod", "normalize")),
    *(_counted("vector_norm", [], [], ord=order) for order in (1, 2, 3)),
    *(_counted(name, [[], []], [[], []], axis=0) for name in ("max", "median", "ptp")),
    _counted("top_k", [], [], **{"*": (0,)}),
    # one element, and arrays without axes
    *(_row(name, 0.0, 0) for name in ("relu", "abs", "sign")),
    Kink("maximum", (0.0, 0.0), (0.5, 0.5)),
    Kink("pow", (0.0, 0.0), (0, 0), (nan, nan)),
    *(_counted(name, [0.0], [1]) for name in ("max", "min", "prod", "sort", "median", "cummax")),
    *(_counted(name, [0.0], [0]) for name in ("ptp", "var", "std")),
    _counted("vector_norm", [0.0], [0], [nan]),
    _counted("vector_norm", [-1.0], [-1]),
    *(_counted("vector_norm", [0.0], [0], ord=order) for order in (1, inf)),
    _counted("normalize", [0.0], [1e12], [nan]),
    _counted("top_k", [0.0], [1], **{"*": (1,)}),
    _counted("max_pool1d", [[[0.0]]], [[[1]]], kernel_size=1),
    Kink("l1_loss", ([0.0], [0.0]), ([0], [0])),
)
