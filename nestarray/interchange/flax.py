"""Containers and Flax: Linen variables, NNX states and modules.

All have the form of Linen variables: collections ("params", "batch_stats", …) at the top, then
modules, then variables. Flax is not imported here; such objects exist only if it has been.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from nestarray.container import Container, constructor, method
from nestarray.container.container import from_leaves
from nestarray.errors import ArgumentError
from nestarray.interchange.fitting import align_by_path, convert_arrays
from nestarray.interchange.objects import open_record
from nestarray.interchange.pytrees import jax_opener
from nestarray.interchange.walking import Opened, container_of, rebuilt, tree_of

#: Collections of NNX: the keys of the random streams, and how often each was read.
STREAMS = ("RngKey", "RngCount")


@constructor
def from_flax(variables: Any, /) -> Container:
    """The variables of a Flax model.

    Linen variables keep their keys; metadata boxes around arrays (``nn.Partitioned``) are
    removed. NNX variables are grouped into collections by type, under Flax's names for these:
    ``nnx.Param`` into "params", ``nnx.BatchStat`` into "batch_stats"; a type without such a name
    uses the name of its class, and arrays outside of variables are in "arrays". `to_flax` is the
    inverse.

    Args:
        variables: for Linen, the variables or one collection of them, as a dict or a
            ``FrozenDict``; for NNX, an ``nnx.State``, an ``nnx.Module``, or another NNX object
            such as an ``nnx.Optimizer``.

    Returns:
        a Container with the same leaves. A variable that occurs twice in an NNX module is
        included once, as in its state.

    Raises:
        ArgumentError: `variables` is none of these.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container.from_flax({"params": {"Dense_0": {"kernel": np.ones((2, 3))}}})
        >>> c.paths()
        ('params/Dense_0/kernel',)

    References:
        https://flax.readthedocs.io/en/latest/guides/linen_to_nnx.html
    """
    if _is_nnx(variables, "State"):
        return container_of(_by_collection(variables), jax_opener(), "Container.from_flax")
    if _is_nnx(variables, "Pytree"):
        return from_flax(sys.modules["flax.nnx"].state(variables))
    if isinstance(variables, Mapping):
        return container_of(variables, _open_linen, "Container.from_flax").map(_without_box)
    raise ArgumentError(
        f"Container.from_flax: variables: got {type(variables).__name__}, expected a dict or "
        "FrozenDict of variables, an nnx.State or an nnx.Module; for other trees use "
        "Container.from_pytree"
    )


@method
def to_flax(c: Container, /, like: Any = None) -> Any:
    """Variables for Flax with the leaves of `c`; the inverse of `from_flax`.

    Args:
        c: a Container of arrays of any backend, which are converted to JAX, or to NumPy where
            `like` holds a NumPy array.
        like: None for nested dicts, as Linen's ``apply`` expects. A dict or ``FrozenDict`` of
            variables, an ``nnx.State`` or an ``nnx.Module`` determines the class and the
            metadata of the result; leaves are matched by path, and `like` is not modified. Random
            streams that `c` lacks, as native modules do, are those of `like`.

    Returns:
        a dict, or an object of the class of `like`.

    Raises:
        ArgumentError: `like` is none of these.
        MissingFrameworkError: JAX is not installed.
        StructureError: a path is missing in `c` or in `like`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(params={"Dense_0": {"bias": np.zeros(2, "float32")}})
        >>> na.to_flax(c)
        {'params': {'Dense_0': {'bias': Array([0., 0.], dtype=float32)}}}
    """
    if like is None:
        return from_leaves(c.spec, convert_arrays(c.leaves(), "jax")).to_dict()
    if _is_nnx(like, "State"):
        return _state(c, like)
    if _is_nnx(like, "Pytree"):
        nnx = sys.modules["flax.nnx"]
        graph, state = nnx.split(like)
        return nnx.merge(graph, _state(c, state))
    if isinstance(like, Mapping):
        return _variables(c, like)
    raise ArgumentError(
        f"to_flax: like: got {type(like).__name__}, expected None, a dict or FrozenDict of "
        "variables, an nnx.State or an nnx.Module; for other trees use c.to_pytree(like)"
    )


# -- Linen ----------------------------------------------------------------------------------------


def _variables(c: Container, like: Mapping[str, Any]) -> Any:
    boxes = container_of(like, _open_linen, "to_flax")
    leaves = align_by_path(boxes.spec, c, "to_flax", "`like`")
    leaves = convert_arrays(leaves, "jax", [_without_box(box) for box in boxes.leaves()])
    boxed = map(_with_box, boxes.leaves(), leaves)
    return rebuilt(like, boxed, _open_linen)


def _open_linen(node: Any) -> Opened | None:
    return None if _is_box(node) else open_record(node)


def _is_box(node: Any) -> bool:
    meta = sys.modules.get("flax.core.meta")
    return meta is not None and isinstance(node, meta.AxisMetadata)


def _without_box(leaf: Any) -> Any:
    return sys.modules["flax.core.meta"].unbox(leaf) if _is_box(leaf) else leaf


def _with_box(box: Any, leaf: Any) -> Any:
    return sys.modules["flax.core.meta"].replace_boxed(box, leaf) if _is_box(box) else leaf


# -- NNX ------------------------------------------------------------------------------------------


def _is_nnx(x: Any, class_name: str) -> bool:
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(x, getattr(nnx, class_name))


def _by_collection(state: Any) -> dict[str, Any]:
    """The values of an ``nnx.State``, by variable type and path."""
    tree: dict[str, Any] = {}
    for path, variable in sys.modules["flax.nnx"].to_flat_state(state):
        node = tree.setdefault(_collection(variable), {})
        *front, last = _keys(path)
        for key in front:
            node = node.setdefault(key, {})
        node[last] = _value(variable)
    return tree


def _keys(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """The keys of a path; a key of ``nnx.SpectralNorm`` is the path of a variable in its layer."""
    return tuple([part for key in path for part in (key if isinstance(key, tuple) else (key,))])


def _collection(variable: Any) -> str:
    nnx = sys.modules["flax.nnx"]
    if not isinstance(variable, nnx.Variable):
        return "arrays"
    try:
        return nnx.variable_name_from_type(type(variable))
    except ValueError:  # a type without a registered name
        return type(variable).__name__


def _value(variable: Any) -> Any:
    is_variable = isinstance(variable, sys.modules["flax.nnx"].Variable)
    return variable.get_value() if is_variable else variable


def _state(c: Container, like: Any) -> Any:
    """An ``nnx.State`` like another one, with the leaves of `c`."""
    nnx = sys.modules["flax.nnx"]
    collections = _by_collection(like)
    kept = {
        name: collections.pop(name) for name in STREAMS if name in collections and name not in c
    }
    tree = tree_of(c, collections, jax_opener(), "to_flax", backend="jax") | kept
    pairs = []
    for path, variable in nnx.to_flat_state(like):
        value = tree[_collection(variable)]
        for key in _keys(path):
            value = value[key]
        is_variable = isinstance(variable, nnx.Variable)
        pairs.append((path, variable.replace(value) if is_variable else value))
    return nnx.from_flat_state(pairs)
