"""Cases of `nestarray.ops.indexing`; the oracle is NumPy, or a framework that has the op."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case

Rng = np.random.Generator
ALL = slice(None)
MASK = np.asarray([[True, False, True], [False, False, True]])

INDICES: dict[str, Any] = {
    "int": -1,
    "ints": (1, -1, 0),
    "slice": slice(1, None),
    "steps": (ALL, slice(None, None, 2), slice(3, 0, -2)),
    "reversed": (..., slice(None, None, -1)),
    "empty-slice": (ALL, slice(2, 1, 1), slice(0, 3, -1)),
    "past-the-end": (slice(0, 9), slice(-9, 2)),
    "ellipsis": (0, ..., 1),
    "new-axes": (None, ..., 1, None),
    "nothing": (),
    "array": np.asarray([1, 0, -1]),
    "array-2d": np.asarray([[1, 0], [0, 1]]),
    "array-last": (..., np.asarray([3, 0])),
    "list": [1, 0, 1],
    "neighbours": (ALL, np.asarray([0, 2]), np.asarray([-1, 1])),
    "broadcast": (np.asarray([[0], [1]]), np.asarray([2, 0])),
    "apart": (np.asarray([0, 1, 1]), ALL, np.asarray([0, 3, -2])),
    "int-apart": (0, ALL, np.asarray([0, 2, 1])),
    "int-neighbour": (ALL, 1, np.asarray([0, 3, 1])),
    "none-between": (np.asarray([0, 1]), None, np.asarray([0, 2])),
    "array-and-steps": (slice(None, None, -1), np.asarray([2, 0]), slice(None, None, -2)),
    "array-0d": (ALL, np.asarray(1)),
    "no-positions": np.zeros(0, "int64"),
}
MASKS: dict[str, Any] = {
    "mask": MASK,
    "mask-first": np.asarray([True, False]),
    "mask-last": (..., np.asarray([True, False, True, True])),
    "mask-and-array": (MASK, np.asarray([0, 3, -1])),
    "mask-and-slice": (MASK, slice(None, None, -1)),
    "mask-of-nothing": np.zeros((2, 3, 4), "bool"),
}


def block(rng: Rng) -> np.ndarray:
    return rng.standard_normal((2, 3, 4))


def by_tensorflow(x: np.ndarray, indices: np.ndarray, **settings: Any) -> np.ndarray:
    import tensorflow as tf  # here, since it takes seconds

    return tf.gather_nd(x, indices, **settings).numpy()


def put(x: np.ndarray, index: Any, value: Any, mode: str = "replace") -> np.ndarray:
    result = x.copy()
    if mode == "replace":
        result[index] = value
    else:
        ufunc = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[mode]
        ufunc.at(result, index, value)
    return result


def items(name: str, index: Any, *, masked: bool) -> list[Case]:
    """Reading, replacing and adding to the same part."""

    def read(rng: Rng) -> tuple[Any, ...]:
        return block(rng), index

    def write(rng: Rng) -> tuple[Any, ...]:
        x = block(rng)
        return x, index, rng.standard_normal(x[index].shape)

    settings: dict[str, Any] = {"jit": not masked, "id": name}
    cases = [Case("getitem", read, reference=lambda x, i: x[i], **settings)]
    unique = name not in ("array", "array-2d", "list")  # which of two values wins is not said
    if unique:
        cases.append(Case("setitem", write, reference=put, **settings))
    settings["id"] = f"add-{name}"
    return [*cases, Case("setitem", write, {"mode": "add"}, reference=put, **settings)]


def combined(mode: str) -> Case:
    def args(rng: Rng) -> tuple[Any, ...]:
        return rng.uniform(1, 2, 4), np.asarray([0, 2, 0, -1]), rng.uniform(0.5, 3, 4)

    return Case("setitem", args, {"mode": mode}, reference=put, id=mode)


def scatters(mode: str, name: str) -> Case:
    """PyTorch's scatter, from indices shorter than the array."""

    def args(rng: Rng) -> tuple[Any, ...]:
        indices = (
            np.asarray([[0, 3], [3, 2]]) if mode == "replace" else np.asarray([[0, 0], [3, 2]])
        )
        return rng.uniform(1, 2, (3, 4)), indices, rng.uniform(0.5, 3, (2, 3))

    def reference(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, **_: Any) -> Any:
        import torch

        x, indices, updates = map(torch.as_tensor, (x, indices, updates))
        if mode == "replace":
            return x.scatter(1, indices, updates)
        return x.scatter_reduce(1, indices, updates, name)

    return Case("scatter", args, {"axis": -1, "mode": mode}, reference=reference, id=mode)


