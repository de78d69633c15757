"""Path patterns with ranges of numbers: ``layers/{i:0-11}/weight`` names twelve leaves.

A path is a string of keys separated by slashes, or a list of keys, which may then contain slashes or
be integers. A key may contain variables: ``{i:0-11}`` iterates over a range, ``{i}`` and
``{i+1}`` repeat it. Literal braces are doubled. `fold` finds such patterns in lists of paths,
`expand` is the inverse.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from nestarray.container.spec import Key, Path

Text = str | list[Any]

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)(?::(\d+)-(\d+)|([+-]\d+))?")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)")
_DIGITS = re.compile(r"[0-9]+|[^0-9]+")
_NAMES = "ijklmnopqrstuvwxyz"
_MOST = 1_000_000


class PatternError(ValueError):
    """An invalid pattern; the message gives the reason."""


# -- reading ----------------------------------------------------------------------------------


def expand(text: Any, *others: Any) -> Iterator[tuple[Path, ...]]:
    """The paths that a pattern names; `others` are patterns with the same variables.

    Raises:
        PatternError: a pattern is invalid, or uses a variable that the first does not define.

    Example:
        >>> list(expand("l/{i:0-1}/w", "layer_{i+1}/w"))
        [(('l', '0', 'w'), ('layer_1', 'w')), (('l', '1', 'w'), ('layer_2', 'w'))]
        >>> list(expand(["mlp/linear", "w"]))
        [(('mlp/linear', 'w'),)]
    """
    ranges: dict[str, range] = {}
    parsed = [_parse(text, ranges)]
    defined = list(ranges)
    parsed += [_parse(other, ranges) for other in others]
    if len(ranges) > len(defined):
        raise PatternError(f"{others[0]!r} has a range, only the first path of a rule may have one")
    count = 1
    for values in ranges.values():
        count *= len(values)
    if count > _MOST:
        raise PatternError(f"{text!r} names {count:,} paths, expected at most {_MOST:,}")
    for numbers in product(*ranges.values()):
        values = dict(zip(ranges, numbers, strict=True))
        yield tuple(tuple(_key(key, values) for key in path) for path in parsed)


def _parse(text: Any, ranges: dict[str, range]) -> list[Any]:
    """Keys, each an integer or a list of strings and (variable, offset) pairs."""
    if isinstance(text, str):
        keys: list[Any] = text.split("/")
    elif isinstance(text, list) and all(type(key) in (str, int) for key in text):
        keys = text
    else:
        raise PatternError(f"got {text!r}, expected a string or a list of strings and integers")
    return [key if isinstance(key, int) else _parse_key(key, text, ranges) for key in keys]


def _parse_key(key: str, text: Any, ranges: dict[str, range]) -> list[Any]:
    pieces: list[Any] = []
    for found in _PIECE.finditer(key):
        piece = found.group()
        if piece in ("{", "}"):
            raise PatternError(
                f"{text!r} has a single {piece!r}; one that is meant is written twice"
            )
        pieces.append(piece[0] if piece in ("{{", "}}") else piece)
        if found.group(1) is None:
            continue
        variable = _VARIABLE.fullmatch(found.group(1))
        if variable is None:
            raise PatternError(
                f"{text!r}: got {piece!r}, expected a variable: {{i:0-11}}, {{i}} or {{i+1}}"
            )
        name, low, high, offset = variable.groups()
        if low is not None:
            if name in ranges:
                raise PatternError(f"{text!r} has a second range for {name!r}")
            if int(low) > int(high):
                raise PatternError(f"{text!r}: the range {low}-{high} is empty")
            ranges[name] = range(int(low), int(high) + 1)
        elif name not in ranges:
            raise PatternError(
                f"{text!r} uses {name!r}, which has no range such as {{{name}:0-11}}"
            )
        pieces[-1] = (name, int(offset or 0))
    return pieces


def _key(key: Any, values: dict[str, int]) -> Key:
    if isinstance(key, int):
        return key
    return "".join(p if isinstance(p, str) else str(values[p[0]] + p[1]) for p in key)


# -- writing ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """Related paths, split into texts and numbers, with the parts that must be equal to fold."""

    templates: tuple[Hashable, ...]
    numbers: tuple[int, ...]  # of the first path
    others: tuple[int, ...]  # of the other paths


def fold(
    rows: Sequence[tuple[tuple[Path, ...], Hashable]], variables: int | None = None
) -> list[tuple[tuple[Text, ...], Hashable]]:
    """Patterns that name the paths of all rows; rows of one pattern have the same label.

    The first paths of all rows are distinct. Labels are passed through. With `variables`, only
    that many leading numbers of a path become variables.

    Example:
        >>> fold([((("l", str(i)), (f"l{i + 1}",)), "x") for i in range(12)])
        [(('l/{i:0-11}', 'l{i+1}'), 'x')]
    """
    groups: dict[Hashable, list[_Row]] = {}
    for paths, label in rows:
        cut = [_cut(path, variables) for path in paths]
        row = _Row(
            tuple(template for template, _ in cut), cut[0][1], sum((n for _, n in cut[1:]), ())
        )
        groups.setdefault((row.templates, label), []).append(row)
    result = []
    for (templates, label), group in groups.items():  # type: ignore[misc]
        for numbers, others in _patterns(group):
            rest = iter(others)
            texts = [_write(templates[0], iter(numbers))]
            texts += [_write(template, rest) for template in templates[1:]]
            result.append((tuple(texts), label))
    return result


def write(path: Path) -> Text:
    """A path in the format of patterns, without variables.

    Example:
        >>> write(("a", "b")), write(("a/b", "c"))
        ('a/b', ['a/b', 'c'])
    """
    template, numbers = _cut(path)
    return _write(template, iter(map(str, numbers)))


def _cut(path: Path, most: int | None = None) -> tuple[Hashable, tuple[int, ...]]:
    """(keys as tuples of text and None for each number, the numbers), with at `most` that many."""
    template: list[Any] = []
    numbers: list[int] = []
    for key in path:
        if isinstance(key, int):
            template.append(key)
            continue
        pieces: list[str | None] = []
        for piece in _DIGITS.findall(key):
            is_left = most is None or len(numbers) < most
            if is_left and _NUMBER.fullmatch(piece) and len(piece) < 10:  # 007 would become 7
                numbers.append(int(piece))
                pieces.append(None)
            else:
                pieces.append(piece)
        template.append(tuple(pieces))
    return tuple(template), tuple(numbers)


def _write(template: Any, numbers: Iterator[str]) -> Text:
    keys: list[Any] = []
    plain = bool(template)
    for key in template:
        if isinstance(key, int):
            plain = False
            keys.append(key)
            continue
        plain = plain and not any("/" in piece for piece in key if piece)
        escaped = [p.replace("{", "{{").replace("}", "}}") if p else next(numbers) for p in key]
        keys.append("".join(escaped))
    return "/".join(keys) if plain else keys


def _patterns(rows: list[_Row]) -> Iterator[tuple[list[str], list[str]]]:
    """The texts of the numbers, in the first path and in the others, for each pattern."""
    if len({row.numbers for row in rows}) < len(rows):  # several rows with the same first path
        for part in _group_by_occurrence(rows):
            yield from _patterns(part)
        return
    columns = list(zip(*(row.numbers for row in rows), strict=True))
    varying = [c for c, column in enumerate(columns) if len(set(column)) > 1]
    ranges = [_range(columns[c]) for c in varying]
    is_box = all(ranges) and _product(len(r) for r in ranges if r) == len(rows)
    others = [_expression(column, columns, varying) for column in zip(*(r.others for r in rows))]
    if is_box and all(text is not None for text in others):
        texts = [str(column[0]) for column in columns]
        for name, c, values in zip(_NAMES, varying, ranges):
            assert values is not None
            texts[c] = f"{{{name}:{values[0]}-{values[-1]}}}"
        yield texts, [text for text in others if text is not None]
        return
    for part in _runs(rows, varying[0]) if len(varying) == 1 else _split(rows, varying[0]):
        yield from _patterns(part)


def _group_by_occurrence(rows: list[_Row]) -> list[list[_Row]]:
    """Rows, grouped by their position among the rows with the same first path."""
    parts: list[list[_Row]] = []
    seen: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        if seen[row.numbers] == len(parts):
            parts.append([])
        parts[seen[row.numbers]].append(row)
        seen[row.numbers] += 1
    return parts


def _range(column: Sequence[int]) -> range | None:
    values = set(column)
    low, high = min(values), max(values)
    return range(low, high + 1) if len(values) == high - low + 1 else None


def _product(factors: Iterator[int]) -> int:
    result = 1
    for factor in factors:
        result *= factor
    return result


def _expression(
    column: Sequence[int], columns: Sequence[Sequence[int]], varying: list[int]
) -> str | None:
    """The text of a number in another path: a constant, or a variable with an offset."""
    if len(set(column)) == 1:
        return str(column[0])
    for name, c in zip(_NAMES, varying):
        offsets = {number - own for number, own in zip(column, columns[c], strict=True)}
        if len(offsets) == 1:
            offset = offsets.pop()
            return f"{{{name}{offset:+d}}}" if offset else f"{{{name}}}"
    return None


def _split(rows: list[_Row], column: int) -> list[list[_Row]]:
    parts: dict[int, list[_Row]] = {}
    for row in rows:
        parts.setdefault(row.numbers[column], []).append(row)
    return list(parts.values())


def _runs(rows: list[_Row], column: int) -> list[list[_Row]]:
    """Runs of rows in which one number increases by one, and the others are constant or do too."""
    runs: list[list[_Row]] = []
    change: tuple[int, ...] | None = None
    for row in sorted(rows, key=lambda r: r.numbers[column]):
        if runs:
            last = runs[-1][-1]
            step = tuple(b - a for a, b in zip(last.others, row.others, strict=True))
            follows = row.numbers[column] == last.numbers[column] + 1
            if follows and set(step) <= {0, 1} and change in (None, step):
                change = step
                runs[-1].append(row)
                continue
        runs.append([row])
        change = None
    return runs
