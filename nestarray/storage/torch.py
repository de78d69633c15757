"""Files of ``torch.save``: read-only, and restricted to weights.

They are pickles: programs that Python executes. With ``weights_only=True`` torch refuses all
programs except constructors of tensors, dicts, lists and plain values.
https://docs.pytorch.org/docs/stable/generated/torch.load.html
"""

from __future__ import annotations

import pickle
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nestarray import backends
from nestarray.container import Container
from nestarray.errors import StorageError
from nestarray.storage.elements import dtype_name, to_elements
from nestarray.storage.source import Entry, Source
from nestarray.storage.structure import ArrayOf, Reference, reason, resolve

#: Why `Container.save` does not write this format.
READ_ONLY = "torch's files hold programs; save as .safetensors, or call torch.save(c.to_torch_state_dict(), path)"


class TorchSource(Source):
    """Any saved nest; tensors that share memory are one array."""

    def __init__(self, path: Path) -> None:
        self._tree = _load(path)
        self._tensors: dict[str, Any] = {}
        self._names: dict[Any, str] = {}
        self._referenced = self._with_references(self._tree, ())
        entries = {
            name: Entry(dtype_name(x, name), tuple(x.shape)) for name, x in self._tensors.items()
        }
        super().__init__(path, entries)

    def _with_references(self, node: Any, keys: tuple[Any, ...]) -> Any:
        if isinstance(node, Mapping):
            return {k: self._with_references(v, (*keys, k)) for k, v in node.items()}
        if isinstance(node, (list, tuple)):
            members = [self._with_references(v, (*keys, i)) for i, v in enumerate(node)]
            return members if isinstance(node, list) else tuple(members)
        if backends.backend_of_type(type(node)) != "torch":
            return node
        tensor = node.detach()
        place = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        name = ".".join(map(str, keys))
        if tensor.numel() and place in self._names:
            return Reference(self._names[place])
        while name in self._tensors:
            name += "~"
        self._names[place], self._tensors[name] = name, tensor
        return Reference(name)

    def layout(self, array_of: ArrayOf) -> Container:
        """The saved nest; names in it are split at dots, as in state dicts."""
        return resolve(Container(_split(self._referenced)), array_of)

    def flat(self, array_of: ArrayOf) -> dict[str, Any]:
        """Joined name → leaf."""
        return resolve(Container(self._referenced), array_of).to_flat_dict(".")

    def read(self, name: str) -> np.ndarray:
        """The elements of a tensor."""
        return self.view(name).copy()

    def view(self, name: str) -> np.ndarray:
        """The elements of a tensor, on the mapped file."""
        return to_elements(self._tensors[name])

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of a tensor; only this part is read."""
        return np.array(self.view(name)[index])


def _split(node: Any) -> Any:
    if not isinstance(node, dict):
        return type(node)(map(_split, node)) if type(node) in (list, tuple) else node
    nested = {k: _split(v) for k, v in node.items()}
    if not any(isinstance(k, str) and "." in k for k in nested):
        return nested
    if not all(isinstance(k, str) for k in nested):
        return nested
    return Container.from_flat_dict(nested, ".").to_dict()


def _load(path: Path) -> Any:
    torch = backends.core("torch").torch
    try:
        with warnings.catch_warnings():
            # torch warns of content that it will refuse
            warnings.simplefilter("ignore", UserWarning)
            return torch.load(
                path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path)
            )
    except pickle.UnpicklingError as error:
        raise StorageError(
            f"Container.load: {str(path)!r} is not only weights, and what else is in it could run any "
            f"program, so it is not read ({reason(error)})"
        ) from error


def open(path: Path, *, writable: bool) -> Source:
    """The file as a `Source`."""
    return TorchSource(path)
