"""Variables of Keras models in and out. Keras runs on one framework a process, KERAS_BACKEND, by
default JAX here; the full tests run all frameworks in new processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "jax")  # the one that loads fastest

import keras

import nestarray as na
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, ShapeError, StructureError


def sequential() -> Any:
    """Statistics, a random generator, which Keras numbers, a layer in bfloat16, one that is frozen."""
    layers = [
        keras.Input((4,)),
        keras.layers.Dense(3, name="first"),
        keras.layers.BatchNormalization(name="norm"),
        keras.layers.Dropout(0.5, name="dropout", seed=1),
        keras.layers.Dense(2, name="half", dtype="bfloat16"),
        keras.layers.Dense(2, name="frozen", trainable=False),
    ]
    return keras.Sequential(layers, name="net")


def functional() -> Any:
    """One layer twice, a model in the model."""
    x = keras.Input((4,), name="x")
    shared = keras.layers.Dense(4, name="shared")
    h = keras.layers.BatchNormalization(name="norm")(shared(shared(x)))
    inner = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, name="fc")], name="inner")
    return keras.Model(x, inner(h), name="outer")


def plain(x: Any) -> np.ndarray:
    return na.to_backend(na.stop_gradient(x), "numpy")


def randomized(c: na.Container) -> na.Container:
    """Other values of the same dtypes."""
    rng = np.random.default_rng(0)
    other = c.map(lambda x: rng.integers(1, 100, x.shape))
    return other.map(lambda x, like: na.astype(x, dtype_of(like)), c)


@pytest.mark.parametrize("make", [sequential, functional])
def test_variables_are_nested_by_their_paths(make: Any) -> None:
    model = make()
    c = na.Container.from_keras(model)
    assert list(c.paths()) == [v.path for v in model.weights]
    for v in model.weights:
        assert c[v.path].shape == tuple(v.shape)
        expected = plain(keras.ops.cast(v.value, "float32"))
        np.testing.assert_array_equal(plain(na.astype(c[v.path], na.float32)), expected)


@pytest.mark.parametrize("make", [sequential, functional])
def test_there_and_back(make: Any) -> None:
    source, target = make(), make()
    c = randomized(na.Container.from_keras(source))
    assert c.load_into_keras(target) is target
    back = na.Container.from_keras(target)
    assert back.spec is c.spec
    for path, leaf in back.flat_items():
        assert dtype_of(leaf) == dtype_of(c[path])
        np.testing.assert_array_equal(plain(leaf), c[path])
    na.Container.from_keras(target).load_into_keras(source)
    x = np.ones((3, 4), "float32")
    np.testing.assert_array_equal(*(plain(m(x)) for m in (source, target)))


def test_arrays_of_all_backends_are_taken(backend: str) -> None:
    model = sequential()
    c = randomized(na.Container.from_keras(model)).to_backend(backend)
    back = na.Container.from_keras(c.load_into_keras(model))
    for path, leaf in back.flat_items():
        np.testing.assert_array_equal(*(plain(x) for x in (leaf, c[path])))


def test_trained_and_other_variables() -> None:
    model = sequential()
    trained = na.Container.from_keras(model, trainable=True)
    others = na.Container.from_keras(model, trainable=False)
    assert list(trained.paths()) == [v.path for v in model.trainable_variables]
    assert list(others.paths()) == [v.path for v in model.non_trainable_weights]
    both = trained.combine(others)
    assert set(both.paths()) == set(na.Container.from_keras(model).paths())
    for part in (trained, others, others.select("**/moving_mean"), both):
        other = randomized(part)
        other.load_into_keras(model)
        now = na.Container.from_keras(model)
        for path, leaf in other.flat_items():
            np.testing.assert_array_equal(plain(now[path]), leaf)


def test_random_states_on_request() -> None:
    model = sequential()
    c = na.Container.from_keras(model, random_state=True)
    assert set(c.paths()) == {v.path for v in model.variables}
    (seed,) = set(c.paths()) - set(na.Container.from_keras(model).paths())
    assert seed.endswith("seed_generator_state")
    others = na.Container.from_keras(model, trainable=False, random_state=True)
    assert set(others.paths()) == {v.path for v in model.non_trainable_variables}
    x = np.random.default_rng(0).normal(size=(50, 4)).astype("float32")
    first, second = (plain(model(x, training=True)) for _ in range(2))
    assert not np.allclose(first, second)
    c.load_into_keras(model)
    np.testing.assert_allclose(plain(model(x, training=True)), first, rtol=1e-5, atol=1e-5)


def test_the_arrays_are_those_of_the_moment() -> None:
    model = functional()
    before = na.Container.from_keras(model)
    values = before.map(lambda x: np.array(plain(x)))
    randomized(before).load_into_keras(model)
    for path, leaf in before.flat_items():
        np.testing.assert_array_equal(plain(leaf), values[path])


def test_values_are_cast_to_the_dtypes_of_the_variables() -> None:
    model = sequential()
    c = na.Container.from_keras(model)
    wide = c.map(lambda x: np.ones(x.shape)).set("net/first/bias", np.full(3, 2))
    back = na.Container.from_keras(wide.load_into_keras(model))
    assert back.map(dtype_of).leaves() == c.map(dtype_of).leaves()
    np.testing.assert_array_equal(plain(back["net/first/bias"]), [2.0] * 3)


def test_layers_are_taken_too() -> None:
    layer = keras.layers.Dense(2, name="fc")
    layer.build((None, 3))
    c = na.Container.from_keras(layer)
    assert c.paths() == ("fc/kernel", "fc/bias")
    assert c.load_into_keras(layer) is layer


def unnamed(sizes: tuple[int, ...] = (5, 5, 5)) -> Any:
    """A model whose layers Keras numbers, with a model in it and layers without variables."""
    x = keras.Input((5,))
    h = keras.layers.BatchNormalization()(keras.layers.Dense(sizes[0])(x))
    inner = keras.Sequential(
        [keras.Input((5,)), keras.layers.Dense(sizes[1]), keras.layers.LeakyReLU()]
    )
    return keras.Model(x, keras.layers.Dense(sizes[2])(keras.layers.Dropout(0.5)(inner(h))))


@pytest.mark.parametrize("count", [0, 1, 9])
def test_automatic_names_are_matched_by_type_and_order(count: int) -> None:
    source = unnamed()
    for _ in range(count):  # the numbers of later layers have two digits
        keras.layers.Dense(1)
    target = unnamed()
    c = randomized(na.Container.from_keras(source))
    assert set(c.paths()) != set(na.Container.from_keras(target).paths())
    c.load_into_keras(source)
    c.load_into_keras(target)
    x = np.ones((3, 5), "float32")
    np.testing.assert_array_equal(*(plain(m(x)) for m in (source, target)))
    aligned = c.align(na.Container.from_keras(target))[1]
    for path, leaf in aligned.flat_items():
        np.testing.assert_array_equal(plain(leaf), c[path])
    statistics = randomized(na.Container.from_keras(source, trainable=False)) * 2
    statistics.load_into_keras(target)
    others = na.Container.from_keras(target, trainable=False)
    np.testing.assert_array_equal(*(plain(v.leaves()[0]) for v in (others, statistics)))


def test_other_names_need_match() -> None:
    target = unnamed()
    names = na.Container.from_keras(target).paths()
    source = randomized(na.Container.from_keras(unnamed()))
    dense = [path.split("/")[0] for path in source.paths() if path.startswith("dense")]
    for wrong in (
        source.rename({dense[0]: "first"}),
        source.delete(dense[0]),
        source.set("dense_900/kernel", np.ones((5, 5))),
        source.select(lambda path, _: path.split("/")[0] == dense[-1]).update(source),
    ):
        with pytest.raises(StructureError) as info:
            wrong.load_into_keras(target)
        assert "c.match(na.Container.from_keras(model)).apply(c)" in str(info.value)
    assert na.Container.from_keras(target).paths() == names
    mapped = source.rename({dense[0]: "first"})
    mapped.match(na.Container.from_keras(target)).apply(mapped).load_into_keras(target)
    with pytest.raises(ShapeError, match="has the shape"):
        randomized(na.Container.from_keras(unnamed((5, 5, 2)))).load_into_keras(target)


# -- messages -----------------------------------------------------------------------------------------


def test_nothing_is_written_when_something_does_not_fit() -> None:
    model = functional()
    c = na.Container.from_keras(model)
    other = randomized(c)
    wrong: list[tuple[na.Container, type[Exception], str]] = [
        (
            other.rename({"shared/kernel": "kernal"}),
            StructureError,
            "load_into_keras: the Container does not fit Functional: no leaf for 'shared/kernel'; no "
            "place for 'shared/kernal' (the nearest is 'shared/kernel'). Nothing was written; "
            "rename, exclude or set leaves so that the paths are those of the model's variables, or "
            "map them: c.match(na.Container.from_keras(model)).apply(c)",
        ),
        (
            other.set("norm/gamma", np.ones(3)),
            ShapeError,
            "load_into_keras: 'norm/gamma' has the shape (3,), expected (4,). Nothing was written",
        ),
        (
            other.set("norm/gamma", "ones"),
            ArgumentError,
            "load_into_keras: 'norm/gamma' is a str, expected an array or a number; leave it out "
            "with c.exclude(...)",
        ),
        (na.Container(), StructureError, "no leaf for 'shared/kernel', 'shared/bias', "),
    ]
    for tree, error, message in wrong:
        with pytest.raises(error) as info:
            tree.load_into_keras(model)
        assert message in str(info.value)
        now = na.Container.from_keras(model)
        for path, leaf in now.flat_items():
            np.testing.assert_array_equal(*(plain(x) for x in (leaf, c[path])))


def test_messages_of_models() -> None:
    c = na.Container(a=1)
    with pytest.raises(ArgumentError) as info:
        na.Container.from_keras({"a": 1})
    assert str(info.value) == (
        "Container.from_keras: model: got dict, expected a keras.Model or keras.Layer"
    )
    with pytest.raises(ArgumentError) as info:
        c.load_into_keras(keras.layers.Dense(2))
    assert str(info.value) == (
        "load_into_keras: model: got a Dense that is not built, so that it has no variables yet; "
        "call it on an input, or its build(input_shape), first"
    )

    class Twins(keras.Model):
        def __init__(self) -> None:
            super().__init__(name="twins")
            self.parts = [keras.layers.Dense(2, name="x"), keras.layers.Dense(2, name="x")]

        def call(self, x: Any) -> Any:
            return self.parts[1](self.parts[0](x))

    model = Twins()
    model(np.ones((1, 2), "float32"))
    with pytest.raises(StructureError) as info:
        na.Container.from_keras(model)
    assert str(info.value) == (
        "Container.from_keras: two variables of the model have the path 'twins/x/kernel'; give "
        "their layers different names"
    )


@pytest.mark.full
@pytest.mark.parametrize("framework", ["tensorflow", "torch", "jax"])
def test_keras_on_every_framework(framework: str) -> None:
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", __file__]
    environment = os.environ | {"KERAS_BACKEND": framework}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-4000:]
