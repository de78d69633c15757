"""`ndarray` of the NumPy frontend: NumPy's attributes and methods over arrays of the frameworks."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.frontends import numpy as frontend
from tests.arrays import host
from tests.frontends import expressions

pytestmark = pytest.mark.usefixtures("x64")
BACKENDS = ["torch", "tensorflow", "jax"]

INPUTS = {
    "x": np.asarray([[3.0, -1.5, 0.5], [2.0, 4.0, -2.5]]),
    "i": np.asarray([[3, 1, 2], [0, 2, 5]]),
    "c": np.asarray([1 + 2j, 3 - 1j]),
    "b": np.asarray([True, False, True]),
}

ATTRIBUTES = """x.shape; x.ndim; x.size; x.dtype; x.itemsize; x.nbytes; x.T; x.mT; c.real; c.imag; x.real; x.flat[4]; len(x)
    x.all(); x.any(axis=0); x.argmax(); x.argmin(1); x.argpartition(1)[:, 1]; x.argsort(axis=0); i.max(); (i > 1).astype(int).choose([x, -x])
    x.astype('float32'); x.astype(int); i.astype(float); x.clip(-1, 2); x.clip(max=1); x.compress([True, False], axis=0)
    c.conj(); c.conjugate(); x.copy(); x.cumprod(); x.cumsum(axis=1); x.diagonal(); x.dot(x.T); x.flatten(); x.max(axis=1); x.mean()
    i.mean(axis=0, keepdims=True); x.min(); x.nonzero(); i.prod(axis=1); x.ravel(); x.repeat(2, axis=1); x.reshape(3, 2); x.reshape((6,))
    x.reshape(-1, order='F'); x.round(); x[0].searchsorted(1.0); x[None].squeeze(); x.std(ddof=1); x.sum(axis=1, keepdims=True); i.sum()
    x.swapaxes(0, 1); x.take([1, 0], axis=1); x.trace(); x.transpose(); x.transpose(1, 0); x.transpose((1, 0)); x.var(0); x.view('int64')
    x.view(); x.tolist(); x[1, 2].item(); x.item(4); x.tobytes(); 3.0 in x; [row.sum() for row in x]
    x[0]; x[:, 1]; x[::-1, None]; x[..., -1]; x[x > 1]; x[[1, 0]]; x[[True, False]]; x[i > 1]; x[0, [2, 0]]; x[:, b]
    -x; +x; abs(x); ~b; ~i; x + 1; 2 - x; x * i; x / 2; 2 / (i + 1); x // 2; x % 2; divmod(x, 2); x**2; 2**x; x @ x.T; i & 1; i | 4; 1 ^ i; i << 1; i >> 1
    x > 0; x <= i; x == x; x != 2; b & (x[0] > 0); float(x[0, 0]); int(i[0, 1]); complex(c[0]); bool(b[0]); [1, 2, 3][i[0, 1]]; f'{x[0, 0]:.3f}'"""
METHODS = [row.strip() for row in ATTRIBUTES.replace("\n", ";").split(";")]


def _plain(x: Any) -> Any:
    return host(x.native) if type(x) is frontend.ndarray else x


@pytest.mark.one_in(12)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("expression", METHODS)
def test_methods_are_numpys(expression: str, backend: str) -> None:
    arrays = {k: frontend.asarray(na.to_backend(v, backend)) for k, v in INPUTS.items()}
    names = {"__builtins__": __builtins__}
    found = expressions.leaves(eval(expression, names | arrays))
    expected = expressions.leaves(eval(expression, names | INPUTS))
    for got, want in zip(found, expected, strict=True):
        got = _plain(got)
        if isinstance(want, (np.ndarray, np.generic)):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-12)
        else:
            assert got == want


def _writes(x: Any, np: Any) -> Any:
    z = np.zeros_like(x)
    z[0] += x[1]
    z[:, 1] = 5
    z.reshape(-1)[4:] *= 2
    column = z.T[2]
    column[...] = np.asarray([7.0, 8.0])
    z[z == 7] = -1
    z[[0, 1]] = z[[1, 0]]
    np.add(z, 1, out=z)
    np.multiply(z[0], 2, out=z[1])
    np.add.at(z, (np.asarray([0, 0]), np.asarray([1, 1])), 10.0)
    y = z.copy()
    y.sort(axis=1)
    y.sort(axis=1, descending=True, stable=True)
    y[0].fill(3)
    y.flat[5] = 9
    w = x.flatten()
    w.partition(2)
    w.resize(2, 4)
    v = x.copy()
    v.shape = (3, 2)
    v.put([0, 5], [1.5, 2.5])
    return z, column, y, np.sort(w.ravel()), v, x


@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
@pytest.mark.parametrize("backend", BACKENDS)
def test_writes_and_views(backend: str) -> None:
    native = na.to_backend(INPUTS["x"], backend)
    found = _writes(frontend.asarray(native), frontend)
    for got, want in zip(found, _writes(INPUTS["x"].copy(), np), strict=True):
        np.testing.assert_allclose(_plain(got), want)
    np.testing.assert_array_equal(host(native), INPUTS["x"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_flow_through_writes(backend: str) -> None:
    def loss(native: Any) -> Any:
        x = frontend.asarray(native)
        z = frontend.zeros_like(x)
        z[1:] += x[:-1] ** 2
        return (z.astype("float64") * 3).sum().native

    gradient = na.grad(loss)(na.to_backend(np.asarray([1.0, 2.0, 3.0]), backend))
    np.testing.assert_allclose(host(gradient), [6, 12, 0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_plain_arrays_stay_plain(backend: str) -> None:
    native = na.to_backend(INPUTS["x"], backend)
    x = frontend.asarray(native)
    assert type(frontend.sin(native)) is type(native)
    assert type(frontend.sin(x)) is type(na.exp(x)) is type(x + native) is frontend.ndarray
    assert type(frontend.concatenate([native, x])) is frontend.ndarray
    assert type(frontend.asarray(INPUTS["x"])) is np.ndarray
    assert x.native is native
    assert all(isinstance(y, frontend.ndarray) for y in (native, x, INPUTS["x"]))
    assert not isinstance(3, frontend.ndarray)


def test_functions_of_the_frameworks_take_the_array() -> None:
    import jax.numpy as jnp
    import tensorflow as tf
    import torch

    x = np.asarray([1.0, 2.0])
    assert torch.equal(torch.sin(frontend.asarray(torch.tensor(x))), torch.tensor(x).sin())
    np.testing.assert_array_equal(jnp.asarray(frontend.asarray(jnp.asarray(x))), x)
    np.testing.assert_array_equal(tf.square(frontend.asarray(tf.constant(x))), x**2)
    found = np.sin(frontend.asarray(torch.tensor(x))) + x
    assert type(found) is frontend.ndarray
    np.testing.assert_allclose(np.asarray(found), np.sin(x) + x)


def test_functions_of_elements_get_the_array() -> None:
    import torch

    x = frontend.asarray(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    found = frontend.vectorize(lambda a: a.astype("float32") * 2)(x)
    assert found.tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert frontend.apply_along_axis(lambda row: row.clip(2).sum(), 1, x).tolist() == [4.0, 7.0]
    assert frontend.vectorize(lambda a: a * 2)(torch.ones(2)).tolist() == [2.0, 2.0]


def test_copies() -> None:
    import torch

    x = frontend.asarray(torch.tensor([1.0, 2.0]))
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        y[0] = 5
        assert x.tolist() == [1.0, 2.0]
    assert x[:1].base is x
    assert x.device == "cpu"
    assert repr(x) == "ndarray(tensor([1., 2.]))"
    assert f"{x[1:]}" == "[2.]"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.astype(int, casting="safe"), TypeError, "Cannot cast array data from dtype"),
        (lambda x: hash(x), TypeError, "unhashable"),
        (lambda x: len(x[0]), TypeError, "unsized"),
        (lambda x: setattr(x[:1], "shape", (1, 1)), NotImplementedError, "a view has the shape of its owner"),
        (lambda x: bool(x), ValueError, "ambiguous"),
        (lambda x: x.nothing, AttributeError, "'ndarray' object has no attribute 'nothing'"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    import torch

    with pytest.raises(error, match=message):
        call(frontend.asarray(torch.tensor([1.0, 2.0])))


def test_attributes_of_ufuncs_are_numpys() -> None:
    missing = {n for n in dir(np.ufunc) if n[0] != "_"} - {*dir(frontend.add)}
    assert missing == set()


@pytest.mark.parametrize("backend", BACKENDS)
def test_copies_have_their_own_elements(backend: str) -> None:
    x = frontend.asarray(na.to_backend(INPUTS["x"], backend))
    for y in (
        frontend.copy(x),
        frontend.array(x),
        frontend.asarray(x, copy=True),
        na.asarray(x, copy=True),
    ):
        y[:] = 0
    np.testing.assert_array_equal(_plain(x), INPUTS["x"])


def test_the_array_follows_the_standards_protocol() -> None:
    import torch

    x = frontend.asarray(torch.tensor([1.0, 2.0]))
    assert x.__array_namespace__() is frontend
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999.01")
    assert torch.equal(torch.from_dlpack(x), x.native)
    assert x.to_device("cpu").tolist() == [1.0, 2.0]
