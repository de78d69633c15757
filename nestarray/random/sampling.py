"""Trees of random numbers, with a separate key for the path of each leaf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray import backends
from nestarray.backends.transfer import move
from nestarray.container import Container, Leaf, method
from nestarray.container.access import align_leaves, map_leaves
from nestarray.container.container import from_leaves
from nestarray.dtypes import as_dtype, dtype_of, is_key
from nestarray.errors import ArgumentError
from nestarray.random.continuous import normal
from nestarray.random.keys import fold_in
from nestarray.typing import DTypeLike


@method
def random_like(
    c: Container[Leaf],
    key: Any,
    /,
    *,
    distribution: Callable[..., Any] = normal,
    dtype: DTypeLike | None = None,
    **parameters: Any,
) -> Container[Leaf]:
    """Random arrays with the shapes, dtypes, backends and devices of a tree.

    The array at a path is drawn from ``na.random.fold_in(key, path)``: it does not depend on
    other leaves, and has the same bits on every backend, as far as the functions of `na.random`
    have.

    Args:
        c: a Container. Leaves that are not arrays are kept.
        key: a key from ``na.random.key``, of any backend.
        distribution: ``fn(key, shape=…, dtype=…)``, such as ``na.random.normal``, ``gamma``,
            ``randint`` or ``dropout_mask``.
        dtype: the dtype of all arrays; by default the dtype of each leaf.
        **parameters: parameters of the distribution, such as ``a=2.0`` for ``gamma``. A
            Container of values is matched with `c` by path.

    Returns:
        a Container of the structure of `c`.

    Raises:
        DtypeError: the distribution does not support the dtype of a leaf; names its path.
        ArgumentError: `key` is not an array.
        StructureError: a Container of parameters has other keys than `c`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(w=np.zeros((2, 2), "float32"), name="net")
        >>> noise = c.random_like(na.random.key(0), distribution=na.random.uniform)
        >>> noise.w.shape, noise.w.dtype, noise.name
        ((2, 2), dtype('float32'), 'net')
        >>> c.random_like(na.random.key(0), distribution=na.random.dropout_mask, rate=0.5).w
        array([[2., 0.],
               [2., 2.]], dtype=float32)
    """
    if not backends.is_array(key):
        raise ArgumentError(
            f"Container.random_like: key: got {type(key).__name__}, expected a key such as "
            "na.random.key(0)"
        )
    chosen = None if dtype is None else as_dtype(dtype)
    keys: dict[Any, Any] = {}

    def draw(name: str, leaf: Any, *values: Any) -> Any:
        backend = backends.backend_of_type(type(leaf))
        if backend is None or is_key(leaf):
            return leaf
        core = backends.core(backend)
        device = None if core.is_traced(leaf) else core.device_of(leaf)
        if (backend, device) not in keys:
            keys[backend, device] = _moved(key, backend, device)
        own = fold_in(keys[backend, device], name)
        settings = dict(zip(parameters, values, strict=True))
        return distribution(
            own, shape=tuple(leaf.shape), dtype=chosen or dtype_of(leaf), **settings
        )

    columns = [
        align_leaves(c.spec, x, f"Container.random_like: {n}") for n, x in parameters.items()
    ]
    return from_leaves(c.spec, map_leaves(c.spec, draw, [c.paths(), c.leaves(), *columns]))


def _moved(key: Any, backend: str, device: Any) -> Any:
    """The key on a backend and device; a traced key stays in its trace."""
    core = backends.core(backend)
    own = backends.backend_of(key)
    if own == backend and (device is None or core.is_traced(key) or core.device_of(key) == device):
        return key
    return move(key, backend, device=device)
