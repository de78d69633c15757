"""Workarounds: repairs of a framework that hold during a trace, as data.

A `Workaround` names the behaviour, the upstream issue, the releases that have it, a reproducer,
and the repair. A repair replaces attributes of the framework by name (`attributes`), or calls that
the framework's own protocol intercepts (`functions`). Only a trace that needs a workaround applies
it. A release that lacks one of its names disables it for the programs that need it, and no others.
"""

from __future__ import annotations

import contextlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from nestarray.errors import ConversionError
from nestarray.importers.patching import patched


def never(trace: Any) -> bool:
    """Whether a trace needs a workaround before it fails: it does not."""
    return False


def _no_attributes(trace: Any, *originals: Any) -> Sequence[Any]:
    return ()


def _no_functions(trace: Any) -> Mapping[Any, Callable[..., Any]]:
    return {}


@dataclass(frozen=True, eq=False)
class Workaround:
    """A behaviour of a framework that a trace cannot take, and its repair.

    Attributes:
        name: a noun, for messages.
        cause: the behaviour, as one sentence.
        reproducers: programs of the framework alone. Each raises an error while the framework has
            the behaviour.
        issue: the upstream issues, ``"pytorch#1234"``; empty if none is known.
        until: the first release without the behaviour; empty if the newest has it.
        names: the attributes that the repair replaces, ``"torch.nn.Module.forward"``.
        attributes: (trace, *originals) → the replacements, in the order of `names`.
        context: trace → a context manager, in place of `attributes`, of a repair that is more
            than replacements.
        functions: trace → replacement by function, for calls that a protocol intercepts.
        is_needed: whether a trace needs the repair from its start. Otherwise a trace that failed
            is repeated with it.
    """

    name: str
    cause: str
    reproducers: tuple[Callable[[], None], ...]
    issue: str = ""
    until: str = ""
    names: tuple[str, ...] = ()
    attributes: Callable[..., Sequence[Any]] = _no_attributes
    context: Callable[[Any], AbstractContextManager[None]] | None = None
    functions: Callable[[Any], Mapping[Any, Callable[..., Any]]] = _no_functions
    is_needed: Callable[[Any], bool] = never

    def missing(self) -> tuple[str, ...]:
        """The names that the installed release lacks."""
        return tuple([name for name in self.names if not _resolves(name)])

    def applies_to(self, version: str) -> bool:
        """Whether a release of the framework has the behaviour."""
        return not self.until or _numbers(version) < _numbers(self.until)

    @contextlib.contextmanager
    def applied(self, trace: Any) -> Iterator[None]:
        """Replace the attributes in this thread.

        Raises:
            ConversionError: the installed release lacks one of the names.
        """
        if self.missing():
            raise ConversionError(f"trace_graph: {self.absence()}")
        if self.context is not None:
            with self.context(trace):
                yield
            return
        homes = [pkgutil.resolve_name(name.rpartition(".")[0]) for name in self.names]
        attributes = [name.rpartition(".")[2] for name in self.names]
        originals = [vars(h).get(a, getattr(h, a, None)) for h, a in zip(homes, attributes)]
        replacements = self.attributes(trace, *originals)
        with patched(*zip(homes, attributes, replacements, strict=True)):
            yield

    def absence(self) -> str:
        """The message for a program that needs a workaround whose names are missing."""
        framework = self.names[0].partition(".")[0]
        version = getattr(pkgutil.resolve_name(framework), "__version__", "")
        return (
            f"the workaround {self.name!r} needs {', '.join(self.missing())}, which {framework} "
            f"{version} lacks ({self.cause}); install a release that `nestarray doctor` lists as "
            "tested"
        )


def _resolves(name: str) -> bool:
    home, _, attribute = name.rpartition(".")
    try:
        return hasattr(pkgutil.resolve_name(home), attribute)
    except (ImportError, AttributeError):
        return False


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])[:3]))


class Needed(Exception):
    """A call needs a workaround that its trace did not apply; the trace is repeated with it."""

    def __init__(self, workaround: Workaround) -> None:
        super().__init__(workaround.name)
        self.workaround = workaround
