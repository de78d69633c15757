"""Conversion between layers in a list and one tree of stacked arrays, for scans.

``blocks/0/w``, ``blocks/1/w``, … of equal shapes become ``blocks/w`` with a leading axis of
layers, so ``jax.lax.scan`` over ``c["blocks"]`` compiles the layer once. The conversion is
lossless: members must agree in keys, shapes and dtypes; leaves that are not arrays (None, names,
numbers) must be equal and are stored once.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from nestarray import backends, ops
from nestarray.backends import is_array
from nestarray.container import Container, Leaf, TupleContainer, method
from nestarray.container.access import Leaves
from nestarray.container.building import build
from nestarray.container.container import from_leaves
from nestarray.container.mapping import outermost, places, with_parts
from nestarray.container.spec import (
    LEAF,
    Key,
    Path,
    Spec,
    explain_mismatch,
    join_path,
)
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, DtypeError, PathError, ShapeError, StructureError


@method
def stack_keys(c: Container[Leaf], pattern: Any, /, *, into: str | None = None) -> Container[Leaf]:
    """Stack the matching sub-containers of each node along a new first axis of their arrays.

    The members of a node, such as the blocks of a list, are replaced by one sub-container; with
    `into`, they become one entry of the node at the place of the first member. Members keep the
    order of the tree; if their keys differ in one number only, they are sorted by it, because
    JAX sorts ``layer_10`` before ``layer_2``.

    Args:
        c: a Container.
        pattern: the members: ``"blocks/*"``, ``"**/layers/*"`` for the lists of several
            nodes, ``"layer_*"`` at the top, or any other pattern of `Container.select`.
        into: the key of the stacked members. Required if some siblings do not match.

    Returns:
        a Container with the stacked members; `unstack_keys` is the inverse.

    Raises:
        PathError: nothing matches.
        StructureError: members differ in keys or in leaves that are not arrays; or `into` is
            required, exists already, or is given for a list.
        ShapeError: members differ in the shape of an array.
        DtypeError: members differ in the dtype or the backend of an array.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(blocks=[{"w": np.ones(3)}, {"w": np.zeros(3)}], head=np.ones(2))
        >>> stacked = c.stack_keys("blocks/*")
        >>> stacked["blocks/w"].shape, stacked.unstack_keys("blocks").spec is c.spec
        ((2, 3), True)
    """
    found = outermost(list(places(c)), (pattern,))
    if not found:
        names = [join_path(path) for path, _ in places(c) if path]
        shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
        raise PathError(
            f"Container.stack_keys: nothing matches {pattern!r}, expected a pattern of sub-containers "
            f"such as 'blocks/*'; the places are {shown or 'none'}"
        )
    groups: dict[Path, dict[Key, Any]] = {}
    for (*parent, key), value in found:
        groups.setdefault(tuple(parent), {})[key] = value
    nodes = {path: node for path, node in places(c) if path in groups}
    new = {
        path: _with_stacked(nodes[path], path, members, into) for path, members in groups.items()
    }
    return from_leaves(*with_parts(c.spec, c.leaves(), new))


@method
def unstack_keys(
    c: Container[Leaf],
    path: Key | Path = (),
    /,
    *,
    keys: Collection[Key] | None = None,
    kind: str = "list",
    spread: bool = False,
) -> Container[Leaf]:
    """Split a sub-container of stacked arrays along their first axis; the inverse of `stack_keys`.

    Args:
        c: a Container.
        path: the stacked sub-container; by default the whole of `c`.
        keys: the keys of the members, which become a dict; None numbers them.
        kind: ``"list"`` or ``"tuple"``, the kind of node for members without `keys`.
        spread: insert the members into the parent node, among the siblings of the
            sub-container, as the inverse of `into`.

    Returns:
        a Container with the members.

    Raises:
        PathError: `path` does not exist.
        ShapeError: arrays differ in the size of the first axis, or have no axis, or the size
            differs from the number of `keys`.
        StructureError: the number of members is unknown, without arrays and `keys`; or a key
            exists already.
        ArgumentError: `kind` is invalid, or given together with `keys`; `spread` without `keys`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(layers={"w": np.ones((2, 3))}, head=np.ones(2))
        >>> c.unstack_keys("layers").paths()
        ('layers/0/w', 'layers/1/w', 'head')
        >>> c.unstack_keys("layers", keys=["l_0", "l_1"], spread=True).paths()
        ('l_0/w', 'l_1/w', 'head')
    """
    if kind not in ("list", "tuple") or (keys is not None and kind != "list"):
        hint = " without keys" if kind == "tuple" else ""
        raise ArgumentError(
            f"Container.unstack_keys: kind: got {kind!r}, expected 'list' or 'tuple'{hint}"
        )
    if spread and (keys is None or path == ()):
        raise ArgumentError(
            "Container.unstack_keys: spread: got True, expected keys for the members and a path "
            "beside whose siblings they go"
        )
    if path == ():
        stacked, name = c, ""
    else:
        start, stop, spec = c.spec.locate(path, "Container.unstack_keys")
        stacked, name = (
            from_leaves(spec, c.leaves()[start:stop]),
            join_path(c.spec.keys_along(path)),
        )
    members = _unstacked(stacked, name, keys)
    if keys is None:
        new = TupleContainer(tuple(members)) if kind == "tuple" else Container(members)
    else:
        new = Container(dict(zip(keys, members, strict=True)))
    if path == ():
        return new
    return _spread(c, path, new) if spread else c.set(path, new)


# -- stacking ---------------------------------------------------------------------------------


def _with_stacked(
    node: Container, path: Path, members: dict[Key, Any], into: str | None
) -> tuple[Spec, Leaves]:
    """The node with its `members` stacked, as the node itself or as its entry `into`."""
    name = join_path(path)
    siblings = [key for key in node.spec.keys if key not in members]
    if into is None and siblings:
        raise StructureError(
            f"Container.stack_keys: {join_path((*path, siblings[0]))!r} does not match, so that the "
            f"stacked members of {name!r} stand beside it; name them by into=..., or let the pattern "
            "take it too"
        )
    order = _by_number(list(members))
    stacked = _stacked([join_path((*path, k)) for k in order], [members[k] for k in order])
    if into is None:
        return stacked
    if node.spec.kind != "dict":
        raise StructureError(
            f"Container.stack_keys: into: got {into!r}, but {name!r} is a {node.spec.kind}, which has "
            "no names; stack all of it, without into"
        )
    if into in siblings:
        raise StructureError(
            f"Container.stack_keys: into: {join_path((*path, into))!r} is there already; choose "
            "another key"
        )
    entries: dict[Key, Any] = {}
    for key in node.spec.keys:
        if key in siblings:
            entries[key] = node[(key,)]
        else:
            entries.setdefault(into, from_leaves(*stacked))
    return build(entries)


def _by_number(keys: list[Key]) -> list[Key]:
    """The keys, sorted by number if they differ in one number only."""
    words = [re.split(r"(\d+)", str(key)) for key in keys]  # odd positions are numbers
    if len({len(w) for w in words}) == 1:
        differ = [i for i in range(len(words[0])) if len({w[i] for w in words}) > 1]
        if len(differ) == 1 and differ[0] % 2:
            return sorted(keys, key=lambda key: int(re.split(r"(\d+)", str(key))[differ[0]]))
    return keys


def _stacked(names: list[str], members: list[Any]) -> tuple[Spec, Leaves]:
    """The structure of the members with their leaves stacked."""
    trees = [Container(member) for member in members]  # a bare array becomes a Container
    spec = trees[0].spec
    columns = []
    for name, tree in zip(names, trees, strict=True):
        order = tree.spec.permutation_to(spec)
        if order is None:
            caller = f"Container.stack_keys: {names[0]!r} and {name!r}"
            if LEAF in (spec, tree.spec):
                raise StructureError(f"{caller}: one is a leaf, expected members of one structure")
            raise explain_mismatch(spec, tree.spec, caller)
        columns.append([tree.leaves()[i] for i in order])
    leaves = []
    for row, path in zip(zip(*columns, strict=True), spec.path_names, strict=True):
        for name, leaf in zip(names, row, strict=True):
            _check_same_type(row[0], leaf, _joined(names[0], path), _joined(name, path))
        leaves.append(ops.stack(row) if is_array(row[0]) else row[0])
    return spec, tuple(leaves)


def _check_same_type(first: Any, leaf: Any, first_name: str, name: str) -> None:
    if is_array(first) != is_array(leaf):
        there, here = type(first).__name__, type(leaf).__name__
        problem = f"{first_name!r} is a {there}, {name!r} a {here}"
        raise StructureError(f"Container.stack_keys: {problem}, expected arrays in all, or in none")
    if not is_array(first):
        if first is not leaf and (type(first) is not type(leaf) or first != leaf):
            raise StructureError(
                f"Container.stack_keys: {first_name!r} is {first!r}, {name!r} {leaf!r}, expected one "
                "value, since what is no array is kept once; make arrays of numbers by na.asarray"
            )
        return
    shapes = tuple(first.shape), tuple(leaf.shape)
    if shapes[0] != shapes[1]:
        raise ShapeError(
            f"Container.stack_keys: {first_name!r} has the shape {shapes[0]}, {name!r} {shapes[1]}, "
            "expected one shape; na.LazyStack(members).pad() stacks arrays of several"
        )
    kinds = [f"{dtype_of(x)} of {backends.backend_of(x)}" for x in (first, leaf)]
    if kinds[0] != kinds[1]:
        raise DtypeError(
            f"Container.stack_keys: {first_name!r} is {kinds[0]}, {name!r} {kinds[1]}, expected one "
            "dtype and backend; use astype or to_backend"
        )


def _joined(*names: str) -> str:
    return "/".join(name for name in names if name)


# -- unstacking -------------------------------------------------------------------------------


def _unstacked(stacked: Container, name: str, keys: Collection[Key] | None) -> list[Container]:
    """The members; their number is the size of the first axis of all arrays."""
    lengths = {}
    for path, leaf in stacked.flat_items():
        if is_array(leaf):
            where = _joined(name, path)
            if not len(leaf.shape):
                raise ShapeError(
                    f"Container.unstack_keys: {where!r} has the shape (), expected a first axis to "
                    "take apart"
                )
            lengths.setdefault(int(leaf.shape[0]), where)
    if len(lengths) > 1:
        (one, first), (other, second), *_ = lengths.items()
        raise ShapeError(
            f"Container.unstack_keys: the first axis of {first!r} has the length {one}, that of "
            f"{second!r} {other}, expected one length"
        )
    if not lengths and keys is None:
        raise StructureError(
            f"Container.unstack_keys: {name!r} has no array whose first axis says how many members "
            "there are; give their keys"
        )
    count = next(iter(lengths), len(keys or ()))
    if keys is not None and (len(keys) != count or len(set(keys)) != count):
        raise ShapeError(
            f"Container.unstack_keys: keys: got {list(keys)!r}, expected {count} different ones, for "
            f"the first axis of {next(iter(lengths.values()), name)!r}"
        )
    columns = [ops.unstack(x) if is_array(x) else (x,) * count for x in stacked.leaves()]
    return [from_leaves(stacked.spec, tuple([c[i] for c in columns])) for i in range(count)]


def _spread(c: Container, path: Key | Path, members: Container) -> Container:
    """`c` with members instead of the node at `path`, among its siblings."""
    *above, _ = own = c.spec.keys_along(path)
    parent = c[tuple(above)] if above else c
    if parent.spec.kind != "dict":
        raise StructureError(
            f"Container.unstack_keys: spread: {join_path(tuple(above))!r} is a {parent.spec.kind}, which "
            "has no names; leave spread=False"
        )
    entries: dict[Key, Any] = {}
    for key in parent.spec.keys:
        if key == own[-1]:
            pairs = [(k, members[(k,)]) for k in members.spec.keys]
        else:
            pairs = [(key, parent[(key,)])]
        for name, value in pairs:
            if name in entries or (key == own[-1] and name in parent.spec.keys and name != key):
                taken = join_path((*above, name))
                raise StructureError(
                    f"Container.unstack_keys: keys: {taken!r} is there already; choose another key"
                )
            entries[name] = value
    new = Container(entries)
    return c.set(tuple(above), new) if above else new
