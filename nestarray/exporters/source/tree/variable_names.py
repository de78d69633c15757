"""Names of local variables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.tree.modules import KINDS, Path, identifier, numbered

#: Names that a value takes over from one that is no longer needed.
GENERIC = ("x", "h", "y", "mask", "ids")


def kind_of(value: Value) -> str:
    """A base name by dtype."""
    if value.dtype in KINDS:
        return value.dtype
    if value.dtype in ("bool", "size"):
        return "mask" if value.dtype == "bool" else "n"
    return "ids" if value.dtype.startswith(("int", "uint")) else "x"


def input_names(values: Sequence[Value]) -> dict[Value, str]:
    """Names of the inputs of a module; the arguments of the model keep their names."""
    names: dict[Value, str] = {}
    for value in values:
        if value.source in ("x", "mode", "key"):  # of Haiku, the keys of a dict have slashes
            candidates = numbered(identifier(re.sub(r"\W", "_", value.path)))
            names[value] = next(name for name in candidates if name not in names.values())
    for value in values:
        if value in names:
            continue
        base = re.sub(r"\W", "_", value.path.rpartition("/")[2]) if value.source in "vs" else ""
        base = base if base.isidentifier() else kind_of(value)
        others = (f"{base}{number}" for number in itertools.count(2))
        options = itertools.chain(["x", "y", "z"] if base == "x" else [base], others)
        names[value] = next(name for name in options if name not in names.values())
    return {value: names[value] for value in values}


def hint_name(paths: set[Path]) -> str:
    """A name for the result of a module; empty if several modules, or numbers, are given."""
    names = (
        [name for name in (*next(iter(paths)),) if not name.isdigit()] if len(paths) == 1 else []
    )
    if not names or re.search(r"\d", names[-1]):
        return ""
    name = re.sub(r"\W", "_", names[-1]).removesuffix("_proj").removesuffix("_projection")
    return name if name.isidentifier() else ""


def snake(name: str) -> str:
    """``"BertSelfAttention"`` as ``"bert_self_attention"``."""
    spaced = re.sub(
        r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])|(?<=[0-9])(?=[A-Z]{2})",
        "_",
        name.replace("ViT", "Vit"),
    )
    return spaced.lower()
