"""The errors that nestarray raises.

Each class also derives from the builtin exception that a caller would catch: ``except
TypeError`` and ``except ValueError`` catch an `ArgumentError`.
"""

from __future__ import annotations

from nestarray.errors.unknown_names import suggest_names

__all__ = [
    "ArgumentError",
    "AssumptionError",
    "ConversionError",
    "DtypeError",
    "ImmutableError",
    "IndexingError",
    "LinearAlgebraError",
    "MergeConflict",
    "MissingFileError",
    "MissingFrameworkError",
    "MissingOpError",
    "MixedBackendError",
    "NestarrayError",
    "OutOfRangeError",
    "PathError",
    "Refused",
    "SchemaError",
    "ShapeError",
    "StorageError",
    "StructureError",
    "UnknownSizeError",
    "UnsupportedError",
]


class NestarrayError(Exception):
    """Base of all errors raised by nestarray."""


class MissingFrameworkError(NestarrayError, ImportError):
    """A framework or an optional package is not installed."""


class MixedBackendError(NestarrayError, TypeError):
    """A call received arrays of two frameworks."""


class AssumptionError(NestarrayError, ValueError):
    """A value decided the course of recorded code, and the arguments of a call give another one."""


class ArgumentError(NestarrayError, TypeError, ValueError):
    """An argument has a type or a value that the function does not accept."""


class OutOfRangeError(ArgumentError):
    """A Python number is outside of the range of the integers beside it."""


class DtypeError(NestarrayError, TypeError):
    """A dtype is not available, or does not fit the operation."""


class ShapeError(NestarrayError, ValueError):
    """A shape does not fit the operation."""


class IndexingError(ShapeError, IndexError):
    """An index or an axis does not fit the array."""


class LinearAlgebraError(NestarrayError, ValueError):
    """A matrix is singular, not positive definite or not finite, and the framework detects it.

    JAX never does, because compiled code cannot raise for values: it returns NaN or infinities. The
    functions say where others do.
    """


class StructureError(NestarrayError, ValueError):
    """Containers do not match, or a Container cannot be built or changed as asked."""


class UnknownSizeError(StructureError, AttributeError):
    """A layer whose size is None has seen no input."""


class PathError(NestarrayError, KeyError):
    """A key or a path is not in a Container."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0]) if self.args else ""


class ImmutableError(NestarrayError, TypeError):
    """Assignment into an immutable value."""


class UnsupportedError(NestarrayError, NotImplementedError):
    """The backend does not support the operation."""


class ConversionError(NestarrayError, RuntimeError):
    """A model could not be traced or moved to another framework."""


class Refused(ConversionError):
    """A program, or a part of it, has no translation.

    Args:
        reason: the missing or refused part.
        place: the function and the call, ``"trace_graph: While (model.py:3)"``; the code that knows
            it adds it later.
        remedy: advice for the user.
    """

    def __init__(self, reason: str, place: str = "", remedy: str = "") -> None:
        super().__init__(reason, place, remedy)
        self.reason, self.place, self.remedy = reason, place, remedy

    def __str__(self) -> str:
        sentence = "; ".join(filter(None, [self.reason, self.remedy]))
        return f"{self.place}: {sentence}" if self.place else sentence


class MissingOpError(ConversionError):
    """A model uses source operations that have no frontend function."""


class StorageError(NestarrayError, OSError):
    """A file cannot be written, or its content does not follow its format."""


class MissingFileError(StorageError, FileNotFoundError):
    """The file does not exist."""


class MergeConflict(NestarrayError, ValueError):
    """Two sides changed the same part of a tree differently; `conflicts` lists the parts."""

    def __init__(self, message: str, conflicts: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.conflicts = conflicts


class SchemaError(NestarrayError, ValueError):
    """A Container violates a schema; `violations` lists (path, problem)."""

    def __init__(self, message: str, violations: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.violations = violations


suggest_names(__name__)
