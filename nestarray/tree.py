"""Functions on nests: Containers inside other Python structures.

A nest is a Container, or dicts, lists, (named) tuples, attrs classes … of nests, or a leaf. The
leaves of a Container are already flat; a fused Container contributes its buffers. dm-tree handles
structures other than Containers, dicts, lists and tuples, and is imported on first use. Leaves
are matched by key, never by position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from nestarray.container import Container, FusedContainer
from nestarray.container.access import align_leaves
from nestarray.container.container import from_results, rebuild
from nestarray.container.fused import Layout
from nestarray.container.spec import Spec
from nestarray.dynamo import traced_as
from nestarray.errors import StructureError
from nestarray.errors.signatures import signature_errors
from nestarray.errors.unknown_names import suggest_names as _suggest_names

__all__ = ["Structure", "broadcast", "flatten", "leaves", "map", "unflatten"]

_Build = Callable[[Any, tuple[Any, ...]], Container[Any]]


class _Box:
    """The placeholder of a Container in a structure."""

    __slots__ = ("count", "structure")

    def __init__(self, count: int, structure: Any) -> None:
        self.count, self.structure = count, structure


class Structure(NamedTuple):
    """The structure of a nest, from `flatten`, for `unflatten`.

    `outer` is the spec or layout of a Container, or the nest with boxes instead of Containers
    and None instead of leaves.
    """

    outer: Any

    @property
    def key(self) -> Any:
        """A hashable value, equal for equal structures (for caches)."""
        return _key(self.outer)

    def is_like(self, other: Structure) -> bool:
        """Whether two structures are equal."""
        return self.outer is other.outer or self.key == other.key


def flatten(nest: Any, *, unfused: bool = False) -> tuple[tuple[Any, ...], Structure]:
    """Leaves and structure of a nest, as `jax.tree.flatten`.

    Args:
        nest: a Container, or dicts, lists, tuples … of nests, or a leaf.
        unfused: use the leaves of a fused Container, not its buffers.

    Returns:
        (leaves, structure): dicts are sorted by key, Containers keep the order of their keys.

    Example:
        >>> import nestarray as na
        >>> leaves, structure = na.tree.flatten({"c": na.Container(x=1), "l": [2, 3]})
        >>> leaves
        (1, 2, 3)
        >>> na.tree.unflatten(structure, [10, 20, 30])["l"]
        [20, 30]
    """
    if isinstance(nest, Container):
        arrays, structure = _flat(nest, unfused)
        return arrays, Structure(structure)
    if not isinstance(nest, (Mapping, Sequence)) or isinstance(nest, str | bytes):
        return (nest,), Structure(None)
    leaves: list[Any] = []
    outer = _take(nest, leaves, unfused)
    return tuple(leaves), Structure(outer)


def leaves(nest: Any) -> tuple[Any, ...]:
    """The leaves of a nest in the order of `flatten`, as `jax.tree.leaves`.

    Args:
        nest: a Container, or dicts, lists, tuples … of nests, or a leaf. A fused Container
            returns its buffers.

    Returns:
        a tuple of leaves.

    Example:
        >>> import nestarray as na
        >>> na.tree.leaves({"b": [2, 3], "a": na.Container(x=1)})
        (1, 2, 3)
    """
    return flatten(nest)[0]


def _flat(c: Container, unfused: bool) -> tuple[tuple[Any, ...], Any]:
    return (c._leaves, c._spec) if unfused else c._flat()


def _take(nest: Any, leaves: list[Any], unfused: bool) -> Any:
    """Append the leaves of a nest to `leaves` and return its `Structure.outer`.

    Python's dicts, lists and tuples are handled here, because dm-tree's traversal that can stop at
    Containers is ten times slower. Keys are sorted as in dm-tree.
    """
    if isinstance(nest, Container):
        arrays, structure = _flat(nest, unfused)
        leaves.extend(arrays)
        return _Box(len(arrays), structure)
    cls = type(nest)
    if cls is tuple or cls is list:
        return cls([_take(x, leaves, unfused) for x in nest])
    if cls is dict:
        parts = {key: _take(nest[key], leaves, unfused) for key in sorted(nest)}
        return {key: parts[key] for key in nest}
    if not _is_node(nest):
        leaves.append(nest)
        return None
    import tree as dm_tree

    found: dict[_Box, tuple[Any, ...]] = {}

    def box(node: Any) -> Any:
        if not isinstance(node, Container):
            return None
        arrays, structure = _flat(node, unfused)
        made = _Box(len(arrays), structure)
        found[made] = arrays
        return made

    outer = dm_tree.traverse(box, nest)
    for item in dm_tree.flatten(outer):
        leaves.extend(found[item] if type(item) is _Box else (item,))
    found.clear()  # traverse creates a reference cycle, which would keep the arrays alive
    return dm_tree.map_structure(lambda item: item if type(item) is _Box else None, outer)


@traced_as(lambda nest: isinstance(nest, (Mapping, Sequence)) and not isinstance(nest, str | bytes))
def _is_node(nest: Any) -> bool:
    import tree as dm_tree

    return dm_tree.is_nested(nest)


def _key(outer: Any) -> Any:
    cls = type(outer)
    if cls is _Box:
        return outer.structure
    if outer is None or cls is Spec or cls is Layout:
        return outer
    if cls is tuple or cls is list:
        return cls, *[_key(x) for x in outer]
    if cls is dict:
        return cls, *[(key, _key(outer[key])) for key in sorted(outer)]
    import tree as dm_tree

    boxes = tuple([_key(item) for item in dm_tree.flatten(outer)])
    return cls, repr(dm_tree.map_structure(lambda _: None, outer)), boxes


def unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The nest of a structure and its leaves; the inverse of `flatten`.

    Args:
        structure: from `flatten`.
        leaves: the leaves, in the order of `flatten`.

    Example:
        >>> import nestarray as na
        >>> leaves, structure = na.tree.flatten([na.Container(x=1), 2])
        >>> na.tree.unflatten(structure, [leaf * 10 for leaf in leaves])[1]
        20
    """
    return _filled(structure, leaves, rebuild)


