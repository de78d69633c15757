"""Containers as pytrees of JAX, PyTorch, TensorFlow and optree, and as state that Flax stores.

Each framework is told about Containers when it is imported, before or after
nestarray, and is never imported for that purpose: a finder at the front of
``sys.meta_path`` lets the ordinary import happen and registers afterwards.

A Container is one pytree node whose children are all its leaves. Frameworks thus
flatten a deep tree with one call; key paths name leaves as ``"a/b/c"``. dm-tree and
other libraries that treat any Mapping as a node need no registration: `Container`,
`ListContainer` and `TupleContainer` rebuild themselves from (key, value) pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

from nestarray.container.container import Container, ListContainer, TupleContainer, from_leaves
from nestarray.container.spec import Spec
from nestarray.errors import StructureError

_CLASSES = (Container, ListContainer, TupleContainer)


def _flatten(c: Container) -> tuple[tuple[Any, ...], Spec]:
    return c._leaves, c._spec


def _register_jax() -> None:
    from jax import tree_util

    key = tree_util.DictKey

    def flatten_with_keys(c: Container) -> tuple[list[tuple[Any, Any]], Spec]:
        return [(key(name), leaf) for name, leaf in c.flat_items()], c._spec

    for cls in _CLASSES:
        tree_util.register_pytree_with_keys(cls, flatten_with_keys, from_leaves, _flatten)


def _register_torch() -> None:
    from torch.utils import _pytree

    def flatten(c: Container) -> tuple[list[Any], Spec]:
        return list(c._leaves), c._spec

    def unflatten(leaves: Any, spec: Spec) -> Container:
        return from_leaves(spec, tuple(leaves))

    def flatten_with_keys(c: Container) -> tuple[list[tuple[Any, Any]], Spec]:
        return [(_pytree.MappingKey(name), leaf) for name, leaf in c.flat_items()], c._spec

    for cls in _CLASSES:
        _pytree.register_pytree_node(
            cls,
            flatten,
            unflatten,
            serialized_type_name=f"nestarray.{cls.__name__}",
            to_dumpable_context=lambda spec: _spec_to_plain(spec),
            from_dumpable_context=_spec_from_plain,
            flatten_with_keys_fn=flatten_with_keys,
        )


def _register_optree() -> None:
    import optree

    def flatten(c: Any) -> tuple[tuple[Any, ...], Any, tuple[str, ...]]:
        return c._leaves, c._spec, c._spec.path_names

    def unflatten(spec: Any, leaves: Any) -> Any:
        return from_leaves(spec, tuple(leaves))

    for cls in _CLASSES:
        everywhere = optree.registry.__GLOBAL_NAMESPACE
        optree.register_pytree_node(cls, flatten, unflatten, namespace=everywhere)


def _register_flax() -> None:
    from flax import serialization

    def to_state(c: Container) -> dict[str, Any]:
        state = {str(key): serialization.to_state_dict(value) for key, value in c.items()}
        if len(state) < len(c):
            raise StructureError(
                f"flax.serialization: the keys {list(c)!r} of a Container are not all different as "
                "strings, which is how Flax names them; rename some"
            )
        return state

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


def _spec_to_plain(spec: Spec) -> Any:
    return [spec.kind, list(spec.keys), [_spec_to_plain(c) for c in spec.children]]


def _spec_from_plain(plain: Any) -> Spec:
    from nestarray.container.spec import make_spec

    kind, keys, children = plain
    return make_spec(kind, tuple(keys), tuple(_spec_from_plain(c) for c in children))


_REGISTER: dict[str, Callable[[], None]] = {
    "jax": _register_jax,
    "torch": _register_torch,
    "optree": _register_optree,
    "flax.serialization": _register_flax,
}


class _RegisteringLoader:
    """Runs a module's own loader, then registers Containers with the module."""

    def __init__(self, loader: Any, register: Callable[[], None]) -> None:
        self._loader, self._register = loader, register

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._register()


class _Finder:
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        register = _REGISTER.pop(name, None)
        if register is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _RegisteringLoader(spec.loader, register)  # type: ignore[assignment]
                return spec
        _REGISTER[name] = register  # not installed (yet)
        return None


def install() -> None:
    """Register with the frameworks already imported, and with the others when they are."""
    for name in [n for n in _REGISTER if sys.modules.get(n) is not None]:
        _REGISTER.pop(name)()
    sys.meta_path.insert(0, _Finder())
