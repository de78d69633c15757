"""The border to code that is not ours: a user's model, a framework's tracer, a runtime of files.

Such code may raise anything. `foreign` catches all its errors; other code catches errors of this
package. Two places need the error itself: ``torch.export``, which is tried again with workarounds,
and a call of a graph, whose error gets its place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from nestarray.errors import NestarrayError, Refused


def first_line(error: BaseException) -> str:
    """The class and the first line of an error: ``"ValueError: no such size"``."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {line}" if line else type(error).__name__


@contextlib.contextmanager
def foreign(
    describe: Callable[[Exception], str] = first_line,
    kind: type[NestarrayError] = Refused,
    unchanged: type[NestarrayError] | None = None,
) -> Iterator[None]:
    """Raise an error of this package in place of any other one, which becomes its cause.

    Args:
        describe: makes the message from the error that was raised.
        kind: the class of the new error.
        unchanged: errors of this class pass; those of `kind` by default.

    Example:
        >>> from nestarray.errors.foreign import foreign
        >>> with foreign():
        ...     int("x")
        Traceback (most recent call last):
        nestarray.errors.Refused: ValueError: invalid literal for int() with base 10: 'x'
    """
    try:
        yield
    except Exception as error:  # the code in the block is not ours
        if isinstance(error, unchanged or kind):
            raise
        raise kind(describe(error)) from error
