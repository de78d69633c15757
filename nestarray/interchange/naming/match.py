"""`Container.match`: a mapping between trees with the same content and different names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray.container import Container, method
from nestarray.container.arguments import check_container
from nestarray.container.spec import LEAF
from nestarray.errors import ArgumentError
from nestarray.interchange.naming.axes import KINDS
from nestarray.interchange.naming.flattening import reorder_flattened
from nestarray.interchange.naming.key_map import KeyMap
from nestarray.interchange.naming.matcher import Matching
from nestarray.interchange.naming.models import layouts_of, warn_of_differences


@method
def match(
    c: Container,
    other: Container,
    /,
    *,
    known: Mapping[str, str] | None = None,
    flatten: Mapping[str, int] | None = None,
    source: Any = None,
    target: Any = None,
    layers: Mapping[str, str] | None = None,
    check: Any = None,
    min_confidence: float = 0.5,
) -> KeyMap:
    """Propose a mapping from the leaves of this tree to the leaves of `other`, as a `KeyMap`.

    For trees with the same parameters under different names, such as the state of a torch module
    and the variables of a Flax model. Matching uses shapes, dtypes, names, numbers in names and
    order, but not values. Repeated blocks are matched block by block. Matrices and kernels may be
    transposed, projections split into heads, and query, key and value in one array
    (``in_proj_weight``) or in three; if shapes do not decide, as for square matrices, other leaves
    with the same names do. Undecided leaves are in the map's `ambiguous`, leaves without a
    counterpart in its `unmatched`.

    Give the models, if you have them: the layout of a kernel depends on the type and the settings of
    its layer. Shapes do not tell a transposed convolution of Flax, whose kernel is reversed unless
    ``transpose_kernel=True``, or the height from the width of a depthwise kernel. The gates of
    recurrent layers are known by the names of their variables.

    A layer after a flatten of images has its inputs in another order if one tree has channels first
    and the other channels last. The shapes do not tell, so `match` warns about layers whose inputs
    are several positions of the convolution before them.

    Args:
        c: the source tree.
        other: the tree with the target names, order and layout.
        known: known matches: path in `c` → path in `other`, of leaves or nodes.
        flatten: layers after a flatten, whose inputs are then reordered: path of the weight in `c` →
            number of channels before the flatten. 1 keeps the order, without a warning.
        source: the model of `c`: a module of PyTorch, Keras, Flax or Equinox, or a function transformed
            by Haiku. Linen and Haiku need `check`.
        target: the model of `other`.
        layers: for trees without a model: path of a kernel in `c` → its kind, ``"convolution"``,
            ``"depthwise"`` or ``"transposed convolution"``.
        check: an input of both models, or a tuple of inputs; a pair ``{"source": x, "target": y}`` if
            they differ, as images with channels first and last. Both models run, with the weights of
            `c`; a warning says how far their outputs differ.
        min_confidence: pairs below this confidence, from 0 to 1, are listed as ambiguous.

    Returns:
        a `KeyMap`; ``keymap.apply(c)`` converts the tree, ``keymap.save("map.json")`` saves the map.

    Raises:
        ArgumentError: an argument has a wrong type, a path occurs twice in `known`, or nothing
            decides which tree of `flatten` has channels first.
        PathError: a path of `known` or `flatten` does not exist.
        ShapeError: two leaves of `known` have incompatible shapes, or the inputs of a leaf of
            `flatten` are not a multiple of its channels.

    Example:
        >>> import numpy as np, nestarray as na
        >>> block = {"q": np.ones((4, 4)), "fc": np.ones((8, 4)), "ln": np.ones(4)}
        >>> a = na.Container(layer=[block] * 3)
        >>> names = {"dense": np.ones((4, 8)), "query": np.ones((4, 4)), "norm": np.ones(4)}
        >>> b = na.Container({f"block_{i + 1}": names for i in range(3)})
        >>> print(a.match(b))
        KeyMap: 9 of 9 leaves → 9 of 9
          layer/{i:0-2}/fc → block_{i+1}/dense  transpose [1, 0], confidence 0.8
          layer/{i:0-2}/q  → block_{i+1}/query  transpose [1, 0], confidence 0.64
          layer/{i:0-2}/ln → block_{i+1}/norm   confidence 0.8
        >>> a.match(b, known={"layer/0": "block_1"}).pairs[0].confidence
        1.0
    """
    check_container("match", "c", c)
    check_container("match", "other", other)
    kinds = _checked_kinds(c, {} if layers is None else layers)
    inputs = _checked_inputs(check)
    models = {"source": source, "target": target}
    layouts = {
        side: {} if model is None else layouts_of(model, inputs[side], side)
        for side, model in models.items()
    }
    if not (isinstance(min_confidence, (int, float)) and 0 <= min_confidence <= 1):
        raise ArgumentError(
            f"match: min_confidence: got {min_confidence!r}, expected a number from 0 to 1"
        )
    matching = Matching(
        c, other, {} if known is None else known, (layouts["source"], layouts["target"]), kinds
    )
    matching.match_rest()
    keymap = matching.key_map(min_confidence)
    keymap = reorder_flattened(keymap, c, {} if flatten is None else flatten)
    if source is not None and target is not None and inputs["source"] and inputs["target"]:
        warn_of_differences((source, c, inputs["source"]), (target, inputs["target"]), keymap)
    return keymap


def _checked_kinds(c: Container, layers: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(layers, Mapping):
        raise ArgumentError(
            f"match: layers: got {type(layers).__name__}, expected a dict: path of a kernel → kind"
        )
    kinds = {}
    for path, kind in layers.items():
        start, _, spec = c._spec.locate(path)
        if spec is not LEAF:
            raise ArgumentError(f"match: layers: {path!r} is a node, expected the path of a kernel")
        if kind not in KINDS:
            raise ArgumentError(
                f"match: layers: {path!r}: got {kind!r}, expected one of {', '.join(KINDS)}"
            )
        kinds[c._spec.path_names[start]] = kind
    return kinds


def _checked_inputs(check: Any) -> dict[str, tuple[Any, ...] | None]:
    """The arguments of a call of each model; None without `check`."""
    if isinstance(check, Mapping) and not set(check) <= {"source", "target"}:
        raise ArgumentError(
            f"match: check: got the keys {', '.join(map(repr, check))}, expected 'source' and 'target'"
        )
    inputs = {}
    for side in ("source", "target"):
        x = check.get(side) if isinstance(check, Mapping) else check
        inputs[side] = x if x is None or isinstance(x, tuple) else (x,)
    return inputs
