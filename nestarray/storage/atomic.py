"""Files that are there in full or not at all.

What is written gets a temporary name beside its place and takes the place when it is
complete, so a program that is killed leaves the old file as it was. A failure removes
what was begun.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from nestarray.errors import MissingFileError, StorageError


def temporary_name(path: Path) -> Path:
    """A name beside `path` that nothing has, hidden and with the same suffix."""
    return path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp{path.suffix}")


def check_directory(path: Path) -> None:
    """Raise unless there is a directory to put `path` in.

    Raises:
        MissingFileError: there is none.
    """
    if not path.parent.is_dir():
        raise MissingFileError(
            f"Container.save: {str(path)!r}: there is no directory {str(path.parent)!r}; make it first"
        )


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name to write to; it takes the place of `path` when the block ends well.

    A symbolic link stays, and what it points to is replaced; a file has the permissions of the one
    that it replaces, a new one those that the system gives. Where a directory has to be
    replaced, the old one is put aside first and comes back if the new one cannot take its place.
    """
    path = Path(os.path.realpath(path))
    check_directory(path)
    temporary = temporary_name(path)
    mode = _mode(path, temporary)
    try:
        yield temporary
        if temporary.is_file() and stat.S_IMODE(temporary.stat().st_mode) != mode:
            temporary.chmod(mode)  # https://github.com/safetensors/safetensors/issues/782
        if path.is_dir() and temporary.is_dir():
            _exchange(temporary, path)
        else:
            os.replace(temporary, path)
    finally:
        discard(temporary)


def _mode(path: Path, temporary: Path) -> int:
    """The permissions that the file at `path` has, or would get; asked of a file at `temporary`."""
    if path.is_file():
        return stat.S_IMODE(path.stat().st_mode)
    temporary.touch()
    try:
        return stat.S_IMODE(temporary.stat().st_mode)
    finally:
        temporary.unlink()


def _exchange(temporary: Path, path: Path) -> None:
    if any(path.iterdir()) and not {p.name for p in path.iterdir()} & {
        p.name for p in temporary.iterdir()
    }:
        raise StorageError(
            f"Container.save: {str(path)!r} is a directory of other things, which would be lost; "
            "remove it first, or choose another name"
        )
    aside = temporary_name(path)
    os.rename(path, aside)
    try:
        os.rename(temporary, path)
    except BaseException:
        os.rename(aside, path)
        raise
    discard(aside)


def discard(path: Path) -> None:
    """Remove a file or a directory if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
