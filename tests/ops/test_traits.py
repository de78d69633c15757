"""The traits that ops declare, against the values that they compute.

Each property has a check of one case, which gives None where the case says nothing: an array is
too small, or the call has none. Ops with a trait pass the check in every case. An op that passes
`ELEMENTWISE`, `RESHAPE` or `COMMUTATIVE` in all cases must declare it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.config import BACKENDS
from nestarray.dispatch import OPS, Op
from nestarray.graph.flops import RULES
from nestarray.traits import Trait
from tests.arrays import host, placed
from tests.cases import Case, all_cases, convert, on_backend

#: These are cheap, and each holds for the whole package.
pytestmark = pytest.mark.one_in(1)

Arguments = dict[str, Any]
CASES: Mapping[str, list[Case]] = {
    name: [case for case in all_cases() if case.op == name and "numpy" in case.backends]
    for name in OPS
}


def arguments_of(case: Case, dtype: str = "float64") -> Arguments:
    args, kwargs = case.draw(dtype)
    return dict(case.record.signature.bind(*args, **kwargs).arguments)


def call(op: Op, arguments: Arguments) -> list[Any]:
    """The results of a call, one or several."""
    bound = op.signature.bind_partial()
    bound.arguments.update(arguments)
    with np.errstate(all="ignore"):
        result = op.function(*bound.args, **bound.kwargs)
    return [*result] if isinstance(result, (list, tuple)) else [result]


def is_array(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic))


def is_inexact(x: Any) -> bool:
    return is_array(x) and x.dtype.kind in "fc"


def floating(op: Op, arguments: Arguments) -> Arguments:
    """The floating array arguments, also in sequences, but for keys."""
    return {
        name: value
        for name in op.array_parameters
        if (value := arguments.get(name)) is not None
        and all(map(is_inexact, value if isinstance(value, (list, tuple)) else [value]))
    }


def are_close(results: list[Any], expected: list[Any]) -> bool:
    return len(results) == len(expected) and all(
        np.shape(x) == np.shape(y) and np.allclose(x, y, rtol=1e-7, atol=1e-9, equal_nan=True)
        for x, y in zip(results, expected)
    )


def fails(check: Callable[[], bool]) -> bool:
    """Whether a check that may raise does not hold."""
    try:
        return not check()
    except Exception:  # a shape that the op does not take
        return True


# -- the checks of one case ---------------------------------------------------------------------


def is_elementwise(case: Case) -> bool | None:
    """Other elements, in another order and one alone, have the same results."""
    op, arguments = case.record, arguments_of(case)
    arrays = {name: arguments[name] for name in op.array_parameters if name in arguments}
    arrays = {name: x for name, x in arrays.items() if is_array(x)}
    if not arrays or "key" in arrays or op.sequence_parameters:
        return None if arrays else False
    try:
        shape = np.broadcast_shapes(*(x.shape for x in arrays.values()))
    except ValueError:
        return False
    whole = call(op, arguments)
    if any(np.shape(y) != shape for y in whole):
        return False
    count = int(np.prod(shape))
    if count < 2:
        return None
    order = np.random.default_rng(0).permutation(count)[1:]
    for chosen in (order, order[0]):
        parts = {name: np.broadcast_to(x, shape).ravel()[chosen] for name, x in arrays.items()}
        expected = [np.ravel(y)[chosen] for y in whole]
        part = {**arguments, **convert(parts, np.asarray, np.generic)}
        if fails(lambda part=part, expected=expected: are_close(call(op, part), expected)):
            return False
    return True


def paired(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """A function of two arrays, or of the pairs of two lists."""
    if isinstance(x, (list, tuple)):
        return [paired(function, a, b) for a, b in zip(x, y, strict=True)]
    return np.asarray(function(np.asarray(x), np.asarray(y)))


def combined(x: Any, y: Any, factor: complex) -> Any:
    return paired(lambda a, b: factor * a - 0.6 * b, x, y)


def drawn(arrays: Arguments, seed: int) -> Arguments:
    """Arrays of the same shapes and kinds."""
    rng = np.random.default_rng(seed)

    def of_one(x: np.ndarray) -> np.ndarray:
        real = np.asarray(rng.normal(size=x.shape))
        return np.asarray(real + 1j * rng.normal(size=x.shape)) if x.dtype.kind == "c" else real

    return convert(arrays, of_one)


def is_linear(case: Case) -> bool | None:
    """Linear combinations of all floating arrays, also with a complex number."""
    op, arguments = case.record, arguments_of(case)
    x = drawn(floating(op, arguments), 1)
    others = [arguments[n] for n in op.array_parameters if n in arguments and n not in x]
    are_terms = Trait.ELEMENTWISE in op.traits and any(np.asarray(v).dtype != bool for v in others)
    if not x or are_terms or not all(map(is_inexact, call(op, arguments))):
        return None
    y = drawn(x, 2)
    results = [call(op, {**arguments, **each}) for each in (x, y)]
    both = {name: combined(x[name], y[name], 1.7) for name in x}
    if not are_close(call(op, {**arguments, **both}), combined(*results, 1.7)):
        return False
    turned = convert(x, lambda a: np.asarray(1j * a))
    return are_close(call(op, {**arguments, **turned}), [1j * np.asarray(r) for r in results[0]])


def is_multilinear(case: Case) -> bool | None:
    """Linear combinations of one array, with the others fixed."""
    op, arguments = case.record, arguments_of(case)
    first = drawn(floating(op, arguments), 1)
    second = drawn(first, 2)
    for name, values in first.items():
        is_sequence = isinstance(values, (list, tuple))
        places = range(len(values)) if is_sequence else [None]
        for place in places:

            def replaced(new: Any, name: str = name, place: Any = place) -> Arguments:
                old = first[name]
                value = new if place is None else [*old[:place], new[place], *old[place + 1 :]]
                return {**arguments, **first, name: value}

            is_complex = np.iscomplexobj(values[0] if is_sequence else values)
            factor = 1.7 + 0.4j if is_complex else 1.7
            both = combined(values, second[name], factor)
            results = [call(op, replaced(each)) for each in (values, second[name])]
            if not are_close(call(op, replaced(both)), combined(*results, factor)):
                return False
    return True if first else None


def is_commutative(case: Case) -> bool | None:
    """Exchanged arguments have the same result."""
    op, arguments = case.record, arguments_of(case)
    if len(op.parameters) < 2 or len(op.array_parameters) != 2 or op.sequence_parameters:
        return False
    first, second = op.array_parameters
    x1, x2 = arguments.get(first), arguments.get(second)
    if not (is_array(x1) and is_array(x2)):
        return None
    swapped = {**arguments, first: x2, second: x1}
    return not fails(lambda: are_close(call(op, swapped), call(op, arguments)))


def numbered(case: Case) -> tuple[np.ndarray, list[Any]] | None:
    """One array whose elements have numbers, and the results of it; None of another call."""
    op, arguments = case.record, arguments_of(case)
    arrays = floating(op, arguments)
    if len(arrays) != 1 or arguments.get("order", "C") != "C":
        return None
    ((name, x),) = arrays.items()
    if not is_array(x) or x.size < 2:
        return None
    numbers = np.random.default_rng(0).permutation(x.size).reshape(x.shape) + 2.0
    try:
        return numbers, call(op, {**arguments, name: numbers})
    except na.errors.NestarrayError:  # the op has conditions on the values
        return numbers, []


def is_view(case: Case) -> bool | None:
    """The result has each element of x, equally often; the first and the last keep their places."""
    pair = numbered(case)
    if pair is None:
        return None
    x, results = pair
    if len(results) != 1 or not is_array(results[0]):
        return False
    x, y = np.ravel(x), np.ravel(results[0])
    return (
        y.size % x.size == 0
        and np.array_equal(np.sort(y), np.repeat(np.sort(x), y.size // x.size))
        and np.array_equal(y[[0, -1]], x[[0, -1]])
    )


def is_reshape(case: Case) -> bool | None:
    """The elements of the result are those of x, in the same order."""
    pair = numbered(case)
    if pair is None:
        return None
    x, results = pair
    is_one = len(results) == 1 and is_array(results[0])
    return is_one and np.array_equal(np.ravel(results[0]), np.ravel(x))


def axes_of(case: Case, arguments: Arguments) -> Any:
    parameter = case.record.signature.parameters.get("axis")
    default = -1 if parameter is None else parameter.default
    return arguments.get("axis", default)


def renamed(axis: Any, order: tuple[int, ...]) -> Any:
    """Axes of a transposed array by their numbers before the transpose."""
    if axis is None or isinstance(axis, int):
        return axis if axis is None else order.index(axis % len(order))
    return tuple(order.index(a % len(order)) for a in axis)


def is_rowwise(case: Case) -> bool | None:
    """A transpose of x, with `axis` renamed, transposes the result; axes of weights stay last."""
    op, arguments = case.record, arguments_of(case)
    (name, *others), axis = op.array_parameters, axes_of(case, arguments)
    x = arguments[name]
    if x.ndim < 2 or axis is None or (others and axis not in (-1, (-1,))):
        return None
    (y,) = call(op, arguments)
    if y.ndim != x.ndim:
        return None
    order = (*range(1, x.ndim - 1), 0, x.ndim - 1) if others else (*range(1, x.ndim), 0)
    settings = {} if others else {"axis": renamed(axis, order)}
    moved = {**arguments, name: np.transpose(x, order), **settings}
    return are_close(call(op, moved), [np.transpose(y, order)])


def is_reduction(case: Case) -> bool | None:
    """The order of the elements along `axis` does not matter; the other axes follow a transpose."""
    op, arguments = case.record, arguments_of(case)
    name, *others = op.array_parameters
    x, axis = arguments[name], axes_of(case, arguments)
    if not x.ndim or any(arguments.get(other) is not None for other in others):
        return None
    (y, *others) = call(op, arguments)
    if others:  # two results on request
        return None
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    flipped = np.flip(x, tuple(axes))
    if not are_close(call(op, {**arguments, name: flipped}), [y]):
        return False
    order = (*range(1, x.ndim), 0)
    left = [i for i in order if i not in {a % x.ndim for a in axes}]
    moved = {**arguments, name: np.transpose(x, order), "axis": renamed(tuple(axes), order)}
    expected = np.transpose(y, order if y.ndim == x.ndim else np.argsort(np.argsort(left)))
    return are_close(call(op, moved), [expected])


def is_constant(case: Case) -> bool | None:
    """PyTorch's derivative is zero."""
    op, arguments = case.record, arguments_of(case, "float32")
    arrays = floating(op, arguments)
    if not arrays or "torch" not in case.backends or not any(map(is_inexact, call(op, arguments))):
        return None

    def total(c: na.Container) -> Any:
        results = call(op, {**arguments, **dict(c.items())})
        return sum(na.sum(na.real(y)) for y in results)

    gradients = na.grad(total)(na.Container(arrays).to_backend("torch"))
    return not any(leaf.any() for leaf in gradients.leaves())


