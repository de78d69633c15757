"""Clipping by the global norm and moving averages, against optax and torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, StructureError
from tests.arrays import on

TREE = {"w": np.float32([[3, -4], [0, 1]]), "more": [np.float32(12), np.float32([])]}
ORDERED = na.Container(TREE)


def check(found: na.Container, expected: Any, backend: str, rtol: float = 1e-6) -> None:
    for path, y in na.Container(expected).flat_items():
        x = found[path]
        assert na.backend_of(x) == backend
        assert na.dtype_of(x) is na.dtype_of(y)
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol)
    assert list(found.paths()) == list(na.Container(expected).paths())


# -- clipping ---------------------------------------------------------------------------------


@pytest.mark.parametrize("max_norm", [0.5, 1.0, 13.0, 100.0])
def test_clipping_is_that_of_optax_and_torch(max_norm: float, backend: str) -> None:
    import optax
    import torch

    clipped = on(backend, TREE).global_clip(max_norm)
    expected, _ = optax.clip_by_global_norm(max_norm).update(on("jax", TREE), optax.EmptyState())
    check(clipped, expected, backend)
    parameters = [torch.nn.Parameter(torch.zeros(x.shape)) for x in ORDERED.leaves()]
    for p, grad in zip(parameters, ORDERED.leaves(), strict=True):
        p.grad = torch.tensor(grad)  # a copy: torch clips in place
    torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    for x, p in zip(clipped.leaves(), parameters, strict=True):
        assert p.grad is not None
        np.testing.assert_allclose(np.asarray(x), p.grad.numpy(), rtol=1e-5)  # torch adds 1e-6


@given(
    st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=6),
    st.floats(0.01, 1e3),
    st.sampled_from([1, 1.5, 2, float("inf")]),
)
def test_the_norm_is_bounded(values: list[float], max_norm: float, ord: float) -> None:
    c = na.Container([np.asarray(v, "float32") for v in values])
    clipped, norm = c.global_clip(max_norm, ord=ord), c.tree_norm(ord=ord)
    if norm <= max_norm:
        assert all(x == y for x, y in zip(clipped.leaves(), c.leaves(), strict=True))
    else:
        np.testing.assert_allclose(clipped.tree_norm(ord=ord), max_norm, rtol=1e-5)


def test_what_is_not_clipped() -> None:
    c = na.Container(g=np.asarray([30.0, 40.0]), n=np.asarray(100), name="x", none=None, rate=1e9)
    clipped = c.global_clip(5.0)
    np.testing.assert_allclose(clipped.g, [3, 4])
    for path in ("n", "name", "none", "rate"):
        assert clipped[path] is c[path]
    assert na.Container().global_clip(1.0).to_dict() == {}


def test_dtypes_stay(backend: str) -> None:
    c = na.Container(a=np.full(1000, 300, "float32"), b=np.float32([0.0])).to_backend(backend)
    c = c.set("a", na.astype(c.a, "float16")).set("c", na.astype(c.b, "bfloat16"))
    clipped = c.global_clip(1.0)
    assert [na.dtype_of(x) for x in clipped.leaves()] == [na.dtype_of(x) for x in c.leaves()]
    np.testing.assert_allclose(np.asarray(clipped.a), 1000**-0.5, rtol=1e-3)


def test_the_norm_may_be_known_and_the_bound_an_array(backend: str) -> None:
    c = on(backend, TREE)
    expected = na.Container(TREE).global_clip(2.0)
    check(c.global_clip(2.0, norm=c.tree_norm()), expected, backend)
    check(c.global_clip(na.to_backend(np.float32(2.0), backend)), expected, backend)


def test_norms_that_are_not_finite() -> None:
    c = na.Container(a=np.asarray([1.0, np.nan]), b=np.asarray(1.0))
    assert all(np.isnan(x).all() for x in c.global_clip(1.0).leaves())


def test_complex_leaves() -> None:
    c = na.Container(z=np.asarray([3 + 4j])).global_clip(1.0)
    np.testing.assert_allclose(c.z, [0.6 + 0.8j])


# -- averages ---------------------------------------------------------------------------------


def steps(backend: str, n: int = 4) -> list[na.Container]:
    return [on(backend, TREE) * (i + 1.5) for i in range(n)]


@pytest.mark.parametrize("debias", [False, True])
def test_averages_are_those_of_optax(debias: bool, backend: str) -> None:
    import optax

    transform = optax.ema(0.9, debias=debias)
    state = transform.init(on("jax", TREE))
    average = on(backend, TREE).zeros_like()
    for t, (new, update) in enumerate(zip(steps(backend), steps("jax"), strict=True), 1):
        reordered = na.Container(more=new["more"], w=new["w"])
        average = average.ema(reordered, 0.9, step=t if debias else None)
        expected, state = transform.update(update, state)
        check(average, expected, backend, rtol=1e-5)


def test_arrays_for_the_numbers(backend: str) -> None:
    old, new = steps(backend, 2)
    decay, step = (
        na.to_backend(np.float32(0.9), backend),
        na.to_backend(np.asarray(3, "int32"), backend),
    )
    for settings in (
        {"decay": 0.9, "step": step},
        {"decay": decay, "step": 3},
        {"decay": decay, "step": step},
    ):
        expected = na.Container(TREE) * 1.5
        expected = expected.ema(na.Container(TREE) * 2.5, 0.9, step=3)
        check(old.ema(new, **settings), expected, backend, rtol=1e-5)
    check(
        old.ema(new, decay),
        (na.Container(TREE) * 1.5).ema(na.Container(TREE) * 2.5, 0.9),
        backend,
        rtol=1e-5,
    )


def test_the_ends_of_decay(backend: str) -> None:
    old, new = steps(backend, 2)
    for step in (None, 5, na.to_backend(np.asarray(5, "int32"), backend)):
        check(old.ema(new, 0, step=step), na.Container(TREE) * 2.5, backend)
    check(old.ema(new, 1.0), na.Container(TREE) * 1.5, backend)
    for step in (4, na.to_backend(np.asarray(4, "int32"), backend)):  # the mean of all steps
        check(old.ema(new, 1, step=step), na.Container(TREE) * 1.75, backend)


def test_what_is_no_floating_array_is_that_of_the_new_tree() -> None:
    old = na.Container(w=np.float32([0.0]), n=np.asarray(3), name="a", none=None)
    new = na.Container(w=np.asarray([1.0]), n=np.asarray(4), name="b", none=5)
    average = old.ema(new, 0.5)
    assert average.w.dtype == "float32"
    assert average.w == 0.5
    assert average.exclude("w").to_dict() == {"n": 4, "name": "b", "none": 5}


def test_averages_of_small_floating_types(backend: str) -> None:
    average = na.Container(a=np.float32([1.0])).to_backend(backend)
    new = (average * 2).astype("bfloat16")
    for _ in range(3):
        average = average.ema(new, 0.999)
    assert na.dtype_of(average.a) is na.float32
    np.testing.assert_allclose(np.asarray(average.a), 2 - 0.999**3, rtol=1e-6)
    assert na.dtype_of(average.astype("bfloat16").ema(new, 0.5).a) is na.bfloat16


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_gradients_and_compilation(backend: str) -> None:
    c = on(backend, TREE).select("w")

    def loss(c: na.Container) -> Any:
        clipped = c.global_clip(1.0)["w"]
        return clipped[0, 0] * 4.0 + na.tree_sum((c * 0).ema(c, 0.75))

    w = TREE["w"].astype("float64")
    norm = np.linalg.norm(w)
    first = np.zeros_like(w)
    first[0, 0] = 4.0
    expected = first / norm - 4 * w[0, 0] * w / norm**3 + 0.25
    options = {"backend": "aot_eager"} if backend == "torch" else {}
    for gradient in (na.grad(loss), na.jit(na.grad(loss), **options)):
        np.testing.assert_allclose(np.asarray(gradient(c)["w"]), expected, rtol=1e-5)


def test_fused_trees_stay_fused(backend: str) -> None:
    c = on(backend, TREE).fuse()
    assert type(c.global_clip(1.0)) is type(c.ema(c * 3, 0.5)) is type(c)
    check(c.global_clip(1.0), na.Container(TREE).global_clip(1.0), backend)
    check(c.ema(c * 3, 0.5), na.Container(TREE) * 2, backend)


def test_messages() -> None:
    c = na.Container(a=np.ones(2))
    cases = [
        (lambda: c.global_clip(0), "global_clip: max_norm: got 0, expected a positive number"),
        (
            lambda: c.global_clip(float("nan")),
            "global_clip: max_norm: got nan, expected a positive number",
        ),
        (lambda: c.ema(c, 1.5), "ema: decay: got 1.5, expected a number from 0 to 1"),
        (lambda: c.ema(c, 0.5, step=0), "ema: step: got 0, expected the first to be 1"),
    ]
    for call, message in cases:
        with pytest.raises(ArgumentError) as info:
            call()
        assert str(info.value) == f"Container.{message}"
    with pytest.raises(StructureError, match=r"^Container.ema: Containers do not match: 'a' is in"):
        c.ema(na.Container(b=np.ones(2)), 0.5)


# -- methods that are ops ----------------------------------------------------------------------


def test_lerp(backend: str) -> None:
    a, b = steps(backend, 2)
    reordered = na.Container(more=b["more"], w=b["w"])
    check(a.lerp(reordered, 0.25), na.Container(TREE) * 1.75, backend)


@pytest.mark.parametrize(("name", "value"), [("zeros_like", 0), ("ones_like", 1)])
def test_trees_of_one_number(name: str, value: int, backend: str) -> None:
    c = (
        on(backend, TREE)
        .set("n", na.to_backend(np.arange(2, dtype="int32"), backend))
        .set("none", None)
    )
    made = getattr(c, name)()
    assert made.spec is c.spec
    assert made["none"] is None
    check(
        made.exclude("none"), na.Container(TREE).set("n", np.zeros(2, "int32")) * 0 + value, backend
    )
    check(
        c.exclude("none").full_like(7),
        made.exclude("none").map(lambda x: np.asarray(x) * 0 + 7),
        backend,
    )
