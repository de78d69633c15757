"""`Container`, the central type of the library.

A Container is an interned `Spec` and one flat tuple of leaves in depth-first order. A
sub-container is a child spec and a slice of the tuple; a modified Container is a new spec or a
new tuple. Nothing is modified in place. `nestarray.ops` attaches its functions of arrays as
methods and operators, so this file does not depend on any array framework.
"""

from __future__ import annotations

import threading
from abc import ABCMeta
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from contextlib import nullcontext
from copy import deepcopy
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar, overload

from nestarray.container import access, arguments, changes, joins
from nestarray.container.building import Parts, build, spliced
from nestarray.container.leaf import REMOVED, itemsize, size
from nestarray.container.spec import LEAF, Key, Path, Spec, make_spec
from nestarray.dynamo import is_compiling, traced_as
from nestarray.errors import ArgumentError, ImmutableError, PathError, StructureError
from nestarray.errors.signatures import signature_errors
from nestarray.errors.unknown_names import unknown_attribute

if TYPE_CHECKING:
    import typing_extensions

    # methods that other files attach: a stub that tools/stubs.py generates
    from nestarray.container.attached import Attached  # pyright: ignore[reportMissingModuleSource]

    # without a parameter, leaves are Any; strict checkers would report an unknown type
    Leaf = typing_extensions.TypeVar("Leaf", covariant=True, default=Any)
else:
    Attached = Mapping
    Leaf = TypeVar("Leaf", covariant=True)
New = TypeVar("New")  # the type of the leaves that a function returns


_NOTHING: Mapping[Any, Any] = MappingProxyType({})
_NO_VALUE: Any = object()
_replacing = threading.RLock()


class _ContainerType(ABCMeta):
    """The metaclass of `Container`; suggests our constructor for one of another library."""

    if not TYPE_CHECKING:  # type checkers would accept any constructor

        def __getattr__(cls, name: str) -> NoReturn:
            if name[:1] == "_":  # tools probe private names
                raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
            raise unknown_attribute(lambda: access.class_attribute_message(name, cls), name)


class _Reversible:
    """A view with `reversed`, as the views of a dict."""

    __slots__ = ()

    def __reversed__(self: Any) -> Iterator[Any]:
        return reversed(tuple(self))


