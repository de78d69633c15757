"""Optimizers, losses and schedules of optax as programs, against JAX."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib
import pytest
from optax._src import alias

import nestarray as na

KEY = jax.random.PRNGKey(0)
PARAMS = {"w": jax.random.normal(KEY, (3, 4)), "b": jnp.asarray([0.5, -1.0, 0.0, 2.0])}
GRADS = jax.tree.map(lambda x: jnp.cos(3 * x), PARAMS)


def loss(params: Any) -> Any:
    return jnp.sum(jnp.tanh(params["w"]) ** 2) + jnp.sum((params["b"] - 1) ** 4)


#: Optimizers that take other arguments than a learning rate.
SETTINGS: dict[str, Any] = {
    "adagrad": {"learning_rate": 0.1},
    "adafactor": {"learning_rate": 0.1, "min_dim_size_to_factor": 2, "momentum": 0.9},
    "adamw": {"learning_rate": optax.warmup_cosine_decay_schedule(0.0, 0.1, 5, 20)},
    "fromage": {"learning_rate": 0.1},
    "noisy_sgd": {"learning_rate": 0.1, "key": 3},
    "polyak_sgd": {"max_learning_rate": 0.5},
    "rmsprop": {"learning_rate": 0.1, "centered": True, "nesterov": True, "momentum": 0.9},
    "sgd": {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True},
    "contrib.galore": {"learning_rate": 0.1, "rank": 2},
    "contrib.dpsgd": None,
}

#: Settings of `update`.
NEEDS: dict[str, Any] = {
    "polyak_sgd": ["value"],
    "lbfgs": ["value", "grad", "value_fn"],
    "contrib.momo": ["value"],
    "contrib.momo_adam": ["value"],
    "contrib.sophia": ["obj_fn"],
}

#: Compositions of transformations.
CHAINS: dict[str, Any] = {
    "clipped": lambda: optax.chain(optax.clip_by_global_norm(0.5), optax.adam(0.1)),
    "clip_block": lambda: optax.chain(optax.clip_by_block_rms(0.1), optax.clip(0.05), optax.sgd(1.0)),
    "agc": lambda: optax.chain(optax.adaptive_grad_clip(0.1), optax.centralize(), optax.sgd(0.1)),
    "masked": lambda: optax.masked(optax.adam(0.1), {"w": True, "b": False}),
    "partition": lambda: optax.partition(
        {"a": optax.adam(0.1), "z": optax.set_to_zero()}, {"w": "a", "b": "z"}
    ),
    "multi_steps": lambda: optax.MultiSteps(optax.adam(0.1), 2),
    "inject": lambda: optax.inject_hyperparams(optax.adam)(
        learning_rate=optax.exponential_decay(0.1, 10, 0.9)
    ),
    "if_finite": lambda: optax.apply_if_finite(optax.adam(0.1), 3),
    "apply_every": lambda: optax.chain(optax.sgd(0.1), optax.apply_every(2)),
    "ema": lambda: optax.chain(optax.adam(0.1), optax.ema(0.9)),
    "noise": lambda: optax.chain(optax.add_noise(0.1, 0.5, key=3), optax.sgd(0.1)),
    "schedules": lambda: optax.chain(
        optax.scale_by_schedule(
            optax.join_schedules(
                [
                    optax.linear_schedule(0.0, 1.0, 3),
                    optax.piecewise_constant_schedule(1.0, {2: 0.5, 4: 0.1}),
                    optax.cosine_onecycle_schedule(10, 0.3),
                    optax.polynomial_schedule(1.0, 0.1, 2, 5),
                ],
                [2, 4, 8],
            )
        ),
        optax.scale(-0.1),
    ),
    "trust_ratio": lambda: optax.chain(
        optax.trace(0.9), optax.scale_by_trust_ratio(), optax.zero_nans(), optax.scale(-0.1)
    ),
    "line_search": lambda: optax.chain(
        optax.sgd(0.5), optax.scale_by_backtracking_linesearch(max_backtracking_steps=5)
    ),
    "non_negative": lambda: optax.chain(optax.sgd(0.9), optax.keep_params_nonnegative()),
    "plateau": lambda: optax.chain(optax.adam(0.1), optax.contrib.reduce_on_plateau(patience=1)),
    "mechanize": lambda: optax.contrib.mechanize(optax.adam(0.1)),
    "schedule_free": lambda: optax.contrib.schedule_free(optax.sgd(0.1), 0.1),
    "private": lambda: optax.chain(optax.contrib.normalize(), optax.sgd(0.1)),
    "sam": lambda: optax.contrib.sam(optax.sgd(0.1), optax.sgd(0.05), sync_period=2),
}  # fmt: skip

NEEDS |= {"line_search": ["value", "grad", "value_fn"], "plateau": ["value"]}

#: Public functions of optax.contrib other than optimizers of one argument: in CHAINS, or parts.
OTHER = {"mechanize", "schedule_free", "split_real_and_imaginary", "reduce_on_plateau", "sam",
         "normalize", "dpsgd", "hutchinson_estimator_diag_hessian", "schedule_free_eval_params",
         "differentially_private_aggregate"}  # fmt: skip


def _public() -> dict[str, Any]:
    """The public optimizers by name."""
    found = {
        name: getattr(optax, name)
        for name, value in vars(alias).items()
        if inspect.isfunction(value) and hasattr(optax, name) and not name.startswith("_")
    }
    for name, value in vars(optax.contrib).items():
        is_part = name.startswith("scale_by") or name in OTHER
        if inspect.isfunction(value) and not is_part:
            found[f"contrib.{name}"] = value
    return found


PUBLIC = _public()
FAST = ("adam", "adafactor", "lbfgs", "adamw", "contrib.muon", "multi_steps", "noise", "partition")


def _optimizer(name: str) -> Any:
    if name in CHAINS:
        return CHAINS[name]()
    make = PUBLIC[name]
    takes_rate = "learning_rate" in inspect.signature(make).parameters
    return make(**SETTINGS.get(name, {"learning_rate": 0.1} if takes_rate else {}))


def _step(name: str, optimizer: Any) -> Any:
    """One step as a function of parameters, state and gradients."""

    def step(params: Any, state: Any, grads: Any) -> Any:
        known = {"value": loss(params), "grad": grads, "value_fn": loss, "obj_fn": loss}
        extra = {key: known[key] for key in NEEDS.get(name, ())}
        updates, state = optimizer.update(grads, state, params, **extra)
        return optax.apply_updates(params, updates), state

    return step


def _cases() -> list[Any]:
    return [
        pytest.param(
            name,
            backend,
            marks=[] if backend == "torch" and name in FAST else [pytest.mark.full],
        )
        for name in (*PUBLIC, *CHAINS)
        for backend in ("torch", "tensorflow", "numpy")
    ]


@pytest.mark.release
@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "backend"), _cases())
def test_optimizer(name: str, backend: str) -> None:
    check(name, backend)


def check(name: str, backend: str) -> None:
    """Two steps on a backend, against JAX."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # optax's own
        optimizer = _optimizer(name)
        step = _step(name, optimizer)
        state = optimizer.init(PARAMS)
        params, state = step(PARAMS, state, GRADS)
        graph = na.trace_graph(step, params, state, GRADS).to_backend(backend)
    report = graph.verify(gradients=False)
    assert report.ok, str(report)
    given = (params, state, GRADS)
    got = graph(*jax.tree.map(lambda x: na.to_backend(x, backend), given))
    want = dict(na.Container.from_pytree(step(*given)).flat_items())
    for path, x in na.Container(got).flat_items():
        if want[path] is None:
            assert x is None
            continue
        if jnp.issubdtype(want[path].dtype, jax.dtypes.prng_key):
            want[path] = jax.random.key_data(want[path])
        np.testing.assert_allclose(np.asarray(x), want[path], rtol=1e-4, atol=1e-5, err_msg=path)


