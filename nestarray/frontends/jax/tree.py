"""The functions of `tree_util` under their short names.

Upstream: https://docs.jax.dev/en/latest/jax.tree.html
"""

from __future__ import annotations

import dataclasses
from typing import Any

from nestarray.frontends.jax.tree_util import tree_all as all
from nestarray.frontends.jax.tree_util import tree_broadcast as broadcast
from nestarray.frontends.jax.tree_util import tree_flatten as flatten
from nestarray.frontends.jax.tree_util import tree_flatten_with_path as flatten_with_path
from nestarray.frontends.jax.tree_util import tree_leaves as leaves
from nestarray.frontends.jax.tree_util import tree_leaves_with_path as leaves_with_path
from nestarray.frontends.jax.tree_util import tree_map as map
from nestarray.frontends.jax.tree_util import tree_map_with_path as map_with_path
from nestarray.frontends.jax.tree_util import tree_reduce as reduce
from nestarray.frontends.jax.tree_util import tree_reduce_associative as reduce_associative
from nestarray.frontends.jax.tree_util import tree_structure as structure
from nestarray.frontends.jax.tree_util import tree_transpose as transpose
from nestarray.frontends.jax.tree_util import tree_unflatten as unflatten

__all__ = [
    "all", "broadcast", "flatten", "flatten_with_path", "leaves", "leaves_with_path", "map",
    "map_with_path", "reduce", "reduce_associative", "static", "structure", "transpose", "unflatten",
]  # fmt: skip


def static(**kwargs: Any) -> Any:
    """A field of a dataclass that is part of the structure; the arguments of `dataclasses.field`."""
    metadata = {"static": True, **(kwargs.pop("metadata", None) or {})}
    return dataclasses.field(metadata=metadata, **kwargs)
