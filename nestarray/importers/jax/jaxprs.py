"""Jaxprs as JAX makes them: literals, nested calls, shapes and dtypes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nestarray import dtypes
from nestarray.errors import DtypeError
from nestarray.graph.node import Aval
from nestarray.importers.jax import linear_solves
from nestarray.importers.jax.named_calls import NamedCall, named_call
from nestarray.importers.jax.own_calls import OwnCall, own_call
from nestarray.importers.jax.sizes import text_of

#: Primitive → the parameter with the jaxpr that it calls.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
    "remat_opt": "fwd_jaxpr",
    **dict.fromkeys(("custom_jvp_call", "custom_vjp_call"), "call_jaxpr"),
    "custom_linear_solve": "jaxprs",
    "custom_vmap_call": "call",
    "composite": "jaxpr",
}
#: Parameter of choices by platform, of which only one branch runs here.
_PLATFORMS = "branches_platforms"


def is_literal(atom: Any) -> bool:
    """Whether an input of an equation, or a result of a jaxpr, is a number and no variable."""
    return hasattr(atom, "val")


def kept_call(eqn: Any) -> NamedCall | OwnCall | None:
    """The public function or the op of `na` that an equation calls; None for other equations."""
    return own_call(eqn) or named_call(eqn)


def is_inlined(eqn: Any) -> bool:
    """Whether the equations of a called jaxpr take the place of the call."""
    return (eqn.primitive.name in CALLS and kept_call(eqn) is None) or bool(
        eqn.params.get(_PLATFORMS)
    )


def called_jaxpr(eqn: Any) -> Any:
    """The jaxpr of the values of an equation that calls one."""
    name, params = eqn.primitive.name, eqn.params
    if name == "cond":
        return params["branches"][_platform(params[_PLATFORMS])]
    found = params[CALLS[name]]
    return linear_solves.solution(eqn) if name == "custom_linear_solve" else found


def _platform(platforms: Sequence[Sequence[str] | None]) -> int:
    """The index of the branch for the platform on which the source runs."""
    import jax

    here = [i for i, names in enumerate(platforms) if names and jax.default_backend() in names]
    return here[0] if here else platforms.index(None)


def open_jaxpr(jaxpr: Any) -> Any:
    """The jaxpr without its constants."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def inner_jaxprs(params: Mapping[str, Any]) -> Iterator[Any]:
    """The jaxprs among the parameters of an equation."""
    for value in params.values():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if hasattr(open_jaxpr(item), "eqns"):
                yield open_jaxpr(item)


def why_no_arrays(eqn: Any) -> str:
    """Why the operands or results of an equation cannot be arrays; empty if they can."""
    try:
        for var in (*eqn.invars, *eqn.outvars):
            aval_of(var.aval)
    except DtypeError as error:
        return str(error)
    return ""


def aval_of(aval: Any) -> Aval:
    """Shape and dtype; of random keys those of their words, an array uint32[2] for each."""
    shape = tuple(map(text_of, aval.shape))
    if str(aval.dtype).startswith("key<"):
        _check_generator(str(aval.dtype))
        return Aval((*shape, 2), dtypes.uint32)
    return Aval(shape, dtypes.as_dtype(str(aval.dtype)))


def _check_generator(key: str) -> None:
    if key != "key<fry>":
        raise DtypeError(
            f"random key: got {key}, expected key<fry>, a key of threefry2x32: "
            'jax.random.key(0, impl="threefry2x32")'
        )
