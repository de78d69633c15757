"""Workarounds: repairs of a framework that hold during a trace, as data.

A `Workaround` names the behaviour, the upstream issue, the releases that have it, and the repair; the
tests have programs that reproduce each. A repair replaces attributes of the framework (`attributes`), or
calls that the framework's own protocol intercepts (`functions`). Only a trace that needs a
workaround applies it. A release that lacks one of its names disables it for the programs that need
it, and no others.
"""

from __future__ import annotations

import contextlib
import functools
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from nestarray.errors import ConversionError
from nestarray.importers.patching import patched
from nestarray.versions import numbers

#: (trace, original) → the replacement.
Factory = Callable[[Any, Any], Any]


def always(replacement: Any) -> Factory:
    """A factory of one replacement for all traces."""
    return lambda trace, original: replacement


def never(trace: Any) -> bool:
    """Whether a trace needs a workaround before it fails: it does not."""
    return False


@dataclass(frozen=True, eq=False)
class Workaround:
    """A behaviour of a framework that a trace cannot take, and its repair.

    Attributes:
        name: a noun, for messages.
        cause: the behaviour, as one clause.
        issue: the upstream issues, ``"pytorch#1234"``; empty if none is known.
        until: the first release without the behaviour; empty if the newest has it.
        attributes: name, ``"torch.nn.Module.forward"``, → replacement.
        context: trace → a context manager, of a repair that is more than replacements.
        context_names: the names that `context` uses.
        functions: name of a function → replacement, for calls that a protocol intercepts.
        operation: a part of the name of operations that a trace without the repair records.
        is_needed: whether a trace needs the repair from its start. Otherwise a trace that failed
            is repeated with it.
    """

    name: str
    cause: str
    issue: str = ""
    until: str = ""
    attributes: Mapping[str, Factory] = field(default_factory=dict)
    context: Callable[[Any], AbstractContextManager[None]] | None = None
    context_names: tuple[str, ...] = ()
    functions: Mapping[str, Factory] = field(default_factory=dict)
    operation: str = ""
    is_needed: Callable[[Any], bool] = never

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the repair replaces or uses; none if it replaces functions only."""
        return (*self.attributes, *self.context_names)

    def missing(self) -> tuple[str, ...]:
        """The names that the installed release lacks."""
        return tuple([name for name in self.names if resolve(name) is None])

    def applies_to(self, version: str) -> bool:
        """Whether a release of the framework has the behaviour."""
        return not self.until or numbers(version) < numbers(self.until)

    @contextlib.contextmanager
    def applied(self, trace: Any) -> Iterator[None]:
        """Apply the repair, in this thread.

        Raises:
            ConversionError: the installed release lacks one of the names.
        """
        if self.missing():
            raise ConversionError(f"trace_graph: {self.absence()}")
        places = []
        for name, factory in self.attributes.items():
            home, _, attribute = name.rpartition(".")
            owner = _owner(home)
            original = vars(owner).get(attribute, getattr(owner, attribute))
            places.append((owner, attribute, factory(trace, original)))
        with patched(*places), self.context(trace) if self.context else contextlib.nullcontext():
            yield

    def replaced_functions(self, trace: Any) -> dict[Any, Callable[..., Any]]:
        """Function → replacement, of the functions that the installed release has."""
        natives = {name: resolve(name) for name in self.functions}
        return {
            native: self.functions[name](trace, native)
            for name, native in natives.items()
            if native is not None
        }

    def absence(self) -> str:
        """The message for a program that needs a workaround whose names are missing."""
        framework = self.names[0].partition(".")[0]
        version = getattr(pkgutil.resolve_name(framework), "__version__", "")
        return (
            f"the workaround {self.name!r} needs {', '.join(self.missing())}, which {framework} "
            f"{version} lacks ({self.cause}); install a release that `nestarray doctor` lists as "
            "tested"
        )


class Needed(Exception):
    """A call needs a workaround that its trace did not apply; the trace is repeated with it."""

    def __init__(self, workaround: Workaround) -> None:
        super().__init__(workaround.name)
        self.workaround = workaround


def resolve(name: str) -> Any:
    """The object of a dotted name; None if the installed release lacks it."""
    home, _, attribute = name.rpartition(".")
    with contextlib.suppress(ImportError, AttributeError, ValueError):
        return getattr(_owner(home), attribute)
    with contextlib.suppress(ImportError, AttributeError):
        return pkgutil.resolve_name(name)
    return None


#: The module or class of a name; a search for a thousand names takes longer than a trace.
_owner = functools.cache(pkgutil.resolve_name)
