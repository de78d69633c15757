"""Fused projections of attention: query, key and value in one array.

PyTorch's ``MultiheadAttention`` stores ``in_proj_weight`` of three times the width, GPT-2 ``c_attn``,
vision transformers ``qkv``. Other libraries store three arrays. Only names whose three parts follow
each other are listed here; some models interleave them head by head.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nestarray.container.spec import Path
from nestarray.interchange.naming.pairs import Split
from nestarray.interchange.naming.parameter_names import name_of
from nestarray.interchange.naming.recurrent import Section

#: A fused projection, perhaps with the name of the variable: ``in_proj_weight``.
_FUSED = re.compile(r"(?:in_proj|c_attn|w?qkv|qkv_proj)(?:_(weight|bias|kernel))?", re.IGNORECASE)
_PARTS = ("query", "key", "value")


def has_separate_projections(paths: Sequence[Path]) -> bool:
    """Whether a tree has leaves of queries, keys and values."""
    words = {word for path in paths for word in name_of(path).words}
    return words.issuperset(_PARTS) and not any(map(_fused_key, paths))


def sections(path: Path, shape: tuple[int, ...]) -> list[Section]:
    """The paths that the three parts of a fused leaf would have, and their places in it.

    Example:
        >>> [str(part.steps[0]) for part in sections(("attn", "in_proj_weight"), (6, 2))]
        ['[0:2]', '[2:4]', '[4:6]']
        >>> sections(("attn", "in_proj_weight"), (6, 2))[0].path
        ('attn', 'query', 'weight')
        >>> sections(("attn", "out_proj"), (6, 2))
        []
    """
    found, axis = _fused_key(path), _outputs_axis(shape)
    if found is None or axis is None:
        return []
    place, variable = found
    width = shape[axis] // 3
    end = (*([variable] if variable else []), *path[place + 1 :])
    return [
        Section((*path[:place], part, *end), (Split(axis, i * width, (i + 1) * width, 3 * width),))
        for i, part in enumerate(_PARTS)
    ]


def _fused_key(path: Path) -> tuple[int, str | None] | None:
    """The position of the key with a fused name, and the name of the variable in it."""
    for place, key in enumerate(path):
        found = _FUSED.fullmatch(str(key))
        if found:
            return place, found.group(1)
    return None


def _outputs_axis(shape: tuple[int, ...]) -> int | None:
    """The axis with three times the width of the other, or the only one."""
    match shape:
        case (size,) if size and size % 3 == 0:
            return 0
        case (outputs, inputs) if outputs == 3 * inputs > 0:
            return 0
        case (inputs, outputs) if outputs == 3 * inputs > 0:
            return 1
    return None
