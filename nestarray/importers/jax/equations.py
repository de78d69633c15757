"""Equations that take functions, with their parts by name.

Releases of JAX give these primitives other parameters: the counts of ``scan`` became trees in 0.11,
the jaxpr of ``composite`` another name. All other files of this importer ask this one. The forms
are those of JAX 0.8 to 0.12; an equation of another form has a `refusal`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
from jax.extend import core
from jax.extend.core import jaxpr_as_fun

from nestarray.frontends.jax import vocabulary

#: Primitives of loops, choices and reductions.
CONTROL_FLOW = ("cond", "while", "scan", "reduce", "reduce_window")
#: Primitives of functions with custom derivatives.
CUSTOM_DERIVATIVES = ("custom_jvp_call", "custom_vjp_call", "custom_linear_solve")
_COMPILED = frozenset(
    ["jaxpr", "name", "in_shardings", "out_shardings", "in_layouts", "out_layouts",
     "donated_invars", "ctx_mesh", "keep_unused", "inline", "compiler_options_kvs"]
)  # fmt: skip
_CHECKPOINT = frozenset(["jaxpr", "prevent_cse", "differentiated", "policy", "concrete", "name"])
#: Primitive → the parameters that this file reads, and those without effect on values.
_PARAMETERS: dict[str, frozenset[str]] = {
    "jit": _COMPILED,
    "pjit": _COMPILED,
    "closed_call": frozenset(["call_jaxpr"]),
    "core_call": frozenset(["call_jaxpr", "name"]),
    "eval_jaxpr": frozenset(["call_jaxpr"]),
    "checkpoint": _CHECKPOINT,
    "remat2": _CHECKPOINT,
    "remat_opt": frozenset(["fwd_jaxpr", "fun_jaxpr_thunk", "num_consts", "num_res"]),
    "custom_jvp_call": frozenset(["call_jaxpr", "jvp_jaxpr_fun", "num_consts", "symbolic_zeros"]),
    "custom_vjp_call": frozenset(
        ["call_jaxpr", "fwd_jaxpr_thunk", "bwd", "num_consts", "out_trees", "symbolic_zeros"]
    ),
    "custom_linear_solve": frozenset(["const_lengths", "jaxprs"]),
    "custom_vmap_call": frozenset(["call", "rule", "in_tree", "out_tree"]),
    "composite": frozenset(["jaxpr", "call_jaxpr", "name", "attributes", "version"]),
    "cond": frozenset(["branches", "branches_platforms"]),
    "while": frozenset(["cond_jaxpr", "cond_nconsts", "body_jaxpr", "body_nconsts"]),
    "scan": frozenset(
        ["jaxpr", "length", "reverse", "num_consts", "num_carry", "ft_in", "ft_out", "linear",
         "unroll", "_split_transpose"]
    ),
    "reduce": frozenset(["jaxpr", "dimensions", "computation"]),
    "reduce_window": frozenset(
        ["jaxpr", "consts", "window_dimensions", "window_strides", "padding", "base_dilation",
         "window_dilation"]
    ),
}  # fmt: skip
#: Primitives that this file reads.
PRIMITIVES = frozenset(_PARAMETERS)
_CALLS = frozenset(_PARAMETERS) - {*CONTROL_FLOW}
_JAXPRS = ("jaxpr", "call_jaxpr", "fwd_jaxpr", "call")


class Call(NamedTuple):
    """A call of one function.

    Attributes:
        jaxpr: of the function, of all operands of the equation.
        name: of the function; empty if it is unknown.
        constants: how many operands are constants of the function.
        is_pushed: whether its own derivative is a pushforward.
    """

    jaxpr: Any
    name: str = ""
    constants: int = 0
    is_pushed: bool = False


class While(NamedTuple):
    """A loop with a condition without axes.

    Attributes:
        go_on: the jaxpr of the condition.
        body: the jaxpr of a step.
        go_on_constants, body_constants: which operands of the equation each takes first.
        carry: which operands are the first values.
    """

    go_on: Any
    body: Any
    go_on_constants: slice
    body_constants: slice
    carry: slice


class Scan(NamedTuple):
    """A loop over rows.

    Attributes:
        step: its jaxpr.
        constants, carried: how many operands are constants, and how many are carried.
        length: the number of steps.
        is_reversed: whether the last row comes first.
    """

    step: Any
    constants: int
    carried: int
    length: Any
    is_reversed: bool


class Reduction(NamedTuple):
    """A reduction by a function of two elements.

    Attributes:
        combine: its jaxpr.
        settings: the other parameters.
    """

    combine: Any
    settings: dict[str, Any]


def takes_functions(eqn: Any) -> bool:
    """Whether the primitive of an equation is one that this file reads."""
    return eqn.primitive.name in _PARAMETERS


def bind(eqn: Any, operands: Sequence[Any], params: Mapping[str, Any] | None = None) -> Any:
    """The value of an equation, or the list of its values."""
    bound = eqn.primitive.get_bind_params(eqn.params if params is None else params)
    # JAX 0.8 has functions beside the parameters
    functions, named = bound if isinstance(bound, tuple) else ((), bound)
    return eqn.primitive.bind(*functions, *operands, **named)


def is_call(eqn: Any) -> bool:
    """Whether an equation calls one function."""
    return eqn.primitive.name in _CALLS


def is_choice_of_platform(eqn: Any) -> bool:
    """Whether an equation is a choice of which only one branch runs on each platform."""
    return eqn.primitive.name == "cond" and bool(eqn.params.get("branches_platforms"))


@functools.lru_cache(maxsize=1024)
def refusal(eqn: Any) -> str:
    """Why an equation that takes functions cannot be read; empty for others."""
    name = eqn.primitive.name
    if name not in _PARAMETERS:
        return ""
    public = f"jax.{name}" if name in ("jit", "checkpoint") else f"jax.lax.{name}"
    for parameter in eqn.params.keys() - _PARAMETERS[name]:
        if not vocabulary.is_default(public, parameter, eqn.params[parameter]):
            return vocabulary.refused(public, parameter, eqn.params[parameter])
    reader = {"cond": branches_of, "while": while_of, "scan": scan_of}.get(name)
    try:
        (reader or (reduction_of if name in CONTROL_FLOW else call_of))(eqn)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        return vocabulary.unknown_form(error)
    return ""


def forget_equations() -> None:
    """Forget the equations of a trace that has ended, and their constants."""
    refusal.cache_clear()
    _solver.cache_clear()


def call_of(eqn: Any) -> Call:
    """The call of an equation that calls one function."""
    params = eqn.params
    if eqn.primitive.name == "custom_linear_solve":
        is_pushed = params["jaxprs"].transpose_solve is None
        return Call(_solver(eqn), "solve", is_pushed=is_pushed)
    jaxprs = [params[key] for key in _JAXPRS if key in params]
    if not jaxprs:
        raise LookupError(f"none of {', '.join(_JAXPRS)} among {', '.join(params)}")
    if eqn.primitive.name not in CUSTOM_DERIVATIVES:
        return Call(jaxprs[0], str(params.get("name") or ""))
    name = open_jaxpr(jaxprs[0]).debug_info.func_name.rpartition(".")[2]
    is_pushed = eqn.primitive.name == "custom_jvp_call"
    return Call(jaxprs[0], name, params.get("num_consts", 0), is_pushed)


@functools.lru_cache(maxsize=256)
def _solver(eqn: Any) -> Any:
    """The jaxpr of the solver, a function of all operands of the equation."""
    lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    first = lengths.matvec + lengths.vecmat
    count = sum(n for n in lengths if n)

    def solve(*operands: Any) -> Any:
        constants = operands[first : first + lengths.solve]
        return jaxpr_as_fun(jaxprs.solve)(*constants, *operands[count:])

    return jax.make_jaxpr(solve)(*[v.aval for v in eqn.invars])


def branches_of(eqn: Any) -> Sequence[Any]:
    """The jaxprs of a choice; the one for this platform if that decides."""
    branches = eqn.params["branches"]
    if not is_choice_of_platform(eqn):
        return branches
    platforms = eqn.params["branches_platforms"]
    here = [i for i, names in enumerate(platforms) if names and jax.default_backend() in names]
    return [branches[here[0] if here else platforms.index(None)]]


def while_of(eqn: Any) -> While:
    """The loop of an equation ``while``.

    A loop of a batch goes on while any row does; rows that have ended keep their values.
    """
    params = eqn.params
    go_on, body = params["cond_jaxpr"], params["body_jaxpr"]
    first, last = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    if not go_on.out_avals[0].shape:
        return While(go_on, body, slice(first), slice(first, last), slice(last, None))
    rows_go_on, one_step = jaxpr_as_fun(go_on), jaxpr_as_fun(body)

    def any_goes_on(*operands: Any) -> Any:
        return jax.numpy.any(rows_go_on(*operands)[0])

    def step(*operands: Any) -> list[Any]:
        (rows,) = rows_go_on(*operands[:first], *operands[last:])

        def chosen(new: Any, old: Any) -> Any:
            lines = jax.lax.broadcast_in_dim(rows, new.shape, range(rows.ndim))
            return jax.lax.select(lines, new, old)

        return list(map(chosen, one_step(*operands[first:]), operands[last:]))

    avals = [v.aval for v in eqn.invars]
    return While(
        jax.make_jaxpr(any_goes_on)(*avals[:first], *avals[last:]),
        jax.make_jaxpr(step)(*avals),
        slice(first),
        slice(last),
        slice(last, None),
    )


def scan_of(eqn: Any) -> Scan:
    """The loop of an equation ``scan``."""
    params = eqn.params
    if "ft_in" in params:  # since JAX 0.11
        constants, carried = map(len, params["ft_in"].unpack()[:2])
    else:
        constants, carried = params["num_consts"], params["num_carry"]
    return Scan(params["jaxpr"], constants, carried, params["length"], params["reverse"])


def reduction_of(eqn: Any) -> Reduction:
    """The reduction of an equation ``reduce`` or ``reduce_window``."""
    if eqn.primitive.name == "reduce":
        settings = {"dimensions": tuple(eqn.params["dimensions"])}
    else:
        dropped = ("jaxpr", "consts")
        known = _PARAMETERS["reduce_window"].difference(dropped)
        settings = {key: x for key, x in eqn.params.items() if key in known}
    return Reduction(_closed(eqn.params["jaxpr"], eqn.params.get("consts", ())), settings)


def update_of(eqn: Any) -> Any:
    """The jaxpr of the function that a scatter applies to elements; None for other equations."""
    jaxpr = eqn.params.get("update_jaxpr") if eqn.primitive.name == "scatter" else None
    if jaxpr is None or open_jaxpr(jaxpr).outvars[0] is open_jaxpr(jaxpr).invars[1]:
        return None
    return _closed(jaxpr, eqn.params["update_consts"])


def _closed(jaxpr: Any, constants: Sequence[Any]) -> Any:
    return core.ClosedJaxpr(open_jaxpr(jaxpr), getattr(jaxpr, "consts", constants))  # pyright: ignore[reportPrivateImportUsage]


def open_jaxpr(jaxpr: Any) -> Any:
    """The jaxpr without its constants."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def without_unused(closed: Any) -> Any:
    """The jaxpr without the equations of which nothing is used."""
    jaxpr, live = closed.jaxpr, []
    used = set(map(id, jaxpr.outvars))
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or any(id(var) in used for var in eqn.outvars):
            live.append(eqn)
            used.update(map(id, eqn.invars))
    return closed.replace(jaxpr=jaxpr.replace(eqns=live[::-1]))


def inner_jaxprs(eqn: Any) -> Iterator[Any]:
    """The jaxprs among the parameters of an equation."""
    for value in eqn.params.values():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if hasattr(open_jaxpr(item), "eqns"):
                yield open_jaxpr(item)
