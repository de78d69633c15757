"""Equations of jaxprs as islands; see `nestarray.graph.island`.

``jax.pure_callback`` always is one: its function runs on the host in JAX, too. Other primitives
without a function are islands where the caller asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from nestarray import backends, dtypes
from nestarray.errors import UnsupportedError
from nestarray.importers import islands
from nestarray.importers.jax.equations import bind

Arrays = tuple[Any, ...]

#: For the life of the process.
_TRACED = islands.TracedOperations("JAX", "call")

#: Primitives with effects on the host, or bound to a machine → the reason against an island.
_REFUSED = {
    "io_callback": "a graph is a pure function, and this callback may write or read on the host; "
    "use jax.pure_callback if its result depends on its arguments alone, else call it outside of "
    "the traced function",
    "check": "checkify's checks raise errors on the host; trace the function without them",
    "shard_map": "it maps over the devices of a mesh; trace the function that it maps",
}
#: Primitives of compiled code → the remedy.
_KERNELS = {
    "pallas_call": "a Pallas kernel is code for one kind of accelerator; trace the same computation "
    "written with jax.numpy or jax.lax",
    "ffi_call": "it calls compiled code; trace the same computation written with jax.numpy or "
    "jax.lax, or call the code by jax.pure_callback",
}


def why_missing(eqn: Any) -> str:
    """The reason that an equation has no function, and the remedy."""
    name = eqn.primitive.name
    if name in _REFUSED:
        return _REFUSED[name]
    remedy = "islands=True would run it in JAX on the host"
    if name in _KERNELS:
        return f"{_KERNELS[name]}; {remedy}"
    if eqn.effects:
        return "it has effects outside of its results, which a graph does not have"
    return f"there is no function of that name; {remedy}"


def is_only_on_host(eqn: Any) -> bool:
    """Whether an equation calls the host, devices or compiled code, so that no formula replaces it."""
    return eqn.primitive.name in (*_REFUSED, *_KERNELS, "pure_callback")


def may_be_island(eqn: Any, *, islands: bool) -> bool:
    """Whether an equation becomes an island."""
    if eqn.primitive.name in _REFUSED or eqn.effects:
        return False
    return islands or eqn.primitive.name == "pure_callback"


def name_of(eqn: Any) -> str:
    """The name by which `nestarray.graph.island` finds an equation."""
    function = getattr(eqn.params.get("callback"), "callback_func", None)
    base = getattr(function, "__name__", eqn.primitive.name)
    base = base if base.isidentifier() else eqn.primitive.name  # a lambda
    avals = tuple([str(v.aval) for v in eqn.invars])
    identity: Any = (eqn.primitive, avals, tuple(sorted(eqn.params.items())))
    try:
        hash(identity)
    except TypeError:
        identity = eqn
    return _TRACED.name_of(identity, base, lambda *arrays: bind(eqn, arrays))


class JaxOperation(islands.HostOperation):
    """A function of a flat list of arrays."""

    framework, remedy = "JAX", "give it one with jax.custom_jvp or jax.custom_vjp"

    def results(self, arrays: Sequence[islands.Description]) -> list[islands.Description]:
        """Shape and dtype of each result, by a run on shapes."""
        if any(None in shape for shape, _ in arrays):
            raise UnsupportedError(
                f"island: {self.name} was traced for fixed sizes; compile the graph for these"
            )
        native = backends.core("jax").native_dtype
        avals = [jax.ShapeDtypeStruct(shape, native(dtype)) for shape, dtype in arrays]
        results = jax.eval_shape(self.function, *avals)
        return [(tuple(y.shape), dtypes.dtype_of(y)) for y in results]


HOST = islands.Host(_TRACED.find, JaxOperation)
