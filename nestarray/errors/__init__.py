"""Every error that nestarray raises on purpose.

Each class also derives from the builtin that a caller would naturally catch, so
``except TypeError`` keeps working for people who have never read this file.
"""

from __future__ import annotations


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
