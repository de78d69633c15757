"""Sizes that depend on values, such as the number of elements of ``x[x > 0]``.

A graph computes them at run time. Compilers that need all sizes in advance reject such a graph;
the error names the first call with such a size.
"""

from __future__ import annotations

from collections.abc import Iterable

from nestarray import dtypes
from nestarray.frontends.rules import signature_of
from nestarray.graph.node import Call, Node, iter_nodes
from nestarray.sizes import names_of

#: The annotations of parameters that take integers.
_INTEGERS = frozenset(["int", "Ints", "Pairs"])

#: Ops whose results have sizes that depend on values, unless a setting gives them.
_SIZED_BY_VALUES = frozenset(
    ["na.argwhere", "na.bincount", "na.nonzero", "na.trim_zeros", "na.unique_all",
     "na.unique_counts", "na.unique_inverse", "na.unique_values"]
)  # fmt: skip


def first_of_unknown_size(
    inputs: Iterable[Node], calls: Iterable[Call], names: Iterable[str]
) -> Call | None:
    """The first call whose size values decide, or that reads an integer or bool from an array.

    Args:
        inputs, calls: the nodes of a graph.
        names: the names of open sizes.
    """
    known = {*names, *(name for node in inputs for name in size_names(node))}
    for node in calls:
        is_known = size_names(node) <= known and not is_sized_by_values(node)
        if _reads_integer(node) or integer_arguments(node) or not is_known:
            return node
    return None


def is_sized_by_values(node: Call) -> bool:
    """Whether values decide the size of the result of an op of `na`, such as ``x[x > 0]``."""
    used = list(iter_nodes((node.args, node.kwargs)))
    if node.target_name == "na.getitem":
        return any(x.aval is not None and x.aval.dtype is dtypes.bool for x in used[1:])
    if node.target_name == "na.repeat":
        return len(used) > 1
    return node.target_name in _SIZED_BY_VALUES and not {"size", "length"} & node.kwargs.keys()


def _reads_integer(node: Call) -> bool:
    if not node.target_name.endswith(".item"):  # the method's name in each framework
        return False
    aval = next(iter_nodes(node.args)).aval
    return aval is None or aval.dtype.kind not in ("float", "complex")


def integer_arguments(node: Call) -> list[Node]:
    """The arrays of integers that are arguments of parameters which take integers."""
    if not any(map(_is_integer_array, iter_nodes((node.args, node.kwargs)))):
        return []
    signature = signature_of(node.target)
    try:
        bound = signature.bind(*node.args, **node.kwargs).arguments
    except TypeError:  # a builtin without a signature
        return []
    return [
        used
        for name, value in bound.items()
        if signature.parameters[name].annotation in _INTEGERS
        for used in iter_nodes(value)
        if _is_integer_array(used)
    ]


def _is_integer_array(node: Node) -> bool:
    return node.aval is not None and node.aval.dtype.is_integer


def unknown_size(place: Call, backend: str) -> str:
    """Why a compiled call failed, and what to do."""
    at = ", ".join(x for x in (place.module and f"module {place.module!r}", place.line) if x)
    return (
        f"values decide the size of {place.name!r}{f' ({at})' if at else ''}, and a program compiled "
        f"for {backend} knows its sizes; call the graph itself, or compile it on TensorFlow"
    )


def size_names(node: Node) -> set[str]:
    """The names in the sizes of a node's value."""
    shape = () if node.aval is None else node.aval.shape
    return {name for size in shape for name in names_of(size)}
