"""What a frontend gives for a variant of an expression's arrays, and where it differs from upstream.

The expressions are those of `tests.frontends`: both namespaces evaluate them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends
from tests.arrays import on
from tests.edges.accepted import OF_FRONTENDS
from tests.edges.differences import close
from tests.edges.samples import Sample, torch_samples
from tests.edges.variants import VARIANTS
from tests.frontends.expressions import evaluate, leaves, names_in

_FLOAT32 = ("small", "large")  # their squares leave the range of float32, the dtype of the inputs
_NOT_FINITE = ("infinite", "positive infinity", "negative infinity", "NaN")
#: Framework → the variants that are not compared: TensorFlow's kernels compare and multiply numbers
#: that are not finite each in its own way; integer divisions stop XLA, sizes from integers the rest.
LEFT_OUT = {
    "numpy": _FLOAT32,
    "jax": (*_FLOAT32, "integers"),
    "tensorflow": (*_FLOAT32, *_NOT_FINITE, "integers"),
    "keras": (*_FLOAT32, *_NOT_FINITE, "integers"),
}
_TOLERANCE = {
    "float16": 5e-3, "float32": 3e-5, "complex64": 3e-5, "float64": 1e-6, "complex128": 1e-6,
}  # fmt: skip
#: The sizes of the results of these depend on the integers.
_SIZED = ("arange", "bincount", "one_hot", "range", "repeat", "sequence_mask")
#: The series of these do not end upstream.
_ENDLESS = ("hyp1f1", "hyp2f1")


@dataclass(frozen=True)
class Call:
    """An expression in two namespaces.

    Args:
        framework: whose frontend it is.
        theirs, ours: the namespace upstream and in the frontend.
        expression: of names in the namespace and of `arrays`.
        arrays: the inputs by name.
        upstream: makes an array of the framework of a NumPy array.
    """

    framework: str
    theirs: Any
    ours: Any
    expression: str
    arrays: Mapping[str, np.ndarray]
    upstream: Callable[[np.ndarray], Any]

    @property
    def name(self) -> str:
        """The expression in its namespace."""
        return f"{self.theirs.__name__}: {self.expression}"

    @property
    def functions(self) -> list[str]:
        """The functions that are called."""
        return re.findall(r"([\w.]+)\(", self.expression)

    def variant(self, name: str) -> dict[str, np.ndarray] | None:
        """The arrays in a variant; None if none changes, or if it is not compared."""
        if name in LEFT_OUT[self.framework]:
            return None
        used = {k: x for k, x in self.arrays.items() if k in names_in(self.expression)}
        if name == "empty" and len(used) != 1:
            return None
        if any(f"{f}(" in self.expression for f in _ENDLESS):
            return None
        if name == "integers" and any(f"{f}(" in self.expression for f in _SIZED):
            return None
        rng = np.random.default_rng(len(name))
        changed = {k: VARIANTS[name](x, rng) for k, x in used.items()}
        are_equal = all(
            changed[k].shape == x.shape and changed[k].tobytes() == x.tobytes()
            for k, x in used.items()
        )
        return None if are_equal else changed

    def results(self, arrays: Mapping[str, np.ndarray], backend: str | None) -> Any:
        """The result of the frontend on a backend; None: of the framework."""
        if backend is None:
            native = {k: self.upstream(x) for k, x in arrays.items()}
            return evaluate(self.expression, self.theirs, native)
        native = {k: on(backend, x, x.dtype.name) for k, x in arrays.items()}
        return evaluate(self.expression, self.ours, native)


def unaccepted(call: Call | Sample, variant: str, backend: str) -> str:
    """The difference, if no row of the table has it."""
    text = difference(call, variant, backend)
    rows = [
        row
        for row in OF_FRONTENDS
        for function in call.functions
        if row.holds(function, variant, call.framework, text)
    ]
    return "" if rows or not text else f"{variant}, {call.name}: {text}"


def difference(call: Call | Sample, variant: str, backend: str) -> str:
    """How the frontend's result on a backend differs from upstream's; "" if it does not."""
    arrays = call.variant(variant)
    if arrays is None:
        return ""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = _result(call, arrays, None)
        if isinstance(expected, str):  # upstream refuses: what we give is not defined
            return ""
        with na.use_backend(backend):
            result = _result(call, arrays, backend)
    if isinstance(result, str):
        return result
    if len(result) != len(expected):
        return f"{len(result)} results instead of {len(expected)}"
    pairs = zip(result, expected, strict=True)
    return next(filter(None, (_far(x, y) for x, y in pairs)), "")


def _result(call: Call | Sample, arrays: Any, backend: str | None) -> list[Any] | str:
    """The results as NumPy arrays where they are arrays; or the error's text."""
    try:
        return [_host(x) for x in leaves(call.results(arrays, backend))]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _host(x: Any) -> Any:
    x = getattr(x, "native", x)  # of NumPy's frontend
    if backends.is_array(x):
        return backends.core(na.backend_of(x)).to_numpy(x)
    return x


