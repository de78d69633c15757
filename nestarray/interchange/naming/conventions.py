"""Names and layouts of parameters by library, for trees without a counterpart to match.

Layers keep their names. The parameters of a layer get the names of the other library, and kernels
its order of axes: outputs first in PyTorch, last in Flax, Keras and Haiku. The names in a layer and
the ranks of its arrays give their role; a matrix without bias is an embedding if the name of its
layer says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nestarray.container import Container
from nestarray.container.spec import Path, join_path
from nestarray.errors import ArgumentError, StructureError
from nestarray.errors.text import listed
from nestarray.interchange.naming.flattening import reorder_flattened
from nestarray.interchange.naming.key_map import KeyMap
from nestarray.interchange.naming.match_units import shape_of
from nestarray.interchange.naming.pairs import Pair, Step, Transpose, in_order
from nestarray.interchange.naming.parameter_names import is_counter, name_of


class Convention(NamedTuple):
    """The names of a layer's parameters; empty for those that the library stores elsewhere."""

    kernel: str
    bias: str
    scale: str
    offset: str
    mean: str
    variance: str
    embedding: str


CONVENTIONS = {
    "torch": Convention(
        "weight", "bias", "weight", "bias", "running_mean", "running_var", "weight"
    ),
    "flax": Convention("kernel", "bias", "scale", "bias", "mean", "var", "embedding"),
    "keras": Convention(
        "kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance", "embeddings"
    ),
    "haiku": Convention("w", "b", "scale", "offset", "", "", "embeddings"),
}
#: Flax groups variables by collection, at the top.
_COLLECTIONS = ("params", "batch_stats")
_STATISTICS = ("mean", "variance")


def convention_of(c: Container) -> str:
    """The library whose names most leaves have.

    Raises:
        ArgumentError: no leaf has a name of any.

    Example:
        >>> import numpy as np, nestarray as na
        >>> convention_of(na.Container(fc={"kernel": np.ones((2, 3)), "bias": np.zeros(3)}))
        'flax'
    """
    last = [str(path[-1]) for path in c._spec.paths if path]
    counts = {name: sum(map(own.__contains__, last)) for name, own in CONVENTIONS.items()}
    best = max(counts, key=counts.__getitem__)
    if not counts[best]:
        raise ArgumentError(
            "convention_map: source: the leaves have names of no library "
            f"({', '.join(CONVENTIONS)}), such as {listed(map(repr, last[:3]))}; match them with a "
            "tree that has the wanted names: c.match(other)"
        )
    return best


def convention_map(
    c: Container,
    target: str,
    *,
    source: str | None = None,
    flatten: Mapping[str, int] | None = None,
) -> KeyMap:
    """The `KeyMap` from this tree to the names and layouts of another library.

    Leaves with other names keep their name and layout. Transposed and depthwise convolutions look
    like others, and projections of attention are not split: `Container.match` converts these, with
    a tree of the target.

    Args:
        c: a tree of parameters.
        target: ``"torch"``, ``"flax"`` (with its collections), ``"keras"`` or ``"haiku"``.
        source: the library of `c`; by default the one whose names most leaves have.
        flatten: as for `Container.match`.

    Raises:
        ArgumentError: a library is unknown, or the same, or no leaf has a name of it.
        StructureError: two leaves get one path.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(fc={"weight": np.ones((2, 3)), "bias": np.zeros(2)})
        >>> print(convention_map(c, "flax"))
        KeyMap: 2 of 2 leaves → 2 of 2
          fc/weight → params/fc/kernel  transpose [1, 0]
          fc/bias   → params/fc/bias
    """
    source = source or convention_of(c)
    for name, value in (("target", target), ("source", source)):
        if value not in CONVENTIONS:
            raise ArgumentError(
                f"convention_map: {name}: got {value!r}, expected one of {', '.join(CONVENTIONS)}"
            )
    if source == target:
        raise ArgumentError(
            f"convention_map: target: got {target!r}, whose names these leaves have already"
        )
    shapes = {path: shape_of(leaf) for path, leaf in zip(c._spec.paths, c._leaves, strict=True)}
    layers: dict[Path, dict[str, tuple[int, ...]]] = {}
    for path, shape in shapes.items():
        layers.setdefault(path[:-1], {})[str(path[-1])] = shape
    pairs: dict[Path, Pair] = {}
    for path in shapes:
        if is_counter(path) and target != "torch":
            continue
        pair = _pair(path, layers[path[:-1]], source, target)
        other = pairs.setdefault(pair.target, pair)
        if other is not pair:
            raise StructureError(
                f"convention_map: {join_path(other.source)!r} and {join_path(path)!r} both become "
                f"{join_path(pair.target)!r}; rename one with c.rename(...)"
            )
    spec = _tree(pairs)._spec
    keymap = KeyMap(c._spec, spec, in_order(pairs.values(), spec))
    return reorder_flattened(keymap, c, {} if flatten is None else flatten)


def _tree(paths: Mapping[Path, Any]) -> Container:
    root: dict[Any, Any] = {}
    for path in paths:
        node = root
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = None
    return Container(root)


def _pair(path: Path, members: Mapping[str, tuple[int, ...]], source: str, target: str) -> Pair:
    role, shape = _role(path, members, source), members[str(path[-1])]
    *layer, last = map(str, path)
    if source == "flax" and layer and layer[0] in _COLLECTIONS:
        del layer[0]
    name = (getattr(CONVENTIONS[target], role) if role else "") or last
    if target == "flax":
        layer.insert(0, _COLLECTIONS[role in _STATISTICS])
    steps: tuple[Step, ...] = ()
    if role == "kernel" and len(shape) > 1 and "torch" in (source, target):
        space = range(len(shape) - 2)
        to_last = (*(2 + i for i in space), 1, 0)
        step = Transpose(to_last)
        steps = (step if source == "torch" else step.inverse(),)
    return Pair(path, (*layer, name), steps)


def _role(path: Path, members: Mapping[str, tuple[int, ...]], source: str) -> str:
    """The field of `Convention` that a leaf is; empty if its name is of none."""
    own, last = CONVENTIONS[source], str(path[-1])
    shape = members[last]
    roles = [role for role, name in zip(own._fields, own) if name == last]
    if len(roles) < 2:
        return "".join(roles)
    if "bias" in roles:
        is_scaled = own.mean in members or len(members.get(own.scale, (0, 0))) == 1
        return "offset" if is_scaled else "bias"
    if len(shape) < 2:
        return "scale"
    words = name_of(path[:-1]).words
    says_embedding = not {"embedding", "position", "token"}.isdisjoint(words)
    return (
        "embedding" if len(shape) == 2 and own.bias not in members and says_embedding else "kernel"
    )
