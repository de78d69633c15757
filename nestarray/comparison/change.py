"""`Change`: one difference between two trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from nestarray.comparison import equality
from nestarray.container.spec import Path, join_path


@dataclass(frozen=True)
class Change:
    """One difference between two trees.

    Attributes:
        status: ``added``, ``removed``, ``moved``, ``changed``, ``kind`` (a dict became a list,
            for example) or ``order`` (a node has its keys in another order).
        path: the keys of the place in the new tree; in the old tree if it was removed.
        old_path: the path in the old tree; None if added.
        old: a description of the old leaf or node, such as ``f32[3, 4]``; None if added.
        new: a description of the new leaf or node; None if removed.
        aspects: of a changed leaf, the changed ones of ``type, backend, dtype, shape, values``.
        compared: the arguments of `statistics`, if values of the same shape changed.
    """

    status: str
    path: Path
    old_path: Path | None
    old: str | None
    new: str | None
    aspects: tuple[str, ...] = ()
    compared: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def statistics(self) -> equality.Statistics | None:
        """The distance of changed values of the same shape, computed on first access."""
        return None if self.compared is None else equality.statistics(**self.compared)

    def inverse(self) -> Change:
        """The reverse change."""
        status = {"added": "removed", "removed": "added"}.get(self.status, self.status)
        path = self.path if self.old_path is None else self.old_path
        old_path = None if status == "added" else self.path
        return replace(
            self, status=status, path=path, old_path=old_path, old=self.new, new=self.old
        )

    def to_dict(self) -> dict[str, Any]:
        """The change as strings and numbers, for JSON; infinities and NaN as strings."""
        entry: dict[str, Any] = {"status": self.status, "path": join_path(self.path)}
        if self.status == "moved" and self.old_path is not None:
            entry["old_path"] = join_path(self.old_path)
        entry |= {"old": self.old, "new": self.new}
        if self.aspects:
            entry["aspects"] = list(self.aspects)
        if self.statistics is not None:
            s = self.statistics
            numbers = {"max_abs": s.max_abs, "max_rel": s.max_rel, "mean_abs": s.mean_abs}
            finite = {k: v if abs(v) < float("inf") else str(v) for k, v in numbers.items()}
            entry["statistics"] = {
                "changed": s.changed, "size": s.size, **finite,
                "where": list(s.where), "nans": s.nans,
            }  # fmt: skip
        return entry


def total(changes: Sequence[Change]) -> equality.Statistics | None:
    """The statistics of several changes as if their arrays were one; None without values."""
    if len(changes) == 1:
        return changes[0].statistics
    compared = [change.compared for change in changes if change.compared is not None]
    return equality.joint_statistics(compared)
