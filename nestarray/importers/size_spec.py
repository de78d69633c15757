"""`SizeSpec`: the sizes of a source's inputs that a caller leaves open, ``dynamic=``.

The specification names axes of the example: ``{"x": {0: "batch"}}``. Equal names are equal
sizes. In place of a name may stand an object of the source's framework that describes a size,
such as ``torch.export.Dim``; only the importer of that framework reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from nestarray.backends import is_array
from nestarray.container import Container
from nestarray.errors import ArgumentError, ConversionError, ShapeError
from nestarray.graph.binding import argument_names
from nestarray.graph.sizes import check_name

#: An argument as Python writes it, ``extra['a']``, and an axis.
Axis = tuple[str, int]


class NativeSizes(NamedTuple):
    """The objects of a framework that describe a size.

    Attributes:
        accepts: whether a value is one.
        kind: its type in words, for errors; empty if there is none.
        name: the name of one; empty if it has none.
    """

    accepts: Callable[[Any], bool] = lambda value: False
    kind: str = ""
    name: Callable[[Any], str] = str


_NO_OBJECTS = NativeSizes()


class Leaf(NamedTuple):
    """A leaf of the example and its place, ``extra['a']``."""

    place: str
    value: Any


@dataclass(frozen=True)
class SizeSpec:
    """The sizes that a caller leaves open.

    Attributes:
        given: None or False for none; True for all that the model does not need as constants;
            or a nest of mappings and lists from arguments to ``{axis: name}``.
    """

    given: Any = None

    @property
    def is_asked(self) -> bool:
        """Whether any size is open."""
        return self.given is not None and self.given is not False

    @property
    def everything(self) -> bool:
        """Whether all sizes are open."""
        return self.given is True

    def axes(
        self, example: Mapping[Any, Any], native: NativeSizes = _NO_OBJECTS
    ) -> dict[Axis, Any]:
        """The named axes of an example.

        Args:
            example: nested mappings from arguments and keys to `Leaf`.
            native: the framework's own objects for sizes.

        Returns:
            (place, axis) → name, or an object of the framework.

        Raises:
            ArgumentError: the specification does not fit the example.
            ShapeError: sizes of one name differ in the example.
        """
        axes: dict[Axis, Any] = {}
        if self.is_asked and not self.everything:
            _collect(self.given, example, "dynamic", axes, native)
            _check_equal(axes, {leaf.place: leaf.value for leaf in _leaves(example)}, native)
        return axes


def _leaves(tree: Any) -> list[Leaf]:
    if isinstance(tree, Leaf):
        return [tree]
    return [leaf for inner in tree.values() for leaf in _leaves(inner)]


def _check_equal(axes: Mapping[Axis, Any], leaves: Mapping[str, Any], native: NativeSizes) -> None:
    first: dict[str, tuple[int, Axis]] = {}
    for (place, axis), spec in axes.items():
        name = spec if isinstance(spec, str) else native.name(spec)
        if not name.isidentifier():
            continue
        size = leaves[place].shape[axis]
        known, (where, other) = first.setdefault(name, (size, (place, axis)))
        if known != size:
            raise ShapeError(
                f"trace_graph: dynamic: {name!r} is {known} in dimension {other} of {where!r} and "
                f"{size} in dimension {axis} of {place!r} of the example; sizes of one name are equal"
            )


def _collect(spec: Any, tree: Any, where: str, axes: dict[Axis, Any], native: NativeSizes) -> None:
    """The dimensions that a specification names, by place in the example."""
    if spec is None:
        return
    if isinstance(tree, Leaf):
        _collect_axes(spec, tree, where, axes, native)
        return
    items = spec.items() if isinstance(spec, Mapping) else None
    if items is None and isinstance(spec, (list, tuple)):
        items = enumerate(spec)
    if items is None:
        raise ArgumentError(
            f"trace_graph: {where}: got {spec!r}, expected a mapping from {_list(tree)}, for example "
            '{"x": {0: "batch"}}, or True'
        )
    for key, inner in items:
        if key not in tree:
            raise ArgumentError(
                f"trace_graph: {where}: got {key!r}, which the example does not have; it has {_list(tree)}"
            )
        _collect(inner, tree[key], f"{where}[{key!r}]", axes, native)


def _collect_axes(
    spec: Any, leaf: Leaf, where: str, axes: dict[Axis, Any], native: NativeSizes
) -> None:
    if not is_array(leaf.value):
        raise ArgumentError(
            f"trace_graph: {where}: the example is of type {type(leaf.value).__name__}, expected a "
            "tensor; numbers and strings are part of the program"
        )
    shape = tuple(leaf.value.shape)
    if not isinstance(spec, Mapping):
        raise ArgumentError(
            f"trace_graph: {where}: got {spec!r}, expected a mapping from dimensions to names, for "
            'example {0: "batch"}'
        )
    for axis, axis_name in spec.items():
        if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
            raise ArgumentError(
                f"trace_graph: {where}: got the dimension {axis!r}, expected one of an array of shape {shape}"
            )
        if isinstance(axis_name, str):
            check_name(axis_name, f"trace_graph: {where}[{axis}]")
        elif axis_name is not None and not native.accepts(axis_name):
            raise ArgumentError(
                f"trace_graph: {where}[{axis}]: got {axis_name!r}, expected a name such as "
                f"'batch', {native.kind + ', ' if native.kind else ''}or None for a fixed size"
            )
        if axis_name is not None:
            axes[leaf.place, axis % len(shape)] = axis_name


def _list(tree: Mapping[Any, Any]) -> str:
    return ", ".join(repr(key) for key in tree)


def leaf_tree(pairs: list[tuple[Any, Any]], keystr: Any) -> dict[Any, Any]:
    """The example as nested dicts by the keys of its mappings, sequences and objects.

    Args:
        pairs: (key path, leaf) of a pytree of torch or JAX; the first key is the argument's name.
        keystr: the framework's function for the text of a key path.
    """
    tree: dict[Any, Any] = {}
    for path, leaf in pairs:
        at = tree
        *outer, last = [_key(entry) for entry in path]
        for key in outer:
            at = at.setdefault(key, {})
        at[last] = Leaf(place_of(keystr, path), leaf)
    return tree


def _key(entry: Any) -> Any:
    for attribute in ("key", "idx", "name"):
        if hasattr(entry, attribute):
            return getattr(entry, attribute)
    return str(entry)


def place_of(keystr: Any, path: Any) -> str:
    """``extra['a'][0]``."""
    return f"{path[0].key}{keystr(path[1:])}"


def named_axes(
    sizes: SizeSpec,
    source: str,
    signed: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> list[dict[int, str]]:
    """{axis: name} for each leaf of an example, in the order of `tree.flatten`.

    Args:
        sizes: the specification, by names.
        source: the kind of source, for messages.
        signed: the function whose parameters name the arguments.
        args, kwargs: the example.

    Raises:
        ArgumentError, ShapeError: the specification does not fit the example.
        ConversionError: all sizes are asked for.
    """
    if sizes.everything:
        raise ConversionError(
            f"trace_graph: dynamic: got True, expected names for the open sizes of {source}, "
            'for example {"x": {0: "batch"}}'
        )
    named = [*zip(argument_names(signed, len(args)), args, strict=True), *kwargs.items()]
    example = {name: _places(value, name) for name, value in named}
    axes = sizes.axes(example)
    return [
        {axis: name for (at, axis), name in axes.items() if at == leaf.place}
        for leaf in named_leaves(signed, args, kwargs)
    ]


def declared_axes(name: str, leaves: list[Any], shapes: list[Any] | None) -> list[dict[int, str]]:
    """{axis: name} of the sizes that are None in shapes; equal sizes of one axis have one name.

    Args:
        name: of the source.
        leaves: of the example.
        shapes: of the leaves as the source declares them; None if it does not.

    Raises:
        ConversionError: the source declares no shapes, or others than the example has.
    """
    if shapes is None or len(shapes) != len(leaves):
        raise ConversionError(
            f"trace_graph: dynamic: got True, and {name} declares no open sizes for this example; name "
            'them, for example {"x": {0: "batch"}}'
        )
    sizes: dict[int, list[int]] = {}
    axes: list[dict[int, str]] = []
    for x, shape in zip(leaves, shapes, strict=True):
        axes.append({})
        for axis, declared in enumerate(shape):
            if declared is None:
                known = sizes.setdefault(axis, [])
                if x.shape[axis] not in known:
                    known.append(x.shape[axis])
                base, number = f"size_{axis}" if axis else "batch", known.index(x.shape[axis])
                axes[-1][axis] = f"{base}_{number}" if number else base
    return axes


def named_leaves(
    signed: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Leaf]:
    """The leaves of an example with their places, in the order of `tree.flatten`."""
    named = zip(argument_names(signed, len(args)), args, strict=True)
    places = [_places(value, name) for name, value in [*named, *sorted(kwargs.items())]]
    return [leaf for place in places for leaf in _leaves(place)]


def _places(nest: Any, place: str) -> Any:
    """The nest as dicts of `Leaf`, in the order of `tree.flatten`, which sorts the keys of mappings."""
    if isinstance(nest, Container):
        return {key: _places(item, f"{place}[{key!r}]") for key, item in nest.items()}
    if isinstance(nest, Mapping):
        return {key: _places(nest[key], f"{place}[{key!r}]") for key in sorted(nest)}
    if isinstance(nest, (list, tuple)):
        return dict(enumerate([_places(item, f"{place}[{i}]") for i, item in enumerate(nest)]))
    return Leaf(place, nest)
