"""Containers as pytrees of JAX, PyTorch, TensorFlow and optree, and as Flax state.

Registration with a framework runs when it is imported (`nestarray.lazy_imports`).

A Container is one pytree node whose children are all its leaves, or its buffers if it is
fused. Frameworks thus flatten a deep tree with one call; key paths name leaves as
``"a/b/c"``. dm-tree and other libraries that treat any Mapping as a node need no
registration: they rebuild `Container`, `ListContainer` and `TupleContainer` from
(key, value) pairs.

JAX therefore does not accept a Container of fewer levels as a prefix (of shardings or axes).
`nestarray.tree.broadcast` expands a prefix to one value for each leaf.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from nestarray import lazy_imports
from nestarray.container.container import (
    Container,
    ListContainer,
    TupleContainer,
    from_leaves,
    rebuild,
)
from nestarray.container.fused import FusedContainer, Layout, Place, from_buffers, make_layout
from nestarray.container.leaf import NOT_ARRAYS, REMOVED
from nestarray.container.leaf_kinds import FIXED_DTYPE
from nestarray.container.spec import Spec, from_rows, make_spec
from nestarray.errors import StructureError

_CLASSES = (Container, ListContainer, TupleContainer, FusedContainer)


def _names(c: Container) -> tuple[str, ...]:
    structure = c._flat()[1]
    if structure.__class__ is Spec:
        return structure.path_names
    return tuple(f"buffer {i}" for i in range(structure.num_buffers))


def _register_jax() -> None:
    from jax import export, tree_util

    key = tree_util.DictKey

    def flatten_with_keys(c: Container) -> tuple[list[tuple[Any, Any]], Any]:
        arrays, structure = c._flat()
        return [(key(name), x) for name, x in zip(_names(c), arrays, strict=True)], structure

    for cls in _CLASSES:
        # C functions only: flattening is part of every call of a compiled function
        names = ("_buffers", "_layout") if cls is FusedContainer else ("_leaves", "_spec")
        unflatten = rebuild if cls is FusedContainer else from_leaves
        tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, attrgetter(*names))
        export.register_pytree_node_serialization(
            cls,
            serialized_name=f"nestarray.{cls.__name__}",
            serialize_auxdata=_to_bytes,
            deserialize_auxdata=_from_bytes,
        )


def _register_torch() -> None:
    import torch
    from torch.utils import _pytree

    def flatten(c: Container) -> tuple[list[Any], Any]:
        arrays, structure = c._flat()
        return list(arrays), structure

    def unflatten(arrays: Any, structure: Any) -> Container:
        return rebuild(structure, arrays)

    def flatten_with_keys(c: Container) -> tuple[list[tuple[Any, Any]], Any]:
        arrays, structure = flatten(c)
        named = zip(_names(c), arrays, strict=True)
        return [(_pytree.MappingKey(name), x) for name, x in named], structure

    for cls in _CLASSES:
        _pytree.register_pytree_node(
            cls,
            flatten,
            unflatten,
            serialized_type_name=f"nestarray.{cls.__name__}",
            to_dumpable_context=_to_plain,
            from_dumpable_context=_from_plain,
            flatten_with_keys_fn=flatten_with_keys,
        )
    FIXED_DTYPE.add(torch.Tensor)
    # torch.load executes only registered functions; these load Containers saved by torch.save
    makers = [from_leaves, from_rows, from_buffers, make_layout, Place]
    torch.serialization.add_safe_globals(makers)


def _register_optree() -> None:
    import optree

    def flatten(c: Any) -> tuple[tuple[Any, ...], Any, tuple[str, ...]]:
        return (*c._flat(), _names(c))

    def unflatten(structure: Any, arrays: Any) -> Any:
        return rebuild(structure, arrays)

    for cls in _CLASSES:
        everywhere = optree.registry.__GLOBAL_NAMESPACE  # type: ignore[attr-defined]
        optree.register_pytree_node(cls, flatten, unflatten, namespace=everywhere)


def _register_flax() -> None:
    from flax import serialization

    def to_state(c: Container) -> dict[str, Any]:
        return {str(key): serialization.to_state_dict(value) for key, value in c.items()}

    def from_state(c: Container, state: dict[str, Any]) -> Container:
        if set(state) != set(map(str, c)):
            raise StructureError(
                f"flax.serialization: a Container with the keys {list(map(str, c))} cannot take a "
                f"state with the keys {list(state)}"
            )
        restore = serialization.from_state_dict
        parts = [restore(value, state[str(k)], name=str(k)) for k, value in c.items()]
        return type(c)(zip(c, parts, strict=True))

    for cls in _CLASSES:
        serialization.register_serialization_state(cls, to_state, from_state)


def _register_optax() -> None:
    import optax

    REMOVED.add(optax.MaskedNode)
    NOT_ARRAYS.add(optax.MaskedNode)


def _stay_as_written() -> None:
    """Exclude nestarray from the AutoGraph conversion of ``tf.function``, as NumPy and Keras are.

    AutoGraph rewrites the source of each function at its first traced call, and warns of functions
    that it cannot convert. Libraries have no public way to opt out.
    """
    from tensorflow.python.autograph.core import config

    rules = getattr(config, "CONVERSION_RULES", None)
    if rules is not None:
        config.CONVERSION_RULES = (config.DoNotConvert("nestarray"), *rules)


def _give_tf_data_specs() -> None:
    """Register the ``tf.data`` spec of a Container: a Container of specs.

    By default ``tf.data`` rebuilds a mapping from a list of pairs, which is a list to Container.
    """
    from tensorflow.python.data.util import structure
    from tensorflow.python.framework import type_spec

    def specs_of(c: Container) -> Container:
        return from_leaves(c.spec, tuple([structure.type_spec_from_value(x) for x in c.leaves()]))

    register = getattr(type_spec, "register_type_spec_from_value_converter", None)
    if register is not None:
        for cls in _CLASSES:
            register(cls, specs_of)


def _to_plain(structure: Any) -> Any:
    if isinstance(structure, Layout):
        return [_to_plain(structure.spec), [list(place) for place in structure.places]]
    return [structure.kind, list(structure.keys), [_to_plain(c) for c in structure.children]]


def _from_plain(plain: Any) -> Any:
    if len(plain) == 2:
        spec, places = plain
        found = [Place(number, start, tuple(shape)) for number, start, shape in places]
        return make_layout(_from_plain(spec), tuple(found))
    kind, keys, children = plain
    return make_spec(kind, tuple(keys), tuple(_from_plain(c) for c in children))


def _to_bytes(structure: Any) -> bytes:
    import json

    return json.dumps(_to_plain(structure)).encode()


def _from_bytes(text: bytes) -> Any:
    import json

    return _from_plain(json.loads(text))


for _module, _function in {
    "jax": _register_jax,
    "torch": _register_torch,
    "optree": _register_optree,
    "flax.serialization": _register_flax,
    "optax": _register_optax,
    "tensorflow.python.autograph.core.config": _stay_as_written,
    "tensorflow.python.data.util.structure": _give_tf_data_specs,
}.items():
    lazy_imports.after_import(_module, _function)
