"""A stateful source of random numbers for scripts; it splits its key at each call."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from nestarray import backends
from nestarray.errors import UnsupportedError
from nestarray.random import (
    continuous,
    counts,
    discrete,
    gammas,
    keys,
    parametric,
    selections,
    vectors,
)
from nestarray.random.arguments import words_of
from nestarray.typing import Array

P = ParamSpec("P")
R = TypeVar("R")


def _drawing(
    function: Callable[Concatenate[Array, P], R],
) -> Callable[Concatenate[Generator, P], R]:
    """`function` as a method that draws a new key at each call."""

    @wraps(function)
    def draw(self: Generator, *args: P.args, **kwargs: P.kwargs) -> R:
        return function(self.next_key(), *args, **kwargs)

    summary = (function.__doc__ or "").partition("\n")[0]
    draw.__doc__ = f"{summary} See ``na.random.{function.__name__}``; the key is a new one."
    return draw


class Generator:
    """Random numbers without explicit keys.

    Its methods are the functions of `na.random`, of the same names and arguments but for the
    key, which the generator makes: ``first, second = split(key)``, where the first is kept
    and the second used. So one seed gives one sequence, on every backend the same. In a
    function that is compiled or mapped, take a key as an argument instead: there a state
    would be lost, and this class refuses.

    Args:
        seed: any integer; its lowest 64 bits count.
        impl: ``"threefry2x32"`` or ``"native"``, as for `na.random.key`.
        backend: where the numbers live; None is the backend of `like`, else the default one.
        like: an array on whose backend they shall live.
        device: of the backend, or None.

    Example:
        >>> import nestarray as na
        >>> rng = na.random.Generator(0)
        >>> rng.uniform((2,))
        array([0.00729382, 0.02089119], dtype=float32)
        >>> rng.uniform((2,))
        array([0.10429037, 0.34398758], dtype=float32)
    """

    def __init__(
        self,
        seed: int,
        *,
        impl: str = "threefry2x32",
        backend: str | None = None,
        like: Array | None = None,
        device: Any = None,
    ) -> None:
        self._key = keys.key(seed, impl=impl, backend=backend, like=like, device=device)

    def __repr__(self) -> str:
        return f"<nestarray.random.Generator on {backends.backend_of(self._key)}>"

    @property
    def key(self) -> Array:
        """The state; `Generator.from_key` continues from it with the same numbers."""
        return self._key

    @classmethod
    def from_key(cls, key: Array) -> Generator:
        """The generator whose state is `key`.

        Example:
            >>> import nestarray as na
            >>> rng = na.random.Generator(0)
            >>> bool(na.random.Generator.from_key(rng.key).uniform() == rng.uniform())
            True
        """
        made = cls.__new__(cls)
        made._key = words_of("random.Generator.from_key", key)
        return made

    def next_key(self) -> Array:
        """A new key; advances the generator.

        Raises:
            UnsupportedError: a function is being traced.

        Example:
            >>> import nestarray as na
            >>> rng = na.random.Generator(0)
            >>> na.nn.Linear(2, 3).init(rng.next_key()).v.paths()
            ('weight', 'bias')
        """
        kept, used = self._split()
        self._key = kept
        return used

    def _split(self) -> tuple[Array, Array]:
        pair = keys.split(self._key)
        if backends.core(backends.backend_of(pair)).is_traced(pair):
            raise UnsupportedError(
                "random.Generator: got a call in a function that is being compiled or mapped, where "
                "its state would be lost; give the function a key: rng.next_key()"
            )
        return pair[0], pair[1]

    def spawn(self, num: int) -> list[Generator]:
        """`num` generators that are independent of each other and of this one.

        Example:
            >>> import nestarray as na
            >>> one, other = na.random.Generator(0).spawn(2)
            >>> bool(one.uniform() == other.uniform())
            False
        """
        made = keys.split(self.next_key(), num)
        return [self.from_key(made[i]) for i in range(num)]

    ball = _drawing(vectors.ball)
    bernoulli = _drawing(discrete.bernoulli)
    beta = _drawing(gammas.beta)
    binomial = _drawing(counts.binomial)
    bits = _drawing(discrete.bits)
    categorical = _drawing(selections.categorical)
    cauchy = _drawing(continuous.cauchy)
    chisquare = _drawing(gammas.chisquare)
    choice = _drawing(selections.choice)
    dirichlet = _drawing(gammas.dirichlet)
    double_sided_maxwell = _drawing(parametric.double_sided_maxwell)
    dropout_mask = _drawing(discrete.dropout_mask)
    exponential = _drawing(continuous.exponential)
    f = _drawing(gammas.f)
    gamma = _drawing(gammas.gamma)
    generalized_normal = _drawing(gammas.generalized_normal)
    geometric = _drawing(counts.geometric)
    gumbel = _drawing(continuous.gumbel)
    laplace = _drawing(continuous.laplace)
    loggamma = _drawing(gammas.loggamma)
    logistic = _drawing(continuous.logistic)
    lognormal = _drawing(parametric.lognormal)
    maxwell = _drawing(parametric.maxwell)
    multinomial = _drawing(counts.multinomial)
    multivariate_normal = _drawing(vectors.multivariate_normal)
    normal = _drawing(continuous.normal)
    orthogonal = _drawing(vectors.orthogonal)
    pareto = _drawing(parametric.pareto)
    permutation = _drawing(selections.permutation)
    poisson = _drawing(counts.poisson)
    rademacher = _drawing(discrete.rademacher)
    randint = _drawing(discrete.randint)
    rayleigh = _drawing(parametric.rayleigh)
    student_t = _drawing(gammas.student_t)
    triangular = _drawing(parametric.triangular)
    truncated_normal = _drawing(continuous.truncated_normal)
    uniform = _drawing(continuous.uniform)
    wald = _drawing(parametric.wald)
    weibull_min = _drawing(parametric.weibull_min)
