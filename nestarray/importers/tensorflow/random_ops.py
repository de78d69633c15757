"""Draws of random numbers by a seed, and by a hidden state.

TensorFlow makes a key and a counter of a seed, which are 64-bit integers, and draws with these. In a
graph the draws read the seed. Draws with a hidden state take the graph's key.
"""

from __future__ import annotations

from nestarray.frontends.rules import Arguments
from nestarray.frontends.tensorflow.vocabulary import Rule

#: Operations that make a key and a counter of a seed.
KEY_COUNTERS = ("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg")


_AUTO_SELECT = 3


def _seeded(arguments: Arguments) -> Arguments:
    """The seed in place of the key and the counter."""
    settings = {key: value for key, value in arguments.items() if key != "counter"}
    settings["seed"] = settings.pop("key")
    if settings["alg"] == _AUTO_SELECT:
        del settings["alg"]
    return settings


def _seeded_by_philox(arguments: Arguments) -> Arguments:
    """As `_seeded`, for functions that draw by Philox alone."""
    return {key: value for key, value in _seeded(arguments).items() if key != "alg"}


#: The draws by a seed, as functions of `tf.random`.
RULES = {
    rule.operation: rule
    for rule in (
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
