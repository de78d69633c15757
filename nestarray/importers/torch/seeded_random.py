"""Random numbers that forward seeds itself: the same in every call, so a graph has them as constants.

``torch.manual_seed(0)`` in forward, or a generator made there, decides the numbers that are drawn
after it. The exporter keeps the draws and forgets the seed, and a graph draws from its key. So
such draws are made while a module is traced. Behind one whose size is left open a generator is at
no known place, and what follows comes from the key too; so does dropout in any case.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nestarray.importers.torch.patching import patched


@contextlib.contextmanager
def patched_seeds() -> Iterator[None]:
    """Around an export: what is drawn behind a seed is a constant of the program."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import _disable_current_modes

    class Own(torch.Generator):
        """A generator that forward has made."""

    like: dict[Any, Any] = {
        torch.rand_like: torch.rand,
        torch.randn_like: torch.randn,
        torch.randint_like: torch.randint,
    }
    makers = {torch.rand, torch.randn, torch.randint, torch.randperm, *like}
    seeded: list[Any] = []
    lost: set[Any] = set()  # generators behind a draw of an open size

    def manual_seed(seed: int) -> Any:
        seeded[:] = [Own().manual_seed(seed)]
        return seeded[0]

    def left(*_: Any) -> None:
        seeded.clear()

    class Drawn(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            generator = kwargs.get("generator") or next(iter(seeded), None)
            if function not in makers or not isinstance(generator, Own) or generator in lost:
                return function(*args, **kwargs)
            of_sizes, sizes = args, kwargs
            if function in like:
                x, *others = args
                of_sizes = (*others, tuple(x.shape))
                sizes = {"dtype": x.dtype, "device": x.device} | kwargs
            if not _are_numbers((of_sizes, sizes)):
                lost.add(generator)
                return function(*args, **kwargs)
            draw: Any = like.get(function, function)
            with _disable_current_modes():
                return draw(*of_sizes, **sizes | {"generator": generator})

    places = (
        (torch, "Generator", Own),
        (torch, "manual_seed", manual_seed),
        (torch.random, "manual_seed", manual_seed),
        (torch, "seed", left),
        (torch, "set_rng_state", left),  # by which torch.random.fork_rng ends, too
    )
    with patched(*places), Drawn():
        yield


def _are_numbers(arguments: Any) -> bool:
    """Whether no size is left open."""
    import torch
    from torch.utils._pytree import tree_leaves

    return not any(isinstance(x, (torch.SymInt, torch.Tensor)) for x in tree_leaves(arguments))
