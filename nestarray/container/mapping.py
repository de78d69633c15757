"""Maps and running reductions over leaves, sub-containers and paths.

`Container.map` and `Container.reduce` are methods of the class and process one leaf after the
other. This file adds `map_nodes` (whole sub-containers), `parallel_map` (leaves in threads) and
`accumulate` (the steps of a reduction).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import Any

from nestarray.container.access import Leaves, align_leaves, keeping_removed, map_leaves
from nestarray.container.arguments import check_depth, check_function
from nestarray.container.attaching import method
from nestarray.container.building import build
from nestarray.container.container import Container, New, from_leaves, from_results
from nestarray.container.leaf import REMOVED
from nestarray.container.selection import matches
from nestarray.container.spec import LEAF, Path, Spec, join_path, make_spec
from nestarray.errors import ArgumentError

_NO_INITIAL = object()


@method
def count(c: Container, /, *patterns: Any, dtype: Any = None, shape: Any = None) -> int:
    """The number of leaves, or of the leaves that `Container.select` returns.

    ``len(c)`` is the number of keys of the top node, ``c.size`` the number of elements.

    Args:
        c: a Container.
        *patterns: as for `Container.select`; none counts all leaves.
        dtype: as for `Container.select`.
        shape: as for `Container.select`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a={"weight": np.ones(2), "bias": 0.0}, b={"bias": None})
        >>> c.count(), c.count("**/bias"), c.count(dtype="real floating")
        (3, 2, 1)
    """
    if not patterns and dtype is None and shape is None:
        return c.spec.num_leaves
    return sum(matches(c.spec, c.leaves(), patterns, dtype, shape))


@method
def accumulate(
    c: Container, fn: Callable[[Any, Any], Any], /, initial: Any = _NO_INITIAL
) -> Container[Any]:
    """The running reduction: each leaf becomes the reduction of all leaves up to it.

    The last leaf equals ``c.reduce(fn, initial)``.

    Args:
        c: a Container.
        fn: ``fn(reduction, leaf)``.
        initial: the reduction before the first leaf; without it, the first leaf is the start.

    Returns:
        a Container of the structure of `c`.

    Example:
        >>> import nestarray as na
        >>> c = na.Container(a=1, b=[10, 100])
        >>> c.accumulate(lambda total, leaf: total + leaf).to_dict()
        {'a': 1, 'b': [11, 111]}
    """
    check_function("Container.accumulate", "fn", fn, "fn(reduction, leaf)")
    reduction = initial

    def step(leaf: Any) -> Any:
        nonlocal reduction
        if type(leaf) in REMOVED:
            return leaf
        reduction = leaf if reduction is _NO_INITIAL else fn(reduction, leaf)
        return reduction

    return from_leaves(c.spec, map_leaves(c.spec, step, [c.leaves()]))


@method
def parallel_map(
    c: Container,
    fn: Callable[..., New],
    /,
    *others: Any,
    max_workers: int | None = None,
    with_path: bool = False,
) -> Container[New]:
    """`Container.map` in threads, for host work that waits or releases the GIL.

    Useful for reading, decoding, compression and large NumPy operations; not for framework calls
    that are dispatched to a device. Calls inherit the caller's context variables
    (`use_backend`), but not the thread-local state of frameworks (``torch.no_grad``).

    Args:
        c: a Container.
        fn: as for `Container.map`; called for several leaves at the same time, in any order.
        *others: as for `Container.map`.
        max_workers: the number of threads; None uses Python's default.
        with_path: pass the path, ``"a/b"``, as first argument.

    Returns:
        a Container of the structure of `c`, as from `Container.map`. If calls fail, the error of
        the first of these leaves is raised with its path, and pending calls are cancelled.

    Raises:
        StructureError: a Container in `others` does not match.
        ArgumentError: `max_workers` is not positive.

    Example:
        >>> import zlib, nestarray as na
        >>> c = na.Container(a=b"x" * 1000, b=[b"y" * 1000])
        >>> c.parallel_map(zlib.compress, max_workers=2).map(len).to_dict()
        {'a': 17, 'b': [17]}
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    if max_workers is not None and (not isinstance(max_workers, int) or max_workers < 1):
        raise ArgumentError(
            f"Container.parallel_map: max_workers: got {max_workers!r}, expected a positive "
            "integer or None"
        )
    check_function("Container.parallel_map", "fn", fn, "fn(leaf)")
    columns = [c.leaves(), *(align_leaves(c.spec, o, "Container.parallel_map") for o in others)]
    if with_path:
        columns.insert(0, c.spec.path_names)
    fn = keeping_removed(fn, c.leaves(), with_path)
    executor = ThreadPoolExecutor(max_workers)
    try:
        calls = [executor.submit(copy_context().run, fn, *row) for row in zip(*columns)]
        return from_results(c.spec, map_leaves(c.spec, Future.result, [tuple(calls)]))
    finally:
        executor.shutdown(cancel_futures=True)


