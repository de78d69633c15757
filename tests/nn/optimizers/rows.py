"""One row for each optimizer × setting."""

from __future__ import annotations

from typing import Any

import optax
import torch
from optax import contrib

from nestarray import nn
from tests.nn.optimizers import papers
from tests.nn.optimizers.row import Row, numpy_steps, optax_steps, torch_steps


def _factored(rate: float, momentum: float | None, decay: float) -> Any:
    """`optax.adafactor` with the decay of the means in float64."""
    parts = [
        optax.scale_by_factored_rms(
            min_dim_size_to_factor=2, decay_rate_fn=lambda i, c: 1 - (i + 1.0) ** -c
        ),
        optax.clip_by_block_rms(1.0),
        optax.scale_by_learning_rate(rate, flip_sign=False),
        optax.scale_by_param_block_rms(),
    ]
    if momentum is not None:
        parts.append(optax.ema(momentum, debias=False))
    return optax.chain(*parts, optax.add_decayed_weights(decay), optax.scale(-1))


def _muon_axes(v: Any) -> Any:
    """Rows are outputs, as in PyTorch."""
    import jax

    axes = contrib.MuonDimensionNumbers(reduction_axis=1, output_axis=0)
    return jax.tree.map(lambda x: axes if x.ndim == 2 else None, v)


def _only_vectors(v: Any) -> Any:
    import jax

    return jax.tree.map(lambda x: x.ndim == 1, v)


