"""Functions whose time grows faster than their work: 4,000 and 40,000 elements.

A function is called with one or two vectors and an axis, if its signature takes no more. The power p
of the growth nᵖ is 1 for linear time, 1.1 for sorting and 2 for all pairs of elements. Slow calls
are measured at 12,000 elements instead of 40,000. Functions with results of more than 8 elements for
each element are left out, since they have that much to write.

JAX compiles each function at each size, for hours in total. There the elements that the equations of
the jaxpr read and write are counted first, and only functions whose counts grow faster are timed.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import nestarray as na
from benchmarks.timing import Table, readable
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.dispatch import OPS

SMALL, LARGE, MEDIUM = 4_000, 40_000, 12_000
#: At this size, equations for each element show in the length of a jaxpr.
TINY = 64
#: More seconds at the small size are slow.
SLOW = 0.002
#: A larger power than that of sorting, with room for caches and for the noise of one measurement.
LIMIT = 1.45
#: Namespace → the framework's own.
FRONTENDS = {
    "torch": "torch",
    "torch.special": "torch.special",
    "torch.nn.functional": "torch.nn.functional",
    "jax.numpy": "jax.numpy",
    "jax.scipy.special": "jax.scipy.special",
    "numpy": "numpy",
    "keras.ops": "keras.ops",
    "tensorflow.math": "tensorflow.math",
}
#: Upstream is quadratic too and takes minutes, or the call has another purpose.
_LEFT_OUT = frozenset(("combinations", "from_dlpack", "manual_seed", "poly", "roots", "seed"))

#: (settings, number of vectors) of calls that are tried.
FORMS = [({**s}, n) for s in ({}, {"axis": 0}, {"dim": 0}, {"dim": -1}) for n in (1, 2)]

Function = Callable[..., Any]


class Growth(NamedTuple):
    """The seconds, or elements, at both sizes."""

    small: float
    large: float
    sizes: float

    @property
    def power(self) -> float:
        """The power of the number of elements."""
        return math.log(self.large / self.small) / math.log(self.sizes)


def tables() -> list[Table]:
    """One table for each backend."""
    return [_of_backend(backend) for backend in BACKENDS]


def _of_backend(backend: str) -> Table:
    table = Table(
        f"Calls on {backend} that grow faster than sorting",
        ["call", f"{SMALL:,} elements", "power of growth", "the framework's"],
    )
    count = unrolled = 0
    for label, function, native in _functions():
        for kind, call in (("", function), ("gradient of ", _gradient(function))):
            if backend == "jax" and _is_unrolled(call):
                unrolled += 1
                continue
            growth = _counted(call) if backend == "jax" else None
            if growth is None or growth.power > LIMIT:
                growth = _growth(call, backend)
            if growth is None:
                continue
            count += 1
            if growth.power > LIMIT:
                growth = _growth(call, backend) or growth  # again: one slow call is noise
            if growth.power > LIMIT:
                own = _growth(native, backend) if native is not None and not kind else None
                power = "" if own is None else f"{own.power:.1f}"
                table.add(f"{kind}{label}", readable(growth.small), f"{growth.power:.1f}", power)
    table.note = f"{count} calls, of values and gradients."
    if unrolled:
        table.note += f" {unrolled} others have an equation or a result for each element."
    return table


def _functions() -> Iterator[tuple[str, Function, Function | None]]:
    """(label, function, the framework's function), without functions that begin with a shape."""
    for name in OPS:
        function = getattr(na, name, OPS[name].function)
        if not _begins_with_shape(function):
            yield f"na.{name}", function, None
    for space, upstream in FRONTENDS.items():
        module = importlib.import_module(f"nestarray.frontends.{space}")
        native = importlib.import_module(upstream)
        for name in getattr(module, "__all__", dir(module)):
            function = getattr(module, name, None)
            is_public = inspect.isroutine(function) and not name.startswith("_")
            if is_public and name not in _LEFT_OUT and not _begins_with_shape(function):
                yield f"{space}.{name}", function, getattr(native, name, None)


def _begins_with_shape(function: Function) -> bool:
    """Whether a vector would be read as the numbers of a shape."""
    try:
        names = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):  # a class of upstream
        return False
    return bool(names) and names[0] in ("shape", "size", "dimensions")