def _far(x: Any, y: Any) -> str:
    if not isinstance(y, np.ndarray):
        return ""  # compared by the tests of the frontends
    if not isinstance(x, np.ndarray) or x.shape != y.shape or x.dtype != y.dtype:
        return f"{getattr(x, 'dtype', x)} {np.shape(x)} instead of {y.dtype} {y.shape}"
    if y.dtype.name == "bfloat16":  # of which NumPy's comparisons know little
        x, y = x.astype(np.float32), y.astype(np.float32)
    tolerance = _TOLERANCE.get(y.dtype.name, 0.0)
    far = np.argwhere(~np.asarray(close(x, y, tolerance, least=1e-37)))  # float32 ends there
    return f"{x[tuple(far[0])]} instead of {y[tuple(far[0])]}" if len(far) else ""


# -- calls of the frontends ----------------------------------------------------------------------


@cache
def calls(framework: str, every: int = 1) -> Sequence[Call | Sample]:
    """Each `every`-th of the expressions of the tests of a frontend; of torch, of the records."""
    return torch_samples(every) if framework == "torch" else _CALLS[framework]()[::every]


def _calls_of_numpy() -> list[Call]:
    import nestarray.frontends.numpy as frontend
    from tests.frontends import jax_expressions, test_numpy

    return [
        Call("numpy", np, frontend, row, jax_expressions.INPUTS, np.asarray)
        for row in test_numpy.EXPRESSIONS
    ]


def _calls_of_jax() -> list[Call]:
    import jax

    import nestarray.frontends.jax as frontend
    from tests.frontends import jax_expressions, test_jax_lax, test_jax_nn, test_jax_numpy
    from tests.frontends import test_jax_scipy as scipy

    rows = [(jax.numpy, frontend.numpy, row) for row in test_jax_numpy.EXPRESSIONS]
    rows += [(jax.nn, frontend.nn, row) for row in test_jax_nn.EXPRESSIONS]
    rows += [(*test_jax_lax.SPACES[space], row) for space, row in test_jax_lax.EXPRESSIONS]
    special = [row for space, row in scipy.EXPRESSIONS if space == "special"]
    rows += [(*scipy.SPACES["special"], row) for row in special]
    inputs = jax_expressions.INPUTS
    return [Call("jax", *row, inputs, jax.numpy.asarray) for row in rows]


def _calls_of_tensorflow() -> list[Call]:
    import tensorflow as tf

    import nestarray.frontends.tensorflow as frontend
    from tests.frontends import tensorflow_expressions

    rows = []
    for chapter in ("top_level", "math", "nn", "linalg", "image", "signal"):
        test = import_module(f"tests.frontends.test_tensorflow_{chapter}")
        spaces = [x if chapter == "top_level" else getattr(x, chapter) for x in (tf, frontend)]
        rows += [(*spaces, row) for row in test.EXPRESSIONS]
    inputs = tensorflow_expressions.INPUTS
    return [Call("tensorflow", *row, inputs, tf.constant) for row in rows]


def _calls_of_keras() -> list[Call]:
    import keras
    import tensorflow as tf

    import nestarray.frontends.keras as frontend
    from tests.frontends import tensorflow_expressions, test_keras_ops

    inputs = tensorflow_expressions.INPUTS
    return [
        Call("keras", keras.ops, frontend.ops, row, inputs, tf.constant)
        for row in test_keras_ops.EXPRESSIONS
    ]


_CALLS: dict[str, Callable[[], list[Call]]] = {
    "numpy": _calls_of_numpy,
    "jax": _calls_of_jax,
    "tensorflow": _calls_of_tensorflow,
    "keras": _calls_of_keras,
}