_OPTAX: list[tuple[str, Any, Any]] = [
    ("SGD", lambda: nn.SGD(0.1), lambda: optax.sgd(0.1)),
    ("SGD-schedule", lambda: nn.SGD(nn.schedules.linear(0.125, 0.0, 32)),
     lambda: optax.sgd(optax.linear_schedule(0.125, 0.0, 32))),
    ("Adam", lambda: nn.Adam(0.1), lambda: optax.adam(0.1)),
    ("Adam-nesterov", lambda: nn.Adam(0.1, nesterov=True), lambda: optax.nadam(0.1)),
    ("AdamW", lambda: nn.AdamW(0.1, b1=0.8, eps=1e-3, weight_decay=0.1, decay="vector"),
     lambda: optax.adamw(0.1, b1=0.8, eps=1e-3, weight_decay=0.1, mask=_only_vectors)),
    ("Adamax", lambda: nn.Adamax(0.1), lambda: optax.adamax(0.1)),
    ("RAdam", lambda: nn.RAdam(0.1, b2=0.95), lambda: optax.radam(0.1, b2=0.95)),
    ("AdaBelief", lambda: nn.AdaBelief(0.1), lambda: optax.adabelief(0.1)),
    ("Yogi", lambda: nn.Yogi(0.1), lambda: optax.yogi(0.1)),
    ("Adan", lambda: nn.Adan(0.1, weight_decay=0.1), lambda: optax.adan(0.1, weight_decay=0.1)),
    ("AdEMAMix", lambda: nn.AdEMAMix(0.1, weight_decay=0.1),
     lambda: contrib.ademamix(0.1, weight_decay=0.1)),
    ("Adagrad", lambda: nn.Adagrad(0.1), lambda: optax.adagrad(0.1)),
    ("RMSprop", lambda: nn.RMSprop(0.1, momentum=0.9), lambda: optax.rmsprop(0.1, momentum=0.9)),
    ("RMSprop-centered", lambda: nn.RMSprop(0.1, centered=True, eps=1e-3),
     lambda: optax.rmsprop(0.1, centered=True, eps=1e-3)),
    ("Adafactor", lambda: nn.Adafactor(0.1, min_dim_size_to_factor=2),
     lambda: _factored(0.1, None, 0.0)),
    ("Adafactor-momentum",
     lambda: nn.Adafactor(0.1, min_dim_size_to_factor=2, momentum=0.9, weight_decay_rate=0.01),
     lambda: _factored(0.1, 0.9, 0.01)),
    ("SM3", lambda: nn.SM3(0.1), lambda: optax.sm3(0.1)),
    ("Lion", lambda: nn.Lion(0.01, weight_decay=0.1), lambda: optax.lion(0.01, weight_decay=0.1)),
    ("LAMB", lambda: nn.LAMB(0.1, weight_decay=0.1), lambda: optax.lamb(0.1, weight_decay=0.1)),
    ("LARS", lambda: nn.LARS(0.5, weight_decay=0.1, eps=1e-3, trust_coefficient=0.1),
     lambda: optax.lars(0.5, 0.1, eps=1e-3, trust_coefficient=0.1)),
    ("LARS-nesterov", lambda: nn.LARS(0.5, nesterov=True, trust_coefficient=0.1),
     lambda: optax.lars(0.5, nesterov=True, trust_coefficient=0.1)),
    ("NovoGrad", lambda: nn.NovoGrad(0.1, weight_decay=0.1),
     lambda: optax.novograd(0.1, weight_decay=0.1)),
    ("Muon", lambda: nn.Muon(0.02, weight_decay=0.1),
     lambda: contrib.muon(0.02, weight_decay=0.1, muon_weight_dimension_numbers=_muon_axes)),
    ("Muon-plain", lambda: nn.Muon(0.02, nesterov=False, consistent_rms=0.2, adam_learning_rate=0.1),
     lambda: contrib.muon(0.02, nesterov=False, consistent_rms=0.2, adam_learning_rate=0.1,
                          muon_weight_dimension_numbers=_muon_axes)),
    ("Prodigy", lambda: nn.Prodigy(estim_lr0=1e-2, weight_decay=0.1),
     lambda: contrib.prodigy(estim_lr0=1e-2, weight_decay=0.1)),
    ("Prodigy-safe", lambda: nn.Prodigy(estim_lr0=1e-2, safeguard_warmup=True, b3=0.9),
     lambda: contrib.prodigy(estim_lr0=1e-2, safeguard_warmup=True, beta3=0.9)),
    ("ScheduleFreeSGD", lambda: nn.ScheduleFreeSGD(0.1, weight_decay=0.1),
     lambda: contrib.schedule_free_sgd(0.1, weight_decay=0.1)),
    ("ScheduleFreeAdamW", lambda: nn.ScheduleFreeAdamW(0.1, weight_decay=0.1),
     lambda: contrib.schedule_free_adamw(0.1, weight_decay=0.1)),
    ("LBFGS", lambda: nn.LBFGS(1e-3, memory_size=4),
     lambda: optax.lbfgs(1e-3, memory_size=4, linesearch=None)),
    ("ClipByValue", lambda: nn.ClipByValue(0.5, nn.SGD(0.1)),
     lambda: optax.chain(optax.clip(0.5), optax.sgd(0.1))),
    ("ClipByGlobalNorm", lambda: nn.ClipByGlobalNorm(5.0, nn.Adam(0.1)),
     lambda: optax.chain(optax.clip_by_global_norm(5.0), optax.adam(0.1))),
    ("WeightDecay", lambda: nn.WeightDecay(0.1, nn.Adam(0.1), decay="vector"),
     lambda: optax.chain(optax.add_decayed_weights(0.1, _only_vectors), optax.adam(0.1))),
    ("Accumulate", lambda: nn.Accumulate(4, nn.Adam(0.1)),
     lambda: optax.MultiSteps(optax.adam(0.1), 4, accumulator_dtype="float64")),
    ("Partition", lambda: nn.Partition({"vector": nn.Adam(0.1), "**": nn.SGD(0.1, momentum=0.9)}),
     lambda: optax.partition(
         {True: optax.adam(0.1), False: optax.sgd(0.1, momentum=0.9)}, _only_vectors)),
]  # fmt: skip

