"""Every error that nestarray raises on purpose.

Each class also derives from the builtin that a caller would naturally catch, so
``except TypeError`` keeps working for people who have never read this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


class NestarrayError(Exception):
    """Base of all errors raised by nestarray."""


class MissingFrameworkError(NestarrayError, ImportError):
    """A framework or an optional package is not installed."""


class MixedBackendError(NestarrayError, TypeError):
    """One call was given arrays of two frameworks."""


class ArgumentError(NestarrayError, TypeError):
    """An argument has a type or a value that the function does not take."""


class DtypeError(NestarrayError, TypeError):
    """A dtype is not available, or does not fit the operation."""


class ShapeError(NestarrayError, ValueError):
    """A shape does not fit the operation."""


class IndexingError(ShapeError, IndexError):
    """An index does not fit the axes of the array, or there is no such axis."""


class StructureError(NestarrayError, ValueError):
    """Containers do not match, or a Container cannot be built or changed as asked."""


class PathError(NestarrayError, KeyError):
    """A key or a path is not in a Container."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class ImmutableError(NestarrayError, TypeError):
    """Somebody tried to assign into an immutable value."""


class UnsupportedError(NestarrayError, NotImplementedError):
    """A backend cannot do what was asked of it."""


class ConversionError(NestarrayError, RuntimeError):
    """A model could not be traced or moved to another framework."""


class MissingOpError(ConversionError):
    """A model uses source operations that have no frontend function."""


class StorageError(NestarrayError, OSError):
    """A file cannot be written, or what is in it is not what its format says."""


class MissingFileError(StorageError, FileNotFoundError):
    """There is no file of this name."""


class MergeConflict(NestarrayError, ValueError):
    """Two sides changed the same place of a tree differently; `conflicts` says where."""

    def __init__(self, message: str, conflicts: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.conflicts = conflicts


class SchemaError(NestarrayError, ValueError):
    """A Container is not as a schema says; `violations` lists all (path, what is wrong)."""

    def __init__(self, message: str, violations: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.violations = violations


class _Later:
    """A text that is made when it is read; ``hasattr`` does not read it."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def unknown_attribute(message: Callable[[], str], name: str) -> AttributeError:
    """The error for an attribute that is not there, whose message says what is.

    Python would add a guess of its own when it prints an error that names no object.

    Args:
        message: gives it, when somebody reads it: to look for names that are near takes longer
            than a call of a model.
        name: the attribute.
    """
    return AttributeError(_Later(message), name=name, obj=None)


def nearest_name(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Of `names` the one most like `name`, for a hint; None where all are less alike than `cutoff`.

    Capitals and small letters are alike.
    """
    import difflib  # only errors need it

    by_letters = {own.lower(): own for own in names}
    near = difflib.get_close_matches(name.lower(), by_letters, n=1, cutoff=cutoff)
    return by_letters[near[0]] if near else None


def listed(texts: Iterable[str], most: int = 3) -> str:
    """``a, b, c and 4 more``: the first `most` of several texts, and how many there are besides."""
    texts = list(texts)
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def counted(count: int, one: str, many: str = "") -> str:
    """``1 leaf``, ``2 leaves``, ``1,024 elements``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
