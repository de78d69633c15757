"""Random numbers in a traced module.

``torch.manual_seed(0)`` or a new generator in forward determines the following draws, which are equal in
every call. The exporter records the draws without the seed, and a graph would draw from its key. So
these draws are computed during the trace, and are constants of the graph. After a draw with an open size
the state of the generator is unknown, and later draws use the key; dropout always uses the key.

``Gamma.rsample`` keeps samples above zero by a write behind autograd, and distributions check values,
which are branches. During the trace samples are operations whose frontend functions have derivatives,
without checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from nestarray.importers.torch.selection import mentions
from nestarray.importers.workarounds import Factory, Needed, Workaround, always, resolve

# -- seeds -------------------------------------------------------------------------------------


class _Seeds:
    """The generators that forward seeded.

    Attributes:
        kind: the class of generators that forward creates.
        default: the default generator after ``torch.manual_seed``; None before it.
        lost: generators after a draw with an open size.
    """

    def __init__(self, kind: Any) -> None:
        self.kind, self.default = kind, None
        self.lost: set[Any] = set()


def _noted_generators(trace: Any, native: Any) -> Any:
    class Kind(type(native)):  # type: ignore[misc]
        """All generators are instances of `Own` while it replaces ``torch.Generator``."""

        def __instancecheck__(cls, instance: Any) -> bool:  # pyright: ignore[reportSelfClsParameterName]
            return isinstance(instance, native)

    class Own(native, metaclass=Kind):  # type: ignore[misc, valid-type]
        """A generator created in forward."""

    trace.memory["seeds"] = _Seeds(Own)
    return Own


def _seeding(trace: Any, native: Any) -> Callable[..., Any]:
    def manual_seed(seed: int) -> Any:
        seeds = trace.memory["seeds"]
        seeds.default = seeds.kind().manual_seed(seed)
        return seeds.default

    return manual_seed


def _leaving(trace: Any, native: Any) -> Callable[..., Any]:
    def left(*_: Any) -> None:
        trace.memory["seeds"].default = None

    return left


def _drawing(native_of: Callable[[], Any] | None = None) -> Factory:
    """Draws of generators that forward seeded are constants.

    Args:
        native_of: the function of sizes for one that takes an array, ``torch.rand_like``.
    """

    def factory(trace: Any, native: Any) -> Callable[..., Any]:
        from torch.utils._python_dispatch import _disable_current_modes

        seed = torch.initial_seed()

        def call(*args: Any, **kwargs: Any) -> Any:
            seeds, generator = trace.memory.get("seeds"), kwargs.get("generator")
            if seeds is None:
                if generator is not None or torch.initial_seed() != seed:
                    raise Needed(SEEDS)
                return native(*args, **kwargs)
            generator = generator or seeds.default
            if type(generator) is not seeds.kind or generator in seeds.lost:
                return native(*args, **kwargs)
            draw, of_sizes, sizes = native, args, kwargs
            if native_of is not None:
                x, *others = args
                draw, of_sizes = native_of(), (*others, tuple(x.shape))
                sizes = {"dtype": x.dtype, "device": x.device} | kwargs
            if not _are_numbers((of_sizes, sizes)):
                seeds.lost.add(generator)
                return native(*args, **kwargs)
            with _disable_current_modes():
                return draw(*of_sizes, **sizes | {"generator": generator})

        return call

    return factory


def _native(name: str) -> Callable[[], Any]:
    return lambda: resolve(name)


def _sets_seeds(trace: Any) -> bool:
    return mentions(trace.module, ("manual_seed", "Generator"))


def _are_numbers(arguments: Any) -> bool:
    """Whether all sizes are constants."""
    return not any(isinstance(x, (torch.SymInt, torch.Tensor)) for x in tree_leaves(arguments))


SEEDS = Workaround(
    "seeds in forward",
    "torch.export drops torch.manual_seed and the seeds of generators",
    attributes={
        "torch.Generator": _noted_generators,
        "torch.manual_seed": _seeding,
        "torch.random.manual_seed": _seeding,
        "torch.seed": _leaving,
        "torch.set_rng_state": _leaving,  # torch.random.fork_rng calls it at its end
    },
    functions={
        **{f"torch.{name}": _drawing() for name in ("rand", "randn", "randint", "randperm")},
        **{
            f"torch.{name}_like": _drawing(_native(f"torch.{name}"))
            for name in ("rand", "randn", "randint")
        },
    },
    is_needed=_sets_seeds,
)


# -- distributions -----------------------------------------------------------------------------


def _gamma(self: Any, sample_shape: Any = (), generator: Any = None) -> Any:
    """A sample, which a graph draws from its key also if a generator is passed."""
    shape = self._extended_shape(sample_shape)
    value = torch.ops.aten._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(
        shape
    )
    tiny = torch.finfo(value.dtype).tiny
    # as upstream, the gradient ignores the limit
    return torch.where(value < tiny, tiny + value - value.detach(), value)


def _noticing(trace: Any, native: Any) -> Callable[..., Any]:
    """A draw, of which `Gamma.rsample` without checks is noticed."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not trace.applies(GAMMA):
            raise Needed(GAMMA)
        return native(*args, **kwargs)

    return call


DISTRIBUTION_CHECKS = Workaround(
    "checks of distributions",
    "distributions check values, which are branches",
    issue="pytorch#135061",
    until="2.15",
    attributes={"torch.distributions.Distribution._validate_args": always(False)},
)
GAMMA = Workaround(
    "gamma samples",
    "Gamma.rsample writes behind autograd",
    attributes={"torch.distributions.Gamma.rsample": always(_gamma)},
    functions={"torch._standard_gamma": _noticing},
)
