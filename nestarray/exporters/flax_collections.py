"""Paths as Flax sorts variables: collections, then modules.

The paths of a source from Flax begin with the collection. Parameters of other sources are in
"params", their state is in "batch_stats".
"""

from __future__ import annotations

from nestarray.exporters.program import Program


def places(program: Program) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Path → (collection, keys below it)."""
    if program.v and all(path.startswith("params/") for path in program.v):
        split = {path: path.split("/") for path in (*program.v, *program.s)}
        return {path: (collection, tuple(keys)) for path, (collection, *keys) in split.items()}
    return {
        path: (collection, tuple(path.split("/")))
        for collection, values in (("params", program.v), ("batch_stats", program.s))
        for path in values
    }
