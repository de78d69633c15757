"""Path patterns of a schema: parsing, and matching against a structure.

A pattern is a sequence of keys separated by slashes. ``*`` matches any characters of a key,
``{name}`` also captures them for the words of the leaf, ``**`` matches any number of keys, and a
key with ``?`` at the end is optional. A backslash escapes the next character; ``\\n``, ``\\s`` and
``\\t`` are white space. The path of a bare array is ``.``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from nestarray.container.spec import Key, Path, Spec, take_key
from nestarray.errors import ArgumentError

_SPACES = {"n": "\n", "s": " ", "t": "\t"}
_SPECIAL = re.compile(r"[\\*?{}/:\n\t]|^ | $")
_ANY = ...  # the part ``**``


class Found(NamedTuple):
    """A leaf that a pattern matched; if `index` is None, a missing leaf."""

    path: Path
    index: int | None
    captures: dict[str, str]


class _Glob(NamedTuple):
    """A key of a pattern that matches several keys of a node."""

    expression: re.Pattern[str]
    text: str


class Pattern:
    """A parsed path; each part of it is a key, a `_Glob`, or ``**``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_optional = False
        self.parts: tuple[Any, ...] = tuple(self._parsed(text))
        globs = [part for part in self.parts if isinstance(part, _Glob)]
        self.captures = {name for glob in globs for name in glob.expression.groupindex}

    def _parsed(self, text: str) -> Iterator[Any]:
        tokens = re.findall(r"\\.|\{\w*\}|\*+|.", text, re.DOTALL)
        if tokens and tokens[-1] == "?":
            self.is_optional = True
            tokens.pop()
        if tokens == ["."]:
            return
        part: list[str] = []
        for token in [*tokens, "/"]:
            if token == "/":
                yield _key(part, text)
                part = []
            else:
                part.append(token)

    def find(self, spec: Spec) -> Iterator[Found]:
        """The leaves that the pattern matches in a structure, and the missing ones."""
        seen: set[int | None] = set()
        for found in _walk(spec, 0, self.parts, (), {}):
            if found.index is None or found.index not in seen:  # two ``**`` match a leaf twice
                seen.add(found.index)
                yield found
        if not seen and _ANY in self.parts:
            yield Found((self.text.removesuffix("?"),), None, {})


def _key(tokens: list[str], text: str) -> Any:
    if tokens == ["**"]:
        return _ANY
    is_optional = tokens[-1:] == ["?"]
    if not is_optional and not any(_is_special(token) for token in tokens):
        return "".join(map(_plain, tokens))
    expression, names = "", set()
    for token in tokens[:-1] if is_optional else tokens:
        if not _is_special(token):
            expression += re.escape(_plain(token))
        elif token[0] == "*":
            expression += ".*"
        else:
            name = token[1:-1]
            if not name.isidentifier():
                raise ArgumentError(
                    f"Schema: path {text!r}: got {token!r}, expected a name in the braces, such as "
                    "'{i}'"
                )
            expression += f"(?P={name})" if name in names else f"(?P<{name}>.+)"
            names.add(name)
    return _Glob(re.compile(expression, re.DOTALL), "".join(tokens).removesuffix("?"))


def _is_special(token: str) -> bool:
    return token[0] == "*" or (token[0] == "{" and len(token) > 1)


def _plain(token: str) -> str:
    return _SPACES.get(token[1:], token[1:]) if len(token) == 2 and token[0] == "\\" else token


def escaped(key: Key) -> str:
    """The pattern that matches only this key."""

    def escape(match: re.Match[str]) -> str:
        spaces = {space: letter for letter, space in _SPACES.items()}
        return "\\" + spaces.get(match[0], match[0])

    return _SPECIAL.sub(escape, str(key))


def escaped_path(path: Path) -> str:
    """The pattern that matches only this path."""
    text = "/".join(map(escaped, path))
    return "\\." if text == "." and path else text if path else "."


def _walk(
    spec: Spec, start: int, parts: tuple[Any, ...], path: Path, captures: dict[str, str]
) -> Iterator[Found]:
    if not parts:
        yield Found(path, start if spec.kind == "leaf" else None, captures)
        return
    part, rest = parts[0], parts[1:]
    if part is _ANY:
        yield from _anywhere(spec, start, rest, path, captures)
    elif isinstance(part, _Glob):
        if spec.kind == "leaf":
            yield Found((*path, _text(part)), None, captures)
            return
        for key in spec.keys:  # only leaves match a last key, only nodes any other key
            first, _, child = spec.index[key]
            match = part.expression.fullmatch(str(key))
            is_right_kind = rest == (_ANY,) or (child.kind == "leaf") != bool(rest)
            if match is None or not is_right_kind:
                continue
            new = match.groupdict()
            if all(captures.get(name, text) == text for name, text in new.items()):
                yield from _walk(child, start + first, rest, (*path, key), captures | new)
    else:
        names = []
        for literal in parts:
            if not isinstance(literal, str):
                break
            names.append(literal)
        key, remaining = take_key(spec, tuple(names)) if spec.keys else (None, ())
        if key is None:
            yield Found((*path, *map(_text, parts)), None, captures)
            return
        first, _, child = spec.index[key]
        rest = parts[len(names) - len(remaining) :]
        yield from _walk(child, start + first, rest, (*path, key), captures)


def _anywhere(
    spec: Spec, start: int, rest: tuple[Any, ...], path: Path, captures: dict[str, str]
) -> Iterator[Found]:
    if spec.kind == "leaf":
        if not rest:
            yield Found(path, start, captures)
        return
    if rest:
        here = _walk(spec, start, rest, path, captures)
        yield from (found for found in here if found.index is not None)
    for key in spec.keys:
        first, _, child = spec.index[key]
        yield from _anywhere(child, start + first, rest, (*path, key), captures)


def _text(part: Any) -> str:
    return part.text if isinstance(part, _Glob) else "**" if part is _ANY else part
