"""`Schema`: paths, shapes and dtypes that a Container must have; checked on demand.

A schema is a list of entries: a path pattern (`nestarray.comparison.path_patterns`) and words that
describe the leaves (`nestarray.comparison.axes`). It is created from a class with annotations,
from a dict, from its printed text, or from a Container.
"""

from __future__ import annotations

import collections.abc
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast, overload

from nestarray.comparison.axes import Sizes, Words, shape_of
from nestarray.comparison.path_patterns import Found, Pattern, escaped, escaped_path
from nestarray.container import Container
from nestarray.container.leaf import array_text
from nestarray.container.spec import join_path
from nestarray.display.sections import HasSections, Sections
from nestarray.display.table import Table
from nestarray.dtypes import DType, as_dtype
from nestarray.errors import ArgumentError, DtypeError, SchemaError, signatures
from nestarray.errors.signatures import signature_errors
from nestarray.errors.text import counted
from nestarray.errors.unknown_names import nearest_name

Model = TypeVar("Model")  # the class with annotations
_SHOWN = 20
_FRAMEWORKS = ("numpy", "jax", "jaxlib", "torch", "tensorflow")
_EXTRA = "**?", "<any>"


class Entry(NamedTuple):
    """A path pattern and the words for its leaves."""

    pattern: Pattern
    words: Words


