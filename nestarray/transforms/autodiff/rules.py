"""The kinds of differentiation rules.

`push` multiplies tangents with the Jacobian, `pull` cotangents with its conjugate transpose, which
for a real function of complex numbers gives the direction of steepest ascent. Each kind derives
both from one description.

- `Elementwise`: the partial derivatives; forward multiplies, reverse multiplies with the
  conjugate and sums over the axes that were broadcast.
- `OfResult`: the partial derivative as a function of the result.
- `Signed`: a sum of the operands or of their negatives.
- `Linear`: the op itself forward, its transpose in reverse.
- `Multilinear`: a transpose for each operand; forward is the product rule.
- `Weighted`: a reduction Σ wᵢ tᵢ along axes.
- `Pushed`: only the product with the Jacobian, a formula linear in the tangents; reverse
  mode over that formula is its transpose.
- `Composed`: equivalent ops, where the op's own body cannot be used.
- `CONSTANT`: piecewise constant, so the result is a plain array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nestarray import dtypes, ops
from nestarray.numerics.axes import many_axes
from nestarray.transforms.autodiff.reverse import vjp

#: The number of a positional argument; for one in a sequence, with its number there.
Place = int | tuple[int, int]


class Call(NamedTuple):
    """A call of an op, with the arguments of the current level replaced by their values."""

    function: Callable[..., Any]
    args: list[Any]
    kwargs: dict[str, Any]
    y: Any

    def at(self, place: Place) -> Any:
        """The argument at a place."""
        return self.args[place] if isinstance(place, int) else self.args[place[0]][place[1]]


class Like(NamedTuple):
    """Shape and dtype of an array, for a pullback that needs no elements."""

    shape: tuple[int, ...]
    dtype: Any


def like(x: Any) -> Like:
    """The shape and dtype of an array."""
    return Like(x.shape, x.dtype)


Tangents = dict[Place, Any]
Pullback = Callable[[Any], list[Any]]


class Rule:
    """The derivative of an op; the kinds below implement `push` and `pull`."""

    #: if one of these settings is given, the op's body is differentiated instead
    without: frozenset[str] = frozenset()

    def push(self, call: Call, tangents: Tangents) -> Any:
        """The tangent of the result, a tuple for several results; None for zero."""
        raise AssertionError(type(self))

    def pull(self, call: Call, places: list[Place]) -> Pullback:
        """Return the map from the result's cotangent to the cotangents at `places` (None for zero)."""
        raise AssertionError(type(self))


CONSTANT = Rule()


