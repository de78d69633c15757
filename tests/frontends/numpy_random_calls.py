"""Calls of the methods of NumPy's random generator, as Hypothesis strategies by name."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.frontends.numpy_arguments import FLAG, Calls

SIZE = st.sampled_from([None, 0, 3, (2, 3), ()])
POSITIVE = st.sampled_from([0.5, 1.0, 2, 6.5, [1.0, 3.0], [2.5]])
REAL = st.sampled_from([0.0, -1.5, 2, [1.0, -2.0]])
CHANCE = st.sampled_from([0.25, 0.5, 0.75, [0.1, 0.9]])
COUNT = st.sampled_from([1, 5, 20])
DTYPE = st.sampled_from(["float64", "float32"])


def _call(*args: Any, **kwargs: Any) -> Calls:
    return st.tuples(st.tuples(*args), st.fixed_dictionaries({"size": SIZE}, optional=kwargs))


#: Calls by the name of the method; a ``size`` is added to each.
RANDOM_CALLS: dict[str, Calls] = {
    **dict.fromkeys(["random", "standard_normal", "standard_exponential"], _call(dtype=DTYPE)),
    "standard_cauchy": _call(),
    "standard_gamma": _call(POSITIVE, dtype=DTYPE),
    **dict.fromkeys(
        ["standard_t", "chisquare", "pareto", "power", "weibull", "poisson", "rayleigh", "exponential"],
        _call(POSITIVE),
    ),
    **dict.fromkeys(["normal", "laplace", "logistic", "gumbel", "lognormal"], _call(REAL, POSITIVE)),
    **dict.fromkeys(["gamma", "beta", "f", "wald", "noncentral_chisquare"], _call(POSITIVE, POSITIVE)),
    "noncentral_f": _call(POSITIVE, POSITIVE, POSITIVE),
    "vonmises": _call(REAL, POSITIVE),
    "uniform": _call(st.sampled_from([0.0, -2, [0.0, 0.5]]), st.sampled_from([1.0, 3, [1.0, 2.0]])),
    "triangular": _call(st.just(-1.0), st.sampled_from([0.0, 0.5]), st.just(1.0)),
    "binomial": _call(COUNT, CHANCE),
    "negative_binomial": _call(COUNT, CHANCE),
    **dict.fromkeys(["geometric", "logseries"], _call(CHANCE)),
    "zipf": _call(st.sampled_from([1.5, 3.0, 6.0])),
    "hypergeometric": _call(COUNT, COUNT, st.integers(0, 2)),
    "multivariate_hypergeometric": _call(st.just([3, 4, 5]), st.integers(0, 12)),
    "multinomial": _call(COUNT, st.sampled_from([[0.25, 0.75], [0.2, 0.3, 0.5]])),
    "multivariate_normal": _call(st.just([0.0, 1.0]), st.just([[2.0, 1.0], [1.0, 2.0]])),
    "dirichlet": _call(st.sampled_from([[1.0, 2.0], [0.5, 1.5, 3.0]])),
    "integers": _call(st.sampled_from([0, -3, 5]), st.sampled_from([6, 100]), endpoint=FLAG,
                      dtype=st.sampled_from(["int64", "int32", "int8"])),
    "choice": _call(st.sampled_from([5, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]), replace=st.just(True)),
}  # fmt: skip
#: Methods without ``size``, and with writes or state; `test_numpy_random` has them.
OTHERS = ("bit_generator", "bytes", "permutation", "permuted", "shuffle", "spawn")
