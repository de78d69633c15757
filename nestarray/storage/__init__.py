"""Saving and loading of Containers.

`Container.save` and `Container.load` are in `files`; each format is a module. Files are not
executed, are replaced atomically, and arrays can stay in the file until they are needed.
"""

from typing import TYPE_CHECKING

from nestarray.lazy_imports import attach

if TYPE_CHECKING:
    from nestarray.storage.files import metadata as metadata
    from nestarray.storage.stored import StoredArray as StoredArray
    from nestarray.storage.stored import read as read

__all__ = ["StoredArray", "metadata", "read"]

attach(
    __name__,
    {"nestarray.storage.files": ("metadata",), "nestarray.storage.stored": ("StoredArray", "read")},
)