def _gradient(function: Function) -> Function:
    def gradient(x: Any, *others: Any, **settings: Any) -> Any:
        def total(x: Any) -> Any:
            result = function(x, *others, **settings)
            result = result[0] if isinstance(result, (tuple, list)) else result
            return na.sum(result)

        return na.grad(total)(x)

    return gradient


def _is_unrolled(function: Function) -> bool:
    """Whether a jaxpr has equations or results for each element; XLA takes minutes to compile it."""
    half, whole = _jaxpr(function, TINY // 2), _jaxpr(function, TINY)
    if half is None or whole is None:
        return False
    lengths = [len(jaxpr.outvars) + len(jaxpr.eqns) for jaxpr in (half, whole)]
    return lengths[1] - lengths[0] >= TINY // 2


def _counted(function: Function) -> Growth | None:
    """The elements that a jaxpr reads and writes; None if values decide how often a loop runs."""
    small, large = _jaxpr(function, SMALL), _jaxpr(function, LARGE)
    if small is None or large is None:
        return None
    growth = Growth(_work(small), _work(large), LARGE / SMALL)
    return growth if math.isfinite(growth.large) else None


def _jaxpr(function: Function, size: int) -> Any:
    """The jaxpr of the first form of a call that can be traced; None if none can."""
    import jax

    for settings, operands in FORMS:
        vectors = [jax.ShapeDtypeStruct((size,), "float32")] * operands
        try:
            return jax.make_jaxpr(functools.partial(function, **settings))(*vectors).jaxpr
        except Exception:  # of JAX or of ours: another form of the call
            continue
    return None


def _work(jaxpr: Any) -> float:
    """The number of elements that the equations read and write, bodies as often as they run.

    Infinite for while loops.
    """
    total = 1.0
    for equation in jaxpr.eqns:
        params = equation.params
        times = math.inf if equation.primitive.name == "while" else params.get("length", 1)
        bodies = [
            getattr(body, "jaxpr", body)
            for value in params.values()
            for body in (value if isinstance(value, (tuple, list)) else [value])
            if hasattr(getattr(body, "jaxpr", body), "eqns")
        ]
        total += sum(times * _work(body) for body in bodies)
        if not bodies:
            total += sum(each.aval.size for each in (*equation.invars, *equation.outvars))
        if equation.primitive.name == "dot_general":
            (axes, _), _ = params["dimension_numbers"]
            sizes = [equation.invars[0].aval.shape[axis] for axis in axes]
            total += math.prod(sizes) * equation.outvars[0].aval.size
        elif equation.primitive.name == "conv_general_dilated":
            total += equation.invars[1].aval.size * equation.outvars[0].aval.size
        elif equation.primitive.name.startswith("reduce_window"):
            total += math.prod(params["window_dimensions"]) * equation.outvars[0].aval.size
    return total


def _growth(function: Function, backend: str) -> Growth | None:
    """The seconds of the first form of a call that works; None if none does."""
    for settings, operands in FORMS:
        small = _seconds(function, backend, SMALL, operands, settings)
        if small is None:
            continue
        size = MEDIUM if small > SLOW else LARGE
        large = _seconds(function, backend, size, operands, settings)
        if large is not None:
            return Growth(small, large, size / SMALL)
    return None


def _seconds(
    function: Function, backend: str, size: int, operands: int, settings: dict[str, Any]
) -> float | None:
    """The least of a few calls; None for a call that fails or has a large result."""
    rng = np.random.default_rng(0)
    place = backends.core(backend).from_numpy
    arrays = [place(rng.uniform(0.1, 0.9, size).astype("float32")) for _ in range(operands)]
    try:
        result = function(*arrays, **settings)
        if _elements(result) > 8 * size:
            return None
        best = float("inf")
        start = time.perf_counter()
        while time.perf_counter() - start < 0.01 or best == float("inf"):
            begin = time.perf_counter()
            _wait(function(*arrays, **settings))
            best = min(best, time.perf_counter() - begin)
    except Exception:  # of any framework: another form of the call
        return None
    return best


def _elements(result: Any) -> int:
    results = result if isinstance(result, (tuple, list)) else [result]
    return sum(int(np.prod(getattr(x, "shape", ()))) for x in results)


def _wait(result: Any) -> None:
    for x in result if isinstance(result, (tuple, list)) else [result]:
        if hasattr(x, "block_until_ready"):
            x.block_until_ready()
