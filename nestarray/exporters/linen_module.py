"""Programs as ``flax.linen.Module``."""

from __future__ import annotations

from typing import Any

import jax
from flax import linen

from nestarray.exporters.flax_collections import places
from nestarray.exporters.program import Program, Variables
from nestarray.exporters.signatures import CallSignature, setting
from nestarray.importers.jax.models import key_words


class LinenModule(linen.Module):
    """A converted model, whose ``init`` returns the converted weights.

    ``train=True`` selects the training mode: it writes into the mutable collections and draws
    from the stream "dropout".
    """

    program: Program
    initial: Variables

    __signature__ = CallSignature("program", jax.Array, setting("train"))

    @linen.compact
    def __call__(self, *args: Any, train: bool = False, **kwargs: Any) -> Any:
        """The output of the source, called as the source is."""
        initial, values, variables = self.initial.copied, {}, {}
        for path, (collection, (*parts, name)) in places(self.program).items():
            scope: Any = self.scope
            for part in parts:
                scope = scope.push(part, reuse=True)
            if collection == "params":
                values[path] = scope.param(name, lambda key, path=path: initial(path))
            else:
                variables[path] = scope.variable(collection, name, lambda path=path: initial(path))
                values[path] = variables[path].value
        key = None
        if self.program.needs_key(train) and not self.is_initializing():
            key = key_words(self.make_rng("dropout"))
        train = train and not self.is_initializing()
        output, new = self.program.run(train, args, kwargs, values, key)
        for path in new if not self.is_initializing() else ():
            if train or self.is_mutable_collection(variables[path].collection):
                variables[path].value = new[path]
        return output


build = LinenModule
