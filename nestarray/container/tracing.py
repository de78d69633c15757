"""The trace type of a Container for ``tf.function``, keyed by structure.

By default TensorFlow treats a Container as a dict and rebuilds it from a list of pairs. Tensors
are listed in the order of ``tf.nest``, which sorts the keys of each node, because TensorFlow
zips the results of the two. ``tf.nest`` copies the inputs and outputs of a traced function, so a
fused Container is passed leaf by leaf; `nestarray.jit` and ``na.tree.flatten`` pass its buffers.
``tf.nest`` tests for a Mapping before a composite tensor, an extension type or
``__tf_flatten__``, so a Mapping cannot be one of these.

https://www.tensorflow.org/api_docs/python/tf/types/experimental/TraceType
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from nestarray.container.attaching import method
from nestarray.container.container import Container, from_leaves
from nestarray.container.spec import Spec


@method
def __tf_tracing_type__(c: Container, context: Any) -> Any:
    from tensorflow.core.function.trace_type import from_value

    leaves = tuple([from_value(leaf, context) for leaf in c.leaves()])
    return _trace_type_class()(c.spec, leaves)


@cache
def _trace_type_class() -> type:
    import tensorflow as tf

    class ContainerTraceType(tf.types.experimental.TraceType):
        """The structure of a Container and the trace type of each leaf."""

        def __init__(self, spec: Spec, leaves: tuple[Any, ...]) -> None:
            self.spec, self.leaves = spec, leaves
            self.order = tuple(_nest_order(spec, 0))

        def is_subtype_of(self, other: Any) -> bool:
            """Whether a function traced for `other` accepts this type."""
            return self._matches(other) and all(
                a.is_subtype_of(b) for a, b in zip(self.leaves, other.leaves, strict=True)
            )

        def most_specific_common_supertype(
            self, others: Sequence[Any]
        ) -> ContainerTraceType | None:
            """The narrowest common supertype of this type and `others`."""
            if not all(self._matches(other) for other in others):
                return None
            columns = zip(self.leaves, *(other.leaves for other in others), strict=True)
            common = tuple(leaf.most_specific_common_supertype(rest) for leaf, *rest in columns)
            return None if None in common else ContainerTraceType(self.spec, common)

        def placeholder_value(self, placeholder_context: Any) -> Container:
            """A Container of placeholders for tracing."""
            values = tuple(leaf.placeholder_value(placeholder_context) for leaf in self.leaves)
            return from_leaves(self.spec, values)

        def to_tensors(self, value: Container) -> list[Any]:
            """The tensors in `value`, in ``tf.nest`` order."""
            values = value.leaves()
            return [t for i in self.order for t in self.leaves[i].to_tensors(values[i])]

        def from_tensors(self, tensors: Iterator[Any]) -> Container:
            """A Container of the next tensors, in ``tf.nest`` order."""
            values = {i: self.leaves[i].from_tensors(tensors) for i in self.order}
            return from_leaves(self.spec, tuple(values[i] for i in range(len(values))))

        def flatten(self) -> list[Any]:
            """The trace types of the tensors, in ``tf.nest`` order."""
            return [kind for i in self.order for kind in self.leaves[i].flatten()]

        def cast(self, value: Any, cast_context: Any) -> Container:
            """`value` with each leaf cast to its trace type."""
            leaves = (
                k.cast(v, cast_context) for k, v in zip(self.leaves, value.leaves(), strict=True)
            )
            return from_leaves(self.spec, tuple(leaves))

        def _matches(self, other: Any) -> bool:
            return isinstance(other, ContainerTraceType) and self.spec is other.spec

        def __eq__(self, other: Any) -> bool:
            return self._matches(other) and self.leaves == other.leaves

        def __hash__(self) -> int:
            return hash((id(self.spec), self.leaves))

        def __repr__(self) -> str:
            return f"ContainerTraceType({self.spec!r}, {self.leaves!r})"

    return ContainerTraceType


def _nest_order(spec: Spec, start: int) -> Iterator[int]:
    """Leaf numbers in the order in which ``tf.nest`` visits the leaves."""
    if spec.kind == "leaf":
        yield start
        return
    for key in sorted(spec.sortable_keys):  # type: ignore[type-var]
        first, _, child = spec.index[key]
        yield from _nest_order(child, start + first)
