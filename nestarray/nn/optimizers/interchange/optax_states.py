"""Transformations of optax with the formulas and states of the optimizers here.

References:
    https://optax.readthedocs.io/en/latest/api/optimizers.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nestarray import dtypes, lazy_imports, ops
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.nn.optimizers.adagrad import Adadelta, Adagrad, RMSprop
from nestarray.nn.optimizers.adam import Adam, Adamax, AdamW
from nestarray.nn.optimizers.adam_momentum import Adan
from nestarray.nn.optimizers.adam_variance import AdaBelief, RAdam, Yogi
from nestarray.nn.optimizers.interchange.twins import Twin, twin_of
from nestarray.nn.optimizers.layerwise import LAMB, LARS, NovoGrad
from nestarray.nn.optimizers.optimizer import Optimizer
from nestarray.nn.optimizers.sgd import SGD
from nestarray.nn.optimizers.signs import Lion

_COUNTS = ("count", "t", "count_m2")


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_PLAIN = {"amsgrad": False, "eps_hat": False}
_DESCENT = {"trace": (-1, 0)}  # of steps, with their sign
_TWINS = (
    Twin(SGD, "sgd", _same("momentum", "nesterov"), _same("trace"),
         {"dampening": 0.0, "weight_decay": 0.0}),
    Twin(Adam, "adam", _same("b1", "b2", "eps", "nesterov"), _same("mu", "nu"), _PLAIN),
    Twin(AdamW, "adamw", _same("b1", "b2", "eps", "nesterov", "weight_decay"),
         _same("mu", "nu"), _PLAIN),
    Twin(Adamax, "adamax", _same("b1", "b2", "eps"), _same("mu", "nu")),
    Twin(RAdam, "radam", _same("b1", "b2", "eps", "threshold"), _same("mu", "nu")),
    Twin(AdaBelief, "adabelief", _same("b1", "b2", "eps", "eps_root"), _same("mu", "nu")),
    Twin(Yogi, "yogi", _same("b1", "b2", "eps"), _same("mu", "nu"),
         {"initial_accumulator_value": 1e-6}),
    Twin(Adan, "adan", _same("b1", "b2", "b3", "eps", "eps_root", "weight_decay"),
         _same("m", "v", "n", "g")),
    Twin(Adagrad, "adagrad", _same("initial_accumulator_value", "eps"),
         _same("sum_of_squares"), {"eps_in_sqrt": True}),
    Twin(Adadelta, "adadelta", _same("rho", "eps"), _same("e_g", "e_x")),
    Twin(RMSprop, "rmsprop",
         {"decay_rate": "decay", **_same("eps", "eps_in_sqrt", "centered", "momentum")},
         _same("nu", "mu", "trace"), scales=_DESCENT),
    Twin(Lion, "lion", _same("b1", "b2", "weight_decay"), _same("mu")),
    Twin(LAMB, "lamb", _same("b1", "b2", "eps", "weight_decay"), _same("mu", "nu"), _PLAIN),
    Twin(LARS, "lars",
         _same("momentum", "nesterov", "trust_coefficient", "eps", "weight_decay"),
         _same("trace"), scales=_DESCENT),
    Twin(NovoGrad, "novograd", _same("b1", "b2", "eps", "weight_decay"), _same("mu", "nu"),
         {"decay": "**"}),
)  # fmt: skip


def to_optax(optimizer: Optimizer, state: Container, params: Any) -> tuple[Any, Any]:
    """The transformation of optax with the same formulas, and its state.

    A run continues there: ``updates, state = transformation.update(grads, state, params)``.

    Args:
        optimizer: an optimizer that optax has with the same formulas: not with `amsgrad` or
            `eps_hat`. Its learning rate is a number or a schedule.
        state: of the optimizer, on any backend.
        params: the parameters there, any tree of arrays of JAX with the paths of the variables.

    Returns:
        (transformation, state), whose trees have the structure of `params`.

    Raises:
        ArgumentError: optax does not have the optimizer, or not with these settings.
        StructureError: `state` and `params` have different paths.
        MissingFrameworkError: optax is not installed.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> params = {"w": jnp.ones(2)}
        >>> optimizer = na.nn.Adam(1e-3)
        >>> state = optimizer.init(na.Container(params))
        >>> transformation, state = na.nn.to_optax(optimizer, state, params)
        >>> state[0].mu
        {'w': Array([0., 0.], dtype=float32)}
    """
    optax = lazy_imports.optional("optax", "to_optax needs", extra="jax")
    twin = twin_of(optimizer, _TWINS, "to_optax", "optax")
    settings = twin.settings_there(optimizer, "to_optax", "optax")
    if isinstance(optimizer.learning_rate, Mapping):
        raise ArgumentError(
            "to_optax: learning_rate: got rates by path, expected one number or schedule"
        )
    if twin.name in ("sgd", "rmsprop") and not settings["momentum"]:
        del settings["momentum"]  # 0 would keep a trace
    if optimizer.decay != "**":
        mask = "weight_decay_mask" if twin.name == "lars" else "mask"
        settings[mask] = Container.from_pytree(params).mask(optimizer.decay).to_pytree(params)
    transformation = getattr(optax, twin.name)(optimizer.learning_rate, **settings)
    native = state.to_backend("jax")

    def filled(node: Any) -> Any:
        if not hasattr(node, "_fields"):
            return tuple(map(filled, node)) if isinstance(node, tuple) else node
        values = {}
        for name, value in node._asdict().items():
            is_moment = name in twin.moments and name in native
            values[name] = (
                twin.moment_there(name, native[name], 1.0).to_pytree(params)
                if is_moment
                else filled(value)
            )
            if name in _COUNTS:
                values[name] = native["count"]
        return type(node)(**values)

    return transformation, filled(transformation.init(params))


def from_optax(optimizer: Optimizer, opt_state: Any) -> Container:
    """The state of this optimizer from the state of optax's one with the same settings.

    optax's transformations do not tell their settings, so they must be given to the optimizer here.

    Args:
        optimizer: as for `to_optax`.
        opt_state: the state in optax.

    Returns:
        the state, on JAX.

    Raises:
        ArgumentError: optax does not have the optimizer, or `opt_state` has not its moments.

    Example:
        >>> import jax.numpy as jnp, nestarray as na, optax
        >>> opt_state = optax.adam(1e-3).init({"w": jnp.ones(2)})
        >>> state = na.nn.from_optax(na.nn.Adam(1e-3), opt_state)
        >>> state.paths()
        ('count', 'mu/w', 'nu/w')
    """
    twin = twin_of(optimizer, _TWINS, "from_optax", "optax")
    twin.settings_there(optimizer, "from_optax", "optax")
    fields = dict(_fields_of(opt_state))
    counts = [fields[name] for name in _COUNTS if name in fields]
    missing = [name for name in optimizer.moments if name not in fields]
    if missing:
        raise ArgumentError(
            f"from_optax: opt_state: got no {missing[0]!r}, expected the state of optax.{twin.name}"
        )
    moments = {
        name: twin.moment_here(name, Container.from_pytree(fields[name]), 1.0)
        for name in optimizer.moments
    }
    like = next(iter(moments.values())).leaves()[0] if moments else None
    # a transformation without a count has no first step
    count = counts[0] if counts else ops.ones((), dtype=dtypes.int32, like=like)
    return Container(count=count, **moments)


def _fields_of(node: Any) -> Iterator[tuple[str, Any]]:
    """The named members of a state, the innermost first."""
    for part in node if isinstance(node, tuple) else ():
        yield from _fields_of(part)
    for name in getattr(node, "_fields", ()):
        yield name, getattr(node, name)
