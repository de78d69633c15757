"""The text of a `KeyMap`: its rules with folded blocks, ambiguous and unmatched leaves."""

from __future__ import annotations

from nestarray.interchange.naming.key_map_files import rules_of
from nestarray.interchange.naming.key_patterns import Text, fold
from nestarray.interchange.naming.pairs import Pairing

MAX_LINES = 60


def as_text(keymap: Pairing) -> str:
    """A line for each rule, then ambiguous and unmatched leaves."""
    old, new = keymap.source.num_leaves, keymap.target.num_leaves
    sources, targets = (
        {pair.source for pair in keymap.pairs},
        {pair.target for pair in keymap.pairs},
    )
    lines = [f"KeyMap: {len(sources)} of {old} leaves → {len(targets)} of {new}"]
    rules = rules_of(keymap, keymap.pairs)
    froms = [_shown(source) for source, _, _, _ in rules]
    tos = [_shown(target) for _, target, _, _ in rules]
    left, right = max(map(len, froms), default=0), max(map(len, tos), default=0)
    for (_, _, steps, confidence), source, target in zip(rules, froms, tos, strict=True):
        notes = [str(step) for step in steps]
        if confidence < 1:
            notes.append(f"confidence {confidence:g}")
        lines.append(f"  {source:<{left}} → {target:<{right}}  {', '.join(notes)}".rstrip())
    lines += _ambiguous_lines(keymap)
    for sign, spec, names in zip(
        "-+", (keymap.source, keymap.target), keymap.unmatched, strict=True
    ):
        place = dict(zip(spec.path_names, spec.paths, strict=True))
        lines += [f"{sign} {_shown(t[0])}" for t, _ in fold([((place[n],), "") for n in names])]
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [f"… {len(lines) - MAX_LINES} more lines"]
    return "\n".join(lines)


def _ambiguous_lines(keymap: Pairing) -> list[str]:
    """A line for each ambiguous leaf, or block of leaves, with its candidates."""
    choices: dict[Text, list[tuple[float, str]]] = {}
    for source, target, steps, confidence in rules_of(keymap, keymap.candidates):
        text = ", ".join([_shown(target), *map(str, steps)])
        choices.setdefault(_shown(source), []).append((confidence, f"{text} ({confidence:g})"))
    return [
        f"? {source} → {' or '.join(text for _, text in sorted(options, key=lambda option: -option[0]))}"
        for source, options in choices.items()
    ]


def _shown(text: Text) -> str:
    return text if isinstance(text, str) else "/".join(map(str, text))
