"""Functions of JAX, and models of its libraries, as Graphs through jaxprs."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from nestarray import backends
from nestarray.container.container import from_leaves
from nestarray.graph.binding import argument_names
from nestarray.importers import keras
from nestarray.importers.jax.dimensions import DECISIONS
from nestarray.importers.jax.equations import forget_equations
from nestarray.importers.jax.jaxprs import Output, Traced
from nestarray.importers.jax.models import key_like, key_words, program_of
from nestarray.importers.jax.named_calls import kept_calls
from nestarray.importers.jax.own_calls import kept_ops, noted
from nestarray.importers.jax.selection import kind_of
from nestarray.importers.jax.sizes import named_axes, scope_of, symbolic
from nestarray.importers.jax.trace_errors import explained
from nestarray.importers.jax.translation import KEY, Translation
from nestarray.importers.protocol import Imported, Request
from nestarray.importers.size_spec import declared_axes


@kept_ops()
def read(request: Request) -> Imported:
    """Trace the source; see `Importer.read`."""
    program = program_of(request)
    example, structure = jax.tree.flatten((program.args, program.kwargs))
    example = [_on_jax(x) for x in example]
    if not program.is_closed:  # else values are known by identity
        v, s = program.v.map(_on_jax), program.s.map(_on_jax)
        program = dataclasses.replace(program, v=v, s=s)
    leaves = [key_words(x) for x in example]
    inputs = [i for i, x in enumerate(leaves) if backends.is_array(x)]
    if request.sizes.everything:
        is_keras = kind_of(request.source) == "keras"
        shapes = keras.declared_shapes(request.source, leaves) if is_keras else None
        axes = declared_axes(program.name, leaves, shapes)
    else:
        names = argument_names(program.signed, len(program.args))
        axes = named_axes(request.sizes, names, program.args, program.kwargs)
    output: list[Output] = []
    key = jax.random.key(0, impl="threefry2x32")

    def flat(v: list[Any], s: list[Any], arrays: list[Any], words: Any) -> list[Any]:
        filled = list(leaves)
        for i, x in zip(inputs, arrays, strict=True):
            filled[i] = key_like(example[i], x)
        args, kwargs = jax.tree.unflatten(structure, filled)
        if program.random:
            kwargs[program.random] = key_like(key, words)
        variables = from_leaves(program.v.spec, tuple(v)), from_leaves(program.s.spec, tuple(s))
        with noted(words):
            result, new = program.run(*variables, args, kwargs)
        results, spec = jax.tree.flatten(jax.tree.map(key_words, result))
        output[:] = [Output(spec, results, list(new))]
        return [*filter(backends.is_array, results), *new.values()]

    variables = list(program.v.leaves()), list(program.s.leaves())

    scope = scope_of(leaves, axes)
    shaped = symbolic(leaves, axes, scope)
    with DECISIONS.applied(None) if any(axes) else contextlib.nullcontext():
        with explained(program.name, has_open_sizes=any(axes)), kept_calls():
            closed: Any = jax.make_jaxpr(flat)(*variables, [shaped[i] for i in inputs], KEY)
        scope.close()
        avals = [(str(v.aval.dtype), "") for eqn in closed.eqns for v in eqn.outvars]
        jaxpr = Traced(closed, scope, leaves, structure, inputs, axes, *output)
        imported = Translation(program, request, jaxpr).imported(avals)
    forget_equations()
    return imported


def _on_jax(x: Any) -> Any:
    """An array of NumPy as one of JAX; other values unchanged."""
    return jnp.asarray(x) if backends.backend_of_value(x) == "numpy" else x
