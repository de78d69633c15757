"""Keys: from a seed, and new keys from a key."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nestarray import backends, ops
from nestarray.config import check_backend_name, current_backend
from nestarray.dynamo import compile_time_constant
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.random.arguments import is_native, key_maker
from nestarray.typing import Array, Shape

#: The words of a seed in a key, by the generator that draws from it.
_COPIES = {"threefry2x32": 1, "native": 2}


@signature_errors("random.key")
def key(
    seed: int,
    *,
    impl: str = "threefry2x32",
    backend: str | None = None,
    like: Array | None = None,
    device: Any = None,
) -> Array:
    """The key of a seed: the two halves of a 64-bit integer.

    Args:
        seed: any integer; its lowest 64 bits count.
        impl: ``"threefry2x32"``, from which all backends draw the same numbers; or
            ``"native"``, from which each draws with its own generator (Philox of NumPy, RBG
            of JAX, ``torch.Generator``, ``tf.random.stateless_*``): other numbers on each,
            and after an update of the framework perhaps others again. Keys made by `split`
            and `fold_in` are of the generator of the key that they came from.
        backend: where the key lives; None is the backend of `like`, else the default one.
        like: an array on whose backend the key shall live.
        device: of the backend, or None.

    Returns:
        `(2,)`, uint32; `(4,)` for native generators.

    Raises:
        ArgumentError: `seed` is not an integer, or no generator is called `impl`.

    Example:
        >>> import nestarray as na
        >>> na.random.key(42)
        array([ 0, 42], dtype=uint32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.PRNGKey.html
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ArgumentError(
            f"random.key: seed: got {type(seed).__name__}, expected an integer; to mix a traced "
            "number into a key, use na.random.fold_in"
        )
    if impl not in _COPIES:
        raise ArgumentError(f"random.key: impl: got {impl!r}, expected 'threefry2x32' or 'native'")
    if backend is None:
        backend = current_backend() if like is None else backends.backend_of(like)
    halves = [int(seed) >> 32 & 0xFFFFFFFF, int(seed) & 0xFFFFFFFF]
    words = np.asarray(halves * _COPIES[impl], np.uint32)
    return backends.core(check_backend_name(backend)).from_numpy(words, device)


@key_maker
def split(key: Array, num: int | Shape = 2) -> Array:
    """`num` new keys that are independent of each other and of `key`.

    Args:
        key: `(2,)`, uint32; or a typed key of JAX, `()`.
        num: how many, or a shape of keys.

    Returns:
        `(num, 2)`, uint32; unpack it or index its first axis. For a shape, `(*num, 2)`.
        Of a typed key, typed keys, `(num,)`.

    Raises:
        ArgumentError: `num` is negative.

    Example:
        >>> import nestarray as na
        >>> na.random.split(na.random.key(0), 3).shape
        (3, 2)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.split.html
    """
    shape = (num,) if isinstance(num, (int, np.integer)) else tuple(num)
    if any(n < 0 for n in shape):
        raise ArgumentError(f"random.split: num: got {num}, expected 0 or more")
    count = math.prod(shape)
    if is_native(key):
        halves = [ops.random_split(half, num=count) for half in (key[:2], key[2:])]
        keys = ops.concat(halves, axis=1)
    else:
        keys = ops.random_split(key, num=count)
    return keys if len(shape) == 1 else ops.reshape(keys, (*shape, *key.shape))


@key_maker
def fold_in(key: Array, data: int | str | Array) -> Array:
    """A new key from `key` and a number or a name, such as a step or the path of a layer.

    Args:
        key: `(2,)`, uint32; or a typed key of JAX, `()`.
        data: an integer, its lowest 32 bits count; an integer array of shape `()`, which
            may be traced; or a string, of which 32 bits of its BLAKE2 hash are taken.

    Returns:
        `(2,)`, uint32; of a typed key, a typed key.

    Raises:
        ArgumentError: `data` is neither an integer nor a string.

    Example:
        >>> import nestarray as na
        >>> na.random.fold_in(na.random.key(0), 7)
        array([2716826189,  292468403], dtype=uint32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.fold_in.html
    """
    if isinstance(data, str):
        data = _number_of(data)
    elif not isinstance(data, (int, np.integer)) and not hasattr(data, "shape"):
        raise ArgumentError(
            f"random.fold_in: data: got {type(data).__name__}, expected an integer or a string"
        )
    if is_native(key):
        return ops.concat([_folded(key[:2], data), _folded(key[2:], data)], axis=0)
    return _folded(key, data)


@compile_time_constant
def _number_of(name: str) -> int:
    """32 bits of the BLAKE2 hash of a name."""
    import hashlib  # 3 ms of `import nestarray` otherwise

    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest(), "little")


def _folded(key: Array, data: Any) -> Array:
    zero = ops.zeros_like(key[0:1])
    if isinstance(data, (int, np.integer)):
        low = ops.full_like(zero, int(data) & 0xFFFFFFFF)
    else:
        low = ops.reshape(ops.astype(data, "uint32"), (1,))
    return ops.concat(ops.threefry2x32(key, zero, low), axis=0)
