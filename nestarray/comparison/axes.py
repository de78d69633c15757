"""The specification of one leaf in a schema: words for its axes, a dtype, or a Python type.

The words are as in einops: names of sizes, numbers, ``...``, and products in parentheses.
``*name`` matches any number of axes and ``_`` one axis of any size. `Sizes` collects the sizes
of the names over all leaves of a check.
"""

from __future__ import annotations

import math
import re
from typing import Any

from nestarray import dtypes
from nestarray.container.leaf import array_text
from nestarray.errors import ArgumentError, DtypeError
from nestarray.typing import NUMBERS

#: Name of a kind of dtypes → `DType.kind` of its members.
KINDS = {
    "integer": ("int", "uint"),
    "signed": ("int",),
    "unsigned": ("uint",),
    "floating": ("float",),
    "complex": ("complex",),
    "inexact": ("float", "complex"),
    "numeric": ("int", "uint", "float", "complex"),
}
_DTYPES = frozenset(d.name for d in dtypes.ALL)
_OTHER_DTYPE = re.compile(r"(float|bfloat|int|uint|complex)\d+(_\w+)?")  # float8_e4m3fn, int4
_SHORT = re.compile(r"(f|bf|i|u|c)(8|16|32|64|128)")  # as in the repr
_NAME = re.compile(r"(\./)?[A-Za-z_{][\w{}]*")
_TOKEN = re.compile(r"\([^()]*\)|\S+")
_TYPE = re.compile(r"<[A-Za-z_][\w.]*>(\|<[A-Za-z_][\w.]*>)*")


class Words:
    """The parsed form of ``"out in float32"``, ``"... floating"`` or ``"<str>"``.

    Args:
        text: the words. The last may be a dtype, a kind of dtypes, or several joined by ``|``.
            Without axes it describes a 0-d array.
        where: the name of the entry for error messages.

    Raises:
        ArgumentError: a word is invalid.
    """

    def __init__(self, text: str, where: str) -> None:
        tokens = _TOKEN.findall(text)
        self.text = " ".join(tokens)
        self.types: frozenset[str] | None = None
        self.dtypes: tuple[str, ...] = ()
        self.axes: tuple[str, ...] = ()
        if len(tokens) == 1 and _TYPE.fullmatch(tokens[0]):
            self.types = frozenset(name.strip("<>") for name in tokens[0].split("|"))
            return
        if tokens and all(map(_is_dtype, tokens[-1].split("|"))):
            self.dtypes = tuple(tokens.pop().split("|"))
        for token in tokens:
            _check_axis(token, text, where)
        if sum(t == "..." or t[0] == "*" for t in tokens) > 1:
            raise ArgumentError(
                f"Schema: {where}: got {text!r}, in which more than one word stands for any number "
                "of axes; expected one '...' or '*name' at most"
            )
        self.axes = tuple(tokens)

    def violation(self, leaf: Any) -> str | None:
        """The violation of the type or dtype of a leaf, or None."""
        if self.types is not None:
            names = {cls.__name__ for cls in type(leaf).__mro__[:-1]}
            if "any" in self.types or not names.isdisjoint(self.types):
                return None
            return f"is of type {type(leaf).__name__}, expected {self.text}"
        if not _is_array(leaf):
            return f"is of type {type(leaf).__name__}, expected an array `{self.text}`"
        if self.dtypes:
            found, kind = _dtype(leaf)
            if not any(found == name or kind in KINDS.get(name, ()) for name in self.dtypes):
                return f"has the dtype {found}, expected {' or '.join(self.dtypes)}"
        return None


def _is_dtype(word: str) -> bool:
    return word in _DTYPES or word in KINDS or _OTHER_DTYPE.fullmatch(word) is not None


def _check_axis(token: str, text: str, where: str) -> None:
    if token in ("...", "_"):
        return
    for word in token[1:-1].split() if token[0] == "(" else [token.removeprefix("*")]:
        if _SHORT.fullmatch(word):
            raise ArgumentError(
                f"Schema: {where}: got {word!r} in {text!r}, which reads as a dtype; write the dtype "
                "in full and last, 'out in float32', or give the axis another name"
            )
        if word.isascii() and word.isdigit():
            is_right = token[0] != "*"
        else:
            is_right = _NAME.fullmatch(word) and word != "_" and not _is_dtype(word)
        if is_right:
            continue
        raise ArgumentError(
            f"Schema: {where}: got {word!r} in {text!r}, expected a name, a number, '_', '...', "
            f"'*name' or a product in parentheses, and last a dtype or one of {', '.join(KINDS)}"
        )


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, NUMBERS) or array_text(leaf) is not None


def _dtype(leaf: Any) -> tuple[str, str]:
    try:
        found = dtypes.dtype_of(leaf)
    except DtypeError:  # float8 and other dtypes without ops
        name = str(getattr(leaf.dtype, "name", leaf.dtype)).rpartition(".")[2]
        kind = re.split(r"\d", name)[0]
        return name, {"bfloat": "float"}.get(kind, kind)
    return found.name, found.kind


