"""Native modules as functions of their variables, for tests that hold for all of them.

A form builds the native module of a row and returns a `Native`: calls with arrays of NumPy, by
path.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import keras
import numpy as np
import tensorflow as tf
import torch
from flax import nnx

import nestarray as na
from nestarray.exporters.flax_collections import places
from nestarray.exporters.program import program_of

Values = Mapping[str, np.ndarray]


@dataclasses.dataclass
class Native:
    """A native module.

    Attributes:
        backend: of its arrays.
        evaluate: (arguments, keyword arguments) → output.
        gradients: ∂(sum of squares of the output)/∂(parameter), in evaluation mode.
        train: a call in training mode → (output, state after it).
    """

    backend: str
    evaluate: Callable[[tuple[Any, ...], dict[str, Any]], Any]
    gradients: Callable[[tuple[Any, ...], dict[str, Any]], Values]
    train: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Values]]


def loss(output: Any, xp: Any) -> Any:
    """The sum of squares of the floating arrays of an output."""
    arrays = [x for x in na.tree.leaves(output) if hasattr(x, "dtype") and "float" in str(x.dtype)]
    total = 0.0
    for x in arrays:
        total = total + (xp.reduce_sum(x * x) if xp is tf else (x * x).sum())
    return total


def of_torch(model: Any) -> Native:
    """`to_torch_module`."""
    net = model.to_torch_module()
    names = _torch_paths(net)

    def gradients(args: Any, kwargs: Any) -> Values:
        net.eval().zero_grad()
        loss(net(*args, **kwargs), torch).backward()
        return {p: t.grad.numpy() for p, t in names.items() if t.grad is not None}

    def train(args: Any, kwargs: Any) -> Any:
        net.train()
        output = net(*args, **kwargs)
        net.eval()
        return output, {p: t.detach().numpy() for p, t in _torch_paths(net).items()}

    return Native("torch", lambda args, kwargs: net.eval()(*args, **kwargs), gradients, train)


def _torch_paths(net: Any) -> dict[str, torch.Tensor]:
    return {path: getattr(owner, name) for path, (owner, name) in net._places.items()}


def of_flax(model: Any) -> Native:
    """`to_flax_module`."""
    net = model.to_flax_module()
    where = {".".join(keys): path for path, (_, keys) in places(net.program).items()}

    def paths(state: Any) -> Values:
        flat = {".".join(map(str, keys)): x for keys, x in nnx.to_flat_state(state)}
        return {
            path: np.asarray(flat[name].get_value()) for name, path in where.items() if name in flat
        }

    def gradients(args: Any, kwargs: Any) -> Values:
        net.eval()
        return paths(nnx.grad(lambda net: loss(net(*args, **kwargs), jnp))(net))

    def train(args: Any, kwargs: Any) -> Any:
        net.train()
        output = net(*args, **kwargs)
        net.eval()
        return output, paths(nnx.state(net))

    return Native("jax", lambda args, kwargs: net(*args, **kwargs), gradients, train)


def of_linen(model: Any) -> Native:
    """`to_linen_module`."""
    net = model.to_linen_module()
    where = places(net.program)
    held: dict[str, Any] = {}

    def paths(variables: Any) -> Values:
        c = na.Container.from_flax(variables)
        names = {path: "/".join((kind, *keys)) for path, (kind, keys) in where.items()}
        return {path: np.asarray(c[name]) for path, name in names.items() if name in c}

    def variables(args: Any, kwargs: Any) -> Any:
        if not held:
            held.update(net.init(jax.random.key(0), *args, **kwargs))
        return held

    def gradients(args: Any, kwargs: Any) -> Values:
        given = variables(args, kwargs)

        def of(params: Any) -> Any:
            return loss(net.apply({**given, "params": params}, *args, **kwargs), jnp)

        return paths({"params": jax.grad(of)(given["params"])})

    def train(args: Any, kwargs: Any) -> Any:
        given = variables(args, kwargs)
        mutable = [name for name in given if name != "params"]
        rngs = {"dropout": jax.random.key(1)}
        output, new = net.apply(given, *args, train=True, mutable=mutable, rngs=rngs, **kwargs)
        return output, paths({**given, **new})

    return Native("jax", lambda a, k: net.apply(variables(a, k), *a, **k), gradients, train)


def of_haiku(model: Any) -> Native:
    """`to_haiku_module`."""

    def call(args: Any, kwargs: Any, is_training: bool = False) -> Any:
        return model.to_haiku_module(name="net")(*args, is_training=is_training, **kwargs)

    net = hk.transform_with_state(call)

    def gradients(args: Any, kwargs: Any) -> Values:
        params, state = net.init(None, args, kwargs)
        grads = jax.grad(lambda p: loss(net.apply(p, state, None, args, kwargs)[0], jnp))(params)
        return {path: np.asarray(x) for path, x in grads["net"].items()}

    def train(args: Any, kwargs: Any) -> Any:
        params, state = net.init(None, args, kwargs)
        output, new = net.apply(params, state, jax.random.key(1), args, kwargs, is_training=True)
        return output, {path: np.asarray(x) for path, x in new.get("net", {}).items()}

    def evaluate(args: Any, kwargs: Any) -> Any:
        return net.apply(*net.init(None, args, kwargs), None, args, kwargs)[0]

    return Native("jax", evaluate, gradients, train)


def of_equinox(model: Any) -> Native:
    """`to_equinox_module`."""
    built = model.to_equinox_module()
    net, state = built if isinstance(built, tuple) else (built, None)

    def call(net: Any, args: Any, kwargs: Any, **key: Any) -> Any:
        if state is None:
            return net(*args, **key, **kwargs), {}
        leaves, tree = jax.tree.flatten(state)
        output, new = net(*args, jax.tree.unflatten(tree, leaves), **key, **kwargs)
        return output, new.get(net.state)

    def gradients(args: Any, kwargs: Any) -> Values:
        grads = eqx.filter_grad(lambda net: loss(call(net, args, kwargs)[0], jnp))(net)
        return {path: np.asarray(x) for path, x in na.Container(grads.v).flat_items()}

    def train(args: Any, kwargs: Any) -> Any:
        key = jax.random.key(1)
        output, new = call(eqx.nn.inference_mode(net, False), args, kwargs, key=key)
        return output, {path: np.asarray(x) for path, x in new.items()}

    return Native("jax", lambda args, kwargs: call(net, args, kwargs)[0], gradients, train)


def of_tensorflow(model: Any) -> Native:
    """`to_tf_module`."""
    net = model.to_tf_module()

    def gradients(args: Any, kwargs: Any) -> Values:
        with tf.GradientTape() as tape:
            value = loss(net(*args, **kwargs), tf)
        trained = {path: v for path, v in net._values.items() if v.trainable}
        return _tf_gradients(tape, value, trained)

    def train(args: Any, kwargs: Any) -> Any:
        output = net(*args, training=True, **kwargs)
        return output, {path: v.numpy() for path, v in net._values.items()}

    return Native("tensorflow", lambda args, kwargs: net(*args, **kwargs), gradients, train)


def _tf_gradients(tape: Any, value: Any, variables: Mapping[str, Any]) -> Values:
    grads = tape.gradient(value, [*variables.values()], unconnected_gradients="zero")
    return {p: tf.convert_to_tensor(g).numpy() for p, g in zip(variables, grads, strict=True)}


def of_keras(model: Any) -> Native:
    """`to_keras_model` on TensorFlow."""
    assert keras.backend.backend() == "tensorflow"
    net = model.to_keras_model()

    def gradients(args: Any, kwargs: Any) -> Values:
        with tf.GradientTape() as tape:
            value = loss(net(*args, **kwargs), tf)
        trained = {p: w.value for p, w in net.weights_of.items() if w.trainable}
        return _tf_gradients(tape, value, trained)

    def train(args: Any, kwargs: Any) -> Any:
        output = net(*args, training=True, **kwargs)
        return output, {p: w.numpy() for p, w in net.weights_of.items()}

    return Native("tensorflow", lambda args, kwargs: net(*args, **kwargs), gradients, train)


FORMS: dict[str, Callable[[Any], Native]] = {
    "torch": of_torch,
    "flax": of_flax,
    "linen": of_linen,
    "haiku": of_haiku,
    "equinox": of_equinox,
    "tensorflow": of_tensorflow,
    "keras": of_keras,
}


def expected_gradients(model: Any, backend: str, args: Any, kwargs: Any) -> Values:
    """The gradients of `loss` through nestarray."""
    program = program_of(model, backend)
    xp = tf if backend == "tensorflow" else jnp

    def of(v: Any) -> Any:
        values = dict(v.flat_items()) | program.s
        return loss(program.run(False, args, kwargs, values)[0], xp)

    _, grads = na.execute_with_gradients(of, na.Container.from_flat_dict(program.v))
    return {path: np.asarray(na.to_backend(x, "numpy")) for path, x in grads.flat_items()}