def numbers_in(nest: Any) -> np.ndarray:
    """All real numbers in a nest of arrays and settings."""
    parts = nest if isinstance(nest, (list, tuple)) else [nest]
    if parts is nest:
        return np.concatenate([np.empty(0), *map(numbers_in, parts)])
    is_number = isinstance(nest, (int, float)) or (is_array(nest) and nest.dtype.kind in "iufb")
    return np.ravel(nest).astype(float) if is_number else np.empty(0)


def is_nonnegative(case: Case) -> bool | None:
    """Absolute values have no negative results."""
    arguments = convert(arguments_of(case), abs)
    if (numbers_in([*arguments.values()]) < 0).any():
        return None
    return not (numbers_in(call(case.record, arguments)) < 0).any()


def are_positions(case: Case) -> bool | None:
    """The results are integers from 0."""
    results = [np.asarray(x) for x in call(case.record, arguments_of(case))]
    return all(x.dtype.kind in "iu" and not (x < 0).any() for x in results)


def is_half_safe(case: Case) -> bool | None:
    """PyTorch's bfloat16 has the results of float32, up to four roundings of the largest number."""
    if "torch" not in case.backends:
        return None
    narrow = on_backend(case.draw("bfloat16"), "torch")
    wide = convert(narrow, widened, of=torch.Tensor)
    sizes = [abs(x) for x in tensors(wide) if x.is_floating_point()]
    if not sizes:
        return None
    largest = max([float(x[x.isfinite()].max()) for x in sizes if x.isfinite().any()], default=0.0)
    results, expected = (
        tensors(case.record.function(*args, **kwargs)) for args, kwargs in (narrow, wide)
    )
    return all(
        np.allclose(widened(x), y, rtol=4 * 2**-8, atol=4 * 2**-8 * largest, equal_nan=True)
        for x, y in zip(results, expected, strict=True)
        if x.is_floating_point()
    )


