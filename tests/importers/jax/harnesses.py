"""JAX's own records of its primitives, compared on the other backends.

usage: python -m tests.importers.jax.harnesses [GROUP ...]

The command compares all records of the groups, by default of all groups, and stores the counts
in docs/jax_harnesses.json, from which docs/generate_jax_coverage.py makes its table.
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.internal_test_util import test_harnesses

import nestarray as na
from nestarray import errors

BACKENDS = ("numpy", "torch", "tensorflow")
PATH = Path(__file__).parents[3] / "docs" / "jax_harnesses.json"

GROUPS: dict[str, list[Any]] = defaultdict(list)
for _record in test_harnesses.all_harnesses:
    GROUPS[_record.group_name].append(_record)

#: The reason of differences without a known cause.
UNEQUAL = "differs"
#: Error of the result relative to its largest number, by bytes of the (real) dtype.
RTOL = {2: 2e-2, 4: 1e-4, 8: 1e-9}


@dataclass(frozen=True)
class Gap:
    """Records that cannot agree.

    Attributes:
        group: of the records.
        kind: ``"values"`` or ``"gradients"``.
        reason: the cause.
        backends: where.
        part: of the names of the records.
    """

    group: str
    kind: str
    reason: str
    backends: tuple[str, ...] = BACKENDS
    part: str = ""


_OUTSIDE = "the program promises indices inside and has others: JAX's gradient omits their elements"
_DOMAIN = "where the function is NaN, JAX's derivative is NaN or a number, here 0"
_NAN = "NaN with the sign bit is the smallest number in JAX, the largest here"

GAPS = [
    Gap("gather", "gradients", _OUTSIDE),
    Gap("eigh", "gradients", "JAX differentiates at (x + xᴴ) / 2; this x has one triangle"),
    Gap("clamp", "gradients", "where min > max, JAX's gradient is 0", part="broadcasting_min"),
    Gap(
        "cholesky", "gradients", "rounding in single precision, 10⁻³ of the largest number",
        ("torch", "tensorflow"), "200_200",
    ),
    *[Gap("top_k", kind, _NAN, part="inf_nan") for kind in ("values", "gradients")],
    Gap("scatter_add", "gradients", _OUTSIDE, part="modes_out_of_bounds"),
    Gap("approx_top_k", "gradients", "equal numbers in another order", part="large_True"),
    Gap("acosh", "gradients", "JAX's derivative has the wrong sign for Re x < 0", part="complex"),
    Gap("igamma", "gradients", _DOMAIN, part="broadcasting"),
    Gap("igammac", "gradients", _DOMAIN, part="broadcasting"),
    Gap(
        "digamma", "gradients", "JAX's derivative is inaccurate for x < 0",
        ("torch", "tensorflow"), "float32",
    ),
    Gap("pow", "gradients", "where x < 0, by y: NaN in JAX, here 0", ("tensorflow",), "bfloat16"),
    Gap("qr", "gradients", "not determined: the complete factor of a tall matrix",
        part="fullmatrices_True"),
]  # fmt: skip


def reason_of(record: Any, kind: str, backend: str) -> str:
    """The known cause of a difference; empty if there is none."""
    for gap in GAPS:
        is_here = (gap.group, gap.kind) == (record.group_name, kind) and backend in gap.backends
        if is_here and gap.part in record.name:
            return gap.reason
    return ""


class RefusedByJaxError(Exception):
    """JAX itself cannot run the record on this machine."""


@dataclass
class Reference:
    """A record with JAX's results.

    Attributes:
        record: JAX's record.
        args: its arguments.
        outputs: of JAX.
        graph: the imported program.
        weights: of each output in the loss; None for outputs that the loss leaves out.
        gradients: of the loss, for each inexact argument; None if there is no derivative.
    """

    record: Any
    args: list[Any]
    outputs: list[np.ndarray]
    graph: na.graph.Graph
    weights: list[np.ndarray | None]
    gradients: list[np.ndarray] | None


def reference(record: Any) -> Reference:
    """Run a record with JAX, and import it.

    Raises:
        RefusedByJaxError: JAX cannot run it.
        NestarrayError: it cannot be imported.
    """
    rng = np.random.RandomState(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            args = [
                jnp.asarray(a) if hasattr(a, "dtype") else a for a in record.dyn_args_maker(rng)
            ]
            outputs = [np.asarray(y) for y in jax.tree.leaves(record.dyn_fun(*args))]
        except Exception as error:  # of many kinds
            raise RefusedByJaxError(type(error).__name__) from error
        graph = na.trace_graph(jax.jit(record.dyn_fun), *args)
        weights = [_weights(record, i, y, rng) for i, y in enumerate(outputs)]
        return Reference(record, args, outputs, graph, weights, _gradients(record, args, weights))


def _weights(record: Any, i: int, y: np.ndarray, rng: Any) -> np.ndarray | None:
    """Random weights of an output; None where the output has no gradient or is not unique."""
    vectors = {"eigh": [0], "svd": [1, 2], "eig": [1, 2]}
    if not jnp.issubdtype(y.dtype, jnp.inexact) or i in vectors.get(record.group_name, ()):
        return None
    is_unstable = record.group_name == "sort" and not record.params["is_stable"]
    if is_unstable and i >= record.params["num_keys"]:  # equal keys in any order
        return None
    weights = rng.standard_normal(y.shape)
    if y.dtype.kind == "c":
        weights = weights + 1j * rng.standard_normal(y.shape)
    if record.group_name == "eig":  # in any order
        weights = np.full(y.shape, 1 + 0.5j)
    if record.group_name == "cholesky":  # the primitive leaves the upper triangle undefined
        weights = np.tril(weights)
    return np.asarray(weights).astype(y.dtype)


def _gradients(record: Any, args: list[Any], weights: list[Any]) -> list[np.ndarray] | None:
    """JAX's gradients, in the convention Jᴴ."""
    moving = _inexact(args)
    if not moving or all(w is None for w in weights):
        return None

    def function(*values: Any) -> list[Any]:
        found = jax.tree.leaves(record.dyn_fun(*_filled(args, moving, values)))
        return [y for y, w in zip(found, weights, strict=True) if w is not None]

    try:
        _, pull = jax.vjp(function, *[args[i] for i in moving])
        found = pull([jnp.asarray(np.conj(w)) for w in weights if w is not None])
        return [np.conj(np.asarray(g)) for g in found]
    except Exception:  # of many kinds: the primitive has no derivative
        return None


