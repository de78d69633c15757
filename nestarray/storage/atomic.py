"""Atomic writes: a file is replaced completely or not at all.

A file is written to a hidden directory next to its path and moved to the path when it is complete,
so a killed program leaves the old file unchanged. After an error the temporary directory is
removed; after a kill, the next save under the same name removes it. Writers hold a lock on the
directory, which the system releases when the process ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from nestarray.errors import MissingFileError, StorageError

try:
    import fcntl
except ImportError:  # Windows: temporary directories remain, because their owner is unknown
    fcntl = None  # type: ignore[assignment]


def check_place(path: Path, function: str = "Container.save") -> None:
    """Raise an error unless a file or directory can be at a path; `function` is the caller's name.

    Raises:
        MissingFileError: its parent directory does not exist.
        StorageError: the path, or the target of a link, is a device, a pipe or a socket, which a file
            would replace.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise StorageError(
            f"{function}: {str(path)!r} is a device, a pipe or a socket, expected a file or a new "
            "name; save to a file, and copy it"
        )
    if not path.parent.is_dir():
        raise MissingFileError(
            f"{function}: {str(path)!r}: there is no directory {str(path.parent)!r}; make it first"
        )


@contextlib.contextmanager
def replacing(
    path: Path, function: str = "Container.save", *, flushes: bool = False
) -> Iterator[Path]:
    """A temporary path to write to; it is moved to `path` if the block succeeds.

    If `path` is a symbolic link, its target is replaced; see also `put`. With `flushes` the file
    is on the disk before it is moved, and under its new name at the end, so a loss of power too leaves
    the old file or the new one.
    """
    path = Path(os.path.realpath(path))
    check_place(path, function)
    with workplace(path) as folder:
        yield folder / path.name
        if flushes:
            _flush(folder / path.name)
        put(folder / path.name, path, function)
        if flushes and os.name == "posix":  # other systems cannot open directories
            _flush(path.parent)


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put(made: Path, path: Path, function: str = "Container.save") -> None:
    """Move a file or directory from a `workplace` to its path; `function` is the caller's name.

    It gets the permissions of the replaced file, or the system's default for a new one.

    Raises:
        StorageError: the path is a directory that another program wrote, a directory in place of a
            file, or a file in place of a directory.
    """
    if path.exists() and path.is_dir() != made.is_dir():
        found, wanted = ("directory", "file") if path.is_dir() else ("file", "directory")
        raise StorageError(
            f"{function}: {str(path)!r} is a {found}, expected a {wanted}; remove it first, or choose "
            "another name"
        )
    if made.is_file():
        mode = _mode(path, made)
        if stat.S_IMODE(made.stat().st_mode) != mode:
            made.chmod(mode)  # https://github.com/safetensors/safetensors/issues/782
    if path.is_dir():
        _replace_directory(made, path, function)
    else:
        os.replace(made, path)


def _mode(path: Path, made: Path) -> int:
    """The permissions of the file at `path`, or the default for a new file."""
    if path.is_file():
        return stat.S_IMODE(path.stat().st_mode)
    new = made.with_name("new")
    new.touch()
    return stat.S_IMODE(new.stat().st_mode)


def _replace_directory(made: Path, path: Path, function: str) -> None:
    if any(path.iterdir()) and _files(path) != _files(made):
        raise StorageError(
            f"{function}: {str(path)!r} is a directory of other things, which would be lost; "
            "remove it first, or choose another name"
        )
    if _exchange(made, path):
        return
    aside = made.with_name("old")
    os.rename(path, aside)
    try:
        os.rename(made, path)
    except BaseException:
        os.rename(aside, path)
        raise


def _files(directory: Path) -> set[str]:
    """The names of the files, which a format determines; names of directories are those of arrays."""
    return {path.name for path in directory.iterdir() if path.is_file()}


_AT_FDCWD, _EXCHANGE = -100, 2


def _exchange(a: Path, b: Path) -> bool:
    """Exchange two directories atomically; returns False if the system does not support it."""
    names = os.fsencode(a), os.fsencode(b)
    try:
        library = ctypes.CDLL(None)
        if sys.platform == "darwin":
            return library.renamex_np(*names, _EXCHANGE) == 0
        return library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE) == 0
    except (AttributeError, OSError, TypeError):  # another C library; Windows has no CDLL(None)
        return False


def discard(path: Path) -> None:
    """Remove a file or a directory if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def turn(directory: Path) -> Iterator[None]:
    """Let one writer after another change several files of a directory, where the system has locks.

    Readers need none. A killed writer loses its turn.
    """
    descriptor = None
    if fcntl is not None:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


# -- a directory to write in ------------------------------------------------------------------


@contextlib.contextmanager
def workplace(path: Path) -> Iterator[Path]:
    """A hidden, empty directory next to `path`, which is removed at the end."""
    folder, lock = _acquire_folder(path)
    try:
        yield folder
    finally:
        discard(folder)
        if lock is not None:
            os.close(lock)


def _acquire_folder(path: Path) -> tuple[Path, int | None]:
    """The first directory that no running program uses, and its lock."""
    for number in itertools.count():
        folder = _folder(path, number)
        is_new = True
        try:
            folder.mkdir()
        except FileExistsError:
            is_new = False
        try:
            lock = _lock(folder)
        except (BlockingIOError, FileNotFoundError):  # another program took or removed it
            continue
        except OSError:
            if is_new:
                raise
            continue  # owned by another user, or not a directory
        if lock is not None:
            for left in folder.iterdir():
                discard(left)
            _remove_abandoned(path, number + 1)
        elif not is_new:
            continue
        return folder, lock
    raise AssertionError("numbers do not end")


def _folder(path: Path, number: int) -> Path:
    return path.with_name(f".{path.name[:60]}.{number}.tmp")


def _remove_abandoned(path: Path, number: int) -> None:
    """Remove the directories of killed programs, which have consecutive numbers."""
    for folder in map(_folder, itertools.repeat(path), itertools.count(number)):
        if not folder.is_dir():
            return
        with contextlib.suppress(OSError):
            lock = _lock(folder)
            if lock is not None:
                discard(folder)
                os.close(lock)


def _lock(folder: Path) -> int | None:
    """The lock on a directory; None if the system has no locks.

    Raises:
        BlockingIOError: a running program holds it.
        OSError: the directory cannot be opened, or was removed.
    """
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    with contextlib.ExitStack() as undone:
        undone.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # a file system without locks
            return None
        if not os.path.samestat(os.fstat(descriptor), os.stat(folder)):
            raise FileNotFoundError(f"{str(folder)!r} is another directory now")
        undone.pop_all()
    return descriptor


def remove_leftovers(directory: Path, pattern: str) -> None:
    """Remove the temporary directories that killed programs left for files of a name pattern."""
    for folder in directory.glob(f".{pattern}.*.tmp"):
        with contextlib.suppress(OSError):  # a running program holds the lock
            lock = _lock(folder)
            if lock is not None:
                discard(folder)
                os.close(lock)
