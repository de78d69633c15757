"""The types of Containers for a type checker: `test_typing` runs it, and runs pyright over it.

`assert_type` is pyright's to check; at run time it hands its argument on, and the classes are
looked at by `isinstance`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, assert_type

import numpy as np

import nestarray as na
from nestarray import Container
from nestarray.batches.at import At
from nestarray.container import FusedContainer


def is_tree(c: Container[Any]) -> None:
    """Raise unless the value has the annotated type."""
    assert isinstance(c, Container)


def building() -> Container[np.ndarray]:
    assert_type(Container[np.ndarray](w=np.ones(2)), Container[np.ndarray])
    assert_type(Container.from_flat_dict({"a.b": 1}, "."), Container[int])
    assert_type(Container({"w": np.ones(2)}, b=1.0), Container[Any])
    c: Container[np.ndarray] = Container(enc={"w": np.ones((2, 3)), "b": np.zeros(3)})
    return c


def looking(c: Container[np.ndarray]) -> None:
    assert_type(c.leaves(), tuple[np.ndarray, ...])
    assert_type(c.paths(), tuple[str, ...])
    assert_type(c.flat_items(), Iterator[tuple[str, np.ndarray]])
    assert_type(c.nodes(), Iterator[tuple[str, Container[np.ndarray]]])
    assert_type(c.to_flat_dict(), dict[str, np.ndarray])
    assert_type(c.find({"w": 0, "b": 0}), tuple[str, ...])
    for key, part in c.items():  # a leaf or a sub-container
        assert_type(key, str | int)
        assert_type(part, Any)
    assert_type(c["enc/w"], Any)
    assert_type(c.enc, Any)


def changing(c: Container[np.ndarray]) -> None:
    for same in (
        assert_type(c.set("enc/b", np.ones(3)), Container[np.ndarray]),
        assert_type(c.update(enc={"b": np.ones(3)}), Container[np.ndarray]),
        assert_type(c.delete("enc/b"), Container[np.ndarray]),
        assert_type(c.rename({"enc": "x"}), Container[np.ndarray]),
        assert_type(c.select("**/w"), Container[np.ndarray]),
        assert_type(c.exclude("**/w"), Container[np.ndarray]),
        assert_type(c.prune(), Container[np.ndarray]),
        assert_type(c.flatten_keys("."), Container[np.ndarray]),
        assert_type(c.move("enc", "dec"), Container[np.ndarray]),
        assert_type(c.at["**/w"].add(1.0), Container[np.ndarray]),
        assert_type(c.fuse().unfuse(), Container[np.ndarray]),
    ):
        is_tree(same)
    assert_type(c.at["**/w"], At[np.ndarray])
    assert_type(c.fuse(), FusedContainer[np.ndarray])
    left, right = c.partition("**/w")
    assert_type(left.combine(right), Container[np.ndarray])
    assert_type(c.mask("**/w"), Container[bool])
    sizes = assert_type(c.map(lambda x: x.size), Container[int])  # `x` is known to be an array
    assert_type(c.map(lambda path, x: path, with_path=True), Container[str])
    assert_type(c.parallel_map(len), Container[int])
    assert_type(c.exclude("**/b").combine(sizes.select("**/b")), Container[np.ndarray | int])
    assert c.reduce(lambda total, x: total + x.size, 0) == 9


class Linear:
    weight: Annotated[np.ndarray, "out in"]
    bias: Annotated[np.ndarray, "out"] | None


class Model:
    enc: Linear


def reading(c: Container[np.ndarray]) -> None:
    schema = assert_type(na.Schema(Model), na.Schema[Model])
    model = schema.typed(c.rename(lambda key: {"w": "weight", "b": "bias"}.get(str(key), key)))
    assert_type(model.enc, Linear)
    assert_type(model.enc.weight, np.ndarray)
    assert_type(model.enc.bias, np.ndarray | None)
    assert_type(na.Schema.of(c), na.Schema[Any])
    assert_type(na.Schema({"**": "..."}), na.Schema[Any])


def computing(c: Container[np.ndarray]) -> None:
    assert_type(c.exp(), Container[np.ndarray])
    assert_type(c.add(1.0), Container[np.ndarray])
    assert_type(2 * c + 1, Container[np.ndarray])
    assert_type(c == 1, Container[np.ndarray])
    assert_type(c.mean(axis=0, keepdims=True), Container[np.ndarray])
    assert_type(c.select("**/b").split(3), tuple[Container[np.ndarray], ...])
    assert_type(c.to_backend("numpy"), Container[Any])
    assert_type(na.exp(c), Container[np.ndarray])
    assert_type(na.softmax(na.reshape(c, (-1,)), axis=0), Container[np.ndarray])
    assert_type(na.exp(np.ones(2)), np.ndarray[tuple[int], np.dtype[np.float64]])
    assert_type(na.split(c.select("**/b"), 3), tuple[Container[np.ndarray], ...])
    assert_type(na.add(c, 1), Container[np.ndarray])
    assert_type(na.add(1, na.multiply(np.ones(3), c)), Container[np.ndarray])
    assert_type(na.where(True, 1.0, c), Container[np.ndarray])
    assert_type(na.where(c > 0, c, 0.0), Container[np.ndarray])
    assert_type(na.clip(na.multiply(c, 2.0), 0, 1), Container[np.ndarray])
    assert_type(na.stack([c, na.exp(c)]), Container[np.ndarray])
    assert_type(na.concat(na.unstack(na.stack([c, c]))), Container[np.ndarray])
    assert_type(na.to_backend(c, "numpy"), Any)
    assert_type(na.add(np.ones(2), np.ones(2)), Any)
    assert_type(na.stack([np.ones(2), np.ones(2)]), Any)


def of_unknown_type(x: Any, c: Container) -> None:
    """An unknown type stays unknown: nothing is claimed of ``c["w"]``."""
    na.exp(c["w"]).anything()
    na.add(x, c).anything()
    na.stack([x, na.multiply(x, x)]).anything()
    c.map(lambda leaf: leaf.anything())


def everything() -> None:
    c = building()
    looking(c)
    changing(c)
    computing(c)
