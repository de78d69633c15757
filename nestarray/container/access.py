"""Lookup in Containers and alignment of their leaves: pure functions on (spec, leaves) pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from numbers import Integral
from operator import index as _as_integer
from typing import Any

from nestarray.container.arguments import check_mapping, check_separator
from nestarray.container.leaf import REMOVED
from nestarray.container.spec import (
    LEAF,
    Spec,
    explain_mismatch,
    make_spec,
    nearest_key,
)
from nestarray.errors import ArgumentError, StructureError
from nestarray.errors.unknown_names import nearest_name, suggestion

Leaves = tuple[Any, ...]


# -- lookup -----------------------------------------------------------------------------------


def is_leaf_index(spec: Spec, key: Any) -> bool:
    """Whether ``c[key]`` indexes every leaf: slices, arrays, … and integers that are not keys.

    A tuple is a path if it contains a string, or starts with an integer that can be a key.
    """
    if isinstance(key, tuple):
        if any(isinstance(k, str) for k in key):
            return False
        return not (key and all(isinstance(k, Integral) for k in key)) or is_leaf_index(
            spec, key[0]
        )
    if isinstance(key, str):
        return False
    if isinstance(key, Integral):
        return not any(isinstance(k, int) for k in spec.keys) and str(key) not in spec.index
    return True


def bare(value: Any) -> Any:
    """`value` with each Container of one bare array replaced by the array, in sequences too."""
    if getattr(value, "_spec", None) is LEAF:
        return value._leaves[0]
    if type(value) in (list, tuple):
        return type(value)([bare(item) for item in value])
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*[p if p is None or type(p) is int else _number(p) for p in parts])
    return value


def _number(part: Any) -> Any:
    """The integer in a Container of one integer, which slices accept."""
    return _as_integer(part) if getattr(part, "_spec", None) is LEAF else part


def _public_names(cls: type) -> list[str]:
    return [name for name in dir(cls) if name[0] != "_"]


def method_suggestion(name: str, cls: type) -> str:
    """The expression to use instead of an unknown method of `cls`, or "".

    Ivy's prefix (``cont_map``) and PyTorch's suffix of in-place methods (``mul_``) are ignored.
    """
    plain = name.removeprefix("cont_").removesuffix("_")
    found = suggestion("Container", name) or suggestion("Container", plain)
    if not found and name[0] != "_":
        op = (suggestion("nestarray", plain) or plain).removeprefix("na.")
        if op != name and hasattr(cls, op):
            found = f"c.{op}(…)"
    return f"c = {found}" if name[-1] == "_" and found.startswith(("c.", "na.")) else found


def class_attribute_message(name: str, cls: type) -> str:
    """The message for ``Container.name`` if the class has no such attribute."""
    text = f"type object {cls.__name__!r} has no attribute {name!r}"
    if instead := method_suggestion(name, cls):
        return f"{text}; use {instead}"
    near = nearest_name(name, _public_names(cls))
    return f"{text}; did you mean {near!r}?" if near is not None else text


def attribute_message(spec: Spec, name: str, cls: type) -> str:
    """The message for ``c.name`` if there is neither a method of `cls` nor a key of that name."""
    hint = nearest_key(name, spec.keys)
    if instead := method_suggestion(name, cls):
        hint = f"; use {instead}"
    elif nearest_name(name, map(str, spec.keys)) is None:
        near = nearest_name(name, _public_names(cls), cutoff=0.8)
        hint = hint if near is None else f"; did you mean c.{near}?"
    return f"Container has no key or method {name!r}{hint}"


def to_plain(spec: Spec, leaves: Iterator[Any]) -> Any:
    """Nested dicts, lists and tuples from a spec and an iterator of leaves."""
    if spec.kind == "leaf":
        return next(leaves)
    values = map(to_plain, spec.children, repeat(leaves))
    if spec.kind == "list":
        return list(values)
    return tuple(values) if spec.kind == "tuple" else dict(zip(spec.keys, values, strict=True))


def nest_flat(flat: Mapping[str, Any], sep: str, lists: bool) -> tuple[Spec, Leaves]:
    """Spec and leaves of ``{"a/b": x}`` split at `sep`; keys of one node are grouped."""
    where = "Container.from_flat_dict"
    check_mapping(where, "flat", flat, "names to leaves")
    check_separator(where, sep)
    tree: dict[str, Any] = {}
    for name, leaf in flat.items():
        if not isinstance(name, str):
            raise ArgumentError(f"{where}: flat: got the name {name!r}, expected a string")
        *front, last = name.split(sep)
        node = tree
        for key in front:
            node = node.setdefault(key, {})
            if not isinstance(node, dict):
                raise StructureError(f"{where}: {name!r} goes below {key!r}, which is a leaf")
        if last in node:
            raise StructureError(f"{where}: {name!r} is a leaf and also a node")
        node[last] = (leaf,)  # boxed: a leaf may itself be a dict
    leaves: list[Any] = []

    def walk(node: Any) -> Spec:
        if isinstance(node, tuple):
            leaves.append(node[0])
            return LEAF
        numbers = tuple(map(str, range(len(node)))) if lists else ()
        if numbers and set(numbers) == set(node):
            members = tuple(map(walk, [node[n] for n in numbers]))
            return make_spec("list", tuple(range(len(members))), members)
        return make_spec("dict", tuple(node), tuple(map(walk, node.values())))

    return walk(tree), tuple(leaves)


# -- alignment --------------------------------------------------------------------------------


def align_leaves(spec: Spec, other: Any, caller: str) -> Leaves:
    """The leaves of `other` in the order of `spec`, one for each leaf.

    A Container of the same keys is matched by key. A leaf of a prefix Container (at a node of
    `spec`) is repeated for the whole subtree. Any value other than a Container is repeated for
    every leaf.
    """
    other_spec = getattr(other, "_spec", None)
    if not isinstance(other_spec, Spec):
        return (other,) * spec.num_leaves
    if other_spec is spec:
        return other._leaves
    order = other_spec.permutation_to(spec)
    if order is not None:
        return tuple([other._leaves[i] for i in order])
    spread = _spread(other_spec, other._leaves, spec)
    if spread is None:
        raise explain_mismatch(spec, other_spec, caller)
    return tuple(spread)


def _spread(prefix: Spec, leaves: Leaves, spec: Spec) -> list[Any] | None:
    if prefix.kind == "leaf":
        return [leaves[0]] * spec.num_leaves
    if set(prefix.keys) != set(spec.keys) or spec.kind == "leaf":
        return None
    result: list[Any] = []
    for key, child in zip(spec.keys, spec.children, strict=True):
        start, stop, own = prefix.index[key]
        part = _spread(own, leaves[start:stop], child)
        if part is None:
            return None
        result.extend(part)
    return result


def keeping_removed(
    function: Callable[..., Any], leaves: Leaves, with_path: bool = False
) -> Callable[..., Any]:
    """`function` of rows of leaves, which returns a leaf of a type in `REMOVED` unchanged."""
    if REMOVED.isdisjoint(map(type, leaves)):
        return function
    place = 1 if with_path else 0
    return lambda *row: row[place] if type(row[place]) in REMOVED else function(*row)


def map_leaves(spec: Spec, function: Callable[..., Any], columns: Sequence[Any]) -> Leaves:
    """``map`` over columns, of which at least one is a tuple; errors include the path of the leaf.

    Example:
        >>> import nestarray as na
        >>> spec = na.Container(a=1, b=2).spec
        >>> map_leaves(spec, max, [(1, 2), (5, 0)])
        (5, 2)
    """
    done = None
    rows = list(columns)
    for position, column in enumerate(rows):
        if column.__class__ is tuple:
            done = rows[position] = iter(column)
            break
    try:
        results = tuple(map(function, *rows))
    except Exception as error:
        if done is not None and spec.kind != "leaf":  # the rest of the iterator gives the position
            index = spec.num_leaves - done.__length_hint__() - 1
            error.add_note(f"at the Container path {spec.path_names[index]!r}")
        raise
    if (
        len(results) != spec.num_leaves
    ):  # a StopIteration from `function` would end the map silently
        raise RuntimeError(
            f"a function raised StopIteration at the Container path {spec.path_names[len(results)]!r}"
        )
    return results
