"""Programs as ``flax.nnx.Module``."""

from __future__ import annotations

from typing import Any

import jax
from flax import nnx

from nestarray.exporters.flax_collections import places
from nestarray.exporters.program import Program, Variables
from nestarray.exporters.signatures import CallSignature
from nestarray.importers.jax.models import key_like, key_words


class FlaxModule(nnx.Module):
    """A converted model: parameters are ``nnx.Param``, statistics ``nnx.BatchStat``.

    ``train()`` and ``eval()`` select the mode. Random operations draw from ``rngs.dropout``.
    """

    __signature__ = CallSignature("program", jax.Array)

    def __init__(
        self, program: Program, variables: Variables, rngs: nnx.Rngs | None = None
    ) -> None:
        self.program = program
        self.deterministic = True
        if rngs is None and program.draws:
            rngs = nnx.Rngs(0)
        if rngs is not None:
            self.rngs = rngs
        variable_places = places(program)
        taken = {*dir(self), "places"}
        self.places = tuple(
            [
                (path, (f"{first}_" if first in taken else first, *names))
                for path, (_, (first, *names)) in variable_places.items()
            ]
        )
        for path, keys in self.places:
            kind = nnx.variable_type_from_name(variable_places[path][0], allow_register=True)
            owner: nnx.Module = self
            for part in keys[:-1]:
                if not hasattr(owner, part):
                    setattr(owner, part, nnx.Module())
                owner = getattr(owner, part)
            setattr(owner, keys[-1], kind(variables.copied(path)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The output of the source, called as the source is."""
        train = not self.deterministic
        variables = {path: self._variable(keys) for path, keys in self.places}
        values = {path: variable.get_value() for path, variable in variables.items()}
        key = key_words(self.rngs.dropout()) if self.program.needs_key(train) else None
        like = {path: key_words(x) for path, x in values.items()}
        output, new = self.program.run(train, args, kwargs, like, key)
        for path, value in new.items():
            variables[path].set_value(key_like(values[path], value))
        return output

    def _variable(self, keys: tuple[str, ...]) -> Any:
        owner: Any = self
        for part in keys:
            owner = getattr(owner, part)
        return owner


build = FlaxModule
