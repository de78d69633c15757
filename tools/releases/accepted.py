"""The accepted gaps: kind → reason → names, in ``accepted_gaps.toml``.

The file lists the gaps of the releases that constraints.txt pins. With others, a gap may be new, or one
of the file closed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from nestarray.cli.doctor import tested_versions
from tools.releases.gaps import Gap

PATH = Path(__file__).with_name("accepted_gaps.toml")
#: Framework → the distribution whose version counts, if its name is another.
_DISTRIBUTIONS = {"tensorflow": "tensorflow-cpu"}


class Entry(NamedTuple):
    """A pattern of names, and the reason why the gaps of these names are accepted."""

    kind: str
    pattern: str
    reason: str

    def accepts(self, gap: Gap) -> bool:
        """Whether a gap is one of these."""
        return gap.kind == self.kind and fnmatchcase(gap.name, self.pattern)


def installed(framework: str) -> str:
    """The version of an installed framework, without the part that names a build."""
    return version(_DISTRIBUTIONS.get(framework, framework)).partition("+")[0]


def is_pinned(framework: str) -> bool:
    """Whether the installed release is the one of constraints.txt."""
    pin = tested_versions()[_DISTRIBUTIONS.get(framework, framework)]
    return installed(framework) == pin


@cache
def entries() -> tuple[Entry, ...]:
    """The entries of the file."""
    return tuple(
        Entry(kind, pattern, reason)
        for kind, reasons in tomllib.loads(PATH.read_text()).items()
        for reason, patterns in reasons.items()
        for pattern in patterns
    )


def reason(gap: Gap) -> str | None:
    """The reason of an accepted gap; None for another."""
    return next((entry.reason for entry in entries() if entry.accepts(gap)), None)


def closed(framework: str, gaps: Collection[Gap]) -> list[Entry]:
    """The entries of a framework that accept none of its gaps."""
    of_framework = [entry for entry in entries() if entry.kind.partition(" ")[0] == framework]
    return [entry for entry in of_framework if not any(map(entry.accepts, gaps))]
