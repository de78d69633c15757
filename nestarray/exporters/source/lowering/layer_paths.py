"""The paths of variables and calls: each call in the module that has its variables."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeGuard

from nestarray.container import Container
from nestarray.dispatch import OPS
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Call,
    Input,
    Node,
    all_calls,
    is_input,
    iter_nodes,
    substituted,
)
from nestarray.graph.passes.rewriting import arguments_of, count_uses, has, is_op, op_name, place_of
from nestarray.traits import Trait

#: Groups of variables in Flax that are not modules.
_COLLECTIONS = ("params", "batch_stats")
#: A part of paths of Haiku for modules that a method other than the constructor made.
_ABSENT = "~"
#: Op → the names of its variables in PyTorch.
_NAMES = {
    "linear": {"weight": "weight", "bias": "bias"},
    "embedding": {"weight": "weight"},
    "layer_norm": {"weight": "weight", "bias": "bias"},
    "group_norm": {"weight": "weight", "bias": "bias"},
    "batch_norm": {
        "weight": "weight", "bias": "bias", "mean": "running_mean", "variance": "running_var",
    },
    **{f"conv{n}d": {"weight": "weight", "bias": "bias"} for n in (1, 2, 3)},
}  # fmt: skip


def with_module_paths(graph: Graph) -> Graph:
    """The graph with variables under the paths of the modules that use them."""
    modules = [_parts(node.module) for node in graph.calls]
    used = {node for call in graph.calls for node in iter_nodes((call.args, call.kwargs))}
    variables = {node: _parts(node.path) for node in used if is_input(node, "v", "s")}
    firsts = {path[0] for path in modules if path}
    for node, path in variables.items():
        if path[0] in _COLLECTIONS and path[0] not in firsts:
            variables[node] = path[1:]
    letters = _letters(graph.name)  # Linen and Keras name the model too
    if all(_letters(path[0]) == letters for path in modules if path):
        modules = [path[1:] for path in modules]
        if all(_letters(path[0]) == letters and len(path) > 1 for path in variables.values()):
            variables = {node: path[1:] for node, path in variables.items()}
    trained = [path for node, path in variables.items() if is_input(node, "v")]
    roots = {path[0] for path in trained}
    if len(roots) == 1 and all(len(path) > 1 for path in trained):
        (root,) = roots  # a model of Keras names its layers' variables
        is_model = (root,) not in modules and not root.isdigit()
        if is_model and len({path[:2] for path in trained}) > 1:
            variables = {
                node: path[1:] if path[:1] == (root,) else path for node, path in variables.items()
            }
            modules = [path[1:] if path[:1] == (root,) else path for path in modules]
    places = dict(zip(graph.calls, map("/".join, modules), strict=True))
    return _moved(graph, {node: "/".join(path) for node, path in variables.items()}, places)


def _letters(name: str) -> str:
    """The letters of a name: the same for ``Tagger``, ``tagger`` and ``tagger_1``."""
    return re.sub(r"[\W\d_]", "", name).lower()


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", _ABSENT))


def _moved(
    graph: Graph, paths: Mapping[Input, str], modules: Mapping[Call, str] | None = None
) -> Graph:
    """The graph with variables under other paths, and calls in other modules."""
    stands_for: dict[Node, Node] = {}
    moved = {node.path: path for node, path in paths.items() if is_input(node, "s")}
    values = {name: dict(getattr(graph, name).flat_items()) for name in ("v", "s")}
    for node, path in paths.items():
        if path != node.path:
            stands_for[node] = dataclasses.replace(node, path=path)
            values[node.source][path] = values[node.source].pop(node.path)
    for node in graph.calls:
        args, kwargs = substituted((node.args, node.kwargs), stands_for)
        module = node.module if modules is None else modules[node]
        stands_for[node] = dataclasses.replace(node, args=args, kwargs=kwargs, module=module)
    return graph.replace(
        nodes=[stands_for.get(node, node) for node in graph.nodes],
        output=substituted(graph.output, stands_for),
        state_updates={
            moved.get(path, path): x
            for path, x in substituted(graph.state_updates, stands_for).items()
        },
        **{name: Container.from_flat_dict(leaves) for name, leaves in values.items()},
    )


def with_layer_names(graph: Graph) -> Graph:
    """The graph with the variables of each layer under PyTorch's names."""
    uses = count_uses(graph)
    paths: dict[Input, str] = {}
    for node in all_calls(graph.calls):
        names = _NAMES.get(op_name(node))
        if names is None:
            continue
        operands = arguments_of(node)
        variables = {
            operands[key]: name for key, name in names.items() if is_variable(operands[key])
        }
        owners = {x.path.rpartition("/")[0] for x in variables}
        if len(owners) == 1 and all(uses[place_of(x)] == 1 for x in variables):
            owner = f"{owners.pop()}/".lstrip("/")
            paths |= {x: owner + name for x, name in variables.items()}
    taken = Counter(
        node.path for node in graph.nodes if isinstance(node, Input) and node not in paths
    )
    taken.update(paths.values())
    return _moved(graph, {node: path for node, path in paths.items() if taken[path] == 1})


def with_called_layers(graph: Graph) -> Graph:
    """The graph with calls in the modules that hold their variables, where others use these.

    ``nn.MultiheadAttention`` reads the weights of its `out_proj`, and does not call it.
    """
    modules = {node: node.module for node in graph.calls}
    paths = [_dotted(path) for path in modules.values()]
    for node in graph.calls:
        if not is_op(node, "linear"):
            continue
        owners = {_dotted(x.path)[:-1] for x in node.args[1:] if is_variable(x)}
        place = _dotted(node.module)
        owner = owners.pop() if len(owners) == 1 else ()
        is_below = len(owner) > len(place) and owner[: len(place)] == place
        if is_below and not any(path[: len(owner)] == owner for path in paths):
            modules[node] = "/".join(owner)
    return _moved(graph, {}, modules)


def _dotted(path: str) -> tuple[str, ...]:
    """The names of a path of a module, with dots or slashes."""
    return _parts(path.replace(".", "/"))


def with_single_layers(graph: Graph) -> Graph:
    """The graph with activations and layouts outside of modules that have one layer."""
    groups: dict[str, list[Call]] = {}
    for node in graph.calls:
        groups.setdefault(node.module, []).append(node)
    modules = {node: node.module for node in graph.calls}
    for path, calls in groups.items():
        layers = [node for node in calls if is_op(node, *_NAMES, "conv", "conv_transpose")]
        others = [node for node in calls if node not in layers]
        is_leaf = path and not any(other.startswith(f"{path}/") for other in groups)
        is_beside = all(_is_beside(node) or is_size(node) for node in others)
        if is_leaf and len(layers) == 1 and is_beside:
            modules |= dict.fromkeys(others, path.rpartition("/")[0])
    return _moved(graph, {}, modules)


def _is_beside(node: Node) -> bool:
    """Whether a call is an activation or a layout, which the module of a layer may have too."""
    name = op_name(node)
    is_activation = name == "tanh" or (name in OPS and OPS[name].chapter == "activations")
    return is_activation or has(node, Trait.RESHAPE) or name in ("permute_dims", "pad")


def is_size(node: Call) -> bool:
    """Whether a call gives the shape of an array, or one of its sizes."""
    return is_op(node, "shape") or (node.target is operator.getitem and node.aval is None)


def is_variable(x: Any) -> TypeGuard[Input]:
    return is_input(x, "v", "s")
