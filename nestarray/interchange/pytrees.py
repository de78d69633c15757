"""Containers and JAX pytrees: any registered class, including optimizer states.

Leaves are named by JAX's key paths. A Container is one flat node for JAX; here a Container inside a
pytree is treated as a subtree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any

from nestarray import backends
from nestarray.container import Container, constructor, method
from nestarray.interchange.walking import Opened, Opener, container_of, tree_of


@constructor
def from_pytree(pytree: Any, /) -> Container:
    """The leaves of a JAX pytree, nested by their key paths.

    Dicts, lists and tuples become nodes of their kind, with dicts in their own order. A node of
    any other registered class (named tuples, dataclasses, Optax states, …) becomes a node with
    the names of its children as keys. None is a leaf, so that the tree can be rebuilt.
    `to_pytree` is the inverse.

    Args:
        pytree: a pytree; Containers inside become subtrees, also with leaves that are nodes: what
            ``optax.masked`` left out is an empty node.

    Returns:
        a Container with the same leaves.

    Raises:
        MissingFrameworkError: JAX is not installed.
        StructureError: a key is neither a string nor an integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container.from_pytree({"b": np.ones(2), "a": [np.zeros(3), None]})
        >>> c.paths()
        ('b', 'a/0', 'a/1')

    References:
        https://docs.jax.dev/en/latest/pytrees.html
    """
    return container_of(pytree, jax_opener(), "Container.from_pytree")


@method
def to_pytree(c: Container, /, like: Any) -> Any:
    """A pytree of the structure of `like` with the leaves of `c`; the inverse of `from_pytree`.

    Leaves are matched by path, in any order; shapes and dtypes may differ.

    Args:
        c: a Container.
        like: a pytree that determines classes and static data of the result.

    Returns:
        a pytree with the structure of `like`, including its Containers.

    Raises:
        MissingFrameworkError: JAX is not installed.
        StructureError: a path is missing in `c` or in `like`.

    Example:
        >>> import nestarray as na
        >>> like = {"a": [1, None], "b": (3,)}
        >>> c = na.Container.from_pytree(like)
        >>> c.set("a/1", 2).to_pytree(like)
        {'a': [1, 2], 'b': (3,)}
    """
    return tree_of(c, like, jax_opener(), "to_pytree")


def jax_opener() -> Opener:
    """A function that opens a node of any class registered with JAX.

    Raises:
        MissingFrameworkError: JAX is not installed.
    """
    backends.core("jax")
    return _open


def _open(node: Any) -> Opened | None:
    cls = type(node)
    if cls is dict:
        return Opened("dict", tuple(node), tuple(node.values()), partial(_dict, tuple(node)))
    if cls in (list, tuple):
        return Opened(cls.__name__, range(len(node)), node, cls)
    if node is None or backends.backend_of_type(cls) is not None:
        return None
    from jax import tree_util

    def is_below(x: Any) -> bool:
        return x is not node

    pairs, structure = tree_util.tree_flatten_with_path(node, is_leaf=is_below)
    if len(pairs) == 1 and not pairs[0][0]:
        return None
    keys = [_plain(path[0]) for path, _ in pairs]
    children = [child for _, child in pairs]
    if isinstance(node, Mapping) and dict.fromkeys(keys).keys() == node.keys():
        # JAX sorts keys; here they keep the order of the mapping
        order = [keys.index(key) for key in node]
        make = partial(_mapping, node, structure, order)
        return Opened("dict", tuple(node), [children[i] for i in order], make)
    return Opened("dict", keys, children, structure.unflatten)


def _plain(key: Any) -> Any:
    """The key in one of JAX's key classes; for other classes, its text."""
    for attribute in ("key", "name", "idx"):
        if hasattr(key, attribute):
            return getattr(key, attribute)
    return key if isinstance(key, (str, int)) else str(key)


def _dict(keys: tuple[Any, ...], values: list[Any]) -> dict[Any, Any]:
    return dict(zip(keys, values, strict=True))


def _mapping(node: Any, structure: Any, order: list[int], values: list[Any]) -> Any:
    """A mapping of the class of `node` with its keys in the original order."""
    in_order = dict(zip(order, values, strict=True))
    made = structure.unflatten([in_order[i] for i in range(len(order))])
    if list(made) == list(node):
        return made
    pairs = {key: made[key] for key in node}
    if isinstance(node, defaultdict):
        return defaultdict(node.default_factory, pairs)
    return type(node)(pairs)