def widened(x: torch.Tensor) -> torch.Tensor:
    return x.float() if x.dtype == torch.bfloat16 else x


def tensors(nest: Any) -> list[torch.Tensor]:
    parts: list[torch.Tensor] = []
    convert([nest], parts.append, of=torch.Tensor)
    return parts


CHECKS: dict[Trait, Callable[[Case], bool | None]] = {
    Trait.ELEMENTWISE: is_elementwise,
    Trait.LINEAR: is_linear,
    Trait.MULTILINEAR: is_multilinear,
    Trait.COMMUTATIVE: is_commutative,
    Trait.VIEW: is_view,
    Trait.RESHAPE: is_reshape,
    Trait.ROWWISE: is_rowwise,
    Trait.REDUCTION: is_reduction,
    Trait.CONSTANT: is_constant,
    Trait.POSITIONS: are_positions,
    Trait.NONNEGATIVE: is_nonnegative,
    Trait.HALF_SAFE: is_half_safe,
}


def verdicts(check: Callable[[Case], bool | None], name: str) -> set[bool | None]:
    return {check(case) for case in CASES[name]}


@pytest.mark.parametrize("trait", CHECKS, ids=lambda trait: trait.name)
def test_ops_behave_as_they_declare(trait: Trait) -> None:
    declared = [name for name, op in OPS.items() if trait in op.traits]
    assert len(declared) > 3
    assert [name for name in declared if False in verdicts(CHECKS[trait], name)] == []