class Schema(HasSections, Generic[Model]):
    """The paths, shapes and dtypes that a Container must have.

    An entry is a path and words: ``"encoder/*/weight": "out in float32"``.

    - In a path, ``*`` matches any key, ``**`` any keys, and ``{i}`` a key that the words can
      use; a key with ``?`` at the end may be missing, or None. A path with ``*`` applies to each
      matching node, so every layer must have each weight that is not optional.
    - Words are axes, as in einops: a name is the same size wherever it occurs in one check, a
      number is an exact size, ``_`` is one axis of any size, ``...`` any number of axes,
      ``*batch`` any number of axes with a name, ``(heads d)`` a product. ``./out`` is a
      separate name for each node (prefixed with its path), ``out{i}`` one for each key.
    - The last word may be a dtype, a kind of dtypes (``floating``, ``integer``, ``signed``,
      ``unsigned``, ``complex``, ``inexact``, ``numeric``), or several joined by ``|``.
      Without axes the leaf is a 0-d array or a Python number.
    - ``<str>`` is a leaf of a Python type, ``<any>`` any leaf.

    A class has a leaf for each annotation: ``Annotated[Array, "out in float32"]``, where the
    first string and a `DType` are read. ``X | None`` or ``NotRequired[X]`` is optional, another
    class with annotations is a node, and ``list[X]``, ``tuple[X, ...]`` and ``dict[str, X]``
    are nodes whose children are all X. A plain array type matches an array of any shape,
    ``Any`` any leaf, `Container` any tree. Annotations of jaxtyping,
    ``Float[Array, "out in"]``, are supported. Static fields of a dataclass (Equinox, Flax) are
    ignored. For type checkers, `typed` returns an instance of such a class.

    Args:
        source: a class with annotations (a plain class, a dataclass, a ``TypedDict``), a
            mapping of paths to words, dtypes, schemas, classes or mappings, or the text of
            a schema, with an entry ``path: words`` on each line.
        extra: allow leaves without an entry.

    Raises:
        ArgumentError: an entry is invalid; the message names it.

    Example:
        >>> from typing import Annotated
        >>> import numpy as np, nestarray as na
        >>> class Linear:
        ...     weight: Annotated[np.ndarray, "out in", na.float32]
        ...     bias: Annotated[np.ndarray, "out"] | None
        >>> schema = na.Schema(Linear)
        >>> print(schema)
        weight: out in float32
        bias?: out
        >>> c = na.Container(weight=np.ones((3, 4), "float32"), bias=np.zeros(3))
        >>> schema.check(c)
        {'out': 3, 'in': 4}
        >>> schema.check(c.set("bias", np.zeros(5)))
        Traceback (most recent call last):
            ...
        nestarray.errors.SchemaError: Schema.check: 1 violation:
          bias: has the shape (5,), expected `out`: out is 5 here, 3 in 'weight'
    """

    __slots__ = ("entries",)
    entries: tuple[Entry, ...]

    @overload
    def __init__(self, source: type[Model], *, extra: bool = False) -> None: ...
    @overload
    def __init__(self: Schema[Any], source: Any, *, extra: bool = False) -> None: ...
    @signature_errors()
    def __init__(self, source: Any, *, extra: bool = False) -> None:
        pairs = list(_lines(source) if isinstance(source, str) else _pairs("", source, ()))
        if extra and _EXTRA not in pairs:
            pairs.append(_EXTRA)
        self.entries = tuple(_entry(path, words) for path, words in pairs)

    @classmethod
    def of(cls, c: Any, /) -> Schema[Any]:
        """The schema of exactly this tree: its paths, sizes and dtypes.

        Args:
            c: a Container, or any argument of `Container`.

        Returns:
            a schema with an entry for each leaf: the Python type of a leaf that is not an array,
            and ``_`` for unknown sizes.

        Example:
            >>> import numpy as np, nestarray as na
            >>> print(na.Schema.of(na.Container(a={"w": np.ones((2, 3))}, rate=0.1)))
            a/w: 2 3 float64
            rate: <float>
        """
        c = c if isinstance(c, Container) else Container(c)
        return cls(
            {
                escaped_path(path): _words_of(leaf)
                for path, leaf in zip(c.spec.paths, c.leaves(), strict=True)
            }
        )

    def check(self, c: Any, /, **sizes: int) -> dict[str, Any]:
        """The sizes of the names; raises an error that lists all violations.

        Only shapes and dtypes are read, so it also checks arrays under tracing.

        Args:
            c: a Container, or any argument of `Container`.
            **sizes: known sizes of names.

        Returns:
            name → size, a tuple of sizes for ``*name``.

        Raises:
            SchemaError: `c` violates the schema; ``error.violations`` lists all
                (path, violation).

        Example:
            >>> import numpy as np, nestarray as na
            >>> schema = na.Schema({"x": "batch features floating", "y": "batch integer"})
            >>> schema.check({"x": np.ones((8, 3)), "y": np.arange(8)}, features=3)
            {'features': 3, 'batch': 8}
        """
        found, violations = self._compare(c, sizes)
        if not violations:
            return found
        count = len(violations)
        lines = [f"  {path or '.'}: {text}" for path, text in violations[:_SHOWN]]
        if count > _SHOWN:
            lines.append(f"  … and {count - _SHOWN} more; all are in error.violations")
        head = f"Schema.check: {counted(count, 'violation')}:"
        raise SchemaError("\n".join([head, *lines]), tuple(violations))

    def typed(self, c: Any, /, **sizes: int) -> Model:
        """`c`, checked, with the class of the schema as its type for type checkers.

        Args:
            c: a Container, or any argument of `Container`.
            **sizes: known sizes of names.

        Returns:
            the Container, with None for missing optional leaves. As in any Container, a method
            has priority over a leaf of the same name.

        Raises:
            SchemaError: as `check` does.

        Example:
            >>> from typing import Annotated
            >>> import numpy as np, nestarray as na
            >>> class Linear:
            ...     weight: Annotated[np.ndarray, "out in"]
            ...     bias: Annotated[np.ndarray, "out"] | None
            >>> model = na.Schema(Linear).typed({"weight": np.ones((3, 4))})
            >>> model.weight.shape, model.bias
            ((3, 4), None)
        """
        c = c if isinstance(c, Container) else Container(c)
        self.check(c, **sizes)
        for pattern, _ in self.entries:
            for found in pattern.find(c.spec) if pattern.is_optional else ():
                if found.index is None:
                    c = c.set(found.path, None)
        return cast("Model", c)

    def matches(self, c: Any, /, **sizes: int) -> bool:
        """Whether `check` finds nothing wrong.

        Example:
            >>> import numpy as np, nestarray as na
            >>> schema = na.Schema({"**": "n n floating"})
            >>> schema.matches({"a": np.eye(3)}), schema.matches({"a": np.ones((3, 2))})
            (True, False)
        """
        return not self._compare(c, sizes)[1]

    def __str__(self) -> str:
        return "\n".join(
            f"{entry.pattern.text}: {entry.words.text}".rstrip() for entry in self.entries
        )

    def __repr__(self) -> str:
        return "Schema(\n" + "".join(f"  {line}\n" for line in str(self).split("\n")) + ")"

    def _sections(self) -> Sections:
        table = Table(
            {
                "path": [entry.pattern.text for entry in self.entries],
                "leaf": [entry.words.text for entry in self.entries],
            }
        )
        count = counted(len(self.entries), "entry", "entries")
        return Sections("Schema", [(count, table)], is_open=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    # -- checking --------------------------------------------------------------------------

    def _compare(self, c: Any, given: dict[str, int]) -> tuple[dict[str, Any], list[Any]]:
        c = c if isinstance(c, Container) else Container(c)
        sizes, named = Sizes(given), set()
        missing: list[tuple[str, str]] = []
        wrong: list[tuple[str, str]] = []
        for pattern, words in self.entries:
            for found in pattern.find(c.spec):
                if found.index is None:
                    missing.extend(_missing(c, pattern, words, found))
                    continue
                named.add(found.index)
                leaf = c.leaves()[found.index]
                if not (pattern.is_optional and leaf is None):
                    wrong.extend(_violations(words, leaf, found, sizes))
        extra = [  # None marks an omitted optional part
            path
            for i, (path, leaf) in enumerate(c.flat_items())
            if i not in named and leaf is not None
        ]
        missing = [(path, text + _nearest(path, extra)) for path, text in missing]
        names = [entry.pattern.text for entry in self.entries]
        surplus = [(p, "is not in the schema" + _nearest(p, names)) for p in extra]
        return sizes.values, [*wrong, *sizes.close(), *missing, *surplus]


def _violations(words: Words, leaf: Any, found: Found, sizes: Sizes) -> Iterator[tuple[str, str]]:
    path = join_path(found.path)
    problem = words.violation(leaf)
    if problem is not None:
        yield path, problem
        if array_text(leaf) is None:
            return
    scope = {".": join_path(found.path[:-1]), **found.captures}
    for text in sizes.bind(words, leaf, path, scope):
        yield path, text


def _missing(
    c: Container, pattern: Pattern, words: Words, found: Found
) -> Iterator[tuple[str, str]]:
    path = join_path(found.path)
    expected = f"`{words.text}`" if words.text else "a 0-d array"
    if found.path in c or not found.path:
        keys = c[found.path] if found.path else c
        if isinstance(keys, Container):
            yield path, f"is a node of {len(keys)} keys, expected {expected}"
            return
    if not pattern.is_optional:
        yield path, f"is missing, expected {expected}"


def _nearest(path: str, others: Sequence[str]) -> str:
    near = nearest_name(path, others[:1000], cutoff=0.85)
    return f"; the nearest is {near!r}" if near is not None else ""


# -- reading -----------------------------------------------------------------------------------


def _entry(path: str, words: str) -> Entry:
    pattern, parsed = Pattern(path), Words(words, f"path {path!r}")
    used = {name for axis in parsed.axes for name in _braces(axis)}
    if not used <= pattern.captures:
        name = min(used - pattern.captures)
        raise ArgumentError(
            f"Schema: path {path!r}: got {words!r}, in which {{{name}}} stands for a key; expected "
            f"a path with {{{name}}} in it"
        )
    return Entry(pattern, parsed)


def _braces(axis: str) -> list[str]:
    return [part.partition("}")[0] for part in axis.split("{")[1:]]


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.split("\n"):
        if not line.strip():
            continue
        path, words = _split(line)
        yield path.strip(), words.strip()


def _split(line: str) -> tuple[str, str]:
    position = 0
    while position < len(line) and line[position] != ":":
        position += 2 if line[position] == "\\" else 1
    if position >= len(line):
        raise ArgumentError(f"Schema: got the line {line!r}, expected 'path: words'")
    return line[:position], line[position + 1 :]


def _pairs(path: str, value: Any, outer: tuple[type, ...]) -> Iterator[tuple[str, str]]:
    """(path, words) of all entries that a value at `path` describes."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Schema):
        for entry in value.entries:
            yield _joined(path, entry.pattern.text), entry.words.text
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, (str, int)):
                raise ArgumentError(f"Schema: got the path {key!r}, expected a string")
            yield from _pairs(_joined(path, str(key)), inner, outer)
    elif isinstance(value, DType):
        yield path, f"... {value.name}"
    else:
        yield from _of_annotation(path, value, outer)


def _joined(path: str, inner: str) -> str:
    if not path or inner == ".":
        return inner or path
    return f"{path}/{inner}"


def _of_annotation(path: str, value: Any, outer: tuple[type, ...]) -> Iterator[tuple[str, str]]:
    origin, arguments = typing.get_origin(value), typing.get_args(value)
    if origin is typing.Annotated:
        words = _words_in(value.__metadata__)
        yield from [(path, words)] if words is not None else _pairs(path, arguments[0], outer)
    elif origin in (typing.Union, types.UnionType):
        kinds = [a for a in arguments if a is not type(None)]
        optional = path if len(kinds) == len(arguments) or path.endswith("?") else f"{path}?"
        entries = {tuple(_pairs(optional, kind, outer)) for kind in kinds}
        if len(entries) != 1:  # arrays of several frameworks are one entry
            raise ArgumentError(
                f"Schema: {path!r}: got {value!r}, expected one kind of leaf, or it and None"
            )
        yield from entries.pop()
    elif origin in (typing.NotRequired, typing.Required):
        is_optional = origin is typing.NotRequired and not path.endswith("?")
        yield from _pairs(f"{path}?" if is_optional else path, arguments[0], outer)
    elif isinstance(origin, type) and issubclass(origin, (Mapping, collections.abc.Sequence)):
        yield from _of_children(path, origin, arguments, outer)
    elif value is Any:
        yield path, "<any>"
    elif type(value).__module__.partition(".")[0] == "jaxtyping" and hasattr(value, "dim_str"):
        yield path, _of_jaxtyping(value)
    elif isinstance(value, type):
        yield from _of_class(path, value, outer)
    else:
        raise ArgumentError(
            f"Schema: {path or 'source'!r}: got {value!r}, expected words such as 'out in float32', "
            "a dtype, a class with annotations, or a mapping of these"
        )


def _words_in(metadata: tuple[Any, ...]) -> str | None:
    """The words in ``Annotated[X, "out in", na.float32]``; other metadata is ignored."""
    words = next((item for item in metadata if isinstance(item, str)), None)
    dtype = next((item for item in metadata if isinstance(item, DType)), None)
    if dtype is None:
        return words
    return f"{'...' if words is None else words} {dtype.name}"


def _of_children(
    path: str, origin: type, arguments: tuple[Any, ...], outer: tuple[type, ...]
) -> Iterator[tuple[str, str]]:
    if origin is tuple and arguments[-1:] != (...,):
        members = [(str(i), inner) for i, inner in enumerate(arguments)]
    else:
        members = [("*", arguments[0] if origin is tuple else arguments[-1])]
    for key, inner in members:
        yield from _pairs(_joined(path, key), inner, outer)


def _of_class(path: str, cls: type, outer: tuple[type, ...]) -> Iterator[tuple[str, str]]:
    if issubclass(cls, Container):
        yield _joined(path, _EXTRA[0]), _EXTRA[1]
        return
    if cls.__module__.partition(".")[0] in _FRAMEWORKS:
        yield path, _of_framework(cls)
        return
    hints = {} if cls.__module__ == "builtins" else _hints(cls)
    if not hints:
        if not path:
            raise ArgumentError(
                f"Schema: source: got {cls!r}, which has no annotations; expected a class such as "
                "class Linear: weight: Annotated[Array, 'out in float32']"
            )
        yield path, f"<{cls.__name__}>"
        return
    if cls in outer:
        raise ArgumentError(
            f"Schema: {path!r}: {cls.__name__} is part of itself, expected a finite tree"
        )
    partial = getattr(cls, "__optional_keys__", frozenset())
    for name, annotation in hints.items():
        key = escaped(name) + ("?" if name in partial else "")
        yield from _pairs(_joined(path, key), annotation, (*outer, cls))


#: jaxtyping's kinds of dtypes; its other classes name one or several dtypes.
_JAXTYPING = {
    "Float": "floating", "Int": "signed", "UInt": "unsigned", "Integer": "integer",
    "Real": "integer|floating", "Complex": "complex", "Inexact": "inexact", "Num": "numeric",
    "Bool": "bool", "Shaped": "",
}  # fmt: skip


def _of_jaxtyping(annotation: Any) -> str:
    """The words of ``Float[Array, "out in"]``.

    ``?name`` is a separate name for each node, ``name=4`` the number, and names that start with
    an underscore match any size. https://docs.kidger.site/jaxtyping/api/array/
    """
    axes = []
    for word in annotation.dim_str.split():
        axis = word.rpartition("=")[2]
        if axis.startswith(("_", "*_")):
            axis = "..." if axis[0] == "*" else "_"
        axes.append(f"./{axis[1:]}" if axis[0] == "?" else axis)
    kind = _JAXTYPING.get(annotation.dtype.__name__)
    return " ".join([*axes, "|".join(annotation.dtypes) if kind is None else kind]).rstrip()


def _of_framework(cls: type) -> str:
    try:
        return f"... {as_dtype(cls).name}"  # np.float32
    except DtypeError:
        return "..."


def _hints(cls: type) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except SyntaxError as error:  # words for axes, not an annotation
        raise ArgumentError(
            f"Schema: the annotations of {cls.__name__} cannot be read: {error.msg}. Words stand "
            "beside a type, weight: Annotated[Array, 'out in float32']"
        ) from error
    except NameError:
        try:
            # annotations as text in a class inside a function refer to names of that function
            hints = typing.get_type_hints(cls, localns=_names_of_caller(), include_extras=True)
        except NameError as error:
            raise ArgumentError(
                f"Schema: the annotations of {cls.__name__} cannot be read: {error}. Make the "
                "schema where the names in them are known, or leave out "
                "'from __future__ import annotations'"
            ) from error
    fields = getattr(cls, "__dataclass_fields__", {})
    return {
        name: hint
        for name, hint in hints.items()
        if typing.get_origin(hint) is not typing.ClassVar
        and not (name in fields and _is_static(fields[name].metadata))
    }


def _is_static(metadata: Mapping[str, Any]) -> bool:
    """Whether a field is static, as marked by Equinox, Flax or Chex."""
    return bool(metadata.get("static")) or not metadata.get("pytree_node", True)


def _names_of_caller() -> dict[str, Any]:
    """The names visible to the code that creates the schema."""
    frame = sys._getframe()
    own = (globals(), vars(signatures))
    while frame.f_back is not None and any(frame.f_globals is names for names in own):
        frame = frame.f_back
    return frame.f_globals | frame.f_locals


def _words_of(leaf: Any) -> str:
    if array_text(leaf) is None:
        return f"<{type(leaf).__name__}>"
    shape = shape_of(leaf)
    axes = ["..."] if shape is None else ["_" if d is None else str(int(d)) for d in shape]
    name = str(getattr(leaf.dtype, "name", leaf.dtype)).removeprefix("torch.")
    return " ".join([*axes, name])
