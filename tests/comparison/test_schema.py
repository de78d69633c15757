"""Schemas: read from classes, dicts, text and Containers; checked; printed and read again."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar, NotRequired, TypedDict

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Float, Float32, Int, Shaped

import nestarray as na
from nestarray.comparison.path_patterns import Pattern, escaped_path
from nestarray.config import BACKENDS, use_backend
from nestarray.errors import ArgumentError, SchemaError
from nestarray.typing import Array
from tests.abstract import on_abstract_arrays, on_unknown_shapes
from tests.trees import nests, roots, sample


def violations(schema: Any, c: Any, **sizes: int) -> list[str]:
    """What `check` finds, as ``path: text``; the schema is read again from its own text, too."""
    schema = na.Schema(schema)
    for same in (schema, na.Schema(str(schema))):
        try:
            same.check(c, **sizes)
        except SchemaError as error:
            found = [f"{path}: {text}" for path, text in error.violations]
            assert not same.matches(c, **sizes)
        else:
            found = []
            assert same.matches(c, **sizes)
    return found


def layer(out: int, into: int, dtype: str = "float32") -> dict[str, Any]:
    return {"weight": np.ones((out, into), dtype), "bias": np.zeros(out, dtype)}


# -- words --------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_names_are_sizes(backend: str) -> None:
    with use_backend(backend):
        c = na.Container(a={"w": na.ones((3, 4)), "b": na.ones((3,), dtype="bfloat16")})
    schema = na.Schema({"a/w": "out in float32", "a/b": "out bfloat16"})
    assert schema.check(c) == {"out": 3, "in": 4}
    assert schema.check(c, out=3) == {"out": 3, "in": 4}
    assert violations(schema, c, out=5) == [
        "a/w: has the shape (3, 4), expected `out in float32`: out is 3 here, 5 in the sizes given",
        "a/b: has the shape (3,), expected `out bfloat16`: out is 3 here, 5 in the sizes given",
    ]
    assert violations(schema, c.set("a/b", c["a/w"])) == [
        "a/b: has the dtype float32, expected bfloat16",
        "a/b: has 2 axes (3, 4), expected `out bfloat16`",
    ]


@pytest.mark.parametrize(
    ("words", "shape", "sizes"),
    [
        ("3 4", (3, 4), {}),
        ("_ n", (3, 4), {"n": 4}),
        ("", (), {}),
        ("...", (), {}),
        ("... n", (2, 3, 4), {"n": 4}),
        ("n ...", (2,), {"n": 2}),
        ("*batch n", (2, 3, 4), {"batch": (2, 3), "n": 4}),
        ("*batch n", (4,), {"batch": (), "n": 4}),
        ("a *b c", (1, 2, 3, 4), {"a": 1, "b": (2, 3), "c": 4}),
        ("n n", (4, 4), {"n": 4}),
        ("h (h d)", (2, 6), {"h": 2, "d": 3}),
        ("(h d) h", (6, 2), {"h": 2, "d": 3}),
        ("(3 d)", (12,), {"d": 4}),
        ("(2 3)", (6,), {}),
    ],
)
def test_axes_that_fit(words: str, shape: tuple[int, ...], sizes: dict[str, Any]) -> None:
    assert na.Schema({"x": words}).check({"x": np.ones(shape)}) == sizes


@pytest.mark.parametrize(
    ("words", "shape", "text"),
    [
        ("3 4", (3, 5), "has the shape (3, 5), expected `3 4`: 5 is not 4"),
        ("3 4", (2, 5), "has the shape (2, 5), expected `3 4`: 2 is not 3; 5 is not 4"),
        ("", (1,), "has 1 axis (1,), expected ``"),
        ("n", (), "has 0 axes (), expected `n`"),
        ("a b ...", (3,), "has 1 axis (3,), expected `a b ...`"),
        ("n n", (3, 4), "has the shape (3, 4), expected `n n`: n is 4 here, 3 in 'x'"),
        ("(3 d)", (10,), "has an axis of 10, expected (3 d): not a multiple of 3"),
        ("d (3 d)", (2, 10), "has an axis of 10, expected (3 d) = 6"),
        ("(0 d)", (10,), "has an axis of 10, expected (0 d): not a multiple of 0"),
        (
            "(h d)",
            (10,),
            "has an axis of 10, expected (h d): h and d are not known; give one of them with "
            "check(c, h=…)",
        ),
    ],
)
def test_axes_that_do_not_fit(words: str, shape: tuple[int, ...], text: str) -> None:
    assert violations({"x": words}, {"x": np.ones(shape)}) == [f"x: {text}"]


def test_products_are_solved_over_all_leaves() -> None:
    schema = {"qkv": "(3 h d) e", "out": "e (h d)", "scale": "h"}
    c = {"qkv": np.ones((24, 8)), "out": np.ones((8, 8)), "scale": np.ones(2)}
    assert na.Schema(schema).check(c) == {"e": 8, "h": 2, "d": 4}
    batch = na.Schema({"x": "*batch c", "flat": "(batch) c"})
    assert batch.matches({"x": np.ones((2, 3, 4)), "flat": np.ones((6, 4))})
    assert not batch.matches({"x": np.ones((2, 3, 4)), "flat": np.ones((5, 4))})


def test_batches_of_the_same_name() -> None:
    c = {"x": np.ones((2, 3, 4)), "y": np.ones((2, 4))}
    assert violations({"*": "*batch c"}, c) == [
        "y: has the shape (2, 4): batch is (2,) here, (2, 3) in 'x'"
    ]


@pytest.mark.parametrize(
    ("kind", "dtypes"),
    [
        ("floating", ["float16", "float32", "float64"]),
        ("integer", ["int8", "uint16", "int64"]),
        ("signed", ["int8", "int64"]),
        ("unsigned", ["uint8"]),
        ("complex", ["complex64"]),
        ("inexact", ["float32", "complex128"]),
        ("numeric", ["int8", "uint8", "float32", "complex64"]),
        ("bool", ["bool"]),
        ("float32|int64", ["float32", "int64"]),
        ("bool|floating", ["bool", "float16"]),
    ],
)
def test_dtypes(kind: str, dtypes: list[str]) -> None:
    everything = [d.name for d in na.dtypes.ALL if d is not na.bfloat16]
    schema = na.Schema({"x": f"... {kind}"})
    fits = [d for d in everything if schema.matches({"x": np.zeros((1, 2), d)})]
    assert set(dtypes) <= set(fits)
    if "|" not in kind:
        assert len({np.dtype(d).kind for d in fits}) == len({np.dtype(d).kind for d in dtypes})
    assert schema.matches({"x": np.zeros((), dtypes[0])})
    assert not schema.matches({"x": "text"})


def test_leaves_that_are_no_arrays() -> None:
    c = na.Container(name="net", rate=0.1, steps=3, nothing=None, flag=True)
    schema = na.Schema(
        {"name": "<str>", "rate": "floating", "steps": "<int>|<str>", "nothing": "<NoneType>",
         "flag": "bool"}
    )  # fmt: skip
    assert schema.check(c) == {}
    assert violations(schema, c.set("name", 1).set("rate", 1).set("steps", 1.0)) == [
        "name: is of type int, expected <str>",
        "rate: has the dtype int64, expected floating",
        "steps: is of type float, expected <int>|<str>",
    ]
    assert violations({"x": "3 float32"}, {"x": None}) == [
        "x: is of type NoneType, expected an array `3 float32`"
    ]
    assert na.Schema({"x": "<any>", "y": "<any>"}).matches({"x": object(), "y": np.ones(3)})


def test_dtypes_without_ops() -> None:
    import ml_dtypes

    c = na.Container(x=np.zeros(3, ml_dtypes.float8_e4m3fn), y=np.zeros(3, ml_dtypes.uint4))
    assert str(na.Schema.of(c)) == "x: 3 float8_e4m3fn\ny: 3 uint4"
    assert na.Schema.of(c).matches(c)
    assert na.Schema({"x": "_ floating", "y": "_ unsigned"}).matches(c)
    assert not na.Schema({"x": "_ float32", "y": "_ floating"}).matches(c)


# -- paths --------------------------------------------------------------------------------------


def test_what_is_missing_and_what_is_too_much() -> None:
    c = na.Container(encoder={"wieght": np.ones((3, 4)), "bias": np.ones(3)}, extra=1)
    schema = {"encoder/weight": "out in", "encoder/bias": "out", "head/scale": "in out"}
    with pytest.raises(SchemaError) as error:
        na.Schema(schema).check(c)
    assert str(error.value) == (
        "Schema.check: 4 violations:\n"
        "  encoder/weight: is missing, expected `out in`; the nearest is 'encoder/wieght'\n"
        "  head/scale: is missing, expected `in out`\n"
        "  encoder/wieght: is not in the schema; the nearest is 'encoder/weight'\n"
        "  extra: is not in the schema"
    )
    assert len(error.value.violations) == 4
    assert na.Schema({"extra": "<int>"}, extra=True).matches(c)
    assert na.Schema({"extra": "<int>", "**?": "<any>"}) == na.Schema(
        {"extra": "<int>"}, extra=True
    )


def test_a_long_list_of_violations_is_cut() -> None:
    with pytest.raises(SchemaError) as error:
        na.Schema({}).check({f"k{i}": i for i in range(30)})
    assert str(error.value).splitlines()[0] == "Schema.check: 30 violations:"
    assert str(error.value).splitlines()[-1] == "  … and 10 more; all are in error.violations"
    assert len(error.value.violations) == 30


def test_a_node_and_a_leaf_are_not_the_same() -> None:
    assert violations({"a": "3"}, {"a": {"b": np.ones(3)}}) == [
        "a: is a node of 1 keys, expected `3`",
        "a/b: is not in the schema",
    ]
    assert violations({"a/b": "3"}, {"a": np.ones(3)}) == [
        "a/b: is missing, expected `3`",
        "a: is not in the schema",
    ]


def test_each_node_that_a_pattern_fits() -> None:
    c = na.Container(layers=[layer(2, 3), layer(2, 3), {"bias": np.ones(2)}], step=1)
    schema = {"layers/*/weight": "o i", "layers/*/bias": "o", "step": "<int>"}
    assert violations(schema, c) == ["layers/2/weight: is missing, expected `o i`"]
    assert violations(schema | {"layers/*/weight?": "o i"}, c) == [
        "layers/2/weight: is missing, expected `o i`"
    ]
    del schema["layers/*/weight"]
    assert violations(schema | {"layers/*/weight?": "o i"}, c) == []
    assert violations(schema | {"lay*s/*/w*t": "o i"}, c) == []
    assert violations(schema, {"step": 1}) == ["layers/*/bias: is missing, expected `o`"]
    assert violations({"layers/*/bias": "o"}, {"layers": []}) == []


def test_anywhere() -> None:
    c = na.Container(a={"b": layer(3, 4)}, weight=np.ones((3, 4)))
    assert na.Schema({"**/weight": "o i", "**/bias": "o"}).check(c) == {"o": 3, "i": 4}
    assert na.Schema({"a/**": "...", "*": "..."}).matches(c)
    assert violations({"**/gain": "o", "**": "..."}, c) == ["**/gain: is missing, expected `o`"]
    assert violations({"**/gain?": "o", "**": "..."}, c) == []
    assert na.Schema({"**": "..."}).matches({}) is False
    assert na.Schema({"**?": "..."}).matches({})
    assert na.Schema({"**/**": "..."}).matches(c)


def test_sizes_of_one_node_and_of_one_key() -> None:
    c = na.Container(layers=[layer(2, 3), layer(4, 2)])
    own = na.Schema({"layers/*/weight": "./out ./in", "layers/*/bias": "./out"})
    sizes = {"layers/0/out": 2, "layers/0/in": 3, "layers/1/out": 4, "layers/1/in": 2}
    assert own.check(c) == sizes
    assert violations(own, c.set("layers/1/bias", np.ones(3))) == [
        "layers/1/bias: has the shape (3,), expected `./out`: layers/1/out is 3 here, 4 in "
        "'layers/1/weight'"
    ]
    keys = na.Schema({"layers/{i}/weight": "out{i} in{i}", "layers/{i}/bias": "out{i}"})
    assert keys.check(c) == {"out0": 2, "in0": 3, "out1": 4, "in1": 2}
    assert na.Schema({"x": "./n"}).check({"x": np.ones(3)}) == {"n": 3}
    assert na.Schema({"{a}/to_{a}": "..."}).matches({"x": {"to_x": np.ones(1)}})
    assert not na.Schema({"{a}/to_{a}": "..."}).matches({"x": {"to_y": np.ones(1)}})


def test_optional_parts() -> None:
    schema = {"a?/w": "n", "a?/b?": "n", "c?": "n"}
    assert violations(schema, {}) == []
    assert violations(schema, {"a": None, "c": None}) == []
    assert violations(schema, {"a": {"w": np.ones(2)}}) == []
    assert violations(schema, {"a": {"b": np.ones(2)}}) == ["a/w: is missing, expected `n`"]


def test_awkward_keys() -> None:
    c = na.Container({"x/y": {0: np.ones(2), "1": np.ones(3)}, "a*": 1, "what?": 2, "{i}": 3})
    schema = {"x/y/0": "2", "x\\/y/1": "3", "a\\*": "<int>", "what\\?": "<int>", "\\{i}": "<int>"}
    assert violations(schema, c) == []
    assert violations({"a/0": "n", "a/1": "n"}, {"a": (np.ones(2), np.ones(2))}) == []


# -- where schemas come from ----------------------------------------------------------------------


class Linear:
    """A layer, as an editor reads it."""

    weight: Annotated[Array, "./out ./in", na.float32]
    bias: Annotated[Array, "./out floating"] | None
    count: ClassVar[int] = 0


class Net(Linear):
    layers: list[Linear]
    heads: dict[str, Annotated[Array, "... classes"]]
    pair: tuple[Linear, Annotated[Array, na.int64]]
    norm: Linear | None
    name: str
    free: Any
    table: np.ndarray
    scale: np.float32
    rest: na.Container


@dataclasses.dataclass
class Data:
    x: Annotated[Array, "n"]


class Typed(TypedDict):
    x: Annotated[Array, "n"]
    y: NotRequired[Annotated[Array, "n"]]


class Partial(TypedDict, total=False):
    x: Annotated[Array, "n", "a second string is not ours"]


def test_from_a_class() -> None:
    assert str(na.Schema(Net)) == (
        "weight: ./out ./in float32\n"
        "bias?: ./out floating\n"
        "layers/*/weight: ./out ./in float32\n"
        "layers/*/bias?: ./out floating\n"
        "heads/*: ... classes\n"
        "pair/0/weight: ./out ./in float32\n"
        "pair/0/bias?: ./out floating\n"
        "pair/1: ... int64\n"
        "norm?/weight: ./out ./in float32\n"
        "norm?/bias?: ./out floating\n"
        "name: <str>\n"
        "free: <any>\n"
        "table: ...\n"
        "scale: ... float32\n"
        "rest/**?: <any>"
    )
    c = na.Container(
        layer(2, 3) | {
            "layers": [layer(4, 5)], "heads": {"a": np.ones((7, 9))}, "norm": None,
            "pair": (layer(1, 1), np.ones(3, "int64")), "name": "n", "free": object(),
            "table": np.ones(3), "scale": np.float32(1.0), "rest": {"deep": {"er": 1}},
        }
    )  # fmt: skip
    sizes = na.Schema(Net).check(c)
    assert sizes == {
        "out": 2, "in": 3, "layers/0/out": 4, "layers/0/in": 5, "classes": 9,
        "pair/0/out": 1, "pair/0/in": 1,
    }  # fmt: skip
    assert violations(Net, c.set("rest", {}).set("table", "x").delete("weight")) == [
        "table: is of type str, expected an array `...`",
        "weight: is missing, expected `./out ./in float32`",
    ]


def test_other_kinds_of_classes() -> None:
    assert str(na.Schema(Data)) == "x: n"
    assert str(na.Schema(Typed)) == "x: n\ny?: n"
    assert str(na.Schema(Partial)) == "x?: n"


def test_a_class_in_a_function() -> None:
    Size = int

    class Inner:
        x: Annotated[Size, "n"]

    class Outer:
        inner: Inner

    assert str(na.Schema(Outer)) == "inner/x: n"


def test_from_nested_mappings_schemas_and_dtypes() -> None:
    schema = na.Schema(
        {"encoder": {"w": "o i", 0: na.float32}, "linear?": Data, "other": na.Schema({"*": "n"})}
    )
    assert str(schema) == "encoder/w: o i\nencoder/0: ... float32\nlinear?/x: n\nother/*: n"


def test_frameworks_arrays_in_a_class() -> None:
    import jax
    import tensorflow as tf
    import torch

    for cls in (jax.Array, torch.Tensor, tf.Tensor):
        model = type("Model", (), {"__annotations__": {"w": cls}})
        assert str(na.Schema(model)) == "w: ..."


# named here, because ruff reads texts in annotations as Python
Weight, Bias = Float[jax.Array, "out in"], Float32[jax.Array, "out"]
Mask, Step = Shaped[jax.Array | np.ndarray, "... n=3 _any ?own"], Int[jax.Array, ""]


class JaxtypedLinear(eqx.Module):
    weight: Weight
    bias: Bias | None
    features: int = eqx.field(static=True)


class JaxtypedNet(eqx.Module):
    layers: list[JaxtypedLinear]
    mask: Mask
    step: Step


def test_annotations_of_jaxtyping() -> None:
    schema = na.Schema(JaxtypedNet)
    assert str(schema).split("\n") == [
        "layers/*/weight: out in floating",
        "layers/*/bias?: out float32",
        "mask: ... 3 _ ./own",
        "step: signed",
    ]
    weight = jnp.ones((2, 3))
    layers = [JaxtypedLinear(weight, None, 3), JaxtypedLinear(weight, jnp.ones(2), 3)]
    net = JaxtypedNet(layers, np.ones((1, 3, 4, 5)), jnp.array(0))
    c = na.Container.from_equinox(net)
    assert schema.check(c) == {"out": 2, "in": 3, "own": 5}
    with pytest.raises(SchemaError) as info:
        schema.check(c.set("layers/1/bias", jnp.ones(3)))
    assert info.value.violations == (
        ("layers/1/bias", "has the shape (3,), expected `out float32`: out is 3 here, 2 in "
         "'layers/0/weight'"),
    )  # fmt: skip


@pytest.mark.parametrize("dims", ["n-1", "#n"])
def test_axes_of_jaxtyping_that_are_no_words(dims: str) -> None:
    model = type("Model", (), {"__annotations__": {"w": Float[np.ndarray, dims]}})
    with pytest.raises(ArgumentError) as info:
        na.Schema(model)
    assert str(info.value).startswith(
        f"Schema: path 'w': got {dims!r} in '{dims} floating', expected a name, a number, "
    )


def test_typed_is_the_tree_with_none_for_what_is_left_out() -> None:
    class Dense:
        weight: Annotated[np.ndarray, "out in"]
        bias: Annotated[np.ndarray, "out"] | None

    class Stack:
        layers: list[Dense]
        scale: np.ndarray | None

    schema = na.Schema(Stack)
    first, second = {"weight": np.ones((2, 3))}, {"weight": np.ones((2, 3)), "bias": np.zeros(2)}
    c = na.Container(layers=[first, second])
    model = schema.typed(c, out=2)
    assert isinstance(model, na.Container)
    assert (model.layers[0].bias, model.scale) == (None, None)
    assert model.layers[1].bias is second["bias"]
    assert model.layers[1].weight is c["layers/1/weight"]
    with pytest.raises(SchemaError, match=r"out is 2 here, 4 in the sizes given"):
        schema.typed(c, out=4)


def test_arrays_of_several_frameworks_are_one_kind() -> None:
    model = type("Model", (), {"__annotations__": {"w": np.ndarray | jax.Array | None}})
    assert str(na.Schema(model)) == "w?: ..."


def test_of_a_container() -> None:
    c = na.Container(sample()).set("name", "x").set("nothing", None)
    assert str(na.Schema.of(c)) == (
        "encoder/weight: 2 3 float64\n"
        "encoder/bias: 2 float64\n"
        "heads/0: 2 float64\n"
        "heads/1/0: 3 float64\n"
        "heads/1/1: 1 float64\n"
        "scale: float64\n"
        "name: <str>\n"
        "nothing: <NoneType>"
    )
    assert na.Schema.of(np.ones(3)).matches(na.Container(np.ones(3)))
    assert str(na.Schema.of(na.Container(np.ones(3)))) == ".: 3 float64"
    assert violations({".": "4"}, na.Container(np.ones(3))) == [
        ": has the shape (3,), expected `4`: 3 is not 4"
    ]


ODD = st.text(alphabet="a/*?{}:\\ \n\t.é#<>", max_size=5)
LEAVES = st.sampled_from([np.ones((2, 3)), np.zeros((), "int8"), np.ones(0, "bool"), 1, 0.5, "x"])


@settings(max_examples=60)
@given(roots(nests(LEAVES)), st.recursive(LEAVES, lambda c: st.dictionaries(ODD, c, max_size=3)))
def test_a_schema_of_any_tree_fits_it_and_reads_its_own_text(tree: Any, odd: Any) -> None:
    c = na.Container({"tree": tree, "odd": odd})
    schema = na.Schema.of(c)
    assert na.Schema(str(schema)) == schema
    assert schema.check(c) == {}
    if c.leaves():
        path = c.spec.paths[0]
        assert not schema.matches(c.set(path, np.ones((5, 5, 5))))


@given(st.lists(ODD, min_size=1, max_size=4))
def test_an_escaped_path_means_that_path(keys: list[str]) -> None:
    tree: Any = 1
    for key in reversed(keys):
        tree = {key: tree}
    c = na.Container(tree)
    (found,) = Pattern(escaped_path(c.spec.paths[0])).find(c.spec)
    assert (found.path, found.index) == (tuple(keys), 0)


def test_as_a_value() -> None:
    schema = na.Schema({"a": "n", "b?": ""})
    assert repr(schema) == "Schema(\n  a: n\n  b?:\n)"
    assert schema == na.Schema("a:   n\n\n b?:\n")
    assert schema != na.Schema({"a": "n"})
    assert len({schema, na.Schema(str(schema))}) == 1
    assert na.Schema("").check({}) == {}


@pytest.mark.full
def test_arrays_without_values() -> None:
    schema = na.Schema({"a": "n m float32"})
    assert on_abstract_arrays(schema.check) == [{"n": 2, "m": 3}] * 7
    assert on_abstract_arrays(lambda c: str(na.Schema.of(c))) == ["a: 2 3 float32"] * 7
    unknown = on_unknown_shapes(lambda c: (schema.check(c), str(na.Schema.of(c))))
    assert list(unknown) == [({"m": 3}, "a: _ 3 float32"), ({}, "a: ... float32")]


# -- what cannot be read ---------------------------------------------------------------------------


class Recursive:
    child: Recursive


class Unknown:
    x: Missing  # type: ignore[name-defined]  # noqa: F821


_EXPECTED = (
    "expected a name, a number, '_', '...', '*name' or a product in parentheses, and last a dtype "
    "or one of integer, signed, unsigned, floating, complex, inexact, numeric"
)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"a": "n-1"}, f"Schema: path 'a': got 'n-1' in 'n-1', {_EXPECTED}"),
        ({"a": "float32 n"}, f"Schema: path 'a': got 'float32' in 'float32 n', {_EXPECTED}"),
        ({"a": "(n ...)"}, f"Schema: path 'a': got '...' in '(n ...)', {_EXPECTED}"),
        ({"a": "*3"}, f"Schema: path 'a': got '3' in '*3', {_EXPECTED}"),
        (
            {"a": "... n *b"},
            "Schema: path 'a': got '... n *b', in which more than one word stands for any number of "
            "axes; expected one '...' or '*name' at most",
        ),
        (
            {"a/*": "n{i}"},
            "Schema: path 'a/*': got 'n{i}', in which {i} stands for a key; expected a path with "
            "{i} in it",
        ),
        (
            {"a/{}": "n"},
            "Schema: path 'a/{}': got '{}', expected a name in the braces, such as '{i}'",
        ),
        (
            {"a": "f32 n"},
            "Schema: path 'a': got 'f32' in 'f32 n', which reads as a dtype; write the dtype in full "
            "and last, 'out in float32', or give the axis another name",
        ),
        (
            type("Quoted", (), {"__annotations__": {"w": "out in"}}),
            "Schema: the annotations of Quoted cannot be read: Forward reference must be an "
            "expression -- got 'out in'. Words stand beside a type, weight: Annotated[Array, 'out in "
            "float32']",
        ),
        ({1.5: "n"}, "Schema: got the path 1.5, expected a string"),
        (
            {"a": 3},
            "Schema: 'a': got 3, expected words such as 'out in float32', a dtype, a class with "
            "annotations, or a mapping of these",
        ),
        (
            None,
            "Schema: 'source': got None, expected words such as 'out in float32', a dtype, a class "
            "with annotations, or a mapping of these",
        ),
        (
            int,
            "Schema: source: got <class 'int'>, which has no annotations; expected a class such as "
            "class Linear: weight: Annotated[Array, 'out in float32']",
        ),
        ({"a": int | str}, "Schema: 'a': got int | str, expected one kind of leaf, or it and None"),
        ("a 3", "Schema: got the line 'a 3', expected 'path: words'"),
        (Recursive, "Schema: 'child': Recursive is part of itself, expected a finite tree"),
        (
            Unknown,
            "Schema: the annotations of Unknown cannot be read: name 'Missing' is not defined. "
            "Make the schema where the names in them are known, or leave out "
            "'from __future__ import annotations'",
        ),
    ],
)
def test_wrong_schemas(source: Any, text: str) -> None:
    with pytest.raises(ArgumentError) as error:
        na.Schema(source)
    assert str(error.value) == text
