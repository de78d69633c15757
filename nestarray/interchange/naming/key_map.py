"""`KeyMap`: a mapping between the leaves of two trees, as a value.

It renames, transposes and reshapes the leaves of a tree into the structure and order of another
tree, and back. `nestarray.interchange.naming.matcher` proposes one; `key_map_files` saves it as a
JSON file that can be read and edited.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from nestarray import ops
from nestarray.comparison.merge import MISSING
from nestarray.container import Container
from nestarray.container.arguments import check_container
from nestarray.container.container import from_leaves
from nestarray.container.spec import LEAF, Path, join_path
from nestarray.errors import PathError, ShapeError, StructureError
from nestarray.errors.text import listed
from nestarray.interchange.naming import key_map_files, key_map_report
from nestarray.interchange.naming.pairs import (
    Pair,
    Pairing,
    Section,
    Sum,
    Term,
    in_order,
    joined_section,
)
from nestarray.interchange.naming.parameter_names import is_counter


@dataclass(frozen=True, repr=False)
class KeyMap(Pairing):
    """A mapping between the leaves of two trees with different names.

    ``str(keymap)`` lists its rules and the unmatched leaves.

    Attributes:
        source: the structure of the source tree.
        target: the structure of the target tree.
        pairs: matching leaves, in the order of the target.
        candidates: ambiguous pairs; `apply` does not use them.

    Example:
        >>> import numpy as np, nestarray as na
        >>> torch_like = na.Container(fc={"weight": np.ones((2, 3)), "bias": np.zeros(2)})
        >>> flax_like = na.Container(Dense_0={"kernel": np.ones((3, 2)), "bias": np.zeros(2)})
        >>> keymap = torch_like.match(flax_like)
        >>> print(keymap)
        KeyMap: 2 of 2 leaves → 2 of 2
          fc/weight → Dense_0/kernel  transpose [1, 0]
          fc/bias   → Dense_0/bias
        >>> keymap.apply(torch_like)
        Container(2 leaves, 8 elements, numpy)
          Dense_0
            kernel  f64[3, 2]
            bias    f64[2]
        >>> keymap.invert().apply(keymap.apply(torch_like)).spec is torch_like.spec
        True
    """

    def apply(self, c: Container, /, *, strict: bool = True) -> Container:
        """The leaves of `c` in the structure, the order and the layout of the target.

        Args:
            c: a tree with the keys of the source, in any order.
            strict: False ignores unmatched and ambiguous leaves, and leaves that are missing in
                `c` or in the map. Counters of batches (``num_batches_tracked`` in PyTorch) are
                always optional.

        Returns:
            a Container; leaves without steps are the same arrays.

        Raises:
            StructureError: with `strict`, leaves are unmatched, ambiguous or missing.
            ShapeError: the shape of a leaf does not fit its steps.

        Example:
            >>> import numpy as np, nestarray as na
            >>> torch_like = na.Container(fc={"weight": np.ones((2, 3)), "bias": np.zeros(2)})
            >>> flax_like = na.Container(dense={"bias": np.zeros(2), "kernel": np.zeros((3, 2))})
            >>> names = torch_like.match(flax_like)
            >>> names.apply(torch_like).dense.kernel.shape
            (3, 2)
        """
        check_container("KeyMap.apply", "c", c)
        if strict:
            self._check_complete()
        parts: dict[Path, list[tuple[Section, Any]]] = {}
        used, lacking = set(), []
        for pair in self.pairs:
            place = _leaf_at(c, pair.source)
            if place is not None:
                used.add(place)
                part = joined_section(pair.steps), _converted(pair, c._leaves[place])
                parts.setdefault(pair.target, []).append(part)
            elif not is_counter(pair.source):
                lacking.append(join_path(pair.source))
        extra = [
            name
            for i, (path, name) in enumerate(zip(c._spec.paths, c._spec.path_names, strict=True))
            if i not in used and not is_counter(path)
        ]
        if strict and (lacking or extra):
            raise StructureError(_wrong_tree(lacking, extra))
        found = {path: _joined(sections) for path, sections in parts.items()}
        leaves = [found.get(path, MISSING) for path in self.target.paths]
        result = from_leaves(self.target, tuple(leaves))
        if not any(leaf is MISSING for leaf in leaves):
            return result
        return result.select(lambda path, leaf: leaf is not MISSING)

    def _check_complete(self) -> None:
        old, new = ([name for name in names if not is_counter((name,))] for names in self.unmatched)
        parts = []
        if self.ambiguous:
            name, entries = next(iter(self.ambiguous.items()))
            shown = " or ".join(repr(target) for target, _ in entries[:3])
            parts.append(f"{_count(self.ambiguous)} ambiguous, such as {name!r}, maybe {shown}")
        for names, side in ((old, "source"), (new, "target")):
            if names:
                parts.append(
                    f"{_count(names)} of the {side} unmatched: {listed(map(repr, names), 5)}"
                )
        if parts:
            raise StructureError(
                f"KeyMap.apply: {'; '.join(parts)}. Say what belongs together with "
                "a.match(b, known={source path: target path}) or in the saved file, give the models "
                "(source=, target=) if layouts are undecided, or leave these out with strict=False"
            )

    def invert(self) -> KeyMap:
        """The mapping from the target to the source.

        Example:
            >>> import numpy as np, nestarray as na
            >>> a, b = na.Container(w=np.ones(2)), na.Container(kernel=np.zeros(2))
            >>> a.match(b).invert().apply(b).paths()
            ('w',)
        """
        return KeyMap(
            self.target,
            self.source,
            in_order((pair.inverse() for pair in self.pairs), self.source),
            in_order((pair.inverse() for pair in self.candidates), self.source),
        )

    def save(self, path: str | PathLike[str], /) -> None:
        """Write the map to an editable JSON file; an existing file is replaced atomically.

        Numbered blocks are one rule: ``"from": "layers/{i:0-11}/weight", "to":
        "layer_{i}/kernel", "steps": [{"transpose": [1, 0]}]``.

        Args:
            path: the file to write.

        Raises:
            StorageError: the file cannot be written.

        Example:
            >>> import tempfile, numpy as np, nestarray as na
            >>> names = na.Container(w=np.ones(2)).match(na.Container(kernel=np.zeros(2)))
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     names.save(f"{folder}/names.json")
            ...     na.KeyMap.load(f"{folder}/names.json") == names
            True
        """
        key_map_files.save(self, path)

    @staticmethod
    def load(path: str | PathLike[str], /) -> KeyMap:
        """Read a map from a file that `save` or a person wrote.

        Only rules are required; ``source`` and ``target`` give the order of keys and the lists,
        if they differ from dicts in the order of the rules.

        Args:
            path: the file.

        Returns:
            the map; equal to the saved one if `save` wrote the file.

        Raises:
            StorageError: the file does not contain a key map; the message names the place.
            MissingFileError: the file does not exist.
        """
        found = key_map_files.load(path)
        return KeyMap(found.source, found.target, found.pairs, found.candidates)

    def __str__(self) -> str:
        return key_map_report.as_text(self)

    __repr__ = __str__


def _leaf_at(c: Container, path: Path) -> int | None:
    if not path:
        return 0 if c._spec is LEAF else None
    try:
        start, _, spec = c._spec.locate(path)
    except PathError:
        return None
    return start if spec is LEAF else None


def _converted(pair: Pair, leaf: Any) -> Any:
    for step in pair.steps:
        shape = getattr(leaf, "shape", None)
        if shape is None or step.shape(tuple(shape)) is None:
            raise ShapeError(
                f"KeyMap.apply: {join_path(pair.source)!r} → {join_path(pair.target)!r}: cannot "
                f"{step}: got {'no array' if shape is None else f'the shape {tuple(shape)}'}"
            )
        leaf = step.apply(leaf)
    return leaf


def _joined(parts: list[tuple[Section, Any]]) -> Any:
    """The array of a target from its sections, outermost first; MISSING if one is absent."""
    if not parts[0][0]:
        return parts[0][1]
    inner: dict[int, list[tuple[Section, Any]]] = {}
    for (step, *rest), leaf in parts:
        place = step.term if isinstance(step, Sum | Term) else step.start
        inner.setdefault(place, []).append((tuple(rest), leaf))
    leaves = [_joined(inner[place]) for place in sorted(inner)]
    step = parts[0][0][0]
    if any(leaf is MISSING for leaf in leaves):
        return MISSING
    if isinstance(step, Sum | Term):
        return sum(leaves[1:], leaves[0]) if len(leaves) == step.of else MISSING
    if sum(leaf.shape[step.axis] for leaf in leaves) != step.size:
        return MISSING
    return ops.concat(leaves, axis=step.axis)


def _wrong_tree(lacking: list[str], extra: list[str]) -> str:
    parts = []
    if lacking:
        parts.append(f"c lacks {listed(map(repr, lacking), 5)}")
    if extra:
        parts.append(f"the map does not know {listed(map(repr, extra), 5)}")
    return f"KeyMap.apply: {'; '.join(parts)}. Leave these out with strict=False, or match again"


def _count(names: Any) -> str:
    return f"{len(names)} {'leaf' if len(names) == 1 else 'leaves'}"
