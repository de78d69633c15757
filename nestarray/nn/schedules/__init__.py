"""Learning rates that change with the step: ``schedule(count)`` for `nestarray.nn.Optimizer`.

A schedule is a function of the number of steps done, an integer or an integer array of shape `()`;
it returns a float32 array of shape `()` on the backend of the count, in compiled code too. Numbers
equal ``optax`` and ``torch.optim.lr_scheduler``. Schedules can be pickled.

`warmup`, `then` and `restarts` compose them. `Plateau` depends on a metric, so it has a state.
`from_optax`, `to_torch` and `to_keras` convert; optax takes schedules as they are.

Example:
    >>> from nestarray import nn
    >>> schedule = nn.schedules.warmup(nn.schedules.cosine(0.1, steps=90), steps=10)
    >>> [round(float(schedule(count)), 3) for count in (0, 5, 10, 55, 100)]
    [0.0, 0.05, 0.1, 0.05, 0.0]
    >>> nn.AdamW(schedule).weight_decay
    0.01

References:
    https://optax.readthedocs.io/en/latest/api/optimizer_schedules.html
    https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from nestarray.errors.unknown_names import suggest_names
from nestarray.nn.schedules.composition import restarts, then, warmup
from nestarray.nn.schedules.count import Schedule
from nestarray.nn.schedules.cycles import cosine_restarts, cyclic, one_cycle, warmup_stable_decay
from nestarray.nn.schedules.decays import (
    constant,
    cosine,
    exponential,
    inverse_square_root,
    linear,
    piecewise,
    piecewise_linear,
    polynomial,
    step,
)
from nestarray.nn.schedules.interchange import from_optax, to_keras, to_torch
from nestarray.nn.schedules.plateau import Plateau

__all__ = [
    "Plateau",
    "Schedule",
    "constant",
    "cosine",
    "cosine_restarts",
    "cyclic",
    "exponential",
    "from_optax",
    "inverse_square_root",
    "linear",
    "one_cycle",
    "piecewise",
    "piecewise_linear",
    "polynomial",
    "restarts",
    "step",
    "then",
    "to_keras",
    "to_torch",
    "warmup",
    "warmup_stable_decay",
]

suggest_names(__name__)
