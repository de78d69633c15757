"""The base class: schedules, decay, other leaves, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import errors, nn
from nestarray.testing import assert_close


def trained(optimizer: nn.Optimizer, steps: int, backend: str = "numpy") -> na.Container:
    v = na.Container(w=np.ones(2, "float32"), b={"c": np.ones(3, "float32")}).to_backend(backend)
    state = optimizer.init(v)
    for _ in range(steps):
        v, state = optimizer.step(v, v, state)
    return v


def test_a_schedule_is_called_with_the_number_of_steps_done() -> None:
    counts = []

    def schedule(count: Any) -> float:
        counts.append(int(count))
        return 0.1 / (1 + int(count))

    v = trained(nn.SGD(schedule), 3, "jax")
    assert counts == [0, 1, 2]
    assert_close(v.to_backend("numpy")["w"], np.full(2, 0.9 * 0.95 * (1 - 0.1 / 3), "float32"))


def test_integers_and_other_leaves_stay() -> None:
    v = na.Container(w=np.ones(2, "float32"), n=np.arange(2), name="x")
    grads = na.Container(w=np.ones(2, "float32"), n=np.zeros(2, int), name="x")
    optimizer = nn.Adam(0.1)
    new, _ = optimizer.step(v, grads, optimizer.init(v))
    assert new["n"] is v["n"]
    assert new["name"] == "x"
    assert_close(new["w"], np.full(2, 0.9, "float32"))  # the first step of Adam is the rate


def test_a_schedule_keeps_half_precision(backend: str) -> None:
    v = na.Container(w=na.astype(na.to_backend(np.ones(2, "float32"), backend), "bfloat16"))
    optimizer = nn.Adam({"w": nn.schedules.linear(0.1, 0.0, 5)})
    new, state = optimizer.step(v, v, optimizer.init(v))
    assert na.dtype_of(new["w"]) is na.bfloat16
    assert na.dtype_of(state["mu/w"]) is na.bfloat16


def test_a_scalar_of_numpy_keeps_the_dtype() -> None:
    for rate in (
        np.float64(0.1),
        lambda count: np.float64(0.1),
        {"**": lambda count: np.float64(0.1)},
    ):
        assert trained(nn.SGD(rate), 1)["w"].dtype == np.float32


def test_decay_of_a_part() -> None:
    for make in (nn.AdamW, nn.Lion, nn.Adan, nn.AdEMAMix, nn.SOAP):
        optimizer = make(0.1, weight_decay=0.5, decay="w")
        v = na.Container(w=np.ones(2, "float32"), b=np.ones(2, "float32"))
        new, _ = optimizer.step(v, v * 0.0, optimizer.init(v))
        assert_close(new["w"], np.full(2, 0.95, "float32"))
        assert_close(new["b"], np.ones(2, "float32"))


def test_wrong_arguments() -> None:
    with pytest.raises(
        errors.ArgumentError, match=r"^optimizer\.init: v: got dict, expected a Container"
    ):
        nn.SGD(0.1).init({"w": np.ones(2)})  # pyright: ignore[reportArgumentType]
    v = na.Container(w=np.ones(2, "float32"))
    for optimizer in (nn.SGD(0.1), nn.Muon(0.1), nn.LBFGS(), nn.EMA(0.9, nn.SOAP())):
        with pytest.raises(errors.ArgumentError, match="v has no floating leaf"):
            optimizer.init(na.Container(n=np.arange(3)))
        others = na.Container(u=np.ones(2, "float32"))
        with pytest.raises(errors.StructureError, match=r"'[uw]'"):
            optimizer.step(v, others, optimizer.init(v))
    adam = nn.Adam(1e-3)
    for wrong, shown in (
        ({}, "dict"),
        (v, "a Container of w"),
        (nn.SGD(0.1).init(v), "a Container of count"),
    ):
        with pytest.raises(errors.ArgumentError) as info:
            adam.step(v, v, wrong)  # pyright: ignore[reportArgumentType]
        assert str(info.value) == (
            f"optimizer.step: state: got {shown}, expected a Container of count, mu, nu, as "
            "optimizer.init(v) makes it; the call is step(v, grads, state)"
        )


@pytest.mark.parametrize("rate", ["1e-3", None, {"w": "x"}, {}])
def test_wrong_learning_rates(rate: Any) -> None:
    with pytest.raises(errors.ArgumentError) as info:
        nn.Adam(rate)
    assert str(info.value) == (
        f"Adam: learning_rate: got {rate!r}, expected a number, a function of the number of steps "
        "done, or a mapping of path patterns to these"
    )


def test_rates_by_path_where_one_is_needed() -> None:
    for make in (nn.Prodigy, nn.LBFGS, nn.ScheduleFreeAdamW, nn.ASGD):
        with pytest.raises(errors.ArgumentError) as info:
            make({"**": 0.1})
        assert str(info.value) == (
            f"{make.__name__}: learning_rate: got {{'**': 0.1}}, expected a number, a function of the "
            "number of steps done"
        )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Adam(b1=1.0), "Adam: b1: got 1.0, expected a number of at least 0 and below 1"),
        (lambda: nn.AdamW(eps=-1.0), "AdamW: eps: got -1.0, expected a number of at least 0"),
        (lambda: nn.SGD(0.1, nesterov=True),
         "SGD: nesterov: got True, expected momentum above 0 and no dampening with it"),
        (lambda: nn.Rprop(nn.schedules.linear(0.1, 0.0, 5)),  # type: ignore[arg-type]
         "Rprop: learning_rate: got functools.partial"),
        (lambda: nn.Rprop(eta_plus=0.9),
         "Rprop: eta_minus, eta_plus: got (0.5, 0.9), expected 0 < η₋ < 1 < η₊"),
        (lambda: nn.Rprop(min_step_size=3, max_step_size=2),
         "Rprop: min_step_size, max_step_size: got (3, 2), expected 0 ≤ min ≤ max"),
        (lambda: nn.SOAP(update_period=0),
         "SOAP: update_period: got 0, expected an integer of at least 1"),
        (lambda: nn.Muon(0.1, ns_coeffs=(1.0, 2.0)),  # type: ignore[arg-type]
         "Muon: ns_coeffs: got (1.0, 2.0), expected three numbers"),
        (lambda: nn.ScheduleFreeSGD(b1=0.0),
         "ScheduleFreeSGD: b1: got 0.0, expected a number above 0"),
        (lambda: nn.Prodigy(estim_lr0=0.0),
         "Prodigy: estim_lr0: got 0.0, expected a number above 0"),
        (lambda: nn.LBFGS(c1=0.9, c2=0.1), "LBFGS: c1, c2: got (0.9, 0.1), expected 0 < c1 < c2 < 1"),
        (lambda: nn.ClipByGlobalNorm(0.0, nn.SGD(0.1)),
         "ClipByGlobalNorm: max_norm: got 0.0, expected a number above 0"),
        (lambda: nn.Adam(beta1=0.9), "Adam: beta1: unknown argument"),  # type: ignore[call-arg]
    ],
)  # fmt: skip
def test_wrong_settings(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(errors.ArgumentError) as info:
        make()
    assert str(info.value).startswith(message)


def test_optimizers_show_their_settings() -> None:
    assert repr(nn.ClipByValue(1.0, nn.Adadelta())) == (
        "ClipByValue(optimizer=Adadelta(learning_rate=1.0, rho=0.9, eps=1e-06), max_value=1.0)"
    )
