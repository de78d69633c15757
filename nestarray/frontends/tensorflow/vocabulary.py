"""The rules of TensorFlow's operations, by which concrete functions become calls of this frontend.

The operation ``AddV2`` is `tf.raw_ops.AddV2`, with the operation's names of arguments: its type
finds the function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nestarray.frontends.tensorflow as tf
from nestarray.frontends import rules

#: The module that programs import as ``tf``.
namespace = "nestarray.frontends.tensorflow"

#: Attributes without effect on values: ``x == y`` sets it, and the trace checks the shapes.
NO_EFFECT = frozenset(["incompatible_shape_error"])


@dataclass(frozen=True, eq=False)
class Rule(rules.Rule):
    """A rule for a type of operations."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function with the printed name."""
        return function(self.name)


def find(op: str, /) -> Rule | None:
    """Return the rule of an operation, by its type."""
    name = f"tf.raw_ops.{op}"
    found = rules.public_function(tf, name, owner="nestarray")
    return None if found is None else Rule(op, name)


def function(printed_name: str, /) -> Callable[..., Any]:
    """Return the function of a printed name.

    Raises:
        ValueError: this frontend has no public function of this name.

    Example:
        >>> from nestarray.frontends.tensorflow import vocabulary
        >>> vocabulary.function("tf.math.add").__name__
        'add'
    """
    return rules.require_function(tf, printed_name, owner="nestarray")
