"""`Body`: the function inside of a call of a graph, such as the step of a scan.

It is printed as a function in front of the call, and uses values of the program around it
as Python's closures do, so a graph with loops is still one program text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nestarray.graph.graph import Node


@dataclasses.dataclass(eq=False)
class Body:
    """A function of tuples of arrays.

    Attributes:
        name: by which it is printed.
        names: the parameters.
        parameters: for each parameter its Node, or the tuple of Nodes that it is unpacked to.
        nodes: the calls, in an order in which they can run.
        output: nest of Nodes and constants.
    """

    name: str
    names: tuple[str, ...]
    parameters: tuple[Any, ...]
    nodes: list[Node]
    output: Any

    def __repr__(self) -> str:
        return self.name

    @cached_property
    def free(self) -> list[Node]:
        """The nodes of the program around it that it uses."""
        from nestarray.graph.graph import iter_nodes

        own = {*iter_nodes(self.parameters), *self.nodes}
        used = iter_nodes((self.output, [(node.args, node.kwargs) for node in self.nodes]))
        return list(dict.fromkeys([node for node in used if node not in own]))

    def bound(self, outer: Callable[[Node], Any]) -> Callable[..., Any]:
        """The function, with `outer` to give the values of `free`, computed node by node."""
        from nestarray.graph.graph import map_nodes

        def run(*args: Any) -> Any:
            values: dict[Node, Any] = {}

            def value(node: Node) -> Any:
                return values[node] if node in values else outer(node)

            for want, given in zip(self.parameters, args, strict=True):
                pairs = (
                    zip(want, given, strict=True) if isinstance(want, tuple) else [(want, given)]
                )
                values.update(pairs)
            for node in self.nodes:
                arguments, kwargs = map_nodes(value, [list(node.args), node.kwargs])
                assert node.target is not None
                values[node] = node.target(*arguments, **kwargs)
            return map_nodes(value, self.output)

        return run


def bodies(value: Any) -> Iterator[Body]:
    """The Bodies among the arguments of a call."""
    if isinstance(value, Body):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from bodies(item)
