"""Containers against plain nests and tree libraries: arithmetic, pytrees, compiled calls, access."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Seconds, Table, compare, ratio, readable
from nestarray.backends import core, foreach

COUNTS = (10, 100, 1_000, 10_000)
LARGE = 4_096
#: Large leaves in trees of at most this many: 64 MiB an argument.
MOST_LARGE = 1_000

Functions = dict[str, Callable[[], Any]]


def tables() -> list[Table]:
    """Arithmetic, flattening by JAX, compiled calls, and access to parts of trees."""
    return [_sums(), _chains(), _pytrees(), _calls(), _access()]


def _tree(backend: str, count: int, size: int, shift: float = 0.0) -> dict[str, dict[str, Any]]:
    convert = core(backend).from_numpy
    return {
        f"layer{i}": {
            f"w{k}": convert(np.full(size, i + k + shift, "float32"))
            for k in range(min(10, count - 10 * i))
        }
        for i in range((count + 9) // 10)
    }


def _seconds(functions: Functions, count: int) -> dict[str, Seconds]:
    # many short rounds: few long ones are all interrupted where others use the machine too
    rounds = 61 if count < 1_000 else 31 if count < 10_000 else 5
    return compare(functions, rounds=rounds, at_least=0.0005)


def _sums() -> Table:
    table = Table(
        "c + d",
        ["backend, leaves × elements", "Container", "fused", "native loop", "jax.tree.map", "one jax.jit", "optree", "dm-tree", "TensorDict", "goal"],
        "In brackets: the time of Container relative to it. The native loop is a list comprehension"
        " of x + y. Fused is the sum of c.fuse() and d.fuse(), in brackets relative to the loop, and"
        " on JAX to jax.tree.map, of which 0.05 is the goal. One jax.jit is a compiled function of"
        " the two tuples of leaves, below which no call gets that gives as many arrays: each costs"
        " about 2 µs to make; and fused is one call of JAX. JAX and TensorFlow: after"
        f" {foreach.CALLS} calls.",
    )  # fmt: skip
    goals = {
        "numpy": "1.05 of the loop", "torch": "1.05 of the loop", "jax": "0.3 of jax.tree.map",
        "tensorflow": "0.6 of the loop",
    }  # fmt: skip
    for backend, goal in goals.items():
        for size, counts in ((4, COUNTS), (LARGE, [n for n in COUNTS if n <= MOST_LARGE])):
            for count in counts:
                functions = _sums_of(backend, count, size)
                if backend in ("jax", "tensorflow"):  # until it is compiled
                    for _ in range(foreach.CALLS):
                        functions["Container"]()
                time = _seconds(functions, count)
                ours, fused = time.pop("Container"), time.pop("fused")
                peer = time["jax.tree.map" if backend == "jax" else "native loop"]
                cells = [
                    f"{readable(time[name])} ({ratio(ours, time[name])})" if name in time else ""
                    for name in table.columns[3:-1]
                ]
                cells.insert(0, f"{readable(fused)} ({ratio(fused, peer)})")
                table.add(f"{backend}, {count:,} × {size:,}", readable(ours), *cells, goal)
    return table


def _sums_of(backend: str, count: int, size: int) -> Functions:
    import jax
    import optree
    import tree as dm_tree

    left, right = _tree(backend, count, size), _tree(backend, count, size, shift=0.5)
    c, d = na.Container(left), na.Container(right)
    ours, theirs = list(c.leaves()), list(d.leaves())
    add = operator.add
    ready: Callable[[Any], Any] = jax.block_until_ready if backend == "jax" else lambda x: x
    fused, other = c.fuse(), d.fuse()
    functions: Functions = {
        "Container": lambda: ready(c + d),
        "fused": lambda: ready(fused + other),
        "native loop": lambda: ready([x + y for x, y in zip(ours, theirs)]),
    }
    if backend != "tensorflow":
        functions["jax.tree.map"] = lambda: ready(jax.tree.map(add, left, right))
    if backend == "jax" and count < 10_000:  # which takes minutes to compile
        compiled = jax.jit(lambda ours, theirs: tuple(map(add, ours, theirs)))
        functions["one jax.jit"] = lambda: ready(compiled(c.leaves(), d.leaves()))
    if backend != "tensorflow" and count < 10_000:  # they call the same sums, for a second each
        functions["optree"] = lambda: ready(optree.tree_map(add, left, right))  # type: ignore[arg-type]
        functions["dm-tree"] = lambda: ready(dm_tree.map_structure(add, left, right))
    if backend == "torch" and count < 10_000:
        from tensordict import TensorDict

        a, b = TensorDict(left), TensorDict(right)
        functions["TensorDict"] = lambda: a + b
    return functions


def _chains() -> Table:
    table = Table(
        "(c + d) * d - c",
        ["backend, leaves × elements", "Container", "native loop", "goal"],
        "Of two of the three calls an operand is the result of the one before, of which nothing is "
        "known yet. In brackets: the time of Container relative to it.",
    )
    for backend in ("numpy", "torch"):
        for count in COUNTS[:-1]:
            left, right = _tree(backend, count, 4), _tree(backend, count, 4, shift=0.5)
            c, d = na.Container(left), na.Container(right)
            time = _seconds({"c": _chain_of(c, d), "loop": _loops_of(c, d)}, count)
            cell = f"{readable(time['loop'])} ({ratio(time['c'], time['loop'])})"
            table.add(f"{backend}, {count:,} × 4", readable(time["c"]), cell, "1.05 of the loop")
    return table


def _chain_of(c: na.Container, d: na.Container) -> Callable[[], Any]:
    return lambda: (c + d) * d - c


def _loops_of(c: na.Container, d: na.Container) -> Callable[[], Any]:
    left, right = list(c.leaves()), list(d.leaves())

    def loops() -> list[Any]:
        sums = [x + y for x, y in zip(left, right)]
        products = [x * y for x, y in zip(sums, right)]
        return [x - y for x, y in zip(products, left)]

    return loops


def _pytrees() -> Table:
    import jax

    table = Table(
        "Flatten and unflatten in JAX",
        ["leaves", "Container", "nested dict", "ratio"],
        "The goal is 1.2 of a nested dict.",
    )
    for count in COUNTS:
        tree = _tree("numpy", count, 4)
        c = na.Container(tree)
        time = _seconds(
            {"c": lambda c=c: _through(jax, c), "d": lambda t=tree: _through(jax, t)}, count
        )
        table.add(
            f"{count:,}", readable(time["c"]), readable(time["d"]), ratio(time["c"], time["d"])
        )
    return table


def _through(jax: Any, tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree)
    return jax.tree.unflatten(structure, leaves)


def _calls() -> Table:
    import jax

    table = Table(
        "Call of a compiled function that takes and returns a tree, in JAX",
        ["leaves", "Container", "nested dict", "ratio"],
        "The function adds 1 to one leaf. The goal is 1.2 of a nested dict.",
    )
    for count in COUNTS[:-1]:
        tree = _tree("jax", count, 4)
        c = na.Container(tree)
        of_container = jax.jit(lambda c: c.set("layer0/w0", c["layer0"]["w0"] + 1.0))
        of_dict = jax.jit(lambda t: {**t, "layer0": {**t["layer0"], "w0": t["layer0"]["w0"] + 1.0}})
        functions: Functions = {
            "c": lambda f=of_container, c=c: jax.block_until_ready(f(c)),
            "d": lambda f=of_dict, t=tree: jax.block_until_ready(f(t)),
        }
        time = _seconds(functions, count)
        table.add(
            f"{count:,}", readable(time["c"]), readable(time["d"]), ratio(time["c"], time["d"])
        )
    return table


def _access() -> Table:
    table = Table(
        "Access to a Container",
        ["operation", *(f"{n:,} leaves" for n in COUNTS), "goal"],
        "Every Container has ten leaves under each key of its first level.",
    )
    rows: dict[str, tuple[Callable[[na.Container, na.Container], Callable[[], Any]], str]] = {
        'c["layer0/w5"]': (lambda c, _: lambda: c["layer0/w5"], "500 ns"),
        'c["layer0"]["w5"]': (lambda c, _: lambda: c["layer0"]["w5"], ""),
        "c.layer0.w5": (lambda c, _: lambda: c.layer0.w5, ""),
        'c.set("layer0/w5", x)': (lambda c, _: lambda: c.set("layer0/w5", 0.0), "100 µs"),
        'c.set("new/w", x)': (lambda c, _: lambda: c.set("new/w", 0.0), ""),
        "c.spec is d.spec": (lambda c, d: lambda: c.spec is d.spec, "constant"),
    }
    trees = [
        (na.Container(_tree("numpy", n, 4)), na.Container(_tree("numpy", n, 4))) for n in COUNTS
    ]
    for name, (make, goal) in rows.items():
        functions = {str(len(c.leaves())): make(c, d) for c, d in trees}
        time = compare(functions, rounds=61, at_least=0.0005)
        table.add(name, *map(readable, time.values()), goal)
    return table
