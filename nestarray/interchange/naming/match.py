"""`Container.match`: a mapping between trees with the same content and different names."""

from __future__ import annotations

from collections.abc import Mapping

from nestarray.container import Container, method
from nestarray.container.arguments import check_container
from nestarray.errors import ArgumentError
from nestarray.interchange.naming.key_map import KeyMap
from nestarray.interchange.naming.matcher import Matching


@method
def match(
    c: Container,
    other: Container,
    /,
    *,
    known: Mapping[str, str] | None = None,
    min_confidence: float = 0.5,
) -> KeyMap:
    """Propose a mapping from the leaves of this tree to the leaves of `other`, as a `KeyMap`.

    For trees with the same parameters under different names, such as the state of a torch module
    and the variables of a Flax model. Matching uses shapes, dtypes, names, numbers in names and
    order, but not values. Repeated blocks are matched block by block. Matrices and kernels may be
    transposed, projections split into heads; if shapes do not decide, as for square matrices,
    other leaves with the same names do. Undecided leaves are in the map's `ambiguous`, leaves
    without a counterpart in its `unmatched`.

    Args:
        c: the source tree.
        other: the tree with the target names, order and layout.
        known: known matches: path in `c` → path in `other`, of leaves or nodes.
        min_confidence: pairs below this confidence, from 0 to 1, are listed as ambiguous.

    Returns:
        a `KeyMap`; ``keymap.apply(c)`` converts the tree, ``keymap.save("map.json")`` saves the map.

    Raises:
        ArgumentError: an argument has a wrong type, or a path occurs twice in `known`.
        PathError: a path of `known` does not exist.
        ShapeError: two leaves of `known` have incompatible shapes.

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
    if not (isinstance(min_confidence, (int, float)) and 0 <= min_confidence <= 1):
        raise ArgumentError(
            f"match: min_confidence: got {min_confidence!r}, expected a number from 0 to 1"
        )
    matching = Matching(c, other)
    matching.match_known(known or {})
    matching.match_rest()
    return matching.key_map(min_confidence)
