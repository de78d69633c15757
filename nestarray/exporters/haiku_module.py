"""Programs as ``haiku.Module``.

Module names of Haiku are identifiers, which paths such as ``0/weight`` are not. The variables are
those of one module, under their paths: ``params["net"]["0/weight"]``. A transform makes its
modules anew at each run, so a module of code outside of transforms is made when one runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import haiku as hk
import jax
from haiku._src import base

from nestarray.exporters.program import Program, Variables, identifier
from nestarray.exporters.signatures import CallSignature, setting
from nestarray.importers.jax.models import key_words


class HaikuModule(hk.Module):
    """A converted model, whose initial parameters are the converted weights.

    ``is_training=True`` selects the training mode: it sets the state and draws from
    ``hk.next_rng_key``.
    """

    __signature__ = CallSignature("program", jax.Array, setting("is_training"))

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


class DeferredModule:
    """A model outside of transforms: each run of a transform makes its `HaikuModule` once.

    The first call of a run decides the name, as for modules that the run makes itself; all calls
    of the run share the parameters.
    """

    __signature__ = CallSignature("program", jax.Array, setting("is_training"))

    def __init__(self, program: Program, make: Callable[[], HaikuModule]) -> None:
        self.program, self._make = program, make
        #: id of a transform's run → its module, which the run keeps alive
        self._modules: WeakValueDictionary[int, HaikuModule] = WeakValueDictionary()

    def __call__(self, *args: Any, is_training: bool = False, **kwargs: Any) -> Any:
        """The output of the source, called as the source is."""
        if not base.inside_transform():
            return self._make()  # raises Haiku's error
        run = base.current_context()
        module = self._modules.get(id(run))
        if module is None:
            module = self._modules[id(run)] = self._make()
            run.add_teardown_callback(lambda: module)  # keeps it as long as the run
        return module(*args, is_training=is_training, **kwargs)


def build(
    program: Program, variables: Variables, name: str | None = None
) -> HaikuModule | DeferredModule:
    """The module of a run of a transform, or one for the runs to come."""
    make = partial(HaikuModule, program, variables, name)
    return make() if base.inside_transform() else DeferredModule(program, make)
