"""What NumPy refuses, all refuse: one type and one text for each wrong argument of each op."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.dispatch import OPS
from nestarray.errors import ArgumentError, NestarrayError
from tests.cases import Case, all_cases, convert, on_backend

NAN = float("nan")

AXES = ("axis", "axes", "axis1", "axis2", "source", "destination", "start_axis", "end_axis")

#: Wrong values of settings by annotation.
WRONG: dict[str, tuple[Any, ...]] = {
    "str": ("no such", 3),
    "int": (1.5, "a"),
    "int | None": ("a",),
    "float": ("a",),
    "float | None": ("a",),
    "Ints": ("a",),
    "Shape": ("a", 1.5),
    "Sequence[int]": ("a", 1.5),
    "DTypeLike": ("no such", 3),
    "DTypeLike | None": ("no such", 3),
}

#: What stands for an array and is none.
ARRAYS: dict[str, Callable[[np.ndarray], Any]] = {
    "None": lambda x: None,
    "list": lambda x: x.tolist(),
}


def wrong_calls(case: Case) -> Iterator[tuple[str, Any, Any]]:
    """(label, positional arguments, keyword arguments), one of them wrong in each."""
    args, kwargs = case.draw("float32")
    for parameter in case.record.parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        given = case.record.signature.bind(*args, **kwargs).arguments
        name, value = parameter.name, given.get(parameter.name)
        changed: list[tuple[str, Any]] = []
        if name in AXES:
            changed = [(f"{name}={wrong!r}", wrong) for wrong in (99, "a", (0, 0))]
        elif str(parameter.annotation) in WRONG:
            wrong_values = WRONG[str(parameter.annotation)]
            changed = [(f"{name}={wrong!r}", wrong) for wrong in wrong_values]
        elif isinstance(value, np.ndarray) and value.ndim:
            changed = [(f"{name}: {label}", ARRAYS[label](value)) for label in ARRAYS]
        for label, wrong in changed:
            bound = case.record.signature.bind(*args, **kwargs)
            bound.arguments[name] = wrong
            yield label, bound.args, bound.kwargs


def refusal(case: Case, args: Any, kwargs: Any, backend: str) -> Exception | None:
    """What the op raises on a backend; None: it computes something."""
    args, kwargs = (convert(x, np.asarray, of=np.generic) for x in (args, kwargs))
    args, kwargs = on_backend(args, backend), on_backend(kwargs, backend)
    try:
        with np.errstate(all="ignore"):
            case.record.function(*args, **kwargs)
    except Exception as error:
        return error
    return None


def text(error: Exception | None, backend: str) -> str:
    """Type and message; a dtype without a kernel names the backend."""
    if error is None:
        return "computes it"
    kind = type(error).__name__ if isinstance(error, NestarrayError) else "the framework's own"
    return f"{kind}: {error}".replace(f": {backend} cannot compute", ": … cannot compute")


def differences(case: Case) -> dict[str, dict[str, str]]:
    """Wrong calls that NumPy refuses and whose refusals differ or name another function."""
    found = {}
    for label, args, kwargs in wrong_calls(case):
        first = refusal(case, args, kwargs, "numpy")
        if first is None:
            continue
        texts = {"numpy": text(first, "numpy")}
        for backend in BACKENDS[1:]:
            texts[backend] = text(refusal(case, args, kwargs, backend), backend)
        is_named = isinstance(first, NestarrayError) and str(first).startswith(f"{case.op}: ")
        if len(set(texts.values())) > 1 or not is_named:
            found[f"{case.op} {label}"] = texts
    return found


#: Chapters whose bodies run long before they meet what is wrong.
LONG = {
    "boxes",
    "losses",
    "margin_losses",
    "nan_reductions",
    "normalization",
    "regression_losses",
    "sequence_losses",
}


def first_cases(chapter: str) -> list[Case]:
    """The first case on all backends of each op of a chapter."""
    found: dict[str, Case] = {}
    for case in all_cases():
        if case.record.chapter == chapter and set(case.backends) == set(BACKENDS):
            found.setdefault(case.op, case)
    return list(found.values())


CHAPTERS = sorted({op.chapter for op in OPS.values()})


@pytest.mark.parametrize(
    "chapter",
    [pytest.param(c, marks=[pytest.mark.full] if c in LONG else []) for c in CHAPTERS],
)
def test_settings_are_refused_alike(chapter: str) -> None:
    found: dict[str, Any] = {}
    for case in first_cases(chapter):
        found |= differences(case)
    assert found == {}


@pytest.mark.parametrize("op", ["sort", "argsort"])
@pytest.mark.parametrize("flag", [2, "a"])
def test_orders_are_true_or_false(op: str, flag: Any, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(
        ArgumentError, match=f"{op}: descending: got {flag!r}, expected True or Fal"
    ):
        getattr(na, op)(x, descending=flag)


@pytest.mark.parametrize("op", ["logsumexp", "vector_norm"])
@pytest.mark.parametrize("flag", [2, "a"])
def test_kept_axes_are_true_or_false(op: str, flag: Any, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(ArgumentError, match=f"{op}: keepdims: got {flag!r}, expected True or Fals"):
        getattr(na, op)(x, keepdims=flag)


@pytest.mark.parametrize(
    ("op", "setting"),
    [("leaky_relu", "negative_slope"), ("elu", "alpha"), ("celu", "alpha"), ("squareplus", "b")],
)
def test_settings_of_activations_are_real(op: str, setting: str, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(ArgumentError, match=f"{op}: {setting}: got 1j, expected a real number"):
        getattr(na, op)(x, **{setting: 1j})


#: Calls that some framework would compute, and what all say of them.
COMPUTED_SOMEWHERE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "True is no axis": (lambda x: na.max(x, axis=True), "max: axis: got True, expected an int"),
    "of a body": (lambda x: na.glu(x, axis=True), "glu: axis: got True, expected an int"),
    "of one axis": (lambda x: na.fft(x, axis=True), "fft: axis: got True, expected an int"),
    "of moved axes": (lambda x: na.flip(x, axis=True), "flip: axis: got True, expected an int"),
    "of a new axis": (
        lambda x: na.expand_dims(x, axis=True),
        "expand_dims: axis: got True, expected an int",
    ),
    "of chosen elements": (
        lambda x: na.argmax(x, axis=True),
        "argmax: axis: got True, expected an int",
    ),
    "no order of axes": (
        lambda x: na.permute_dims(x, None),  # type: ignore[arg-type]
        "permute_dims: axes: got None, expected a sequence of ints",
    ),
    "a number that has no axis": (
        lambda x: na.sum(x[0, 0], axis=0),
        "sum: axis: got 0 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    "nothing to order": (
        lambda x: na.argsort(x[0, 0]),
        "argsort: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    "nothing to add up": (
        lambda x: na.cumulative_sum(x[0, 0], axis=-1),
        "cumulative_sum: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    "nothing to swap": (
        lambda x: na.swapaxes(x[0, 0], 0, 0),
        "swapaxes: axis1: got 0 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    "no flag of a reduction": (
        lambda x: na.sum(x, keepdims=2),  # type: ignore[arg-type]
        "sum: keepdims: got 2, expected True or False",
    ),
    "no flag at all": (
        lambda x: na.max(x, keepdims=None),  # type: ignore[arg-type]
        "max: keepdims: got None, expected True or False",
    ),
    "no flag of a search": (
        lambda x: na.argmax(x, keepdims="a"),  # type: ignore[arg-type]
        "argmax: keepdims: got 'a', expected True or False",
    ),
    "no flag of a cast": (
        lambda x: na.astype(x, "float32", copy=2),  # type: ignore[arg-type]
        "astype: copy: got 2, expected True or False",
    ),
    "no real tolerance": (
        lambda x: na.isclose(x, x, rtol=1j),  # type: ignore[arg-type]
        "isclose: rtol: got 1j, expected a real number",
    ),
    "no correction": (
        lambda x: na.var(x, correction=None),  # type: ignore[arg-type]
        "var: correction: got None, expected a real number",
    ),
    "a vector has no triangle": (
        lambda x: na.tril(x[0]),
        "tril: x: got shape (4,), expected matrices (*batch, m, n)",
    ),
    "True is no offset": (lambda x: na.tril(x, k=True), "tril: k: got True, expected an int"),
    "nor a diagonal": (
        lambda x: na.diagonal(x, offset=True),
        "diagonal: offset: got True, expected an int",
    ),
    "nor a power": (
        lambda x: na.matrix_power(x[:, :3], True),
        "matrix_power: n: got True, expected an int",
    ),
    "nor a length": (lambda x: na.rfft(x, n=True), "rfft: n: got True, expected an int"),
    "nor one of several": (lambda x: na.fftn(x, s=(True, 2)), "fftn: s: got True, expected an int"),
    "nor a place": (lambda x: na.partition(x, True), "partition: kth: got True, expected an int"),
    "nor a count": (lambda x: na.top_k(x, True), "top_k: k: got True, expected an int"),
    "nor a turn": (lambda x: na.rot90(x, k=True), "rot90: k: got True, expected an int"),
    "nor a step": (
        lambda x: na.sliding_window_view(x, 2, axis=0, step=True),
        "sliding_window_view: step: got True, expected an int or a sequence of ints",
    ),
    "nor a part": (
        lambda x: na.adaptive_avg_pool1d(x[None], output_size=True),
        "adaptive_avg_pool1d: output_size: got True, expected a positive integer",
    ),
    "nor how many axes": (
        lambda x: na.tensordot(x, x, axes=True),
        "tensordot: axes: got True, expected how many to pair, or the axes of each array",
    ),
    "a part of an element is no way": (
        lambda x: na.roll(x, (1.5,)),  # type: ignore[arg-type]
        "roll: shift: got (1.5,), expected an int or a sequence of ints",
    ),
    "no flag of a view": (
        lambda x: na.reshape(x, (-1,), copy=2),  # type: ignore[arg-type]
        "reshape: copy: got 2, expected True or False",
    ),
    "no number of elements": (
        lambda x: na.nan_to_num(x, nan=(1.0,)),  # type: ignore[arg-type]
        "nan_to_num: nan: got (1.0,), expected a real number",
    ),
    "a list stays one": (
        lambda x: na.sort(x, axis=[0, 0]),  # type: ignore[arg-type]
        "sort: axis: got [0, 0], expected an int",
    ),
    "more than all": (
        lambda x: na.cross_entropy(x, x[:, 0] > 0, label_smoothing=-1.0),
        "cross_entropy: label_smoothing: got -1.0, expected a number from 0 to 1",
    ),
    "neither is NaN a limit": (
        lambda x: na.hard_tanh(x, max_value=NAN),
        "hard_tanh: min_value: got -1.0, expected a number from -inf to nan",
    ),
    "nothing to pool": (
        lambda x: na.adaptive_avg_pool1d(x[None, :, :0], output_size=1),
        "adaptive_avg_pool1d: x: got shape (1, 3, 0), expected at least one element along each "
        "spatial axis",
    ),
    "what no byte holds": (
        lambda x: na.threshold(na.astype(x, na.uint8), threshold=1.0, value=-3.0),
        "threshold: value: got -3.0, expected a number from 0 to 255",
    ),
}


#: Calls with 1 in a sequence of axes; True there is no axis either.
SEVERAL_AXES: dict[str, Callable[[Any, Any], Any]] = {
    "sum: axis": lambda x, n: na.sum(x, axis=(n,)),
    "any: axis": lambda x, n: na.any(na.greater(x, 0), axis=[n]),
    "logsumexp: axis": lambda x, n: na.logsumexp(x, axis=(0, n)),
    "median: axis": lambda x, n: na.median(x, axis=(n,)),
    "flip: axis": lambda x, n: na.flip(x, axis=(n,)),
    "roll: axis": lambda x, n: na.roll(x, (1,), axis=(n,)),
    "squeeze: axis": lambda x, n: na.squeeze(x[:, :1], axis=(n,)),
    "expand_dims: axis": lambda x, n: na.expand_dims(x, axis=(n,)),
    "moveaxis: source": lambda x, n: na.moveaxis(x, (n,), (0,)),
    "permute_dims: axes": lambda x, n: na.permute_dims(x, (n, 0)),
    "tensordot: axes": lambda x, n: na.tensordot(x, x, axes=((n,), (1,))),
    "fftn: axes": lambda x, n: na.fftn(x, axes=(n,)),
}


@pytest.mark.parametrize("label", SEVERAL_AXES)
def test_true_is_none_of_several_axes(label: str, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones((3, 19), np.float32))
    with pytest.raises(ArgumentError) as caught:
        SEVERAL_AXES[label](x, True)
    assert str(caught.value) == f"{label}: got True, expected an int"


@pytest.mark.parametrize("label", COMPUTED_SOMEWHERE)
def test_what_some_framework_would_compute_is_refused(label: str, backend: str) -> None:
    call, text = COMPUTED_SOMEWHERE[label]
    with pytest.raises(NestarrayError) as caught:
        call(backends.core(backend).from_numpy(np.ones((3, 4), np.float32)))
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("op", "dtype"),
    [
        ("nextafter", "int32"),
        ("bitwise_left_shift", "float32"),
    ],
)
def test_dtypes_of_the_other_kind_are_refused(op: str, dtype: str, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones(3, dtype))
    text = f"{op}: {backend} cannot compute it for {dtype}; cast to a dtype that it takes"
    with pytest.raises(NestarrayError, match=text):
        getattr(na, op)(x, x)


@pytest.mark.parametrize("op", ["hard_shrink", "logaddexp2", "mish", "softplus", "squareplus"])
def test_complex_numbers_have_no_order(op: str, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones(3, np.complex64))
    with pytest.raises(NestarrayError, match=f"{op}: {backend} cannot compute it for complex64"):
        getattr(na, op)(*[x] * (2 if op == "logaddexp2" else 1))


def test_the_pole_of_digamma_is_infinite(backend: str) -> None:
    x = backends.core(backend).from_numpy(np.asarray([0.0, -0.0, 1.0], np.float32))
    found = backends.core(backend).to_numpy(na.digamma(x))
    assert np.isinf(found[:2]).all()
    assert found[0] < 0
    assert np.isfinite(found[2])


#: Settings of windows, of which True would count as 1.
WINDOWS: dict[str, Callable[[Any, Any], Any]] = {
    "conv1d: padding": lambda x, n: na.conv1d(x, x[:1], padding=n),
    "conv1d: stride": lambda x, n: na.conv1d(x, x[:1], stride=n),
    "conv_transpose1d: output_padding": lambda x, n: na.conv_transpose1d(x, x, output_padding=n),
    "fold: dilation": lambda x, n: na.fold(x, output_size=(4,), kernel_size=1, dilation=n),
    "max_pool1d: padding": lambda x, n: na.max_pool1d(x, kernel_size=2, padding=n),
    "avg_pool1d: kernel_size": lambda x, n: na.avg_pool1d(x, kernel_size=n),
}


@pytest.mark.parametrize("label", WINDOWS)
def test_true_is_no_size_of_a_window(label: str, backend: str) -> None:
    x = backends.core(backend).from_numpy(np.ones((2, 2, 4), np.float32))
    with pytest.raises(ArgumentError) as caught:
        WINDOWS[label](x, True)
    expected = "an int or a sequence of ints"
    if label.endswith(": padding"):
        expected = "'same', 'valid', an integer or a pair (before, after)"
    assert str(caught.value) == f"{label}: got True, expected {expected}"


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
def test_what_counts_is_counted(backend: str) -> None:
    """JAX takes the nearest of its own arrays of integers, whose values it would have to wait for."""
    from_numpy = backends.core(backend).from_numpy
    x, target = from_numpy(np.ones((1, 3), np.float32)), from_numpy(np.asarray([3]))
    for op in (na.nll_loss, na.cross_entropy, na.multi_margin_loss):
        name = op.__name__
        with pytest.raises(
            IndexError, match=f"{name}: target: got 3, expected 0 <= index < 3, whi"
        ):
            op(x, target)
    image, boxes = (
        from_numpy(np.ones((2, 1, 4, 4), np.float32)),
        from_numpy(np.ones((1, 4), "float32")),
    )
    with pytest.raises(
        IndexError, match="roi_align: box_indices: got 3, expected 0 <= index < 2, wh"
    ):
        na.roi_align(image, boxes, target, output_size=1)
    x, negative = from_numpy(np.ones((2, 2), np.float32)), from_numpy(np.asarray([[-3]]))
    with pytest.raises(
        IndexError, match="take_along_axis: indices: got -3, expected -2 <= index < "
    ):
        na.take_along_axis(x, negative, axis=1)