LABELS = jnp.asarray([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.2, 0.8]])
ROWS = jax.random.normal(KEY, (3, 4))

#: Losses of logits (3, 4).
LOSSES: dict[str, Any] = {
    "squared_error": lambda x: optax.squared_error(x, LABELS),
    "l2_loss": lambda x: optax.l2_loss(x, LABELS),
    "huber_loss": lambda x: optax.huber_loss(x, LABELS, delta=0.5),
    "log_cosh": lambda x: optax.log_cosh(x, LABELS),
    "cosine": lambda x: optax.cosine_distance(x, LABELS, epsilon=1e-3),
    "sigmoid": lambda x: optax.sigmoid_binary_cross_entropy(x, LABELS),
    "focal": lambda x: optax.sigmoid_focal_loss(x, LABELS, alpha=0.3),
    "hinge": lambda x: optax.hinge_loss(x, 2 * LABELS - 1),
    "softmax": lambda x: optax.softmax_cross_entropy(x, optax.smooth_labels(LABELS, 0.1)),
    "safe_softmax": lambda x: optax.safe_softmax_cross_entropy(x, LABELS),
    "integers": lambda x: optax.softmax_cross_entropy_with_integer_labels(x, jnp.asarray([1, 0, 3])),
    "poly": lambda x: optax.losses.poly_loss_cross_entropy(x, LABELS),
    "kl": lambda x: optax.kl_divergence(jax.nn.log_softmax(x), LABELS + 0.1),
    "ctc": lambda x: optax.ctc_loss(
        jnp.sin(jnp.arange(40.0)).reshape(2, 5, 4) * x.sum(),
        jnp.zeros((2, 5)),
        jnp.asarray([[1, 2], [3, 3]]),
        jnp.asarray([[0.0, 0.0], [0.0, 1.0]]),
    ),
    "ntxent": lambda x: optax.ntxent(x, jnp.asarray([0, 0, 1])),
    "triplet": lambda x: optax.losses.triplet_margin_loss(x, LABELS, jnp.cos(x)),
    "sparsemax": lambda x: optax.losses.sparsemax_loss(x, LABELS > 0.5),
    "ranking": lambda x: optax.losses.ranking_softmax_loss(x, LABELS),
    "dice": lambda x: optax.losses.dice_loss(x[..., None], LABELS[..., None]),
    "projection": lambda x: optax.projections.projection_simplex(x.ravel()),
    "sphere": lambda x: optax.projections.projection_l1_ball(x.ravel(), 0.7),
}  # fmt: skip


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("torch", marks=pytest.mark.full),
        pytest.param("tensorflow", marks=pytest.mark.full),
        "numpy",
    ],
)
@pytest.mark.parametrize("name", LOSSES)
def test_loss(name: str, backend: str) -> None:
    report = na.trace_graph(LOSSES[name], ROWS).to_backend(backend).verify()
    assert report.ok, str(report)
    assert report.input_gradients