def grafted(structure: Structure, nests: Sequence[Any]) -> Any:
    """`unflatten` with nests as leaves; nests inside a Container become part of it."""
    return _filled(structure, nests, _with_parts)


def _with_parts(structure: Any, nests: tuple[Any, ...]) -> Container[Any]:
    own = [Container(x) if isinstance(x, dict | list | tuple) else x for x in nests]
    return _from_results(structure, tuple(own))


def _from_results(structure: Any, results: tuple[Any, ...]) -> Container[Any]:
    if structure.__class__ is Spec:
        return from_results(structure, results)
    return rebuild(structure, results)


def _filled(structure: Structure, leaves: Sequence[Any], build: _Build) -> Any:
    outer = structure.outer
    if outer is None:
        return leaves[0]
    if isinstance(outer, (Spec, Layout)):
        return build(outer, tuple(leaves))
    return _fill(outer, iter(leaves), build)


def _fill(outer: Any, leaves: Iterator[Any], build: _Build) -> Any:
    cls = type(outer)
    if outer is None:
        return next(leaves)
    if cls is _Box:
        return build(outer.structure, tuple(islice(leaves, outer.count)))
    if cls is tuple or cls is list:
        return cls([_fill(x, leaves, build) for x in outer])
    if cls is dict:
        parts = {key: _fill(outer[key], leaves, build) for key in sorted(outer)}
        return {key: parts[key] for key in outer}
    import tree as dm_tree

    return dm_tree.unflatten_as(
        outer, [_fill(item, leaves, build) for item in dm_tree.flatten(outer)]
    )


