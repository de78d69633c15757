"""The rules of TensorFlow's operations, by which concrete functions become calls of this frontend.

The operation ``AddV2`` is `tf.raw_ops.AddV2`, with the operation's names of arguments: its type
finds the function. `RULES` lists the exceptions. TensorFlow makes a key and a counter of a seed,
64-bit integers, and draws with these; in a graph the draws read the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nestarray.frontends.tensorflow as tf
from nestarray.frontends import rules
from nestarray.frontends.rules import Arguments

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


_AUTO_SELECT = 3


def _seeded(arguments: Arguments) -> Arguments:
    """The seed in place of the key and the counter."""
    named = {key: value for key, value in arguments.items() if key != "counter"}
    named["seed"] = named.pop("key")
    if named["alg"] == _AUTO_SELECT:
        del named["alg"]
    return named


def _seeded_by_philox(arguments: Arguments) -> Arguments:
    """As `_seeded`, for functions that draw by Philox alone."""
    return {key: value for key, value in _seeded(arguments).items() if key != "alg"}


#: Operations without results, or whose effect no graph has.
IGNORED = ("NoOp", "Assert", "Print", "PrintV2", "ControlTrigger", "DestroyResourceOp")

#: The operations whose function has another name, or other arguments, or that have none.
RULES = {
    rule.operation: rule
    for rule in (
        *[Rule(name, "") for name in IGNORED],
        Rule("StatelessRandomUniformV2", "tf.random.stateless_uniform", adapt=_seeded),
        Rule("StatelessRandomUniformIntV2", "tf.random.stateless_uniform", adapt=_seeded),
        Rule(
            "StatelessRandomUniformFullIntV2",
            "tf.random.stateless_uniform",
            defaults={"minval": None, "maxval": None},
            adapt=_seeded,
        ),
        Rule("StatelessRandomNormalV2", "tf.random.stateless_normal", adapt=_seeded),
        Rule("StatelessRandomGammaV3", "tf.random.stateless_gamma", adapt=_seeded_by_philox),
        Rule("StatelessTruncatedNormalV2", "tf.random.stateless_truncated_normal", adapt=_seeded),
    )
}


def find(op: str, /) -> Rule | None:
    """Return the rule of an operation, by its type."""
    if op in RULES:
        return RULES[op]
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