def behaving(check: Callable[[Case], bool | None], names: Iterable[str]) -> set[str]:
    """The ops that pass a check in all cases."""
    return {name for name in names if verdicts(check, name) - {None} == {True}}


def test_every_elementwise_op_declares_it() -> None:
    others = [name for name, op in OPS.items() if Trait.ELEMENTWISE not in op.traits]
    assert behaving(is_elementwise, others) == {"rrelu"}  # with a key, places decide its slopes


def test_every_commutative_op_declares_it() -> None:
    others = [
        name
        for name, op in OPS.items()
        if Trait.ELEMENTWISE in op.traits and op.is_of_arrays and Trait.COMMUTATIVE not in op.traits
    ]
    assert behaving(is_commutative, others) == set()


def test_every_reshape_declares_it() -> None:
    others = [n for n, op in OPS.items() if not op.traits & (Trait.ELEMENTWISE | Trait.VIEW)]
    values_decide = {"rrelu", "trim_zeros"}
    assert behaving(is_reshape, others) == values_decide


@pytest.mark.parametrize("backend", BACKENDS)
def test_soft_scores_and_neighbours_have_derivatives(backend: str) -> None:
    boxes = placed(backend, np.asarray([[0, 0, 2, 2], [0, 1, 2, 3], [5, 5, 6, 6]], "float32"))
    scores = placed(backend, np.asarray([0.9, 0.8, 0.7], "float32"))

    def soft(scores: Any) -> Any:
        return na.sum(na.nms(boxes, scores, iou_threshold=0.3, soft_nms_sigma=0.5)[1])

    overlap = np.exp(-((1 / 3) ** 2) / 0.5 / 2)
    np.testing.assert_allclose(host(na.grad(soft)(scores)), [1, overlap, 1], rtol=1e-3)
    following = na.grad(lambda x: na.sum(na.nextafter(x, 2.0)))(scores)
    np.testing.assert_array_equal(host(following), [1, 1, 1])


def test_products_are_the_ops_with_flops() -> None:
    assert {name for name in RULES if name in OPS} == {
        name for name, op in OPS.items() if Trait.PRODUCT in op.traits
    }
