"""Statistics of the values of one leaf, on the host in float64, the same for every backend.

Arrays on other devices are transferred one at a time, and large ones are read in chunks. Leaves
without values (an array under tracing, a shape without data) have no statistics. NaN and
infinities are counted and otherwise ignored, because one NaN would make every statistic NaN.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from nestarray import backends
from nestarray.typing import NUMBERS

_PIECE = 1 << 20


class Statistics(NamedTuple):
    """The result of `statistics`; `mean` to `norm` are over the finite elements."""

    mean: float | None
    std: float | None
    min: float | int | None
    max: float | int | None
    norm: float | None
    nan: int
    inf: int
    zeros: int


def has_values(leaf: Any) -> bool:
    """Whether `leaf` is an array or a number with readable elements."""
    if isinstance(leaf, NUMBERS):
        return True
    backend = backends.backend_of_type(type(leaf))
    if backend is None or backends.core(backend).is_traced(leaf):
        return False
    if backend == "torch":
        import torch

        functorch = torch._C._functorch  # type: ignore[attr-defined]
        in_transform = functorch.is_functorch_wrapped_tensor(leaf)  # inside vmap or grad
        return not (leaf.is_meta or in_transform)
    return not (backend == "jax" and leaf.is_deleted())


def values_of(leaf: Any) -> np.ndarray | None:
    """The elements of a leaf as a flat NumPy array of real numbers; None without values.

    Complex numbers are returned as magnitudes. The result shares memory where possible.
    """
    if not has_values(leaf):
        return None
    if isinstance(leaf, NUMBERS):
        return _numbers(np.asarray(leaf).reshape(-1))
    backend = backends.backend_of_type(type(leaf))
    if backend == "torch":
        import torch

        if leaf.layout is not torch.strided:  # the stored values of a sparse tensor
            leaf = leaf.to_dense()
    return _numbers(backends.core(str(backend)).to_numpy(leaf).reshape(-1))


def _numbers(values: np.ndarray) -> np.ndarray | None:
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind == "c":
        return np.abs(values)
    if values.dtype.kind == "V" and values.dtype.names is None:  # ml_dtypes: bfloat16, float8
        return values
    return None


def sample_of(leaf: Any, count: int) -> np.ndarray | None:
    """About `count` finite elements of a leaf, evenly spaced, as floats; None as `values_of`.

    Only these elements are transferred from another device.
    """
    if has_values(leaf) and not isinstance(leaf, NUMBERS):
        core = backends.core(str(backends.backend_of_type(type(leaf))))
        is_dense = not getattr(leaf, "is_sparse", False)
        if core.device_of(leaf) != "cpu" and is_dense and len(leaf.shape):
            leaf = leaf[_strides(tuple(leaf.shape), count)]
    values = values_of(leaf)
    if values is None:
        return None
    step = max(values.size // count, 1)
    step -= step % 2 == 0  # an even step would often hit the same columns of each row
    floats = _as_floats(values[::step])
    return floats[np.isfinite(floats)]


def _strides(shape: tuple[int, ...], count: int) -> tuple[slice, ...]:
    """Slices that select about `count` elements; long axes are reduced before short ones."""
    steps = [1] * len(shape)
    left = float(count)
    by_length = sorted(range(len(shape)), key=shape.__getitem__)
    for position, axis in enumerate(by_length):
        kept = min(shape[axis], math.ceil(left ** (1 / (len(shape) - position))))
        left = max(left / max(kept, 1), 1.0)
        steps[axis] = max(shape[axis] // max(kept, 1), 1)
    return tuple(slice(None, None, step) for step in steps)


def histogram(values: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts and edges of bins over finite numbers, also for very large or very close ones.

    Example:
        >>> import numpy as np
        >>> histogram(np.asarray([-1e308, 1e308, 1e308]), 2)[0]
        array([1, 2])
    """
    least, most = float(values.min()), float(values.max())
    scale = max(abs(least), abs(most)) or 1.0  # the difference of large numbers may overflow
    low, high = least / scale, most / scale
    if high - low < 1e-12:  # too close for bins
        low, high = low - 0.5, low + 0.5
    counts, edges = np.histogram(values / scale, bins, range=(low, high))
    largest = float(np.finfo(np.float64).max)
    edges = np.asarray([min(max(edge * scale, -largest), largest) for edge in edges.tolist()])
    edges[0], edges[-1] = min(edges[0], least), max(edges[-1], most)
    return counts, edges


def statistics(leaf: Any) -> Statistics | None:
    """Mean, standard deviation (biased), extremes, 2-norm and counts; None without values.

    Example:
        >>> import numpy as np
        >>> statistics(np.asarray([3.0, 0.0, np.nan, 4.0])).norm
        5.0
    """
    values = values_of(leaf)
    if values is None:
        return None
    count = 0
    norm = away = 0.0  # away: the norm of the deviations from the mean
    mean = np.float64(0.0)
    low = high = None
    nan = inf = zeros = 0
    is_exact = values.dtype.kind in "biu"
    for start in range(0, values.size, _PIECE):
        piece = values[start : start + _PIECE]
        zeros += int(np.count_nonzero(piece == 0))
        floats = _as_floats(piece)
        if not is_exact:
            finite = np.isfinite(floats)
            if not finite.all():
                missing = int(np.count_nonzero(np.isnan(floats)))
                nan += missing
                inf += int(floats.size - np.count_nonzero(finite)) - missing
                floats = floats[finite]
        if not floats.size:
            continue
        least, most = (piece.min(), piece.max()) if is_exact else (floats.min(), floats.max())
        low = least.item() if low is None else min(low, least.item())
        high = most.item() if high is None else max(high, most.item())
        with np.errstate(over="ignore", invalid="ignore"):
            norm = math.hypot(norm, _norm(floats))
            own = floats.mean()
            between = abs(own - mean) * math.sqrt(count * floats.size / (count + floats.size))
            away = math.hypot(away, _norm(floats - own), between)
            mean += (own - mean) * (floats.size / (count + floats.size))
        count += floats.size
    if not count:
        return Statistics(None, None, None, None, None, nan, inf, zeros)
    return Statistics(float(mean), away / math.sqrt(count), low, high, norm, nan, inf, zeros)


def _norm(floats: np.ndarray) -> float:
    total = float(np.dot(floats, floats))
    if 1e-280 < total < math.inf:
        return math.sqrt(total)
    scale = float(np.abs(floats).max()) or 1.0  # avoids overflow and underflow of squares
    return scale * float(np.linalg.norm(floats / scale))


def _as_floats(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float64)
