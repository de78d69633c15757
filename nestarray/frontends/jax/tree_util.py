"""Trees of Python objects, upstream's pytrees.

Upstream: https://docs.jax.dev/en/latest/jax.tree_util.html. Nodes are dicts (sorted by key), lists,
(named) tuples, None, Containers, and instances of registered types; all else is a leaf. The
registry is not JAX's.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from nestarray.container import Container
from nestarray.errors import ArgumentError, StructureError

__all__ = [
    "DictKey", "FlattenedIndexKey", "GetAttrKey", "KeyEntry", "KeyPath", "Partial", "PyTreeDef",
    "SequenceKey", "all_leaves", "flatten_one_level", "flatten_one_level_with_keys", "is_tree_node", "keystr", "register_dataclass",
    "register_pytree_node", "register_pytree_node_class", "register_pytree_with_keys",
    "register_pytree_with_keys_class", "register_static", "tree_all", "tree_broadcast",
    "tree_flatten", "tree_flatten_with_path", "tree_leaves", "tree_leaves_with_path", "tree_map",
    "tree_map_with_path", "tree_reduce", "tree_reduce_associative", "tree_structure",
    "tree_transpose", "tree_unflatten", "treedef_children", "treedef_is_leaf", "treedef_tuple",
]  # fmt: skip

IsLeaf: TypeAlias = Callable[[Any], bool] | None
KeyEntry: TypeAlias = Any
KeyPath: TypeAlias = tuple[Any, ...]
_NONE = object()


# -- keys of paths ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The place of an item of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclasses.dataclass(frozen=True)
class DictKey:
    """The key of an item of a dict or Container."""

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclasses.dataclass(frozen=True)
class FlattenedIndexKey:
    """The number of a child of a node whose type is registered without keys."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """The text of a path: ``"['a'][0].b"``, or ``"a/0/b"`` of simple keys."""
    return separator.join([_simple(key) if simple else str(key) for key in keys])


def _simple(key: Any) -> str:
    fields = dataclasses.fields(key) if dataclasses.is_dataclass(key) else ()
    return str(getattr(key, fields[0].name)) if fields else str(key)


# -- types of nodes --------------------------------------------------------------------------


class _Node(NamedTuple):
    """How values of a type are taken apart: (keys, children, data), and put together."""

    flatten: Callable[[Any], tuple[Sequence[Any], Sequence[Any], Any]]
    unflatten: Callable[[Any, Sequence[Any]], Any]


def _of_dict(x: Any) -> tuple[Sequence[Any], Sequence[Any], Any]:
    try:
        keys = sorted(x)
    except TypeError:
        raise ArgumentError(
            f"tree: got a dict with the keys {list(x)!r}, expected keys that can be sorted"
        ) from None
    return [DictKey(k) for k in keys], [x[k] for k in keys], tuple(keys)


def _of_sequence(x: Any) -> tuple[Sequence[Any], Sequence[Any], Any]:
    return [SequenceKey(i) for i in range(len(x))], list(x), None


_NODES: dict[type, _Node] = {
    dict: _Node(_of_dict, lambda keys, children: dict(zip(keys, children, strict=True))),
    list: _Node(_of_sequence, lambda _, children: list(children)),
    tuple: _Node(_of_sequence, lambda _, children: tuple(children)),
    type(None): _Node(lambda _: ([], [], None), lambda _, children: None),
    OrderedDict: _Node(
        lambda x: ([DictKey(k) for k in x], list(x.values()), tuple(x)),
        lambda keys, children: OrderedDict(zip(keys, children, strict=True)),
    ),
    defaultdict: _Node(
        lambda x: (*_of_dict(x)[:2], (x.default_factory, _of_dict(x)[2])),
        lambda data, children: defaultdict(data[0], zip(data[1], children, strict=True)),
    ),
    Container: _Node(
        lambda c: ([DictKey(k) for k in c], [c[k] for k in c], tuple(c)),
        lambda keys, children: Container(dict(zip(keys, children, strict=True))),
    ),
}  # fmt: skip


def _node_of(cls: type) -> _Node | None:
    """The node of a type; named tuples and subclasses of Container have one too."""
    found = _NODES.get(cls)
    if found is not None or not issubclass(cls, (tuple, Container)):
        return found
    if issubclass(cls, Container):
        return _NODES[Container]
    if not hasattr(cls, "_fields"):
        return None
    return _Node(
        lambda x: ([GetAttrKey(name) for name in x._fields], list(x), None),
        lambda _, children: cls(*children),
    )


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Any, Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Any, Any]] | None = None,
) -> None:
    """Make values of a type nodes; `flatten_func` returns (children, data)."""

    def flatten(x: Any) -> tuple[Sequence[Any], Sequence[Any], Any]:
        if flatten_with_keys_func is not None:
            pairs, data = flatten_with_keys_func(x)
            pairs = list(pairs)
            return [k for k, _ in pairs], [c for _, c in pairs], data
        children, data = flatten_func(x)
        children = list(children)
        return [FlattenedIndexKey(i) for i in range(len(children))], children, data

    _register(nodetype, _Node(flatten, lambda data, xs: unflatten_func(data, tuple(xs))))


def _register(cls: type, node: _Node) -> None:
    if cls in _NODES:
        raise ArgumentError(f"register: got {cls.__name__}, which is already a type of nodes")
    _NODES[cls] = node


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Any, Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Any, Any]] | None = None,
) -> None:
    """Make values of a type nodes; `flatten_with_keys` returns ((key, child) pairs, data)."""
    register_pytree_node(nodetype, flatten_func or _refused, unflatten_func, flatten_with_keys)


def _refused(x: Any) -> tuple[Any, Any]:
    raise ArgumentError("register_pytree_with_keys: flatten_func: got None")


def register_pytree_node_class(cls: type) -> type:
    """`register_pytree_node` with the methods ``tree_flatten`` and ``tree_unflatten``."""
    register_pytree_node(cls, lambda x: x.tree_flatten(), cls.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls: type) -> type:
    """`register_pytree_with_keys` with ``tree_flatten_with_keys`` and ``tree_unflatten``."""
    register_pytree_with_keys(cls, lambda x: x.tree_flatten_with_keys(), cls.tree_unflatten)
    return cls


def register_dataclass(
    nodetype: type,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> type:
    """Make values of a dataclass nodes: `data_fields` are children, `meta_fields` are data."""
    if data_fields is None or meta_fields is None:
        fields = [f for f in dataclasses.fields(nodetype) if f.init and f.name not in drop_fields]
        data_fields = [f.name for f in fields if not f.metadata.get("static", False)]
        meta_fields = [f.name for f in fields if f.metadata.get("static", False)]
    data, meta = tuple(data_fields), tuple(meta_fields)

    def flatten(x: Any) -> tuple[Any, Any]:
        children = [(GetAttrKey(name), getattr(x, name)) for name in data]
        return children, tuple([getattr(x, name) for name in meta])

    def unflatten(values: Any, children: Any) -> Any:
        return nodetype(**dict(zip((*meta, *data), (*values, *children), strict=True)))

    register_pytree_with_keys(nodetype, flatten, unflatten)
    return nodetype


def register_static(cls: type) -> type:
    """Make values of a type nodes without children: part of the structure."""
    register_pytree_node(cls, lambda x: ((), x), lambda x, _: x)
    return cls


def is_tree_node(typ: type) -> bool:
    """Whether values of a type are nodes."""
    return _node_of(typ) is not None


class Partial(functools.partial):
    """A `functools.partial` whose arguments are children and whose function is data."""


register_pytree_node(
    Partial,
    lambda x: ((x.args, x.keywords), x.func),
    lambda function, parts: Partial(function, *parts[0], **parts[1]),
)


# -- structures ------------------------------------------------------------------------------


class PyTreeDef:
    """The structure of a tree: the type and data of a node and its children; None for a leaf."""

    def __init__(self, node: type | None, data: Any, children: Sequence[PyTreeDef]) -> None:
        self._node, self._data = node, data
        self._children: tuple[PyTreeDef, ...] = tuple(children)
        self.num_leaves = 1 if node is None else sum(c.num_leaves for c in self._children)
        self.num_nodes = 1 + sum(c.num_nodes for c in self._children)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, PyTreeDef):
            return NotImplemented
        return self._is_node_of(other) and self._children == other._children

    def _is_node_of(self, other: PyTreeDef) -> bool:
        same = self._node is other._node and self._data == other._data
        return same and len(self._children) == len(other._children)

    def __hash__(self) -> int:
        return hash((self._node, self._data, self._children))

    def __repr__(self) -> str:
        return f"PyTreeDef({self._text()})"

    def _text(self) -> str:
        parts = [child._text() for child in self._children]
        if self._node is None or self._node is type(None):
            return "*" if self._node is None else "None"
        if self._node is list:
            return f"[{', '.join(parts)}]"
        if self._node is tuple:
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if self._node is dict:
            pairs = zip(self._data, parts, strict=True)
            return "{" + ", ".join([f"{key!r}: {part}" for key, part in pairs]) + "}"
        return f"CustomNode({self._node.__name__}[{self._data}], [{', '.join(parts)}])"

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree with these leaves."""
        found = list(leaves)
        if len(found) != self.num_leaves:
            raise StructureError(
                f"unflatten: leaves: got {len(found)}, expected {self.num_leaves} for {self!r}"
            )
        return self._built(iter(found))

    def _built(self, leaves: Any) -> Any:
        if self._node is None:
            return next(leaves)
        node = _node_of(self._node)
        assert node is not None
        return node.unflatten(self._data, [c._built(leaves) for c in self._children])

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of a tree at the leaves of this structure."""
        if self._node is None:
            return [tree]
        part = _taken(tree)
        if part is None or not self._is_node_of(
            PyTreeDef(type(tree), part[2], [_LEAF] * len(part[1]))
        ):
            raise StructureError(f"tree: got {_described(tree)}, expected the structure {self!r}")
        pairs = zip(self._children, part[1], strict=True)
        return [leaf for child, value in pairs for leaf in child.flatten_up_to(value)]

    def children(self) -> list[PyTreeDef]:
        """The structures of the children."""
        return list(self._children)

    def node_data(self) -> tuple[type, Any] | None:
        """(type, data) of the node; None for a leaf."""
        return None if self._node is None else (self._node, self._data)


_LEAF = PyTreeDef(None, None, ())


def _described(tree: Any) -> str:
    return f"a {type(tree).__name__}" if _taken(tree) is None else repr(tree_structure(tree))


def _taken(tree: Any) -> tuple[Sequence[Any], Sequence[Any], Any] | None:
    node = _node_of(type(tree))
    return None if node is None else node.flatten(tree)


def flatten_one_level(tree: Any) -> tuple[Sequence[Any], Any]:
    """(children, data) of a node."""
    _, children, data = _taken_or_refused(tree)
    return tuple(children), data


def flatten_one_level_with_keys(tree: Any) -> tuple[Sequence[tuple[Any, Any]], Any]:
    """((key, child) pairs, data) of a node."""
    keys, children, data = _taken_or_refused(tree)
    return tuple(zip(keys, children, strict=True)), data


def _taken_or_refused(tree: Any) -> tuple[Sequence[Any], Sequence[Any], Any]:
    found = _taken(tree)
    if found is None:
        raise ArgumentError(f"flatten_one_level: tree: got {_described(tree)}, expected a node")
    return found


def _flattened(
    tree: Any,
    is_leaf: Callable[..., bool] | None,
    path: KeyPath,
    leaves: list[Any],
    takes_path: bool,
) -> PyTreeDef:
    if is_leaf is not None and (is_leaf(path, tree) if takes_path else is_leaf(tree)):
        part = None
    else:
        part = _taken(tree)
    if part is None:
        leaves.append((path, tree))
        return _LEAF
    keys, values, data = part
    children = [
        _flattened(value, is_leaf, (*path, key), leaves, takes_path)
        for key, value in zip(keys, values, strict=True)
    ]
    return PyTreeDef(type(tree), data, children)


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """((path, leaf) pairs, structure)."""
    leaves: list[Any] = []
    structure = _flattened(tree, is_leaf, (), leaves, is_leaf_takes_path)
    return leaves, structure


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """(leaves, structure)."""
    pairs, structure = tree_flatten_with_path(tree, is_leaf)
    return [leaf for _, leaf in pairs], structure


def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of a structure and its leaves."""
    return treedef.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The (path, leaf) pairs."""
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """``f(leaf, *other_leaves)`` for each leaf, and the parts of the other trees at its place."""
    leaves, structure = tree_flatten(tree, is_leaf)
    others = [structure.flatten_up_to(other) for other in rest]
    return structure.unflatten([f(*row) for row in zip(leaves, *others, strict=True)])


def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """``f(path, leaf, *other_leaves)`` for each leaf."""
    pairs, structure = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [structure.flatten_up_to(other) for other in rest]
    rows = zip(pairs, *others, strict=True)
    return structure.unflatten([f(*pair, *other) for pair, *other in rows])


def tree_reduce(
    function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _NONE, is_leaf: IsLeaf = None
) -> Any:
    """The leaves combined by a function, from the first to the last."""
    leaves = tree_leaves(tree, is_leaf)
    return functools.reduce(function, leaves, *(() if initializer is _NONE else (initializer,)))


def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _NONE,
    is_leaf: IsLeaf = None,
) -> Any:
    """The leaves combined by an associative function, in pairs."""
    leaves = tree_leaves(tree, is_leaf)
    if not leaves and identity is _NONE:
        raise ArgumentError("tree_reduce_associative: tree: got no leaves, expected identity= too")
    while len(leaves) > 1:
        pairs = [operation(a, b) for a, b in zip(leaves[::2], leaves[1::2], strict=False)]
        leaves = [*pairs, *leaves[2 * len(pairs) :]]
    return leaves[0] if leaves else identity


def tree_all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are true."""
    return all(tree_leaves(tree, is_leaf))


def tree_broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree like `full_tree` with the leaves of a prefix of it."""
    leaves, structure = tree_flatten(prefix_tree, is_leaf)
    parts = structure.flatten_up_to(full_tree)
    pairs = zip(leaves, parts, strict=True)
    return structure.unflatten(
        [tree_map(lambda _, x=x: x, part, is_leaf=is_leaf) for x, part in pairs]
    )


def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """A tree of trees, with the inner structure as the outer one."""
    parts = outer_treedef.flatten_up_to(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(parts[0])
    columns = zip(*[inner_treedef.flatten_up_to(part) for part in parts], strict=True)
    return inner_treedef.unflatten([outer_treedef.unflatten(column) for column in columns])


def all_leaves(iterable: Iterable[Any], is_leaf: IsLeaf = None) -> bool:
    """Whether no element is a node."""
    return all((is_leaf is not None and is_leaf(x)) or _taken(x) is None for x in iterable)


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children."""
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether the structure is a leaf."""
    return treedef.node_data() is None


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple."""
    children = tuple(treedefs)
    return PyTreeDef(tuple, None, children)
