"""Carries and results of branches and loops: nests that must keep structure, shapes and dtypes.

A `Form` is a nest without its arrays. Backends loop over tuples of arrays: they call functions
that rebuild the nests, call the user's function, and check its result against an `Expected`. So
an error names the leaf, on every backend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

from nestarray import backends, dtypes, ops, tree
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.errors import DtypeError, ShapeError, StructureError
from nestarray.transforms.arguments import backend_of_leaf, describe, name_of
from nestarray.typing import NUMBERS, Array, Nest


class _Array:
    """The placeholder of an array in a `Form`."""

    def __repr__(self) -> str:
        return "an array"


ARRAY = _Array()


class Form(NamedTuple):
    """The structure of a nest, and its leaves other than arrays.

    Attributes:
        structure: the structure from `tree.flatten`.
        rest: the leaves, with `ARRAY` for each array.
        unfused: whether fused Containers were flattened to their leaves.
        is_tuple: whether the nest is a tuple of arrays, as in loops of graphs.
    """

    structure: tree.Structure
    rest: tuple[Any, ...]
    unfused: bool
    is_tuple: bool

    def nest(self, arrays: Sequence[Any]) -> Nest:
        """Rebuild the nest with these arrays."""
        if self.is_tuple:
            return tuple(arrays)
        given = iter(arrays)
        filled = [next(given) if leaf is ARRAY else leaf for leaf in self.rest]
        return tree.unflatten(self.structure, filled)

    @property
    def key(self) -> Any:
        """A value equal for equal forms; hashable if the leaves are."""
        return self.structure.key, tuple([(type(x), x) for x in self.rest])

    def path(self, place: int) -> str:
        """The path of an array by its number, for messages: ``" at 'a/b'"``."""
        marked = [ARRAY] * len(self.rest)
        numbers = [i for i, leaf in enumerate(self.rest) if leaf is ARRAY]
        marked[numbers[place]] = _HERE  # type: ignore[call-overload]
        found = next(_places(tree.unflatten(self.structure, marked), _HERE, ()), ())
        return _at(found)


_HERE = _Array()


def _places(nest: Nest, leaf: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if nest is leaf:
        yield path
    elif isinstance(nest, Container) and nest.spec.kind == "leaf":
        yield from _places(nest.leaves()[0], leaf, path)
    elif isinstance(nest, Mapping):
        for key in nest:
            yield from _places(nest[key], leaf, (*path, key))
    elif isinstance(nest, (list, tuple)):
        for i, item in enumerate(nest):
            yield from _places(item, leaf, (*path, i))


def _at(path: tuple[Any, ...]) -> str:
    return f" at {'/'.join(map(str, path))!r}" if path else ""


def take_apart(
    nest: Nest, *, unfused: bool = False, numbers: bool = False
) -> tuple[tuple[Any, ...], Form]:
    """Split a nest into its arrays and its form; with `numbers`, Python numbers count as arrays."""
    leaves, structure = tree.flatten(nest, unfused=unfused)
    places = [is_array(leaf) or (numbers and isinstance(leaf, NUMBERS)) for leaf in leaves]
    pairs = list(zip(leaves, places, strict=True))
    rest = tuple([ARRAY if hit else leaf for leaf, hit in pairs])
    is_tuple = type(nest) is tuple and all(places) and structure.outer == (None,) * len(rest)
    arrays = tuple([leaf for leaf, hit in pairs if hit])
    return arrays, Form(structure, rest, unfused, is_tuple)


def is_array(x: Any) -> bool:
    """Whether `x` is an array or a traced array."""
    return backend_of_array(x) is not None


def backend_of_array(x: Any) -> str | None:
    """The backend of an array or a traced array; torch.compile can trace this function."""
    return backend_of_leaf(x) or getattr(x, "__traced_backend__", None)


class Aval(NamedTuple):
    """Shape and dtype of an array; with `number`, of a Python number, whose dtype is weak."""

    shape: tuple[int | None, ...] | None
    dtype: dtypes.DType
    number: Any = None

    @classmethod
    def of(cls, x: Any, backend: str) -> Aval:
        """The aval of an array, or of a number that becomes an array of `backend`."""
        if is_array(x):
            return cls(shape_of(x), _dtype_of(x))
        zero = next(t for t in NUMBERS if isinstance(x, t))()
        native = backends.core(backend).native_dtype(dtypes.scalar_dtype(zero))
        return cls((), dtypes.as_dtype(native), zero)

    def __str__(self) -> str:
        if self.number is not None:
            return f"a number ({type(self.number).__name__})"
        return f"an array of {self.dtype}, shape {self.shape}"

    def has_shape(self, shape: tuple[int | None, ...] | None) -> bool:
        """Whether `shape` is compatible; None is a size or rank that a graph does not know."""
        if shape == self.shape or shape is None or self.shape is None:
            return True
        return len(shape) == len(self.shape) and all(
            a == b or a is None or b is None for a, b in zip(shape, self.shape, strict=True)
        )

    def is_weaker_than(self, other: Aval) -> bool:
        """Whether this is a number that takes the dtype of `other` in promotion."""
        if self.number is None:
            return False
        return dtypes.result_dtype(other.dtype, self.number) is other.dtype


def _dtype_of(x: Any) -> Any:
    """The dtype of an array. JAX's typed keys have no `DType`, so their dtype is JAX's own."""
    return _the_one(x.dtype) if dtypes.is_key(x) else dtypes.dtype_of(x)


@cache
def _the_one(dtype: Any) -> Any:
    """The first of equal dtypes, because dtypes are compared by identity."""
    return dtype


def avals_of(values: Iterable[Any], backend: str) -> tuple[Aval, ...]:
    """The avals of arrays and numbers."""
    return tuple([Aval.of(x, backend) for x in values])


def shape_of(x: Any) -> tuple[int | None, ...] | None:
    """The shape of an array; None for a size or rank that a TensorFlow graph does not know."""
    try:
        return tuple(x.shape)
    except ValueError:  # a TensorShape of unknown rank
        return None


class Widened(Exception):
    """A number was promoted to a higher dtype than the loop assumed; the loop is traced again."""


def repeat_until_stable(loop: Callable[[], Any]) -> Any:
    """Run `loop` until no number in its carry changes dtype, and return its result."""
    while True:
        try:
            return loop()
        except Widened:  # ends: a dtype only goes up
            continue


class Expected:
    """The form and avals that results of a function must have; the first result sets them if unset.

    Args:
        name: the public function, for messages.
        what: the role of the result, for messages: ``"carry"``.
        source: the value with the expected form, for messages: ``"init"``.
        backend: the backend of the arrays.
        form: the expected form, if known, together with `avals`.
        unfused: flatten fused Containers to their leaves.
    """

    def __init__(
        self,
        name: str,
        what: str,
        source: str,
        backend: str,
        form: Form | None = None,
        avals: tuple[Aval, ...] = (),
        *,
        unfused: bool = False,
    ) -> None:
        self.name, self.what, self.source = name, what, source
        self.form, self.avals = form, avals
        self._backend, self._unfused = backend, unfused

    def unset(self) -> Expected:
        """A copy whose form is not yet set."""
        return Expected(self.name, self.what, self.source, self._backend, unfused=self._unfused)

    def nest(self, arrays: Sequence[Any]) -> Nest:
        """Rebuild the expected nest with these arrays."""
        assert self.form is not None, "no result has been seen"
        return self.form.nest(arrays)

    def start(self, given: Sequence[Any], like: Any) -> tuple[Array, ...]:
        """Convert the numbers among `given` to arrays."""
        pairs = zip(given, self.avals, strict=True)
        return tuple([x if is_array(x) else _number(x, aval, like) for x, aval in pairs])

    def arrays(self, nest: Nest, fn: Callable[..., Any], like: Any) -> tuple[Array, ...]:
        """Check a result of `fn` and return its arrays; numbers become arrays on `like`'s device.

        Raises:
            StructureError, ShapeError, DtypeError: the result differs from the expectation.
            Widened: the result is correct if an earlier number takes another dtype.
        """
        if type(nest) is tuple and self._are_as_before(nest):
            return nest
        given, form = take_apart(nest, unfused=self._unfused, numbers=True)
        if self.form is None:
            self.form, self.avals = form, avals_of(given, self._backend)
        elif not (form.structure.is_like(self.form.structure) and form.rest == self.form.rest):
            nest = self._like(self.nest([ARRAY] * len(self.avals)), nest, (), fn)
            given, form = take_apart(nest, unfused=self._unfused, numbers=True)
        avals = tuple([self._joined(fn, i, x) for i, x in enumerate(given)])
        if avals != self.avals:
            self.avals = avals
            raise Widened
        return self.start(given, like)

    def _are_as_before(self, values: tuple[Any, ...]) -> bool:
        """Whether values are the arrays of the expected form; quick, for loops that run in Python."""
        if self.form is None or not self.form.is_tuple or len(values) != len(self.avals):
            return False
        return all(map(_has, values, self.avals))

    def _joined(self, fn: Callable[..., Any], place: int, x: Any) -> Aval:
        """The aval expected at `place` after a result `x`."""
        want, got = self.avals[place], Aval.of(x, self._backend)
        if want.has_shape(got.shape):
            if got.dtype is want.dtype or got.is_weaker_than(want):
                return want
            if want.is_weaker_than(got):
                return got
        assert self.form is not None
        is_shape = not want.has_shape(got.shape)
        hint = "" if is_shape else "; na.astype casts"
        raise (ShapeError if is_shape else DtypeError)(
            f"{self.name}: {self.what}{self.form.path(place)}: {name_of(fn)} returned {got}, "
            f"expected {want}, as {self.source} has it{hint}"
        )

    def _like(self, want: Nest, got: Nest, path: tuple[Any, ...], fn: Any) -> Nest:
        """Reorder `got` to the keys of `want`, and fuse it if `want` is fused; else raise."""
        if isinstance(want, Container) and isinstance(got, Container):
            order = got.spec.permutation_to(want.spec)
            if order is None:
                self._refuse(want, got, path, fn)
            leaves = [got.leaves()[i] for i in order]
            pairs = zip(want.spec.path_names, want.leaves(), leaves, strict=True)
            for name, a, b in pairs:
                self._like(a, b, (*path, name) if name else path, fn)
            made = from_leaves(want.spec, tuple(leaves))
            is_fused = not isinstance(want._flat()[1], type(want.spec))
            return made.fuse() if is_fused else made  # type: ignore[attr-defined]
        if isinstance(want, Container) or isinstance(got, Container):
            self._refuse(want, got, path, fn)
        if isinstance(want, Mapping):
            if not isinstance(got, Mapping) or set(got) != set(want):
                self._refuse(want, got, path, fn)
            return {key: self._like(want[key], got[key], (*path, key), fn) for key in want}
        if isinstance(want, (list, tuple)):
            if type(got) is not type(want) or len(got) != len(want):
                self._refuse(want, got, path, fn)
            items = [self._like(a, b, (*path, i), fn) for i, (a, b) in enumerate(zip(want, got))]
            return type(want)(*items) if hasattr(want, "_fields") else type(want)(items)  # type: ignore[call-arg]
        got_array = is_array(got) or isinstance(got, NUMBERS)
        if got_array if want is not ARRAY else not got_array:
            self._refuse(want, got, path, fn)
        if want is not ARRAY and want != got:
            self._refuse(want, got, path, fn)
        return got

    def _refuse(self, want: Nest, got: Nest, path: tuple[Any, ...], fn: Any) -> NoReturn:
        raise StructureError(
            f"{self.name}: {self.what}{_at(path)}: {name_of(fn)} returned {_shown(got)}, expected "
            f"{_shown(want)}, as {self.source} has it"
        )


def _has(x: Any, aval: Aval) -> bool:
    """Whether `x` is an array of this shape and dtype."""
    return is_array(x) and shape_of(x) == aval.shape and _dtype_of(x) is aval.dtype


def _number(x: Any, aval: Aval, like: Any) -> Array:
    return ops.full((), x, dtype=aval.dtype, like=like)


def _shown(nest: Nest) -> str:
    if isinstance(nest, Mapping):
        if isinstance(nest, Container) and nest.spec.kind == "leaf":
            return "a Container of one array"
        kind = "a Container" if isinstance(nest, Container) else f"a {type(nest).__name__}"
        return f"{kind} with the keys {list(nest)!r}"
    if isinstance(nest, (list, tuple)):
        return f"a {type(nest).__name__} of {len(nest)}"
    if nest is ARRAY:
        return "an array"
    return describe(nest) if is_array(nest) else repr(nest)
