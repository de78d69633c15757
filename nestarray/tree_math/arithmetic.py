"""Arithmetic over whole trees for training: clipping by global norm, moving averages.

Sums, products and `lerp` of trees are ops (``a + 2 * b``, ``a.lerp(b, 0.1)``), and so are trees
of zeros (``c.zeros_like()``). The functions here apply to the floating and complex arrays of a
tree and keep their dtypes; other leaves are treated as training loops need.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from nestarray import backends, ops
from nestarray.container import Container, Leaf, method
from nestarray.container.access import align_leaves, map_leaves
from nestarray.container.arguments import refuse
from nestarray.container.container import from_leaves
from nestarray.dtypes import dtype_of, is_key
from nestarray.errors import ArgumentError
from nestarray.tree_math.reductions import tree_norm


@method
def global_clip(
    c: Container[Leaf], max_norm: Any, /, *, ord: float = 2, norm: Any = None
) -> Container[Leaf]:
    """Scale all leaves by min(1, max_norm / ‖c‖), so that the global norm is at most `max_norm`.

    A tree with a smaller norm keeps its values. If the norm is NaN, all results are NaN; if it is
    infinite, infinite elements become NaN and the others 0.

    Args:
        c: a Container, such as gradients. The norm includes floating and complex arrays only,
            and only these are scaled.
        max_norm: a positive number, or a 0-d array.
        ord: the order of the norm, as for `tree_norm`.
        norm: the norm of `c`, if known: ``norm = grads.tree_norm()`` and
            ``grads.global_clip(1.0, norm=norm)`` compute it once.

    Returns:
        a Container of the structure and dtypes of `c`.

    Raises:
        ArgumentError: `max_norm` or `ord` is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> grads = na.Container(w=np.asarray([3.0, 0.0]), b=np.asarray(4.0))
        >>> clipped = grads.global_clip(1.0)
        >>> clipped.w, clipped.b
        (array([0.6, 0. ]), np.float64(0.8))

    References:
        Pascanu, Mikolov and Bengio, On the difficulty of training recurrent neural networks.
        ICML 2013.
    """
    is_number = isinstance(max_norm, Real)
    if (is_number and not float(max_norm) > 0) or not (is_number or hasattr(max_norm, "dtype")):
        refuse("Container.global_clip", "max_norm", max_norm, "a positive number")
    dtypes = _dtypes(c)
    if norm is None:
        norm = tree_norm(
            c if None not in dtypes else Container(list(filter(_is_inexact, c.leaves()))), ord=ord
        )
    scale = ops.divide(max_norm, ops.maximum(norm, max_norm))
    if dtypes == {dtype_of(scale)}:  # one native call for the tree, where available
        return ops.multiply(c, scale)

    def scaled(x: Any) -> Any:
        return _in_dtype_of(x, ops.multiply(x, scale)) if _is_inexact(x) else x

    return from_leaves(c.spec, map_leaves(c.spec, scaled, [c.leaves()]))


@method
def ema(
    average: Container[Leaf], new: Container, /, decay: Any, *, step: Any = None
) -> Container[Leaf]:
    """The next exponential moving average, decay · average + (1 − decay) · new.

    With `step` the average is corrected for its initial value: at step 1 it equals `new`, and at
    step t the value from i steps before has the weight decayⁱ (1 − decay) / (1 − decayᵗ). This
    is ``optax.ema`` with ``debias=True``, but `average` stores the corrected average.

    Args:
        average: a Container, the average so far. Keep it in float32 if `new` has 16 bits, which
            would round small changes to zero.
        new: a Container of the same keys.
        decay: in [0, 1), a number or a 0-d array; 0 returns `new`.
        step: the number of this step, from 1; an integer or a 0-d array. None disables the
            correction.

    Returns:
        a Container of the structure and dtypes of `average`. Leaves that are not floating or
        complex arrays (counters, names) are taken from `new`.

    Raises:
        StructureError: the keys differ.
        ArgumentError: `decay` is outside [0, 1), or `step` is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.asarray([2.0]), n=np.asarray(7))
        >>> (v * 0).ema(v, 0.75).w, (v * 0).ema(v, 0.75, step=1).w
        (array([0.5]), array([2.]))

    References:
        Polyak and Juditsky, Acceleration of stochastic approximation by averaging. SIAM
        Journal on Control and Optimization 30, 1992.
    """
    weight = _weight(
        float(decay) if isinstance(decay, Real) else decay,
        int(step) if isinstance(step, Integral) else step,
    )
    dtypes = _dtypes(average)
    is_one_dtype = None not in dtypes and dtypes == {_dtype(weight, dtypes)}
    if is_one_dtype and getattr(new, "spec", None) is average.spec and _dtypes(new) == dtypes:
        return ops.lerp(average, new, weight)  # one native call for the tree, where available
    columns = [average.leaves(), align_leaves(average.spec, new, "Container.ema")]

    def mixed(old: Any, other: Any) -> Any:
        if not _is_inexact(old):
            return other
        return _in_dtype_of(old, ops.lerp(old, _in_dtype_of(old, other), weight))

    return from_leaves(average.spec, map_leaves(average.spec, mixed, columns))


def _weight(decay: Any, step: Any) -> Any:
    """The weight of the new value: 1 − decay, divided by 1 − decayᵗ at step t."""
    is_number = isinstance(decay, float)
    if is_number and not 0 <= decay <= 1:
        raise ArgumentError(f"Container.ema: decay: got {decay!r}, expected a number from 0 to 1")
    if isinstance(step, int) and step < 1:
        raise ArgumentError(f"Container.ema: step: got {step!r}, expected the first to be 1")
    weight = 1 - decay if is_number else ops.subtract(1.0, decay)
    if step is None or (is_number and decay == 0):
        return weight
    if is_number and decay == 1:
        return 1 / step if isinstance(step, int) else ops.divide(1.0, ops.astype(step, "float32"))
    if is_number and isinstance(step, int):
        return weight / -math.expm1(step * math.log(decay))
    rate = math.log(decay) if is_number else ops.log(decay)
    count = step if isinstance(step, int) else ops.astype(step, "float32")
    return ops.divide(weight, ops.negative(ops.expm1(ops.multiply(count, rate))))


def _dtype(weight: Any, dtypes: set[Any]) -> Any:
    """The dtype of a weight; for a Python number, the dtype of the leaf."""
    return next(iter(dtypes), None) if isinstance(weight, float) else dtype_of(weight)


def _dtypes(c: Container) -> set[Any]:
    """The dtypes of the floating and complex arrays, and None for any other leaf."""
    return {
        dtype_of(x) if _is_inexact(x) else None for x in c._flat()[0]
    }  # the buffers of a fused Container


def _is_inexact(leaf: Any) -> bool:
    return backends.is_array(leaf) and not is_key(leaf) and dtype_of(leaf).is_inexact


def _in_dtype_of(x: Any, y: Any) -> Any:
    return ops.astype(y, dtype_of(x), copy=False) if hasattr(y, "dtype") else y
