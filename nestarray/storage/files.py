"""`Container.save`, `Container.load`, and the metadata of a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nestarray import backends
from nestarray.config import check_backend_name, current_backend
from nestarray.container import Container, FusedContainer, constructor, method
from nestarray.display.progress import progress
from nestarray.errors import ArgumentError
from nestarray.storage import formats, shards, stored
from nestarray.storage.atomic import check_place, replacing
from nestarray.storage.plan import make_plan
from nestarray.storage.source import reading, writing

#: Frameworks without array views, where the leaves of a fused tree would be copies.
_ELSEWHERE = {"jax", "tensorflow"}


@method
def save(
    c: Container,
    /,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    metadata: Mapping[str, str] | None = None,
    max_shard_bytes: int | None = None,
) -> None:
    """Write a Container to a file, in the format of its suffix.

    Loading restores any tree: kinds and order of nodes, integer keys, keys with dots and
    slashes, leaves that are None, strings and numbers, and shared arrays, which are stored once.
    The framework of an array is not stored: see `Container.load`. The file is replaced
    atomically; after an error the old file remains.

    =====================================  ===================================================
    ``.safetensors``                       the default for models; other safetensors libraries
                                           read it, by names such as ``encoder.0.weight``
    ``.npz``, ``.json``                    require only NumPy
    ``.h5``, ``.hdf5``, ``.zarr``          nodes as groups; require h5py and zarr
    =====================================  ===================================================

    Args:
        c: a Container with arrays of any framework.
        path: the file. With `max_shard_bytes`, the name of the model, such as
            ``"model.safetensors"``, or an existing directory.
        format: ``"safetensors"``, ``"npz"``, ``"hdf5"``, ``"zarr"`` or ``"json"``; by default
            from the suffix of `path`.
        metadata: strings to store with the arrays; `nestarray.storage.metadata` reads them.
        max_shard_bytes: write several safetensors files with at most this many bytes of arrays,
            and an index, in the layout of Hugging Face; one file if all arrays fit. A single
            array may be larger.

    Raises:
        ArgumentError: a leaf is neither an array, a string, a number nor None; or the suffix
            is unknown.
        DtypeError: the format does not support the dtype of a leaf.
        StorageError: the file cannot be written.

    Example:
        >>> import tempfile, numpy as np, nestarray as na
        >>> c = na.Container(layers=[{"w": np.ones((2, 3))}, {"w": np.zeros(3)}], step=7)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     c.save(f"{folder}/model.npz")
        ...     na.Container.load(f"{folder}/model.npz")
        Container(3 leaves, 9 elements, numpy)
          layers [list]
            0
              w  f64[2, 3]
            1
              w  f64[3]
          step  7

    References:
        https://huggingface.co/docs/safetensors
    """
    if isinstance(c, FusedContainer) and set(map(backends.backend_of, c.buffers())) & _ELSEWHERE:
        c = c.to_backend("numpy")  # one transfer for each buffer; then leaves are views
    place = formats.checked_path("Container.save", path)
    if max_shard_bytes is not None:
        name = formats.name_of("Container.save", place, format, "safetensors")
        with progress(f"save {place.name}") as step:
            shards.save(c, place, name, metadata, max_shard_bytes, step)
        return
    if shards.is_index(place):
        raise ArgumentError(
            f"Container.save: path: got {str(place)!r}, the name of an index; say max_shard_bytes, or "
            "name one file"
        )
    name = formats.name_of("Container.save", place, format)
    module = formats.FORMATS[name]
    if not hasattr(module, "write"):
        raise ArgumentError(
            f"Container.save: path: got {str(place)!r}, a file of {name}, which is read only; "
            f"{module.READ_ONLY}"
        )
    check_place(place)
    plan = make_plan(
        c, metadata, module.naming, native=module.NATIVE_DTYPES, separator=module.separator
    )
    total = sum(map(plan.size, plan.arrays)) or 1
    with progress(f"save {place.name}") as step, writing(place), replacing(place) as temporary:
        step("", lambda: _stored_bytes(temporary) / total)
        module.write(temporary, plan)
    shards.remove_stale(place)


def _stored_bytes(path: Path) -> int:
    """The size of a file or a directory that is being written; compressed formats store less."""
    files = path.rglob("*") if path.is_dir() else (path,)
    sizes = 0
    for file in files:
        with contextlib.suppress(OSError):  # not yet there, or moved
            sizes += file.stat().st_size
    return sizes


@constructor
def load(
    path: str | os.PathLike[str],
    /,
    *patterns: Any,
    format: str | None = None,
    backend: str | None = None,
    lazy: bool = False,
    memory_map: bool = False,
    flat: bool = False,
) -> Container:
    """Read a Container from a file, or the part that `patterns` select.

    Files of other programs are nested by name: ``encoder.0.weight`` at dots, groups of HDF5 and
    Zarr at slashes. Nothing in a file is executed; damaged files and inconsistent sizes raise a
    `StorageError` before memory is allocated. safetensors has no checksum of elements, so
    damaged numbers are not detected.

    Args:
        path: a file, the index of a sharded model (``model.safetensors.index.json``,
            ``pytorch_model.bin.index.json``), or a directory that contains one model or one
            checkpoint of Orbax.
        *patterns: as for `Container.select`; other leaves are not read. Predicates receive a
            `StoredArray` with shape and dtype.
        format: as for `Container.save`, or ``"torch"`` for files of ``torch.save``, of which
            only weights are read, ``"keras"`` (``.keras``, ``.weights.h5``), ``"msgpack"`` of
            ``flax.serialization``, ``"orbax"``; by default from the suffix, and without a known
            one from the content.
        backend: the framework of the arrays; by default the current backend, initially NumPy.
        lazy: leave every array in the file, as a `StoredArray`, until it is read.
        memory_map: map the file instead of reading it: constant memory, and pages are read on
            access. NumPy arrays are then read-only; torch tensors are writable, without any
            effect on the file. For safetensors, contiguous HDF5 and torch.
        flat: return the arrays under their names in the file, as one level.

    Raises:
        MissingFileError: the file does not exist; also a FileNotFoundError.
        StorageError: the content does not match the format, or cannot be mapped.
        MissingFrameworkError: a package that the format requires is not installed.
        DtypeError: `backend` lacks the dtype of an array.

    Example:
        >>> import tempfile, numpy as np, nestarray as na
        >>> c = na.Container(enc={"w": np.ones((2, 3)), "b": np.zeros(3)}, dec={"w": np.ones(2)})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     c.save(f"{folder}/model.npz")
        ...     na.Container.load(f"{folder}/model.npz", "enc/*").paths()
        ('enc/w', 'enc/b')
    """
    backend = check_backend_name(backend or current_backend())
    place = formats.checked_path("Container.load", path)
    writable = memory_map and backend != "numpy"
    source = formats.open_source("Container.load", place, format, writable=writable)
    with reading(source.path):
        c = formats.with_stored_arrays(source, backend, memory_map, flat)
    if patterns:
        c = c.select(*patterns)
    if lazy:
        return c
    try:
        return stored.read_arrays(c, f"load {place.name}")
    finally:
        source.close()


def metadata(path: str | os.PathLike[str], /, *, format: str | None = None) -> dict[str, str]:
    """The strings that were saved with the arrays; reads no array.

    Raises:
        MissingFileError: the file does not exist.
        StorageError: the content does not match the format.

    Example:
        >>> import tempfile, numpy as np, nestarray as na
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     na.Container(w=np.ones(2)).save(f"{folder}/c.npz", metadata={"licence": "MIT"})
        ...     na.storage.metadata(f"{folder}/c.npz")
        {'licence': 'MIT'}
    """
    place = formats.checked_path("storage.metadata", path)
    source = formats.open_source("storage.metadata", place, format)
    try:
        return source.metadata
    finally:
        source.close()