def put_along(
    x: np.ndarray, indices: np.ndarray, values: Any, axis: int, mode: str = "replace"
) -> np.ndarray:
    result = x.copy()
    if mode == "add":
        values = np.take_along_axis(x, indices, axis) + values
    np.put_along_axis(result, indices, values, axis)
    return result


def added(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, axis: int = 0) -> np.ndarray:
    result = np.moveaxis(x.copy(), axis, 0)
    np.add.at(result, indices, np.moveaxis(updates, axis, 0))
    return np.moveaxis(result, 0, axis)


CASES = [
    *(case for name, index in INDICES.items() for case in items(name, index, masked=False)),
    *(case for name, index in MASKS.items() for case in items(name, index, masked=True)),
    *(combined(mode) for mode in ("add", "mul", "min", "max")),
    Case(
        "getitem", lambda rng: (rng.standard_normal(()), ()), reference=lambda x, i: x[i], id="0d"
    ),
    Case(
        "getitem",
        lambda rng: (block(rng), (None, True)),
        reference=lambda x, i: x[i],
        id="true",
    ),
    Case(
        "getitem",
        lambda rng: (rng.random((2, 3)) < 0.5, (ALL, np.asarray([2, 0]))),
        reference=lambda x, i: x[i],
        differentiable=False,
        id="of-bools",
    ),
    Case("setitem", lambda rng: (block(rng), (0, 1), 3.0), reference=put, id="number"),
    *(
        Case(
            "setitem",
            lambda rng: (block(rng), rng.random((2, 3)) < 0.5, 3.0),
            {"mode": mode},
            reference=put,
            id=f"number-{mode}-mask",
        )
        for mode in ("replace", "mul")
    ),
    Case(
        "setitem",
        lambda rng: (block(rng), (ALL, np.asarray([0, 2])), rng.standard_normal(4)),
        reference=put,
        id="broadcasts",
    ),
    Case(
        "setitem",
        lambda rng: (rng.integers(0, 9, (2, 3)), slice(1), rng.standard_normal(3)),
        reference=put,
        differentiable=False,
        id="casts",
    ),
    Case(
        "take",
        lambda rng: (block(rng), np.asarray([2, -3, 1])),
        {"axis": 1},
        reference=np.take,
    ),
    Case(
        "take",
        lambda rng: (block(rng), np.asarray([[0, 1], [-1, 2]])),
        {"axis": -1},
        reference=np.take,
        id="2d",
    ),
    Case("take", lambda rng: (block(rng), np.asarray([5, -1])), reference=np.take, id="flat"),
    Case("take", lambda rng: (block(rng), np.asarray(1)), {"axis": 0}, reference=np.take, id="0d"),
    Case(
        "take_along_axis",
        lambda rng: (block(rng), rng.integers(-3, 3, (2, 5, 4))),
        {"axis": 1},
        reference=np.take_along_axis,
    ),
    Case(
        "take_along_axis",
        lambda rng: (rng.standard_normal((2, 1, 4)), rng.integers(0, 4, (1, 3, 2))),
        reference=lambda x, i: np.take_along_axis(x, i, -1),
        id="broadcasts",
    ),
    Case(
        "gather",
        lambda rng: (block(rng), rng.integers(-3, 3, (1, 5, 2))),
        {"axis": 1},
        reference=lambda x, i, axis: np.take_along_axis(x[:1, :, :2], i, axis),
    ),
    Case(
        "put_along_axis",
        lambda rng: (rng.standard_normal((2, 5)), np.asarray([[1, -1], [0, 2]]), 7.0),
        {"axis": 1},
        reference=put_along,
    ),
    Case(
        "put_along_axis",
        lambda rng: (block(rng), np.asarray([[[1], [3], [-4]]]), rng.standard_normal((2, 1, 1))),
        {"axis": 2, "mode": "add"},
        reference=put_along,
        id="add",
    ),
    scatters("replace", ""),
    *(
        scatters(mode, name)
        for mode, name in (("add", "sum"), ("mul", "prod"), ("min", "amin"), ("max", "amax"))
    ),
    Case(
        "gather_nd",
        lambda rng: (block(rng), np.asarray([[[0, 1]], [[1, -1]]])),
        reference=lambda x, i: x[i[..., 0], i[..., 1]],
    ),
    Case(
        "gather_nd",
        lambda rng: (block(rng), np.asarray([[[0], [2]], [[1], [1]]])),
        {"batch_dims": 1},
        reference=by_tensorflow,
        id="batch",
    ),
    Case(
        "gather_nd",
        lambda rng: (rng.standard_normal((2, 3, 4, 2)), rng.integers(0, 2, (2, 3, 5, 1, 2))),
        {"batch_dims": 2},
        reference=by_tensorflow,
        id="batch-two",
    ),
    Case(
        "scatter_nd",
        lambda rng: (block(rng), np.asarray([[0, 1], [1, 2]]), rng.standard_normal((2, 4))),
        reference=lambda x, i, u: put(x, (i[:, 0], i[:, 1]), u),
    ),
    Case(
        "scatter_nd",
        lambda rng: (np.zeros(4), np.asarray([[0], [2], [0]]), rng.standard_normal(3)),
        {"mode": "add"},
        reference=lambda x, i, u, mode: put(x, i[:, 0], u, mode),
        id="add",
    ),
    Case(
        "index_add",
        lambda rng: (block(rng), np.asarray([1, 1, -1, 0]), rng.standard_normal((2, 3, 4))),
        {"axis": 2},
        reference=added,
    ),
    Case(
        "masked_fill",
        lambda rng: (block(rng), MASK[..., None], 1.5),
        reference=lambda x, m, v: np.where(m, v, x),
    ),
    Case(
        "masked_fill",
        lambda rng: (block(rng), MASK[..., None], rng.standard_normal(())),
        reference=lambda x, m, v: np.where(m, v, x),
        id="array",
    ),
    Case(
        "masked_fill",
        lambda rng: (rng.integers(0, 9, 3), MASK, -1),
        reference=lambda x, m, v: np.where(m, v, x),
        differentiable=False,
        id="int",
    ),
    Case(
        "masked_select",
        lambda rng: (block(rng), MASK[..., None]),
        reference=lambda x, m: x[np.broadcast_to(m, x.shape)],
        jit=False,
    ),
    Case(
        "tril_indices",
        lambda rng: (3,),
        reference=lambda n: np.tril_indices(n),
        differentiable=False,
    ),
    Case(
        "tril_indices",
        lambda rng: (3,),
        {"k": -1, "m": 4},
        reference=np.tril_indices,
        differentiable=False,
        id="below",
    ),
    Case(
        "triu_indices",
        lambda rng: (3,),
        {"k": 1, "m": 4},
        reference=np.triu_indices,
        differentiable=False,
    ),
    Case(
        "embedding",
        lambda rng: (np.asarray([[1, 0], [3, 1]]), rng.standard_normal((4, 3))),
        reference=lambda i, w: w[i],
    ),
    Case(
        "unravel_index",
        lambda rng: (rng.integers(0, 24, (3, 2)), (2, 3, 4)),
        reference=np.unravel_index,
        differentiable=False,
    ),
    Case(
        "ravel_multi_index",
        lambda rng: ((rng.integers(0, 2, (3, 1)), rng.integers(0, 3, 5)), (2, 3)),
        reference=np.ravel_multi_index,
        differentiable=False,
    ),
]
