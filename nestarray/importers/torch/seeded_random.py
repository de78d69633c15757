"""Random numbers with a seed set in forward: equal in every call, so constants of the graph.

``torch.manual_seed(0)`` or a new generator in forward determines the following draws. The exporter
records the draws without the seed, and a graph would draw from its key. So these draws are
computed during the trace. After a draw with an open size the state of the generator is unknown,
and later draws use the key; dropout always uses the key.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nestarray.importers.patching import patched


@contextlib.contextmanager
def patched_seeds() -> Iterator[None]:
    """Replace draws after a seed by constants during an export."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import _disable_current_modes

    native = torch.Generator

    class Kind(type(native)):  # type: ignore[misc]
        """All generators are instances of `Own` while it replaces ``torch.Generator``."""

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, native)

    class Own(native, metaclass=Kind):  # type: ignore[misc, valid-type]
        """A generator created in forward."""

    like: dict[Any, Any] = {
        torch.rand_like: torch.rand,
        torch.randn_like: torch.randn,
        torch.randint_like: torch.randint,
    }
    makers = {torch.rand, torch.randn, torch.randint, torch.randperm, *like}
    seeded: list[Any] = []
    lost: set[Any] = set()  # generators after a draw with an open size

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
            if function not in makers or type(generator) is not Own or generator in lost:
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
        (torch, "set_rng_state", left),  # torch.random.fork_rng calls it at its end
    )
    with patched(*places), Drawn():
        yield


def _are_numbers(arguments: Any) -> bool:
    """Whether all sizes are constants."""
    import torch
    from torch.utils._pytree import tree_leaves

    return not any(isinstance(x, (torch.SymInt, torch.Tensor)) for x in tree_leaves(arguments))