@method
def map_nodes(
    c: Container,
    fn: Callable[..., Any],
    /,
    *patterns: Any,
    depth: int | None = None,
    with_path: bool = False,
) -> Container:
    """Apply `fn` to whole sub-containers and replace them by its results.

    Of nested matches only the outermost is replaced. Leaves and nodes without a match are kept.

    Args:
        c: a Container.
        fn: ``fn(node)``, or ``fn(path, node)`` under `with_path`; returns a tree or an array.
        *patterns: which nodes: globs, regular expressions, types (``ListContainer``) and
            predicates ``fn(path, node)``, as for `Container.select`.
        depth: only nodes at this depth, where 0 is `c` itself. Default without patterns: 1.
        with_path: pass the path, ``"a/b"``, as first argument.

    Example:
        >>> import nestarray as na
        >>> c = na.Container(net={"block0": {"w": 1, "b": 2}, "block1": {"w": 3, "b": 4}}, step=5)
        >>> c.map_nodes(lambda block: block["w"] + block["b"], "net/block*").to_dict()
        {'net': {'block0': 3, 'block1': 7}, 'step': 5}
        >>> c.map_nodes(len).to_dict()
        {'net': 2, 'step': 5}
    """
    check_function("Container.map_nodes", "fn", fn, "fn(node)")
    if depth is None and not patterns:
        depth = 1
    if depth is not None:
        check_depth("Container.map_nodes", "depth", depth, 0)
    found = [(path, node) for path, node in places(c) if isinstance(node, Container)]
    if depth is not None:
        found = [(path, node) for path, node in found if len(path) == depth]
    new = {}
    for path, node in outermost(found, patterns):
        name = join_path(path)
        try:
            new[path] = build(fn(name, node) if with_path else fn(node))
        except Exception as error:
            error.add_note(f"at the Container path {name!r}")
            raise
    return from_leaves(*with_parts(c.spec, c.leaves(), new))


def places(c: Container, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """(path, leaf or sub-container) of every place: `c` itself first, and nodes before members.

    Example:
        >>> import nestarray as na
        >>> [path for path, _ in places(na.Container(a={"b": 1}))]
        [(), ('a',), ('a', 'b')]
    """
    yield path, c
    for key in c.spec.keys:
        start, stop, spec = c.spec.index[key]
        if spec is LEAF:
            yield (*path, key), c.leaves()[start]
        else:
            yield from places(from_leaves(spec, c.leaves()[start:stop]), (*path, key))


def outermost(found: list[tuple[Path, Any]], patterns: tuple[Any, ...]) -> list[tuple[Path, Any]]:
    """The outermost matching places, from places in the order of `places`.

    The whole tree has no name, so patterns never match it.
    """
    if patterns:
        found = [(path, value) for path, value in found if path]
        names = tuple(join_path(path) for path, _ in found)
        level = make_spec("dict", names, (LEAF,) * len(names))  # all places as one flat level
        hits = matches(level, tuple(value for _, value in found), patterns)
        found = [place for place, hit in zip(found, hits, strict=True) if hit]
    taken: set[Path] = set()
    for path, _ in found:
        if not any(path[:n] in taken for n in range(len(path))):
            taken.add(path)
    return [(path, value) for path, value in found if path in taken]


def with_parts(
    spec: Spec, leaves: Leaves, new: dict[Path, tuple[Spec, Leaves]], path: Path = ()
) -> tuple[Spec, Leaves]:
    """The tree with the parts at some paths replaced; each new part is (spec, leaves).

    Example:
        >>> import nestarray as na
        >>> c = na.Container(a={"b": 1}, c=2)
        >>> from_leaves(*with_parts(c.spec, c.leaves(), {("a", "b"): build([5, 6])})).to_dict()
        {'a': {'b': [5, 6]}, 'c': 2}
    """
    if path in new:
        return new[path]
    if spec is LEAF:
        return spec, leaves
    parts = []
    for key in spec.keys:
        start, stop, child = spec.index[key]
        parts.append(with_parts(child, leaves[start:stop], new, (*path, key)))
    changed = make_spec(spec.kind, spec.keys, tuple(s for s, _ in parts))
    return changed, tuple(leaf for _, part in parts for leaf in part)
