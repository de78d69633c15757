"""Records in and out: dataclasses, named tuples, classes of attrs, models of pydantic."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import attrs
import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.container import ListContainer
from nestarray.errors import ArgumentError, StructureError
from tests.trees import LEAVES, nests, roots


class Pair(NamedTuple):
    first: Any
    second: Any = None


@dataclass
class Dense:
    weight: Any
    bias: Any = 0.0
    name: str = "dense"


@dataclass(frozen=True, slots=True)
class Frozen:
    inner: Dense
    pair: Pair
    total: Any = field(init=False, default=None)


@attrs.frozen
class Settings:
    rate: float
    _hidden: Any = None
    layers: list[Any] = attrs.Factory(list)


class Layer(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True, frozen=True)

    weight: np.ndarray | float
    units: int = pydantic.Field(2, alias="size", gt=0)


class Network(pydantic.BaseModel):
    layers: list[Layer]
    head: Layer


def records(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(Pair, children, children),
        st.builds(Dense, children, children),
        st.builds(Settings, children, children, st.lists(children, max_size=2)),
        st.builds(Layer.model_construct, weight=children, units=children),
        st.dictionaries(st.text("ab/", max_size=2), children, max_size=3),
        st.lists(children, max_size=3),
    )


@given(st.recursive(LEAVES, records, max_leaves=10))
def test_records_come_back_as_they_were(leaf: Any) -> None:
    obj = Pair(leaf, {"x": leaf})
    c = na.Container.from_object(obj)
    back = c.to_object(obj)
    assert back == obj
    assert type(back) is Pair
    assert na.Container.from_object(back).spec is c.spec


@given(roots(), nests())
def test_plain_trees_are_what_container_makes_of_them(root: dict[str, Any], inner: Any) -> None:
    tree = {**root, "inner": inner}
    c = na.Container.from_object(tree)
    assert c.spec is na.Container(tree).spec
    assert c.to_object(tree) == tree
    assert list(c.to_object(tree)) == list(tree)


def test_fields_are_keys_in_their_order() -> None:
    c = na.Container.from_object(Dense(np.ones((2, 3)), np.zeros(2)))
    assert list(c) == ["weight", "bias", "name"]
    assert c.name == "dense"
    assert na.Container.from_object(Pair(1, [2])).to_dict() == {"first": 1, "second": [2]}
    assert type(na.Container.from_object([Pair(1)])) is ListContainer
    assert list(na.Container.from_object(Settings(0.1, 5))) == ["rate", "_hidden", "layers"]


def test_a_named_tuple_in_a_plain_container_has_its_fields_too() -> None:
    c = na.Container(p=Pair(1, 2))
    assert c.to_dict() == {"p": {"first": 1, "second": 2}}
    assert c.to_object({"p": Pair(0, 0)}) == {"p": Pair(1, 2)}


def test_models_of_pydantic() -> None:
    model = Network(layers=[Layer(weight=1.0)], head=Layer(weight=np.ones(2), size=3))
    c = na.Container.from_object(model)
    assert c.paths() == ("layers/0/weight", "layers/0/units", "head/weight", "head/units")
    assert c.set("head/units", 5).to_object(model).head.units == 5
    assert (model.head.units, type(c.to_object(model).layers[0])) == (3, Layer)
    made = na.Container(weight=2.0).to_object(Layer)
    assert (made.weight, made.units) == (2.0, 2)
    assert na.Container(weight=2.0, units=4).to_object(Layer).units == 4
    with pytest.raises(pydantic.ValidationError, match="greater than 0"):
        na.Container(weight=2.0, units=-1).to_object(Layer)
    with pytest.raises(
        StructureError, match="the field 'weight' of Layer at the top has no default"
    ):
        na.Container(units=3).to_object(Layer)
    with pytest.raises(ArgumentError) as info:
        na.Container(model)
    assert str(info.value) == (
        "Container: tree: got a Network, which would be one leaf; Container.from_object takes its "
        "fields, Container({'name': tree}) keeps it whole"
    )


def test_an_instance_is_copied_without_its_init() -> None:
    calls: list[Any] = []

    @dataclass
    class Counted:
        x: Any

        def __post_init__(self) -> None:
            calls.append(self.x)
            self.extra = "kept"

    original = Counted(1)
    back = na.Container(x=2).to_object(original)
    assert (back.x, back.extra, original.x) == (2, "kept", 1)
    assert calls == [1]


def test_frozen_classes_with_slots() -> None:
    like = Frozen(Dense(1, 2), Pair(3, 4))
    c = na.Container.from_object(like)
    assert c.paths() == (
        "inner/weight", "inner/bias", "inner/name", "pair/first", "pair/second", "total",
    )  # fmt: skip
    back = c.set("pair/first", 30).to_object(like)
    assert back == Frozen(Dense(1, 2), Pair(30, 4))
    assert type(back) is Frozen


def test_leaves_find_their_places_by_path_whatever_the_order() -> None:
    like = Frozen(Dense(1, 2), Pair(3, 4))
    c = na.Container(
        total=None, pair={"second": 40, "first": 30}, inner={"name": "n", "bias": 20, "weight": 10}
    )
    assert c.to_object(like) == Frozen(Dense(10, 20, "n"), Pair(30, 40))
    flat = na.Container.from_flat_dict({"0/first": 1, "0/second": 2})
    assert flat.to_object([Pair(0, 0)]) == [Pair(1, 2)]


def test_keys_with_slashes_and_numbers() -> None:
    like = {"a/b": 1, "a": {"c": 2}, 0: 3, "1": 4}
    assert (na.Container.from_object(like) * 10).to_object(like) == {
        "a/b": 10, "a": {"c": 20}, 0: 30, "1": 40,
    }  # fmt: skip


def test_mappings_come_back_as_their_own_type() -> None:
    like = {
        "o": OrderedDict(b=1, a=2),
        "d": defaultdict(list, b=1, a=2),
        "m": MappingProxyType({"b": Pair(1, 2)}),
    }
    back = na.Container.from_object(like).to_object(like)
    assert back == like
    assert [type(x) for x in back.values()] == [OrderedDict, defaultdict, MappingProxyType]
    assert back["d"].default_factory is list
    assert list(back["o"]) == ["b", "a"]


def test_leaves_are_the_same_objects(backend: str) -> None:
    x = (
        na.ones((2,), like=None)
        if backend == "numpy"
        else na.to_backend(np.ones(2, "float32"), backend)
    )
    c = na.Container.from_object(Pair(x, Dense(x)))
    assert c["first"] is c["second/weight"] is x
    back = c.to_object(Pair(None, Dense(None)))
    assert back.first is back.second.weight is x


def test_containers_inside_are_parts_of_the_tree() -> None:
    obj = Pair(na.Container(b=1, a=[2]), na.Container())
    c = na.Container.from_object(obj)
    assert c.paths() == ("first/b", "first/a/0")
    back = (c * 10).to_object(obj)
    assert back.first.spec is obj.first.spec
    assert back.first.to_dict() == {"b": 10, "a": [20]}
    assert na.Container.from_object(obj.first).spec is obj.first.spec


# -- a class in place of an instance --------------------------------------------------------------


@dataclass
class Model:
    dense: Dense
    pairs: list[Pair]
    settings: Settings
    scale: float = 2.0


def test_a_class_is_called_with_its_fields() -> None:
    model = Model(Dense(1, 2), [Pair(3)], Settings(0.1, 7, [8]))
    c = na.Container.from_object(model)
    back = c.to_object(Model)
    assert type(back.dense) is Dense
    assert back.settings == model.settings
    assert back.pairs == [{"first": 3, "second": None}]  # list[Pair] is not a class of records
    assert c.delete("scale", "dense/bias").to_object(Model).dense == Dense(1)
    assert na.Container(first=1).to_object(Pair) == Pair(1)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"weight": 1, "bais": 2}, "to_object: Dense has no field 'bais' at the top; did you mean 'bias'?"),
        ({"bias": 2}, "to_object: the field 'weight' of Dense at the top has no default and no leaf; "
                      "set it, or give an instance as `like`"),
        (3.0, "to_object: got a bare array at the top, expected fields of Dense"),
    ],
)  # fmt: skip
def test_messages_of_classes(tree: Any, message: str) -> None:
    with pytest.raises(StructureError) as info:
        na.Container(tree).to_object(Dense)
    assert str(info.value) == message


def test_messages_of_classes_that_cannot_be_read() -> None:
    @dataclass
    class Local:
        inner: Unknown  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(ArgumentError) as info:
        na.Container(inner=1).to_object(Local)
    assert str(info.value) == (
        "to_object: like: the annotations of Local cannot be read (name 'Unknown' is not defined); "
        "give an instance of it instead"
    )
    with pytest.raises(StructureError) as info:
        na.Container(total=1, inner={"weight": 1}, pair={"first": 1}).to_object(Frozen)
    assert str(info.value) == (
        "to_object: the field 'total' of Frozen at the top is no argument of its __init__; give an "
        "instance as `like`"
    )
    with pytest.raises(ArgumentError) as info:
        na.Container(a=1).to_object(int)
    assert str(info.value) == (
        "to_object: like: got the class int, expected one of a dataclass, a named tuple, an attrs "
        "class or a pydantic model"
    )


# -- messages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("obj", "came"), [(3, "int"), (np.ones(2), "ndarray"), (Dense, "the class Dense")]
)
def test_messages_of_what_is_no_record(obj: Any, came: str) -> None:
    with pytest.raises(ArgumentError) as info:
        na.Container.from_object(obj)
    assert str(info.value) == (
        f"Container.from_object: obj: got {came}, expected an instance of a dataclass, a named "
        "tuple, an attrs class or a pydantic model, or a mapping, list or tuple"
    )


def test_messages_of_trees_that_are_none() -> None:
    with pytest.raises(StructureError) as info:
        na.Container.from_object(Pair({"x": {(1, 2): 0}}))
    assert str(info.value) == (
        "Container.from_object: got the key (1, 2) at 'first/x', expected a string or an integer"
    )
    with pytest.raises(StructureError) as info:
        na.Container.from_object({None: 0})
    assert "got the key None at the top" in str(info.value)
    loop: dict[str, Any] = {}
    loop["again"] = Pair(loop)
    with pytest.raises(StructureError) as info:
        na.Container.from_object(loop)
    assert str(info.value) == (
        "Container.from_object: the dict at 'again/first' contains itself, expected a tree"
    )


def test_messages_of_leaves_that_do_not_fit() -> None:
    with pytest.raises(StructureError) as info:
        na.Container(first=1, secnd=2).to_object(Pair(1, 2))
    assert str(info.value) == (
        "to_object: the Container does not fit the Pair: no leaf for 'second'; no place for 'secnd' "
        "(the nearest is 'second'). Rename, exclude or set leaves so that the paths are those of "
        "`like`"
    )
    with pytest.raises(ArgumentError) as info:
        na.Container(a=1).to_object(3)
    assert str(info.value) == (
        "to_object: like: got int, expected a dataclass, a named tuple, an attrs class or a pydantic model (the class "
        "or an instance), or a mapping, list or tuple that holds such"
    )


def test_records_are_no_leaf_by_mistake() -> None:
    @dataclass
    class State:
        step: int

    @attrs.define
    class Other:
        step: int

    for record in (State(3), Other(3)):
        with pytest.raises(ArgumentError) as info:
            na.Container(record)
        name = type(record).__name__
        assert str(info.value) == (
            f"Container: tree: got a {name}, which would be one leaf; Container.from_object "
            "takes its fields, Container({'name': tree}) keeps it whole"
        )
        assert na.Container.from_object(record).to_dict() == {"step": 3}
        assert na.Container(state=record)["state"] is record


def test_modules_are_no_leaf_by_mistake() -> None:
    import equinox
    import flax.nnx
    import jax
    import keras
    import torch

    modules: dict[str, tuple[Any, str]] = {
        "from_torch_module": (torch.nn.Linear(2, 3), "Container.from_torch_module takes its parameters"),
        "from_keras": (keras.layers.Dense(3), "Container.from_keras takes its variables"),
        "from_flax": (flax.nnx.Linear(2, 3, rngs=flax.nnx.Rngs(0)), "Container.from_flax takes an nnx module, or what init of linen returns"),
        "from_equinox": (equinox.nn.Linear(2, 3, key=jax.random.key(0)), "Container.from_equinox takes its arrays"),
    }  # fmt: skip
    modules["from_keras"][0].build((1, 2))
    for constructor, (module, words) in modules.items():
        with pytest.raises(ArgumentError) as info:
            na.Container(module)
        name = type(module).__name__
        assert str(info.value) == (
            f"Container: tree: got a {name}, which would be one leaf; {words}, "
            "Container({'name': tree}) keeps it whole"
        )
        assert len(getattr(na.Container, constructor)(module).leaves()) == 2
        with pytest.raises(ArgumentError) as info:
            na.exp(module)
        assert str(info.value).endswith(f"a Container or a number; {words}")


def test_variables_of_nnx_are_no_arrays() -> None:
    import flax.nnx

    state = flax.nnx.state(flax.nnx.Linear(2, 3, rngs=flax.nnx.Rngs(0)))
    with pytest.raises(ArgumentError) as info:
        na.Container(state) * 2
    assert str(info.value).endswith("; Container.from_flax takes the arrays of a whole nnx state")
    assert info.value.__notes__ == ["at the Container path 'bias'"]
    assert (na.Container.from_flax(state) * 2).paths() == ("params/bias", "params/kernel")