_TORCH: list[tuple[str, Any, Any]] = [
    ("SGD-momentum", lambda: nn.SGD(0.1, momentum=0.9), lambda p: torch.optim.SGD(p, 0.1, 0.9)),
    ("SGD-nesterov", lambda: nn.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
     lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=True, weight_decay=0.1)),
    ("SGD-dampening", lambda: nn.SGD(0.1, momentum=0.9, dampening=0.5),
     lambda p: torch.optim.SGD(p, 0.1, 0.9, dampening=0.5)),
    ("SGD-rates", lambda: nn.SGD({"vector": 0.2, "**": 0.1}),
     lambda p: torch.optim.SGD([{"params": p[:3] + p[4:]}, {"params": p[3:4], "lr": 0.2}], 0.1)),
    ("ASGD", lambda: nn.ASGD(0.1, lambd=0.1, t0=5.0),
     lambda p: torch.optim.ASGD(p, 0.1, lambd=0.1, t0=5.0)),
    ("Adam-amsgrad", lambda: nn.Adam(0.1, amsgrad=True),
     lambda p: torch.optim.Adam(p, 0.1, amsgrad=True)),
    ("AdamW-amsgrad", lambda: nn.AdamW(0.1, amsgrad=True, weight_decay=0.1),
     lambda p: torch.optim.AdamW(p, 0.1, amsgrad=True, weight_decay=0.1)),
    ("NAdam", lambda: nn.NAdam(0.1), lambda p: torch.optim.NAdam(p, 0.1)),
    ("Adagrad-outside", lambda: nn.Adagrad(
        0.1, initial_accumulator_value=0.0, eps=1e-3, eps_in_sqrt=False),
     lambda p: torch.optim.Adagrad(p, 0.1, eps=1e-3)),
    ("Adadelta", lambda: nn.Adadelta(0.5), lambda p: torch.optim.Adadelta(p, 0.5)),
    ("RMSprop-outside", lambda: nn.RMSprop(
        0.1, decay_rate=0.99, eps=1e-3, eps_in_sqrt=False, momentum=0.9),
     lambda p: torch.optim.RMSprop(p, 0.1, eps=1e-3, momentum=0.9)),
    ("Rprop", lambda: nn.Rprop(0.1), lambda p: torch.optim.Rprop(p, 0.1)),
]  # fmt: skip

#: optax's SM3 computes no scalars.
_PATHS = {"SM3": ("a/*", "square", "vector", "tensor", "kernel")}

ROWS = [
    *[Row(name, make, optax_steps(twin), _PATHS.get(name)) for name, make, twin in _OPTAX],
    *[Row(name, make, torch_steps(twin)) for name, make, twin in _TORCH],
    Row("Shampoo", lambda: nn.Shampoo(0.1, momentum=0.9, eps=1e-3),
        numpy_steps(papers.shampoo(0.1, 0.9, 1e-3))),
    Row("Shampoo-mean", lambda: nn.Shampoo(0.1, momentum=0.0, eps=1e-3, b2=0.9, update_period=3),
        numpy_steps(papers.shampoo(0.1, 0.0, 1e-3, 0.9, 3))),
    Row("Shampoo-diagonal", lambda: nn.Shampoo(0.1, eps=1e-3, max_size=2),
        numpy_steps(papers.shampoo(0.1, 0.9, 1e-3, max_size=2))),
    # of a wide matrix, the first basis has a plane without gradient, in which eigh chooses freely
    Row("SOAP", lambda: nn.SOAP(0.1, eps=1e-3, update_period=5),
        numpy_steps(papers.soap(0.1, 0.95, 0.95, 1e-3, 0.01, 5)),
        ("square", "vector", "tensor", "kernel", "scalar")),
    Row("SOAP-partial", lambda: nn.SOAP(0.1, eps=1e-3, update_period=5, max_size=3),
        numpy_steps(papers.soap(0.1, 0.95, 0.95, 1e-3, 0.01, 5, 3))),
]  # fmt: skip
