"""The structure of a Container as text, so that any format of named arrays can store any tree.

The text is JSON: a node is ``{kind: members}``, an array is its name in the file, another leaf is
``{"value": …}``. It stores everything that names cannot express: kinds of nodes, the order of keys,
integer keys, keys with dots or slashes, other leaves, and shared arrays. A checksum detects
damage of the text; it does not cover the arrays, so tools may cast them.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.container.leaf import REMOVED
from nestarray.container.spec import LEAF, Key, Spec, make_spec
from nestarray.errors import ArgumentError, StorageError, StructureError

#: The name under which formats store the text; reserved in arrays and metadata.
RESERVED = "nestarray"
VERSION = 1
#: The maximal number of levels of a tree in a file. A level is three levels of JSON, of which
#: Python 3.11 reads less than a thousand; later versions write files that 3.11 can read.
LEVELS = 200


class Reference:
    """An array leaf in the file: its name, and its dtype if the format cannot express it."""

    __slots__ = ("dtype", "name")

    def __init__(self, name: str, dtype: str | None = None) -> None:
        self.name, self.dtype = name, dtype


#: A function of the name and, if the format cannot express it, the dtype of an array.
ArrayOf = Callable[[str, str | None], Any]


def resolve(c: Container, array_of: ArrayOf) -> Container:
    """A Container with ``array_of(name, dtype)`` for each `Reference`."""
    return c.map(lambda x: array_of(x.name, x.dtype) if isinstance(x, Reference) else x)


def encode(spec: Spec, leaves: Sequence[Any]) -> str:
    """The text of a structure whose arrays are given as `Reference`.

    Raises:
        ArgumentError: a leaf is neither an array nor None, a string or a number.
        StructureError: the tree has more than `LEVELS` levels.
    """
    tree = _dumps(_encode_node(spec, iter(zip(spec.path_names, leaves, strict=True)), LEVELS))
    return f'{{"version":{VERSION},"crc32":{_checksum(tree)},"tree":{tree}}}'


def looks_encoded(text: str) -> bool:
    """Whether a text starts like one from `encode`; under another name this means damage."""
    return text.startswith('{"version":') and '"crc32":' in text[:60]


def _dumps(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _checksum(tree: str) -> int:
    return zlib.crc32(tree.encode())


def _is_intact(text: str, document: dict[str, Any]) -> bool:
    """Whether the checksum is that of the tree, as written or as another program formatted it."""
    written = text.partition('"tree":')[2][:-1]
    return document["crc32"] == _checksum(written) or (
        document["crc32"] == _checksum(_dumps(document["tree"]))
    )


def _encode_node(spec: Spec, rest: Iterator[tuple[str, Any]], levels: int) -> Any:
    if spec is LEAF:
        return _encode_leaf(*next(rest))
    if not levels:
        raise StructureError(
            f"Container.save: the tree has more than {LEVELS} levels, which is all that files hold; "
            "flatten it with c.flatten_keys(), and what was read with c.unflatten_keys()"
        )
    children = [_encode_node(child, rest, levels - 1) for child in spec.children]
    if spec.kind in ("list", "tuple") and spec.keys == tuple(range(len(spec.keys))):
        return {spec.kind: children}
    return {spec.kind: [[key, child] for key, child in zip(spec.keys, children, strict=True)]}


def _encode_leaf(path: str, leaf: Any) -> Any:
    if isinstance(leaf, Reference):
        return leaf.name if leaf.dtype is None else {"array": leaf.name, "dtype": leaf.dtype}
    kind = type(leaf)
    if kind is int and abs(leaf) >= 2**63:  # beyond the range of other JSON readers
        return {"int": hex(leaf)}
    if kind is float and not math.isfinite(leaf):
        return {"float": repr(leaf)}
    if leaf is None or kind in (str, bool, int, float):
        return {"value": leaf}
    if kind is complex:
        return {"complex": [repr(leaf.real), repr(leaf.imag)]}
    remedy = (
        "save na.Container.from_pytree(c), which to_pytree(like) restores"
        if kind in REMOVED or isinstance(leaf, (dict, list, tuple))
        else "convert it"
    )
    raise ArgumentError(
        f"Container.save: {path!r} is a {kind.__name__}, expected an array, a number, a string or "
        f"None; {remedy}, or leave it out with c.exclude({path!r})"
    )


def decode(text: str, where: str, array_of: ArrayOf) -> Container:
    """The Container of a text from `encode`.

    Args:
        text: the text, possibly damaged.
        where: the file, for error messages.
        array_of: makes the leaf for an array.

    Raises:
        StorageError: the text is invalid.
    """
    try:
        document = json.loads(text)
        version = document["version"]
        if version == VERSION:
            if not _is_intact(text, document):
                raise ValueError("its checksum is wrong")
            leaves: list[Any] = []
            spec = _decode_node(document["tree"], leaves, array_of)
            return from_leaves(spec, tuple(leaves))
    # a damaged text may raise any error here: wrong types, missing keys, deep nesting
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StorageError(
            f"{where}: the structure in it is damaged ({reason(error)}); "
            "load it with flat=True, which takes the arrays by their names"
        ) from error
    raise StorageError(
        f"{where}: its structure has the version {version!r}, this nestarray reads {VERSION}; "
        "upgrade nestarray, or load it with flat=True"
    )


def parse_json(text: str | bytes) -> Any:
    """Parse JSON and refuse repeated keys in one object.

    Raises:
        ValueError, RecursionError: the text is invalid.
    """
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} occurs twice")
    return found


def reason(error: BaseException) -> str:
    """The message of an exception in one short line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:199] + "…"


_KINDS = ("dict", "list", "tuple", "part of list", "part of tuple")


def _decode_node(node: Any, leaves: list[Any], array_of: ArrayOf) -> Spec:
    if not isinstance(node, (str, dict)):
        raise ValueError(f"got {type(node).__name__} for a node")
    if isinstance(node, str) or next(iter(node), "") not in _KINDS:
        leaves.append(_decode_leaf(node, array_of))
        return LEAF
    ((kind, members),) = node.items()
    rows = [m if type(m) is list else (i, m) for i, m in enumerate(members)]
    keys: tuple[Key, ...] = tuple([key for key, _ in rows])
    if not {str, int}.issuperset(map(type, keys)) or len(set(keys)) < len(keys):
        raise ValueError(f"got the keys {keys!r}, expected different strings or integers")
    children = []
    for _, child in rows:
        if type(child) is str:  # most leaves, without a call for each
            leaves.append(array_of(child, None))
            children.append(LEAF)
        else:
            children.append(_decode_node(child, leaves, array_of))
    return make_spec(kind, keys, tuple(children))


def _decode_leaf(node: Any, array_of: ArrayOf) -> Any:
    match node:
        case str():
            return array_of(node, None)
        case {"array": str(name), "dtype": str(dtype)}:
            return array_of(name, dtype)
        case {"value": None | str() | bool() | int() | float() as value}:
            return value
        case {"int": str(digits)}:
            return int(digits, 16)
        case {"float": str(digits)}:
            return float(digits)
        case {"complex": [str(real), str(imaginary)]}:
            return complex(float(real), float(imaginary))
    raise ValueError(f"got {str(node)[:60]} for a leaf")
