"""How ``tf.function`` reads a Container: its own trace type, keyed by structure.

Left to itself TensorFlow would take a Container for a dict and rebuild it from a list of
pairs. Loaded only when TensorFlow asks for the type of a Container. Tensors are listed in
the order of ``tf.nest``, which sorts the keys of each node: TensorFlow lines up the results
of the two. That is also why a fused Container comes leaf by leaf: ``tf.nest`` copies what goes
into a traced function and what comes out. Packing asks for a Mapping before it asks for a
composite tensor, an extension type or ``__tf_flatten__``, so no Mapping can be one of these.
`nestarray.jit` takes the buffers, and ``na.tree.flatten`` gives them.

https://www.tensorflow.org/api_docs/python/tf/types/experimental/TraceType
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.function.trace_type import from_value

from nestarray.container.container import Container, from_leaves
from nestarray.container.spec import Spec
from nestarray.errors import StructureError

_TraceType = tf.types.experimental.TraceType


class ContainerTraceType(_TraceType):
    """The structure of a Container and the trace type of each leaf."""

    def __init__(self, spec: Spec, leaves: tuple[Any, ...]) -> None:
        self.spec, self.leaves = spec, leaves
        self.order = tuple(_nest_order(spec, 0))

    def is_subtype_of(self, other: Any) -> bool:
        """Whether a function traced for `other` serves this type."""
        return self._matches(other) and all(
            a.is_subtype_of(b) for a, b in zip(self.leaves, other.leaves, strict=True)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> ContainerTraceType | None:
        """The narrowest type of which this one and `others` are subtypes."""
        if not all(self._matches(other) for other in others):
            return None
        columns = zip(self.leaves, *(other.leaves for other in others), strict=True)
        common = tuple(leaf.most_specific_common_supertype(rest) for leaf, *rest in columns)
        return None if None in common else ContainerTraceType(self.spec, common)

    def placeholder_value(self, placeholder_context: Any) -> Container:
        """The Container of placeholders that a function is traced with."""
        values = tuple(leaf.placeholder_value(placeholder_context) for leaf in self.leaves)
        return from_leaves(self.spec, values)

    def to_tensors(self, value: Container) -> list[Any]:
        """The tensors in `value`, in ``tf.nest`` order."""
        values = value.leaves()
        return [t for i in self.order for t in self.leaves[i].to_tensors(values[i])]

    def from_tensors(self, tensors: Iterator[Any]) -> Container:
        """The Container whose tensors come next, in ``tf.nest`` order."""
        values = {i: self.leaves[i].from_tensors(tensors) for i in self.order}
        return from_leaves(self.spec, tuple(values[i] for i in range(len(values))))

    def flatten(self) -> list[Any]:
        """The trace types of the tensors, in ``tf.nest`` order."""
        return [kind for i in self.order for kind in self.leaves[i].flatten()]

    def cast(self, value: Any, cast_context: Any) -> Container:
        """`value` with each leaf cast to its trace type."""
        leaves = (k.cast(v, cast_context) for k, v in zip(self.leaves, value.leaves(), strict=True))
        return from_leaves(self.spec, tuple(leaves))

    def _matches(self, other: Any) -> bool:
        return isinstance(other, ContainerTraceType) and self.spec is other.spec

    def __eq__(self, other: Any) -> bool:
        return self._matches(other) and self.leaves == other.leaves

    def __hash__(self) -> int:
        return hash((id(self.spec), self.leaves))

    def __repr__(self) -> str:
        return f"ContainerTraceType({self.spec!r}, {self.leaves!r})"


def _nest_order(spec: Spec, start: int) -> Iterator[int]:
    """Leaf numbers in the order in which ``tf.nest`` visits the leaves."""
    if spec.kind == "leaf":
        yield start
        return
    if len({type(key) for key in spec.keys}) > 1:
        raise StructureError(
            f"tf.function: TensorFlow cannot sort the keys {list(spec.keys)!r} of a Container; "
            "use strings only, or integers only"
        )
    for key in sorted(spec.keys):  # type: ignore[type-var]
        first, _, child = spec.index[key]
        yield from _nest_order(child, start + first)


def tracing_type(container: Container, context: Any) -> ContainerTraceType:
    """The trace type of a Container."""
    leaves = tuple(from_value(leaf, context) for leaf in container.leaves())
    return ContainerTraceType(container.spec, leaves)
