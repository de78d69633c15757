"""Vocabularies: the functions of each frontend, by a source's operation and by printed name.

An importer asks a vocabulary for the rule of an operation. A saved program is read, and a
printed program is imported, by the names of its functions; the first part of such a name
(``torch`` in ``torch.nn.functional.relu``) is the name of the vocabulary.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol

from nestarray.frontends.rules import Rule


class Vocabulary(Protocol):
    """The functions of one frontend; a module with these names is one.

    Attributes:
        namespace: the module that programs import under the name of the vocabulary.
    """

    namespace: str

    def find(self, op: Any, /) -> Rule | None:
        """Return the rule of a source's operation, or None."""
        ...

    def function(self, printed_name: str, /) -> Callable[..., Any]:
        """Return the function of a printed name.

        Raises:
            ValueError: the frontend has no public function of this name.
        """
        ...


#: Name → the vocabulary, or the module that is one and has not been imported.
_VOCABULARIES: dict[str, Any] = {
    "jax": "nestarray.frontends.jax.vocabulary",
    "tf": "nestarray.frontends.tensorflow.vocabulary",
    "torch": "nestarray.frontends.torch.vocabulary",
}


def register(name: str, vocabulary: Vocabulary) -> None:
    """Add a vocabulary.

    Args:
        name: the first part of its printed names, an identifier.
        vocabulary: its rules and functions.
    """
    _VOCABULARIES[name] = vocabulary


def is_registered(name: str) -> bool:
    """Whether a vocabulary has this name."""
    return name in _VOCABULARIES


def vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of a name.

    Raises:
        KeyError: no vocabulary has this name.
    """
    found: Any = _VOCABULARIES[name]
    if isinstance(found, str):
        module: Any = importlib.import_module(found)
        found = _VOCABULARIES[name] = module
    return found
