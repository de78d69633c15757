"""Containers and Equinox modules: the arrays of a module by field names."""

from __future__ import annotations

import sys
from typing import Any

from nestarray.container import Container, constructor, method
from nestarray.errors import ArgumentError
from nestarray.interchange.fitting import align_by_path, convert_arrays
from nestarray.interchange.pytrees import jax_opener
from nestarray.interchange.walking import container_of, rebuilt


@constructor
def from_equinox(module: Any, /) -> Container:
    """The arrays of an ``equinox.Module``, nested by field.

    Fields that Equinox does not treat as arrays (functions, numbers, strings) stay in the module.
    An array that occurs twice in the module is one array in the Container. `to_equinox` is the
    inverse.

    Args:
        module: an ``equinox.Module``.

    Returns:
        a Container of JAX arrays, and of the module's NumPy arrays; members of lists and tuples
        keep their numbers if other members contain no array.

    Raises:
        ArgumentError: `module` is not an ``equinox.Module``.

    Example:
        >>> import equinox as eqx, jax, nestarray as na
        >>> mlp = eqx.nn.MLP(2, 1, width_size=4, depth=1, key=jax.random.key(0))
        >>> na.Container.from_equinox(mlp).paths()
        ('layers/0/weight', 'layers/0/bias', 'layers/1/weight', 'layers/1/bias')

    References:
        https://docs.kidger.site/equinox/all-of-equinox/
    """
    everything = _checked(module, "Container.from_equinox")
    is_array = sys.modules["equinox"].is_array
    return everything.select(lambda path, leaf: is_array(leaf))


@method
def to_equinox(c: Container, /, module: Any) -> Any:
    """`module` with its arrays replaced by the leaves of `c`; the inverse of `from_equinox`.

    Args:
        c: a Container of arrays of any backend, which are converted to JAX, or to NumPy where
            the module holds a NumPy array; shapes and dtypes may differ.
        module: an ``equinox.Module``; it is not modified.

    Returns:
        a module of the same class.

    Raises:
        ArgumentError: `module` is not an ``equinox.Module``.
        StructureError: a leaf has no counterpart in the module, or an array has no leaf.

    Example:
        >>> import equinox as eqx, jax, nestarray as na
        >>> net = eqx.nn.Linear(2, 2, key=jax.random.key(0))
        >>> v = na.Container.from_equinox(net)
        >>> net = na.to_equinox(na.zeros_like(v), net)
        >>> net.bias
        Array([0., 0.], dtype=float32)
    """
    everything = _checked(module, "to_equinox")
    is_array = sys.modules["equinox"].is_array
    places = everything.select(lambda path, leaf: is_array(leaf))
    target = type(module).__name__
    leaves = align_by_path(places.spec, c, "to_equinox", target)
    new = iter(convert_arrays(leaves, "jax", places.leaves()))
    leaves = [next(new) if is_array(leaf) else leaf for leaf in everything.leaves()]
    return rebuilt(module, iter(leaves), jax_opener())


def _checked(module: Any, function: str) -> Container:
    """All leaves of a module, of any type."""
    equinox = sys.modules.get("equinox")  # already imported if a module exists
    if equinox is None or not isinstance(module, equinox.Module):
        raise ArgumentError(
            f"{function}: module: got {type(module).__name__}, expected an equinox.Module; for "
            "other trees use Container.from_pytree and to_pytree"
        )
    return container_of(module, jax_opener(), function)
