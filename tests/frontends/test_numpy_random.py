"""`numpy.random` of the NumPy frontend: NumPy's arguments, shapes, dtypes and distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.frontends import numpy as frontend
from tests.arrays import host

pytestmark = pytest.mark.usefixtures("x64")
BACKENDS = ["numpy", "torch", "tensorflow", "jax"]

#: Calls of methods; 4 is the number of draws where a call ends with it.
CALLS = [call.strip() for call in """
    random(4); random((2,3),dtype='float32'); standard_normal(4); standard_exponential(4); standard_gamma(2.0,4)
    standard_cauchy(3); standard_t(8.0,4); normal(1.0,2.0,4); normal([1.0,2.0],[0.5,1.0]); uniform(-1,2,4)
    uniform([0,1],[1,2]); exponential(2.0,4); gamma(2.0,3.0,4); beta(2.0,3.0,4); chisquare(3.0,4)
    noncentral_chisquare(3.0,2.0,4); f(3.0,12.0,4); noncentral_f(3.0,12.0,1.0,4); gumbel(1.0,2.0,4)
    laplace(1.0,2.0,4); logistic(1.0,2.0,4); lognormal(0.5,0.25,4); pareto(6.0,4); power(3.0,4); rayleigh(2.0,4)
    triangular(0.0,1.0,3.0,4); wald(2.0,3.0,4); weibull(2.0,4); vonmises(0.5,4.0,4); poisson(4.0,4)
    poisson([1.0,2.0]); binomial(10,0.25,4); negative_binomial(5,0.5,4); geometric(0.25,4); logseries(0.6,4)
    zipf(6.0,4); hypergeometric(6,4,5,4); multivariate_hypergeometric([3,4,5],6,4)
    multinomial(10,[0.2,0.3,0.5],4); multinomial(10,[0.2,0.3,0.5]); multivariate_normal([0.0,1.0],[[2.0,1.0],[1.0,2.0]],4)
    multivariate_normal([0.0,1.0],[[2.0,1.0],[1.0,2.0]],method='cholesky'); dirichlet([1.0,2.0,3.0],4)
    integers(10,size=4); integers(2,10,(2,2),dtype='int8'); integers([1,2],[10,20]); integers(0,1,4,endpoint=True)
    choice(5,4); choice([1.0,2.0,3.0],(2,),p=[0.2,0.3,0.5]); choice(5,3,replace=False); permutation(5)
    permutation([1,2,3]); permuted([[1,2],[3,4]],axis=1)
""".replace("\n", ";").split(";") if call.strip()]  # fmt: skip


def _call(rng: Any, call: str, draws: int = 4) -> Any:
    name, _, arguments = call.partition("(")
    arguments = arguments[:-1]
    if draws != 4:
        arguments = arguments.removesuffix("4") + str(draws)
    return eval(f"method({arguments})", {"method": getattr(rng, name)})


@pytest.mark.parametrize("call", CALLS)
def test_shapes_and_dtypes_are_numpys(call: str) -> None:
    with na.use_backend("numpy"):
        found = _call(frontend.random.default_rng(0), call)
    expected = np.asarray(_call(np.random.default_rng(0), call))
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype


@pytest.mark.parametrize(
    "call", [c for c in CALLS if c.endswith(("(4)", ",4)")) and "zipf" not in c]
)
def test_distributions_are_numpys(call: str) -> None:
    count = 20_000
    with na.use_backend("numpy"):
        found = np.asarray(_call(frontend.random.default_rng(1), call, count), float)
    expected = np.asarray(_call(np.random.default_rng(1), call, count), float)
    for power in (1, 2):
        spread = np.std(expected**power, 0) * np.sqrt(2 / count)
        difference = np.mean(found**power, 0) - np.mean(expected**power, 0)
        assert np.all(np.abs(difference) <= 5 * spread)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "jax"])
@pytest.mark.parametrize(
    "call",
    [pytest.param(c, marks=[pytest.mark.full] if i % 6 else []) for i, c in enumerate(CALLS)],
)
def test_numbers_are_the_same_on_every_backend(call: str, backend: str) -> None:
    with na.use_backend("numpy"):
        expected = _call(frontend.random.default_rng(3), call)
    rng = frontend.random.default_rng(na.random.key(3, backend=backend))
    found = _call(rng, call)
    assert na.backend_of(found.native) == backend
    assert found.dtype == expected.dtype
    rtol = 1e-5 if found.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(host(found.native), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("backend", BACKENDS)
def test_writes(backend: str) -> None:
    x = frontend.asarray(na.to_backend(np.arange(6.0), backend))
    rng = frontend.random.default_rng(na.random.key(0, backend=backend))
    rng.shuffle(x)
    assert sorted(x.tolist()) == [0, 1, 2, 3, 4, 5]
    assert x.tolist() == [0, 3, 5, 1, 4, 2]
    assert rng.random(out=x) is x
    assert float(x.max()) < 1
    items = ["a", "b", "c"]
    rng.shuffle(items)
    assert sorted(items) == ["a", "b", "c"]


def test_seeds() -> None:
    make = frontend.random.default_rng
    assert make(5).random() == make(5).random()
    rng = make(5)
    assert rng.random() != rng.random()
    assert make(rng) is rng
    assert make(rng.key).random() == rng.random()
    assert make([1, 2]).random() == make(frontend.random.SeedSequence([1, 2])).random()
    assert make().random() != make().random()
    first, second = rng.spawn(2)
    assert first.random() != second.random()
    assert len(rng.bytes(5)) == 5
    assert repr(make(0)) == "Generator(Threefry) on numpy"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: r.rand, AttributeError, r"np.random.rand: .* use np.random.default_rng\(seed\).random$"),
        (lambda r: r.seed, AttributeError, r"use np.random.default_rng\(seed\)$"),
        (lambda r: r.nothing, AttributeError, "np.random.nothing: NumPy has no such name"),
        (lambda r: r.default_rng(0).normal(0, -1), ValueError, "normal: scale: got -1, expected a number"),
        (lambda r: r.default_rng(0).integers(3, 3), ValueError, "low >= high"),
        (lambda r: r.default_rng(0).hypergeometric([1], 2, 3), NotImplementedError, "got arrays of counts"),
        (lambda r: r.default_rng(0).hypergeometric(1, 2, 4), ValueError, "nsample: got 4, expected at most 3"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(frontend.random)


def test_methods_are_numpys() -> None:
    upstream = {n for n in dir(np.random.Generator) if n[0] != "_"} - {"bit_generator"}
    assert upstream - {*dir(frontend.random.Generator)} == set()
