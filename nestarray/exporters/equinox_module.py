"""Programs as ``equinox.Module``."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

import equinox as eqx
import jax

from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.exporters.program import Program, Variables
from nestarray.exporters.signatures import CallSignature, setting
from nestarray.importers.jax.models import key_words


class _Signature(CallSignature):
    """With state, its ``eqx.nn.State`` follows the source's positional arguments."""

    def __get__(self, module: Any, owner: Any = None) -> Signature | None:
        signature = super().__get__(module, owner)
        if signature is None or module.state is None:
            return signature
        state = Parameter("state", Parameter.POSITIONAL_OR_KEYWORD, annotation=eqx.nn.State)
        parameters = list(signature.parameters.values())
        positional = [each for each in parameters if each.kind < Parameter.VAR_POSITIONAL]
        required = [each.replace(default=Parameter.empty) for each in positional]
        return Signature([*required, state, *parameters[len(positional) :]])


class EquinoxModule(eqx.Module):
    """A converted model: parameters in `v`, nested as in the source, and a static program.

    ``eqx.nn.inference_mode`` selects the mode. A module with state takes and returns an
    ``eqx.nn.State``.
    """

    v: dict[str, Any]
    state: eqx.nn.StateIndex | None
    inference: bool
    program: Program = eqx.field(
        static=True, repr=False
    )  # Equinox prints each node with its inputs

    __signature__ = _Signature("program", jax.Array, setting("key", None, jax.Array))

    def __init__(self, program: Program, variables: Variables) -> None:
        state = {path: variables.copied(path) for path in program.s}
        self.v = Container.from_flat_dict({p: variables.copied(p) for p in program.v}).to_dict()
        self.state = eqx.nn.StateIndex(_strongly_typed(state)) if state else None
        self.inference = True
        self.program = program

    def __call__(self, *args: Any, key: jax.Array | None = None, **kwargs: Any) -> Any:
        """The output of the source; with state, (output, new state).

        Args:
            *args: as the source takes them; with state, the ``eqx.nn.State`` is the last, or
                ``state=``.
            key: for random operations in training mode.
            **kwargs: as the source takes them.
        """
        values, state = dict(Container(self.v).flat_items()), None
        if self.state is not None:
            if "state" in kwargs:
                state = kwargs.pop("state")
            else:
                *args, state = args or (None,)  # type: ignore[assignment]
            if not isinstance(state, eqx.nn.State):
                raise ArgumentError(
                    f"{self.program.name}: the last argument: got {type(state).__name__}, expected "
                    "the eqx.nn.State of the module: output, state = module(x, state)"
                )
            values |= state.get(self.state)
        train = not self.inference
        words = key_words(key) if self.program.needs_key(train) else None
        output, new = self.program.run(train, tuple(args), kwargs, values, words)
        if state is None:
            return output
        assert self.state is not None
        held = {path: new.get(path, values[path]) for path in self.program.s}
        return output, state.set(self.state, _strongly_typed(held))


def _strongly_typed(values: dict[str, jax.Array]) -> dict[str, jax.Array]:
    """The values without weak types, in which ``eqx.nn.State`` rejects changes."""
    return {path: x.astype(x.dtype) for path, x in values.items()}


def build(program: Program, variables: Variables, with_state: bool = True) -> Any:
    """The module of a program; for a program with state, (module, its initial state)."""
    if program.s and with_state:
        return eqx.nn.make_with_state(EquinoxModule)(program, variables)
    return EquinoxModule(program, variables)
