"""Trees from which optax removed leaves: ``map`` and ops pass over `optax.MaskedNode`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import nestarray as na

PLAIN = {"body": {"w": jnp.ones((2, 3)), "b": jnp.ones(3)}, "head": {"w": jnp.ones((3, 1))}}


def labels(path: str, leaf: Any) -> str:
    return path.partition("/")[0]


MASKS: dict[str, Callable[[na.Container], na.Container]] = {
    "map": lambda p: p.map(lambda x: x.ndim > 1),
    "map with paths": lambda p: p.map(lambda path, x: x.ndim > 1, with_path=True),
    "parallel map": lambda p: p.parallel_map(lambda x: x.ndim > 1),
    "joined map": lambda p: p.map(lambda x, y: x.ndim > 1, p, join="outer"),
    "predicate": lambda p: p.mask(lambda x: x.ndim > 1),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_masks_inside_of_masks(mask: Any) -> None:
    def transform(mask: Any, label: Any) -> optax.GradientTransformation:
        decayed = optax.adamw(0.1, mask=mask)
        return optax.multi_transform({"head": decayed, "body": optax.masked(decayed, mask)}, label)

    plain_mask = lambda p: jax.tree.map(lambda x: x.ndim > 1, p)  # noqa: E731
    plain_labels = {"body": {"w": "body", "b": "body"}, "head": {"w": "head"}}
    params, expected = na.Container(PLAIN), PLAIN
    for _ in range(2):
        for c, tx in (
            (params, transform(mask, lambda p: p.map(labels, with_path=True))),
            (expected, transform(plain_mask, plain_labels)),
        ):
            updates, _ = tx.update(c, tx.init(c), c)
            if c is params:
                params = optax.apply_updates(params, updates)
            else:
                expected = optax.apply_updates(expected, updates)
    jax.tree.map(np.testing.assert_array_equal, params.to_dict(), expected)


def masked() -> na.Container:
    return jax.tree.map(
        lambda keep, x: x if keep else optax.MaskedNode(),
        na.Container(PLAIN).mask("**/w"),
        na.Container(PLAIN),
    )


def test_removed_leaves_are_kept() -> None:
    c = masked()
    assert isinstance(c["body/b"], optax.MaskedNode)
    for changed in (
        c.map(jnp.shape),
        c * 2 + c,
        na.exp(c),
        c.at["body"].multiply(3),
    ):
        assert changed["body/b"] is c["body/b"]
        assert changed.paths() == c.paths()
    np.testing.assert_array_equal((c * 2 + c)["head/w"], np.full((3, 1), 3.0))


def test_reductions_leave_them_out() -> None:
    c = masked()
    assert c.tree_sum() == 9.0
    assert c.reduce(lambda total, x: total + x.size, 0) == 9
    sizes = c.map(jnp.size).accumulate(lambda total, size: total + size)
    assert (sizes["body/w"], sizes["head/w"]) == (6, 9)
    assert c.select(lambda x: x.ndim == 2).paths() == ("body/w", "head/w")
