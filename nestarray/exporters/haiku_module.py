"""Programs as ``haiku.Module``.

Module names of Haiku are identifiers, which paths such as ``0/weight`` are not. The variables are
those of one module, under their paths: ``params["net"]["0/weight"]``.
"""

from __future__ import annotations

from typing import Any

import haiku as hk

from nestarray.exporters.program import Program, Variables, identifier
from nestarray.importers.jax.models import key_words


class HaikuModule(hk.Module):
    """A converted model, whose initial parameters are the converted weights.

    ``is_training=True`` selects the training mode: it sets the state and draws from
    ``hk.next_rng_key``.
    """

    def __init__(self, program: Program, variables: Variables, name: str | None = None) -> None:
        super().__init__(name=name or identifier(program.name.lower()))
        self.program, self.variables = program, variables

    def __call__(self, *args: Any, is_training: bool = False, **kwargs: Any) -> Any:
        """The output of the source, called as the source is."""
        program, values = self.program, {}
        for get, paths in ((hk.get_parameter, program.v), (hk.get_state, program.s)):
            for path in paths:
                x = self.variables.values[path]
                init = lambda shape, dtype, path=path: self.variables.copied(path)  # noqa: E731
                values[path] = get(path, x.shape, x.dtype, init)
        key = key_words(hk.next_rng_key()) if program.needs_key(is_training) else None
        output, new = program.run(is_training, args, kwargs, values, key)
        for path, value in new.items():
            hk.set_state(path, value)
        return output


build = HaikuModule
