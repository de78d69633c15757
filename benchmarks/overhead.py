"""The overhead of all ops over the framework's function with the same result.

A backend's op is measured if the framework has a public function that returns equal values,
shapes and dtypes for the same arrays and no setting but the axis. Both are called to check.
"""

from __future__ import annotations

import inspect
import re
import timeit
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.timing import Seconds, Table, readable
from nestarray import backends
from nestarray.dispatch import OPS, Op

BACKENDS = ("numpy", "torch", "jax")
#: Goals: the median of all calls; each op that forwards to one native function.
MEDIAN = 0.3e-6
LIMIT = 1e-6
#: How many of the largest are shown for each backend.
SHOWN = 12

# Many short measurements, so that some run without interruption.
_REPEATS = 400
_AT_LEAST = 3e-5
#: Functions of the frameworks whose addresses do not contain their names.
_NAMES = {
    ("torch", "bitwise_invert"): "bitwise_not",
    ("torch", "cumulative_prod"): "cumprod",
    ("torch", "cumulative_sum"): "cumsum",
    ("torch", "equal"): "eq",
    ("torch", "max"): "amax",
    ("torch", "min"): "amin",
    ("torch", "sign"): "sgn",
}

Function = Callable[..., Any]
Settings = dict[str, Any]


def tables() -> list[Table]:
    """One table for each backend: the ops with the largest overhead."""
    return [_largest(backend) for backend in BACKENDS]


def _largest(backend: str) -> Table:
    rows = sorted(_measured(backend), key=lambda row: row.added, reverse=True)
    median = float(np.median([row.added for row in rows]))
    over = [row for row in rows if row.added > LIMIT]
    table = Table(
        f"Overhead of one call on {backend}: median and largest",
        ["call", "native", "nestarray", "added"],
        f"{len(rows)} calls. Median overhead {_micro(median)} (goal {_micro(MEDIAN)}); "
        f"{len(over)} calls over {_micro(LIMIT)}"
        f"{': ' + ', '.join(row.call for row in over) if over else ''}. "
        f"The minimum of {_REPEATS} measurements each.",
    )
    for row in rows[: max(SHOWN, len(over))]:
        table.add(row.call, readable(row.native), readable(row.ours), _micro(row.added))
    return table


def _micro(seconds: Seconds) -> str:
    return f"{seconds * 1e6:.2f} µs"


class Row(NamedTuple):
    """The minimum times of a call."""

    call: str
    ours: Seconds
    native: Seconds

    @property
    def added(self) -> Seconds:
        return self.ours - self.native


def _measured(backend: str) -> Iterator[Row]:
    """Each op that can be compared."""
    for name, record in OPS.items():
        native = _native(backend, record)
        count = _number_of_arrays(record)
        if native is None or not count:
            continue
        for kind, arrays in _arrays(backend, count):
            calls: list[tuple[str, Settings, Settings]] = [(f"{name}({kind})", {}, {})]
            if "axis" in record.signature.parameters:
                axis = "dim" if backend == "torch" else "axis"
                calls.append((f"{name}({kind}, axis=0)", {"axis": 0}, {axis: 0}))
            alike = [c for c in calls if _agree(record.function, native, arrays, c[1], c[2])]
            for text, ours, theirs in alike:
                functions = [(record.function, ours), (native, theirs)]
                yield Row(text, *_times(arrays, functions))
            if alike:
                break


def _native(backend: str, record: Op) -> Function | None:
    """The framework's public function, by the page that our function names, or by name."""
    own = getattr(backends.chapter(backend, record.chapter), record.name, None)
    if own is None:
        return None
    page = re.search(r"/((?:torch|numpy|jax)\.[\w.]*)\.html", inspect.getdoc(own) or "")
    name = page[1].rpartition(".")[2] if page else record.name
    name = _NAMES.get((backend, record.name), name)
    found = (getattr(space, name, None) for space in _namespaces(backend))
    return next((f for f in found if callable(f)), None)


def _namespaces(backend: str) -> list[Any]:
    if backend == "numpy":
        return [np, np.linalg, np.fft]
    if backend == "torch":
        import torch

        return [torch, torch.nn.functional, torch.special, torch.linalg, torch.fft]
    import jax
    import jax.numpy as jnp
    import jax.scipy.special

    return [jnp, jax.nn, jnp.linalg, jnp.fft, jax.scipy.special, jax.lax]


def _number_of_arrays(record: Op) -> int:
    """The number of arrays of a plain call; 0 if it requires other arguments."""
    needed = [p for p in record.parameters if p.default is p.empty]
    arrays = [p for p in needed if p.name in record.array_parameters]
    plain = arrays == needed and not record.sequence_parameters
    return len(arrays) if plain and all(p.kind is not p.KEYWORD_ONLY for p in needed) else 0


def _arrays(backend: str, count: int) -> Iterator[tuple[str, list[Any]]]:
    rng = np.random.default_rng(0)
    matrices = [rng.random((3, 3)) + np.eye(3) for _ in range(count)]
    floats = [((m + m.T) / 6).astype("float32") for m in matrices]
    integers = [rng.integers(1, 5, (3, 3), dtype="int32") for _ in range(count)]
    kinds = {
        "f32[3, 3]": floats,
        "i32[3, 3]": integers,
        "bool[3, 3]": [x > 2 for x in integers],
        "f32[3]": [x[0] for x in floats],
        "f32[2, 4, 8]": [rng.random((2, 4, 8), "float32") for _ in range(count)],
        "c64[3, 3]": [x.astype("complex64") for x in floats],
    }
    for kind, arrays in kinds.items():
        yield kind, [backends.core(backend).from_numpy(x) for x in arrays]


def _agree(
    ours: Function, native: Function, arrays: list[Any], own: Settings, settings: Settings
) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _same(ours(*arrays, **own), native(*arrays, **settings))
    except Exception:  # other arrays, or another meaning: not to be compared
        return False


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return isinstance(y, (tuple, list)) and len(x) == len(y) and all(map(_same, x, y))
    a, b = np.asarray(x), np.asarray(y)
    is_same_kind = a.shape == b.shape and a.dtype == b.dtype and not isinstance(y, (tuple, list))
    return is_same_kind and np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


def _times(arrays: list[Any], functions: list[tuple[Function, Settings]]) -> list[Seconds]:
    """The minimum time of one call of each, measured in turn: other load only adds time."""
    timers = [_timer(function, arrays, settings) for function, settings in functions]
    least = [float("inf")] * len(timers)
    for timer in timers:
        timer.timeit(20)
    count = max(1, int(_AT_LEAST / max(timers[1].timeit(3) / 3, 1e-8)))
    for _ in range(_REPEATS):
        for i, timer in enumerate(timers):
            least[i] = min(least[i], timer.timeit(count) / count)
    return least


def _timer(function: Function, arrays: list[Any], settings: Settings) -> timeit.Timer:
    """The time of a literal call, ``f(x, axis=0)`` instead of ``f(*arrays, **settings)``."""
    names = {f"x{i}": x for i, x in enumerate(arrays)}
    passed = ", ".join([*names, *(f"{name}={value!r}" for name, value in settings.items())])
    return timeit.Timer(f"function({passed})", globals={"function": function, **names})
