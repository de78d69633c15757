"""The report: gaps by kind, the new ones first."""

from __future__ import annotations

import importlib
import warnings
from collections import defaultdict

from tools.releases import accepted
from tools.releases.gaps import Gap

FRAMEWORKS = ("numpy", "jax", "torch", "keras", "tensorflow")


def gaps_of(framework: str) -> list[Gap]:
    """All gaps in the installed release of a framework."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # upstream warns where deprecated names are read
        return list(importlib.import_module(f"tools.releases.{framework}").gaps())


def text() -> str:
    """The report on all frameworks."""
    return "\n".join(
        f"# {name} {accepted.installed(name)}\n\n{described(name, gaps_of(name))}"
        for name in FRAMEWORKS
    )


def described(framework: str, gaps: list[Gap]) -> str:
    """Gaps as text, with the accepted names that are no gaps."""
    by_kind: dict[str, dict[str | None, list[str]]] = defaultdict(lambda: defaultdict(list))
    for gap in gaps:
        by_kind[gap.kind][accepted.reason(gap)].append(gap.name)
    lines = []
    for kind, by_reason in by_kind.items():
        new = by_reason.pop(None, [])
        lines.append(f"{kind}: {sum(map(len, by_reason.values()))} accepted, {len(new)} new")
        lines += [f"  new: {name}" for name in new]
        lines += [f"  {reason}: {', '.join(names)}" for reason, names in by_reason.items()]
    for entry in accepted.closed(framework, gaps):
        lines.append(f"{entry.kind}: accepted, but no gap: {entry.pattern}")
    return "".join(f"{line}\n" for line in lines)
