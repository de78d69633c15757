"""Random numbers with a seed set in forward: equal in every call, so constants of the graph.

``torch.manual_seed(0)`` or a new generator in forward determines the following draws. The exporter
records the draws without the seed, and a graph would draw from its key. So these draws are
computed during the trace. After a draw with an open size the state of the generator is unknown,
and later draws use the key; dropout always uses the key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.importers.torch.sources import mentions
from nestarray.importers.torch.workarounds import reproducers
from nestarray.importers.workarounds import Needed, Workaround


class _Seeds:
    """The generators that forward seeded.

    Attributes:
        kind: the class of generators that forward creates.
        default: the default generator after ``torch.manual_seed``; None before it.
        lost: generators after a draw with an open size.
    """

    kind: Any = None
    default: Any = None

    def __init__(self) -> None:
        self.lost: set[Any] = set()


def _noted_seeds(trace: Any, generator: Any, *_: Any) -> Sequence[Any]:
    seeds = trace.memory["seeds"] = _Seeds()
    native = generator

    class Kind(type(native)):  # type: ignore[misc]
        """All generators are instances of `Own` while it replaces ``torch.Generator``."""

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, native)

    class Own(native, metaclass=Kind):  # type: ignore[misc, valid-type]
        """A generator created in forward."""

    def manual_seed(seed: int) -> Any:
        seeds.default = Own().manual_seed(seed)
        return seeds.default

    def left(*_: Any) -> None:
        seeds.default = None

    seeds.kind = Own
    return [Own, manual_seed, manual_seed, left, left]


def _draws(trace: Any) -> Mapping[Any, Callable[..., Any]]:
    """Draws of generators that forward seeded are constants."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    like: dict[Any, Any] = {
        torch.rand_like: torch.rand,
        torch.randn_like: torch.randn,
        torch.randint_like: torch.randint,
    }
    seed = torch.initial_seed()

    def drawing(function: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            seeds = trace.memory.get("seeds")
            generator = kwargs.get("generator")
            if seeds is None:
                if generator is not None or torch.initial_seed() != seed:
                    raise Needed(SEEDS)
                return function(*args, **kwargs)
            generator = generator or seeds.default
            if type(generator) is not seeds.kind or generator in seeds.lost:
                return function(*args, **kwargs)
            of_sizes, sizes = args, kwargs
            if function in like:
                x, *others = args
                of_sizes = (*others, tuple(x.shape))
                sizes = {"dtype": x.dtype, "device": x.device} | kwargs
            if not _are_numbers((of_sizes, sizes)):
                seeds.lost.add(generator)
                return function(*args, **kwargs)
            draw: Any = like.get(function, function)
            with _disable_current_modes():
                return draw(*of_sizes, **sizes | {"generator": generator})

        return call

    makers = (torch.rand, torch.randn, torch.randint, torch.randperm, *like)
    return {function: drawing(function) for function in makers}


def _sets_seeds(trace: Any) -> bool:
    return mentions(trace.module, ("manual_seed", "Generator"))


def _are_numbers(arguments: Any) -> bool:
    """Whether all sizes are constants."""
    import torch
    from torch.utils._pytree import tree_leaves

    return not any(isinstance(x, (torch.SymInt, torch.Tensor)) for x in tree_leaves(arguments))


SEEDS = Workaround(
    "seeds in forward",
    "torch.export drops torch.manual_seed and the seeds of generators",
    (
        reproducers.seed_in_forward,
        reproducers.generator_in_forward,
    ),
    names=(
        "torch.Generator",
        "torch.manual_seed",
        "torch.random.manual_seed",
        "torch.seed",
        "torch.set_rng_state",  # torch.random.fork_rng calls it at its end
    ),
    attributes=_noted_seeds,
    functions=_draws,
    is_needed=_sets_seeds,
)