class _Keys(_Reversible, KeysView[Key]):
    """The keys of a node, with a readable repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Keys({list(self)!r})"


class _Values(_Reversible, ValuesView[Any]):
    """The leaf or sub-container at each key of a node."""

    __slots__ = ()


class _Items(_Reversible, ItemsView[Key, Any]):
    """(key, leaf or sub-container) pairs of a node."""

    __slots__ = ()


class Container(Parts, Attached[Leaf], metaclass=_ContainerType):
    """An immutable nested mapping of native arrays; a pytree to every framework.

    **Look up** by key, path or attribute: ``c["a"]["w"]``, ``c["a/w"]``, ``c["a", "w"]``,
    ``c.a.w``. Keys may be empty or contain slashes, as long as no two paths have one name.
    Any other index applies to every leaf: ``c[0]``, ``c[:, 2:5]``.

    **Modify** a copy that shares all unchanged leaves: ``c.set("a/w", x)``,
    ``c.at["**/w"].multiply(2)``, ``c.update(…)``, ``c.delete("b")``, ``c.rename({"a": "x"})``,
    ``c.move``, ``c.insert``, ``c.restructure``. Assignment raises an error that names the method.

    **Select** by patterns of paths, types, dtypes, shapes or predicates: ``c.select("**/bias")``,
    ``c.exclude(dtype="integral")``; ``c.partition(…)`` returns both parts, and ``combine`` merges
    them.

    **Compute** with any function of arrays: every op accepts arrays and Containers, and is also
    a method of Container. Leaves match by key, never by position. A number or an array applies
    to all leaves, a leaf of a prefix tree to the whole subtree. Different keys raise an error,
    except with ``join="inner"`` or ``"outer"`` in `map` and `align`. ``c.map(fn)`` applies any
    function to each leaf; ``tree_sum``, ``tree_norm`` and others reduce over all leaves.

    **Save and compare**: ``c.save("m.safetensors")`` and ``Container.load``; ``c.diff(d)``,
    ``c.patch``, ``base.merge(ours, theirs)``, and ``c.match(other)`` for trees with other names.
    The repr fits the terminal; ``c.summary()`` and ``c.plot()`` show more.

    Args:
        tree: a mapping, an iterator of (key, value) pairs, a list, a tuple, another
            Container, or one bare array. Nested mappings, lists and tuples become nodes, named
            tuples with their fields as keys; anything else is a leaf. Other constructors convert
            the trees of frameworks: ``Container.from_torch_module``, ``from_flax``,
            ``from_pytree``, ….
        **entries: further top-level entries.

    Raises:
        StructureError: a key is neither a string nor an integer, two paths have one name
            (``{"a/b": 1, "a": {"b": 2}}``, ``{1: 2, "1": 3}``), or `tree` contains itself.
        ArgumentError: an item of an iterator is not a pair.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a={"w": np.ones((2, 3))}, b=np.zeros(4))
        >>> c
        Container(2 leaves, 10 elements, numpy)
          a
            w  f64[2, 3]
          b    f64[4]
        >>> c["a/w"].shape, c.a.w.shape
        ((2, 3), (2, 3))
        >>> (c * 2 + 1).b
        array([1., 1., 1., 1.])
        >>> na.mean(c, axis=0).a.w, c.tree_sum()
        (array([1., 1., 1.]), np.float64(6.0))
        >>> c.set("a/bias", np.zeros(3)).select("a").paths()
        ('a/w', 'a/bias')
        >>> c.map(lambda x: x.size).to_dict()
        {'a': {'w': 6}, 'b': 4}

    For type checkers it is generic in the type of its leaves, ``Container[np.ndarray]``:
    changes of structure keep that type, and ``c.map(len)`` is a ``Container[int]``. The type of
    ``c["a"]``, a leaf or a tree, is ``Any``.
    """

    #: `na.getitem` and `na.setitem`, attached by nestarray.ops
    _take_part: ClassVar[Callable[..., Any]]
    _replace_part: ClassVar[Callable[..., Any]]
    #: the names of the ops among the methods
    _ops: ClassVar[frozenset[str]] = frozenset()
    #: the class of fused Containers, and its constructor; set by nestarray.container.fused
    _fused: ClassVar[type]
    _composed: ClassVar[Callable[..., Any]]

    __slots__ = ()

    _kind: ClassVar[str] = "dict"

    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]  # == is elementwise, as for arrays

    def __new__(cls, tree: Any = _NOTHING, /, **entries: Any) -> Container[Leaf]:
        if tree.__class__ is cls._fused and not entries:
            return tree
        own = tree if tree.__class__ is dict else {}
        if any(value.__class__ is cls._fused for value in chain(own.values(), entries.values())):
            is_all = tree is own or tree is _NOTHING
            if is_all and own.keys().isdisjoint(entries):
                return cls._composed(cls._kind, own | entries)
        spec, leaves = build(tree, cls._kind)
        if spec is LEAF and not hasattr(tree, "shape"):
            arguments.check_no_record(tree)
        if entries:
            if spec.kind == "leaf":
                raise StructureError("Container: a bare array cannot have keyword entries too")
            parts = [(k, *spec.index[k]) for k in spec.keys if k not in entries]
            built = {k: build(v) for k, v in entries.items()}
            own = [leaf for _, start, stop, _ in parts for leaf in leaves[start:stop]]
            leaves = (*own, *(leaf for _, ls in built.values() for leaf in ls))
            keys = (*(p[0] for p in parts), *built)
            spec = make_spec(
                "dict", keys, (*(p[3] for p in parts), *(s for s, _ in built.values()))
            )
        return from_leaves(spec, leaves)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise ImmutableError(
            f"Container is immutable: instead of c.{name} = …, use c = c.set({name!r}, …)"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise ImmutableError(
            f"Container is immutable: instead of del c.{name}, use c = c.delete({name!r})"
        )

    def __setitem__(self, key: Any, value: Any) -> None:
        """Replace the array of a bare array; trees raise an error.

        No memory is modified: this is ``c = na.setitem(c, key, value)``, as the standard's code needs.
        Threads may write into parts of one array.
        """
        if self._spec is LEAF:
            # without the lock, the last of several threads would undo the parts of the others
            with nullcontext() if is_compiling() else _replacing:
                changed = self._replace_part(self._leaves[0], access.bare(key), access.bare(value))
                object.__setattr__(self, "_leaves", (changed,))
                object.__setattr__(self, "_note", None)
            return
        if access.is_leaf_index(self._spec, key):
            raise ImmutableError(
                "Container is immutable: instead of c[index] = …, use c = c.at[index].set(…), with an "
                "array or a number for all leaves, or a tree of parts"
            )
        raise ImmutableError(
            f"Container is immutable: instead of c[{key!r}] = …, use c = c.set({key!r}, …)"
        )

    def __delitem__(self, key: Any) -> NoReturn:
        raise ImmutableError(
            f"Container is immutable: instead of del c[{key!r}], use c = c.delete({key!r})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return from_leaves, (self._spec, self._leaves)

    def __copy__(self) -> Container[Leaf]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Container[Leaf]:
        """A copy with copied leaves; a leaf that occurs twice is copied once."""
        return from_leaves(self._spec, tuple([deepcopy(leaf, memo) for leaf in self._leaves]))

    def _flat(self) -> tuple[tuple[Any, ...], Any]:
        """(arrays, structure): all arrays, and the argument for `rebuild`."""
        return self._leaves, self._spec

    __supported_by_tf_nest__ = True  # read by TensorFlow

    # -- mapping -------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """A leaf or a sub-container by key or ``"a/b"`` path; any other index applies to each leaf."""
        hit = self._spec.index.get(key) if key.__class__ in (str, int) else None
        if hit is None:
            if access.is_leaf_index(self._spec, key):
                return self._take_part(self, access.bare(key))
            hit = self._spec.locate(key)
        start, stop, spec = hit
        return self._leaves[start] if spec is LEAF else from_leaves(spec, self._leaves[start:stop])

    def __getattr__(self, name: str) -> Any:
        hit = self._spec.index.get(name) if name[:2] != "__" else None
        if hit is None:
            if name[:2] == "__":  # protocols probe special names, which are never keys
                raise AttributeError(name)
            spec, own = self._spec, type(self)
            raise unknown_attribute(lambda: access.attribute_message(spec, name, own), name)
        start, stop, spec = hit
        return self._leaves[start] if spec is LEAF else from_leaves(spec, self._leaves[start:stop])

    def __dir__(self) -> list[str]:
        """The keys, and the methods of trees; ops are methods too, but `na` lists them."""
        keys = [str(key) for key in self._spec.keys if str(key).isidentifier()]
        return keys + [name for name in super().__dir__() if name not in self._ops]

    def _ipython_key_completions_(self) -> list[Any]:
        """The keys and paths that notebooks complete in ``c["``."""
        return [*dict.fromkeys((*self._spec.keys, *self._spec.path_names))]

    def __iter__(self) -> Iterator[Any]:
        """The keys; for a bare array, its slices along the first axis."""
        if self._spec is LEAF:
            return map(self.__getitem__, range(len(self)))
        return iter(self._spec.sortable_keys)

    def __reversed__(self) -> Iterator[Any]:
        """The keys, or the slices of a bare array, in reverse order."""
        return reversed(tuple(self))

    @signature_errors()
    def keys(self) -> KeysView[Key]:
        """The keys of this node. The keys of a list are 0, 1, …; `values` iterates its members."""
        if self._spec is LEAF:
            raise _no_keys()
        return _Keys(self)

    @signature_errors()
    def values(self) -> ValuesView[Any]:
        """The leaf or sub-container at each key of this node."""
        if self._spec is LEAF:
            raise _no_keys()
        return _Values(self)

    @signature_errors()
    def items(self) -> ItemsView[Key, Any]:
        """(key, leaf or sub-container) pairs of this node."""
        if self._spec is LEAF:
            raise _no_keys()
        return _Items(self)

    def __len__(self) -> int:
        """The number of keys; for a bare array, the size of its first axis."""
        return len(self._leaves[0] if self._spec is LEAF else self._spec.keys)

    @signature_errors()
    def get(self, key: Any, default: Any = None) -> Any:
        """The leaf or sub-container at a key or path, or `default`; array indices are not accepted."""
        return self[key] if self._has(key) else default

    def __contains__(self, key: object) -> bool:
        """Whether this key or path exists; for a bare array, whether an element has this value."""
        if self._spec is LEAF and not isinstance(key, (str, tuple)):
            return bool((self == key).tree_any())  # type: ignore[attr-defined]
        return self._has(key)

    def _has(self, key: object) -> bool:
        try:
            return self._spec.has(key)  # type: ignore[arg-type]
        except PathError:
            return False

    def __bool__(self) -> bool:
        if self._spec is LEAF:
            return bool(self._leaves[0])
        raise StructureError(
            "Container: the truth value of a tree of arrays is ambiguous; use len(c) for its size, "
            "or c.tree_all() for all elements"
        )

    # -- leaves and structure --------------------------------------------------------------

    @property
    def spec(self) -> Spec:
        """The structure, interned: two Containers match exactly if ``a.spec is b.spec``."""
        return self._spec

    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, depth first; `paths` names them.

        Example:
            >>> import nestarray as na
            >>> na.Container(a={"w": 1, "b": 2}, n=3).leaves()
            (1, 2, 3)
        """
        return self._leaves

    def paths(self) -> tuple[str, ...]:
        """The path of each leaf, ``"a/b/c"``, in leaf order.

        Example:
            >>> import nestarray as na
            >>> na.Container(a={"w": 1, "b": 2}, l=[3]).paths()
            ('a/w', 'a/b', 'l/0')
        """
        return self._spec.path_names

    def flat_items(self) -> Iterator[tuple[str, Leaf]]:
        """(path, leaf) pairs in leaf order.

        Example:
            >>> import nestarray as na
            >>> list(na.Container(a={"w": 1, "b": 2}).flat_items())
            [('a/w', 1), ('a/b', 2)]
        """
        return zip(self._spec.path_names, self._leaves, strict=True)

    @property
    def size(self) -> int:
        """The number of elements in all arrays."""
        return sum(size(leaf) for leaf in self._leaves)

    @property
    def nbytes(self) -> int:
        """The number of bytes of all arrays; repeated arrays count each time."""
        return sum(size(leaf) * itemsize(leaf) for leaf in self._leaves)

    def to_dict(self) -> Any:
        """Plain nested dicts, lists and tuples with the same leaves.

        Example:
            >>> import nestarray as na
            >>> na.Container(a=[1, (2, 3)]).to_dict()
            {'a': [1, (2, 3)]}
        """
        return access.to_plain(self._spec, iter(self._leaves))

    @signature_errors()
    def to_flat_dict(self, sep: str = "/") -> dict[str, Leaf]:
        """``{"a/b": leaf}``, with keys joined by `sep`.

        `from_flat_dict` is the inverse for trees of dicts with strings as keys, without `sep` in a
        key and without empty nodes, which have no leaf. ``tree.flatten`` keeps everything.

        Raises:
            StructureError: two paths become the same name.

        Example:
            >>> import nestarray as na
            >>> na.Container(a={"w": 1, "b": 2}).to_flat_dict(".")
            {'a.w': 1, 'a.b': 2}
        """
        arguments.check_separator("Container.to_flat_dict", sep)
        names = [sep.join(map(str, p)) for p in self._spec.paths]
        flat = dict(zip(names, self._leaves, strict=True))
        if len(flat) != len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise StructureError(
                f"Container.to_flat_dict: two leaves are named {twice!r}; rename one of them with "
                "c.rename(...), or take c.spec.paths and c.leaves()"
            )
        return flat

    @classmethod
    @signature_errors()
    def from_flat_dict(
        cls, flat: Mapping[str, New], sep: str = "/", *, lists: bool = False
    ) -> Container[New]:
        """Nest the entries of `flat` by splitting each name at `sep`; see `to_flat_dict`.

        Entries of one node become adjacent; otherwise order is kept. Numbers in names stay
        strings. With `lists`, nodes whose keys are "0" to "n-1" become lists.

        Raises:
            StructureError: a name is both a leaf and a prefix of another name.

        Example:
            >>> import nestarray as na
            >>> na.Container.from_flat_dict({"a.w": 1, "a.b": 2}, sep=".").to_dict()
            {'a': {'w': 1, 'b': 2}}
        """
        return from_leaves(*access.nest_flat(flat, sep, lists))

    # -- change ----------------------------------------------------------------------------

    def set(self, path: Key | Path | Mapping[Any, Any], value: Any = _NO_VALUE) -> Container[Leaf]:
        """A Container in which `path` holds `value`, new or replaced.

        ``c.at[path].set(x)`` keeps the shape and the dtype of the leaves.

        Args:
            path: a key, ``"a/b"``, or a tuple of keys; missing nodes are created. Or a mapping of
                such paths to values, which are set in its order.
            value: a leaf, or any tree that `Container` accepts; none with a mapping.

        Raises:
            PathError: a path leads through a leaf.
            ArgumentError: `value` is missing, or given with a mapping.

        Example:
            >>> import nestarray as na
            >>> na.Container(a={"w": 1}).set("a/b", 2).set("n", {"c": 3}).to_dict()
            {'a': {'w': 1, 'b': 2}, 'n': {'c': 3}}
            >>> na.Container(a={"w": 1}).set({"a/b": 2, "n": 3}).to_dict()
            {'a': {'w': 1, 'b': 2}, 'n': 3}
        """
        if value is not _NO_VALUE:
            key: Any = path
            return from_leaves(*changes.replaced(self._spec, self._leaves, key, *build(value)))
        if not isinstance(path, Mapping):
            raise ArgumentError(
                f"Container.set: {path!r} has no value; write c.set(path, x) or c.set({{path: x}})"
            )
        result = self
        for place, new in path.items():
            result = result.set(place, new)
        return result

    @signature_errors()
    def update(self, other: Mapping[Any, Any] | None = None, /, **entries: Any) -> Container[Leaf]:
        """A Container with the entries of `other` merged in, nested mappings recursively.

        Args:
            other: a Container, or a mapping of keys to leaves and trees.
            **entries: the same by keyword.

        Raises:
            ArgumentError: `other` is not a mapping.
            StructureError: two paths have one name: keys with slashes are not split, so a new
                key ``"a/b"`` raises an error if the path ``"a"``, ``"b"`` exists. `set` takes paths.

        Example:
            >>> import nestarray as na
            >>> na.Container(a={"w": 1, "b": 2}).update({"a": {"b": 20}}, n=3).to_dict()
            {'a': {'w': 1, 'b': 20}, 'n': 3}
        """
        result = self
        for source in (entries,) if other is None else (other, entries):
            arguments.check_mapping("Container.update", "other", source, "keys to arrays or trees")
            new = source if isinstance(source, Container) else Container(source)
            if not new._spec.num_leaves and not new._spec.keys:
                continue
            if LEAF in (result._spec, new._spec):
                raise StructureError(
                    "Container.update: a bare array has no entries; put it into a tree first, or "
                    "set it at a path"
                )
            spec, leaves = changes.merged(result._spec, result._leaves, new._spec, new._leaves)
            result = from_leaves(spec, leaves)
        return result

    @signature_errors()
    def delete(self, *paths: Key | Path) -> Container[Leaf]:
        """A Container without the given paths; the remaining members of a list are renumbered.

        All paths refer to this Container, before any deletion.

        Raises:
            PathError: a path does not exist.

        Example:
            >>> import nestarray as na
            >>> na.Container(a={"b": 1, "c": 2}, l=[3, 4, 5]).delete("a/b", "l/0", "l/1").to_dict()
            {'a': {'c': 2}, 'l': [5]}
        """
        return from_leaves(*changes.removed(self._spec, self._leaves, paths))

    @signature_errors()
    def rename(self, names: Mapping[Any, Key | Path] | Callable[[Key], Key]) -> Container[Leaf]:
        """A Container with a new key or a new path for the leaf or sub-container at each path.

        Args:
            names: path → new last key, or new path: a string with a slash, or a tuple of keys.
                All paths on the left refer to this Container, so that names can be swapped. An
                entry that moves to another node becomes its last one. A key with slashes, as
                Haiku has, stays one key. Or a function from each key of a dict in the tree to its
                new key.

        Raises:
            PathError: a path does not exist, or a new path leads through a leaf.
            StructureError: two entries would have the same path.

        Example:
            >>> import nestarray as na
            >>> na.Container(a=1, b={"c": 2}).rename({"a": "b", "b": "a", "b/c": "d"}).to_dict()
            {'b': 1, 'a': {'d': 2}}
            >>> na.Container(a={"b": 1, "c": 2}).rename({"a/b": "a/w", "a/c": "d/c"}).paths()
            ('a/w', 'd/c')
            >>> na.Container(Dense_0={"kernel": 1}).rename(str.lower).paths()
            ('dense_0/kernel',)
        """
        if not callable(names):
            entries = "paths to new keys, or a function of a key"
            arguments.check_mapping("Container.rename", "names", names, entries)
        return from_leaves(*changes.renamed(self._spec, self._leaves, names))

    @signature_errors()
    def combine(self, *others: Container[New]) -> Container[Leaf | New]:
        """The union of Containers without a common leaf; the inverse of `partition`.

        Keys have the order of this Container, then of the others. Nodes without leaves that
        `partition` left out are lost.

        Raises:
            StructureError: a path is in both, or two paths have one name (``a/b`` as two keys
                and as one key with a slash).

        Example:
            >>> import nestarray as na
            >>> na.Container(a={"w": 1}).combine(na.Container(a={"b": 2})).to_dict()
            {'a': {'w': 1, 'b': 2}}
        """
        spec, leaves = self._spec, self._leaves
        for i, other in enumerate(others):
            arguments.check_container("Container.combine", f"others[{i}]", other)
            spec, leaves = changes.merged(spec, leaves, other._spec, other._leaves, disjoint=True)
        return from_leaves(spec, leaves)

    # -- map and reduce --------------------------------------------------------------------

    @overload
    def map(self, fn: Callable[[Leaf], New], /) -> Container[New]: ...
    @overload
    def map(
        self, fn: Callable[[str, Leaf], New], /, *, with_path: Literal[True]
    ) -> Container[New]: ...
    @overload
    def map(
        self,
        fn: Callable[..., New],
        *others: Any,
        with_path: bool = False,
        join: str | None = None,
        fill: Any = None,
    ) -> Container[New]: ...
    @signature_errors()
    def map(
        self,
        fn: Callable[..., New],
        *others: Any,
        with_path: bool = False,
        join: str | None = None,
        fill: Any = None,
    ) -> Container[New]:
        """Apply `fn` to each leaf, together with the matching leaves of `others`.

        ``optax.MaskedNode`` is kept, as by ``jax.tree.map``. None is a leaf.

        Args:
            fn: ``fn(leaf, *other_leaves)``, or ``fn(path, leaf, …)`` under `with_path`.
            *others: Containers of the same keys, prefix Containers, or values for all leaves.
            with_path: pass the path, ``"a/b"``, as first argument.
            join: for Containers of different keys: ``"inner"`` (the paths that all have),
                ``"outer"`` (the paths of any) or ``"left"`` (the paths of this one).
            fill: the argument for a missing leaf.

        Returns:
            a Container with the results as leaves; a result that is a Container becomes a
            sub-container.

        Raises:
            StructureError: a Container in `others` does not match, without `join`.

        Example:
            >>> import nestarray as na
            >>> a, b = na.Container(x=1, y=2), na.Container(y=20, x=10, z=30)
            >>> a.map(lambda x, y: x + y, b, join="outer", fill=0).to_dict()
            {'x': 11, 'y': 22, 'z': 30}
        """
        arguments.check_function("Container.map", "fn", fn, "fn(leaf)")
        if join is not None:
            return self._map_joined(fn, others, with_path, join, fill)
        columns = [
            self._leaves,
            *(access.align_leaves(self._spec, o, "Container.map") for o in others),
        ]
        if with_path:
            columns.insert(0, self._spec.path_names)
        fn = access.keeping_removed(fn, self._leaves, with_path)
        return from_results(self._spec, access.map_leaves(self._spec, fn, columns))

    def _map_joined(
        self, fn: Callable[..., New], others: tuple[Any, ...], with_path: bool, join: str, fill: Any
    ) -> Container[New]:
        trees = [(o._spec, o._leaves) for o in (self, *others) if isinstance(o, Container)]
        spec, joined = joins.joined(trees, join, "Container.map")
        found = iter([tuple([fill if x is joins.MISSING else x for x in c]) for c in joined])
        columns = [
            next(found) if isinstance(o, Container) else (o,) * spec.num_leaves
            for o in (self, *others)
        ]
        if with_path:
            columns.insert(0, spec.path_names)
        fn = access.keeping_removed(fn, columns[with_path], with_path)
        return from_results(spec, access.map_leaves(spec, fn, columns))

    @signature_errors()
    def reduce(self, fn: Callable[[New, Leaf], New], initial: New) -> New:
        """``fn(…fn(fn(initial, leaf0), leaf1)…)`` over the leaves in order.

        Example:
            >>> import nestarray as na
            >>> na.Container(a=1, b=[2, 3]).reduce(lambda total, leaf: total + leaf, 0)
            6
        """
        arguments.check_function("Container.reduce", "fn", fn, "fn(reduction, leaf)")
        for leaf in self._leaves:
            if type(leaf) not in REMOVED:
                initial = fn(initial, leaf)
        return initial


def _no_keys() -> ArgumentError:  # libraries that iterate mappings would drop the array
    return ArgumentError("Container: a bare array has no keys; its array is c.leaves()[0]")


class ListContainer(Container[Leaf]):
    """A node that was created from a list; `to_dict` returns a list."""

    __slots__ = ()
    _kind = "list"


class TupleContainer(Container[Leaf]):
    """A node that was created from a tuple; `to_dict` returns a tuple."""

    __slots__ = ()
    _kind = "tuple"


_CLASSES = {
    "dict": Container, "leaf": Container, "list": ListContainer, "tuple": TupleContainer,
    "part of list": Container, "part of tuple": Container,
}  # fmt: skip


def _traceable_from_leaves(spec: Spec, leaves: Iterable[New], note: Any = None) -> Container[New]:
    self = object.__new__(_CLASSES[spec.kind])
    object.__setattr__(self, "_spec", spec)
    object.__setattr__(self, "_leaves", leaves if leaves.__class__ is tuple else tuple(leaves))
    object.__setattr__(self, "_note", note)
    return self


@traced_as(_traceable_from_leaves)
def from_leaves(spec: Spec, leaves: Iterable[New], note: Any = None) -> Container[New]:
    """The Container of a spec and its leaves in depth-first order.

    Setting attributes is slow on a class that forbids assignment, so the object is created as a
    `Parts` and its class is changed at the end. torch.compile cannot trace that.
    """
    self: Any = Parts()
    self._spec = spec
    self._leaves = leaves if leaves.__class__ is tuple else tuple(leaves)
    self._note = note
    self.__class__ = _CLASSES[spec.kind]
    return self


def from_results(spec: Spec, results: tuple[New, ...]) -> Container[New]:
    """`from_leaves`, where Containers among the results become sub-containers."""
    if any(issubclass(kind, Container) for kind in set(map(type, results))):
        return from_leaves(*spliced(spec, results))
    return from_leaves(spec, results)


def rebuild(structure: Any, arrays: Iterable[New]) -> Container[New]:
    """The Container of a structure and arrays, as returned by `Container._flat`."""
    if structure.__class__ is Spec:
        return from_leaves(structure, arrays)
    return structure.build(tuple(arrays))