def shape_of(leaf: Any) -> tuple[int | None, ...] | None:
    """The shape of a leaf, with None for unknown sizes; None for a shape of unknown rank."""
    if isinstance(leaf, NUMBERS):
        return ()
    try:
        return tuple(leaf.shape)
    except (TypeError, ValueError):  # a TensorFlow shape of unknown rank
        return None


class Sizes:
    """The sizes of names, and the leaf that defined each."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.values: dict[str, Any] = dict(given)
        self._sources = dict.fromkeys(given, "the sizes given")
        #: products with several unknown names, to be solved after the other leaves
        self._open: list[tuple[str, str, list[str], int]] = []

    def bind(self, words: Words, leaf: Any, path: str, scope: dict[str, str]) -> list[str]:
        """Bind the names of a leaf's axes; returns the violation of its shape, or None.

        `scope` maps ``{name}`` in words to its text, and ``"."`` to the path of the node for
        ``./``.
        """
        shape = None if words.types is not None else shape_of(leaf)
        if shape is None:
            return []
        axes = list(words.axes)
        many = next((i for i, word in enumerate(axes) if word == "..." or word[0] == "*"), None)
        if len(shape) < len(axes) - 1 or (many is None and len(shape) != len(axes)):
            return [f"has {_axes(len(shape))} {shown(shape)}, expected `{words.text}`"]
        if many is not None:
            rest = len(shape) - (len(axes) - 1)
            taken = shape[many : many + rest]
            shape = (*shape[:many], *shape[many + rest :])
            word = axes.pop(many)
            if word != "..." and None not in taken:
                problem = self._bound(_scoped(word[1:], scope), taken, path)
                if problem:
                    return [f"has the shape {shown(shape_of(leaf))}: {problem}"]
        problems = []
        for word, size in zip(axes, shape):
            if size is None or word == "_":
                continue
            problem = self._axis(word, size, path, scope)
            if problem:
                problems.append(problem)
        if not problems:
            return []
        return [
            f"has the shape {shown(shape_of(leaf))}, expected `{words.text}`: {'; '.join(problems)}"
        ]

    def _axis(self, word: str, size: int, path: str, scope: dict[str, str]) -> str | None:
        if word.isdigit():
            return None if size == int(word) else f"{size} is not {word}"
        if word[0] == "(":
            self._open.append((path, word, [_scoped(w, scope) for w in word[1:-1].split()], size))
            return None
        return self._bound(_scoped(word, scope), size, path)

    def _bound(self, name: str, value: Any, path: str) -> str | None:
        if name not in self.values:
            self.values[name], self._sources[name] = value, path
        if self.values[name] == value:
            return None
        return f"{name} is {value} here, {self.values[name]} in {self._source(name)}"

    def _source(self, name: str) -> str:
        source = self._sources[name]
        return source if source == "the sizes given" else repr(source)

    def close(self) -> list[tuple[str, str]]:
        """Solve the products in parentheses; returns (path, violation) for those without solution."""
        problems: list[tuple[str, str]] = []
        progress = True
        while self._open and progress:
            progress, left = False, []
            for path, word, names, size in self._open:
                unknown = [n for n in names if not n.isdigit() and n not in self.values]
                known = math.prod(self._size(n) for n in names if n not in unknown)
                if len(unknown) > 1:
                    left.append((path, word, names, size))
                    continue
                progress = True
                if not unknown and known != size:
                    problems.append((path, f"has an axis of {size}, expected {word} = {known}"))
                elif unknown and (known == 0 or size % known):
                    text = f"has an axis of {size}, expected {word}: not a multiple of {known}"
                    problems.append((path, text))
                elif unknown:
                    self._bound(unknown[0], size // known, path)
            self._open = left
        for path, word, names, size in self._open:
            unknown = [n for n in names if not n.isdigit() and n not in self.values]
            given = f"check(c, {unknown[0]}=…)" if unknown[0].isidentifier() else "a number"
            text = f"has an axis of {size}, expected {word}: {' and '.join(unknown)} are not known"
            problems.append((path, f"{text}; give one of them with {given}"))
        return problems

    def _size(self, name: str) -> int:
        value = int(name) if name.isdigit() else self.values[name]
        return math.prod(value) if isinstance(value, tuple) else value


def _scoped(word: str, scope: dict[str, str]) -> str:
    if word.startswith("./"):
        word = f"{scope['.']}/{word[2:]}" if scope["."] else word[2:]
    return re.sub(r"\{(\w+)\}", lambda match: scope[match[1]], word)


def _axes(count: int) -> str:
    return "1 axis" if count == 1 else f"{count} axes"


def shown(shape: tuple[int | None, ...] | None) -> str:
    """A shape as printed in errors: ``(3, ?)``."""
    if shape is None:
        return "(…)"
    return str(tuple(shape)).replace("None", "?")
