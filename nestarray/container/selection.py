"""The leaves that a pattern takes: globs, regular expressions, types and predicates."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, repeat
from typing import Any

from nestarray.container.access import Leaves, map_leaves
from nestarray.container.arguments import refuse
from nestarray.container.attaching import method
from nestarray.container.container import Container, Leaf, from_leaves
from nestarray.container.leaf import REMOVED
from nestarray.container.spec import LEAF, Spec, join_path, make_spec, part_of
from nestarray.dtypes import dtype_of, is_key, isdtype
from nestarray.dynamo import cached_constant, traced_as
from nestarray.errors import ArgumentError


@cached_constant
def _glob(pattern: str) -> re.Pattern[str]:
    parts = []
    for token in re.findall(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|[^*?\[]+|\[", pattern):
        signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token)
        is_set = token[0] == "[" and token[-1] == "]"
        parts.append(signs or (_character_set(token[1:-1]) if is_set else re.escape(token)))
    return re.compile("".join(parts) + "(?:/.*)?")  # the pattern of a node matches its subtree


def _character_set(signs: str) -> str:
    """``[ab]`` and ``[!ab]`` as in a shell, within one key."""
    is_negated = signs[0] == "!" and len(signs) > 1
    inside = signs[is_negated:].replace("\\", "\\\\").replace("^", "\\^")
    return f"[^/{inside}]" if is_negated else f"[{inside}]"


def _predicate(pattern: Any) -> Callable[[str, Any], Any]:
    if isinstance(pattern, str):
        regex = _glob(pattern)
        return lambda path, leaf: regex.fullmatch(path) is not None
    if isinstance(pattern, re.Pattern):
        return lambda path, leaf: pattern.search(path) is not None
    if isinstance(pattern, type):
        return lambda path, leaf: isinstance(leaf, pattern)
    if isinstance(pattern, tuple):
        name = join_path(pattern)
        below = f"{name}/" if pattern else ""
        return lambda path, leaf: path == name or path.startswith(below)
    if callable(pattern):
        takes_path = _takes_path(pattern)

        def test(path: str, leaf: Any) -> Any:
            return type(leaf) not in REMOVED and (
                pattern(path, leaf) if takes_path else pattern(leaf)
            )

        return test
    raise ArgumentError(
        f"Container: got {pattern!r} as a pattern, expected a glob such as '**/bias', a tuple of "
        "keys, a compiled regular expression, a type, or a function of (path, leaf) or of the "
        "leaf; several are arguments of their own"
    )


@traced_as(lambda function: function.__code__.co_argcount != 1)
def _takes_path(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind("path", "leaf")
    except TypeError:  # a predicate of one argument, such as Equinox's is_array
        return False
    except ValueError:  # a C function without a signature
        pass
    return True


def _of_dtype(dtype: Any) -> Callable[[str, Any], bool]:
    asked = dtype if isinstance(dtype, tuple) else (dtype,)
    small = {name for name in map(_float8_name, asked) if name}
    kinds = tuple(kind for kind in asked if not _float8_name(kind))

    def test(path: str, leaf: Any) -> bool:
        if not hasattr(leaf, "dtype") or is_key(leaf):
            return False
        name = _float8_name(leaf.dtype)
        if name:
            return name in small or "real floating" in kinds or "numeric" in kinds
        return isdtype(dtype_of(leaf), kinds)

    return test


def _float8_name(dtype: Any) -> str | None:
    """The name of an 8-bit floating dtype: trees may hold such arrays, but no op accepts them."""
    name = getattr(dtype, "name", getattr(dtype, "__name__", None)) or str(dtype)
    name = str(name).removeprefix("torch.")
    return name if name.startswith("float8_") else None


def _of_shape(shape: tuple[int | None, ...]) -> Callable[[str, Any], bool]:
    def test(path: str, leaf: Any) -> bool:
        own = getattr(leaf, "shape", None)
        return (
            own is not None
            and len(own) == len(shape)
            and all(n is None or n == m for n, m in zip(shape, own, strict=True))
        )

    return test


def matches(
    spec: Spec, leaves: Leaves, patterns: tuple[Any, ...], dtype: Any = None, shape: Any = None
) -> list[bool]:
    """For each leaf, whether a pattern matches it and its dtype and shape are accepted."""
    anyone = [_predicate(p) for p in patterns]
    everyone = [_of_dtype(dtype)] if dtype is not None else []
    if shape is not None:
        everyone.append(_of_shape(_checked_shape(shape)))
    if not anyone and everyone:
        anyone = [lambda path, leaf: True]

    def is_hit(path: str, leaf: Any) -> bool:
        return any(p(path, leaf) for p in anyone) and all(p(path, leaf) for p in everyone)

    return list(map_leaves(spec, is_hit, (spec.path_names, leaves)))


def _checked_shape(shape: Any) -> tuple[int | None, ...]:
    is_sequence = isinstance(shape, Sequence) and not isinstance(shape, str)
    if not is_sequence or not all(n is None or isinstance(n, int) for n in shape):
        refuse("Container.select", "shape", shape, "sizes of axes such as (None, 3)")
    return tuple(shape)


def selected(c: Container[Leaf], hits: Sequence[bool]) -> Container[Leaf]:
    """The leaves where `hits` is true, in their structure."""
    spec = _kept(c._spec, iter(hits)) or make_spec("dict")
    return from_leaves(spec, tuple(compress(c._leaves, hits)))


def _kept(spec: Spec, flags: Iterator[bool]) -> Spec | None:
    if spec.kind == "leaf":
        return LEAF if next(flags) else None
    pairs = list(zip(spec.keys, map(_kept, spec.children, repeat(flags)), strict=True))
    left = [(k, c) for k, c in pairs if c is not None]
    if not left:
        return None
    kind = spec.kind if len(left) == len(pairs) else part_of(spec.kind)
    return make_spec(kind, tuple(k for k, _ in left), tuple(c for _, c in left))


@method
def select(
    c: Container[Leaf], /, *patterns: Any, dtype: Any = None, shape: Any = None
) -> Container[Leaf]:
    """The leaves that match any pattern and have the dtype and shape, in their structure.

    Args:
        *patterns: each a glob on the path (``"**/bias"``, ``"layers/*/weight"``; a match of a
            node selects its subtree), a tuple of keys, a compiled regular expression
            (searched in the path), a type of leaves, or a predicate ``fn(path, leaf)`` or
            ``fn(leaf)``. Optional with a `dtype` or a `shape`.
        dtype: a dtype, or a kind of the standard such as ``"real floating"``.
        shape: sizes of the axes; None matches any size.

    Members of lists keep their numbers, so that `combine` can restore the list.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a={"w": np.ones((2, 3)), "b": np.zeros(2)}, n=np.arange(3))
        >>> c.select("a/*", shape=(None,)).paths(), c.select(dtype="integral").paths()
        (('a/b',), ('n',))
    """
    return selected(c, matches(c._spec, c._leaves, patterns, dtype, shape))


@method
def exclude(
    c: Container[Leaf], /, *patterns: Any, dtype: Any = None, shape: Any = None
) -> Container[Leaf]:
    """The leaves that `select` with the same patterns does not return.

    Example:
        >>> import nestarray as na
        >>> na.Container(a={"w": 1, "b": 2}, n=3).exclude("**/b").to_dict()
        {'a': {'w': 1}, 'n': 3}
    """
    hits = matches(c._spec, c._leaves, patterns, dtype, shape)
    return selected(c, [not hit for hit in hits])


@method
def partition(
    c: Container[Leaf], /, *patterns: Any, dtype: Any = None, shape: Any = None
) -> tuple[Container[Leaf], Container[Leaf]]:
    """(`select`, `exclude`) with the same patterns; `combine` merges the two.

    Example:
        >>> import nestarray as na
        >>> head, frozen = na.Container(body={"w": 1}, head={"w": 2}).partition("head")
        >>> head.map(lambda x: 10 * x).combine(frozen).to_dict()
        {'head': {'w': 20}, 'body': {'w': 1}}
    """
    hits = matches(c._spec, c._leaves, patterns, dtype, shape)
    return selected(c, hits), selected(c, [not hit for hit in hits])


@method
def mask(
    c: Container[Leaf], /, *patterns: Any, dtype: Any = None, shape: Any = None
) -> Container[bool]:
    """True at the leaves that `select` returns, False at others, as ``optax.masked`` expects.

    Example:
        >>> import nestarray as na
        >>> na.Container(a={"w": 1, "b": 2}).mask("**/w").to_dict()
        {'a': {'w': True, 'b': False}}
    """
    hits = matches(c._spec, c._leaves, patterns, dtype, shape)
    return from_leaves(c._spec, tuple(hits))