def _inexact(args: Sequence[Any]) -> list[int]:
    return [
        i
        for i, x in enumerate(args)
        if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.inexact)
    ]


def _filled(args: Sequence[Any], places: Sequence[int], values: Sequence[Any]) -> list[Any]:
    new = dict(zip(places, values, strict=True))
    return [new.get(i, x) for i, x in enumerate(args)]


def check_values(ref: Reference, backend: str) -> None:
    """Compare the outputs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = ref.graph.to_backend(backend)
        found = graph(*_moved(ref.args, backend))
    got = [na.to_backend(x, "numpy") for x in na.tree.flatten(found)[0]]
    record, want = ref.record, ref.outputs
    if record.group_name == "sort" and not record.params["is_stable"]:
        count = record.params["num_keys"]  # other arrays follow in any order of equal keys
        want, got = want[:count], got[:count]
    if record.group_name == "eigh":
        _assert_eigh(np.asarray(ref.args[0]), want, got)
    elif record.group_name == "svd" and len(got) == 3:
        _assert_svd(np.asarray(ref.args[0]), want, got)
    elif record.group_name == "eig":
        _assert_eigenvectors(record, np.asarray(ref.args[0]), want, got)
    else:
        for x, y in zip(want, got, strict=True):
            _assert_output(record, x, y)


def check_gradients(ref: Reference, backend: str) -> None:
    """Compare the gradients; `ref` must have some."""
    assert ref.gradients is not None
    args, moving = _moved(ref.args, backend), _inexact(ref.args)

    def function(*values: Any) -> list[Any]:
        found = na.tree.flatten(graph(*_filled(args, moving, values)))[0]
        return [y for y, w in zip(found, ref.weights, strict=True) if w is not None]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = ref.graph.to_backend(backend)
        _, pull = na.vjp(function, *[args[i] for i in moving])
        found = pull([na.to_backend(w, backend) for w in ref.weights if w is not None])
    for x, y in zip(ref.gradients, found, strict=True):
        y = na.to_backend(y, "numpy")
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        if ref.record.group_name in ("cholesky", "eigh"):  # functions of Hermitian matrices
            x, y = (z + np.conj(np.swapaxes(z, -1, -2)) for z in (x, y))
        is_elementwise = all(np.shape(each) == x.shape for each in (*ref.outputs, *ref.args))
        if is_elementwise:  # a number that is not finite has no derivative
            is_finite = np.all([np.isfinite(each) for each in ref.outputs], axis=0)
            x, y = np.where(is_finite, x, 0), np.where(is_finite, y, 0)
        _assert_same(x, y)


def _moved(args: Sequence[Any], backend: str) -> list[Any]:
    return [na.to_backend(a, backend) if hasattr(a, "dtype") else a for a in args]


def _assert_output(record: Any, x: np.ndarray, y: np.ndarray) -> None:
    assert (x.dtype, x.shape) == (y.dtype, y.shape)
    if record.group_name == "approx_top_k" and x.dtype == np.int32:
        return  # positions of equal numbers
    if record.group_name == "cholesky":  # the primitive leaves the upper triangle undefined
        x, y = np.tril(x), np.tril(y)
    if record.group_name == "conv_general_dilated" and x.dtype == np.complex128:
        x, y = x.astype(np.complex64), y.astype(np.complex64)  # JAX's inner precision
    _assert_same(x, y)


def _assert_eigh(a: np.ndarray, want: list[np.ndarray], got: list[np.ndarray]) -> None:
    """The eigenvalues, and unit eigenvectors with any phase."""
    assert [(x.shape, x.dtype) for x in want] == [(y.shape, y.dtype) for y in got]
    vectors, values = got
    _assert_same(want[1], values)
    rtol = RTOL[values.dtype.itemsize]
    scale = np.abs(values).max(initial=0)
    whole = np.tril(a) + np.conj(np.swapaxes(np.tril(a, -1), -1, -2))
    np.testing.assert_allclose(whole @ vectors, vectors * values[..., None, :], atol=rtol * scale)
    products = np.conj(np.swapaxes(vectors, -1, -2)) @ vectors
    np.testing.assert_allclose(products - np.eye(products.shape[-1]), 0, atol=rtol)


def _assert_svd(a: np.ndarray, want: list[np.ndarray], got: list[np.ndarray]) -> None:
    """The singular values, and orthonormal vectors with any phase."""
    assert [(x.shape, x.dtype) for x in want] == [(y.shape, y.dtype) for y in got]
    values = next(y for y in got if y.ndim == a.ndim - 1)
    _assert_same(next(x for x in want if x.ndim == a.ndim - 1), values)
    u, vh = [y for y in got if y.ndim == a.ndim]
    k, rtol = values.shape[-1], RTOL[values.dtype.itemsize]
    again = (u[..., :k] * values[..., None, :]) @ vh[..., :k, :]
    np.testing.assert_allclose(again, a, atol=rtol * np.abs(a).max(initial=0) * 10)
    for y in (np.swapaxes(u, -1, -2), vh):
        products = y @ np.conj(np.swapaxes(y, -1, -2))
        np.testing.assert_allclose(products - np.eye(products.shape[-1]), 0, atol=rtol)


def _assert_eigenvectors(
    record: Any, a: np.ndarray, want: list[np.ndarray], got: list[np.ndarray]
) -> None:
    """The eigenvalues in any order, and unit eigenvectors with any phase."""
    assert [(x.shape, x.dtype) for x in want] == [(y.shape, y.dtype) for y in got]
    rtol = 1e-3 if want[0].dtype == np.complex64 else 1e-9
    values = got[0]
    gaps = np.abs(want[0][..., :, None] - values[..., None, :])
    for axis in (-1, -2):  # each has a partner
        assert np.all(gaps.min(axis) <= rtol * np.abs(values).max()) if gaps.size else True
    names = ("compute_left_eigenvectors", "compute_right_eigenvectors")
    sides = [name for name in names if record.params[name]]
    for side, vectors in zip(sides, got[1:], strict=True):
        matrix = a if "right" in side else np.conj(np.swapaxes(a, -1, -2))
        factors = values if "right" in side else np.conj(values)
        error = matrix @ vectors - vectors * factors[..., None, :]
        assert np.abs(error).max(initial=0) <= rtol * np.abs(a).max(initial=0) * a.shape[-1]
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), 1, rtol=rtol)


def _assert_same(x: np.ndarray, y: np.ndarray) -> None:
    if x.dtype.name == "bfloat16":
        x, y, rtol = x.astype("float32"), y.astype("float32"), 5e-2
    elif x.dtype.kind in "fc":
        rtol = RTOL[x.dtype.itemsize // (2 if x.dtype.kind == "c" else 1)]
    else:
        np.testing.assert_array_equal(y, x)
        return
    finite = np.abs(x[np.isfinite(x)])
    np.testing.assert_allclose(y, x, rtol=rtol, atol=rtol * finite.max(initial=0))


def failures(ref: Reference) -> Iterator[tuple[str, str, str]]:
    """(backend, ``"values"`` or ``"gradients"``, error) of each comparison that fails."""
    checks = {"values": check_values}
    if ref.gradients is not None:
        checks["gradients"] = check_gradients
    for backend in BACKENDS:
        for kind, check in checks.items():
            try:
                check(ref, backend)
            except Exception as error:  # of any framework
                yield backend, kind, f"{type(error).__name__}: {error}".strip()


def counts_of(group: str) -> dict[str, Any]:
    """The counts of a group, as docs/jax_harnesses.json holds them."""
    found: dict[str, Any] = {"jax": jax.__version__, "records": len(GROUPS[group])}
    found |= {"refused": 0, "gradients": 0}
    failed: dict[str, Counter[str]] = {
        f"{kind} {backend}": Counter() for backend in BACKENDS for kind in ("values", "gradients")
    }
    for record in GROUPS[group]:
        try:
            ref = reference(record)
        except RefusedByJaxError:
            found["refused"] += 1
            continue
        except errors.NestarrayError as error:
            print(group, record.name, error, sep=": ")
            for backend in BACKENDS:
                failed[f"values {backend}"][UNEQUAL] += 1
            continue
        found["gradients"] += ref.gradients is not None
        for backend, kind, error in failures(ref):
            reason = reason_of(record, kind, backend)
            failed[f"{kind} {backend}"][reason or UNEQUAL] += 1
            if not reason:
                print(group, record.name, backend, kind, " ".join(error.split())[:400], sep=": ")
    found["failed"] = {key: dict(counts) for key, counts in failed.items() if counts}
    return found


def main() -> None:
    """Compare, and store the counts of each group when it is finished."""
    with jax.enable_x64(True):
        for group in sys.argv[1:] or sorted(GROUPS, key=lambda group: len(GROUPS[group])):
            counts = counts_of(group)
            stored = json.loads(PATH.read_text()) if PATH.exists() else {}
            stored = {name: counts if name == group else stored.get(name) for name in GROUPS}
            rows = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(stored.items()) if v]
            PATH.write_text("{\n" + ",\n".join(rows) + "\n}\n")
            print(group, counts, sep=": ", flush=True)
            jax.clear_caches()
            gc.collect()


if __name__ == "__main__":
    main()
