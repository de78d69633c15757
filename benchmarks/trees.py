"""An optimizer step on whole trees, against other tree libraries; sums are in `container`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable
from nestarray.backends import foreach


def tables() -> list[Table]:
    """A step of an optimizer, ``c - 0.1 * g``, for trees of 100 and 1,000 leaves of 4 elements."""
    return [_table("c - 0.1 * c", _steps)]


def _tree(leaves: int, convert: Callable[[np.ndarray], Any]) -> dict[str, dict[str, Any]]:
    rows = range(leaves // 10)
    return {
        f"layer{i}": {f"w{k}": convert(np.full(4, i + k, "float32")) for k in range(10)}
        for i in rows
    }


def _steps(tree: dict[str, Any], c: na.Container, leaves: list[Any]) -> dict[str, Any]:
    import jax
    import optree
    import tree as dm_tree

    def step(x: Any, g: Any) -> Any:
        return x - 0.1 * g

    return {
        "Container": lambda: c - 0.1 * c,
        "list comprehension": lambda: [x - 0.1 * x for x in leaves],
        "jax.tree.map": lambda: jax.tree.map(step, tree, tree),
        "optree": lambda: optree.tree_map(step, tree, tree),  # type: ignore[arg-type]
        "dm-tree": lambda: dm_tree.map_structure(step, tree, tree),
    }


def _of_tensordict(d: Any) -> Callable[[], Any]:
    return lambda: d - d * 0.1


def _table(title: str, make: Callable[..., dict[str, Any]]) -> Table:
    import jax.numpy as jnp
    import torch
    from tensordict import TensorDict

    table = Table(
        f"{title}, leaves of 4 elements",
        ["", "Container", "list comprehension", "jax.tree.map", "optree", "dm-tree", "TensorDict"],
        f"In brackets: how much longer than Container. JAX: after {foreach.CALLS} calls.",
    )
    for count in (100, 1000):
        for backend, convert in (
            ("numpy", np.asarray), ("torch", torch.from_numpy), ("jax", jnp.asarray)
        ):  # fmt: skip
            tree = _tree(count, convert)
            c = na.Container(tree)
            functions = make(tree, c, list(c.leaves()))
            if backend == "torch":
                functions["TensorDict"] = _of_tensordict(TensorDict(tree))
            if backend == "jax":  # until it is compiled
                for _ in range(foreach.CALLS):
                    functions["Container"]()
            time = compare(functions)
            ours = time.pop("Container")
            cells = [
                f"{readable(time[name])} ({ratio(time[name], ours)})" if name in time else ""
                for name in table.columns[2:]
            ]
            table.add(f"{backend}, {count:,} leaves", readable(ours), *cells)
    return table
