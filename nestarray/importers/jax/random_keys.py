"""Arrays of typed random keys, which graphs hold as arrays of their words, uint32[..., 2]."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from nestarray.importers.jax.equations import bind


def is_moving(eqn: Any) -> bool:
    """Whether an equation selects, joins or reshapes arrays of keys."""
    is_of_keys = any(_is_key(v.aval) for v in (*eqn.invars, *eqn.outvars))
    return is_of_keys and not eqn.primitive.name.startswith("random_")


def on_words(eqn: Any) -> Any:
    """The jaxpr of such an equation on words: the last axis is mapped."""

    def function(*operands: Any) -> Any:
        return bind(eqn, operands)

    axes = [-1 if _is_key(v.aval) else None for v in eqn.invars]
    words = [
        jax.ShapeDtypeStruct((*v.aval.shape, 2), np.uint32) if _is_key(v.aval) else v.aval
        for v in eqn.invars
    ]
    return jax.make_jaxpr(jax.vmap(function, in_axes=axes, out_axes=-1, axis_size=2))(*words)


def _is_key(aval: Any) -> bool:
    return str(getattr(aval, "dtype", "")).startswith("key<")