@signature_errors("tree.map", callables=("fn",))
def map(fn: Callable[..., Any], nest: Any, *others: Any) -> Any:  # as jax.tree.map
    """Apply `fn` to every leaf of a nest, with the matching leaves of others.

    If `fn` returns a Container for a leaf of a Container, it becomes a sub-container.
    `Container.map` can also pass paths.

    Args:
        fn: ``fn(leaf, *other_leaves)``; called with the buffers of a fused Container.
        nest: any nest.
        *others: nests of the same keys, or prefixes of `nest` as in `broadcast`.

    Returns:
        a nest of the structure of `nest`.

    Raises:
        StructureError: one of `others` does not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.tree.map(lambda x: x + 1, {"v": na.Container(w=np.zeros(2)), "step": 0})["v"].w
        array([1., 1.])
        >>> na.tree.map(lambda x, y: x - y, {"a": 3, "b": [4]}, {"b": [1], "a": 2})
        {'a': 1, 'b': [3]}
    """
    leaves, structure = flatten(nest)
    parts = [flatten(other) for other in others]
    if all(found.is_like(structure) for _, found in parts):
        columns = [found for found, _ in parts]
    else:  # aligned leaf by leaf, so fused Containers are unfused
        leaves, structure = flatten(nest, unfused=True)
        columns = [spread(other, nest, "tree.map") for other in others]
    results = [fn(*row) for row in zip(leaves, *columns, strict=True)]
    return _filled(structure, results, _from_results)


def broadcast(prefix: Any, nest: Any) -> Any:
    """Repeat the values of a prefix for every leaf of `nest`, as `jax.tree.broadcast`.

    JAX accepts a prefix of a tree for shardings or axes. For JAX a Container is one node with all
    its leaves, so a Container of fewer levels is not a prefix; this function returns one value
    for each leaf.

    Args:
        prefix: a value for all leaves, or a Container, dict, list or tuple of prefixes for the
            members of `nest` at its keys.
        nest: any nest. A fused Container has a value for each buffer.

    Returns:
        a nest of the structure of `nest`.

    Raises:
        StructureError: `prefix` is not a prefix of `nest`, or has different values for leaves of
            one buffer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(encoder={"w": np.ones((2, 3)), "b": np.ones(3)}, head=np.ones(2))
        >>> na.tree.broadcast(na.Container(encoder="rows", head=None), v).to_dict()
        {'encoder': {'w': 'rows', 'b': 'rows'}, 'head': None}
        >>> na.tree.broadcast((0, {"encoder": 1, "head": 2}), (np.ones(2), v))[1].leaves()
        (1, 1, 2)
    """
    values = spread(prefix, nest, "tree.broadcast", unfused=False)
    return unflatten(flatten(nest)[1], values)


def spread(prefix: Any, nest: Any, caller: str, *, unfused: bool = True) -> list[Any]:
    """The values of `broadcast` in the order of ``flatten(nest)``; `caller` is the function name in errors.

    Raises:
        StructureError: as `broadcast` does.
    """
    is_node = isinstance(prefix, Container) or type(prefix) in (dict, list, tuple)
    if isinstance(nest, Container):
        values = align_leaves(nest.spec, Container(prefix) if is_node else prefix, caller)
        is_fused = nest.__class__ is FusedContainer and not unfused
        return _of_buffers(nest, values, caller) if is_fused else list(values)
    if not is_node and not hasattr(prefix, "_fields"):
        return [prefix] * len(flatten(nest, unfused=unfused)[0])
    if isinstance(nest, (list, tuple)) and isinstance(prefix, (list, tuple)):
        if len(prefix) == len(nest):
            pairs = zip(prefix, nest, strict=True)
            return [v for part, x in pairs for v in spread(part, x, caller, unfused=unfused)]
    elif isinstance(nest, Mapping) and isinstance(prefix, Mapping) and set(prefix) == set(nest):
        keys = sorted(nest)  # as flatten sorts them
        return [v for key in keys for v in spread(prefix[key], nest[key], caller, unfused=unfused)]
    raise StructureError(
        f"{caller}: got {prefix!r} for a {type(nest).__name__}, expected a value for all of it, or a "
        "nest that is a prefix of it"
    )


def _of_buffers(c: Any, values: Sequence[Any], caller: str) -> list[Any]:
    """One value for each buffer of a fused Container; the values of its leaves must be equal."""
    found: dict[int, tuple[str, Any]] = {}
    for name, place, value in zip(c.paths(), c._layout.places, values, strict=True):
        first, known = found.setdefault(place.buffer, (name, value))
        if known is not value and known != value:
            raise StructureError(
                f"{caller}: {first!r} and {name!r} lie in one buffer of a fused Container and got "
                f"{known!r} and {value!r}; take c.unfuse()"
            )
    return [found[i][1] for i in range(len(found))]


_suggest_names(__name__)