class Composed(Rule):
    """Other ops that compute the same: `function` takes the arguments of the op."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


class Elementwise(Rule):
    """∂y/∂xᵢ as functions of ``(y, *x)`` that give an array or a number; None for zero."""

    def __init__(self, *partials: Callable[..., Any] | None) -> None:
        self.partials = partials

    def push(self, call: Call, tangents: Tangents) -> Any:
        total = None
        for place, tangent in tangents.items():
            partial = self.partials[place]  # type: ignore[index]
            if partial is not None:
                term = _times(tangent, partial(call.y, *call.args))
                total = term if total is None else ops.add(total, term)
        return None if total is None else spread(total, call.y)

    def pull(self, call: Call, places: list[Place]) -> Pullback:
        _, args, _, y = call
        if len(places) == 1:  # the most common case
            (place,) = places
            partial, x = self.partials[place], args[place]  # type: ignore[index]
            if partial is None:
                return lambda ct: [None]
            return lambda ct: [fit(_times(ct, conj(partial(y, *args))), x)]

        def back(ct: Any) -> list[Any]:
            found = []
            for place in places:
                partial = self.partials[place]  # type: ignore[index]
                found.append(
                    None
                    if partial is None
                    else fit(_times(ct, conj(partial(y, *args))), args[place])  # type: ignore[index]
                )
            return found

        return back


class OfResult(Elementwise):
    """∂y/∂x as a function of y alone: reverse mode need not keep the operand."""

    def __init__(self, partial: Callable[[Any], Any]) -> None:
        super().__init__(lambda y, x: partial(y))
        self.partial = partial

    def pull(self, call: Call, places: list[Place]) -> Pullback:
        y, partial = call.y, self.partial
        return lambda ct: [fit(_times(ct, conj(partial(y))), y)]


class Signed(Elementwise):
    """The operands added up, each times its sign."""

    def __init__(self, *signs: int) -> None:
        super().__init__(*[lambda y, *x, sign=sign: sign for sign in signs])
        self.signs = signs

    def pull(self, call: Call, places: list[Place]) -> Pullback:
        parts = [(self.signs[i], like(call.args[i])) for i in places]  # type: ignore[index]
        return lambda ct: [fit(_times(ct, sign), x) for sign, x in parts]


class Linear(Rule):
    """Linear in the first argument: ``transpose(ct, x, *settings)`` multiplies with Lᴴ.

    The transpose gets the shape and dtype of x. `fit` sums its result over broadcast axes and casts it.
    """

    def __init__(self, transpose: Callable[..., Any]) -> None:
        self.transpose = transpose

    def push(self, call: Call, tangents: Tangents) -> Any:
        return call.function(tangents[0], *call.args[1:], **call.kwargs)

    def pull(self, call: Call, places: list[Place]) -> Pullback:
        first, *settings = call.args
        x, kwargs, transpose = like(first), call.kwargs, self.transpose
        if not isinstance(call.y, (tuple, list)):
            return lambda ct: [fit(transpose(ct, x, *settings, **kwargs), x)]
        results = [like(y) for y in call.y]

        def back(parts: list[Any]) -> list[Any]:
            pairs = zip(parts, results, strict=True)
            ct = [np.zeros(y.shape, y.dtype) if part is None else part for part, y in pairs]
            return [fit(transpose(ct, x, *settings, **kwargs), x)]

        return back


class Multilinear(Rule):
    """Linear in each of some arguments: ``transposes[i](ct, *args)`` is the cotangent of argument i.

    Of the argument itself a transpose gets the shape and dtype where it alone is differentiated.
    """

    def __init__(self, *transposes: Callable[..., Any]) -> None:
        self.transposes = transposes

    def push(self, call: Call, tangents: Tangents) -> Any:
        total = None
        for place, tangent in tangents.items():
            args = [tangent if i == place else x for i, x in enumerate(call.args)]
            term = call.function(*args, **call.kwargs)
            total = term if total is None else ops.add(total, term)
        return spread(total, call.y)

    def pull(self, call: Call, places: list[Place]) -> Pullback:
        _, args, kwargs, _ = call
        if len(places) == 1:
            args = [like(x) if i == places[0] else x for i, x in enumerate(args)]
        return lambda ct: [
            fit(self.transposes[i](ct, *args, **kwargs), args[i])  # type: ignore[index]
            for i in places
        ]


class Weighted(Rule):
    """y = f(x) along axes with ∂y = Σ wᵢ ∂xᵢ; ``weights(y, x, axes)`` sees y with its axes kept."""

    def __init__(self, weights: Callable[[Any, Any, tuple[int, ...]], Any]) -> None:
        self.weights = weights

    def _weights(self, call: Call) -> Any:
        x = call.args[0]
        axes = many_axes(call.kwargs.get("axis"), len(x.shape), "axis")
        return self.weights(kept(call.y, x, axes), x, axes), axes

    def push(self, call: Call, tangents: Tangents) -> Any:
        weights, axes = self._weights(call)
        keepdims = call.kwargs.get("keepdims", False)
        product = ops.multiply(weights, tangents[0])
        return spread(ops.sum(product, axis=axes, keepdims=keepdims), call.y)

    def pull(self, call: Call, places: list[Place]) -> Pullback:
        x = call.args[0]

        def back(ct: Any) -> list[Any]:
            weights, axes = self._weights(call)
            return [fit(ops.multiply(kept(ct, x, axes), conj(weights)), x)]

        return back


class Pushed(Rule):
    """``formula(call, tangents)``, the product with the Jacobian, linear in the tangents.

    `tangents` has an entry for each differentiated place. The formula returns the tangent of the
    result, or for several results a tuple of tangents, with None for constant ones.
    """

    def __init__(self, formula: Callable[[Call, Tangents], Any]) -> None:
        self.formula = formula

    def push(self, call: Call, tangents: Tangents) -> Any:
        return self.formula(call, tangents)

    def pull(self, call: Call, places: list[Place]) -> Pullback:
        return lambda ct: transposed(
            lambda tangents: self.formula(call, dict(zip(places, tangents, strict=True))),
            [call.at(place) for place in places],
            ct,
        )


class Jacobian(Rule):
    """Both products as given functions, for ops of sequences and for speed."""

    def __init__(
        self,
        push: Callable[[Call, Tangents], Any],
        pull: Callable[[Call, list[Place]], Pullback],
    ) -> None:
        self.push, self.pull = push, pull  # type: ignore[method-assign]


def transposed(formula: Callable[[list[Any]], Any], like: list[Any], ct: Any) -> list[Any]:
    """The transpose of a linear function of arrays like `like`, applied to `ct`.

    Results without a cotangent are omitted.
    """
    several = isinstance(ct, list)
    given = ct if several else [ct]
    used: list[int] = []

    def flat(*tangents: Any) -> tuple[tuple[Any, ...], tuple[()]]:
        found = formula(list(tangents))
        parts = found if several else (found,)
        wanted = [
            part is not None and ct is not None for part, ct in zip(parts, given, strict=True)
        ]
        used[:] = [i for i, hit in enumerate(wanted) if hit]
        return tuple([parts[i] for i in used]), ()

    pull = vjp(flat, [ops.zeros_like(x) for x in like], "transposed", once=True)[2]
    return pull([given[i] for i in used])


def fit(ct: Any, x: Any) -> Any:
    """A cotangent summed over the broadcast axes of `x` and cast to its dtype."""
    if ct is None:
        return None
    if ct.shape != x.shape:
        ct = summed_to(ct, x.shape)
    return ct if ct.dtype == x.dtype else _cast(ct, x)


def spread(tangent: Any, y: Any) -> Any:
    """A tangent broadcast to the shape of `y` and cast to its dtype."""
    if tangent.shape != y.shape:
        tangent = ops.broadcast_to(tangent, y.shape)
    return tangent if tangent.dtype == y.dtype else _cast(tangent, y)


def summed_to(ct: Any, shape: tuple[int, ...]) -> Any:
    """The transpose of `broadcast_to`."""
    extra = len(ct.shape) - len(shape)
    axes = [i for i, n in enumerate(ct.shape) if i < extra or (shape[i - extra] == 1 and n != 1)]
    if axes:
        ct = ops.sum(ct, axis=tuple(axes))
    return ct if ct.shape == shape else ops.reshape(ct, shape)


def kept(y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """A reduction of `x` along `axes` with these axes of length 1."""
    return ops.reshape(y, tuple([1 if i in axes else n for i, n in enumerate(x.shape)]))


def is_complex(x: Any) -> bool:
    """Whether an array is complex."""
    return x.dtype.kind == "c"


def _cast(x: Any, like: Any) -> Any:
    if is_complex(x) and not is_complex(like):
        x = ops.real(x)
    return ops.astype(x, dtypes.dtype_of(like))


def _times(x: Any, factor: Any) -> Any:
    if factor.__class__ is int:
        if factor == 1:
            return x
        if factor == -1:
            return ops.negative(x)
    return ops.multiply(x, factor)


def conj(factor: Any) -> Any:
    """The complex conjugate; a real array or number is returned unchanged."""
    if hasattr(factor, "dtype"):
        return ops.conj(factor) if is_complex(factor) else factor
    return factor.conjugate()
